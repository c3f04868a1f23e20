"""Real GRPOTrainer steps under two policies of the standard library, with a resume.

Together: at least 20 optimiser steps with 5 stops, 5 drops and 5 refills. Every decision is the engine's (a fresh one,
told the same events, agrees) and is computed again in plain Python.
"""

import unittest
from pathlib import Path

import torch

import allot.trl
import judged_again
from bench import DYNAMIC, SARA, SELECTIVE, driver_of, folder, trainer_of, weights

STEPS, HALF, SLOTS, SIZE = 12, 6, 4, 4
AT, THRESHOLD = 2, 0.4
LEARN = dict(max_steps=STEPS, save_strategy="steps", save_steps=HALF, optim="adamw_torch", learning_rate=5e-3,
             shuffle_dataset=True, rows=STEPS * SLOTS)


class Runs(unittest.TestCase):
    totals = dict(steps=0, stops=0, drops=0, refills=0, resumes=0)

    def run_twice(self, policy, **settings):
        """A run without a break, and the second half of it again from its checkpoint in the middle."""
        settings |= dict(slots=SLOTS, group_size=SIZE)
        place = folder()
        self.addCleanup(place.cleanup)
        whole = driver_of(policy, **settings)
        first = trainer_of(whole, place.name, **LEARN)
        first.train()
        checkpoint = Path(place.name, f"checkpoint-{HALF}")
        resumed = driver_of(policy, **settings)
        resumed.restore(checkpoint)
        second = trainer_of(resumed, place.name, **LEARN)
        second.train(resume_from_checkpoint=str(checkpoint))

        self.assertEqual((first.state.global_step, second.state.global_step), (STEPS, STEPS))
        self.assertEqual((whole.iteration, resumed.iteration), (STEPS, STEPS))
        after = [decision for decision in whole.decisions if decision["iteration"] >= HALF]
        self.assertEqual(resumed.decisions, after)
        self.assertEqual(resumed.pool.state(), whole.pool.state())
        torch.testing.assert_close(weights(second), weights(first), rtol=0, atol=1e-6)
        for driver, steps in ((whole, STEPS), (resumed, STEPS - HALF)):
            self.assertEqual(allot.trl.replay(driver), driver.decisions)
            self.count(driver, steps)
        self.totals["resumes"] += 1
        return whole, resumed

    def count(self, driver, steps):
        self.totals["steps"] += steps
        for decision in driver.decisions:
            self.totals["stops"] += decision["stopped"]
            self.totals["drops"] += decision["fate"] == "dropped"
            self.totals["refills"] += decision["round"] > 1

    def test_1_selective_rollout(self):
        for driver in self.run_twice(SELECTIVE, parameters=dict(at=str(AT), threshold=str(THRESHOLD))):
            seen = judged_again.groups(driver.collector.events)
            stops = 0
            for decision in driver.decisions:
                group = seen[decision["group"]]
                stop = judged_again.converged(group, AT, THRESHOLD, SIZE)
                stops += stop
                self.assertEqual(decision["stopped"], stop, decision)
                self.assertEqual(decision["fate"], "dropped" if stop else "trained", decision)
                if stop:
                    self.assertRegex(decision["reason"], r"^converged: divergence 0")
                    self.assertEqual(max(len(turns) for turns in group.turns.values()), AT)  # nothing after the stop
            self.assertGreaterEqual(stops, 3)
            self.assertLess(stops, len(driver.decisions) // 2)

    def test_2_dynamic_sampling(self):
        for driver in self.run_twice(DYNAMIC):
            seen = judged_again.groups(driver.collector.events)
            for decision in driver.decisions:
                drop = judged_again.no_spread(seen[decision["group"]])
                self.assertEqual(decision["fate"], "dropped" if drop else "trained", decision)
                self.assertFalse(decision["stopped"])
            kept = [decision for decision in driver.decisions if decision["fate"] == "trained"]
            self.assertTrue(any(decision["round"] > 1 for decision in kept))

    def test_4_a_policy_with_memory_and_groups_that_grow(self):
        """SARA: one rollout first, more as its beliefs say. They are kept per prompt, over iterations and a resume."""
        whole, _ = self.run_twice(SARA, parameters=dict(size=str(SIZE)))
        sizes = {}
        for method, positional, _ in whole.collector.events:
            if method == "ended":
                sizes.setdefault(positional[0], set()).add(positional[1])
        self.assertGreater(len({len(samples) for samples in sizes.values()}), 1)
        self.assertLessEqual(max(len(samples) for samples in sizes.values()), SIZE)

    def test_3_together(self):
        print(self.totals)
        for name, least in dict(steps=20, stops=5, drops=5, refills=5, resumes=1).items():
            self.assertGreaterEqual(self.totals[name], least, name)


if __name__ == "__main__":
    unittest.main()
