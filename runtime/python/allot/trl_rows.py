"""Groups of any shape as the rectangle that TRL trains on."""

from __future__ import annotations

from dataclasses import replace

from .rollouts import Collected, Rollout

COLUMNS = ("prompt_ids", "completion_ids", "logprobs", "env_mask", "allot_reward", "allot_prompt", "allot_group")


def rectangle(collected: Collected, prompts: list[str], group_size: int, tokenizer) -> dict[str, list]:
    """len(prompts) x group_size rows, slot by slot; a refilled slot carries the prompt that it was refilled with.

    What is not trained on is a stub: one end-of-sequence token, mask 0, reward None. Where the verdict says
    `normalize over group`, a scored sample outside the subset is a stub that keeps its reward, so that TRL's mean and
    standard deviation are those of the whole group. prompts: those that TRL gave, for slots without a trained group.
    """
    trained = set(collected.plan.trained)
    by_slot = {group.slot: group for group in collected.groups if group.group in trained}
    rows: dict[str, list] = {column: [] for column in COLUMNS}
    for slot, prompt in enumerate(prompts):
        group = by_slot.get(slot)
        for sample in range(group_size):
            rollout = collected.rollouts.get((group.group, sample)) if group else None
            if rollout is None or sample not in group.subset:
                keeps_reward = rollout is not None and group.normalize_over_group
                rollout = stub(group.prompt if group else prompt, tokenizer,
                               rollout.reward if keeps_reward else None, group.group if group else -1)
            append(rows, rollout)
    return rows


def stub(prompt: str, tokenizer, reward: float | None, group: int) -> Rollout:
    ids = list(tokenizer(f"{prompt}\n", add_special_tokens=False)["input_ids"])
    made = Rollout(group, -1, prompt, ids)
    made.append([tokenizer.eos_token_id], 0)
    return replace(made, reward=reward)


def append(rows: dict[str, list], rollout: Rollout) -> None:
    rows["prompt_ids"].append(rollout.prompt_ids)
    rows["completion_ids"].append(rollout.completion_ids)
    rows["logprobs"].append(rollout.logprobs)
    rows["env_mask"].append(rollout.env_mask)
    rows["allot_reward"].append(rollout.reward)
    rows["allot_prompt"].append(rollout.prompt)
    rows["allot_group"].append(rollout.group)
