"""One handler as a function of numbers: the same rule by a call, by the evaluator and by a batch."""
import array
import math
import random
import unittest

import allot

POLICY = """
policy allocation

on wave of group g {
  when g.started >= 8 and (g.reward_mean ?? 1.0) < 0.15 then stop, drop
  when g.wave mod 3 == 2 then stop, train
  otherwise sample 1 more
}

on finish of group g { when 6 mod g.wave == 0 then drop }
"""


def expected(facts):
    """The rule by hand."""
    if facts["g.started"] >= 8 and (1.0 if facts["g.reward_mean"] is None else facts["g.reward_mean"]) < 0.15:
        return 0
    return 1 if facts["g.wave"] % 3 == 2 else 2


class DeciderTest(unittest.TestCase):
    def rows(self, names, count):
        dice = random.Random(7)
        for _ in range(count):
            facts = {"g.started": dice.randrange(1, 16), "g.wave": dice.randrange(1, 9),
                     "g.reward_mean": dice.choice([None, 0.1, 0.5])}
            yield [facts[name] for name in names], expected(facts)

    def test_calls(self):
        for compiled in (False, True):
            decide = allot.Decider(POLICY, "wave of group", compiled=compiled)
            self.assertEqual(set(decide.facts), {"g.started", "g.wave", "g.reward_mean"})
            self.assertEqual(len(decide.lines), 3)
            for row, rule in self.rows(decide.facts, 200):
                self.assertEqual(decide(*row), rule)

    def test_batch(self):
        for compiled in (False, True):
            decide = allot.Decider(POLICY, "wave of group", compiled=compiled)
            rows = list(self.rows(decide.facts, 501))
            columns = []
            for i, name in enumerate(decide.facts):
                values = [math.nan if row[i] is None else row[i] for row, _ in rows]
                columns.append(array.array("d" if name == "g.reward_mean" else "i", values))
            rules = array.array("b", bytes(len(rows)))
            self.assertEqual(decide.batch(*columns, rules), 0)
            self.assertEqual(list(rules), [rule for _, rule in rows])

    def test_faults_and_mistakes(self):
        decide = allot.Decider(POLICY, "finish of group")
        self.assertEqual(decide(3), 0)
        with self.assertRaisesRegex(allot.Error, "division by zero at line 10 of the policy allocation"):
            decide(0)
        rules = array.array("b", bytes(3))
        self.assertEqual(decide.batch(array.array("q", [3, 0, 4]), rules), 1)
        self.assertEqual(list(rules), [0, -1, -1])
        with self.assertRaisesRegex(TypeError, "1 numbers are needed"):
            decide(1, 2)
        with self.assertRaisesRegex(TypeError, "a column of such numbers"):
            decide.batch(array.array("d", [3, 0, 4]), rules)
        with self.assertRaisesRegex(ValueError, "2 rows, the rules have 3"):
            decide.batch(array.array("q", [3, 0]), rules)
        with self.assertRaisesRegex(allot.Error, "several handlers"):
            allot.Decider(POLICY)
        with self.assertRaisesRegex(allot.Error, "E0"):
            allot.Decider("policy broken\non finish of group g { when g.hitz > 1 then drop }")


if __name__ == "__main__":
    unittest.main()
