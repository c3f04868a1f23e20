"""Allot under TRL's GRPOTrainer (1.16), through its `rollout_func`.

    driver = allot.trl.Driver("stdlib/selective_rollout.allot", environment=Corridor, reward=score, tokenizer=tok,
                              pool=prompts, slots=4, group_size=4, turn_limit=6, tokens_per_turn=2)
    trainer = GRPOTrainer(model=model, args=config, train_dataset=driver.dataset(), processing_class=tok,
                          reward_funcs=driver.rewards, rollout_func=driver.rollouts, callbacks=[driver.callback()])

TRL scores after `rollout_func`, so the driver owns environment, reward function and pool, scores inside, and hands TRL
the cached rewards. What TRL cannot carry out is listed in docs/trl.md and refused before the first rollout.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Callable

from datasets import Dataset
from transformers import TrainerCallback

from . import recipe
from ._allot import Engine
from .pool import Pool
from .rollouts import Collected, Collector, Environment, Score
from .trl_checks import check_arguments, check_policy, check_trainer
from .trl_rows import rectangle

log = logging.getLogger("allot")
STATE_FILE = "allot_state.json"


class Driver:
    """One engine under one GRPOTrainer, in one process.

    policy: path of a .allot file; "" for none. parameters: values for its `param`s, as text.
    environment, reward: see allot.rollouts. pool: prompts, for the data set and for refills.
    slots: groups of a generation batch. group_size: TRL's num_generations. rounds: fills of a batch at most.
    run_folder: the engine's journal; "" keeps none. shadow: decide and log, change nothing.
    holdout: share of stops that are not carried out, 0..1; pause_below: back to shadow where fewer of them were right.
    record: keep all events, for replay(). They grow with the run.
    inputs: what the policy's `input`s are, by name: a number, or {prompt: number or None}.

    `decisions` holds what became of every group, `plan` what the last iteration trains on.
    """

    def __init__(self, policy: str | Path, *, environment: Callable[[], Environment], reward: Score, tokenizer,
                 pool: list[str], slots: int, group_size: int, turn_limit: int, tokens_per_turn: int,
                 temperature: float = 1.0, seed: int = 0, parameters: dict[str, str] | None = None,
                 run_folder: str | Path = "", rounds: int = 10, shadow: bool = False,
                 holdout: float = 0.0, pause_below: float | None = None, record: bool = False,
                 inputs: dict[str, float | dict[str, float | None]] | None = None):
        policy, parameters = str(policy), dict(parameters or {})
        check_policy(policy, parameters, group_size)
        settings = dict(parameters=parameters, seed=seed, slots=slots, group_size=group_size, turn_limit=turn_limit,
                        tokens_per_turn=tokens_per_turn, shadow=shadow, holdout=holdout, pause_below=pause_below,
                        inputs=dict(inputs or {}))
        self.recipe = recipe.Recipe.of(policy, **settings)
        self.engine = Engine(policy, **settings, run_folder=str(run_folder))
        self.collector = Collector(self.engine, tokenizer, environment, reward, seed=seed, turn_limit=turn_limit,
                                   tokens_per_turn=tokens_per_turn, temperature=temperature, group_limit=group_size,
                                   record=record)
        self.tokenizer, self.pool, self.temperature = tokenizer, Pool(pool), temperature
        self.slots, self.group_size, self.rounds = slots, group_size, rounds
        self.decisions: list[dict] = []
        self.plan = None
        self.iteration = 0
        self._calls = 0
        self._steps_left = 0  # optimiser steps on the batch that is open; 0: none is open
        self._commit()

    # --- what GRPOTrainer takes

    def dataset(self, rows: int = 0) -> Dataset:
        """The prompts of the pool, repeated to `rows` if that is more.

        TRL shuffles each epoch anew and does not find the order again after a resume in a later epoch. With
        steps * slots rows a run is one epoch, and a resumed one sees the same prompts.
        """
        prompts = self.pool.prompts
        return Dataset.from_dict({"prompt": prompts * max(1, -(-rows // len(prompts)))})

    def rollouts(self, prompts: list[str], trainer) -> dict[str, list]:
        """TRL's `rollout_func`: `prompts` holds each prompt `num_generations` times in a row."""
        check_trainer(trainer)
        self.check(trainer.args)
        self.barrier()
        first = prompts[:: self.group_size]
        order = first + self.pool.draw(self.slots * (self.rounds - 1))
        collected = self.collector.collect(trainer.model, self.iteration, order)
        self._calls += 1
        self.plan = collected.plan
        self.decisions += [recipe.decision(self.iteration, group) for group in collected.groups]
        if collected.plan.aborted:
            raise RuntimeError(f"the policy ends the run: {collected.plan.message}")
        args = trainer.args
        self._steps_left = args.steps_per_generation * args.num_iterations // args.gradient_accumulation_steps
        self._counts = self._count(collected)
        return rectangle(collected, first, self.group_size, self.tokenizer)

    def rewards(self, prompts, completions, allot_reward=None, allot_prompt=None, log_metric=None,
                **others) -> list[float | None]:
        """TRL's reward function: what was scored inside, None for stubs.

        TRL logs the list that it passes as `prompts` after this call, so refilled rows get their prompts there.
        """
        if allot_reward is None:
            raise RuntimeError("driver.rewards got rows that driver.rollouts has not made: give GRPOTrainer "
                               "rollout_func=driver.rollouts")
        prompts[:] = allot_prompt
        if log_metric is not None:
            for name, value in self._counts.items():
                log_metric(f"allot/{name}", value)
        return allot_reward

    def callback(self) -> TrainerCallback:
        """Keeps barriers, checkpoints and skipped updates. A trainer without it neither resumes nor skips."""
        return _Callback(self)

    # --- barrier and resume

    def barrier(self) -> None:
        """The optimiser steps on the last batch are done: `update` comes, and state is committed."""
        if self._steps_left == 0:
            return
        self._steps_left = 0
        report = self.collector.tell("end_iteration")
        for line in report.message.splitlines():
            log.warning("iteration %d: %s", self.iteration, line)
        self.pool.give_back(self.engine.unused_prompts())
        self.iteration += 1
        self._commit()

    def save(self, folder: str | Path) -> None:
        """Writes the state at the last barrier. The callback does so in every checkpoint of the trainer."""
        path = Path(folder, STATE_FILE)
        unfinished = path.with_suffix(".unfinished")
        # The engine's own is what it was at the last barrier, whatever came since.
        state = dict(engine=self.engine.save_state(), **self._committed)
        unfinished.write_text(json.dumps(state), encoding="utf-8")
        unfinished.replace(path)

    def restore(self, folder: str | Path) -> None:
        """Call it before trainer.train(resume_from_checkpoint=folder)."""
        path = Path(folder, STATE_FILE)
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing: write checkpoints with callbacks=[driver.callback()]")
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            engine_state, iteration, pool = state["engine"], state["iteration"], state["pool"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged ({error}): resume from an older checkpoint") from error
        self.collector.tell("restore", engine_state)
        self.iteration = iteration
        self.pool.restore(pool)
        self._commit()

    # --- inside

    def check(self, args) -> None:
        check_arguments(args, slots=self.slots, group_size=self.group_size, temperature=self.temperature)

    def _commit(self) -> None:
        self._committed = dict(iteration=self.iteration, pool=self.pool.state())

    def _count(self, collected: Collected) -> dict[str, float]:
        """TRL's own reward columns show what is trained on; `reward_all` is over all that was scored."""
        groups = collected.groups
        counts = dict(groups=len(groups), stopped=sum(group.stopped for group in groups),
                      dropped=sum(group.fate != "trained" for group in groups),
                      refilled=sum(group.round > 1 for group in groups), trained=len(collected.plan.trained))
        scored = [rollout.reward for rollout in collected.rollouts.values() if rollout.reward is not None]
        return counts | (dict(reward_all=sum(scored) / len(scored)) if scored else {})


class _Callback(TrainerCallback):
    def __init__(self, driver: Driver):
        self.driver = driver

    def on_init_end(self, args, state, control, **others):
        self.driver.check(args)

    def on_train_begin(self, args, state, control, **others):
        if state.global_step > 0 and self.driver.iteration == 0:
            raise RuntimeError(f"the trainer resumes at step {state.global_step}, but the driver begins anew: call "
                               "driver.restore(folder) with the same checkpoint first")

    def on_pre_optimizer_step(self, args, state, control, model=None, **others):
        """Without gradients an optimiser leaves the weights alone; with gradients of 0, momentum would move them."""
        if self.driver.plan is not None and self.driver.plan.skip_update:
            for weight in model.parameters():
                weight.grad = None

    def on_step_end(self, args, state, control, **others):
        driver = self.driver
        if driver._calls == 0:
            raise RuntimeError(f"policy {driver.engine.policy_name} loaded, 0 decisions in step {state.global_step}: "
                               "give GRPOTrainer rollout_func=driver.rollouts")
        if driver._steps_left == 1:
            driver.barrier()
        elif driver._steps_left > 1:
            driver._steps_left -= 1

    def on_save(self, args, state, control, **others):
        self.driver.save(Path(args.output_dir) / f"checkpoint-{state.global_step}")


def replay(driver: Driver) -> list[dict]:
    """Tells a fresh engine the recorded events and returns its decisions: they equal `driver.decisions`."""
    if not driver.collector.record:
        raise ValueError("nothing was recorded: make the driver with record=True")
    return recipe.replay(driver.recipe, driver.collector.events)
