"""docs/operations.md is played: every command prints what the page shows, up to numbers, times and hashes of a run.

Whether a request comes before or after the end of an iteration depends on the machine, so this belongs to no test that must
pass on a busy one.
"""

import pathlib
import sys

import survival

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "operations"))
import run  # noqa: E402


def play(allot):
    played = run.play(allot, run.DOCUMENT.read_text())
    other = [(command, shown, output) for command, shown, output in played if run.shape(output) != run.shape(shown)]
    if other:
        command, shown, output = other[0]
        raise survival.Lost(f"{len(other)} of {len(played)} commands of docs/operations.md print something else now; the first:\n"
                            f"$ {command}\n{output}\n-- the page shows\n{shown}")
    return {"commands": len(played)}
