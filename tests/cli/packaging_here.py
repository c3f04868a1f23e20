"""A project in a folder of its own, and packages beside it."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from program import allot

GATES = "policy gates\nfn few(n: rollouts) -> bool = n < {limit}\n"
USES = """policy p
import gates
on finish of group g { when gates.few(g.scored) then drop }
test "one" {
  given g = group { rewards: [1, undefined] }
  expect finish(g) is drop
}
"""


def write(folder, files):
    for path, text in files.items():
        file = pathlib.Path(folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return pathlib.Path(folder)


def toml(name="gates", version="1.0.0", more=""):
    return f'name = "{name}"\nversion = "{version}"\n{more}'


def git(*words, cwd):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
                   "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    return subprocess.run(["git", *words], cwd=cwd, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def everything(folder):
    """All that lies below, links included, as a value."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        found[str(path)] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


class Here(unittest.TestCase):
    """A folder with an empty project `p` and room beside it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="allot-packages-")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.project = write(self.top / "p", {"allot.toml": "# of the team\n", "p.allot": USES})

    def gates(self, where="gates", version="1.0.0", limit=2, more="", **files):
        return write(self.top / where, {"allot.toml": toml(version=version, more=more),
                                        "gates.allot": GATES.format(limit=limit), **files})

    def run_allot(self, *words, cwd=None):
        return allot(*map(str, words), cwd=cwd or self.project)

    def good(self, *words, cwd=None):
        answer = self.run_allot(*words, cwd=cwd)
        self.assertEqual(answer.code, 0, answer.err + answer.out)
        return answer

    def refused(self, *words, reason="", code=1, cwd=None):
        before = everything(self.top)
        answer = self.run_allot(*words, cwd=cwd)
        self.assertEqual(answer.code, code, answer.err + answer.out)
        self.assertIn(reason, answer.err + answer.out)
        self.assertEqual(everything(self.top), before, "something was written")
        return answer

    def lock(self):
        return (self.project / "allot.lock").read_text()
