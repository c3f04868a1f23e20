"""docs/operations.md is played: every command prints what the page shows, up to numbers, times and hashes of a run."""

import sys
import unittest

from runs import ALLOT, SOURCE

sys.path.insert(0, str(SOURCE / "examples" / "operations"))
import run  # noqa: E402


class Page(unittest.TestCase):
    def test_its_sessions_are_true(self):
        played = run.play(ALLOT, run.DOCUMENT.read_text())
        for command, shown, output in played:
            with self.subTest(command=command):
                self.assertEqual(run.shape(output), run.shape(shown))
        self.assertGreaterEqual(len(played), 25)


if __name__ == "__main__":
    unittest.main()
