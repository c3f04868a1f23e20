"""Runs that were interrupted, killed, damaged or changed: what goes on, and what is refused."""

import json
import pathlib
import shutil
import signal
import time
import unittest

from runs import GATE, POLICY, TINY, figures, folder, lines, lines_of_good, start, train


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


class Policies(unittest.TestCase):
    """The run goes on under the text that its folder keeps, whatever became of the files."""

    @classmethod
    def setUpClass(cls):
        cls.place = folder()
        cls.policy, cls.part = cls.place / "both.allot", cls.place / "imp" / "gate.allot"
        cls.part.parent.mkdir()
        cls.words = [*TINY, "--arms", "policy", "--policy", str(cls.policy)]
        cls.write()
        cls.kept = cls.place / "kept"
        process = train(*cls.words, "--iterations", "1", "--run", str(cls.kept))
        assert process.returncode == 0, process.err

    @classmethod
    def write(cls):
        cls.policy.write_text("policy both\nimport imp.gate as gate\n"
                              "on finish of group g {\n  when gate.worth(g.reward_mean ?? 0) > 2 then drop\n}\n")
        cls.part.write_text("policy gate\nfn worth(x: real) -> real = x * x\n")

    def setUp(self):
        self.write()
        self.run_folder = folder() / "run"
        shutil.copytree(self.kept, self.run_folder)

    def resumed(self, *more):
        process = train(*self.words, "--iterations", "2", "--run", str(self.run_folder), "--resume", *more)
        self.assertEqual(process.returncode, 0, process.err)
        arm = self.run_folder / "seed-7" / "policy"
        self.assertEqual(json.loads((arm / "state.json").read_text())["policy"],
                         json.loads((arm / "policy.json").read_text())["sha256"])
        return process

    def test_the_kept_options_and_the_kept_text_have_one_hash(self):
        settings = json.loads((self.run_folder / "settings.json").read_text())
        stamp = json.loads((self.run_folder / "seed-7" / "policy" / "policy.json").read_text())
        self.assertEqual(settings["--policy"], "sha256 " + stamp["sha256"])
        self.assertTrue((self.run_folder / "seed-7" / "policy" / "versions" / (stamp["sha256"] + ".json")).exists())

    def test_nothing_changed_nothing_told(self):
        self.assertNotIn("changed since", self.resumed().err)

    def test_an_edited_broken_or_missing_import_is_told_by_name(self):
        for text in ["policy gate\nfn worth(x: real) -> real = x\n", "policy gate\nfn worth(", None]:
            with self.subTest(text=text):
                self.setUp()
                self.part.unlink() if text is None else self.part.write_text(text)
                err = self.resumed().err
                self.assertIn(f"{self.part} " + ("cannot be read any more" if text is None else "changed since"), err)
                self.assertIn("allot swap", err)

    def test_the_file_itself_is_another_policy(self):
        self.policy.write_text(self.policy.read_text() + "# another\n")
        process = train(*self.words, "--iterations", "2", "--run", str(self.run_folder), "--resume")
        self.assertEqual(process.returncode, 2, process.err)
        self.assertIn("--policy: the run has sha256", process.err)

    def test_a_watched_file_that_was_deleted(self):
        self.policy.unlink()
        err = self.resumed("--watch", str(self.policy)).err
        self.assertIn(f"the watched file {self.policy} is gone", err)
        other = self.place / "never.allot"
        self.write()
        self.assertIn(f"the watched file {other} is gone", self.resumed("--watch", str(other)).err)

    def test_a_seed_that_had_not_begun_does_without_the_watched_file(self):
        words = [*self.words, "--seeds", "2", "--watch", str(self.policy), "--iterations", "1"]
        kept = self.place / "two"
        process = train(*words, "--run", str(kept))
        self.assertEqual(process.returncode, 0, process.err)
        begun = json.loads((kept / "seed-7" / "policy" / "policy.json").read_text())["sha256"]
        shutil.rmtree(kept / "seed-13")  # as if it were killed before that
        whole = self.policy.read_text()
        # Gone, broken, one that needs more turns than there are, and one under which a seed can begin.
        beyond = "policy both\non turn 99 of group g { stop }\n"
        for now, as_others in ((None, True), (whole[:60], True), (beyond, True), (whole + "# edited\n", False)):
            with self.subTest(now=now):
                run_folder = folder() / "run"
                shutil.copytree(kept, run_folder)
                self.policy.unlink() if now is None else self.policy.write_text(now)
                process = train(*words, "--run", str(run_folder), "--resume")
                self.write()
                self.assertEqual(process.returncode, 0, process.err)
                self.assertEqual("seed 13: nothing can begin under the watched file" in process.err, as_others, process.err)
                stamp = json.loads((run_folder / "seed-13" / "policy" / "policy.json").read_text())
                self.assertEqual(stamp["sha256"] == begun, as_others)
                self.assertEqual(len(lines(run_folder / "seed-13" / "policy" / "metrics.jsonl")), 1)
                self.assertTrue((run_folder / "report.json").exists())

    def test_the_copy_in_the_folder_is_as_good_as_the_file(self):
        copy = self.run_folder / "seed-7" / "policy" / "policy.allot"
        before = copy.read_text()
        words = [*TINY, "--arms", "policy", "--policy", str(copy)]
        process = train(*words, "--iterations", "2", "--run", str(self.run_folder), "--resume")
        self.assertEqual(process.returncode, 0, process.err)
        self.assertEqual(copy.read_text(), before)


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


if __name__ == "__main__":
    unittest.main()
