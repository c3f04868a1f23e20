"""A world small enough to read at a glance: a corridor, a door some steps to the left or right, one word a turn.

And what a model needs to act in it: a word-level tokenizer and a Qwen2 of random weights, both made here, from nothing.
"""

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from allot.rollouts import Answer

PROMPTS = [f"door {side} {steps}" for steps in (1, 2, 3) for side in ("left", "right")]
WORDS = ["<pad>", "<eos>", "<unk>", "left", "right", "door", "away", "0", "1", "2", "3", "4", "5"]
WALL = 5  # steps from the door


class Corridor:
    """The prompt says where the door is: "door left 2". Each observation says how far away it is now."""

    def reset(self, prompt: str) -> str:
        _, self.side, steps = prompt.split()
        self.away = int(steps)
        return f"away {self.away}"

    def act(self, text: str) -> Answer:
        valid = text in ("left", "right")
        if valid:
            self.away = self.away - 1 if text == self.side else min(self.away + 1, WALL)
        return Answer(f"away {self.away}", text if valid else "invalid", valid, done=self.away == 0)


def score(prompt: str, actions: list[str], corridor: Corridor) -> float:
    return 1.0 if corridor.away == 0 else 0.0


def make_tokenizer() -> PreTrainedTokenizerFast:
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def make_model(seed: int = 0) -> Qwen2ForCausalLM:
    torch.manual_seed(seed)
    return Qwen2ForCausalLM(Qwen2Config(
        vocab_size=len(WORDS), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, bos_token_id=None, eos_token_id=1, pad_token_id=0))
