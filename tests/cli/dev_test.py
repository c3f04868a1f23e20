"""./dev and the lists it installs from."""

import re
import subprocess
import unittest

from program import SOURCE


def dev(*words):
    return subprocess.run([str(SOURCE / "dev"), *words], capture_output=True, text=True, timeout=60, cwd="/")


class Dev(unittest.TestCase):
    def test_help_names_every_command(self):
        answer = dev("help")
        self.assertEqual(answer.returncode, 0)
        for command in ["run", "test", "build", "bench", "fuzz", "format"]:
            self.assertRegex(answer.stdout, rf"(?m)^  {command}\b")
        self.assertEqual(dev().stdout, answer.stdout)

    def test_an_unknown_command_is_refused(self):
        answer = dev("tset")
        self.assertEqual(answer.returncode, 1)
        self.assertEqual(answer.stdout, "")
        self.assertIn("there is no command 'tset'", answer.stderr)

    def test_the_script_parses(self):
        for script in ["dev", ".ci/run"]:
            self.assertEqual(subprocess.run(["bash", "-n", str(SOURCE / script)]).returncode, 0)

    def test_packages_are_names_each_once(self):
        lines = (SOURCE / "packages.txt").read_text().splitlines()
        names = [line for line in lines if line and not line.startswith("#")]
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(name, r"^[a-z0-9][a-z0-9.+-]*$")

    def test_python_packages_are_pinned(self):
        lines = (SOURCE / "requirements.txt").read_text().splitlines()
        names = [line for line in lines if line and not line.startswith("#")]
        self.assertTrue(names)
        for name in names:
            self.assertTrue(re.match(r"^[A-Za-z0-9-]+==[0-9][0-9.]*$", name), name)

    def test_every_dependency_is_explained(self):
        page = (SOURCE / "docs" / "dependencies.md").read_text()
        for file in ["packages.txt", "requirements.txt"]:
            for line in (SOURCE / file).read_text().splitlines():
                name = line.split("==")[0]
                if name and not name.startswith("#"):
                    self.assertIn(f"`{name}`", page, f"{name} of {file}")


if __name__ == "__main__":
    unittest.main()
