"""Bundles: packed, signed, changed, and those that are refused."""

import json
import os
import shutil
import stat
import subprocess
import unittest

import hostile
from packaging_here import Here, toml, write


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
        self.assertIn("`allot sign` writes the list anew", self.refused("add", "../gates", reason="is not the file of its list").err)
        self.good("sign", "../gates", "--key", "../alice.key")
        self.good("add", "../gates")

    def test_a_link_leads_to_what_is_signed_and_what_is_published_is_not(self):
        bundle = self.bundle()
        bundle.chmod(0o640)
        self.key("alice.key")
        link = self.top / "link.tar.zst"
        link.symlink_to(bundle.name)
        self.good("sign", link, "--key", "../alice.key")
        self.assertTrue(link.is_symlink())
        self.assertIn("signed by", self.good("verify", bundle).out)
        self.assertEqual(bundle.stat().st_mode & 0o777, 0o640)
        (self.top / "registry").mkdir()
        self.good("publish", "../gates", "--registry", "../registry")
        published = self.top / "registry" / "gates" / "gates-1.0.0.tar.zst"
        self.refused("sign", published, "--key", "../alice.key", reason="is read-only, as a published bundle is")
        self.good("verify", published)

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


if __name__ == "__main__":
    unittest.main()
