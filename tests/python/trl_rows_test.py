"""The rectangle that TRL gets, from a real GRPOTrainer: stubs, refills, subsets, and rollouts that break."""

import unittest
from dataclasses import asdict, replace
from types import SimpleNamespace

import torch

import allot.trl
from bench import (DYNAMIC, SELECTIVE, TOKENIZER, Corridor, driver_of, folder, policy, trainer_of, weights)

EOS = TOKENIZER.eos_token_id
COLUMNS = {"prompt_ids", "completion_ids", "logprobs", "env_mask", "allot_reward", "allot_prompt", "allot_group"}


def words(ids) -> str:
    return TOKENIZER.decode(ids)


class Rows(unittest.TestCase):
    def setUp(self):
        place = folder()
        self.addCleanup(place.cleanup)
        self.place = place.name

    def rows(self, driver, prompts, **settings):
        trainer = trainer_of(driver, self.place, **settings)
        trainer.model.train()
        return driver.rollouts([prompt for prompt in prompts for _ in range(driver.group_size)], trainer)

    def check_rectangle(self, rows, driver):
        self.assertEqual(set(rows), COLUMNS)
        for column in rows.values():
            self.assertEqual(len(column), driver.slots * driver.group_size)
        for ids, mask, logprobs in zip(rows["completion_ids"], rows["env_mask"], rows["logprobs"]):
            self.assertTrue(len(ids) == len(mask) == len(logprobs) > 0)

    def check_stub(self, rows, row):
        self.assertEqual(rows["completion_ids"][row], [EOS])
        self.assertEqual(rows["env_mask"][row], [0])
        self.assertEqual(rows["logprobs"][row], [0.0])

    def test_a_trained_row_alternates_actions_and_observations(self):
        driver = driver_of(slots=1, group_size=4)
        rows = self.rows(driver, ["door left 2"])
        self.check_rectangle(rows, driver)
        for row in range(4):
            self.assertEqual(words(rows["prompt_ids"][row]), "door left 2 away 2")
            turns = sum(rows["env_mask"][row])
            # one token an action, then the two of "away N", except after the last
            self.assertEqual(rows["env_mask"][row], ([1, 0, 0] * turns)[: 3 * turns - 2])
            for mask, logprob in zip(rows["env_mask"][row], rows["logprobs"][row]):
                self.assertTrue(logprob < 0 if mask else logprob == 0)
            self.assertIn(rows["allot_reward"][row], (0.0, 1.0))

    def test_log_probabilities_are_those_of_the_model(self):
        driver = driver_of(slots=1, group_size=4)
        trainer = trainer_of(driver, self.place)
        trainer.model.train()
        rows = driver.rollouts(["door left 2"] * 4, trainer)
        columns = (rows[name] for name in ("prompt_ids", "completion_ids", "env_mask", "logprobs"))
        for prompt, ids, mask, logprobs in zip(*columns):
            with torch.no_grad():
                logits = trainer.model(input_ids=torch.tensor([prompt + ids])).logits[0, len(prompt) - 1:-1]
            expected = logits.log_softmax(-1)[range(len(ids)), ids]
            torch.testing.assert_close(torch.tensor(logprobs), expected * torch.tensor(mask), rtol=0, atol=1e-5)

    def test_a_dropped_group_is_a_row_of_stubs_in_its_place(self):
        driver = driver_of(DYNAMIC, slots=2, rounds=1,
                           reward=lambda prompt, actions, _: 0.0 if "left" in prompt else len(set(actions)) / 4)
        rows = self.rows(driver, ["door left 2", "door right 2"])
        self.check_rectangle(rows, driver)
        self.assertEqual(driver.plan.trained, [1])
        for row in range(4):
            self.check_stub(rows, row)
            self.assertIsNone(rows["allot_reward"][row])
            self.assertEqual(words(rows["prompt_ids"][row]), "door left 2")
            self.assertIsNotNone(rows["allot_reward"][4 + row])
            self.assertGreater(sum(rows["env_mask"][4 + row]), 0)

    def test_a_stopped_group_is_a_row_of_stubs(self):
        driver = driver_of(SELECTIVE, slots=1, parameters=dict(at="1", threshold="1"))  # all but 4 different actions
        rows = self.rows(driver, ["door left 3"])
        self.assertTrue(driver.decisions[0]["stopped"])
        for row in range(4):
            self.check_stub(rows, row)
        self.assertEqual([len(named["action"]) > 0 for method, _, named in driver.collector.events if method == "turn"],
                         [True] * 4)  # one turn each, and no more

    def test_what_an_environment_says_was_answered_is_told(self):
        answers = iter(["42", "42", "7", ""])

        class Answering(Corridor):
            def reset(self, prompt):
                self.answer = next(answers)
                return super().reset(prompt)

            def act(self, text):
                return replace(super().act(text), answer=self.answer)

        file = policy(self.place, "on finish of group g {\n  let most = max(count_by(g.classes)) ?? 0\n"
                                  "  drop because \"{most} alike\"\n}\n")
        driver = driver_of(file, slots=1, rounds=1, environment=Answering)
        self.rows(driver, ["door left 2"])
        self.assertEqual(driver.decisions[0]["reason"], "2 alike")

    def test_an_answer_of_a_class_from_before_has_no_answer(self):
        class Before(Corridor):
            def act(self, text):
                said = asdict(super().act(text))
                del said["answer"]
                return SimpleNamespace(**said)

        rows, as_ever = (self.rows(driver_of(slots=1, environment=environment), ["door left 2"])
                         for environment in (Before, Corridor))
        self.assertEqual(rows["completion_ids"], as_ever["completion_ids"])

    def test_a_refilled_slot_carries_the_prompt_it_was_refilled_with(self):
        driver = driver_of(DYNAMIC, slots=2, pool=["door right 3"], rounds=2,
                           reward=lambda prompt, actions, _: 0.0 if "left" in prompt else len(set(actions)) / 4)
        rows = self.rows(driver, ["door left 2", "door right 2"])
        self.check_rectangle(rows, driver)
        self.assertEqual([d["prompt"] for d in driver.decisions if d["round"] == 2], ["door right 3"])
        for row in range(4):
            self.assertEqual(words(rows["prompt_ids"][row]), "door right 3 away 3")
            self.assertEqual(rows["allot_prompt"][row], "door right 3")
            self.assertEqual(words(rows["prompt_ids"][4 + row]), "door right 2 away 2")
        driver._steps_left = 1
        driver.barrier()
        self.assertEqual(driver.pool.returned, ["door right 3"])  # slot 1's second prompt was drawn and not opened

    def test_trl_logs_the_prompt_of_a_refilled_row(self):
        driver = driver_of(DYNAMIC, slots=2, pool=["door right 3"], rounds=2,
                           reward=lambda prompt, actions, _: 0.0 if "left" in prompt else len(set(actions)) / 4)
        trainer = trainer_of(driver, self.place)
        trainer.train_dataset = trainer.train_dataset.from_dict({"prompt": ["door left 2", "door right 2"]})
        trainer.train()
        self.assertEqual(list(trainer._logs["prompt"]), ["door right 3"] * 4 + ["door right 2"] * 4)
        logged = trainer.state.log_history[0]
        self.assertEqual([logged[f"allot/{name}"] for name in ("groups", "stopped", "dropped", "refilled", "trained")],
                         [3, 0, 1, 1, 2])
        # faults.md 34: what was dropped counts in the reward of all, not in that of the trained
        trained = [r for r in trainer._logs["rewards"]["rewards"]]
        self.assertAlmostEqual(logged["allot/reward_all"], sum(trained) / 12, places=6)
        self.assertAlmostEqual(logged["reward"], sum(trained) / 8, places=6)

    def test_a_subset_leaves_stubs_and_normalize_over_group_leaves_their_rewards(self):
        text = "on finish of group g {{ train max_variance(g.rewards, 2), normalize over {} }}\n"
        for over, kept in (("subset", False), ("group", True)):
            with self.subTest(over=over):
                numbers = iter([0.0, 0.25, 0.5, 1.0])
                driver = driver_of(policy(self.place, text.format(over)), slots=1, reward=lambda *_: next(numbers))
                rows = self.rows(driver, ["door left 4"])
                subset = driver.decisions[0]["subset"]
                self.assertEqual(len(subset), 2)
                for row in set(range(4)) - set(subset):
                    self.check_stub(rows, row)
                    self.assertEqual(rows["allot_reward"][row] is not None, kept)

    def test_two_groups_and_only_the_second_has_spread(self):  # faults.md 37
        driver = driver_of(DYNAMIC, slots=2, rounds=1, pool=["door left 1", "door right 1"],
                           reward=lambda prompt, actions, _: 1.0 if "left" in prompt else len(set(actions)) / 4)
        trainer = trainer_of(driver, self.place)
        before = weights(trainer)
        trainer.train()
        self.assertEqual([(d["slot"], d["fate"]) for d in sorted(driver.decisions, key=lambda d: d["slot"])],
                         [(0, "dropped"), (1, "trained")])
        batch = trainer._buffered_inputs[0]  # TRL shuffles rows
        trained = (batch["tool_mask"] * batch["completion_mask"]).sum(1) > 0
        self.assertEqual(int(trained.sum()), 4)
        for ids, mask, is_trained in zip(batch["prompt_ids"], batch["prompt_mask"], trained):
            self.assertEqual("right" in words(ids[mask.bool()]), bool(is_trained))
        self.assertTrue((batch["advantages"][~trained] == 0).all())
        self.assertGreater(batch["advantages"][trained].abs().max(), 0.1)
        self.assertGreater((weights(trainer) - before).abs().max(), 1e-4)


class Fragile(Corridor):
    """Every fifth breaks at its second action, every seventh before its first."""

    made = 0

    def __init__(self):
        Fragile.made += 1
        self.number, self.acted = Fragile.made, 0

    def reset(self, prompt):
        if self.number % 7 == 0:
            raise OSError("the world did not start")
        return super().reset(prompt)

    def act(self, text):
        self.acted += 1
        if self.number % 5 == 0 and self.acted == 2:
            raise ValueError("the world fell over")
        return super().act(text)


class Broken(unittest.TestCase):
    def test_a_world_that_raises_ends_its_rollout_unscored_and_the_run_goes_on(self):
        Fragile.made = 0
        with folder() as place, self.assertLogs("allot", "WARNING") as logged:
            driver = driver_of(DYNAMIC, environment=Fragile)
            trainer = trainer_of(driver, place, max_steps=3)
            trainer.train()
            self.assertEqual(trainer.state.global_step, 3)
        endings = [named for method, _, named in driver.collector.events if method == "ended"]
        errors = [ending for ending in endings if ending["status"] == "error"]
        causes = {ending["cause"] for ending in errors}
        self.assertEqual(causes, {"OSError: the world did not start", "ValueError: the world fell over"})
        self.assertTrue(all(ending["reward"] is None for ending in errors))
        self.assertTrue(all(ending["reward"] is not None for ending in endings if ending["status"] != "error"))
        self.assertTrue(any("the world fell over" in line for line in logged.output))
        unscored = {positional[:2] for method, positional, named in driver.collector.events
                    if method == "ended" and named["status"] == "error"}
        for decision in driver.decisions:
            for sample in decision["subset"]:
                self.assertNotIn((decision["group"], sample), unscored)
        self.assertEqual(allot.trl.replay(driver), driver.decisions)

    def test_a_reward_that_is_no_number_leaves_its_rollout_unscored(self):
        rewards = iter([0.0, 1.0, float("nan"), float("inf")])
        with folder() as place:
            driver = driver_of(slots=1, reward=lambda *_: next(rewards))
            trainer = trainer_of(driver, place)
            trainer.train()
            self.assertEqual(len(driver.decisions[0]["subset"]), 2)
            self.assertTrue(torch.isfinite(weights(trainer)).all())


if __name__ == "__main__":
    unittest.main()
