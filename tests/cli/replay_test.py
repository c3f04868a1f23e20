"""allot replay: a policy's gate on tables of statistics and on logged rollouts.

The authors' figures are those of the README beside the data (K = 10, threshold 0.12: 21 groups cut, 17 of the 39 flat
ones among them). The figures of our own tables are counted by hand or by the plain Python below.
"""

import gzip
import itertools
import json
import os
import pathlib
import random
import tempfile
import unittest

from program import SOURCE, allot, policy_file

GATE = str(SOURCE / "stdlib" / "selective_rollout.allot")
PUBLISHED = SOURCE.parent / "shared" / "data" / "selective_rollout" / "groups.csv"

# Four groups at two turns: a is flat and stopped, b is mixed and stopped, c is flat and goes on, d is flat, stopped,
# and over already at turn 10.
TABLE = """K,task_id,label,prefix_edit_distance_mean,termination_fraction
10,a,all_fail,0.05,0.5
20,a,all_fail,0.01,1.0
10,b,mixed,0.10,0.0
20,b,mixed,0.40,0.0
10,c,all_succeed,0.12,0.0
20,c,all_succeed,0.13,0.0
10,d,all_fail,0.00,1.0
20,d,all_fail,0.00,1.0
"""


def written(text, name):
    path = pathlib.Path(tempfile.mkdtemp(prefix="allot-test-")) / name
    path.write_text(text)
    return str(path)


def replay(*words):
    answer = allot("replay", *words, "--json")
    assert answer.code == 0, answer.err
    return answer.json()


class Published(unittest.TestCase):
    @unittest.skipUnless(PUBLISHED.exists(), "skipped: the published groups.csv is not beside this checkout")
    def test_the_authors_own_figures(self):
        told = replay(GATE, "--statistics", str(PUBLISHED), "--set", "at=10", "--set", "threshold=0.12")
        self.assertEqual((told["groups"], told["flat"]), (100, 39))
        self.assertEqual((told["stopped"], told["flat_stopped"]), (21, 17))
        self.assertEqual((round(told["precision"], 2), round(told["recall"], 2)), (0.81, 0.44))
        self.assertEqual((told["stoppable"]["stopped"], told["stoppable"]["flat_stopped"]), (17, 13))


class Tables(unittest.TestCase):
    def test_counts_by_hand(self):
        told = replay(GATE, "--statistics", written(TABLE, "t.csv"))
        self.assertEqual((told["groups"], told["flat"], told["stopped"], told["flat_stopped"]), (4, 3, 3, 2))
        self.assertAlmostEqual(told["precision"], 2 / 3)
        self.assertAlmostEqual(told["recall"], 2 / 3)
        stoppable = told["stoppable"]
        self.assertEqual((stoppable["stopped"], stoppable["flat_stopped"]), (2, 1))

    def test_parameters_choose_turn_and_threshold(self):
        path = written(TABLE, "t.csv")
        told = replay(GATE, "--statistics", path, "--set", "at=20", "--set", "threshold=0.135", "--groups")
        stopped = {each["group"]: each["reason"] for each in told["decisions"] if each["stopped"]}
        self.assertEqual(stopped, {"a": "converged: divergence 0.01", "c": "converged: divergence 0.13",
                                   "d": "converged: divergence 0"})

    def test_the_policy_decides_not_the_table(self):
        # The same reading, the opposite rule: what is replayed is the handler.
        text = pathlib.Path(GATE).read_text().split("\ntest ")[0].replace("< threshold", "> threshold")
        told = replay(policy_file(text), "--statistics", written(TABLE, "t.csv"), "--groups")
        self.assertEqual([each["group"] for each in told["decisions"] if each["stopped"]], [])  # none is above 0.12
        told = replay(policy_file(text), "--statistics", written(TABLE, "t.csv"), "--set", "threshold=0.11", "--groups")
        self.assertEqual([each["group"] for each in told["decisions"] if each["stopped"]], ["c"])

    def test_columns_of_ones_own(self):
        table = "id,ed10,won\nx,0.1,false\ny,0.2,true\nz,,true\n"
        told = replay(GATE, "--statistics", written(table, "t.csv"), "--map", "group=id", "--map", "label=won", "--map",
                      "mean_pairwise(normalized_edit_distance)@10=ed10", "--groups")
        # An empty cell is an undefined statistic, and the policy's own `?? 1.0` goes on.
        self.assertEqual([each["stopped"] for each in told["decisions"]], [True, False, False])
        self.assertEqual((told["flat"], told["flat_stopped"], told["precision"]), (2, 0, 0.0))
        self.assertIsNone(told["stoppable"])
        self.assertTrue(any("finished_fraction" in note for note in told["notes"]))

    def test_a_table_for_people(self):
        answer = allot("replay", GATE, "--statistics", written(TABLE, "t.csv"))
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("4 groups, 3 of them flat", answer.out)
        self.assertRegex(answer.out, r"all +3 +2 +0\.67 \[0\.\d\d, 0\.\d\d\] +0\.67")

    def test_what_is_missing_is_said(self):
        path = written(TABLE, "t.csv")
        late = allot("replay", GATE, "--statistics", path, "--set", "at=12")
        self.assertEqual(late.code, 2)
        self.assertIn("no row for turn 12", late.err)
        self.assertIn("10, 20", late.err)
        bare = allot("replay", GATE, "--statistics", written("task_id,K\na,10\n", "t.csv"))
        self.assertEqual(bare.code, 2)
        self.assertIn("--map 'mean_pairwise(normalized_edit_distance)=COLUMN'", bare.err)
        for setting, words in [("group=tsk_id", "did you mean task_id"), ("agreemnt=K", "did you mean agreement"),
                               ("agreement", "NAME=COLUMN")]:
            answer = allot("replay", GATE, "--statistics", path, "--map", setting)
            self.assertEqual(answer.code, 2, setting)
            self.assertIn(words, answer.err)

    def test_bad_tables_name_the_line(self):
        for text, words in [("", "empty"), ("task_id,K\na\n", "line 2 has 1 fields"),
                            ("task_id,K\n\"a,10\n", "line 2: a quote without an end"),
                            (TABLE.replace("20,b,mixed,0.40", "10,b,mixed,0.40"), "line 5: group 'b' has a second row"),
                            (TABLE.replace("0.10", "much"), "'much' in column prefix_edit_distance_mean"),
                            (TABLE.replace("mixed", "mixd"), "'mixd' is no label")]:
            answer = allot("replay", GATE, "--statistics", written(text, "t.csv"))
            self.assertEqual(answer.code, 2, text)
            self.assertIn(words, answer.err)

    def test_a_policy_without_a_turn_is_refused(self):
        answer = allot("replay", str(SOURCE / "stdlib" / "dynamic_sampling.allot"), "--statistics",
                       written(TABLE, "t.csv"))
        self.assertEqual(answer.code, 2)
        self.assertIn("--rollouts", answer.err)

    def test_stop_where_needs_rollouts(self):
        for text in ["stop where r.sample > 0", "stop where g.turn > 5"]:
            answer = allot("replay", policy_file(f"policy p\non turn 10 of group g {{ {text} }}\n"), "--statistics",
                           written(TABLE, "t.csv"))
            self.assertEqual(answer.code, 2)
            self.assertIn("stops some of the rollouts", answer.err)
            self.assertIn("--rollouts", answer.err)

    def test_one_source_is_needed(self):
        answer = allot("replay", GATE)
        self.assertEqual(answer.code, 2)
        self.assertIn("--statistics", answer.err)
        self.assertIn("--rollouts", answer.err)


# ---- rollouts

def distance(a, b):
    """Levenshtein, by the textbook recurrence."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def divergence(group, at):
    """The mean normalised edit distance of prefixes that are filled up to `at` with one symbol of their own."""
    prefixes = [(actions + [None] * at)[:at] for actions in group]
    pairs = list(itertools.combinations(prefixes, 2))
    return sum(distance(a, b) / at for a, b in pairs) / len(pairs)


def random_groups(seed, count=40, size=4):
    random.seed(seed)
    groups = {}
    for number in range(count):
        variety = random.choice([1, 1, 2, 6])
        rollouts = []
        for _ in range(size):
            length = random.choice([3, 6, 9, 14])
            actions = [f"go {(turn if variety == 1 else turn * random.randrange(variety)) % 7}" for turn in range(length)]
            rollouts.append((actions, random.choice([0.0, 0.0, 1.0])))
        if random.random() < 0.4:
            rollouts = [(actions, 0.0) for actions, _ in rollouts]
        groups[f"g-{number}"] = rollouts
    return groups


def log_of(groups, shuffled=False):
    lines = []
    for name, rollouts in groups.items():
        for sample, (actions, reward) in enumerate(rollouts):
            turns = [{"i": i, "obs": "ok", "action": action, "raw": action, "valid": True, "n_gen_tokens": 3}
                     for i, action in enumerate(actions)]
            lines.append(json.dumps({"schema": "rollout/1", "run_id": "t", "group_id": name, "prompt_id": "p-" + name,
                                     "sample_id": sample, "step": 0, "policy_version": [0, 0], "planned": len(rollouts),
                                     "status": "completed", "rewards": {"won": reward}, "reward": reward,
                                     "n_gen_tokens": 3 * len(actions), "n_turns": len(actions), "kept": True,
                                     "turns": turns, "source": {"format": "native"}, "extra": {}}))
    if shuffled:
        random.shuffle(lines)
    return "\n".join(lines) + "\n"


class Rollouts(unittest.TestCase):
    def test_the_same_figures_from_raw_actions_as_from_the_table(self):
        groups = random_groups(7)
        for at, threshold in [(5, 0.3), (9, 0.2), (10, 0.45)]:
            rows = ["K,task_id,label,prefix_edit_distance_mean,termination_fraction"]
            saved = 0
            for name, rollouts in groups.items():
                mean = divergence([actions for actions, _ in rollouts], at)
                over = sum(len(actions) <= at for actions, _ in rollouts) / len(rollouts)
                label = "mixed" if len({reward for _, reward in rollouts}) > 1 else "all_fail"
                rows.append(f"{at},{name},{label},{mean!r},{over}")
                if mean < threshold and over < 1:
                    saved += sum(max(0, len(actions) - at) for actions, _ in rollouts)
            settings = ["--set", f"at={at}", "--set", f"threshold={threshold}"]
            table = replay(GATE, "--statistics", written("\n".join(rows) + "\n", "t.csv"), *settings)
            log = replay(GATE, "--rollouts", written(log_of(groups, shuffled=True), "r.jsonl"), *settings)
            self.assertGreater(table["stopped"], 3)
            self.assertLess(table["stopped"], len(groups))
            for field in ["groups", "flat", "stopped", "flat_stopped", "precision", "recall", "stoppable"]:
                self.assertEqual(log[field], table[field], field)
            self.assertEqual(log["turns"]["saved"], saved)
            self.assertEqual(log["tokens"]["saved"], 3 * saved)

    def test_finish_is_asked_too(self):
        groups = {"a": [(["x"] * 3, 0.0), (["y"] * 3, 0.0)], "b": [(["x"] * 3, 0.0), (["y"] * 3, 1.0)]}
        told = replay(str(SOURCE / "stdlib" / "dynamic_sampling.allot"), "--rollouts", written(log_of(groups), "r.jsonl"),
                      "--groups")
        self.assertEqual([each["dropped"] for each in told["decisions"]], [True, False])
        self.assertEqual((told["dropped"], told["flat_dropped"], told["stopped"]), (1, 1, 0))

    def test_stop_where_ends_some_rollouts(self):
        # Of four rollouts of 6 turns, 3 tokens each, samples 1 to 3 are over after turn 2, and 4 turns each are spared.
        # Of b, whose rollouts are over after 1 and 3 turns, sample 1 spares its third. c has one rollout, and goes on.
        policy = policy_file("""policy some
on turn 2 of group g { when g.started > 1 then stop where r.sample > 0 because "one is enough" }
on finish of group g { when g.scored < 5 then drop because "{g.scored} of {g.started}, {g.ended} ended, {g.tokens} tokens, wave {g.wave}" }
""")
        groups = {"a": [(["x"] * 6, 0.0)] * 3 + [(["x"] * 6, 1.0)], "b": [(["x"], 0.0), (["x"] * 3, 1.0)],
                  "c": [(["x"] * 6, 1.0)]}
        path = written(log_of(groups), "r.jsonl")
        told = replay(policy, "--rollouts", path, "--groups")
        self.assertEqual(told["turns"], {"executed": 24 + 4 + 6, "saved": 12 + 1})
        self.assertEqual(told["tokens"], {"written": 3 * 34, "saved": 3 * 13})
        self.assertEqual(told["stopped_where"], {"groups": 2, "rollouts": 4})
        self.assertEqual(told["stopped"], 0)  # no whole group
        a, b, c = told["decisions"]
        self.assertEqual([each["sample"] for each in a["stopped_samples"]], [1, 2, 3])
        self.assertEqual({each["turn"] for each in a["stopped_samples"]}, {2})
        self.assertEqual((b["stopped_samples"], c["stopped_samples"]), ([{"sample": 1, "turn": 2}], []))
        # Sample 0 wrote 6 turns, the others 2 each; what was stopped has no score, as in a run.
        self.assertEqual([each["reason"] for each in (a, b, c)],
                         ["1 of 4, 4 ended, 36 tokens, wave 1", "1 of 2, 2 ended, 9 tokens, wave 1",
                          "1 of 1, 1 ended, 18 tokens, wave 1"])
        self.assertEqual((a["flat"], b["flat"]), (False, False))  # by what was logged
        words = allot("replay", policy, "--rollouts", path)
        self.assertIn("13 of 34 turns would have been saved", words.out)
        self.assertIn("4 rollouts of 2 groups would have been stopped by `stop where`", words.out)

    def test_stop_where_again_and_a_stop_after_it(self):
        # Sample 1 is over after turn 1, the rest after turn 3: 5 + 2 * 3 turns of 18 are spared.
        policy = policy_file("""policy twice
on turn 1 of group g { stop where r.sample == 1 }
on turn 3 of group g { when g.alive == 2 then stop, drop because "{g.ended} ended before" }
""")
        told = replay(policy, "--rollouts", written(log_of({"a": [(["x"] * 6, 0.0)] * 3}), "r.jsonl"), "--groups")
        self.assertEqual(told["turns"], {"executed": 18, "saved": 11})
        self.assertEqual((told["stopped"], told["decisions"][0]["reason"]), (1, "1 ended before"))

    def test_a_gate_after_which_nobody_is_left_is_not_asked_late(self):
        # Everybody was stopped at turn 1: turn 3 never comes, as in a run.
        policy = policy_file("""policy all_of_them
on turn 1 of group g { stop where r.sample >= 0 }
on turn 3 of group g { stop, drop }
""")
        told = replay(policy, "--rollouts", written(log_of({"a": [(["x"] * 4, 0.0)] * 2}), "r.jsonl"), "--groups")
        self.assertEqual((told["turns"]["saved"], told["stopped"], told["dropped"]), (6, 0, 0))

    def test_a_plan_tells_what_stop_where_changes(self):
        log = written(log_of({"a": [(["x"] * 4, 0.0)] * 3}), "r.jsonl")
        policies = [policy_file(f"policy p\non turn {turn} of group g {{ stop where r.sample > 0 }}\n") for turn in (1, 2)]
        plan = allot("plan", policies[1], "--on", log, "--against", policies[0], "--json").json()
        self.assertEqual(plan["counts"], {"stop where [1, 2] at turn 1, train -> stop where [1, 2] at turn 2, train": 1})

    def test_a_name_from_a_log_cannot_command_the_terminal(self):
        # Escapes, line ends, C1 controls and marks of direction: as they stand in JSON.
        name = "g\x1b[31m\ng0\x9b\u202e"
        log = written(log_of({name: [(["x"] * 4, 0.0)] * 2}), "r.jsonl")
        policy = policy_file("policy p\non turn 1 of group g { stop because \"of {g.prompt}\" }\n")
        answer = allot("replay", policy, "--rollouts", log, "--groups")
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("g\\u001b[31m\\ng0\\u009b\\u202e", answer.out)
        self.assertIn("of p-g\\u001b[31m\\ng0\\u009b\\u202e", answer.out)
        for sign in "\x1b\x9b\u202e":
            self.assertNotIn(sign, answer.out)
        self.assertEqual(replay(policy, "--rollouts", log, "--groups")["decisions"][0]["group"], name)
        plan = allot("plan", policy, "--on", log, "--against", policy_file("policy p\non turn 1 of group g { continue }\n"))
        self.assertIn("group g\\u001b[31m\\ng0", plan.out)
        twice = allot("replay", policy, "--rollouts", written(log_of({name: [(["x"], 0.0)]}) * 2, "r.jsonl"))
        self.assertEqual(twice.code, 2)
        self.assertNotIn("\x1b", twice.err)

    def test_what_was_stopped_is_unknown(self):
        text = log_of({"a": [(["x"] * 12, 0.0), (["x"] * 12, 0.0)]})
        text = text.replace('"completed"', '"stopped"').replace('"reward": 0.0', '"reward": null')
        told = replay(GATE, "--rollouts", written(text, "r.jsonl"))
        self.assertEqual((told["stopped"], told["unknown"], told["unknown_stopped"]), (1, 1, 1))
        self.assertIsNone(told["precision"])
        self.assertTrue(any("stopped when they were logged" in note for note in told["notes"]))

    def test_bad_logs_name_the_line(self):
        good = log_of({"a": [(["x"], 0.0), (["x"], 1.0)]})
        first, second = good.splitlines()
        for text, words in [(first + "\nnonsense\n" + second + "\n", "r.jsonl:2: this is no JSON object"),
                            (first.replace("rollout/1", "rollout/9") + "\n", "r.jsonl:1: the schema is"),
                            (first + "\n" + first + "\n", "r.jsonl:2: sample 0 of group a stands in the file twice"),
                            (first.replace('"group_id": "a", ', "") + "\n", "group_id"),
                            ("\n", "holds no rollout")]:
            answer = allot("replay", GATE, "--rollouts", written(text, "r.jsonl"))
            self.assertEqual(answer.code, 2, text)
            self.assertIn(words, answer.err)

    def test_a_value_that_does_not_fit_its_field_names_line_and_field(self):
        line = json.loads(log_of({"a": [(["x", "y"], 1.0)]}))
        wrong = {"schema": [5, ["rollout/1"]], "group_id": [0, ["a"], True, None, ""], "sample_id": [-1, 0.5, "zero", None, {}],
                 "status": [1, None], "prompt_id": [7], "planned": [-1, 2.5, "many"], "step": [-1],
                 "reward": [True, "high", [1], {}], "n_turns": [-3, 1.5], "n_gen_tokens": [-5, 2 ** 64, "x"],
                 "turns": [3, "look", {"action": "x"}, ["look"]]}
        cases = [({field: value}, field) for field, values in wrong.items() for value in values]
        turn = {"action": "x", "n_gen_tokens": 3}
        for field, values in {"action": [3, ["x"]], "obs": [1], "valid": ["yes", 1], "n_gen_tokens": [-1, 2 ** 64, 0.5]}.items():
            cases += [({"turns": [turn, {**turn, field: value}]}, field) for value in values]
        for case, named in cases:
            # The line after it makes sure that it is not taken for one that was cut short.
            text = json.dumps({**line, **case}) + "\n" + json.dumps({**line, "group_id": "b"}) + "\n"
            answer = allot("replay", GATE, "--rollouts", written(text, "r.jsonl"))
            self.assertEqual(answer.code, 2, case)
            self.assertIn("r.jsonl:1: ", answer.err, case)
            self.assertIn(f'"{named}"', answer.err, case)

    def test_what_a_log_leaves_out_is_said(self):
        # Numbers as texts are read; turns under other names have no action and no tokens.
        line = {"schema": "rollout/1", "group_id": "a", "sample_id": "0", "status": "completed", "reward": "1",
                "turns": [{"observation": "ok", "act": "x", "tokens": 3}, {"action": "y", "n_gen_tokens": "3"}]}
        other = {**line, "sample_id": 1, "reward": None, "turns": None}
        told = replay(GATE, "--rollouts", written(json.dumps(line) + "\n" + json.dumps(other) + "\n", "r.jsonl"), "--groups")
        self.assertEqual((told["turns"]["executed"], told["tokens"]["written"], told["unknown"]), (2, 3, 1))
        for words in ["1 turns have no `action`", "1 turns have no `n_gen_tokens`", "3 numbers stand in the log as texts",
                      "1 rollouts have no turns"]:
            self.assertTrue(any(words in note for note in told["notes"]), (words, told["notes"]))

    def test_a_log_that_gzip_has_packed(self):
        text = log_of(random_groups(3, count=9))
        plain, packed = written(text, "r.jsonl"), written("", "r.jsonl.gz")
        pathlib.Path(packed).write_bytes(gzip.compress(text.encode()))
        one, other = replay(GATE, "--rollouts", plain), replay(GATE, "--rollouts", packed)
        self.assertEqual(one.pop("source") + ".gz", other.pop("source").replace(packed, plain + ".gz"))
        self.assertEqual(one, other)

    def test_a_file_without_an_end_is_refused(self):
        for source in ["--rollouts", "--statistics"]:
            answer = allot("replay", GATE, source, "/dev/zero")
            self.assertEqual(answer.code, 2)
            self.assertIn("the line is longer than 64 MiB", answer.err)
            self.assertEqual(allot("replay", GATE, source, "/").code, 2)

    def test_a_line_that_was_cut_short_is_left_out(self):
        good = log_of({"a": [(["x"], 0.0), (["x"], 1.0)]})
        told = replay(GATE, "--rollouts", written(good + good[:60], "r.jsonl"))
        self.assertEqual(told["groups"], 1)
        self.assertTrue(any("cut short" in note for note in told["notes"]))


if __name__ == "__main__":
    unittest.main()
