"""What a loop in Python may do beside starting, stopping and training: scores, deferral, shaping, replay, losses, swaps."""

import os
import pathlib
import tempfile
import unittest

import numpy

import allot

STDLIB = pathlib.Path(os.environ["ALLOT_SOURCE_DIR"], "stdlib")


def play(engine, group, rewards, first=0):
    """One turn each, then the rewards. Returns the orders that came with the last ending."""
    orders = None
    for sample, reward in enumerate(rewards, first):
        engine.turn(group, sample, "look", tokens=10, last=True)
        orders = engine.ended(group, sample, reward=reward)
    return orders


class Abilities(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="allot_test_")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def policy(self, text, name="gate"):
        file = self.place / f"{name}.allot"
        file.write_text(f"policy {name}\n" + text)
        return str(file)

    def test_what_a_loop_does_not_do_is_refused_by_name(self):
        for text, ability, words in [
                ("on score of rollout r { set reward = 1 }", "scores", "sets rewards"),
                ("refill at most 1 rounds then train_partial\non wave 1 of group g { defer at most 2 iterations, refill }\non resume of group g by g.age { complete to 4 }", "defers",
                 "defers groups"),
                ("on shape of group g { set advantages = g.rewards }", "shapes", "changes advantages"),
                ("on replay of batch b { replay up to 1 by g.age, max_age 2 iterations }", "replays", "replays earlier groups"),
                ("on loss of token t { set loss = -t.advantage * t.logprob }", "losses", "sets the loss")]:
            file = self.policy(text)
            with self.subTest(ability):
                with self.assertRaisesRegex(allot.Error, words + ".*cannot do"):
                    allot.Engine(file)
                allot.Engine(file, can=[ability])
        with self.assertRaisesRegex(allot.Error, "`fly` is nothing that a host can do"):
            allot.Engine("", can=["fly"])

    def test_scores_are_in_the_result(self):
        file = self.policy("on score of rollout r { set reward = r.reward - r.tokens / 100 tokens }")
        engine = allot.Engine(file, slots=1, group_size=3, can=["scores"])
        engine.begin_iteration(0, ["p0"])
        closed = play(engine, 0, [1, 0, None]).closed[0]
        self.assertEqual(closed.rewards, [0.9, -0.1, None])  # 10 of 100 tokens
        self.assertEqual(closed.iterations, [0, 0, 0])
        self.assertEqual(closed.policy, engine.policy_hash)

    def test_a_deferred_group_goes_on_later(self):
        engine = allot.Engine(str(STDLIB / "speed_rl.allot"), {"screen": "2", "rest": "3"}, slots=1, can=["defers"])
        first, second = engine.begin_iteration(0, ["p0", "p1"]).start  # twice as many as slots are screened
        self.assertEqual(play(engine, first.group, [0, 1]).deferred, [first.group])
        orders = play(engine, second.group, [1, 1])  # let go
        while not orders.batch_closed:
            # What waits goes on in this iteration already, where places are left.
            self.assertEqual([(each.group, each.prompt, each.first, each.count) for each in orders.start], [(first.group, "p0", 2, 3)])
            orders = play(engine, first.group, [0, 0, 1], 2)
        self.assertEqual([(each.group, each.fate) for each in orders.closed], [(first.group, "trained")])
        self.assertEqual(orders.closed[0].iterations, [0] * 5)

    def test_advantages_are_shaped_by_group_and_by_micro_batch(self):
        engine = allot.Engine(self.policy("on shape of group g { set advantages = 2 * g.advantages }\n"
                                          "on shape of micro_batch m { set weights = [0.5 for r in m.rollouts] }"),
                              slots=1, group_size=2, can=["shapes"])
        self.assertTrue(engine.shapes_groups and engine.shapes_micro_batches)
        self.assertFalse(engine.wants_gram or engine.wants_embeddings)
        engine.begin_iteration(0, ["p0"])
        self.assertTrue(play(engine, 0, [0, 1]).batch_closed)
        rollouts = [(0, 0), (0, 1)]
        self.assertEqual(engine.shape_group(rollouts, [-1.0, 1.0]).advantages, [-2.0, 2.0])
        shaped = engine.shape(rollouts, [-1.0, 1.0])
        self.assertEqual((shaped.advantages, shaped.weights), ([-1.0, 1.0], [0.5, 0.5]))
        with self.assertRaisesRegex(ValueError, "1 advantages for 2 rollouts"):
            engine.shape(rollouts, [1.0])
        with self.assertRaisesRegex(ValueError, "a row of gram has 1 numbers where 2 are expected"):
            engine.shape(rollouts, [1.0, 2.0], gram=[[1.0], [1.0, 2.0]])

    def test_salt_is_given_the_gram_matrix(self):
        engine = allot.Engine(str(STDLIB / "salt.allot"), slots=1, group_size=2, can=["shapes"])
        self.assertTrue(engine.wants_gram)
        engine.begin_iteration(0, ["p0"])
        play(engine, 0, [0, 1])
        shaped = engine.shape([(0, 0), (0, 1)], [-1.0, 1.0], gram=[[1.0, 0.0], [0.0, 1.0]])
        self.assertEqual(len(shaped.advantages), 2)

    def test_a_group_is_replayed(self):
        engine = allot.Engine(self.policy("on replay of batch b { replay up to b.empty by g.age, max_age 4 iterations }\n"
                                          "on finish of group g { when g.flat then drop because \"flat\"\n otherwise train }"),
                              slots=1, group_size=2, can=["replays"])
        self.assertEqual(engine.replay_age, 4)
        engine.begin_iteration(0, ["p0"])
        play(engine, 0, [0, 1])
        self.assertEqual(engine.end_iteration().trained, [0])
        engine.begin_iteration(1, ["p1"])
        play(engine, 1, [1, 1])
        report = engine.end_iteration()
        self.assertEqual((report.trained, report.replayed), ([], [0]))

    def test_the_loss_of_tokens(self):
        engine = allot.Engine(str(STDLIB / "cispo.allot"), slots=1, group_size=2, can=["losses"])
        engine.begin_iteration(0, ["p0"])
        self.assertTrue(play(engine, 0, [0, 1]).batch_closed)
        ask = engine.token_loss().ask
        # MiniMax-M1, equations 4 and 5: -min(max(ratio, 0.8), 1.2) * advantage * logprob, its weight without a gradient.
        loss, slope, own = ask(numpy.array([-1.0, -1.0, -2.0]), numpy.array([-1.0, -2.0, -1.0]), numpy.array([2.0, 0.5, -1.0]))
        numpy.testing.assert_allclose(loss, [2.0, 0.6, -1.6], rtol=1e-15)
        numpy.testing.assert_allclose(slope, [-2.0, -0.6, 0.8], rtol=1e-15)
        self.assertEqual(own.tolist(), [0, 0, 0])
        with self.assertRaisesRegex(ValueError, "of one length"):
            ask(numpy.zeros(2), numpy.zeros(3), numpy.zeros(2))
        self.assertIsNone(allot.Engine("", can=["losses"]).token_loss())

    def test_a_pool_is_selected_from(self):
        engine = allot.Engine(self.policy("input difficulty: prob per prompt\n"
                                          "on select of pool p { take 1 by -difficulty[q] }"), slots=1, group_size=2,
                              inputs={"difficulty": {"easy": 0.1, "hard": 0.9}})
        engine.set_pool([allot.PoolPrompt("easy"), allot.PoolPrompt("hard", "logic")])
        self.assertEqual([start.prompt for start in engine.begin_iteration(0, ["hard", "easy"]).start], ["easy"])

    def test_swaps(self):
        first = self.policy("param high: rollouts = 1 in 0..9\non finish of group g { when g.scored > high then train because \"one\" }", "first")
        second = self.policy("param high: rollouts = 1 in 0..9\non finish of group g { when g.scored > high then train because \"two\" }", "second")
        engine = allot.Engine(first, {"high": "0"}, slots=1, group_size=2)
        begun = engine.policy_hash
        stale = engine.swap(second, expect="0" * 16)
        self.assertEqual((stale.outcome, "somebody swapped it meanwhile" in stale.reason), ("refused", True))
        report = engine.swap(second, expect=begun[:12])
        self.assertEqual((report.outcome, report.before, report.after), ("active", begun, engine.policy_hash))
        self.assertEqual((engine.active_version, report.state), (1, {"kept": [], "migrated": [], "started": [], "dropped": []}))
        engine.begin_iteration(0, ["p0"])
        self.assertEqual(play(engine, 0, [0, 1]).closed[0].reason, "two")
        engine.end_iteration()
        self.assertEqual(engine.roll_back().outcome, "active")
        self.assertEqual(engine.policy_hash, begun)
        with self.assertRaisesRegex(allot.Error, "none.allot"):
            engine.swap(str(self.place / "none.allot"))
        broken = self.policy("on nothing", "broken")
        self.assertEqual(engine.swap(broken).outcome, "refused")

    def served(self, engine):
        """A client of it."""
        server = engine.serve(self.place / "run")
        self.addCleanup(server.close)
        client = allot.connect(self.place / "run")
        self.addCleanup(client.close)
        return client

    def test_shapes_over_a_socket(self):
        file = self.policy("on shape of group g { set advantages = gram(g.embeddings) * [1.0 for r in g.rollouts] }")
        client = self.served(allot.Engine(file, slots=1, group_size=2, can=["shapes"]))
        client.begin_iteration(0, ["p0"])
        self.assertTrue(play(client, 0, [0, 1]).batch_closed)
        self.assertTrue(client.shapes_groups and client.wants_embeddings)
        rollouts = [(0, 0), (0, 1)]
        # Rows (1, 2) and (3, -1): 5 + 1 and 1 + 10.
        self.assertEqual(client.shape_group(rollouts, [-1.0, 1.0], embeddings=[[1.0, 2.0], [3.0, -1.0]]).advantages, [6.0, 11.0])
        with self.assertRaisesRegex(allot.Error, "at most 65536 numbers"):
            client.shape_group(rollouts, [-1.0, 1.0], embeddings=[[0.0] * 65537] * 2)
        self.assertIsNone(client.token_loss())

    def test_the_loss_of_tokens_over_a_socket(self):
        client = self.served(allot.Engine(str(STDLIB / "cispo.allot"), slots=1, group_size=2, can=["losses"]))
        client.begin_iteration(0, ["p0"])
        self.assertTrue(play(client, 0, [0, 1]).batch_closed)
        given = numpy.array([-1.0, -1.0, -2.0]), numpy.array([-1.0, -2.0, -1.0]), numpy.array([2.0, 0.5, -1.0])
        loss = client.token_loss()
        # As in test_the_loss_of_tokens.
        numpy.testing.assert_allclose(loss.ask(*given)[0], [2.0, 0.6, -1.6], rtol=1e-15)
        self.assertEqual(client.end_iteration().metrics["loss/tokens"], 3)
        with self.assertRaisesRegex(allot.Error, "after iteration 0 had ended"):
            loss.ask(*given)
        self.assertIsNone(client.token_loss())

    def test_swaps_over_a_socket(self):
        gate = "param high: rollouts = 1 in 0..9\non finish of group g {{ when g.scored > high then train because \"{}\" }}"
        engine = allot.Engine(self.policy(gate.format("one"), "first"), slots=1, group_size=2)
        client = self.served(engine)
        begun = client.policy_hash
        second = self.policy(gate.format("two"), "second")
        self.assertEqual(client.swap(second, expect="0" * 16).outcome, "refused")
        report = client.swap(second, expect=begun[:12], parameters={"high": "0"})
        self.assertEqual((report.outcome, report.before, report.after), ("active", begun, engine.policy_hash))
        self.assertEqual((client.active_version, client.swap_outcome(report.ticket).version), (1, 1))
        client.begin_iteration(0, ["p0"])
        self.assertEqual(play(client, 0, [0, 1]).closed[0].reason, "two")
        client.end_iteration()
        self.assertEqual(client.roll_back().outcome, "active")
        self.assertEqual(engine.policy_hash, begun)
        broken = client.swap(self.policy("on nothing", "broken"))
        self.assertEqual((broken.outcome, "broken.allot" in broken.reason), ("refused", True))
        client.close()
        with self.assertRaisesRegex(allot.Error, "client is closed"):
            client.swap(second)


if __name__ == "__main__":
    unittest.main()
