"""What a verdict does to the weights, in real optimiser steps.

The yardstick of a batch with a dropped group is the batch without that group: equal weights to 1e-6. Plain gradient
descent with a rate of 1, so that an error in a denominator shows; each test shows beside it what it tells apart.
"""

import dataclasses
import unittest
from pathlib import Path
from unittest import mock

import torch
from transformers import Qwen2ForCausalLM

import allot.trl_rows
from bench import EachStep, driver_of, folder, make_model, policy, trainer_of, weights

DROP_FLAT = "on finish of group g {\n  when g.flat then drop\n  otherwise train\n}\n"
KEPT, FLAT = "door left 1", "door right 1"


def steps_right(prompt, actions, environment):
    """The group of FLAT has equal rewards, that of KEPT the share of its actions that are words of the world."""
    return 0.5 if prompt == FLAT else sum(action != "invalid" for action in actions) / len(actions)


class Weights(unittest.TestCase):
    def setUp(self):
        place = folder()
        self.addCleanup(place.cleanup)
        self.place = place.name
        self.drop_flat = policy(self.place, DROP_FLAT)

    def after(self, policy_file, prompts, model=None, reward=steps_right, **settings):
        """Weights after training on one group a prompt. `settings` are those of GRPOConfig."""
        driver = driver_of(policy_file, pool=prompts, slots=len(prompts), rounds=1, reward=reward)
        settings = dict(learning_rate=1.0) | settings
        trainer = trainer_of(driver, self.place, model=model() if model else None, **settings)
        trainer.train()
        return weights(trainer), driver

    def alike(self, model=None, **settings):
        """Asserts that the dropped group left no trace. `also` are settings for the batch with it alone."""
        also = settings.pop("also", {})
        with_dropped, driver = self.after(self.drop_flat, [KEPT, FLAT], model, **settings | also)
        alone, _ = self.after(self.drop_flat, [KEPT], model, **settings)
        untouched, _ = self.after("", [KEPT, FLAT], model, **settings | also)  # the flat group is trained on
        fates = [decision["fate"] for decision in driver.decisions]
        self.assertEqual(fates[:2].count("dropped"), 1)
        self.assertEqual(fates.count("dropped") * 2, len(fates))
        start = torch.cat([w.detach().flatten() for w in (model or make_model)().parameters()])
        self.assertGreater((alone - start).abs().max(), 1e-3)
        self.assertLess((with_dropped - alone).abs().max(), 1e-6)
        return (untouched - alone).abs().max().item()

    def test_a_dropped_group_is_in_no_numerator_and_no_denominator(self):
        self.assertGreater(self.alike(), 1e-4)  # dapo: without a policy its tokens dilute the step

    def test_so_it_is_with_the_other_losses_that_divide_by_tokens(self):
        for loss in ("bnpo", "cispo", "vespo"):
            with self.subTest(loss=loss):
                self.assertGreater(self.alike(loss_type=loss), 1e-4)

    def test_so_it_is_however_rewards_are_scaled(self):
        for scale in ("group", "batch", "none"):
            with self.subTest(scale=scale):
                self.assertGreater(self.alike(scale_rewards=scale), 1e-4)

    def test_so_it_is_in_micro_batches(self):
        halves = dict(per_device_train_batch_size=4, gradient_accumulation_steps=2)
        self.assertGreater(self.alike(also=halves), 1e-4)

    def test_a_dropped_group_gets_no_gradient_from_the_reference_model_either(self):
        """beta > 0. The KL term is 0 in the first step, where model and reference are the same: three steps."""
        saved = Path(self.place, "reference")
        make_model().save_pretrained(saved)
        apart = self.alike(lambda: Qwen2ForCausalLM.from_pretrained(saved), beta=0.5, max_steps=3, learning_rate=0.5)
        self.assertGreater(apart, 1e-4)

    def test_the_kl_term_is_seen_by_that(self):
        saved = Path(self.place, "reference")
        make_model().save_pretrained(saved)
        model = lambda: Qwen2ForCausalLM.from_pretrained(saved)
        with_kl, _ = self.after("", [KEPT], model, beta=0.5, max_steps=3, learning_rate=0.5)
        without, _ = self.after("", [KEPT], model, max_steps=3, learning_rate=0.5)
        self.assertGreater((with_kl - without).abs().max(), 1e-5)

    def test_it_is_the_mask_that_does_it(self):
        """Stubs that count, as they would without env_mask, show in the weights: with the KL term and without."""
        saved = Path(self.place, "reference")
        make_model().save_pretrained(saved)
        model = lambda: Qwen2ForCausalLM.from_pretrained(saved)

        stub = allot.trl_rows.stub

        def unmasked(*arguments):
            return dataclasses.replace(stub(*arguments), env_mask=[1])

        for settings in (dict(), dict(beta=0.5, max_steps=3, learning_rate=0.5)):
            alone, _ = self.after(self.drop_flat, [KEPT], model, **settings)
            with mock.patch.object(allot.trl_rows, "stub", unmasked):
                counted, _ = self.after(self.drop_flat, [KEPT, FLAT], model, **settings)
            self.assertGreater((counted - alone).abs().max(), 1e-5)

    def test_the_mean_is_over_what_the_verdict_says(self):
        """`train SUBSET` alone, or with `normalize over group`: other advantages, so other weights."""
        best = "on finish of group g {{ train max_variance(g.rewards, 3), normalize over {} }}\n"
        over = {}
        for whole in ("subset", "group"):
            over[whole], driver = self.after(policy(self.place, best.format(whole)), [KEPT])
            self.assertEqual(len(driver.decisions[0]["subset"]), 3)
        self.assertGreater((over["subset"] - over["group"]).abs().max(), 1e-5)


class SkippedUpdate(unittest.TestCase):
    """AdamW with momentum and weight decay: a step of gradients 0 would move the weights all the same."""

    def run_three(self, with_callback):
        with folder() as place:
            driver = driver_of(policy(place, DROP_FLAT), pool=[KEPT, KEPT], slots=2, rounds=1, 
                               reward=lambda *_: next(rewards))
            draw = torch.Generator().manual_seed(3)
            rewards = iter([float(x) for x in torch.rand(8, generator=draw)] + [0.0] * 16)
            each = EachStep()
            trainer = trainer_of(driver, place, callbacks=[each], with_callback=with_callback, max_steps=3,
                                 optim="adamw_torch", learning_rate=1e-2, weight_decay=0.1)
            trainer.train()
            self.assertEqual([d["fate"] for d in driver.decisions], ["trained"] * 2 + ["dropped"] * 4)
            return each.weights

    def test_weights_stay_where_nothing_is_left_to_train_on(self):
        first, second, third = self.run_three(with_callback=True)
        self.assertTrue(torch.equal(first, second))
        self.assertTrue(torch.equal(first, third))

    def test_without_the_callback_momentum_moves_them(self):
        first, second, _ = self.run_three(with_callback=False)
        self.assertGreater((first - second).abs().max(), 1e-4)


if __name__ == "__main__":
    unittest.main()
