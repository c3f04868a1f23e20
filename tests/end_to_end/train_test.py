"""Real training runs, as small as they can be: the report, the run folder, resuming, interrupting, bad input.

Nothing here says that a policy saves anything; ./dev bench train measures that.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ALLOT = os.environ["ALLOT"]
SOURCE = pathlib.Path(os.environ["ALLOT_SOURCE_DIR"])
POLICY = str(SOURCE / "stdlib" / "selective_rollout.allot")

# A model of some thousand parameters that was shown little: its rollouts are poor, and all the machinery runs.
TINY = ["--hidden", "32", "--intermediate", "64", "--layers", "1", "--heads", "2", "--kv-heads", "1",
        "--slots", "3", "--group-size", "4", "--turns", "20", "--warm-up", "10", "--demonstrations", "20",
        "--held-out", "6", "--threads", "1"]
GATE = ["--policy", POLICY, "--set", "at=3", "--set", "threshold=0.9"]


def folder():
    return pathlib.Path(tempfile.mkdtemp(prefix="allot-train-test-"))


def start(*words, **how):
    return subprocess.Popen([ALLOT, "train", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL, cwd=how.get("cwd", SOURCE))


def train(*words, timeout=300, **how):
    process = start(*words, **how)
    process.out, process.err = process.communicate(timeout=timeout)
    return process


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


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

    def test_a_run_is_not_written_over(self):
        again = train(*TINY, *GATE, "--iterations", "1", "--run", str(self.run_folder))
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("--resume", again.err)


def figures(run_folder):
    """What must come out the same: every metric of every iteration but the times."""
    found = {}
    for file in sorted(run_folder.glob("seed-*/*/metrics.jsonl")):
        rows = lines(file)
        for row in rows:
            for name in [name for name in row if "second" in name or "share" in name or "per_s" in name]:
                del row[name]
        found[file.parent.name] = rows
    return found


class Repeating(unittest.TestCase):
    def test_one_seed_gives_one_run_and_a_resumed_run_is_the_same(self):
        whole, parts = folder() / "whole", folder() / "parts"
        self.assertEqual(train(*TINY, *GATE, "--iterations", "3", "--run", str(whole)).returncode, 0)
        self.assertEqual(train(*TINY, *GATE, "--iterations", "1", "--run", str(parts)).returncode, 0)
        resumed = train(*TINY, *GATE, "--iterations", "3", "--run", str(parts), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.err)
        self.assertEqual(figures(whole), figures(parts))
        self.assertEqual(len(figures(whole)["policy"]), 3)

    def test_shadow_changes_nothing(self):
        shadow, none = folder() / "shadow", folder() / "none"
        shadowed = train(*TINY, *GATE, "--shadow", "--iterations", "1", "--json", "--run", str(shadow))
        self.assertEqual(shadowed.returncode, 0, shadowed.err)
        arms = json.loads(shadowed.out.splitlines()[-1])["arms"]
        for figure in ["rollouts", "turns", "tokens", "success", "flat_share"]:
            self.assertEqual(arms["policy"][figure], arms["none"][figure], figure)


class Interrupting(unittest.TestCase):
    def interrupted(self, run_folder, number):
        process = start(*TINY, *GATE, "--iterations", "500", "--json", "--run", str(run_folder))
        deadline = time.time() + 120
        metrics = run_folder / "seed-7" / "policy" / "metrics.jsonl"
        while time.time() < deadline and not (metrics.exists() and metrics.read_text().count("\n") >= 2):
            time.sleep(0.05)
        process.send_signal(number)
        process.out, process.err = process.communicate(timeout=120)
        return process

    def test_ctrl_c_ends_cleanly_with_a_report(self):
        run_folder = folder() / "run"
        process = self.interrupted(run_folder, signal.SIGINT)
        self.assertEqual(process.returncode, 130, process.err)
        self.assertTrue(json.loads(process.out.splitlines()[-1])["interrupted"])

    def test_a_killed_run_loses_at_most_the_iteration_in_flight(self):
        run_folder = folder() / "run"
        process = self.interrupted(run_folder, signal.SIGKILL)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        done = len(lines_of_good(run_folder / "seed-7" / "policy" / "metrics.jsonl"))
        resumed = train(*TINY, *GATE, "--iterations", str(done + 1), "--run", str(run_folder), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.err)
        rows = lines_of_good(run_folder / "seed-7" / "policy" / "metrics.jsonl")
        self.assertEqual([row["iteration"] for row in rows], list(range(done + 1)))


class Resuming(unittest.TestCase):
    def test_what_a_killed_run_told_of_an_unfinished_iteration_is_taken_back(self):
        run_folder = folder() / "run"
        self.assertEqual(train(*TINY, *GATE, "--iterations", "2", "--run", str(run_folder)).returncode, 0)
        metrics = run_folder / "seed-7" / "policy" / "metrics.jsonl"
        with metrics.open("a") as out:
            out.write('{"iteration": 2, "seconds": 1}\n{"iteration": 3, "sec')
        resumed = train(*TINY, *GATE, "--iterations", "3", "--run", str(run_folder), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.err)
        self.assertEqual([row["iteration"] for row in lines(metrics)], [0, 1, 2])


def lines_of_good(path):
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass
    return rows


class BadInput(unittest.TestCase):
    def refused(self, *words, says):
        run_folder = folder() / "run"
        began = time.time()
        process = train(*TINY, "--iterations", "1", "--run", str(run_folder), *words)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(process.out, "")
        for word in says:
            self.assertIn(word, process.err)
        return time.time() - began

    def policy(self, text):
        path = folder() / "policy.allot"
        path.write_text(text)
        return str(path)

    def test_policies(self):
        self.refused(says=["--policy"])
        self.refused("--policy", "/nowhere/at_all.allot", says=["/nowhere/at_all.allot"])
        self.refused("--policy", self.policy("policy p\non finish of group g { when g.falt then drop }\n"),
                     says=["policy.allot:2:31", "flat"])
        self.refused("--policy", POLICY, "--set", "thresh=0.2", says=["thresh", "threshold"])
        self.refused("--policy", POLICY, "--set", "threshold=2", says=["threshold", "0..1"])
        self.refused("--policy", POLICY, "--set", "at=99", says=["99"])

    def test_a_mistake_in_the_policy_is_found_before_the_model_is_trained(self):
        process = train(*TINY, "--policy", self.policy("policy p\non finish of group g { when g.falt then drop }\n"),
                        "--iterations", "1", "--run", str(folder() / "run"))
        self.assertNotEqual(process.returncode, 0)
        self.assertNotIn("warm-up", process.err)

    def test_options(self):
        self.refused(*GATE, "--no-such-option", says=["--no-such-option"])
        self.refused(*GATE, "--world", "nowhere", says=["nowhere", "household"])
        self.refused(*GATE, "--arms", "none,polcy", says=["polcy"])
        self.refused(*GATE, "--group-size", "0", says=["--group-size"])

    def test_games(self):
        self.refused(*GATE, "--world", "textworld", "--games", str(folder()), says=["games"])

    def test_checkpoints(self):
        self.refused(*GATE, "--model", "/nowhere/at_all", says=["/nowhere/at_all"])
        whole = folder() / "run"
        self.assertEqual(train(*TINY, *GATE, "--iterations", "0", "--run", str(whole)).returncode, 0)
        cut = folder() / "model"
        shutil.copytree(whole / "seed-7" / "warm-up", cut)
        weights = cut / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-100])
        self.refused(*GATE, "--model", str(cut), says=["model.safetensors"])

    def test_a_folder_that_cannot_be_written(self):
        process = train(*TINY, *GATE, "--iterations", "1", "--run", "/proc/no_such_run")
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("/proc/no_such_run", process.err)


if __name__ == "__main__":
    unittest.main()
