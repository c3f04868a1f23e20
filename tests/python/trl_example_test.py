"""The example as a person runs it."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["ALLOT_SOURCE_DIR"])


def run(*arguments):
    return subprocess.run([sys.executable, str(SOURCE / "examples/trl/train.py"), *arguments], cwd=SOURCE, text=True,
                          capture_output=True, timeout=240)


class Example(unittest.TestCase):
    def test_it_learns_and_resumes(self):
        with tempfile.TemporaryDirectory() as place:
            done = run("--steps", "25", "--output", place)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = done.stdout.splitlines()
            self.assertEqual(lines[0].split(), "step groups stopped dropped refilled trained reward".split())
            self.assertEqual([int(line.split()[0]) for line in lines[1:-1]], list(range(1, 26)))
            result = json.loads(lines[-1])
            self.assertEqual((result["policy"], result["steps"]), ("dynamic_sampling", 25))
            first = sum(float(line.split()[-1]) for line in lines[1:6]) / 5
            print(f"reward {first:.2f} in the first five steps, {result['reward']:.2f} in the last ten")
            self.assertGreater(result["reward"], first + 0.2)

            again = run("--steps", "25", "--output", place, "--resume", str(Path(place, "checkpoint-20")))
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(again.stdout.splitlines()[1:-1], lines[21:-1])

    def test_mistakes(self):
        for arguments, words in ((["--policy", "nowhere.allot"], "There is no policy file"),
                                 (["--policy", "stdlib/sara.allot"], "may start 8 rollouts"),
                                 (["--resume", "/nowhere"], "is missing")):
            done = run(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
