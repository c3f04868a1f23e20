"""Trains a tiny model with TRL's GRPOTrainer under a policy of Allot, on a CPU, in less than a minute.

    PYTHONPATH=build/python python examples/trl/train.py --policy stdlib/dynamic_sampling.allot --steps 30
    PYTHONPATH=build/python python examples/trl/train.py --resume /tmp/corridor/checkpoint-20 --steps 30

Prints what became of the groups of every step, and one line of JSON at the end.
"""

import argparse
import json
import logging
import os
import sys
import time
import warnings
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, str(Path(__file__).parent))

import torch
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback
from transformers.utils.logging import disable_progress_bar
from trl import GRPOConfig, GRPOTrainer

import allot
import allot.trl
from corridor import PROMPTS, Corridor, make_model, make_tokenizer, score

SLOTS, GROUP_SIZE, TURNS = 4, 4, 6


class Table(TrainerCallback):
    """One line a step. `reward` is over all rollouts that were scored, dropped groups included."""

    COUNTS = ("groups", "stopped", "dropped", "refilled", "trained")

    def __init__(self):
        self.rewards = []
        print("step  " + "  ".join(f"{name:>8}" for name in self.COUNTS) + "    reward")

    def on_log(self, args, state, control, logs=None, **others):
        if "allot/groups" not in logs:
            return
        reward = logs.get("allot/reward_all")
        if reward is not None:
            self.rewards.append(reward)
        print(f"{state.global_step:>4}  " + "  ".join(f"{logs[f'allot/{name}']:>8.0f}" for name in self.COUNTS)
              + ("         –" if reward is None else f"  {reward:>8.2f}"), flush=True)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="stdlib/dynamic_sampling.allot", help="a .allot file; \"\" for none")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the policy")
    parser.add_argument("--steps", type=int, default=30, help="optimiser steps in all")
    parser.add_argument("--resume", metavar="CHECKPOINT", help="a checkpoint folder of an earlier run")
    parser.add_argument("--output", default="/tmp/corridor", help="where checkpoints go")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> int:
    options = read_arguments()
    torch.set_num_threads(1)
    quiet()
    tokenizer = make_tokenizer()
    try:
        driver = allot.trl.Driver(
            options.policy, environment=Corridor, reward=score, tokenizer=tokenizer, pool=PROMPTS, slots=SLOTS,
            group_size=GROUP_SIZE, turn_limit=TURNS, tokens_per_turn=1, seed=options.seed,
            parameters=dict(item.split("=", 1) for item in options.set))
        if options.resume:
            driver.restore(options.resume)
    except (allot.Error, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    table = Table()
    trainer = GRPOTrainer(
        model=make_model(options.seed), args=configure(options), train_dataset=driver.dataset(options.steps * SLOTS),
        processing_class=tokenizer, reward_funcs=driver.rewards, rollout_func=driver.rollouts,
        callbacks=[driver.callback(), table])
    trainer.remove_callback(PrinterCallback)
    start = time.perf_counter()
    trainer.train(resume_from_checkpoint=options.resume)
    print(json.dumps(summary(driver, trainer, table, time.perf_counter() - start)))
    return 0


def configure(options) -> GRPOConfig:
    return GRPOConfig(
        output_dir=options.output, max_steps=options.steps, save_steps=20, num_generations=GROUP_SIZE,
        per_device_train_batch_size=SLOTS * GROUP_SIZE, gradient_accumulation_steps=1, max_completion_length=32,
        learning_rate=5e-3, lr_scheduler_type="constant", logging_steps=1, report_to="none", use_cpu=True, bf16=False,
        disable_tqdm=True, seed=options.seed)


def quiet() -> None:
    """Stubs have no reward by design, so TRL's warning that a row has none is dropped."""
    warnings.filterwarnings("ignore", category=FutureWarning)
    logging.getLogger("trl.trainer.grpo_trainer").addFilter(
        lambda record: "All reward functions returned None" not in record.getMessage())
    disable_progress_bar()


def summary(driver, trainer, table, seconds: float) -> dict:
    groups = driver.decisions
    tail = table.rewards[-10:]
    return dict(policy=driver.engine.policy_name, steps=trainer.state.global_step, groups=len(groups),
                stops=sum(g["stopped"] for g in groups), drops=sum(g["fate"] != "trained" for g in groups),
                refills=sum(g["round"] > 1 for g in groups), reward=sum(tail) / len(tail) if tail else None,
                seconds=round(seconds, 1), engine_share=driver.engine.seconds_spent / seconds)


if __name__ == "__main__":
    sys.exit(main())
