"""The smaller tools: coverage, mutation, emit, doc, new, help, and what is generated from the language's tables."""

import html.parser
import json
import pathlib
import re
import tempfile
import unittest

from program import SOURCE, allot, policy_file

GATE = str(SOURCE / "stdlib" / "selective_rollout.allot")
HALF = """policy half
on finish of group g {
  when g.scored < 2 then drop
  otherwise train
}
test "one" {
  given g = group { rewards: [1] }
  expect finish(g) is drop
}
"""

# Two members that answer together; the tests reach all of gate's rules and not that nothing is few.
TEAM = """policy team = gate then few
test "flat" { given g = group { rewards: [1, 1] }  expect finish(g) is drop because "flat; few" }
test "mixed" { given g = group { rewards: [1, 0] }  expect finish(g) is drop because "few" }
# file gate.allot
policy gate
on finish of group g {
  when g.flat then drop because "flat"
  otherwise train
}
# file few.allot
policy few
on finish of group g {
  when g.scored < 3 then drop because "few"
  otherwise train
}
"""


class Coverage(unittest.TestCase):
    def test_a_rule_that_never_answers_is_named(self):
        path = policy_file(HALF)
        answer = allot("test", path, "--coverage", "--evaluator")
        self.assertEqual(answer.code, 1)
        self.assertIn(f"{path}:4: no test makes this rule answer: otherwise train", answer.out)
        self.assertIn("1 of 2 rules answered in a test", answer.out)
        told = allot("test", path, "--coverage", "--evaluator", "--json").json()[0]
        self.assertEqual([rule["tests"] for rule in told["rules"]], [1, 0])

    def test_full_coverage_is_clean(self):
        answer = allot("test", GATE, "--coverage")
        self.assertEqual(answer.code, 0, answer.out)
        self.assertIn("2 of 2 rules answered in a test", answer.out)

    def test_rules_of_members_stand_in_their_own_files(self):
        path = policy_file(TEAM)
        beside = pathlib.Path(path).parent / "few.allot"
        answer = allot("test", path, "--coverage", "--evaluator")
        self.assertEqual(answer.code, 1)
        self.assertIn(f"{beside}:4: no test makes this rule answer: otherwise train", answer.out)
        self.assertIn("3 of 4 rules answered in a test", answer.out)
        told = allot("test", path, "--coverage", "--evaluator", "--json").json()[0]["rules"]
        self.assertEqual([(pathlib.Path(rule["file"]).name, rule["line"], rule["tests"]) for rule in told],
                         [("gate.allot", 3, 1), ("gate.allot", 4, 1), ("few.allot", 3, 2), ("few.allot", 4, 0)])


class Mutation(unittest.TestCase):
    def test_a_composition_is_changed_too(self):
        # Either member left out, and the other order: one says "flat; few", so all three are noticed.
        answer = allot("test", policy_file(TEAM), "--mutate", "--evaluator", "--most-survivors", "0")
        self.assertEqual(answer.code, 0, answer.out + answer.err)
        self.assertIn("0 of 3 changes were not noticed", answer.out)
        careless = TEAM.replace(' because "flat; few"', "").replace(' because "few" }', " }")
        answer = allot("test", policy_file(careless), "--mutate", "--evaluator", "--most-survivors", "50")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.out, r":1:15: no test notices: `gate` was left out")
        self.assertRegex(answer.out, r":1:15: no test notices: `few` came before `gate`")
        self.assertIn("2 of 3 changes were not noticed (66.7 %)", answer.out)

    def test_nothing_to_change_is_no_success(self):
        path = policy_file("policy p\nimport gates as gates\n"
                           "test \"t\" { given g = group { rewards: [1] }  expect gates.one(1) == 1 }\n"
                           "# file gates.allot\npolicy gates\nfn one(x: real) -> real = x\n")
        answer = allot("test", path, "--mutate", "--evaluator", "--most-survivors", "0")
        self.assertEqual(answer.code, 2)
        self.assertIn("nothing in these policies could be changed", answer.err)
        self.assertNotIn("changes were not noticed", answer.out)

    def test_survivors_have_a_place(self):
        path = policy_file(HALF)
        answer = allot("test", path, "--mutate", "--evaluator")
        self.assertEqual(answer.code, 0)
        # Only the group with one scored rollout is asked about, so nothing on the other side is noticed.
        self.assertIn(f"{path}:3:19: no test notices: `2` became `3`", answer.out)
        self.assertIn(f"{path}:4:13: no test notices: `train` became `drop`", answer.out)
        self.assertRegex(answer.out, r"2 of 5 changes were not noticed \(40\.0 %\)")
        self.assertEqual(allot("test", path, "--mutate", "--evaluator", "--most-survivors", "5").code, 1)
        told = allot("test", path, "--mutate", "--evaluator", "--json").json()[0]["mutation"]
        self.assertEqual((told["tried"], len(told["survivors"])), (5, 2))

    def test_boundaries_need_mutate(self):
        self.assertEqual(allot("test", policy_file(HALF), "--boundaries").code, 2)


class MaxCost(unittest.TestCase):
    def test_a_bound_that_is_kept_and_one_that_is_not(self):
        path = policy_file("policy p\non finish of group g {\n"
                           "  when count(r.tokens > 9 for r in g.rollouts) > 3 then drop\n}\n")
        self.assertEqual(allot("check", path, "--max-cost", "100000").code, 0)
        answer = allot("check", path, "--max-cost", "100", "--rollouts", "1000")
        self.assertEqual(answer.code, 1)
        self.assertIn("line 2: `on finish of group g` can cost", answer.err)
        self.assertEqual(allot("check", path, "--max-cost", "100", "--rollouts", "4").code, 0)
        told = allot("check", path, "--max-cost", "100", "--rollouts", "1000", "--json").json()[0]
        self.assertFalse(told["ok"])
        self.assertEqual(len(told["too_costly"]), 1)


class Emit(unittest.TestCase):
    def test_ir_and_assembly(self):
        ir = allot("emit", GATE, "--ir")
        self.assertEqual(ir.code, 0, ir.err)
        self.assertIn("define", ir.out)
        assembly = allot("emit", GATE, "--asm")
        self.assertEqual(assembly.code, 0, assembly.err)
        self.assertIn("ret", assembly.out)
        self.assertNotEqual(allot("emit", GATE, "--ir", "--plain").out, ir.out)

    def test_one_of_them_is_said(self):
        self.assertEqual(allot("emit", GATE).code, 2)
        self.assertEqual(allot("emit", GATE, "--ir", "--asm").code, 2)
        self.assertEqual(allot("emit", policy_file("policy p\nparam a: int =\n"), "--ir").code, 1)


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text.append(data)


class Scenarios(unittest.TestCase):
    TEXT = """policy p
on finish of group g { when g.flat then drop }
test "one" { given g = group { rewards: [1, 1] }  expect finish(g) is drop }
scenario "first" { iteration { group a: rewards 1, 1  expect a is dropped } }
scenario "second" { iteration { group a: rewards 1, 0  expect a is trained } }
"""

    def test_check_counts_them_and_doc_lists_them(self):
        path = policy_file(self.TEXT)
        self.assertIn("1 test, 2 scenarios)", allot("check", path).out)
        page = allot("doc", path).out
        self.assertIn("## Tests\n\n- one\n", page)
        self.assertIn("## Scenarios\n\n- first\n- second\n", page)


class Explain(unittest.TestCase):
    def test_what_stands_in_another_file_is_told_with_its_file(self):
        path = policy_file(TEAM)
        folder = pathlib.Path(path).parent
        told = allot("explain", path)
        self.assertEqual(told.code, 0, told.err)
        self.assertIn(f"on finish of group g  ({folder}/gate.allot:2, {folder}/few.allot:2)", told.out)
        self.assertNotRegex(told.out, r"line \d")
        alone = allot("explain", str(folder / "gate.allot")).out
        self.assertIn("on finish of group g  (line 2)", alone)
        handler = allot("explain", path, "--json").json()["handlers"][0]
        self.assertEqual(handler["where"], f"{folder}/gate.allot:2, {folder}/few.allot:2")


class Doc(unittest.TestCase):
    def test_markdown_holds_everything(self):
        page = allot("doc", str(SOURCE / "stdlib" / "sara.allot")).out
        for part in ["# sara\n", "Commit when the group is likely mixed", "| `commit_at` | prob | 0.8 |",
                     "### on wave of group g", "refill at most 10 rounds, then train_partial", "| `belief` | beta | prompt |",
                     "- a hit and a miss are committed", "`g.hits`"]:
            self.assertIn(part, page)

    def test_html_is_well_formed_and_escaped(self):
        path = policy_file(HALF.replace("policy half", "## a < b & \"c\"\npolicy half"))
        answer = allot("doc", path, "--html")
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("a &lt; b &amp; &quot;c&quot;", answer.out)
        reader = Tags()
        reader.feed(answer.out)
        self.assertEqual(reader.open, [])
        self.assertIn("g.scored < 2", "".join(reader.text))


class New(unittest.TestCase):
    def test_what_it_writes_is_right_tested_and_laid_out(self):
        folder = tempfile.mkdtemp(prefix="allot-test-")
        answer = allot("new", "calm_down", cwd=folder)
        self.assertEqual(answer.code, 0, answer.err)
        path = str(pathlib.Path(folder) / "calm_down.allot")
        for words in [("check",), ("fmt", "--check"), ("test", "--coverage", "--mutate", "--most-survivors", "5")]:
            checked = allot(words[0], path, *words[1:])
            self.assertEqual(checked.code, 0, checked.out + checked.err)
            self.assertNotIn("warning", checked.err)
        again = allot("new", "calm_down", cwd=folder)
        self.assertEqual(again.code, 2)
        self.assertIn("is there already", again.err)

    def test_a_name_that_is_none(self):
        for name in ["2x", "when", "a-b", "../x"]:
            self.assertEqual(allot("new", name, cwd=tempfile.mkdtemp(prefix="allot-test-")).code, 2)


class Help(unittest.TestCase):
    def test_a_name_of_the_language(self):
        answer = allot("help", "hit_rate")
        self.assertEqual(answer.code, 0)
        self.assertIn("g.hit_rate: prob?  (fact)", answer.out)
        near = allot("help", "hit_rte")
        self.assertEqual(near.code, 2)
        self.assertIn("did you mean hit_rate?", near.err)

    def test_json(self):
        codes = allot("help", "--json").json()
        self.assertEqual([each["code"] for each in codes], sorted(each["code"] for each in codes))
        self.assertTrue(all(each["wrong"] and each["right"] for each in codes))
        self.assertEqual([each["code"] for each in allot("help", "e0118", "--json").json()], ["E0118"])
        self.assertEqual(allot("help", "clamp", "--json").json()[0]["kind"], "function")
        self.assertEqual(allot("help", "no_such_name", "--json").code, 2)

    def test_every_code_has_a_page(self):
        listed = re.findall(r"^([EW]\d{4})  ", allot("help").out, re.MULTILINE)
        self.assertGreaterEqual(len(listed), 50)
        for code in listed[::7]:
            self.assertTrue(allot("help", code).out.startswith(code + ": "))


class Generated(unittest.TestCase):
    def test_the_reference_is_up_to_date(self):
        self.assertEqual((SOURCE / "docs" / "reference.md").read_text(), allot("help", "--reference").out,
                         "run: build/allot help --reference > docs/reference.md")

    def test_the_grammar_is_up_to_date(self):
        path = SOURCE / "editors" / "vscode" / "syntaxes" / "allot.tmLanguage.json"
        self.assertEqual(path.read_text(), allot("help", "--textmate").out,
                         "run: build/allot help --textmate > editors/vscode/syntaxes/allot.tmLanguage.json")

    def test_the_grammar_has_every_word(self):
        grammar = json.loads((SOURCE / "editors" / "vscode" / "syntaxes" / "allot.tmLanguage.json").read_text())
        patterns = json.dumps(grammar)
        words = (SOURCE / "lang" / "words.cpp").read_text()
        for table in ["item_words", "statement_words", "action_words", "point_words", "subject_words", "unit_words"]:
            listed = re.search(rf"Words& {table}\(\) \{{(.*?)\n\}}", words, re.DOTALL).group(1)
            found = re.findall(r'"(\w+)"', listed)
            self.assertGreater(len(found), 4, table)
            for word in found:
                self.assertRegex(patterns, rf"[(|:]{word}[|)]", f"{table}: {word}")

    def test_every_regular_expression_of_the_grammar_is_one(self):
        grammar = json.loads((SOURCE / "editors" / "vscode" / "syntaxes" / "allot.tmLanguage.json").read_text())
        seen = 0

        def walk(value):
            nonlocal seen
            if isinstance(value, dict):
                for key in ("match", "begin", "end"):
                    if key in value:
                        re.compile(value[key])
                        seen += 1
                value = list(value.values())
            if isinstance(value, list):
                for each in value:
                    walk(each)

        walk(grammar)
        self.assertGreater(seen, 15)

    def test_the_extension_names_files_that_are_there(self):
        folder = SOURCE / "editors" / "vscode"
        package = json.loads((folder / "package.json").read_text())
        named = [package["main"], package["contributes"]["languages"][0]["configuration"],
                 package["contributes"]["grammars"][0]["path"]]
        for name in named:
            self.assertTrue((folder / name).exists(), name)


if __name__ == "__main__":
    unittest.main()
