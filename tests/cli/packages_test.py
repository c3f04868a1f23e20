"""Packages as people use them: added, imported, locked; and the sessions of their document."""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import hostile
from packaging_here import GATES, USES, Here, toml, write
from program import ALLOT, SOURCE


class Adding(Here):
    def test_a_folder_is_added_and_imported(self):
        self.gates()
        answer = self.good("add", "../gates")
        self.assertIn("import gates", answer.out)
        self.assertIn('gates = { path = "../gates" }', (self.project / "allot.toml").read_text())
        self.assertTrue((self.project / "allot.toml").read_text().startswith("# of the team\n"))
        self.good("check", "p.allot")
        self.good("test", "p.allot")
        self.good("verify")
        self.assertTrue(self.good("list", "--json").out and json.loads(self.good("list", "--json").out)[0]["usable"])
        # From another folder too: the project is the one around the policy.
        self.good("check", "p/p.allot", cwd=self.top)

    def test_a_name_of_the_standard_library_is_refused(self):
        for name in ("stdlib", "stdlib.gates", "dynamic_sampling", "pods"):
            with self.subTest(name):
                folder = f"of-{name}"
                self.gates(folder)
                (self.top / folder / "allot.toml").write_text(toml(name))
                for words in (["add", f"../{folder}"], ["pack", f"../{folder}"]):
                    answer = self.refused(*words, reason=f"no package may be called {name}: that is")
                    self.assertIn("help: choose another name, such as team.", answer.err)
                self.refused("new", name, "--package", reason=f"no package may be called {name}", code=2)
        # A team's own name before it is free.
        self.gates("free")
        (self.top / "free" / "allot.toml").write_text(toml("team.pods"))
        self.good("pack", "../free", "--out", self.top)

    def test_a_package_that_another_one_names_is_refused_so_too(self):
        self.gates("inner")
        (self.top / "inner" / "allot.toml").write_text(toml("pods"))
        self.gates(more='[dependencies]\npods = { path = "../inner" }\n')
        self.refused("add", "../gates", reason="no package may be called pods")

    def test_the_hash_of_a_policy_covers_its_packages(self):
        hashes = set()
        for limit in (2, 3):
            self.gates(limit=limit)
            self.good("add", "../gates")
            hashes.add(json.loads(self.good("explain", "p.allot", "--json").out)["sha256"])
        self.assertEqual(len(hashes), 2)

    def test_the_lock_pins_and_is_the_same_whatever_the_order(self):
        self.gates()
        write(self.top / "other", {"allot.toml": toml("other"), "other.allot": "policy other\nfn f(x: real) -> real = x\n"})
        locks = []
        for order in (["../gates", "../other"], ["../other", "../gates"]):
            shutil.rmtree(self.project)
            write(self.project, {"allot.toml": "", "p.allot": USES})
            for each in order:
                self.good("add", each)
            locks.append(self.lock())
        self.assertEqual(*locks)
        # The hash is that of the list of files, made here by other means.
        files = {path: (self.top / "gates" / path).read_bytes() for path in ("allot.toml", "gates.allot")}
        self.assertIn(hashlib.sha256(hostile.listing(files)).hexdigest(), locks[0])
        # A fresh clone gets the same.
        shutil.rmtree(self.project / ".allot")
        self.assertIn("is not installed", self.run_allot("check", "p.allot").err)
        self.good("add")
        self.good("check", "p.allot")
        self.assertEqual(self.lock(), locks[0])
        # A change at the source is not taken unasked.
        shutil.rmtree(self.project / ".allot")
        self.gates(limit=5)
        self.refused("add", reason="is not what allot.lock names")
        self.good("add", "gates")
        self.assertNotEqual(self.lock(), locks[0])

    def test_a_package_that_was_changed_after_it_was_installed_decides_nothing(self):
        self.gates()
        self.good("add", "../gates")
        folder = next((self.project / ".allot" / "packages").iterdir())
        for change in [lambda: (folder / "gates.allot").write_text(GATES.format(limit=9)),
                       lambda: (folder / "more.allot").write_text("policy more\n"),
                       lambda: (folder / "gates.allot").unlink(),
                       lambda: ((folder / "gates.allot").unlink(), (folder / "gates.allot").symlink_to("/etc/passwd"))]:
            change()
            answer = self.refused("check", "p.allot", reason="was changed after it was installed")
            self.assertIn("E0601", answer.err)
            self.refused("verify", reason="was changed")
            self.good("add")  # what is meant to lie there is known
            self.good("check", "p.allot")

    def test_packages_of_packages_and_who_may_name_them(self):
        write(self.top / "base", {"allot.toml": toml("base"), "base.allot": "policy base\nfn two() -> int = 2\n",
                                  "sub/deep.allot": "policy deep\nimport base\nfn f(n: int) -> bool = n < 2\n"})
        self.gates(more='[dependencies]\nbase = { path = "../base" }\n')
        write(self.top / "base", {"base.allot": "policy base\nfn small(n: rollouts) -> bool = n < 2\n",
                                  "sub/deep.allot": "policy deep\nfn f(n: rollouts) -> bool = n < 2\n"})
        write(self.top / "gates", {"gates.allot": "policy gates\nimport base\nimport base.sub.deep\n"
                                                  "fn few(n: rollouts) -> bool = base.small(n) and deep.f(n)\n"})
        self.good("add", "../gates")
        self.good("test", "p.allot")
        # The project itself does not name `base`, so it cannot import it.
        write(self.project, {"q.allot": USES.replace("gates", "base").replace("few", "small")})
        self.assertIn("there is no file for `base`", self.run_allot("check", "q.allot").err)
        self.assertIn("needs", self.lock())

    def test_a_package_of_a_package_that_the_lock_has_lost_is_told(self):
        write(self.top / "base", {"allot.toml": toml("base"), "base.allot": GATES.format(limit=2).replace("gates", "base")})
        self.gates(more='[dependencies]\nbase = { path = "../base" }\n')
        write(self.top / "gates", {"gates.allot": "policy gates\nimport base\nfn few(n: rollouts) -> bool = base.few(n)\n"})
        self.good("add", "../gates")
        whole = self.lock()
        head, *packages = whole.split("\n[[package]]\n")
        left = [package for package in packages if 'name = "base"' not in package]
        self.assertEqual(len(left), 1)
        (self.project / "allot.lock").write_text("\n[[package]]\n".join([head, *left]))
        self.refused("verify", reason="gates needs base, which is not in allot.lock")
        self.good("add")
        self.good("verify")
        self.assertEqual(self.lock(), whole)

    def test_what_killed_processes_left_is_swept_once_it_is_old(self):
        self.gates()
        self.good("add", "../gates")
        hidden = self.project / ".allot"
        old = [hidden / ".allot-new-old", hidden / "packages" / ".allot-new-old"]
        young = hidden / "packages" / ".allot-new-young"  # somebody may be reading from it
        for folder in (*old, young):
            write(folder, {"gates.allot": "x"})
        for folder in old:
            os.utime(folder, (1, 1))
        self.good("add")
        self.assertEqual([folder.exists() for folder in (*old, young)], [False, False, True])
        self.good("check", "p.allot")

    def test_who_waits_for_another_says_so(self):
        folder = os.open(self.project, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        waiting = subprocess.Popen([ALLOT, "add"], cwd=self.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("waiting for it", waiting.stderr.readline())
        self.assertIsNone(waiting.poll())
        fcntl.flock(folder, fcntl.LOCK_UN)
        out, err = waiting.communicate(timeout=60)
        self.assertEqual((waiting.returncode, err), (0, ""), out)
        self.assertNotIn("waiting", self.good("add").err)

    def test_names_with_dots_and_files_within(self):
        write(self.top / "tg", {"allot.toml": toml("team.gates"), "gates.allot": GATES.format(limit=2),
                                "soft/one.allot": "policy one\nfn f(n: rollouts) -> bool = n < 2\n"})
        self.good("add", "../tg")
        write(self.project, {"p.allot": USES.replace("import gates", "import team.gates\nimport team.gates.soft.one as one")
                             .replace("then drop }", "or one.f(g.scored) then drop }")})
        self.good("test", "p.allot")
        write(self.project, {"p.allot": "policy p\nimport team.gates.soft.two\non finish of group g { drop }\n"})
        self.assertIn("soft/one.allot", self.run_allot("check", "p.allot").err)

    def test_a_name_that_is_a_package_and_a_file_is_told(self):
        self.gates()
        self.good("add", "../gates")
        write(self.project, {"gates.allot": GATES.format(limit=7)})
        answer = self.refused("check", "p.allot", reason="E0603")
        self.assertIn(".allot/packages/gates-1.0.0-", answer.err)

    def test_versions_that_disagree_show_both_ways(self):
        self.gates("one")
        self.gates("two", version="2.0.0", limit=3)
        for name, source in (("a", "one"), ("b", "two")):
            write(self.top / name, {"allot.toml": toml(name, more=f'[dependencies]\ngates = {{ path = "../{source}" }}\n')})
        self.good("add", "../a")
        answer = self.refused("add", "../b", reason="two versions of gates are needed: 1.0.0 and 2.0.0")
        self.assertIn("→ a → gates", answer.err)
        self.assertIn("→ b → gates", answer.err)
        # Two that say to be the same version, and are not.
        self.gates("two", limit=3)
        self.refused("add", "../b", reason="two different packages call themselves gates 1.0.0")
        # The same package from two places is no conflict.
        shutil.rmtree(self.top / "two")
        self.gates("two")
        self.good("add", "../b")

    def test_a_circle_shows_its_way(self):
        for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
            write(self.top / name, {"allot.toml": toml(name, more=f'[dependencies]\n{other} = {{ path = "../{other}" }}\n')})
        self.refused("add", "../a", reason="a → b → c → a")

    def test_an_older_version_is_not_taken_unasked(self):
        self.gates(version="1.2.0")
        self.good("add", "../gates")
        self.gates(version="1.1.9")
        self.refused("add", "../gates", reason="would go back from 1.2.0 to 1.1.9")
        self.good("add", "../gates", "--downgrade")

    def test_what_is_mistyped_in_the_project_file_is_told(self):
        for text, reason in [("[key]\nme = 1\n", "did you mean `keys`?"), ("nmae = 1\n", "did you mean `name`?"),
                             ("[dependencies]\nx = { pth = \"a\" }\n", "a source says where"),
                             ("[dependencies]\nx = { path = \"a\", rev = \"b\" }\n", "`rev` means nothing here"),
                             ("[dependencies]\nx = { git = \"https://h/x.git\", rev = \"--upload-pack=x\" }\n", "is no revision"),
                             ("[keys]\nme = \"ed25519:AAAA\"\n", "the key of me is none"), ("x = [\n", "allot.toml:"),
                             ("a = 1\n" * 60000, "larger than")]:
            write(self.project, {"allot.toml": text})
            self.refused("verify", reason=reason, code=2)

    def test_a_lock_that_lies_or_is_absurd_is_refused(self):
        self.gates()
        self.good("add", "../gates")
        right = self.lock()
        for wrong, reason in [(right.replace('"gates"', '"../../x"'), "names no package"), (right.replace("1.0.0", "1/.."), "no version"),
                              (right.replace("sha256 = \"", "sha256 = \"../"), "64 hexadecimal"), (right.replace("format = 1", "format = 2"), "format"),
                              (right + right[right.index("[[package]]"):], "is there twice"), ("format = 1\nx = " + "[" * 100000, "allot.lock:"),
                              ("# " + "x" * (300 << 10), "larger than")]:
            write(self.project, {"allot.lock": wrong})
            self.refused("verify", reason=reason, code=2)
            self.refused("check", "p.allot", reason=reason)
        other = "0" * 64
        write(self.project, {"allot.lock": right.replace(right.split('sha256 = "')[1][:64], other)})
        self.refused("check", "p.allot", reason="is not installed")

    def test_a_project_file_of_many_forms_keeps_its_text(self):
        for before in ["", "# a\n\n[dependencies]\n# none yet\n\n[keys]\n", "[registries]\nx = \"/y\"", "[dependencies] # ours\nz_old = { path = \"../gates\" } # no\n"]:
            self.gates()
            write(self.project, {"allot.toml": before.replace("z_old", "gates")})
            self.good("add", "../gates")
            after = (self.project / "allot.toml").read_text()
            self.assertEqual(after.count("gates = {"), 1, after)
            for line in before.splitlines():
                self.assertTrue(line.startswith("z_old") or line in after.splitlines(), after)
        write(self.project, {"allot.toml": "dependencies = { }\n"})
        self.refused("add", "../gates", reason="cannot be changed for you")

    def test_packages_that_are_added_at_once_are_all_there(self):
        for fresh in (False, True):
            names = [f"part{i}" for i in range(6)]
            for name in names:
                write(self.top / name, {"allot.toml": toml(name), f"{name}.allot": f"policy {name}\nfn few(n: rollouts) -> bool = n < 2\n"})
            where = self.top / "fresh" if fresh else self.project
            where.mkdir(exist_ok=True)
            adding = [subprocess.Popen([ALLOT, "add", f"../{name}"], cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                      for name in names]
            for process in adding:
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0, err + out)
            listed = [package["name"] for package in self.good("list", "--json", cwd=where).json()]
            self.assertEqual(sorted(listed), names)

    def test_a_folder_without_a_project_becomes_one(self):
        self.gates()
        shutil.rmtree(self.project)
        write(self.project, {"p.allot": USES})
        self.assertIn("is a project now", self.good("add", "../gates").err)
        self.good("check", "p.allot")
        self.assertEqual((self.project / ".allot" / ".gitignore").read_text(), "*\n")


class Document(unittest.TestCase):
    """The sessions of docs/packages.md, one after the other in one folder; hashes and keys are of the machine they ran on."""

    def test_its_sessions_are_true(self):
        text = (SOURCE / "docs" / "packages.md").read_text()
        blocks = re.findall(r"^```session\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        commands = [each for block in blocks for each in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)]
        with tempfile.TemporaryDirectory(prefix="allot-document-") as folder:
            for command, shown in commands:
                with self.subTest(command=command):
                    self.assertEqual(known(run_shell(command, folder)), known(shown))
        self.assertGreaterEqual(len(commands), 12)


def run_shell(command, folder):
    environment = {**os.environ, "PATH": f"{pathlib.Path(ALLOT).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def known(text):
    """Without what differs from run to run."""
    text = re.sub(r"ed25519:[A-Za-z0-9+/=]{44}", "ed25519:KEY", text)
    return re.sub(r"\b[0-9a-f]{12}(?:[0-9a-f]{52})?\b", "HASH", text).rstrip()


if __name__ == "__main__":
    unittest.main()
