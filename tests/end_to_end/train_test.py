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

    def test_its_only_policy_is_the_one_it_kept(self):
        checked = subprocess.run([ALLOT, "check", str(self.run_folder)], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertEqual(checked.stdout.count("\n"), 1)
        self.assertIn("policy/policy.allot: ok", checked.stdout)

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


class RefusingToResume(unittest.TestCase):
    """What cannot go on as the same run says so, and changes nothing."""

    @classmethod
    def setUpClass(cls):
        cls.kept = folder() / "run"
        process = train(*TINY, *GATE, "--iterations", "1", "--run", str(cls.kept))
        assert process.returncode == 0, process.err

    def copy(self):
        run_folder = folder() / "run"
        shutil.copytree(self.kept, run_folder)
        return run_folder

    def refused(self, run_folder, *words, says, code=2):
        before = figures(run_folder)
        process = train(*TINY, *GATE, "--iterations", "2", *words, "--run", str(run_folder), "--resume")
        self.assertEqual((process.returncode, process.out), (code, ""), process.err)
        for word in says:
            self.assertIn(word, process.err)
        self.assertNotIn("json.exception", process.err)
        self.assertEqual(figures(run_folder), before)
        return process

    def test_other_options(self):
        changed = {"--slots 4": ["--slots: the run has 3, now it is 4"], "--group-size 5": ["--group-size"],
                   "--hidden 64": ["--hidden: the run has 32, now it is 64"], "--turns 19": ["--turns"],
                   "--learning-rate 0.001": ["--learning-rate: the run has 0.0001, now it is 0.001"],
                   "--seed 8": ["--seeds: the run has [7], now it is [8]"],
                   "--arms policy": ["--arms"], "--loss gspo": ["--loss: the run has ppo, now it is gspo"],
                   "--max-positions 999": ["--max-positions"], "--shadow": ["--shadow"]}
        for words, says in changed.items():
            with self.subTest(words):
                process = self.resumed_with(words.split())
                self.assertEqual((process.returncode, process.out), (2, ""), process.err)
                for word in says:
                    self.assertIn(word, process.err)

    def resumed_with(self, words):
        tiny = list(TINY)
        if words[0] in tiny:
            at = tiny.index(words[0])
            del tiny[at:at + 2]
        return train(*tiny, *GATE, "--iterations", "2", *words, "--run", str(self.kept), "--resume")

    def test_another_parameter_of_the_policy(self):
        process = train(*TINY, "--policy", POLICY, "--set", "at=4", "--set", "threshold=0.9", "--iterations", "2",
                        "--run", str(self.kept), "--resume")
        self.assertEqual(process.returncode, 2)
        self.assertIn('--set: the run has {"at":"3","threshold":"0.9"}, now it is {"at":"4"', process.err)

    def test_all_that_differs_is_named_at_once(self):
        process = self.resumed_with(["--temperature", "1", "--top-p", "0.5"])
        self.assertIn("--temperature: the run has 0.7, now it is 1.0", process.err)
        self.assertIn("--top-p: the run has 1.0, now it is 0.5", process.err)

    def test_another_policy_text(self):
        other = folder() / "selective_rollout.allot"
        other.write_text(pathlib.Path(POLICY).read_text() + "\n# changed\n")
        process = train(*TINY, "--policy", str(other), *GATE[2:], "--iterations", "2", "--run", str(self.kept), "--resume")
        self.assertEqual(process.returncode, 2)
        self.assertIn("--policy", process.err)

    def test_the_same_policy_from_another_place_goes_on(self):
        run_folder, other = self.copy(), folder() / "moved.allot"
        shutil.copy(POLICY, other)
        process = train(*TINY, "--policy", str(other), *GATE[2:], "--iterations", "2", "--run", str(run_folder), "--resume")
        self.assertEqual(process.returncode, 0, process.err)

    def test_fewer_iterations_than_there_are(self):
        process = train(*TINY, *GATE, "--iterations", "0", "--run", str(self.kept), "--resume")
        self.assertEqual((process.returncode, process.out), (1, ""))
        self.assertIn("--iterations", process.err)

    def test_a_lost_checkpoint(self):
        run_folder = self.copy()
        shutil.rmtree(run_folder / "seed-7" / "none" / "checkpoint")
        self.refused(run_folder, says=["none/checkpoint is missing", "1 iteration"], code=1)

    def test_a_lost_journal(self):
        run_folder = self.copy()
        shutil.rmtree(run_folder / "seed-7" / "policy" / "journal")
        self.refused(run_folder, says=["policy/journal", "missing"], code=1)

    def test_a_lost_segment_of_the_journal(self):
        run_folder = self.copy()
        self.assertEqual(train(*TINY, *GATE, "--iterations", "2", "--run", str(run_folder), "--resume").returncode, 0)
        (run_folder / "seed-7" / "policy" / "journal" / "000001.jsonl").unlink()
        self.refused(run_folder, says=["000001.jsonl", "missing"], code=1)

    def test_files_that_were_cut_short(self):
        for name in ["training.json", "tokenizer.json", "config.json"]:
            with self.subTest(name):
                run_folder = self.copy()
                file = run_folder / "seed-7" / "policy" / "checkpoint" / name
                file.write_bytes(file.read_bytes()[:100])
                self.refused(run_folder, says=[f"policy/checkpoint/{name} is cut short", "100 bytes", "help:"], code=1)

    def test_files_with_a_damaged_byte(self):
        run_folder = self.copy()
        file = run_folder / "seed-7" / "policy" / "checkpoint" / "training.json"
        text = bytearray(file.read_bytes())
        text[2] = 0
        file.write_bytes(text)
        self.refused(run_folder, says=["training.json is damaged at byte 3", "help:"], code=1)

    def test_lost_or_damaged_settings(self):
        run_folder = self.copy()
        (run_folder / "settings.json").write_text("{")
        self.refused(run_folder, says=["settings.json is cut short"])
        (run_folder / "settings.json").write_text("[]")
        self.refused(run_folder, says=["settings.json", "another form"])
        (run_folder / "settings.json").unlink()
        self.refused(run_folder, says=["settings.json"])

    def test_no_run(self):
        self.refused(folder() / "nothing", says=["there is no run to resume at"])
        process = train(*TINY, *GATE, "--resume")
        self.assertEqual(process.returncode, 2)
        self.assertIn("there is no run to resume", process.err)


def lines_of_good(path):
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass
    return rows


class BadInput(unittest.TestCase):
    def refused(self, *words, says, code=2):
        given = list(TINY) + ["--iterations", "1", "--run", str(folder() / "run")]
        for word in words:  # what is given here takes the place of the usual
            if word in given:
                at = given.index(word)
                del given[at:at + 2]
        began = time.time()
        process = train(*given, *words)
        self.assertEqual(process.returncode, code, process.err)
        self.assertEqual(process.out, "")
        for word in says:
            self.assertIn(word, process.err)
        self.assertNotIn("nats per token", process.err, "refused only after the warm-up was paid for")
        return time.time() - began

    def policy(self, text):
        path = folder() / "policy.allot"
        path.write_text(text)
        return str(path)

    def test_policies(self):
        self.refused(says=["--policy"])
        self.refused("--policy", "/nowhere/at_all.allot", says=["/nowhere/at_all.allot"])
        self.refused("--policy", self.policy("policy p\non finish of group g { when g.falt then drop }\n"),
                     says=["policy.allot:2:31", "flat"], code=1)
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
        self.refused("--polcy", POLICY, says=["did you mean --policy?"])
        self.refused(*GATE, "--on-fault", "x", says=["--on-fault", "stop", "default"])
        self.refused(*GATE, "--world", "process", says=["--world-command"])
        self.refused(*GATE, "--arms", "none", "none", says=["--arms", "twice"])
        self.refused(*GATE, "--set", "at=4", says=["at", "twice"])
        self.refused(*GATE, "--max-positions", "5", says=["--max-positions 5 is too short", "observation"])

    def test_numbers_out_of_range(self):
        for option, values in {"--turns": ["-1"], "--learning-rate": ["0", "-1", "nan", "inf", "x"],
                               "--iterations": ["-1"], "--gate-turn": ["0"], "--tokens-per-turn": ["0"],
                               "--temperature": ["nan", "0", "-1"], "--top-p": ["nan", "2"], "--holdout": ["nan", "x%", "101%"],
                               "--pause-below": ["nan"], "--warm-up-rate": ["nan", "0"], "--clip-low": ["nan"],
                               "--max-gradient-norm": ["nan"], "--hidden": ["0"], "--slots": ["0", "1e9"],
                               "--seeds": ["0"], "--warm-up": ["-1"], "--micro-tokens": ["0"]}.items():
            for value in values:
                with self.subTest(f"{option} {value}"):
                    self.refused(*GATE, option, value, says=[option])

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
        self.refused(*GATE, "--model", str(cut), says=["model.safetensors"], code=1)

    def test_a_folder_that_cannot_be_written(self):
        self.refused(*GATE, "--run", "/proc/no_such_run", says=["/proc/no_such_run"])

    def test_a_run_folder_that_is_a_file_or_holds_something_else(self):
        file = folder() / "file"
        file.write_text("mine")
        self.refused(*GATE, "--run", str(file), says=[str(file), "is a file"])
        self.refused(*GATE, "--run", str(file.parent), says=["not empty", "file"])
        self.assertEqual([path.name for path in file.parent.iterdir()], ["file"])

    def test_a_refused_run_leaves_its_place_free(self):
        run_folder = folder() / "run"
        self.refused(*GATE, "--run", str(run_folder), "--max-positions", "5", says=["--max-positions"])
        process = train(*TINY, *GATE, "--iterations", "0", "--run", str(run_folder))
        self.assertEqual(process.returncode, 0, process.err)


if __name__ == "__main__":
    unittest.main()
