"""Real training runs, as small as they can be: the report, the run folder, the same numbers twice, deferral.

Nothing here says that a policy saves anything; ./dev bench train measures that.
"""

import json
import pathlib
import subprocess
import unittest

from runs import ALLOT, GATE, POLICY, TINY, figures, folder, lines, start, train


class Runs(unittest.TestCase):
    """One run, looked at from all sides."""

    @classmethod
    def setUpClass(cls):
        cls.run_folder = folder() / "run"
        cls.process = train(*TINY, *GATE, "--iterations", "2", "--json", "--run", str(cls.run_folder))

    def report(self):
        return json.loads(self.process.out.splitlines()[-1])

    def test_it_ends_well(self):
        self.assertEqual(self.process.returncode, 0, self.process.err)

    def test_the_last_line_is_the_report(self):
        report = self.report()
        for arm in ["none", "policy"]:
            for figure in ["seconds", "rollouts", "turns", "tokens", "success", "flat_share"]:
                self.assertIsInstance(report["arms"][arm][figure], (int, float), f"{arm}.{figure}")
            self.assertGreaterEqual(report["arms"][arm]["flat_share"], 0)
            self.assertLessEqual(report["arms"][arm]["flat_share"], 1)
        for figure in ["stops", "precision_all", "precision_stoppable", "recall"]:
            self.assertIn(figure, report["gate"])
        self.assertRegex(report["tasks_sha256"], r"^[0-9a-f]{64}$")
        self.assertGreaterEqual(report["engine_share"], 0)
        self.assertLess(report["engine_share"], 1)
        self.assertIsInstance(report["seed"], int)

    def test_arms_differ_only_by_what_was_stopped(self):
        arms = self.report()["arms"]
        # Two iterations of three groups of four.
        self.assertEqual(arms["none"]["rollouts"], 24)
        self.assertEqual(arms["policy"]["rollouts"], 24)
        self.assertLessEqual(arms["policy"]["turns"], arms["none"]["turns"])

    def test_the_run_folder_holds_all(self):
        arm = self.run_folder / f"seed-{self.report()['seed']}" / "policy"
        self.assertEqual([line["iteration"] for line in lines(arm / "metrics.jsonl")], [0, 1])
        self.assertEqual((arm / "policy.allot").read_text(), pathlib.Path(POLICY).read_text())
        rollouts = lines(arm / "rollouts.jsonl")
        self.assertEqual(len(rollouts), 24)
        for rollout in rollouts:
            self.assertEqual(rollout["schema"], "rollout/1")
            self.assertEqual(len(rollout["turns"]), rollout["n_turns"])
            if rollout["status"] == "stopped":
                self.assertIsNone(rollout["reward"], "a stopped rollout is unscored, never 0")
                self.assertFalse(rollout["kept"])
        self.assertTrue(any((arm / "tensorboard").iterdir()))
        self.assertTrue(any((arm / "journal").iterdir()))
        self.assertTrue((self.run_folder / "report.txt").stat().st_size > 0)

    def test_tensorboard_reads_what_the_metrics_say(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        arm = self.run_folder / f"seed-{self.report()['seed']}" / "policy"
        board = EventAccumulator(str(arm / "tensorboard"), size_guidance={"scalars": 0})
        board.Reload()
        rows = lines(arm / "metrics.jsonl")
        for name in ["reward/mean", "seconds/rollout", "groups/stopped"]:
            seen = [(event.step, event.value) for event in board.Scalars(name)]
            self.assertEqual([step for step, _ in seen], [0, 1])
            for (_, value), row in zip(seen, rows):
                self.assertAlmostEqual(value, row[name], places=5)

    def test_the_log_tells_what_the_report_counts(self):
        told = subprocess.run([ALLOT, "log", str(self.run_folder), "--json"], capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)
        for line in told.stdout.splitlines():
            json.loads(line)
        words = subprocess.run([ALLOT, "log", str(self.run_folder)], capture_output=True, text=True)
        self.assertEqual(words.returncode, 0)
        if self.report()["gate"]["stops"] > 0:
            self.assertIn("converged: divergence", words.stdout)

    def test_why_names_rule_and_values(self):
        for group in range(6):
            told = subprocess.run([ALLOT, "why", str(self.run_folder), str(group)], capture_output=True, text=True)
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertTrue(told.stdout)
        none = subprocess.run([ALLOT, "why", str(self.run_folder), "999"], capture_output=True, text=True)
        self.assertEqual((none.returncode, none.stdout), (2, ""))
        self.assertIn("999", none.stderr)

    def test_its_only_policy_is_the_one_it_kept(self):
        checked = subprocess.run([ALLOT, "check", str(self.run_folder)], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertEqual(checked.stdout.count("\n"), 1)
        self.assertIn("policy/policy.allot: ok", checked.stdout)

    def test_a_run_is_not_written_over(self):
        again = train(*TINY, *GATE, "--iterations", "1", "--run", str(self.run_folder))
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("--resume", again.err)


class Repeating(unittest.TestCase):
    def test_one_seed_gives_one_run_and_a_resumed_run_is_the_same(self):
        whole, parts = folder() / "whole", folder() / "parts"
        self.assertEqual(train(*TINY, *GATE, "--iterations", "3", "--run", str(whole)).returncode, 0)
        self.assertEqual(train(*TINY, *GATE, "--iterations", "1", "--run", str(parts)).returncode, 0)
        resumed = train(*TINY, *GATE, "--iterations", "3", "--run", str(parts), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.err)
        self.assertEqual(figures(whole), figures(parts))
        self.assertEqual(len(figures(whole)["policy"]), 3)

    def test_a_run_stopped_before_its_first_iteration_is_resumed_to_the_same(self):
        whole, parts = folder() / "whole", folder() / "parts"
        self.assertEqual(train(*TINY, *GATE, "--iterations", "1", "--run", str(whole)).returncode, 0)
        self.assertEqual(train(*TINY, *GATE, "--iterations", "0", "--run", str(parts)).returncode, 0)
        resumed = train(*TINY, *GATE, "--iterations", "1", "--run", str(parts), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.err)
        self.assertEqual(figures(whole), figures(parts))

    def test_shadow_changes_nothing(self):
        shadow, none = folder() / "shadow", folder() / "none"
        shadowed = train(*TINY, *GATE, "--shadow", "--iterations", "1", "--json", "--run", str(shadow))
        self.assertEqual(shadowed.returncode, 0, shadowed.err)
        arms = json.loads(shadowed.out.splitlines()[-1])["arms"]
        for figure in ["rollouts", "turns", "tokens", "success", "flat_share"]:
            self.assertEqual(arms["policy"][figure], arms["none"][figure], figure)


PILOT = """policy pilot
param first: rollouts = 2
param total: rollouts = 4
hit when reward >= 0.5
refill at most 2 rounds then train_partial

on select of pool p { take 2 * p.slots }
on size of batch b { start first each, up to total }
on wave 1 of group g { defer at most 2 iterations, refill }
on resume of group g by -(g.reward_std ?? 0), g.age { complete to total }
on finish of group g {
  when g.hits >= total then train, evict until epoch + 1
  otherwise train
}
on score of rollout r { set reward = r.reward - 0.001 * (r.turns / 1 turn) }
on shape of group g { set advantages = [0.5 * (r.advantage ?? 0) for r in g.rollouts] }
on replay of batch b { replay up to b.empty by g.age, max_age 2 iterations }
"""


REPLAYING = """policy replaying
refill at most 2 rounds then skip_update
on finish of group g {
  when iteration mod 2 == 0 and g.slot == 0 then drop, refill
  when iteration mod 2 == 1 and g.slot == 0 then drop
  otherwise train
}
on replay of batch b { replay up to b.empty by g.age, max_age 4 iterations }
"""


class Replays(unittest.TestCase):
    def test_groups_of_a_skipped_update_are_not_trained_on_later(self):
        """In 0 and 2 a slot stays open and the update is skipped; in 1 nothing was trained on before, in 3 the groups of 1."""
        place = folder()
        (place / "replaying.allot").write_text(REPLAYING)
        words = [*TINY, "--seed", "7", "--arms", "policy", "--policy", str(place / "replaying.allot"), "--run", str(place / "run")]
        for more in [["--iterations", "2"], ["--iterations", "4", "--resume"]]:
            process = train(*words, *more)
            self.assertEqual(process.returncode, 0, process.err)
        rows = lines(place / "run" / "seed-7" / "policy" / "metrics.jsonl")
        self.assertEqual([row["batch/skip_update"] for row in rows], [1, 0, 1, 0])
        self.assertEqual([row["groups/replayed"] for row in rows], [0, 0, 0, 1])


class Budgets(unittest.TestCase):
    def test_a_run_ends_with_its_budget(self):
        """Three groups of four an iteration: 12, 12, and the 6 that are left of 30."""
        place = folder()
        (place / "tight.allot").write_text("policy tight\nbudget 30 rollouts per run\non finish of group g { train }\n")
        words = [*TINY, "--policy", str(place / "tight.allot"), "--iterations", "20", "--run", str(place / "run")]
        for more in ([], ["--resume"]):  # which finds nothing left to do
            done = train(*words, *more)
            self.assertEqual(done.returncode, 0, done.err)
            self.assertIn("the budget of the run is used up: 30 of 30 rollouts; 3 of 20 iterations were played\n", done.out)
            report = json.loads((place / "run" / "report.json").read_text())
            self.assertEqual(report["budget_used_up"], [{"seed": 7, "budget": "30 of 30 rollouts", "iterations": 3}])
            self.assertEqual(report["arms"]["policy"]["rollouts"], 30)
            for arm in ("none", "policy"):
                self.assertEqual([row["iteration"] for row in lines(place / "run" / "seed-7" / arm / "metrics.jsonl")], [0, 1, 2], arm)
        notes = subprocess.run([ALLOT, "log", str(place / "run"), "--kind", "note"], capture_output=True, text=True)
        self.assertEqual(notes.stdout.count("   2  the budget of the run is used up: 30 of 30 rollouts.\n"), 1, notes.stdout)

    def test_a_larger_budget_in_the_watched_file_lets_it_go_on(self):
        place = folder()
        policy = place / "tight.allot"
        words = [*TINY, "--policy", str(policy), "--watch", str(policy), "--iterations", "20", "--run", str(place / "run")]
        text = "policy tight\nbudget {} rollouts per run\non finish of group g {{ train }}\n"
        # Three groups of four an iteration; what is refused is told all the same.
        for budget, resume, played, told in ((12, [], 1, ""), (24, ["--resume"], 2, "tight.allot, changed while the run was down: active as version 1"),
                                             ("no", ["--resume"], 2, "tight.allot, changed while the run was down: refused")):
            policy.write_text(text.format(budget))
            done = train(*words, *resume)
            self.assertEqual(done.returncode, 0, done.err)
            self.assertIn(told, done.err)
            self.assertIn(f"rollouts; {played} of 20 iterations were played\n", done.out)
            self.assertEqual(len(lines(place / "run" / "seed-7" / "none" / "metrics.jsonl")), played)


class Deferring(unittest.TestCase):
    def test_groups_wait_over_iterations_and_over_the_end_of_the_process(self):
        """Selection, deferral, score, shape and replay at once, whole and in two parts."""
        place = folder()
        (place / "pilot.allot").write_text(PILOT)
        gate = ["--policy", str(place / "pilot.allot"), "--arms", "policy"]
        whole, parts = place / "whole", place / "parts"
        done = train(*TINY, *gate, "--iterations", "3", "--run", str(whole))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(train(*TINY, *gate, "--iterations", "2", "--run", str(parts)).returncode, 0)
        resumed = train(*TINY, *gate, "--iterations", "3", "--run", str(parts), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.err)
        self.assertEqual(figures(whole), figures(parts))
        rows = lines(whole / "seed-7/policy/metrics.jsonl")
        # Six pilots of two; three are taken up in the second round and completed to four, three wait.
        self.assertEqual(rows[0]["rollouts/started"], 6 * 2 + 3 * 2)
        self.assertEqual(rows[0]["groups/waiting"], 3)
        self.assertEqual(rows[1]["groups/resumed"], 3)
        self.assertEqual(rows[1]["rollouts/started"], 3 * 2)
        rollouts = lines(whole / "seed-7/policy/rollouts.jsonl")
        old = [rollout for rollout in rollouts if rollout["step"] > rollout["policy_version"][0]]
        self.assertTrue(old, "the pilots of a group that waited are of older weights")
        for rollout in rollouts:
            if rollout["reward"] is not None:
                self.assertAlmostEqual(rollout["reward"], rollout["rewards"]["world"] - 0.001 * rollout["n_turns"])
        told = subprocess.run([ALLOT, "log", str(whole)], capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("waits, for 2 iterations at most", told.stdout)
        waited = old[0]["group_id"].removeprefix("g-")
        why = subprocess.run([ALLOT, "why", str(whole), waited], capture_output=True, text=True)
        self.assertEqual(why.returncode, 0, why.stderr)
        self.assertIn("is taken up in slot", why.stdout)

    def test_what_the_trainer_cannot_do_is_refused_before_it_costs_anything(self):
        place = folder()
        (place / "branch.allot").write_text("policy branching\non every turn of rollout r { branch 2 }\n")
        done = train(*TINY, "--policy", str(place / "branch.allot"), "--run", str(place / "run"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("branches rollouts, which this host cannot do", done.err)
        self.assertFalse((place / "run").exists())


if __name__ == "__main__":
    unittest.main()
