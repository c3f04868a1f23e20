"""`allot train` on real TextWorld games in child processes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ALLOT = os.environ["ALLOT"]
SOURCE = pathlib.Path(os.environ["ALLOT_SOURCE_DIR"])

TINY = ["--hidden", "32", "--intermediate", "64", "--layers", "1", "--heads", "2", "--kv-heads", "1", "--slots", "2",
        "--group-size", "3", "--turns", "8", "--warm-up", "10", "--threads", "1", "--worlds", "3"]


class TextWorld(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import textworld  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("skipped: the package textworld is not installed")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="allot-textworld-test-"))
        cls.games = cls.folder / "games"
        made = subprocess.run([sys.executable, SOURCE / "runtime/worlds/textworld/make_games.py", cls.games,
                               "--training", "3", "--held-out", "2"], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr

    def test_a_model_is_trained_on_real_games_under_a_policy(self):
        run = self.folder / "run"
        done = subprocess.run(
            [ALLOT, "train", *TINY, "--world", "textworld", "--games", self.games, "--iterations", "2", "--json",
             "--policy", SOURCE / "stdlib/selective_rollout.allot", "--set", "at=3", "--set", "threshold=0.9",
             "--run", run], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(report["world"], "textworld")
        self.assertEqual(report["arms"]["none"]["rollouts"], 12)
        self.assertEqual(report["arms"]["none"]["errors"], 0)
        rollouts = [json.loads(line) for line in (run / "seed-7/none/rollouts.jsonl").read_text().splitlines()]
        self.assertTrue(all(1 <= rollout["n_turns"] <= 8 for rollout in rollouts))
        self.assertTrue(any(turn["obs"] for rollout in rollouts for turn in rollout["turns"]))

    def test_a_folder_without_games_says_how_to_make_some(self):
        empty = self.folder / "empty"
        empty.mkdir()
        done = subprocess.run([ALLOT, "train", *TINY, "--world", "textworld", "--games", empty, "--policy",
                               SOURCE / "stdlib/selective_rollout.allot"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("make_games.py", done.stderr)


if __name__ == "__main__":
    unittest.main()
