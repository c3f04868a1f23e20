"""What the end-to-end tests share: a model that is as small as can be, and how to start it."""

import json
import os
import pathlib
import subprocess
import tempfile

ALLOT = os.environ["ALLOT"]
SOURCE = pathlib.Path(os.environ["ALLOT_SOURCE_DIR"])
POLICY = str(SOURCE / "stdlib" / "selective_rollout.allot")

# A model of some thousand parameters that was shown little: its rollouts are poor, and all the machinery runs.
TINY = ["--hidden", "32", "--intermediate", "64", "--layers", "1", "--heads", "2", "--kv-heads", "1",
        "--slots", "3", "--group-size", "4", "--turns", "20", "--warm-up", "10", "--demonstrations", "20",
        "--held-out", "6", "--threads", "1"]
GATE = ["--policy", POLICY, "--set", "at=3", "--set", "threshold=0.9"]


_kept = tempfile.TemporaryDirectory(prefix="allot-end-to-end-")  # goes when the test program ends


def folder():
    return pathlib.Path(tempfile.mkdtemp(dir=_kept.name))


def start(*words, **how):
    return subprocess.Popen([ALLOT, "train", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL, cwd=how.get("cwd", SOURCE))


def train(*words, timeout=300, **how):
    process = start(*words, **how)
    process.out, process.err = process.communicate(timeout=timeout)
    return process


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def figures(run_folder):
    """What must come out the same: every metric of every iteration but the times."""
    found = {}
    for file in sorted(run_folder.glob("seed-*/*/metrics.jsonl")):
        rows = lines(file)
        for row in rows:
            for name in [name for name in row if "second" in name or "share" in name or "per_s" in name]:
                del row[name]
        found[file.parent.name] = rows
    return found


def lines_of_good(path):
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass
    return rows
