"""What TRL cannot carry out is refused in words that say what to do, before a rollout starts."""

import json
import unittest
from pathlib import Path

from trl import GRPOTrainer

import allot
import allot.trl
from bench import (DYNAMIC, SARA, STDLIB, TOKENIZER, Corridor, config_of, driver_of, folder, make_model, policy,
                   trainer_of)


class Counted(Corridor):
    made = 0

    def __init__(self):
        Counted.made += 1


class Refusals(unittest.TestCase):
    def setUp(self):
        Counted.made = 0
        place = folder()
        self.addCleanup(place.cleanup)
        self.place = place.name

    def tearDown(self):
        self.assertEqual(Counted.made, 0)  # nothing was rolled out

    def driver(self, policy_file=DYNAMIC, **changed):
        return driver_of(policy_file, environment=Counted, **changed)

    def refused(self, words, **settings):
        """By the callback when the trainer is made, and by `rollouts` where there is no callback."""
        with self.assertRaisesRegex(ValueError, words):
            trainer_of(self.driver(), self.place, **settings)
        with self.assertRaisesRegex(ValueError, words):
            trainer_of(self.driver(), self.place, with_callback=False, **settings).train()

    def test_another_group_size(self):
        self.refused("num_generations is 2, but the driver's group_size is 4", num_generations=2)

    def test_another_number_of_rows(self):
        self.refused("TRL generates 4 rows at once, but the driver has 2 slots of 4 = 8", per_device_train_batch_size=4)

    def test_losses_that_divide_by_rows(self):
        for loss in ("grpo", "dr_grpo", "luspo"):
            self.refused(f'loss_type "{loss}" divides by rows', loss_type=loss)
        self.refused('loss_type "bnpo" divides by rows', loss_type="bnpo", per_device_train_batch_size=4,
                     gradient_accumulation_steps=2)

    def test_another_temperature(self):
        self.refused("TRL's temperature is 0.5, the driver writes with 1.0", temperature=0.5)

    def test_several_generations_in_one_optimiser_step(self):
        self.refused("several generations would share one optimiser step", gradient_accumulation_steps=2,
                     steps_per_generation=1)

    def test_policies_whose_groups_may_exceed_the_rows(self):
        sara = SARA  # up to 8
        with self.assertRaisesRegex(ValueError, "may start 8 rollouts in a group.*num_generations = 4"):
            self.driver(sara)
        self.driver(sara, parameters=dict(size="4"))
        endless = policy(self.place, "on size of batch b { start 2 each }\non wave of group g { sample 2 more }\n")
        with self.assertRaisesRegex(ValueError, "any number of rollouts in a group.*`up to`"):
            self.driver(endless)

    def test_a_second_reward_function(self):
        driver = self.driver()
        trainer = GRPOTrainer(model=make_model(), args=config_of(driver, self.place), train_dataset=driver.dataset(),
                              processing_class=TOKENIZER, rollout_func=driver.rollouts,
                              reward_funcs=[driver.rewards, lambda completions, **others: [0.0] * len(completions)])
        with self.assertRaisesRegex(ValueError, "reward_funcs=driver.rewards alone"):
            trainer.train()

    def test_an_evaluation(self):
        driver = self.driver()
        trainer = trainer_of(driver, self.place, per_device_eval_batch_size=4)
        with self.assertRaisesRegex(ValueError, 'eval_strategy="no"'):
            trainer.evaluate(driver.dataset())

    def test_a_policy_that_is_loaded_and_never_asked(self):  # faults.md 31
        driver = self.driver()
        trainer = GRPOTrainer(
            model=make_model(), args=config_of(driver, self.place, max_completion_length=4), processing_class=TOKENIZER,
            train_dataset=driver.dataset(), callbacks=[driver.callback()],
            reward_funcs=lambda completions, **others: [float(len(text)) for text in completions])
        with self.assertRaisesRegex(RuntimeError, "policy dynamic_sampling loaded, 0 decisions in step 1"):
            trainer.train()

    def test_rewards_for_rows_that_the_driver_has_not_made(self):
        driver = self.driver()
        trainer = GRPOTrainer(model=make_model(), args=config_of(driver, self.place, max_completion_length=4),
                              train_dataset=driver.dataset(), processing_class=TOKENIZER, reward_funcs=driver.rewards)
        with self.assertRaisesRegex(RuntimeError, "rollout_func=driver.rollouts"):
            trainer.train()

    def test_an_empty_pool_and_a_wrong_policy(self):
        with self.assertRaisesRegex(ValueError, "the pool is empty"):
            self.driver(pool=[])
        with self.assertRaisesRegex(allot.Error, "no policy file"):
            self.driver("nowhere.allot")
        with self.assertRaisesRegex(allot.Error, "turn_limit|turn limit"):
            self.driver(STDLIB / "selective_rollout.allot")  # turn 10 of 4


class Resume(unittest.TestCase):
    def test_states_that_do_not_fit(self):
        with folder() as place:
            driver = driver_of(DYNAMIC)
            with self.assertRaisesRegex(FileNotFoundError, r"driver\.callback\(\)"):
                driver.restore(place)
            file = Path(place, allot.trl.STATE_FILE)
            driver.save(place)
            saved = file.read_text()
            file.write_text(saved[: len(saved) // 2])
            with self.assertRaisesRegex(ValueError, "is damaged.*older checkpoint"):
                driver_of(DYNAMIC).restore(place)
            file.write_text(json.dumps(json.loads(saved) | dict(engine="rubbish")))
            with self.assertRaises(allot.Error):
                driver_of(DYNAMIC).restore(place)
            file.write_text(saved)
            with self.assertRaisesRegex(allot.Error, "another policy"):
                driver_of().restore(place)

    def test_a_resumed_trainer_beside_a_new_driver(self):
        with folder() as place:
            trainer_of(driver_of(DYNAMIC), place, max_steps=1, save_strategy="steps", save_steps=1).train()
            checkpoint = str(Path(place, "checkpoint-1"))
            with self.assertRaisesRegex(RuntimeError, "resumes at step 1.*driver.restore"):
                trainer_of(driver_of(DYNAMIC), place, max_steps=2).train(resume_from_checkpoint=checkpoint)

    def test_a_checkpoint_between_two_steps_on_one_batch_holds_the_last_barrier(self):
        """num_iterations = 2: TRL generates anew after a resume, so the iteration begins anew too."""
        with folder() as place:
            driver = driver_of(DYNAMIC)
            trainer_of(driver, place, max_steps=4, num_iterations=2, save_strategy="steps", save_steps=1).train()
            self.assertEqual(driver.iteration, 2)
            iterations = [json.loads(Path(place, f"checkpoint-{step}", allot.trl.STATE_FILE).read_text())["iteration"]
                          for step in (1, 2, 3, 4)]
            self.assertEqual(iterations, [0, 1, 1, 2])


if __name__ == "__main__":
    unittest.main()
