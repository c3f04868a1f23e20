"""An engine made again in other processes decides the same (faults.md 32)."""

import dataclasses
import multiprocessing
import os
import pickle
import random
import tempfile
import unittest
from pathlib import Path

import allot
from allot.recipe import Recipe, replay

POLICY = Path(os.environ["ALLOT_SOURCE_DIR"], "stdlib", "dynamic_sampling.allot")
GROUPS, SIZE = 100, 4
MADE_OF_TWO = dict(
    both="policy both = part then level\n",
    part=("policy part\nparam least: rollouts = 2 rollouts\n"
          'on finish of group g { when g.scored < least then drop because "too few" }\n'),
    level='policy level\non finish of group g { when g.flat then drop because "flat" }\n')


def events() -> list[tuple]:
    """100 groups, refills not counted: some flat, some not, some with unscored members."""
    draw = random.Random(7)
    engine = allot.Engine(str(POLICY), slots=GROUPS, group_size=SIZE)
    told = [("begin_iteration", (0, [f"p{i}" for i in range(GROUPS)]), {})]
    engine.begin_iteration(*told[0][1])
    for group in range(GROUPS):
        for sample in range(SIZE):
            told.append(("turn", (group, sample, draw.choice("ab")), dict(last=True)))
            told.append(("ended", (group, sample), dict(reward=draw.choice([0.0, 1.0, 1.0, 1.0, None]))))
    return told + [("end_iteration", (), {})]


def work(recipe: Recipe, told: list[tuple]) -> tuple[int, str, list[dict]]:
    return os.getpid(), recipe.engine().policy_hash, replay(recipe, told)


class Shipping(unittest.TestCase):
    def setUp(self):
        self.recipe = Recipe.of(str(POLICY), slots=GROUPS, group_size=SIZE)

    def test_two_processes_decide_alike(self):
        told = events()
        here = replay(self.recipe, told)
        fates = [decision["fate"] for decision in here]
        self.assertEqual(len(fates), GROUPS)
        self.assertGreater(fates.count("dropped"), 20)
        self.assertGreater(fates.count("trained"), 20)
        with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
            answers = pool.starmap(work, [(self.recipe, told)] * 2, chunksize=1)
        self.assertNotEqual(answers[0][0], answers[1][0])
        for process, policy_hash, decisions in answers:
            self.assertNotEqual(process, os.getpid())
            self.assertEqual(policy_hash, self.recipe.hash)
            self.assertEqual(decisions, here)

    def test_what_a_policy_names_travels_with_it(self):
        with tempfile.TemporaryDirectory(prefix="allot_test_") as place:
            for name, text in MADE_OF_TWO.items():
                Path(place, f"{name}.allot").write_text(text)
            recipe = Recipe.of(Path(place, "both.allot"), parameters={"part.least": "3"}, slots=1, group_size=4)
            here = allot.Engine(str(Path(place, "both.allot")), {"part.least": "3"}, slots=1, group_size=4)
        # The folder is gone. Two scored are less than 3, four equal ones are flat, and about the third group nobody says
        # anything.
        rewards = [[0, 1, None, None], [1, 1, 1, 1], [0, 1, 1, 1]]
        told = []
        for iteration, scores in enumerate(rewards):
            told.append(("begin_iteration", (iteration, ["p0"]), {}))
            told += [("ended", (iteration, sample), dict(reward=score)) for sample, score in enumerate(scores)]
            told.append(("end_iteration", (), {}))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            _, policy_hash, decisions = pool.apply(work, (pickle.loads(pickle.dumps(recipe)), told))
        self.assertEqual(policy_hash, here.policy_hash)
        self.assertEqual([(each["fate"], each["reason"], each["rule"]) for each in decisions],
                         [("dropped", "too few", "part.allot:3"), ("dropped", "flat", "level.allot:2"), ("trained", "", "")])

    def test_an_engine_itself_does_not_travel(self):
        with self.assertRaises(TypeError):
            pickle.dumps(self.recipe.engine())

    def test_another_version_and_a_damaged_text_are_refused(self):
        with self.assertRaisesRegex(allot.Error, "made by allot 0.0.0, but here is allot"):
            dataclasses.replace(self.recipe, version="0.0.0").engine()
        with self.assertRaisesRegex(allot.Error, "arrived damaged"):
            dataclasses.replace(self.recipe, text=self.recipe.text + "\n").engine()


if __name__ == "__main__":
    unittest.main()
