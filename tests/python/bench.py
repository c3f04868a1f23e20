"""What the tests of the TRL adapter share: a driver and a real GRPOTrainer over the corridor of examples/trl."""

import logging
import os
import tempfile
from pathlib import Path

import torch
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback
from transformers.utils.logging import disable_progress_bar
from trl import GRPOConfig, GRPOTrainer

import allot.trl
from corridor import PROMPTS, Corridor, make_model, make_tokenizer, score

torch.set_num_threads(1)
disable_progress_bar()
logging.getLogger("trl.trainer.grpo_trainer").setLevel(logging.ERROR)  # "All reward functions returned None": stubs

STDLIB = Path(os.environ["ALLOT_SOURCE_DIR"], "stdlib")
DYNAMIC = STDLIB / "dynamic_sampling.allot"
SELECTIVE = STDLIB / "selective_rollout.allot"
SARA = STDLIB / "sara.allot"
TOKENIZER = make_tokenizer()


def policy(folder, text: str) -> Path:
    """A policy file of the test's own."""
    file = Path(folder, "of_a_test.allot")
    file.write_text("policy of_a_test\n\n" + text)
    return file


def driver_of(policy="", **changed) -> allot.trl.Driver:
    settings = dict(environment=Corridor, reward=score, tokenizer=TOKENIZER, pool=PROMPTS, slots=2, group_size=4,
                    turn_limit=4, tokens_per_turn=1, record=True)
    return allot.trl.Driver(policy, **settings | changed)


def config_of(driver, folder, **changed) -> GRPOConfig:
    """One generation is one optimiser step. Plain gradient descent, so that weights show the scale of a gradient."""
    settings = dict(
        output_dir=str(folder), max_steps=1, num_generations=driver.group_size, gradient_accumulation_steps=1,
        per_device_train_batch_size=driver.slots * driver.group_size, max_completion_length=16, learning_rate=0.1,
        optim="sgd", max_grad_norm=0.0, lr_scheduler_type="constant", logging_steps=1, save_strategy="no",
        report_to="none", use_cpu=True, bf16=False, disable_tqdm=True, shuffle_dataset=False)
    return GRPOConfig(**settings | changed)


def trainer_of(driver, folder, *, model=None, callbacks=(), with_callback=True, rows=0, **changed) -> GRPOTrainer:
    trainer = GRPOTrainer(
        model=model or make_model(), args=config_of(driver, folder, **changed), train_dataset=driver.dataset(rows),
        processing_class=TOKENIZER, reward_funcs=driver.rewards, rollout_func=driver.rollouts,
        callbacks=[*([driver.callback()] if with_callback else []), *callbacks])
    trainer.remove_callback(PrinterCallback)
    return trainer


def weights(trainer) -> torch.Tensor:
    """All of them, one behind the other."""
    return torch.cat([weight.detach().flatten().clone() for weight in trainer.model.parameters()])


class EachStep(TrainerCallback):
    """Keeps the weights after every optimiser step."""

    def __init__(self):
        self.weights = []

    def on_step_end(self, args, state, control, model=None, **others):
        self.weights.append(torch.cat([weight.detach().flatten().clone() for weight in model.parameters()]))


def folder():
    return tempfile.TemporaryDirectory(prefix="allot_test_")
