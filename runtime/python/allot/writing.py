"""Actions written by a Hugging Face causal model, as text token by token."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import torch


@dataclass
class Written:
    """One action. Log-probabilities and entropies are of the distribution that was sampled from, in nats."""

    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)


def seed_of(*parts: object) -> int:
    """A function of its parts alone, so that a rollout draws the same numbers in any batch and after a resume."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


@torch.no_grad()
def write_actions(model, tokenizer, contexts: list[list[int]], seeds: list[int], *, max_tokens: int,
                  temperature: float) -> list[Written]:
    """One action after each context, up to and with the end-of-sequence token, at most `max_tokens`.

    contexts: token ids, none empty. Each row is padded on the left, and computed anew for every token: plain, and fast
    enough for the small models of an example.
    """
    device = next(model.parameters()).device
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    written = [Written() for _ in contexts]
    writing = list(range(len(contexts)))
    while writing:
        rows = [contexts[i] + written[i].tokens for i in writing]
        width = max(map(len, rows))
        ids = torch.tensor([[tokenizer.pad_token_id] * (width - len(row)) + row for row in rows], device=device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=device)
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        logits = model(input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=False).logits[:, -1]
        logprobs = torch.log_softmax(logits.float() / temperature, dim=-1).cpu()
        chances = logprobs.exp()
        entropies = -(chances * logprobs).nan_to_num(0.0).sum(-1)
        still = []
        for row, i in enumerate(writing):
            token = int(torch.multinomial(chances[row], 1, generator=generators[i]))
            written[i].tokens.append(token)
            written[i].logprobs.append(float(logprobs[row, token]))
            written[i].entropies.append(float(entropies[row]))
            if token != tokenizer.eos_token_id and len(written[i].tokens) < max_tokens:
                still.append(i)
        writing = still
    return written
