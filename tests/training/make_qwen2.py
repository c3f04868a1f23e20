"""Writes a random Qwen2 model of transformers into a folder, with the logits it gives: the peer of model_test.cpp."""

import argparse
import pathlib

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--heads", type=int, required=True)
    parser.add_argument("--kv-heads", type=int, required=True)
    parser.add_argument("--hidden", type=int, required=True)
    parser.add_argument("--theta", type=float, default=10000.0)
    parser.add_argument("--tie", action="store_true")
    options = parser.parse_args()

    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=211, hidden_size=options.hidden, intermediate_size=130, num_hidden_layers=3,
        num_attention_heads=options.heads, num_key_value_heads=options.kv_heads, max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": options.theta}, tie_word_embeddings=options.tie,
        rms_norm_eps=1e-6)
    model = Qwen2ForCausalLM(config).float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn_like(parameter)
            parameter.copy_(1 + 0.2 * noise if "norm" in name else 0.15 * noise)
    model.save_pretrained(options.folder, safe_serialization=True)

    with open(options.folder / "expected.txt", "w") as out:
        lengths = (1, 17, 300)
        print(len(lengths), file=out)
        for length in lengths:
            tokens = torch.randint(0, config.vocab_size, (1, length))
            with torch.no_grad():
                logits = model(tokens).logits[0].double()
            print(length, *tokens[0].tolist(), file=out)
            for row in logits.tolist():
                print(*(f"{value:.9g}" for value in row), file=out)


if __name__ == "__main__":
    main()
