"""The decisions of two policies of the standard library, computed again in plain Python from recorded events.

It shares nothing with the engine but the definition: allocation of rollouts is judged from what the driver reported.
"""

from itertools import combinations

END = object()  # what a prefix is padded with


def levenshtein(a, b) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


class Seen:
    """What the events say of one group."""

    def __init__(self):
        self.turns: dict[int, list[tuple[str, bool]]] = {}     # by sample: action, whether it was the last
        self.rewards: dict[int, float | None] = {}             # of those that ended by themselves


def groups(events) -> dict[int, Seen]:
    seen: dict[int, Seen] = {}
    for method, positional, named in events:
        if method == "turn":
            group, sample = positional[:2]
            turns = seen.setdefault(group, Seen()).turns.setdefault(sample, [])
            turns.append((named["action"], named["last"]))
        if method == "ended":
            group, sample = positional[:2]
            seen.setdefault(group, Seen()).rewards[sample] = named["reward"]
    return seen


def converged(seen: Seen, at: int, threshold: float, group_size: int) -> bool:
    """Zhai & Wang: at turn `at`, with a rollout still alive, the mean padded edit distance is below the threshold."""
    alive = any(len(turns) >= at and not turns[at - 1][1] for turns in seen.turns.values())
    if not alive or group_size < 2:
        return False
    prefixes = []
    for sample in range(group_size):
        actions = [action for action, _ in seen.turns.get(sample, [])][:at]
        prefixes.append(actions + [END] * (at - len(actions)))
    pairs = list(combinations(prefixes, 2))
    return sum(levenshtein(a, b) / at for a, b in pairs) / len(pairs) < threshold


def no_spread(seen: Seen) -> bool:
    """DAPO: all rewards alike, or fewer than two."""
    scored = [reward for reward in seen.rewards.values() if reward is not None]
    return len(scored) < 2 or max(scored) - min(scored) <= 0
