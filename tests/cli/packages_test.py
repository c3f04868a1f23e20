"""Packages as people use them: added, imported, packed, signed, published; and bundles that are refused."""

import contextlib
import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import ssl
import stat
import subprocess
import tempfile
import threading
import unittest

import hostile
from program import ALLOT, SOURCE, allot

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


class Bundles(Here):
    def test_the_same_files_give_the_same_bytes(self):
        first = self.gates(**{"README.md": "x\n", "a/b.allot": "policy b\nfn f(x: real) -> real = x\n", "LICENSE": "y\n"})
        self.good("pack", first, "--out", self.top / "1.tar.zst")
        second = self.top / "elsewhere"
        for path in sorted(first.rglob("*"), reverse=True):  # another order, other times and modes
            if path.is_file():
                write(second, {str(path.relative_to(first)): path.read_text()})
        write(second, {".git/config": "no", "notes.txt": "no", "runs/x.json": "no", "sub/allot.toml": toml("sub"), "sub/x.allot": "no"})
        for path in second.rglob("*"):
            path.chmod(0o777 if path.is_dir() else 0o600)
            os.utime(path, (1, 1))
        self.good("pack", second, "--out", self.top / "2.tar.zst")
        self.assertEqual((self.top / "1.tar.zst").read_bytes(), (self.top / "2.tar.zst").read_bytes())

    def test_a_peer_writes_and_reads_the_same_archive(self):
        self.assertEqual(hostile.header(b"gates.allot", 7), hostile.standard_header("gates.allot", 7))
        bundle = self.top / "gates-1.0.0.tar.zst"
        bundle.write_bytes(hostile.zstd(hostile.archive(*hostile.good())))
        self.good("verify", bundle)
        self.good("add", bundle)
        self.good("test", "p.allot")
        if shutil.which("zstd") is None:
            return
        packed = self.top / "packed.tar.zst"
        write(self.top / "gates", {path: text.decode() for path, text in hostile.FILES.items()})
        self.good("pack", self.top / "gates", "--out", packed)
        tar = subprocess.run(["zstd", "-dc", packed], capture_output=True, check=True).stdout
        self.assertEqual(tar, hostile.archive(*hostile.good()))

    def test_what_is_no_package_is_not_packed(self):
        self.refused("pack", reason="has no name", cwd=self.project)
        broken = self.gates("broken")
        write(broken, {"bad.allot": "policy bad\non finish of group g { wen g.flat then drop }\n"})
        self.refused("pack", broken, reason="is not packed")
        linked = self.gates("linked")
        (linked / "x.allot").symlink_to("/etc/passwd")
        self.refused("pack", linked, reason="is a link")
        self.refused("add", linked, reason="is a link")

    def test_nothing_but_a_file_is_replaced(self):
        self.gates()
        os.mkfifo(self.top / "pipe")
        self.refused("pack", "../gates", "--out", "../pipe", reason="is no file that could be replaced", code=2)
        self.assertTrue((self.top / "pipe").is_fifo())
        for _ in range(2):
            self.good("pack", "../gates", "--out", "../some.tar.zst")

    def test_hostile_bundles_are_refused(self):
        seen = set()
        bundle = self.top / "gates-1.0.0.tar.zst"
        for name, data, reason in hostile.kinds():
            self.assertNotIn(name, seen)
            seen.add(name)
            with self.subTest(name):
                bundle.write_bytes(data)
                answer = self.refused("add", bundle, reason=reason)
                self.assertIn("refused" if "author" not in reason else "author", answer.err)
                self.assertLess(len(answer.err), 2000)
                self.assertTrue(answer.err.replace("\n", "").isprintable(), repr(answer.err))
                if "author" not in reason:  # what a bundle needs is looked at when it is added
                    self.refused("verify", bundle, reason=reason)
        self.assertGreaterEqual(len(seen), 80)
        # The builder's own bundle is right, so the refusals are not about its form.
        bundle.write_bytes(hostile.zstd(hostile.archive(*hostile.good())))
        self.good("add", bundle)

    def test_a_bundle_is_changed_in_every_byte(self):
        """Whichever single byte changes, what comes out is refused, or (in the frame's own header) the same files."""
        self.gates()
        self.good("pack", "../gates", "--out", self.top)
        bundle = self.top / "gates-1.0.0.tar.zst"
        right = bundle.read_bytes()
        hash_of = json.loads(self.good("verify", bundle, "--json").out)[0]["sha256"]
        refused = 0
        for at in range(0, len(right), 7):
            bundle.write_bytes(right[:at] + bytes([right[at] ^ 0x41]) + right[at + 1:])
            answer = self.run_allot("verify", bundle, "--json")
            self.assertIn(answer.code, (0, 1))
            refused += answer.code
            if answer.code == 0:
                self.assertEqual(answer.json()[0]["sha256"], hash_of)
        self.assertGreater(refused, len(right) // 7 - 5)


class Signatures(Here):
    def key(self, name):
        answer = self.good("sign", "--new-key", self.top / name, cwd=self.top)
        return answer.out.strip()

    def trust(self, public, name="alice"):
        write(self.project, {"allot.toml": f'[keys]\n{name} = "{public}"\n'})

    def bundle(self, **how):
        self.gates(**how)
        self.good("pack", "../gates", "--out", self.top)
        return self.top / "gates-1.0.0.tar.zst"

    def test_a_signature_that_stands_there_twice_is_one(self):
        self.gates()
        public = self.key("alice.key")
        self.trust(public)
        self.good("sign", "../gates", "--key", "../alice.key")
        file = self.top / "gates" / "allot.signature"
        file.write_text(2 * file.read_text())
        self.assertRegex(self.good("add", "../gates").out, "signed by alice\n")

    def test_where_a_key_is_named_a_signature_is_needed(self):
        bundle = self.bundle()
        public = self.key("alice.key")
        self.good("verify", bundle)
        self.trust(public)
        self.refused("add", bundle, reason="it is not signed")
        self.refused("add", "../gates", reason="it is not signed")
        self.refused("verify", bundle, reason="it is not signed")
        self.good("sign", bundle, "--key", "../alice.key")
        self.assertIn("signed by alice", self.good("add", bundle).out)
        self.good("test", "p.allot")
        # Stripped of its signature afterwards it decides nothing.
        folder = next((self.project / ".allot" / "packages").iterdir())
        (folder / "allot.signature").unlink()
        self.refused("check", "p.allot", reason="it is not signed")
        self.refused("verify", reason="it is not signed")

    def test_a_key_that_came_later_counts_too(self):
        bundle = self.bundle()
        self.good("add", bundle)
        text = (self.project / "allot.toml").read_text()
        write(self.project, {"allot.toml": text + f'[keys]\nalice = "{self.key("alice.key")}"\n'})
        self.refused("check", "p.allot", reason="it is not signed")

    def test_another_key_is_no_key(self):
        bundle = self.bundle()
        self.trust(self.key("alice.key"))
        mallory = self.key("mallory.key")
        self.good("sign", bundle, "--key", "../mallory.key")
        answer = self.refused("add", bundle, reason="none of the [keys]")
        self.assertIn(mallory, answer.err)
        # Two may sign; one that is trusted is enough.
        self.good("sign", bundle, "--key", "../alice.key")
        self.good("add", bundle)

    def test_a_signature_does_not_fit_other_files(self):
        bundle = self.bundle()
        public = self.key("alice.key")
        self.good("sign", bundle, "--key", "../alice.key")
        folder = self.top / "gates"
        self.good("sign", folder, "--key", "../alice.key")
        signature = (folder / "allot.signature").read_bytes()
        other = {**hostile.FILES, "gates.allot": hostile.POLICY.replace(b"2", b"9")}
        bundle.write_bytes(hostile.zstd(hostile.archive(*hostile.good(other, signature))))
        self.trust(public)
        self.refused("add", bundle, reason="does not fit its list of files")
        # A wrong signature is refused even where nobody's is asked for.
        write(self.project, {"allot.toml": ""})
        self.refused("add", bundle, reason="does not fit its list of files")

    def test_a_signed_folder_that_was_changed(self):
        self.gates()
        self.trust(self.key("alice.key"))
        self.good("sign", "../gates", "--key", "../alice.key")
        self.good("add", "../gates")
        self.gates(limit=9)
        self.refused("add", "../gates", reason="is not the file of its list")
        self.good("sign", "../gates", "--key", "../alice.key")
        self.good("add", "../gates")

    def test_keys_are_kept_secret(self):
        public = self.key("me.key")
        file = self.top / "me.key"
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertNotIn(public.split(":")[1], file.read_text())
        self.assertEqual(self.good("sign", "--key", file).out.strip(), public)
        self.refused("sign", "--new-key", file, reason="never written over", code=2)
        self.assertNotEqual(self.key("other.key"), public)
        file.chmod(0o640)
        self.refused("sign", self.bundle(), "--key", file, reason="may be read by others", code=2)
        (self.top / "no.key").touch(0o600)
        self.refused("sign", "--key", self.top / "no.key", reason="is no secret key", code=2)

    def test_signing_twice_is_signing_once(self):
        bundle = self.bundle()
        self.key("alice.key")
        self.good("sign", bundle, "--key", "../alice.key")
        once = bundle.read_bytes()
        self.good("sign", bundle, "--key", "../alice.key")
        self.assertEqual(bundle.read_bytes(), once)


class Registries(Here):
    def setUp(self):
        super().setUp()
        self.registry = self.top / "registry"
        self.registry.mkdir()
        write(self.project, {"allot.toml": '[registries]\nteam = "../registry"\n'})

    def test_published_versions_never_change(self):
        self.gates()
        self.good("publish", "../gates", "--registry", "team")
        self.assertIn("the same", self.good("publish", "../gates", "--registry", "team").out)
        self.gates(limit=3)
        self.refused("publish", "../gates", "--registry", self.registry, reason="never changes")
        self.gates(version="1.1.0", limit=3)
        self.good("publish", "../gates", "--registry", self.registry)
        self.gates(version="1.10.0", limit=4)
        self.good("publish", "../gates", "--registry", self.registry)
        self.assertEqual(self.good("list", "--registry", "team").out, "gates 1.0.0 1.1.0 1.10.0\n")
        self.good("add", "gates@1.0.0")
        self.good("add", "gates")  # the newest
        self.assertIn('version = "1.10.0"', self.lock())
        self.refused("add", "gates@1.1.0", reason="would go back")
        self.refused("add", "gates@3.0.0", reason="it has 1.0.0, 1.1.0, 1.10.0")
        self.refused("add", "gatse", reason="did you mean gates?", code=2)
        self.assertEqual(oct((self.registry / "gates" / "gates-1.0.0.tar.zst").stat().st_mode & 0o777), "0o444")

    def test_a_registry_whose_version_was_changed_is_found_out(self):
        self.gates()
        self.good("publish", "../gates", "--registry", "team")
        self.good("add", "gates")
        file = self.registry / "gates" / "gates-1.0.0.tar.zst"
        self.gates(limit=9)
        self.good("pack", "../gates", "--out", self.top / "other.tar.zst")
        file.unlink()
        shutil.copy(self.top / "other.tar.zst", file)
        self.refused("add", "gates@1.0.0", reason="other files than allot.lock knows")
        shutil.rmtree(self.project / ".allot")
        self.refused("add", reason="is not what allot.lock names")

    def test_a_bundle_under_another_name_is_refused(self):
        write(self.top / "evil", {"allot.toml": toml("evil"), "x.allot": "policy x\nfn f(x: real) -> real = x\n"})
        (self.registry / "gates").mkdir()
        self.good("pack", "../evil", "--out", self.registry / "gates" / "gates-1.0.0.tar.zst")
        self.refused("add", "gates", reason="is called evil, not gates")

    def test_of_those_who_publish_at_once_one_wins(self):
        folders = [self.gates(f"g{i}", limit=i + 2) for i in range(6)]
        started = [subprocess.Popen([ALLOT, "publish", folder, "--registry", self.registry], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE) for folder in folders]
        codes = [process.wait() for process in started]
        for process in started:
            process.communicate()
        self.assertEqual(sorted(codes), [0, 1, 1, 1, 1, 1])
        self.assertEqual([path.name for path in (self.registry / "gates").iterdir()], ["gates-1.0.0.tar.zst"])
        self.good("verify", self.registry / "gates" / "gates-1.0.0.tar.zst")

    def test_a_package_may_name_a_registry_of_the_project_and_no_other(self):
        write(self.top / "base", {"allot.toml": toml("base"), "base.allot": "policy base\nfn f(x: real) -> real = x\n"})
        self.good("publish", "../base", "--registry", "team")
        for name, of in (("gates", "team"), ("other", "elsewhere")):
            write(self.top / name, {"allot.toml": toml(name, more=f'[dependencies]\nbase = {{ registry = "{of}", version = "1.0.0" }}\n'),
                                    f"{name}.allot": f"policy {name}\nfn f(x: real) -> real = x\n"})
            self.good("publish", f"../{name}", "--registry", "team")
        self.good("add", "gates")
        self.refused("add", "other", reason="the registry `elsewhere`, which the project's allot.toml does not name")


class Repositories(Here):
    def repository(self):
        folder = self.gates("repo")
        write(folder, {"README.md": "x\n", "run.sh": "echo no\n", ".github/README.md": "no\n"})
        git("init", "-q", "-b", "main", cwd=folder)
        git("add", "-A", cwd=folder)
        git("commit", "-q", "-m", "one", cwd=folder)
        git("tag", "v1.0.0", cwd=folder)
        return folder

    def test_a_tag_a_branch_and_a_commit(self):
        folder = self.repository()
        commit = git("rev-parse", "HEAD", cwd=folder)
        self.good("add", folder, "--git", "--rev", "v1.0.0")
        self.assertIn(f'commit = "{commit}"', self.lock())
        self.good("test", "p.allot")
        first = self.lock()
        # The branch moves on; the lock does not.
        self.gates("repo", version="1.1.0", limit=3)
        git("commit", "-q", "-a", "-m", "two", cwd=folder)
        shutil.rmtree(self.project / ".allot")
        self.good("add")
        self.assertEqual(self.lock(), first)
        self.good("add", folder, "--git")
        self.assertIn('version = "1.1.0"', self.lock())
        self.good("add", folder, "--git", "--rev", commit[:10], "--downgrade")
        self.assertIn(f'commit = "{commit}"', self.lock())
        self.refused("add", folder, "--git", "--rev", "v9", reason="v9")

    def test_a_folder_may_be_named_from_where_one_stands(self):
        folder = self.repository()
        self.good("add", "../repo", "--git")
        self.assertIn(f'git = "{folder.resolve()}"', (self.project / "allot.toml").read_text())
        (self.project / "sub").mkdir()
        self.good("add", "../../repo", "--git", cwd=self.project / "sub")
        self.good("test", "p.allot")

    def test_nothing_of_a_repository_is_run(self):
        folder = self.repository()
        mark = self.top / "mark"
        for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"):
            file = folder / ".git" / "hooks" / hook
            write(file.parent, {hook: f"#!/bin/sh\ntouch {mark}\n"})
            file.chmod(0o755)
        write(folder, {".gitattributes": "* filter=evil\n", ".gitmodules": '[submodule "x"]\npath = x\nurl = ext::sh -c "touch ' + str(mark) + '"\n'})
        git("config", "filter.evil.smudge", f"touch {mark}", cwd=folder)
        git("add", ".gitattributes", ".gitmodules", cwd=folder)
        git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "evil", cwd=folder)
        self.good("add", folder, "--git")
        self.assertFalse(mark.exists())

    def test_links_in_a_repository_are_refused(self):
        folder = self.repository()
        (folder / "x.allot").symlink_to("/etc/passwd")
        git("add", "x.allot", cwd=folder)
        git("commit", "-q", "-m", "link", cwd=folder)
        self.refused("add", folder, "--git", reason="x.allot is a symbolic link")

    def test_addresses_that_are_not_asked(self):
        for address in ["ext::sh -c touch${IFS}x", "fd::17", "http://example.invalid/x.git", "ftp://example.invalid/x.git", "file://host/x.git"]:
            answer = self.refused("add", address, "--git")
            self.assertRegex(answer.err, "git is not asked for|is no address")
        self.refused("add", "--git", "--", "--upload-pack=touch x")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.startswith("/away"):
            self.send_response(302)
            self.send_header("Location", "http://example.invalid/gates-1.0.0.tar.zst")
            self.end_headers()
        elif self.path.startswith("/endless"):
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b"x" * (1 << 20))
        else:
            super().do_GET()


@unittest.skipUnless((pathlib.Path(ALLOT).parent / "allot-fetch").exists(), "built without libcurl")
class Addresses(Here):
    def setUp(self):
        super().setUp()
        self.served = self.top / "served"
        self.served.mkdir()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.served))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.address = f"http://127.0.0.1:{server.server_port}"

    def test_a_bundle_at_an_address(self):
        self.gates()
        self.good("pack", "../gates", "--out", self.served)
        self.good("add", f"{self.address}/gates-1.0.0.tar.zst")
        self.good("test", "p.allot")

    def test_a_registry_that_is_served(self):
        self.gates()
        self.good("publish", "../gates", "--registry", self.served)
        write(self.project, {"allot.toml": f'[registries]\nteam = "{self.address}"\n'})
        self.good("add", "gates@1.0.0")
        self.refused("add", "gates", reason="does not tell its versions", code=2)
        self.refused("publish", "../gates", "--registry", "team", reason="can only be read", code=2)

    def test_what_is_not_fetched(self):
        name = "gates-1.0.0.tar.zst"
        self.refused("add", f"{self.address}/{name}", reason="404")
        self.refused("add", f"{self.address}/away/{name}", reason="cannot fetch")
        self.refused("add", f"{self.address}/endless/{name}", reason="larger than 16777216 bytes")
        self.refused("add", f"http://example.invalid/{name}", reason="plain http can be changed")
        self.refused("add", f"http://127.0.0.1@example.invalid/{name}", reason="plain http can be changed")
        self.refused("add", f"ftp://127.0.0.1/{name}", reason="only https")
        self.refused("add", f"file:///etc/{name}", reason="only https")
        (self.served / name).write_bytes(b"<html>not found</html>")
        self.refused("add", f"{self.address}/{name}", reason="no bundle")


@unittest.skipUnless((pathlib.Path(ALLOT).parent / "allot-fetch").exists(), "built without libcurl")
@unittest.skipUnless(shutil.which("openssl"), "skipped: there is no `openssl` to make a certificate with")
class SecureAddresses(Here):
    """A server with a certificate of its own making, on this machine."""

    NAME = "gates-1.0.0.tar.zst"

    def serve(self, named):
        """A certificate for `named`, and the address at which a server shows it."""
        place = pathlib.Path(tempfile.mkdtemp(dir=self.top))
        key, certificate = place / "key.pem", place / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=allot test",
                        "-addext", f"subjectAltName={named}", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.served))
        server.handle_error = lambda *_: None  # a client that hangs up is what is tried here
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return certificate, f"https://127.0.0.1:{server.server_port}"

    def setUp(self):
        super().setUp()
        self.served = self.top / "served"
        self.served.mkdir()
        self.gates()
        self.good("pack", "../gates", "--out", self.served)

    def trusting(self, file):
        before = os.environ.get("SSL_CERT_FILE")
        os.environ["SSL_CERT_FILE"] = str(file)
        self.addCleanup(lambda: os.environ.pop("SSL_CERT_FILE") if before is None else os.environ.update(SSL_CERT_FILE=before))

    def test_a_certificate_that_nobody_trusts_is_refused(self):
        _, address = self.serve("IP:127.0.0.1")
        told = self.refused("add", f"{address}/{self.NAME}", reason="self-signed certificate")
        self.assertIn("SSL_CERT_FILE", told.err)
        self.assertFalse((self.project / "allot.lock").exists())

    def test_one_that_the_user_names_as_trusted_works(self):
        certificate, address = self.serve("IP:127.0.0.1")
        self.trusting(certificate)
        self.good("add", f"{address}/{self.NAME}")
        self.good("test", "p.allot")

    def test_one_for_another_host_or_of_another_authority_is_refused_all_the_same(self):
        certificate, address = self.serve("DNS:example.invalid")
        self.trusting(certificate)
        self.refused("add", f"{address}/{self.NAME}", reason="127.0.0.1")
        _, address = self.serve("IP:127.0.0.1")
        self.refused("add", f"{address}/{self.NAME}", reason="certificate")
        self.trusting(self.top / "nowhere.pem")
        self.refused("add", f"{address}/{self.NAME}", reason="nowhere.pem")


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
