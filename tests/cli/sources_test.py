"""Where packages come from: registries, repositories, addresses."""

import contextlib
import functools
import http.server
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import unittest.mock

from packaging_here import Here, git, toml, write
from program import ALLOT


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

    def test_what_the_project_says_of_a_package_goes_before_what_its_packages_say(self):
        for name, more in (("base", ""), ("alpha", '[dependencies]\nbase = { path = "../base" }\n')):
            write(self.top / name, {"allot.toml": toml(name, more=more), f"{name}.allot": f"policy {name}\nfn f(x: real) -> real = x\n"})
        self.good("publish", "../base", "--registry", "team")
        self.good("add", "../alpha")
        self.good("add", "base@1.0.0", "--registry", "team")  # "alpha" stands before it
        self.assertIn("registry", (self.project / "allot.lock").read_text())
        self.good("verify")
        self.registry.rename(self.top / "away")  # all is installed: nobody is asked
        self.good("add")
        self.good("verify")

    def test_a_package_may_name_a_registry_of_the_project_and_no_other(self):
        write(self.top / "base", {"allot.toml": toml("base"), "base.allot": "policy base\nfn f(x: real) -> real = x\n"})
        self.good("publish", "../base", "--registry", "team")
        for name, of in (("gates", "team"), ("other", "elsewhere")):
            write(self.top / name, {"allot.toml": toml(name, more=f'[dependencies]\nbase = {{ registry = "{of}", version = "1.0.0" }}\n'),
                                    f"{name}.allot": f"policy {name}\nfn f(x: real) -> real = x\n"})
            self.good("publish", f"../{name}", "--registry", "team")
        self.good("add", "gates")
        self.refused("add", "other", reason="the registry `elsewhere`, which the project's allot.toml does not name")


    def publish(self, version, limit, where="registry"):
        self.gates("published", version=version, limit=limit)
        (self.top / where).mkdir(exist_ok=True)
        self.good("publish", "../published", "--registry", self.top / where)

    def test_a_name_means_the_package_and_not_a_folder_that_is_called_so(self):
        self.publish("1.0.0", 2)
        self.gates("p/gates", version="0.0.1", limit=9)
        self.assertIn("added    gates 1.0.0  from registry team", self.good("add", "gates", "--registry", "team").out)
        self.publish("1.1.0", 3)
        self.assertIn("updated  gates 1.1.0  from registry team", self.good("add", "gates").out)  # named already
        self.refused("add", "../published", "--registry", "team", reason="is no name of a package", code=2)
        self.refused("add", "./gates", reason="would go back from 1.1.0 to 0.0.1")
        self.good("add", "./gates", "--downgrade")
        self.assertIn('gates = { path = "gates" }', (self.project / "allot.toml").read_text())

    def test_a_package_that_is_named_already_comes_from_its_own_registry(self):
        self.publish("1.0.0", 2)
        self.publish("1.0.0", 2, where="others")
        write(self.project, {"allot.toml": '[registries]\nteam = "../registry"\nothers = "../others"\n'})
        self.refused("add", "gates", reason="the project names 2 registries", code=2)
        self.good("add", "gates@1.0.0", "--registry", "team")
        self.publish("1.1.0", 3)
        self.publish("1.2.0", 4)
        for asked, version in (("gates@1.1.0", "1.1.0"), ("gates", "1.2.0")):
            self.good("add", asked)
            self.assertIn(f'gates = {{ registry = "team", version = "{version}" }}', (self.project / "allot.toml").read_text())
        self.refused("add", "gates@1.2.0", "--registry", "others", reason="it has 1.0.0")

    def test_a_bundle_has_published_its_version_and_a_folder_has_not(self):
        bundle = self.top / "gates-1.0.0.tar.zst"
        for limit in (2, 3):
            self.gates(limit=limit)
            self.good("pack", "../gates", "--out", bundle)
            if limit == 2:
                self.good("add", bundle)
        self.refused("add", bundle, reason="other files than allot.lock knows of this version")
        self.good("add", "../gates")
        self.gates(limit=4)
        self.good("add", "../gates")
        self.good("add", bundle)

    def test_what_is_installed_needs_no_source(self):
        write(self.top / "base", {"allot.toml": toml("base"), "base.allot": "policy base\nfn f(x: real) -> real = x\n"})
        self.gates(more='[dependencies]\nbase = { registry = "team", version = "1.0.0" }\n')
        for name in ("base", "gates"):
            self.good("publish", f"../{name}", "--registry", "team")
        self.good("add", "../base")  # the same files from two sources
        self.good("add", "gates")
        before = self.lock()
        self.registry.rename(self.top / "away")
        self.good("add")
        self.assertEqual(self.lock(), before)
        shutil.rmtree(self.project / ".allot")
        self.refused("add", reason="the registry `team` has no")


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

    def test_why_a_repository_was_not_read(self):
        for revision in ([], ["--rev", "v1"]):
            told = self.refused("add", "/nowhere/x.git", *revision, reason="git fetch: ")
            self.assertIn("/nowhere/x.git", told.err)
            self.assertNotIn("has no revision", told.err)


class Recorder(http.server.BaseHTTPRequestHandler):
    """Says no, as a proxy too, leads away, or never ends; the server remembers what it was asked for."""

    def log_message(self, *_):
        pass

    def do_CONNECT(self):
        self.server.asked.append(self.path)
        self.send_error(502)

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path.startswith("/endless"):
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x")
                    time.sleep(0.05)
            except OSError:
                self.server.left.set()
        elif self.server.leads_to:
            self.send_response(302)
            self.send_header("Location", self.server.leads_to + self.path)
            self.end_headers()
        else:
            self.send_error(502)


class OnTheWay(Here):
    """Who is asked, and what is left where somebody ends it."""

    def server(self, leads_to=""):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
        server.daemon_threads = True
        server.asked, server.left, server.leads_to = [], threading.Event(), leads_to
        server.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def setting(self, **values):
        clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        patch = unittest.mock.patch.dict(os.environ, {**clean, **values}, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    @unittest.skipUnless((pathlib.Path(ALLOT).parent / "allot-fetch").exists(), "built without libcurl")
    def test_hosts_that_the_environment_keeps_from_the_proxy(self):
        proxy = self.server()
        address = "https://127.0.0.2:1/gates-1.0.0.tar.zst"  # nobody listens there
        self.setting(https_proxy=proxy.address)
        self.refused("add", address, reason="502")
        self.assertEqual(proxy.asked, ["127.0.0.2:1"])
        for name, value in (("no_proxy", "example.invalid,127.0.0.2"), ("NO_PROXY", "127.0.0.2"), ("no_proxy", "*")):
            with self.subTest(name=name, value=value):
                self.setting(https_proxy=proxy.address, **{name: value})
                self.refused("add", address, reason="cannot fetch")
                self.assertEqual(len(proxy.asked), 1)

    def test_git_asks_this_machine_without_a_proxy_and_follows_nobody_from_it(self):
        other = self.server()
        server = self.server(leads_to=other.address)
        proxy = self.server()
        self.setting(http_proxy=proxy.address)
        self.refused("add", f"{server.address}/x.git", reason="git fetch")
        self.assertTrue(server.asked)
        self.assertEqual(proxy.asked, [])
        self.assertEqual(other.asked, [])

    def test_what_was_started_ends_with_who_started_it(self):
        ways = [["--git"]]
        if (pathlib.Path(ALLOT).parent / "allot-fetch").exists():
            ways.append([])
        for way in ways:
            for ending in (signal.SIGTERM, signal.SIGKILL):
                if way and ending == signal.SIGKILL:
                    continue  # what git starts itself notices it when it next writes
                with self.subTest(way=way, ending=ending):
                    server = self.server()
                    work = self.top / "work"
                    work.mkdir(exist_ok=True)
                    self.setting(TMPDIR=str(work))
                    name = "x.git" if way else "gates-1.0.0.tar.zst"
                    adding = subprocess.Popen([ALLOT, "add", f"{server.address}/endless/{name}", *way], cwd=self.project,
                                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                    while not server.asked:
                        self.assertIsNone(adding.poll())
                        time.sleep(0.01)
                    adding.send_signal(ending)
                    _, told = adding.communicate(timeout=30)
                    self.assertTrue(server.left.wait(30), "it goes on")  # a fetch may take 60 s
                    if ending == signal.SIGTERM:
                        self.assertEqual(adding.returncode, 1)
                        self.assertIn("was ended by signal 15", told)
                        self.assertEqual(list(work.iterdir()), [])


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
        self.good("add", f"{self.address}/gates-1.0.0.tar.zst?signature=abc")
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


if __name__ == "__main__":
    unittest.main()
