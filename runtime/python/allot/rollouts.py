"""Rollouts of a text environment under an engine's orders, for any Hugging Face causal model.

This module knows nothing of a trainer. `Collector.collect` plays one iteration: it starts, steps, holds, stops and
refills rollouts as the engine says, and returns them with the verdict of every group.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Callable, Protocol

from ._allot import Engine, GroupResult, IterationReport
from .writing import Written, seed_of, write_actions

log = logging.getLogger("allot")


@dataclass(frozen=True)
class Answer:
    """What an environment says after an action. `action` is its canonical form, "invalid" where it understood none.

    `answer` is what the rollout has answered by now, in canonical form; equal ones of a group are one class of `g.classes`.
    """

    observation: str
    action: str
    valid: bool = True
    done: bool = False
    answer: str = ""               # empty: none


class Environment(Protocol):
    """One rollout's place in a world, made anew for every rollout. An exception ends the rollout, unscored."""

    def reset(self, prompt: str) -> str:
        """The first observation."""

    def act(self, text: str) -> Answer:
        """One turn. `text` is what the model wrote, without special tokens."""


Score = Callable[[str, list[str], Environment], "float | None"]


@dataclass
class Rollout:
    """`completion_ids`, `env_mask` and `logprobs` are of one length: what follows the prompt and first observation."""

    group: int
    sample: int
    prompt: str
    prompt_ids: list[int]
    environment: Environment | None = None
    draw: int = 0                  # groups of the same prompt that this iteration had started before
    completion_ids: list[int] = field(default_factory=list)
    env_mask: list[int] = field(default_factory=list)  # 1: the model wrote the token; 0: the environment did
    logprobs: list[float] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    answer: str = ""
    reward: float | None = None
    status: str = "running"
    held: bool = False
    broken: str = ""               # what the environment raised

    def append(self, tokens: list[int], mask: int, logprobs: list[float] | None = None) -> None:
        self.completion_ids += tokens
        self.env_mask += [mask] * len(tokens)
        self.logprobs += logprobs if logprobs is not None else [0.0] * len(tokens)


@dataclass
class Collected:
    """`rollouts` by (group, sample), the stopped ones too; `groups` in the order in which they ended."""

    rollouts: dict[tuple[int, int], Rollout]
    groups: list[GroupResult]
    plan: IterationReport


class Collector:
    """Plays iterations of one engine.

    environment: makes an environment, once per rollout.
    reward: (prompt, actions, environment) -> float; None, or a number that is not finite, leaves a rollout unscored.
    group_limit: rollouts of a group at most; a policy that starts more is refused. 0: no limit.
    record: keep what the engine is told in `events`, for recipe.replay().
    """

    def __init__(self, engine: Engine, tokenizer, environment: Callable[[], Environment], reward: Score, *, seed: int,
                 turn_limit: int, tokens_per_turn: int, temperature: float, group_limit: int = 0,
                 record: bool = False):
        self.engine, self.tokenizer = engine, tokenizer
        self.environment, self.reward = environment, reward
        self.seed, self.temperature = seed, temperature
        self.turn_limit, self.tokens_per_turn, self.group_limit = turn_limit, tokens_per_turn, group_limit
        self.record = record
        self.events: list[tuple] = []

    def collect(self, model, iteration: int, prompts: list[str]) -> Collected:
        """Until nothing is outstanding. `prompts`: the select order of Engine.begin_iteration()."""
        self._live: dict[tuple[int, int], Rollout] = {}
        self._done: dict[tuple[int, int], Rollout] = {}
        self._groups: list[GroupResult] = []
        self._draws: Counter[str] = Counter()
        self._draw_of: dict[int, int] = {}  # by group
        self._closed = False
        self._carry_out(self.tell("begin_iteration", iteration, prompts))
        was_training = model.training
        model.eval()
        try:
            while not self._closed:
                self._take_turns(model, iteration)
        finally:
            model.train(was_training)
        return Collected(self._done, self._groups, self.engine.preview())

    def tell(self, method: str, *positional, **named):
        """Calls a method of the engine, and records the call."""
        if self.record:
            self.events.append((method, positional, named))
        return getattr(self.engine, method)(*positional, **named)

    def _carry_out(self, orders) -> None:
        for ref in orders.stop:
            self._retire(ref.group, ref.sample, "stopped")
        for refs, held in ((orders.hold, True), (orders.release, False)):
            for ref in refs:
                if (ref.group, ref.sample) in self._live:
                    self._live[ref.group, ref.sample].held = held
        self._groups += orders.closed
        self._closed = self._closed or orders.batch_closed
        for start in orders.start:
            self._start(start)

    def _start(self, start) -> None:
        end = start.first + start.count
        if self.group_limit and end > self.group_limit:
            raise ValueError(f"the policy starts {end} rollouts of one group, but a group here has "
                             f"{self.group_limit} at most: lower what its `size` says")
        if start.group not in self._draw_of:
            self._draw_of[start.group] = self._draws[start.prompt]
            self._draws[start.prompt] += 1
        for sample in range(start.first, end):
            rollout = Rollout(start.group, sample, start.prompt, [], self.environment(), self._draw_of[start.group])
            self._live[start.group, sample] = rollout
            try:
                observation = rollout.environment.reset(start.prompt)
            except Exception as error:
                rollout.broken, observation = f"{type(error).__name__}: {error}", ""
            rollout.prompt_ids = self._tokens(f"{start.prompt}\n{observation}\n")

    def _take_turns(self, model, iteration: int) -> None:
        """One turn of every rollout that may take one."""
        acting = [rollout for rollout in self._live.values() if not rollout.held]
        if not acting:
            raise RuntimeError("the engine waits for rollouts that nobody runs; please report this")
        for rollout in [rollout for rollout in acting if rollout.broken]:
            self._end(rollout, "error")
        acting = [rollout for rollout in acting if (rollout.group, rollout.sample) in self._live]
        if not acting:
            return
        written = write_actions(
            model, self.tokenizer, [rollout.prompt_ids + rollout.completion_ids for rollout in acting],
            [seed_of(self.seed, iteration, r.prompt, r.draw, r.sample, len(r.actions)) for r in acting],
            max_tokens=self.tokens_per_turn, temperature=self.temperature)
        for rollout, action in zip(acting, written):
            if (rollout.group, rollout.sample) in self._live:
                self._take_turn(rollout, action)

    def _take_turn(self, rollout: Rollout, written: Written) -> None:
        rollout.append(written.tokens, 1, written.logprobs)
        try:
            answer = rollout.environment.act(self.tokenizer.decode(written.tokens, skip_special_tokens=True).strip())
        except Exception as error:
            rollout.broken = f"{type(error).__name__}: {error}"
            self._end(rollout, "error")
            return
        rollout.actions.append(answer.action)
        rollout.answer = getattr(answer, "answer", "")  # a program may have a class of its own from before
        last = answer.done or len(rollout.actions) >= self.turn_limit
        self._carry_out(self.tell(
            "turn", rollout.group, rollout.sample, action=answer.action, observation=answer.observation,
            valid=answer.valid, tokens=len(written.tokens), logprob=sum(written.logprobs),
            entropy=sum(written.entropies), last=last))
        if (rollout.group, rollout.sample) not in self._live:
            return
        if not last:
            rollout.append(self._tokens(f"\n{answer.observation}\n"), 0)
            return
        reward = self.reward(rollout.prompt, rollout.actions, rollout.environment)
        rollout.reward = float(reward) if reward is not None and math.isfinite(reward) else None
        self._end(rollout, "completed" if answer.done else "truncated")

    def _end(self, rollout: Rollout, status: str) -> None:
        if rollout.broken:
            log.warning("rollout %d of group %d ended unscored: %s", rollout.sample, rollout.group, rollout.broken)
        self._retire(rollout.group, rollout.sample, status)
        self._carry_out(self.tell("ended", rollout.group, rollout.sample, status=status, reward=rollout.reward,
                                  cause=rollout.broken, answer=rollout.answer))

    def _retire(self, group: int, sample: int, status: str) -> None:
        rollout = self._live.pop((group, sample), None)
        if rollout is not None:
            rollout.status, rollout.environment = status, None
            self._done[group, sample] = rollout

    def _tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
