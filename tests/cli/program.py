"""Runs the built program as a person would, and tells what came back."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

ALLOT = os.environ["ALLOT"]
SOURCE = pathlib.Path(os.environ["ALLOT_SOURCE_DIR"])


class Answer:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def json(self):
        return json.loads(self.out)


def allot(*words, stdin="", cwd=SOURCE, timeout=60):
    return Answer(subprocess.run([ALLOT, *words], input=stdin, capture_output=True, text=True, cwd=cwd, timeout=timeout))


def policy_file(text, name="policy.allot"):
    """A path of a fresh file with this text; it lies in a folder of its own."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="allot-test-")) / name
    # Lines `# file NAME.allot` begin other files beside it, which it may name.
    first, *others = re.split(r"^# file (\S+)\n", text, flags=re.MULTILINE)
    path.write_text(first)
    for other, content in zip(others[::2], others[1::2]):
        beside = path.parent / other
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(content)
    return str(path)
