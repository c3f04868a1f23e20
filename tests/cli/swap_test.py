"""allot plan, swap and rollback from outside. A run that is alive is swapped in tests/engine and tests/end_to_end."""

import json
import pathlib
import tempfile
import unittest

from program import allot, policy_file


def gate(least):
    return (
        f"policy gate\nparam least: real = {least}\non finish of group g {{\n"
        '  when (g.reward_mean ?? 0) < least then drop because "mean {g.reward_mean ?? 0}"\n  otherwise train\n}\n'
    )


def rollout(group, sample, reward, turns=2):
    return {
        "schema": "rollout/1", "run_id": "r", "group_id": group, "prompt_id": "p-" + group, "sample_id": sample, "step": 0,
        "policy_version": [0, 0], "planned": 2, "status": "completed", "rewards": {"world": reward}, "reward": reward,
        "n_gen_tokens": turns, "n_turns": turns, "kept": True, "source": {"format": "native", "file": "f", "line": 1},
        "turns": [{"i": i, "action": "look", "valid": True, "n_gen_tokens": 1} for i in range(turns)],
    }


def log(rewards):
    path = pathlib.Path(tempfile.mkdtemp(prefix="allot-test-")) / "log.jsonl"
    lines = [rollout(group, sample, reward) for group, pair in rewards.items() for sample, reward in enumerate(pair)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


class Plan(unittest.TestCase):
    # Means 0, 0.5 and 1: between 0.25 and 0.75 only b is decided otherwise.
    LOG = {"a": (0, 0), "b": (0, 1), "c": (1, 1)}

    def test_names_the_groups_that_change_and_why(self):
        old, new = policy_file(gate(0.25)), policy_file(gate(0.75), "tighter.allot")
        told = allot("plan", new, "--on", log(self.LOG), "--against", old, "--json")
        self.assertEqual(told.code, 0, told.err)
        plan = told.json()
        self.assertEqual((plan["groups"], plan["changed"]), (3, 1))
        self.assertEqual(plan["counts"], {"train -> drop": 1})
        change = plan["changes"][0]
        self.assertEqual((change["group"], change["before"]["fate"], change["after"]["fate"]), ("b", "train", "drop"))
        self.assertEqual(change["after"]["reason"], "mean 0.5")
        words = allot("plan", new, "--on", log(self.LOG), "--against", old).out
        self.assertIn("1 of 3 groups are decided otherwise", words)
        self.assertIn('group b: train -> drop because "mean 0.5"', words)
        self.assertIn("tighter.allot:4", words)

    def test_a_parameter_can_be_given_and_equal_policies_change_nothing(self):
        path = policy_file(gate(0.25))
        same = allot("plan", path, "--on", log(self.LOG), "--against", path, "--json").json()
        self.assertEqual((same["groups"], same["changed"]), (3, 0))
        other = allot("plan", path, "--on", log(self.LOG), "--against", path, "--set", "least=0.75", "--json").json()
        self.assertEqual(other["changed"], 1)

    def test_stops_are_compared_by_their_turn(self):
        def stops(turn):
            return policy_file(f"policy p\non turn {turn} of group g {{ stop, drop }}\n")

        plan = allot("plan", stops(2), "--on", log(self.LOG), "--against", stops(1), "--json").json()
        self.assertEqual(plan["changed"], 3)
        self.assertIn("stop at turn 1, drop -> stop at turn 2, drop (late)", plan["counts"])

    def test_lost_state_is_told_beforehand(self):
        old = policy_file("policy p\nstate seen: int per prompt = 0\non finish of group g { train }\n")
        new = policy_file("policy p\nstate seen: real per prompt = 0\non finish of group g { train }\n")
        told = allot("plan", new, "--on", log(self.LOG), "--against", old)
        self.assertIn("a swap would be refused: State would be lost:\n  `seen`", told.out)
        self.assertEqual(told.code, 1)

    def test_what_a_swap_would_do_beside_the_decisions_is_told(self):
        old = policy_file("policy p\nbudget 5000 tokens per run\nstate seen: int per prompt = 0\n"
                          "on turn 2 of group g { continue }\non finish of group g { train }\n")
        new = policy_file("policy p\nbudget 10 tokens per run\nstate known: int per prompt = 0\non turn 1 of group g { continue }\n")
        path = log(self.LOG)
        told = allot("plan", new, "--on", path, "--against", old)
        self.assertEqual(told.code, 0, told.err)
        for line in ("state begun anew: known", "state dropped: seen", "budget: 5000 tokens per run -> 10 tokens per run",
                     "not asked any more: `on finish of group g`", "a swap would take over at the end of an iteration: "):
            self.assertIn(line, told.out)
        plan = allot("plan", new, "--on", path, "--against", old, "--json").json()
        self.assertEqual(plan["state"]["dropped"], ["seen"])
        self.assertEqual(plan["refused"], [])
        self.assertIn("turn limit", " ".join(plan["notes"]))  # of a log nobody knows
        same = allot("plan", old, "--on", path, "--against", old).out
        for word in ("state ", "budget:", "not asked", "a swap would"):
            self.assertNotIn("\n" + word, same)

    def test_what_cannot_be_compared_is_told(self):
        path = policy_file(gate(0.25))
        self.assertIn("--against", allot("plan", path, "--on", log(self.LOG)).err)
        self.assertEqual(allot("plan", path, "--on", "/nowhere.jsonl", "--against", path).code, 2)
        broken = allot("plan", policy_file("policy p\non finish of group g { dorp }\n"), "--on", log(self.LOG), "--against", path)
        self.assertEqual(broken.code, 1)
        self.assertIn("drop", broken.err)


class DiffOnALog(unittest.TestCase):
    LOG = Plan.LOG

    def test_what_would_have_been_decided_otherwise(self):
        old, new = policy_file(gate(0.25)), policy_file(gate(0.75), "tighter.allot")
        told = allot("diff", old, new, "--on", log(self.LOG), "--json")
        self.assertEqual(told.code, 0, told.err)
        policy = told.json()["policies"][0]
        self.assertEqual([each["effect"] for each in policy["differences"]], ["decides"])
        self.assertFalse(policy["same"])
        on_log = policy["on_log"]
        self.assertEqual((on_log["groups"], on_log["changed"], on_log["counts"]), (3, 1, {"train -> drop": 1}))
        change = on_log["changes"][0]
        self.assertEqual((change["group"], change["before"]["fate"], change["after"]["fate"]), ("b", "train", "drop"))
        self.assertEqual(change["after"]["reason"], "mean 0.5")
        words = allot("diff", old, new, "--on", log(self.LOG))
        self.assertEqual(words.code, 0, words.err)
        self.assertRegex(words.out, r"on .*log.jsonl: 1 of 3 groups are decided otherwise\n  train -> drop +1\n  group b: train -> drop because")
        self.assertIn("tighter.allot:4", words.out)

    def test_it_agrees_with_the_plan_of_the_same_swap(self):
        old, new = policy_file(gate(0.25)), policy_file(gate(0.75))
        path = log({f"g{i}": (i % 3 * 0.5, i % 4 * 0.4) for i in range(24)})
        diff = allot("diff", old, new, "--on", path, "--json").json()["policies"][0]["on_log"]
        plan = allot("plan", new, "--on", path, "--against", old, "--json").json()
        self.assertEqual(diff["changes"], plan["changes"])
        self.assertGreater(diff["changed"], 3)

    def test_a_parameter_counts_for_both_and_equal_policies_decide_the_same(self):
        old, new = policy_file(gate(0.25)), policy_file(gate(0.75))
        for words in (["--set", "least=0.5"], ["--set", "least=0.9"]):
            told = allot("diff", old, new, "--on", log(self.LOG), *words, "--json").json()["policies"][0]["on_log"]
            self.assertEqual(told["changed"], 0)
        wrong = allot("diff", old, new, "--on", log(self.LOG), "--set", "lest=0.5")
        self.assertEqual(wrong.code, 2)
        self.assertIn("neither version has a parameter lest", wrong.err)
        same = allot("diff", old, old, "--on", log(self.LOG))
        self.assertIn("0 of 3 groups", same.out)

    def test_a_package_is_asked_policy_by_policy_and_a_library_of_functions_not_at_all(self):
        sides = []
        for version, least in (("1.0.0", 0.25), ("1.1.0", 0.75)):
            folder = pathlib.Path(tempfile.mkdtemp(prefix="allot-test-"))
            (folder / "allot.toml").write_text(f'name = "gates"\nversion = "{version}"\n')
            (folder / "gates.allot").write_text(gate(least).replace("policy gate", "policy gates"))
            (folder / "few.allot").write_text("policy few\nfn few(n: rollouts) -> bool = n < 2\n")
            sides.append(str(folder))
        told = allot("diff", *sides, "--on", log(self.LOG), "--json")
        self.assertEqual(told.code, 0, told.err)
        policies = {each["file"]: each for each in told.json()["policies"]}
        self.assertEqual(policies["gates.allot"]["on_log"]["changed"], 1)
        self.assertNotIn("on_log", policies["few.allot"])

    def test_a_log_that_cannot_be_read_is_told(self):
        path = policy_file(gate(0.25))
        for where in ("/nowhere.jsonl", tempfile.mkdtemp(prefix="allot-test-")):
            told = allot("diff", path, path, "--on", where)
            self.assertEqual(told.code, 2)
            self.assertNotEqual(told.err, "")


class Swap(unittest.TestCase):
    def setUp(self):
        self.run = pathlib.Path(tempfile.mkdtemp(prefix="allot-test-"))
        (self.run / "journal").mkdir()

    def test_a_run_that_is_not_alive_is_told(self):
        for words in (["swap", str(self.run), policy_file(gate(0.5))], ["rollback", str(self.run)]):
            told = allot(*words)
            self.assertEqual(told.code, 2)
            self.assertIn("is not alive", told.err)
            for way in ("allot train", "allot serve", "engine.swap(FILE)"):
                self.assertIn(way, told.err)

    def test_a_run_without_a_log_of_rollouts_is_told_what_is_missing(self):
        for words in (["plan", policy_file(gate(0.5))], ["diff", policy_file(gate(0.5)), policy_file(gate(0.75))]):
            told = allot(*words, "--on", str(self.run))
            self.assertEqual(told.code, 2)
            for part in ("holds no rollouts.jsonl", "`allot train` logs", "rollout/1", "--on FILE"):
                self.assertIn(part, told.err)

    def test_a_wrong_policy_is_told_where_it_lies(self):
        told = allot("swap", str(self.run), policy_file("policy p\non finish of group g { dorp }\n"))
        self.assertEqual(told.code, 1)
        self.assertIn("policy.allot:2", told.err)

    def test_misuse(self):
        self.assertEqual(allot("swap", "/nowhere", policy_file(gate(0.5))).code, 2)
        self.assertIn("no share", allot("swap", str(self.run), policy_file(gate(0.5)), "--canary", "110%").err)
        self.assertEqual(allot("rollback", str(self.run), "--state", "soon").code, 2)
        for hash in ("", "1f0c22a", "gate.allot", "1f0c22ab" * 9):  # the first: a shell variable that is not set
            for words in (["swap", str(self.run), policy_file(gate(0.5))], ["rollback", str(self.run)]):
                told = allot(*words, "--expect", hash)
                self.assertEqual(told.code, 2)
                self.assertIn("no hash of a policy", told.err)
        for version in ("v", "v-1", "v3a"):
            self.assertIn("or a version such as v3", allot("rollback", str(self.run), "--expect", version).err)
        self.assertIn("is not alive", allot("rollback", str(self.run), "--expect", "v3").err)


if __name__ == "__main__":
    unittest.main()
