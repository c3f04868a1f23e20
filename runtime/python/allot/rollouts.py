"""Rollouts of a text environment under an engine's orders, for any Hugging Face causal model.

This module knows nothing of a trainer. `Collector.collect` plays one iteration: it starts, steps, holds, stops and
refills rollouts as the engine says, and returns them with the verdict of every group.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Callable, Protocol

import torch

from ._allot import Engine, GroupResult, IterationReport


@dataclass(frozen=True)
class Answer:
    """What an environment says after an action. `action` is its canonical form, "invalid" where it understood none."""

    observation: str
    action: str
    valid: bool = True
    done: bool = False


class Environment(Protocol):
    """One rollout's place in a world. Made anew for every rollout."""

    def reset(self, prompt: str) -> str:
        """The first observation."""

    def act(self, text: str) -> Answer:
        """One turn."""


@dataclass
class Rollout:
    group: int
    sample: int
    prompt: str
    prompt_ids: list[int]
    environment: Environment
    completion_ids: list[int] = field(default_factory=list)
    env_mask: list[int] = field(default_factory=list)  # 1: the model wrote the token; 0: the environment did
    logprobs: list[float] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)  # the last observation, context of the next action
    reward: float | None = None
    status: str = "running"
    held: bool = False


@dataclass
class Collected:
    rollouts: dict[tuple[int, int], Rollout]
    groups: list[GroupResult]
    plan: IterationReport


def _seed(*parts: object) -> int:
    """A seed that is a function of its parts alone: the same rollout draws the same numbers in any batch."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


@torch.no_grad()
def write_actions(model, tokenizer, rollouts: list[Rollout], max_tokens: int, temperature: float, seed_of) -> list[list[int]]:
    """One action for each rollout, until the end-of-sequence token or `max_tokens`. Appends ids and log-probabilities.

    Prompts are padded on the left and recomputed for every token: plain, and right for the small models of an example.
    """
    device = next(model.parameters()).device
    generators = [torch.Generator().manual_seed(seed_of(r)) for r in rollouts]
    actions: list[list[int]] = [[] for _ in rollouts]
    writing = list(range(len(rollouts)))
    while writing:
        contexts = [rollouts[i].prompt_ids + rollouts[i].completion_ids for i in writing]
        width = max(map(len, contexts))
        ids = torch.tensor([[tokenizer.pad_token_id] * (width - len(c)) + c for c in contexts], device=device)
        mask = torch.tensor([[0] * (width - len(c)) + [1] * len(c) for c in contexts], device=device)
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        logits = model(input_ids=ids, attention_mask=mask, position_ids=positions).logits[:, -1].float()
        logprobs = torch.log_softmax(logits / temperature, dim=-1).cpu()
        still = []
        for row, i in enumerate(writing):
            token = int(torch.multinomial(logprobs[row].exp(), 1, generator=generators[i]))
            actions[i].append(token)
            rollouts[i].completion_ids.append(token)
            rollouts[i].env_mask.append(1)
            rollouts[i].logprobs.append(float(logprobs[row, token]))
            if token != tokenizer.eos_token_id and len(actions[i]) < max_tokens:
                still.append(i)
        writing = still
    return actions


class Collector:
    """Plays iterations of one engine.

    environment: makes an environment, once per rollout.
    reward: (prompt, actions, environment) -> float, or None for a rollout that cannot be scored.
    """

    def __init__(self, engine: Engine, tokenizer, environment: Callable[[], Environment],
                 reward: Callable[[str, list[str], Environment], float | None], *, seed: int, turn_limit: int,
                 tokens_per_turn: int, temperature: float):
        self.engine, self.tokenizer = engine, tokenizer
        self.environment, self.reward = environment, reward
        self.seed, self.temperature = seed, temperature
        self.turn_limit, self.tokens_per_turn = turn_limit, tokens_per_turn
        self.events: list[tuple] = []  # what the engine was told, for a replay of its decisions

    def collect(self, model, iteration: int, prompts: list[str]) -> Collected:
        self._live: dict[tuple[int, int], Rollout] = {}
        self._done: dict[tuple[int, int], Rollout] = {}
        self._groups: list[GroupResult] = []
        self._closed = False
        self._tell("begin_iteration", iteration, prompts)
        while not self._closed:
            acting = [r for r in self._live.values() if not r.held]
            if not acting:
                raise RuntimeError("the engine waits for rollouts that nobody runs; please report this")
            for rollout in acting:
                rollout.completion_ids += rollout.pending
                rollout.env_mask += [0] * len(rollout.pending)
                rollout.logprobs += [0.0] * len(rollout.pending)
                rollout.pending = []
            written = write_actions(
                model, self.tokenizer, acting, self.tokens_per_turn, self.temperature,
                lambda r: _seed(self.seed, iteration, r.prompt, r.sample, len(r.actions)))
            for rollout, tokens in zip(acting, written):
                if (rollout.group, rollout.sample) in self._live:
                    self._take_turn(rollout, tokens)
        return Collected(self._done, self._groups, self.engine.preview())

    def _tell(self, method: str, *args, **kwargs) -> None:
        """Reports an event and carries out the orders that come back."""
        self.events.append((method, args, kwargs))
        orders = getattr(self.engine, method)(*args, **kwargs)
        for ref in orders.stop:
            self._retire(ref.group, ref.sample, "stopped")
        for refs, held in ((orders.hold, True), (orders.release, False)):
            for ref in refs:
                if (ref.group, ref.sample) in self._live:
                    self._live[ref.group, ref.sample].held = held
        self._groups += orders.closed
        self._closed = self._closed or orders.batch_closed
        for start in orders.start:
            for sample in range(start.first, start.first + start.count):
                self._start(start.group, sample, start.prompt)

    def _start(self, group: int, sample: int, prompt: str) -> None:
        environment = self.environment()
        ids = self.tokenizer(prompt + "\n" + environment.reset(prompt) + "\n", add_special_tokens=False)["input_ids"]
        self._live[group, sample] = Rollout(group, sample, prompt, list(ids), environment)

    def _take_turn(self, rollout: Rollout, tokens: list[int]) -> None:
        key = (rollout.group, rollout.sample)
        try:
            answer = rollout.environment.act(self.tokenizer.decode(tokens, skip_special_tokens=True).strip())
        except Exception as error:  # an environment that breaks ends its rollout, unscored; the run goes on
            self._retire(*key, "error")
            self._tell("ended", *key, status="error", cause=f"{type(error).__name__}: {error}")
            return
        rollout.actions.append(answer.action)
        last = answer.done or len(rollout.actions) >= self.turn_limit
        written = rollout.logprobs[-len(tokens):]
        self._tell("turn", *key, action=answer.action, observation=answer.observation, valid=answer.valid,
                   tokens=len(tokens), logprob=sum(written), last=last)
        if key not in self._live:
            return
        if not last:
            rollout.pending = self.tokenizer("\n" + answer.observation + "\n", add_special_tokens=False)["input_ids"]
            return
        rollout.reward = self.reward(rollout.prompt, rollout.actions, rollout.environment)
        status = "completed" if answer.done else "truncated"
        self._retire(*key, status)
        self._tell("ended", *key, status=status, reward=rollout.reward)

    def _retire(self, group: int, sample: int, status: str) -> None:
        rollout = self._live.pop((group, sample), None)
        if rollout is not None:
            rollout.status = status
            self._done[group, sample] = rollout
