"""What the repository must not hold, and what the program must not link."""

import os
import pathlib
import re
import subprocess
import unittest

from program import ALLOT, SOURCE

# Written in two parts, so that this file does not hold them.
MACHINE_PATHS = ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/", "/opt/" + "wheels", "/opt/" + "pypi"]
REGISTRY_HOSTS = [r"py" + r"pi\.org", r"python" + r"hosted\.org", r"deb\.deb" + r"ian\.org", r"debian\." + r"net",
                  r"snapshot\.deb" + r"ian", r"download\.py" + r"torch\.org", r"npm" + r"js\.(com|org)",
                  r"proxy\.go" + r"lang\.org", r"crates" + r"\.io"]
NOT_SOURCE = {"build", ".venv", ".git", "runs", ".cache", "__pycache__"}


def committed_files():
    listed = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [SOURCE / name for name in listed.stdout.split("\0") if name and (SOURCE / name).exists()]
    # A copy without its history, or one that git refuses to read: everything that is not built.
    found = []
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [name for name in folders if name not in NOT_SOURCE]
        found += [os.path.join(folder, name) for name in names]
    return found


class Repository(unittest.TestCase):
    def test_no_path_of_a_machine_and_no_registry(self):
        patterns = [re.compile(r"(?<![\w.-])" + re.escape(path)) for path in MACHINE_PATHS]
        patterns += [re.compile(host) for host in REGISTRY_HOSTS]
        read = 0
        for path in committed_files():
            try:
                text = pathlib.Path(path).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            read += 1
            for pattern in patterns:
                found = pattern.search(text)
                self.assertIsNone(found, f"{path} holds {found.group() if found else ''!r}")
        self.assertGreater(read, 100)

    def test_the_patterns_find_what_they_should(self):
        self.assertTrue(any(re.search(host, "https://py" + "pi.org/simple") for host in REGISTRY_HOSTS))
        self.assertIn("/wo" + "rk/", MACHINE_PATHS)


class Links(unittest.TestCase):
    def needed(self, program):
        dump = subprocess.run(["readelf", "--dynamic", "--wide", program], capture_output=True, text=True, check=True)
        return re.findall(r"\(NEEDED\).*\[(.*)\]", dump.stdout)

    def test_the_program_links_neither_libtorch_nor_llvm(self):
        libraries = self.needed(ALLOT)
        self.assertTrue(any("libc" in name for name in libraries))
        for name in libraries:
            self.assertNotRegex(name.lower(), r"torch|c10|llvm|python")

    def test_llvm_is_not_inside_either(self):
        """Statically linked LLVM would make the program some fifty megabytes large, with symbols to tell."""
        self.assertLess(os.path.getsize(ALLOT), 20 << 20)


if __name__ == "__main__":
    unittest.main()
