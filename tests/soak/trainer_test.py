"""Five kills of `allot train`, and three with a swap under way."""

import os
import unittest

import trainer

ALLOT = os.environ["ALLOT"]


class Killing(unittest.TestCase):
    def test_kills_lose_nothing_and_change_neither_decision_nor_weight(self):
        told = trainer.kills(ALLOT, 5)
        self.assertEqual((told["kills"], told["lost"]), (5, 0))

    def test_a_swap_under_way_is_carried_out_once(self):
        told = trainer.pending_swaps(ALLOT, 3)
        self.assertEqual(told["lost"], 0)


if __name__ == "__main__":
    unittest.main()
