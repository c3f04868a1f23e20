"""What the documents show is true: policies check and pass their tests, and consoles print what is printed.

A block that starts with ```allot is a whole policy; ```allot CODE is one that must be refused with that code;
```console holds lines that start with "$ allot", each followed by its output.
"""

import re
import shlex
import unittest

from program import SOURCE, allot, policy_file

DOCUMENTS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[ \t]*(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind):
    for document in DOCUMENTS:
        text = document.read_text()
        for match in BLOCK.finditer(text):
            if match.group(1) == kind:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{document.name}:{line}", match.group(2), match.group(3)


class Documents(unittest.TestCase):
    def test_policies_are_right(self):
        seen = 0
        for place, code, text in blocks("allot"):
            with self.subTest(place):
                path = policy_file(text)
                checked = allot("check", path)
                if code:
                    self.assertEqual(checked.code, 1)
                    self.assertIn(code, checked.err)
                else:
                    self.assertEqual(checked.code, 0, checked.err)
                    if re.search(r"^(test|scenario) ", text, re.MULTILINE):
                        tested = allot("test", path)
                        self.assertEqual(tested.code, 0, tested.out + tested.err)
                seen += 1
        self.assertGreaterEqual(seen, 7)

    def test_consoles_print_what_they_show(self):
        seen = 0
        for place, _, text in blocks("console"):
            for command, shown in re.findall(r"^\$ allot (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                with self.subTest(place, command=command):
                    answer = allot(*shlex.split(command))
                    self.assertEqual((answer.out + answer.err).rstrip(), shown.rstrip())
                    seen += 1
        self.assertGreaterEqual(seen, 9)

    def test_statistics_are_called_as_their_table_shows(self):
        text = (SOURCE / "docs" / "language.md").read_text()
        section = text.split("## Statistics of actions\n")[1].split("\n## ")[0]
        calls = [span for span in re.findall(r"`([^`]+)`", section) if "(" in span]
        words = {"DISTANCE": "edit_distance", "PADDING": "padded", "UNIT": "bits", "N": "5"}
        for call in calls:
            for distance in ("edit_distance", "normalized_edit_distance", "bigram_jaccard"):
                words["DISTANCE"] = distance
                written = re.sub(r"\b(DISTANCE|PADDING|UNIT|N)\b", lambda word: words[word.group()], call)
                if "r.actions" in written and "g.rollouts" not in written:
                    written = f"size([{written} for r in g.rollouts])"
                with self.subTest(call):
                    checked = allot("check", policy_file(f"policy p\non finish of group g {{ report x = {written} }}\n"))
                    self.assertEqual(checked.code, 0, checked.err)
        self.assertGreaterEqual(len(calls), 8)

    def test_links_lead_somewhere(self):
        for document in DOCUMENTS:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
                with self.subTest(document.name, target=target):
                    self.assertTrue((document.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
