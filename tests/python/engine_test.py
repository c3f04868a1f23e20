"""The engine from Python: events and orders by hand, errors, save and restore, the end of the interpreter."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import allot

STDLIB = Path(os.environ["ALLOT_SOURCE_DIR"], "stdlib")
DYNAMIC = str(STDLIB / "dynamic_sampling.allot")
SELECTIVE = str(STDLIB / "selective_rollout.allot")
ANSWERS = """policy answers

on finish of group g {
  let most = max(count_by(g.classes)) ?? 0
  drop because "{most} alike"
}
"""


def play(engine, group, rewards):
    """One turn each, then the rewards. Returns the orders that came with the last ending."""
    orders = None
    for sample, reward in enumerate(rewards):
        engine.turn(group, sample, "look", last=True)
        orders = engine.ended(group, sample, reward=reward)
    return orders


class Orders(unittest.TestCase):
    def test_a_policy_anywhere_finds_the_standard_library_of_the_module(self):
        with tempfile.TemporaryDirectory() as folder:
            policy = Path(folder, "p.allot")
            policy.write_text("policy p = dynamic_sampling\n")
            self.assertEqual(allot.Engine(str(policy), slots=1, group_size=2).policy_name, "p")

    def test_a_flat_group_is_dropped_and_its_slot_refilled(self):
        engine = allot.Engine(DYNAMIC, slots=2, group_size=4)
        first = engine.begin_iteration(0, ["p0", "p1", "p2", "p3"])
        started = [(start.group, start.prompt, start.first, start.count) for start in first.start]
        self.assertEqual(started, [(0, "p0", 0, 4), (1, "p1", 0, 4)])
        refill = play(engine, 0, [1, 1, 1, 1])
        self.assertEqual([(s.group, s.prompt, s.count) for s in refill.start], [(2, "p2", 4)])
        dropped = refill.closed[0]
        self.assertEqual((dropped.fate, dropped.subset, dropped.flat, dropped.slot), ("dropped", [], True, 0))
        self.assertEqual(dropped.reason, "4 scored, no spread")
        self.assertTrue(dropped.rule.startswith(DYNAMIC + ":"))
        self.assertFalse(play(engine, 1, [0, 1, 0, 1]).batch_closed)
        last = play(engine, 2, [0, 0, 1, None])
        self.assertTrue(last.batch_closed)
        self.assertEqual(last.closed[0].subset, [0, 1, 2])  # the unscored one has nothing to train on
        self.assertEqual(engine.preview().trained, [2, 1])  # in slot order
        report = engine.end_iteration()
        self.assertEqual((report.rounds, report.skip_update, report.aborted), (2, False, False))
        self.assertEqual(engine.unused_prompts(), ["p3"])

    def test_a_converged_group_is_stopped_at_its_turn(self):
        engine = allot.Engine(SELECTIVE, {"at": "2"}, slots=1, group_size=3)
        engine.begin_iteration(0, ["p0"])
        held = [engine.turn(0, 0, action) for action in ("look", "go")][1]
        self.assertEqual([(r.group, r.sample) for r in held.hold], [(0, 0)])  # its siblings are not there yet
        for sample in (1, 2):
            engine.turn(0, sample, "look")
        engine.turn(0, 1, "go")
        orders = engine.turn(0, 2, "go")
        self.assertEqual(sorted((r.group, r.sample) for r in orders.stop), [(0, 0), (0, 1), (0, 2)])
        self.assertTrue(orders.closed[0].stopped)
        self.assertEqual(orders.closed[0].fate, "dropped")
        self.assertTrue(engine.end_iteration().skip_update)

    def test_an_ending_without_a_reward_is_unscored_and_nan_too(self):
        engine = allot.Engine(DYNAMIC, slots=1, group_size=4)
        engine.begin_iteration(0, ["p0"])
        orders = play(engine, 0, [1.0, None, float("nan"), float("inf")])
        self.assertEqual(orders.closed[0].reason, "1 scored, no spread")

    def test_equal_answers_of_a_group_are_one_class(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "answers.allot")
            file.write_text(ANSWERS)
            engine = allot.Engine(str(file), slots=1, group_size=4)
        engine.begin_iteration(0, ["p0"])
        for sample, answer in enumerate(["42", "7", "42"]):
            engine.ended(0, sample, answer=answer)
        self.assertEqual(engine.ended(0, 3).closed[0].reason, "2 alike")  # without an answer: of no class

    def test_without_a_policy_everything_is_trained(self):
        engine = allot.Engine("", slots=1, group_size=2)
        engine.begin_iteration(0, ["p0"])
        self.assertEqual(play(engine, 0, [1, 1]).closed[0].subset, [0, 1])
        self.assertEqual((engine.policy_name, engine.policy_hash), ("", ""))


class Inputs(unittest.TestCase):
    TEXT = ("policy known\nrefill at most 3 rounds then train_partial\n\n"
            "input difficulty: prob? per prompt\ninput border: prob per run\n\n"
            "on finish of group g {\n  when (difficulty[g.prompt] ?? 0) > border then drop\n  otherwise train\n}\n")

    def engine(self, **more):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "known.allot").write_text(self.TEXT)
            return allot.Engine(str(Path(folder, "known.allot")), slots=3, group_size=2, **more)

    def test_a_policy_reads_what_the_host_supplies(self):
        engine = self.engine(inputs={"border": 0.5, "difficulty": {"p0": 0.9, "p1": 0.1, "p2": None}})
        engine.begin_iteration(0, ["p0", "p1", "p2"])
        fates = [play(engine, group, [0, 1]).closed[0].fate for group in range(3)]
        self.assertEqual(fates, ["dropped", "trained", "trained"])  # undefined counts as 0 by the policy's own text

    def test_what_is_missing_unknown_or_out_of_range_is_told_before_the_run(self):
        for inputs, words in [({}, "needs `input difficulty"),
                              ({"border": 0.5, "difficulty": {"p0": 1.5}}, "a number in 0..1 is needed"),
                              ({"border": {}, "difficulty": {}}, "has no value"),
                              ({"border": 0.5, "difficulty": {}, "dificulty": {}}, "did you mean `difficulty`?")]:
            with self.assertRaises(allot.Error) as told:
                self.engine(inputs=inputs)
            self.assertIn(words, str(told.exception))


class Errors(unittest.TestCase):
    def refused(self, words, call, *arguments, **named):
        with self.assertRaises(allot.Error) as caught:
            call(*arguments, **named)
        self.assertIn(words, str(caught.exception))

    def test_what_a_person_got_wrong_comes_in_the_words_of_the_engine(self):
        self.refused("There is no policy file nowhere.allot.", allot.Engine, "nowhere.allot")
        self.refused("at", allot.Engine, SELECTIVE, {"att": "2"})  # the near match
        self.refused("0..1", allot.Engine, SELECTIVE, {"threshold": "2"})
        self.refused("slots is 0", allot.Engine, "", slots=0)
        for share in (float("nan"), -1.0, 7.0):
            self.refused("it is a share from 0 to 1", allot.Engine, "", pause_below=share)
        self.refused("it would never be asked", allot.Engine, SELECTIVE, {"at": "31"}, turn_limit=30)

    def test_a_policy_with_errors_shows_all_of_them_with_their_places(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "wrong.allot")
            file.write_text("policy wrong\n\non finish of group g {\n  when g.flatt then drop\n  when g.scord < 2 then "
                            "drop\n}\n")
            with self.assertRaises(allot.Error) as caught:
                allot.Engine(str(file))
            self.assertRegex(str(caught.exception), r"wrong\.allot:4:\d+")
            self.assertRegex(str(caught.exception), r"wrong\.allot:5:\d+")

    def test_events_out_of_order(self):
        engine = allot.Engine("", slots=1, group_size=1)
        self.refused("No iteration is under way.", engine.end_iteration)
        engine.begin_iteration(0, ["p0"])
        self.refused("before iteration 0 ended", engine.begin_iteration, 1, ["p0"])
        self.refused("still have rollouts that run", engine.end_iteration)

    def test_a_status_that_does_not_exist(self):
        engine = allot.Engine("", slots=1, group_size=1)
        engine.begin_iteration(0, ["p0"])
        with self.assertRaisesRegex(ValueError, "completed, truncated, aborted, timeout, error"):
            engine.ended(0, 0, status="done")

    def test_a_policy_that_nobody_asks_is_an_error(self):  # faults.md 31
        engine = allot.Engine(SELECTIVE, slots=1, group_size=1)
        engine.begin_iteration(0, ["p0"])
        engine.ended(0, 0, reward=1.0)
        self.refused("policy selective_rollout loaded, 0 decisions in iteration 0", engine.end_iteration)


class State(unittest.TestCase):
    def test_a_restored_engine_counts_on(self):
        first = allot.Engine(DYNAMIC, slots=1, group_size=2)
        first.begin_iteration(0, ["p0", "p1"])
        play(first, 0, [1, 1])
        play(first, 1, [0, 1])
        first.end_iteration()
        second = allot.Engine(DYNAMIC, slots=1, group_size=2)
        second.restore(first.save_state())
        self.assertEqual(second.begin_iteration(1, ["p2"]).start[0].group, 2)

    def test_state_of_another_policy_and_damaged_state_are_refused(self):
        state = allot.Engine(DYNAMIC).save_state()
        with self.assertRaisesRegex(allot.Error, "belongs to another policy"):
            allot.Engine(SELECTIVE).restore(state)
        with self.assertRaises(allot.Error):
            allot.Engine(DYNAMIC).restore(state[: len(state) // 2])
        with self.assertRaises(allot.Error):
            allot.Engine(DYNAMIC).restore("")


class LargestGroup(unittest.TestCase):
    SIZE = "policy p\nparam most: rollouts = 6\non size of batch b {{ {} }}\n"

    def bound(self, text, **parameters):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "p.allot")
            file.write_text(text)
            return allot.largest_group(str(file), parameters, 4)

    def test_bounds(self):
        self.assertEqual(allot.largest_group("", {}, 4), 4)
        self.assertEqual(allot.largest_group(DYNAMIC, {}, 4), 4)        # no `size`: the host's
        self.assertEqual(allot.largest_group(str(STDLIB / "sara.allot"), {}, 4), 8)   # param size = 8
        self.assertEqual(self.bound(self.SIZE.format("start 2 each, up to most")), 6)
        self.assertEqual(self.bound(self.SIZE.format("start 2 each, up to most"), most="9"), 9)
        self.assertEqual(self.bound(self.SIZE.format("start 7 each")), 7)
        self.assertEqual(self.bound(self.SIZE.format("start 2 each")), 4)  # the default may stand

    def test_no_bound(self):
        more = "on wave of group g {{ sample 1 more }}\n".replace("{{", "{").replace("}}", "}")
        self.assertIsNone(self.bound(self.SIZE.format("start 2 each") + more))
        self.assertIsNone(self.bound(self.SIZE.format("start 2 each, up to most * 2")))  # computed: not followed


class Fork(unittest.TestCase):
    def test_a_forked_child_is_refused_and_ends(self):
        """Two processes that wrote one journal left one that no audit takes."""
        script = """
import os, sys, allot
engine = allot.Engine({!r}, slots=1, group_size=2, run_folder=sys.argv[1], native=False)
def play(iteration):
    for sample in range(2 * bool(engine.begin_iteration(iteration, ["p0"]).start)):
        engine.ended(iteration, sample, reward=sample)
    engine.end_iteration()
play(0)
child = os.fork()
if child == 0:
    try:
        play(1)
    except allot.Error as error:
        sys.exit(0 if "was forked" in str(error) else 2)
    sys.exit(3)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
play(1)
sys.exit(status)
""".format(DYNAMIC)
        with tempfile.TemporaryDirectory(prefix="allot_test_") as place:
            done = subprocess.run([sys.executable, "-c", script, place], capture_output=True, text=True, timeout=50)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(len(list(Path(place, "journal").iterdir())), 1)


class Exit(unittest.TestCase):
    def test_an_engine_that_outlives_the_module_leaves_in_order(self):
        """Machine code may still be in the making when the interpreter goes."""
        script = ("import allot, builtins; e = allot.Engine({!r}, slots=1); e.begin_iteration(0, ['p0']);"
                  "builtins.kept = [e]").format(SELECTIVE)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=50)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
