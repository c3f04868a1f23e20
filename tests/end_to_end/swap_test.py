"""A run whose policy is swapped while it trains: by command, by a saved file, and over the end of the process."""

import json
import signal
import subprocess
import time
import unittest

from runs import ALLOT, TINY, folder, lines_of_good, start, train

GATE = """policy gate
param most: real = {most}
on finish of group g {{
  when (g.reward_mean ?? 0) > most then drop because "mean {{g.reward_mean ?? 0}}"
  otherwise train
}}
"""


def allot(*words):
    return subprocess.run([ALLOT, *map(str, words)], capture_output=True, text=True, timeout=120)


class Swapping(unittest.TestCase):
    def wait(self, holds, what):
        end = time.time() + 120
        while not holds():
            self.assertIsNone(self.process.poll(), "the run ended early")
            self.assertLess(time.time(), end, what)
            time.sleep(0.02)

    def versions(self):
        return [row["policy/version"] for row in lines_of_good(self.arm / "metrics.jsonl")] if (self.arm / "metrics.jsonl").exists() else []

    def test_by_command_by_file_and_after_a_kill(self):
        place = folder()
        policy, other = place / "gate.allot", place / "other.allot"
        policy.write_text(GATE.format(most=2))
        other.write_text(GATE.format(most=1.5))
        run = place / "run"
        self.arm = run / "seed-7" / "policy"
        words = [*TINY, "--arms", "policy", "--policy", str(policy), "--set", "most=3", "--run", str(run)]
        self.process = start(*words, "--iterations", "100000", "--watch", str(policy))
        try:
            self.wait(lambda: len(self.versions()) >= 2, "no iteration came")
            stale = allot("swap", run, other, "--expect", "0" * 64)
            self.assertEqual(stale.returncode, 1)
            self.assertIn("somebody swapped it meanwhile", stale.stderr)
            told = allot("swap", run, other, "--json")
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertEqual(json.loads(told.stdout)["outcome"], "active")
            self.wait(lambda: 1 in self.versions(), "the first swap was not seen in the metrics")
            beside = place / "beside"
            beside.write_text(GATE.format(most=1.2))
            beside.rename(policy)
            self.wait(lambda: 2 in self.versions(), "the saved file was not taken")
            back = allot("rollback", run)
            self.assertEqual(back.returncode, 0, back.stderr)
            self.wait(lambda: 3 in self.versions(), "the rollback was not seen in the metrics")
        finally:
            self.process.send_signal(signal.SIGKILL)
            self.process.communicate(timeout=60)
        done = len(self.versions())
        dead = allot("swap", run, other)
        self.assertEqual(dead.returncode, 2)
        self.assertIn("is not alive", dead.stderr)
        resumed = train(*words, "--iterations", str(done + 2), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.err)
        self.assertEqual(self.versions()[-1], 3)
        told = allot("log", run, "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        active = [json.loads((self.arm / "state.json").read_text())["policy"]]
        self.assertIn(f'"{active[0]}.json"', json.dumps([file.name for file in (self.arm / "versions").iterdir()]))
        plan = allot("plan", place / "gate.allot", "--on", run, "--set", "most=0.4", "--json")
        self.assertEqual(plan.returncode, 0, plan.stderr)
        self.assertEqual(json.loads(plan.stdout)["from"]["sha256"], active[0])

    def test_a_file_that_was_edited_while_the_run_was_down(self):
        place = folder()
        policy = place / "gate.allot"
        policy.write_text(GATE.format(most=2))
        run = place / "run"
        self.arm = run / "seed-7" / "policy"
        words = [*TINY, "--arms", "policy", "--policy", str(policy), "--watch", str(policy), "--run", str(run)]

        def until(holds, what, *more):
            self.process = start(*words, "--iterations", "100000", *more)
            try:
                self.wait(holds, what)
            finally:
                self.process.send_signal(signal.SIGKILL)
                self.process.communicate(timeout=60)

        until(lambda: len(self.versions()) >= 2, "no iteration came")
        began_with = json.loads((self.arm / "policy.json").read_text())["sha256"]
        policy.write_text("policy gate\non finish of")  # half an edit
        resumed = train(*words, "--iterations", str(len(self.versions()) + 2), "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.err)
        self.assertEqual(self.versions()[-1], 0)
        self.assertEqual(json.loads((self.arm / "state.json").read_text())["policy"], began_with)
        policy.write_text(GATE.format(most=1.2))
        until(lambda: 1 in self.versions(), "the edited file was not taken", "--resume")
        self.assertEqual(json.loads((self.arm / "policy.json").read_text())["sha256"], began_with)
        audit = allot("audit", run)
        self.assertEqual(audit.returncode, 0, audit.stdout + audit.stderr)


if __name__ == "__main__":
    unittest.main()
