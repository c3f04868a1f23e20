"""Every command, with good input and with bad. Exit status: 0 yes, 1 no, 2 could not be asked."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from packaging_here import toml
from program import ALLOT, SOURCE, allot, policy_file

RIGHT = """policy calm
param least: rollouts = 2 in 1..8
on finish of group g {
  when g.scored < least then drop because "{g.scored} scored"
  otherwise train
}
test "one is too few" {
  given g = group { rewards: [1, undefined] }
  expect finish(g) is drop because "1 scored"
}
test "two are enough" {
  given g = group { rewards: [1, 0] }
  expect finish(g) is train
}
"""
WRONG = """policy wrong
on finish of group g {
  when g.scorde < 2 then drop
  when g.reward_mean < 0.5 then drop
  otherwise train
}
"""
FAILING = RIGHT.replace('because "1 scored"\n}\ntest "two', 'because "no such words"\n}\ntest "two')


class Program(unittest.TestCase):
    def test_help_teaches(self):
        answer = allot("--help")
        self.assertEqual(answer.code, 0)
        for command in ["check", "fmt", "test", "eval", "explain", "replay", "serve", "train", "log", "why", "add", "pack", "sign", "verify",
                        "publish", "list", "diff", "help"]:
            self.assertRegex(answer.out, rf"(?m)^  {command} ")
        self.assertIn("examples:", answer.out)
        self.assertEqual(answer.err, "")

    def test_every_command_has_help_with_an_example(self):
        for command in ["check", "fmt", "test", "eval", "explain", "replay", "serve", "log", "why", "add", "pack", "sign", "verify", "publish",
                        "list", "diff", "help"]:
            answer = allot(command, "--help")
            self.assertEqual(answer.code, 0, command)
            self.assertIn(f"allot {command}", answer.out)
            self.assertIn("example", answer.out)

    def test_version(self):
        answer = allot("--version")
        self.assertEqual(answer.code, 0)
        self.assertRegex(answer.out, r"^allot \d+\.\d+\.\d+\n$")

    def test_no_command_shows_help_and_fails(self):
        answer = allot()
        self.assertEqual(answer.code, 2)
        self.assertEqual(answer.out, "")
        self.assertIn("check", answer.err)

    def test_an_unknown_command_names_the_near_one(self):
        answer = allot("chek", "x.allot")
        self.assertEqual(answer.code, 2)
        self.assertEqual(answer.out, "")
        self.assertIn("there is no command 'chek'", answer.err)
        self.assertIn("allot check", answer.err)

    def test_an_unknown_option_names_the_near_one(self):
        answer = allot("check", policy_file(RIGHT), "--jsn")
        self.assertEqual(answer.code, 2)
        self.assertIn("--jsn", answer.err)
        self.assertIn("did you mean --json", answer.err)

    def test_a_full_disk_is_told(self):
        # The code's whole list is longer than any buffer, so it fails on the way; the other answers fail at the end.
        for words in (["check", policy_file(RIGHT)], ["check", policy_file(RIGHT), "--json"], ["help", "--json"], ["help", "--reference"],
                      ["log", "/nowhere/at_all", "--json"]):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                process = subprocess.run([ALLOT, *words], stdout=full, stderr=subprocess.PIPE, text=True, cwd=SOURCE)
                self.assertEqual(process.returncode, 1)
                self.assertIn("allot: cannot write to standard output: No space left on device\n", process.stderr)
                self.assertNotIn("should not have happened", process.stderr)

    def test_with_json_every_failure_is_one_document_too(self):
        wrong, place = policy_file(WRONG), tempfile.mkdtemp(prefix="allot-test-")
        commands = [["log", "/nowhere"], ["log", place], ["log", place, "--iteration", "9..2"], ["why", "/nowhere", "1"], ["why", place, "x"],
                    ["audit", "/nowhere"], ["plan", wrong, "--on", place], ["plan", policy_file(RIGHT), "--on", "/nowhere.jsonl"],
                    ["plan", wrong, "--on", "/nowhere.jsonl", "--against", policy_file(RIGHT)], ["swap", "/nowhere", wrong],
                    ["swap", place, wrong, "--expect", "x"], ["rollback", "/nowhere"], ["serve", wrong, "--run", place + "/run"],
                    ["add", "/nowhere"], ["pack", place], ["pack", "/nowhere"], ["sign", place], ["publish", place, "--registry", "/nowhere"],
                    ["list", "--registry", "/nowhere"], ["diff", wrong, "/nowhere"], ["explain", wrong], ["explain", "/nowhere"],
                    ["explain", policy_file(RIGHT), "--set", "least"], ["check", "/nowhere"], ["check", wrong, "--set", "x"], ["fmt", "/nowhere"],
                    ["test", "/nowhere"], ["test", wrong], ["eval", "1 +"], ["eval", "1 mod 0"], ["replay", wrong], ["replay", "--journal", "/nowhere"],
                    ["verify", "/nowhere"], ["help", "no_such_name"], ["check"], ["check", wrong, "--jsn"], ["chekc"]]
        for words in commands:
            with self.subTest(words=words):
                plain, answer = allot(*words, cwd=place), allot(*words, "--json", cwd=place)
                document = answer.json()  # raises where there is none, or more than one
                self.assertNotEqual(answer.code, 0)
                self.assertEqual(answer.code, plain.code)
                if isinstance(document, dict):
                    self.assertEqual(answer.err, plain.err)
                if isinstance(document, dict) and "error" in document:
                    self.assertIn(list(document), (["error", "help"], ["error", "help", "diagnostics"]))
                    self.assertTrue(document["error"])

    def test_what_is_wrong_with_a_policy_is_in_the_document_as_check_tells_it(self):
        wrong, right, place = policy_file(WRONG), policy_file(RIGHT), pathlib.Path(tempfile.mkdtemp(prefix="allot-test-"))
        (place / "journal").mkdir()
        checked = allot("check", wrong, "--json").json()[0]["diagnostics"]
        self.assertEqual([each["line"] for each in checked], [3, 4])
        for words in (["swap", str(place), wrong], ["plan", wrong, "--on", "/nowhere.jsonl", "--against", right],
                      ["plan", right, "--on", "/nowhere.jsonl", "--against", wrong], ["diff", right, wrong], ["explain", wrong],
                      ["replay", wrong, "--rollouts", "/nowhere.jsonl"], ["serve", wrong, "--run", str(place / "run")]):
            with self.subTest(words=words):
                answer = allot(*words, "--json")
                self.assertEqual(answer.json()["diagnostics"], checked)
                self.assertIn(checked[0]["code"], answer.err)
        package = place / "package"
        package.mkdir()
        (package / "allot.toml").write_text(toml("gates"))
        (package / "p.allot").write_text(WRONG)
        document = allot("pack", str(package), "--json").json()
        self.assertIn("not packed", document["error"])
        of_file = [(each["code"], each["line"]) for each in checked]  # under another name
        self.assertEqual([(each["code"], each["line"]) for each in document["diagnostics"]], of_file)

    def test_the_document_says_what_the_text_says(self):
        answer = allot("log", "/nowhere/at_all", "--json")
        self.assertEqual(answer.code, 2)
        document = answer.json()
        self.assertEqual(answer.err, f"allot: {document['error']}\n  help: {document['help']}\n")
        self.assertIn("/nowhere/at_all", document["error"])
        unknown = allot("check", policy_file(RIGHT), "--jsn", "--json").json()
        self.assertIn("did you mean --json?", unknown["help"])

    def test_an_answer_that_did_not_fail_is_followed_by_nothing(self):
        self.assertEqual(allot("eval", "1 + 1", "--json").json()["value"], 2)
        self.assertEqual(allot("check", "--json", "--", "/nowhere/at_all").json()[0]["ok"], False)

    def test_words_that_are_no_text_are_told(self):
        process = subprocess.run([ALLOT, "log", b"/nowhere/\xff\xfe", "--json"], capture_output=True)
        self.assertEqual(process.returncode, 2)
        self.assertIn("/nowhere/", json.loads(process.stdout)["error"])

    def test_no_colour_where_there_is_no_terminal(self):
        self.assertNotIn("\x1b", allot("check", policy_file(WRONG)).err)


class Check(unittest.TestCase):
    def test_a_right_policy(self):
        answer = allot("check", policy_file(RIGHT))
        self.assertEqual((answer.code, answer.err), (0, ""))
        self.assertIn("policy.allot: ok (policy calm: 1 handler, 1 parameter, 2 tests)", answer.out)

    def test_several_mistakes_each_with_its_place(self):
        path = policy_file(WRONG)
        answer = allot("check", path)
        self.assertEqual((answer.code, answer.out), (1, ""))
        self.assertIn(f"{path}:3:10", answer.err)
        self.assertIn("scored", answer.err)  # the near match of scorde
        self.assertIn(f"{path}:4:", answer.err)
        self.assertIn("^^^", answer.err)

    def test_json(self):
        right, wrong = allot("check", "--json", policy_file(RIGHT), policy_file(WRONG)).json()
        self.assertTrue(right["ok"])
        self.assertEqual(right["policy"], "calm")
        self.assertRegex(right["sha256"], r"^[0-9a-f]{64}$")
        self.assertFalse(wrong["ok"])
        self.assertGreaterEqual(len(wrong["diagnostics"]), 2)
        for diagnostic in wrong["diagnostics"]:
            self.assertRegex(diagnostic["code"], r"^[EW]\d{4}$")

    def test_the_hash_is_that_of_the_text(self):
        import hashlib
        answer = allot("check", "--json", policy_file(RIGHT)).json()
        self.assertEqual(answer[0]["sha256"], hashlib.sha256(RIGHT.encode()).hexdigest())

    def test_a_missing_file_does_not_hide_the_others(self):
        answer = allot("check", "/nowhere/at_all.allot", policy_file(RIGHT))
        self.assertEqual(answer.code, 2)
        self.assertIn("/nowhere/at_all.allot", answer.err)
        self.assertIn("ok", answer.out)

    def test_folders(self):
        answer = allot("check", "stdlib")
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("selective_rollout.allot: ok", answer.out)
        self.assertIn("dynamic_sampling.allot: ok", answer.out)
        empty = allot("check", tempfile.mkdtemp(prefix="allot-test-"))
        self.assertEqual(empty.code, 2)
        self.assertIn("no .allot file", empty.err)

    def test_standard_input(self):
        self.assertEqual(allot("check", "-", stdin=RIGHT).code, 0)
        self.assertIn("<stdin>:3:10", allot("check", "-", stdin=WRONG).err)

    def test_parameters(self):
        path = policy_file(RIGHT)
        self.assertEqual(allot("check", path, "--set", "least=3").code, 0)
        for setting, words in [("least=9", "least"), ("leest=3", "least"), ("least=x", "least")]:
            answer = allot("check", path, "--set", setting)
            self.assertEqual(answer.code, 2, setting)
            self.assertIn(words, answer.err)
        for setting in ["least", "=3", "least="]:
            self.assertEqual(allot("check", path, "--set", setting).code, 2, setting)
        self.assertEqual(allot("check", path, "--set", "least=3", "--set", "least=4").code, 2)

    def test_rubbish(self):
        for text in ["", "policy", "\0\0\0", "on on on {{{{", "policy p\n" + "(" * 100_000, "policy p\n" + "#" * (2 << 20)]:
            answer = allot("check", policy_file(text))
            self.assertEqual(answer.code, 1, text[:20])
            self.assertIn("error", answer.err)

    def test_bytes_that_are_no_text(self):
        path = pathlib.Path(policy_file(""))
        path.write_bytes(b"policy p\xff\xfe\n")
        self.assertEqual(allot("check", str(path)).code, 1)

    def test_an_endless_file_ends(self):
        self.assertEqual(allot("check", "/dev/zero").code, 1)


class Test(unittest.TestCase):
    def test_all_pass(self):
        answer = allot("test", policy_file(RIGHT))
        self.assertEqual(answer.code, 0, answer.out + answer.err)
        self.assertIn("one is too few", answer.out)
        self.assertIn("2 passed, 0 failed", answer.out)

    def test_one_fails(self):
        answer = allot("test", policy_file(FAILING))
        self.assertEqual(answer.code, 1)
        self.assertIn("1 passed, 1 failed", answer.out)
        self.assertIn("1 scored", answer.out)  # what was said instead

    def test_filter(self):
        self.assertIn("1 passed, 0 failed", allot("test", policy_file(FAILING), "--filter", "enough").out)
        answer = allot("test", policy_file(RIGHT), "--filter", "nothing like it")
        self.assertEqual(answer.code, 2)
        self.assertIn("no test", answer.err)

    def test_json(self):
        answer = allot("test", policy_file(FAILING), "--json")
        self.assertEqual(answer.code, 1)
        results = answer.json()
        self.assertEqual([result["passed"] for result in results[0]["tests"]], [False, True])

    def test_a_policy_that_is_wrong_or_missing(self):
        self.assertEqual(allot("test", policy_file(WRONG)).code, 1)
        self.assertEqual(allot("test", "/nowhere/at_all.allot").code, 2)

    def test_the_library_passes_and_its_tests_notice_changes(self):
        answer = allot("test", "stdlib", "--coverage", "--mutate", "--most-survivors", "5", timeout=300)
        self.assertEqual(answer.code, 0, answer.out + answer.err)


class Eval(unittest.TestCase):
    def test_values(self):
        for expression, value in [("1 + 2", "3"), ("7 / 2", "3.5"), ("3 tokens * 4", "12 tokens"),
                                  ("undefined ?? 0.5", "0.5"), ("0 < 1 < 2", "true")]:
            answer = allot("eval", expression)
            self.assertEqual((answer.code, answer.out, answer.err), (0, value + "\n", ""), expression)

    def test_json(self):
        self.assertEqual(allot("eval", "3 tokens * 4", "--json").json(),
                         {"value": 12, "defined": True, "type": "tokens", "unit": "tokens"})
        self.assertIsNone(allot("eval", "mean([undefined])", "--json").json()["value"])

    def test_rows_of_a_matrix_stay_apart(self):
        # Transposes and products by hand.
        for expression, rows in [("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]), ("[[1, 2, 3]]", [[1, 2, 3]]),
                                 ("transpose([[1, 2, 3], [4, 5, 6]])", [[1, 4], [2, 5], [3, 6]]),
                                 ("[[1, 2], [3, 4]] * [[0, 1], [1, 0]]", [[2, 1], [4, 3]])]:
            self.assertEqual(json.loads(allot("eval", expression).out), rows)
            self.assertEqual(allot("eval", expression, "--json").json()["value"], rows)
        self.assertEqual(allot("eval", "[[true], [false]]").out, "[[true], [false]]\n")
        self.assertEqual(allot("eval", "[1, 2]").out, "[1, 2]\n")

    def test_a_matrix_that_is_undefined_as_a_whole(self):
        # Both eigenvalues are 1, so no first one stands apart; the determinants are 0.
        for expression in ["top_eigenspace([[1, 0], [0, 1]], 1)", "inverse_diagonal([[1, 1], [1, 1]])",
                           "log_det_shares([[1, 1], [1, 1]])"]:
            self.assertEqual(allot("eval", expression).out, "undefined\n")
            told = allot("eval", expression, "--json").json()
            self.assertEqual((told["value"], told["defined"]), (None, False))

    def test_an_expression_may_begin_with_a_minus(self):
        for expression, value in [("-(1)", "-1"), ("-max(1, 2)", "-2"), ("-1", "-1"), ("-[1, 2]", "[-1, -2]")]:
            for words in [(expression,), ("--", expression)]:
                answer = allot("eval", *words)
                self.assertEqual((answer.code, answer.out), (0, value + "\n"), words)
        self.assertEqual(allot("eval", "--json", "-(1)").json()["value"], -1)
        for words in (["--path", "/nowhere", "eval", "-(1)"], ["eval", "--path", "/nowhere", "-(1)"],
                      ["eval", "-(1)", "--path", "/nowhere"], ["eval", "--path=/nowhere", "--path", "/there", "-(1)"]):
            self.assertEqual(allot(*words).out, "-1\n", words)
        self.assertEqual(allot("eval", "1", "--path").code, 2)
        for words, told in [((), "EXPR is required"), (("1", "--jsn"), "--json"), (("1", "2"), "not expected")]:
            answer = allot("eval", *words)
            self.assertEqual(answer.code, 2, words)
            self.assertIn(told, answer.err)

    def test_faults(self):
        self.assertIn("domain", allot("eval", "beta(sum([0.0]), 1)", "--json").json()["fault"])
        for expression, words in [("1 mod 0", "zero"), ("sqrt(0 - 1)", "negative"),
                                  ("9223372036854775807 + 1", "64 bits")]:
            answer = allot("eval", expression)
            self.assertEqual((answer.code, answer.out), (1, ""), expression)
            self.assertIn(words, answer.err)

    def test_mistakes(self):
        for expression in ["1 +", "3 tokens + 2 turns", "g.hits", "nonsense(1)", ""]:
            answer = allot("eval", expression)
            self.assertEqual((answer.code, answer.out), (1, ""), expression)
            self.assertIn("error", answer.err)
        self.assertEqual(allot("eval").code, 2)


class Explain(unittest.TestCase):
    def test_selective_rollout(self):
        answer = allot("explain", "stdlib/selective_rollout.allot")
        self.assertEqual(answer.code, 0, answer.err)
        for words in ["turn at of group g", "at = 10", "in 0..1", "mean_pairwise", "kept:", "left out", "replay",
                      "converged: divergence 0", "dropped", "trained on 8 rollouts"]:
            self.assertIn(words, answer.out)

    def test_parameters_change_it(self):
        document = allot("explain", "stdlib/selective_rollout.allot", "--set", "at=5", "--json").json()
        at, threshold = document["parameters"]
        self.assertEqual((at["value"], at["default"], at["unit"]), (5, 10, "turns"))
        self.assertEqual((threshold["value"], threshold["default"]), (0.12, 0.12))
        self.assertNotIn("unit", threshold)
        alike = document["examples"][0]
        self.assertEqual((alike["fate"], alike["turns"]), ("dropped", 8 * 5))
        self.assertEqual(document["audit_only_because"], [])

    def test_state_budget_and_refill(self):
        answer = allot("explain", "stdlib/sara.allot")
        self.assertEqual(answer.code, 0, answer.err)
        for words in ["belief: beta per prompt = beta(1, 1)", "at most 10 rounds, then train_partial", "hit ",
                      "points without a handler", "evict nobody, readmit those whose epoch has come"]:
            self.assertIn(words, answer.out)

    def test_the_solver_of_an_allotment(self):
        text = ("policy a\non wave of group g {\n"
                "  let extra = allot 9 rollouts over p in [0.2, 0.5], n in 0..8 maximizing any_prob(p, n)\n"
                "  let other = allot 9 rollouts over p in [0.2, 0.5], n in 0..8 maximizing any_prob(p, n) * any_prob(p, n)\n"
                "  let third = allot 9 rollouts over p in [0.2, 0.5], n in 0..8 in proportion to p ties: seeded \"t\"\n"
                "  sample sum(extra) + sum(other) + sum(third) more\n}\n")
        answer = allot("explain", policy_file(text))
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("line 3: exact greed: the utility is concave in the count", answer.out)
        self.assertIn("line 4: every count is tried: both factors of a product look at the count", answer.out)
        self.assertIn("line 5: the largest remainders, within the bounds; ties by the draw \"t\"", answer.out)
        self.assertIn("u units allotted", answer.out)

    def test_bad_input(self):
        self.assertEqual(allot("explain", policy_file(WRONG)).code, 1)
        self.assertEqual(allot("explain", "/nowhere/at_all.allot").code, 2)
        self.assertEqual(allot("explain", policy_file(RIGHT), "--set", "least=99").code, 2)
        folder = allot("explain", "stdlib")
        self.assertEqual((folder.code, folder.out), (2, ""))
        self.assertIn("stdlib is a folder", folder.err)

    def test_a_policy_too_large_for_an_example_is_explained_at_once(self):
        for size in ["1000000000", "1001"]:
            began = time.time()
            answer = allot("explain", policy_file(f"policy p\non size of batch b {{ start {size} each }}\n"))
            self.assertEqual(answer.code, 0, answer.err)
            self.assertIn("size", answer.out)
            self.assertIn("more than 1000 rollouts", answer.err)
            self.assertLess(time.time() - began, 2, "it took 6 s before it was bounded")


class Help(unittest.TestCase):
    def test_a_page_for_every_code(self):
        listed = allot("help")
        self.assertEqual(listed.code, 0)
        codes = [line.split()[0] for line in listed.out.splitlines()]
        self.assertGreater(len(codes), 20)
        page = allot("help", codes[0].lower())
        self.assertEqual(page.code, 0)
        self.assertIn(codes[0], page.out)

    def test_names_are_explained_as_they_are_written(self):
        for word, told in [("g.hits", "g.hits: rollouts"), ("??", "binds looser than"), ("allot", "maximizing"),
                           ("decay", "initial value"), ("b.prompts", "b.prompts"), ("mod", "-7 mod 3"), ("group", "of group g")]:
            answer = allot("help", word)
            self.assertEqual(answer.code, 0, word)
            self.assertIn(told, answer.out)
            self.assertTrue(allot("help", word, "--json").json(), word)
        self.assertNotIn("r.tokens", allot("help", "g.tokens").out)
        self.assertEqual(allot("help", "g.nothing").code, 2)

    def test_a_reserved_word_names_no_policy(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="allot-test-"))
        for name in ["when", "policy", "import", "param", "state", "input", "fn", "on", "budget", "migrate"]:
            for words in [(name,), (f"team.{name}", "--package")]:
                answer = allot("new", *words, cwd=folder)
                self.assertEqual(answer.code, 2, words)
                self.assertIn("reserved", answer.err)
        self.assertEqual(list(folder.iterdir()), [])
        self.assertEqual(allot("new", "wave", cwd=folder).code, 0)  # a word of the language that may be a name
        self.assertEqual(allot("check", "wave.allot", cwd=folder).code, 0)

    def test_json_is_said_of_a_policy_with_errors_too(self):
        path = policy_file("policy p\non finish of group g { when g.hit_raet > 1 then drop }\n")
        for words in [("explain", path), ("replay", path, "--rollouts", path)]:
            answer = allot(*words, "--json")
            self.assertEqual(answer.code, 1)
            self.assertEqual([each["code"] for each in answer.json()["diagnostics"]], ["E0105"], words)

    def test_a_limit_of_nothing_is_refused_in_words(self):
        for value in ["0", "-3", "1e3", "many"]:
            answer = allot("check", "stdlib/sara.allot", f"--max-cost={value}")
            self.assertEqual(answer.code, 2)
            self.assertIn("above 0", answer.err)
            self.assertLess(len(answer.err), 300)
        self.assertEqual(allot("check", "stdlib/sara.allot", "--max-cost", "1000000000").code, 0)

    def test_an_unknown_code(self):
        answer = allot("help", "E9999")
        self.assertEqual(answer.code, 2)
        self.assertIn("E9999", answer.err)


class Train(unittest.TestCase):
    def test_without_a_trainer_it_says_what_to_do(self):
        lonely = pathlib.Path(tempfile.mkdtemp(prefix="allot-test-")) / "allot"
        os.link(ALLOT, lonely) if os.stat(ALLOT).st_dev == os.stat(lonely.parent).st_dev else \
            lonely.write_bytes(pathlib.Path(ALLOT).read_bytes())
        lonely.chmod(0o755)
        process = subprocess.run([str(lonely), "train", "--policy", "x"], capture_output=True, text=True)
        self.assertEqual(process.returncode, 2)
        self.assertIn("./dev build", process.stderr)

    def test_arguments_reach_the_trainer_as_they_are(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="allot-test-"))
        program = folder / "allot"
        program.write_bytes(pathlib.Path(ALLOT).read_bytes())
        trainer = folder / "allot-train"
        trainer.write_text('#!/bin/sh\nfor word in "$@"; do printf "[%s]" "$word"; done\nexit 7\n')
        for file in [program, trainer]:
            file.chmod(0o755)
        process = subprocess.run([str(program), "train", "--help", "a b", "", "--x=1"], capture_output=True, text=True)
        self.assertEqual((process.returncode, process.stdout), (7, "[--help][a b][][--x=1]"))


class Runs(unittest.TestCase):
    def test_a_folder_that_is_no_run(self):
        for words in [("log", "/nowhere/at_all"), ("why", "/nowhere/at_all", "1"),
                      ("log", tempfile.mkdtemp(prefix="allot-test-"))]:
            answer = allot(*words)
            self.assertEqual((answer.code, answer.out), (2, ""), words)
            self.assertIn(words[1], answer.err)

    def test_a_group_that_is_no_number(self):
        for word in ["x", "-1", "1.5", "nan", "99999999999999999999", ""]:
            answer = allot("why", tempfile.mkdtemp(prefix="allot-test-"), word)
            self.assertEqual((answer.code, answer.out), (2, ""), word)
            self.assertIn("GROUP", answer.err, word)
            self.assertLess(len(answer.err), 300, "309 digits of the largest double were shown")


if __name__ == "__main__":
    unittest.main()
