"""Allot under TRL's GRPOTrainer (1.16), through its `rollout_func`.

    driver = allot.trl.Driver("stdlib/selective_rollout.allot", environment=Corridor, reward=score, tokenizer=tok,
                              pool=prompts, slots=4, group_size=4, turn_limit=6, tokens_per_turn=2)
    trainer = GRPOTrainer(model=model, args=config, train_dataset=driver.dataset(), processing_class=tok,
                          reward_funcs=driver.rewards, rollout_func=driver.rollouts, callbacks=[driver.callback()])

TRL scores after `rollout_func` and needs rectangular groups. So the driver owns the reward function and scores inside;
`driver.rewards` hands TRL the cached rewards. A stopped member is a stub of one end-of-sequence token with reward None;
stubs and the rows of dropped groups have `env_mask` 0, which takes them out of the loss's numerator and of its token
count. What TRL cannot carry out is listed in docs/trl.md and refused before the run where it can be known.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Callable

from datasets import Dataset
from transformers import TrainerCallback

from ._allot import Engine
from .rollouts import Collected, Collector, Environment, Rollout

STATE_FILE = "allot_state.json"


class Pool:
    """The prompts a refill draws from, in order and around again; a position that survives a resume."""

    def __init__(self, prompts: list[str]):
        if not prompts:
            raise ValueError("the pool is empty: give at least one prompt")
        self.prompts, self.position = prompts, 0
        self.returned: list[str] = []

    def draw(self, count: int) -> list[str]:
        drawn, self.returned = self.returned[:count], self.returned[count:]
        fresh = count - len(drawn)
        drawn += [self.prompts[(self.position + i) % len(self.prompts)] for i in range(fresh)]
        self.position += fresh
        return drawn

    def give_back(self, prompts: list[str]) -> None:
        """Drawn but not opened: the next draw starts with them."""
        self.returned = prompts + self.returned


class Driver:
    """One engine under one GRPOTrainer.

    policy: path of a .allot file. environment, reward: see allot.rollouts. pool: prompts for refills.
    slots: groups of a generation batch; group_size: TRL's num_generations. rounds: fills of a batch at most.
    """

    def __init__(self, policy: str, *, environment: Callable[[], Environment],
                 reward: Callable[[str, list[str], Environment], float | None], tokenizer, pool: list[str], slots: int,
                 group_size: int, turn_limit: int, tokens_per_turn: int, temperature: float = 1.0, seed: int = 0,
                 parameters: dict[str, str] | None = None, run_folder: str = "", rounds: int = 10, shadow: bool = False):
        self.settings = dict(policy=str(policy), parameters=parameters or {}, seed=seed, slots=slots,
                             group_size=group_size, turn_limit=turn_limit, tokens_per_turn=tokens_per_turn,
                             shadow=shadow)
        self.engine = Engine(**self.settings, run_folder=run_folder)
        self.collector = Collector(self.engine, tokenizer, environment, reward, seed=seed, turn_limit=turn_limit,
                                   tokens_per_turn=tokens_per_turn, temperature=temperature)
        self.tokenizer, self.pool = tokenizer, Pool(pool)
        self.slots, self.group_size, self.rounds = slots, group_size, rounds
        self.iteration = 0
        self.decisions: list[dict] = []
        self._open = False  # an iteration was rolled out and has not passed its barrier

    # --- what GRPOTrainer takes

    def dataset(self) -> Dataset:
        return Dataset.from_dict({"prompt": self.pool.prompts})

    def rollouts(self, prompts: list[str], trainer) -> dict[str, list]:
        """TRL's `rollout_func`: `prompts` holds each prompt `num_generations` times in a row."""
        self._check(prompts, trainer)
        self._barrier()
        first = prompts[:: self.group_size]
        order = first + self.pool.draw(self.slots * (self.rounds - 1))
        collected = self.collector.collect(trainer.model, self.iteration, order)
        self._open = True
        if collected.plan.aborted:
            raise RuntimeError(f"the policy ends the run: {collected.plan.message}")
        self._remember(collected)
        return self._rectangle(first, collected)

    def rewards(self, prompts, completions, allot_reward, **kwargs) -> list[float | None]:
        """TRL's reward function: what was scored inside; None for stubs and unscored rollouts."""
        return allot_reward

    def callback(self) -> TrainerCallback:
        return _Callback(self)

    # --- resume

    def save(self, folder: str | Path) -> None:
        """Writes the engine's state beside TRL's checkpoint. Passes the barrier of an open iteration first."""
        self._barrier()
        state = dict(engine=self.engine.save_state(), iteration=self.iteration, position=self.pool.position,
                     returned=self.pool.returned)
        Path(folder, STATE_FILE).write_text(json.dumps(state))

    def restore(self, folder: str | Path) -> None:
        path = Path(folder, STATE_FILE)
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing: the checkpoint was not written under allot's callback")
        state = json.loads(path.read_text())
        self.engine.restore(state["engine"])
        self.iteration = state["iteration"]
        self.pool.position, self.pool.returned = state["position"], state["returned"]

    # --- inside

    def _barrier(self) -> None:
        """The optimiser steps on the last batch are done: `update` fires and state is committed."""
        if not self._open:
            return
        self.collector.events.append(("end_iteration", (), {}))
        self.engine.end_iteration()
        self.pool.give_back(self.engine.unused_prompts())
        self.iteration += 1
        self._open = False

    def _check(self, prompts: list[str], trainer) -> None:
        size = trainer.args.num_generations
        if size != self.group_size:
            raise ValueError(f"num_generations is {size} but the driver's group_size is {self.group_size}: make them equal")
        if len(prompts) != self.slots * self.group_size:
            raise ValueError(f"a generation batch holds {len(prompts)} rows, the driver has {self.slots} slots of "
                             f"{self.group_size}: set slots={len(prompts) // self.group_size}")
        if trainer.accelerator.num_processes > 1:
            raise ValueError("one engine per run: this adapter works in a single process")

    def _remember(self, collected: Collected) -> None:
        for group in collected.groups:
            self.decisions.append(dict(
                iteration=self.iteration, group=group.group, slot=group.slot, round=group.round, prompt=group.prompt,
                fate=group.fate, stopped=group.stopped, subset=list(group.subset), reason=group.reason, rule=group.rule))

    def _rectangle(self, prompts: list[str], collected: Collected) -> dict[str, list]:
        """slots x group_size rows. Samples outside the verdict's subset and missing ones are stubs."""
        trained = set(collected.plan.trained)
        by_slot = {g.slot: g for g in collected.groups if g.group in trained}
        rows: dict[str, list] = {key: [] for key in
                                 ("prompt_ids", "completion_ids", "logprobs", "env_mask", "allot_reward", "allot_prompt")}
        for slot in range(self.slots):
            group = by_slot.get(slot)
            for sample in range(self.group_size):
                rollout = collected.rollouts.get((group.group, sample)) if group else None
                if rollout is None or sample not in group.subset:
                    rollout = None
                self._row(rows, rollout, group.prompt if group else prompts[slot])
        return rows

    def _row(self, rows: dict[str, list], rollout: Rollout | None, prompt: str) -> None:
        if rollout is None or rollout.reward is None:
            ids = self.tokenizer(prompt + "\n", add_special_tokens=False)["input_ids"]
            rollout = Rollout(-1, -1, prompt, list(ids), None, [self.tokenizer.eos_token_id], [0], [0.0])
        rows["prompt_ids"].append(rollout.prompt_ids)
        rows["completion_ids"].append(rollout.completion_ids)
        rows["logprobs"].append(rollout.logprobs)
        rows["env_mask"].append(rollout.env_mask)
        rows["allot_reward"].append(rollout.reward)
        rows["allot_prompt"].append(prompt)


class _Callback(TrainerCallback):
    """Writes the engine's state into every checkpoint of the trainer."""

    def __init__(self, driver: Driver):
        self.driver = driver

    def on_save(self, args, state, control, **kwargs):
        self.driver.save(Path(args.output_dir) / f"checkpoint-{state.global_step}")


def replay(driver: Driver) -> list[dict]:
    """Tells a fresh engine the recorded events and returns its decisions: they must equal `driver.decisions`."""
    engine = Engine(**driver.settings)
    decisions, iteration = [], 0
    for method, args, kwargs in driver.collector.events:
        answer = getattr(engine, method)(*args, **kwargs)
        if method == "begin_iteration":
            iteration = args[0]
        for group in getattr(answer, "closed", []):
            decisions.append(dict(
                iteration=iteration, group=group.group, slot=group.slot, round=group.round, prompt=group.prompt,
                fate=group.fate, stopped=group.stopped, subset=list(group.subset), reason=group.reason, rule=group.rule))
    return decisions
