"""allot fmt: files in place, --check, --diff, stdin, and what it refuses."""

import pathlib
import subprocess
import unittest

from program import SOURCE, allot, policy_file

ROUGH = "policy p\n\n\nparam a:int=1 # one\non finish of group g {\nwhen g.flat then drop\n}\n"
SMOOTH = "policy p\n\nparam a: int = 1  # one\n\non finish of group g {\n  when g.flat then drop\n}\n"


class Fmt(unittest.TestCase):
    def test_a_file_is_rewritten_once(self):
        path = policy_file(ROUGH)
        answer = allot("fmt", path)
        self.assertEqual((answer.code, answer.out), (0, f"{path}: formatted\n"))
        self.assertEqual(pathlib.Path(path).read_text(), SMOOTH)
        again = allot("fmt", path)
        self.assertEqual((again.code, again.out), (0, ""))

    def test_a_link_stays_one_and_its_target_is_laid_out(self):
        path = pathlib.Path(policy_file(ROUGH))
        link = path.parent / "link.allot"
        link.symlink_to(path.name)
        self.assertEqual(allot("fmt", str(link)).code, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(path.read_text(), SMOOTH)

    def test_a_broken_rule_hangs(self):
        text = ("policy p\n\non finish of group g {\n  when g.flat\n    then drop\n  when\n    g.scored < 2\n    then drop because\n"
                "      \"few\"\n  let rate =\n    g.scored / g.started\n  report rate = rate\n  otherwise\n    train\n}\n")
        self.assertEqual(allot("fmt", "-", stdin=text.replace("      \"few", "    \"few")).out, text.replace("      \"few", "    \"few"))
        flat = "\n".join(line.strip() for line in text.splitlines()) + "\n"
        self.assertEqual(allot("fmt", "-", stdin=flat).out, text.replace("      \"few", "    \"few"))

    def test_check_writes_nothing(self):
        path = policy_file(ROUGH)
        answer = allot("fmt", "--check", path)
        self.assertEqual((answer.code, answer.out), (1, f"{path}: would change\n"))
        self.assertEqual(pathlib.Path(path).read_text(), ROUGH)
        self.assertEqual(allot("fmt", "--check", policy_file(SMOOTH)).code, 0)

    def test_the_diff_is_one_that_patch_takes(self):
        path = policy_file(ROUGH)
        answer = allot("fmt", "--diff", path)
        self.assertEqual(answer.code, 0)
        self.assertEqual(pathlib.Path(path).read_text(), ROUGH)
        subprocess.run(["git", "apply", "--unsafe-paths", "-p0", f"--directory={pathlib.Path(path).parent}"],
                       input=answer.out.replace(path, pathlib.Path(path).name).replace(" (formatted)", ""), text=True,
                       check=True, cwd="/")
        self.assertEqual(pathlib.Path(path).read_text(), SMOOTH)

    def test_stdin_goes_to_stdout(self):
        answer = allot("fmt", "-", stdin=ROUGH)
        self.assertEqual((answer.code, answer.out), (0, SMOOTH))

    def test_json_of_stdin_holds_the_text(self):
        told = allot("fmt", "--json", "-", stdin=ROUGH).json()
        self.assertEqual([(each["changed"], each["text"]) for each in told], [(True, SMOOTH)])
        self.assertNotIn("text", allot("fmt", "--json", "--check", "-", stdin=ROUGH).json()[0])

    def test_json(self):
        path = policy_file(ROUGH)
        told = allot("fmt", "--diff", "--json", path).json()
        self.assertEqual((told[0]["file"], told[0]["formatted"], told[0]["changed"]), (path, True, True))
        self.assertIn("+param a: int = 1  # one\n", told[0]["diff"])

    def test_a_syntax_error_leaves_the_file(self):
        path = policy_file("policy p\nparam a : int = \n")
        answer = allot("fmt", path)
        self.assertEqual(answer.code, 1)
        self.assertIn("E0001", answer.err)
        self.assertEqual(pathlib.Path(path).read_text(), "policy p\nparam a : int = \n")

    def test_installed_packages_are_left_alone(self):
        path = pathlib.Path(policy_file(ROUGH))
        installed = path.parent / ".allot" / "packages" / "q-1" / "q.allot"
        installed.parent.mkdir(parents=True)
        installed.write_text(ROUGH)
        self.assertEqual(allot("fmt", str(path.parent)).out, f"{path}: formatted\n")
        self.assertEqual(installed.read_text(), ROUGH)
        self.assertEqual(len(allot("check", "--json", str(path.parent)).json()), 1)
        self.assertEqual(allot("fmt", str(installed.parent)).code, 0)  # unless a person names it
        self.assertEqual(installed.read_text(), SMOOTH)

    def test_a_missing_file_is_told(self):
        answer = allot("fmt", "/nowhere/x.allot")
        self.assertEqual(answer.code, 2)
        self.assertIn("cannot read /nowhere/x.allot", answer.err)

    def test_stdlib_is_laid_out(self):
        answer = allot("fmt", "--check", str(SOURCE / "stdlib"))
        self.assertEqual(answer.code, 0, answer.out)


if __name__ == "__main__":
    unittest.main()
