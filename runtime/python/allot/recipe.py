"""How an engine is made again elsewhere: in a worker process, or for a replay of its decisions.

An Engine cannot be sent to another process. What can be sent is its recipe: the text of the policy and of all files that
it names, its hash and the settings. Whoever receives it compiles for itself and is told where its policy or its version
differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ._allot import Engine, Error, __version__, policy_text


@dataclass(frozen=True)
class Recipe:
    """Made by Recipe.of(). Pickles; `engine()` makes an engine that decides as the one it was made for."""

    name: str        # of the policy file; empty without a policy
    text: str        # see policy_text(): the file and what it names
    hash: str
    settings: dict   # keyword arguments of Engine, but for the policy
    version: str

    @staticmethod
    def of(policy: str, **settings) -> Recipe:
        """policy: path of a .allot file, or "" for none. settings: the other arguments of Engine."""
        policy = str(policy)
        text = policy_text(policy, settings.get("parameters", {})) if policy else ""
        made = Engine(policy, **settings | dict(run_folder="", native=False, policy_text=text))
        return Recipe(Path(policy).name if policy else "", text, made.policy_hash, settings, __version__)

    def engine(self, **changed) -> Engine:
        """An engine from this recipe. `changed`: settings to replace, such as run_folder."""
        if self.version != __version__:
            raise Error(f"This recipe was made by allot {self.version}, but here is allot {__version__}.\n"
                        "  help: install the same version in every process")
        made = Engine(self.name, **self.settings | changed | dict(policy_text=self.text))
        if made.policy_hash != self.hash:
            raise Error(f"The policy {self.name} arrived damaged: its hash is {made.policy_hash[:12]}, "
                        f"not {self.hash[:12]}.\n  help: send the recipe again")
        return made


def decision(iteration: int, group) -> dict:
    """What became of a group, as plain values.

    The rule's file stands without its folder, which may be another machine's.
    """
    return dict(iteration=iteration, group=group.group, slot=group.slot, round=group.round, prompt=group.prompt,
                fate=group.fate, stopped=group.stopped, subset=list(group.subset), flat=group.flat, reason=group.reason,
                rule=Path(group.rule).name)


def replay(recipe: Recipe, events: list[tuple]) -> list[dict]:
    """The decisions of a fresh engine that is told recorded events: (method, positional, named) in order."""
    engine = recipe.engine()
    decisions, iteration = [], 0
    for method, positional, named in events:
        answer = getattr(engine, method)(*positional, **named)
        if method == "begin_iteration":
            iteration = positional[0]
        decisions += [decision(iteration, group) for group in getattr(answer, "closed", [])]
    return decisions
