"""Kills, full disks, folders that cannot be written, damage, and filesystems with manners of their own: 20 of the first."""

import os
import unittest

import survival

PROGRAM, ALLOT, SHIM = os.environ["RUN_DRIVER"], os.environ["ALLOT"], os.environ["BAD_FILESYSTEM"]


class Survival(unittest.TestCase):
    def setUp(self):
        self.driver = survival.Driver(PROGRAM, ALLOT)

    def test_twenty_kills_lose_nothing_and_change_no_decision(self):
        told = survival.kills(self.driver, 20)
        self.assertGreaterEqual(told["kills"], 20)
        self.assertGreater(told["iterations"], 10)

    def test_kills_on_a_filesystem_that_cannot_sync_and_writes_in_parts(self):
        told = survival.kills(survival.Driver(PROGRAM, ALLOT, {"LD_PRELOAD": SHIM}), 5, seed=2)
        self.assertEqual(told["lost"], 0)

    def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(self):
        self.assertIn("Cannot write", survival.small_files(self.driver)["full_disk"])

    def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(self):
        survival.read_only(self.driver)

    def test_a_damaged_segment_is_named_and_a_missing_one_refused(self):
        survival.damaged_segment(self.driver)


if __name__ == "__main__":
    unittest.main()
