"""Plays the sessions of docs/operations.md against a run that trains, and shows what they print.

Usage: run.py ALLOT [--write]     --write puts what was printed into the document

All blocks ```session of the page are one session of a shell, in a folder of its own that holds the policies of this one.
While the run trains, an iteration ends before each command, as with a person who reads what was printed; so a command begins
as an iteration does.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parent.parent / "docs" / "operations.md"
BLOCK = re.compile(r"^```session\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
DONE = "-- the command has ended --"


class Shell:
    def __init__(self, allot, folder):
        environment = {**os.environ, "PATH": f"{pathlib.Path(allot).resolve().parent}:{os.environ['PATH']}"}
        self.folder = pathlib.Path(folder)
        self.process = subprocess.Popen(["bash"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        self.process.stdin.write(f"{command}\necho '{DONE}'\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            before, ended, _ = line.partition(DONE)
            lines.append(before)
            if ended:
                break
        return "".join(lines).replace(f"{self.folder}/", "").rstrip()

    # ---- the run that trains

    def server(self):
        """The process that serves requests; none where nobody does."""
        for file in self.folder.glob("runs/first/seed-*/policy/swap/alive.json"):
            try:
                process = json.loads(file.read_text())["process"]
                os.kill(process, 0)
                if pathlib.Path(f"/proc/{process}/stat").read_text().split()[2] != "Z":
                    return process
            except (OSError, ValueError):
                pass
        return None

    def ended(self):
        return sum(line.startswith('{"k":"end"') for file in self.folder.glob("runs/first/seed-*/policy/journal/*.jsonl")
                   for line in file.read_text().splitlines())

    def wait(self, holds, seconds=300):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError((self.folder / "train.log").read_text())
            time.sleep(0.01)

    def settle(self):
        if self.server() is None:
            return
        before = self.ended()
        self.wait(lambda: self.ended() > before or self.server() is None)

    def close(self):
        if process := self.server():
            os.kill(process, signal.SIGKILL)
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def play(allot, text, tell=lambda command, output: None):
    """Each command of the text with what it shows and what it printed now."""
    played = []
    with tempfile.TemporaryDirectory(prefix="allot-operations-") as folder:
        for file in [*HERE.glob("*.allot"), HERE.parent / "hot_swap" / "flip.py"]:
            shutil.copy(file, folder)
        shell = Shell(allot, folder)
        try:
            for block in BLOCK.findall(text):
                for command, shown in COMMAND.findall(block):
                    shell.settle()
                    output = shell.run(command)
                    if "allot train" in command:
                        begun = shell.ended()
                        shell.wait(lambda: shell.server() is not None and shell.ended() > begun + 2)
                    tell(command, output)
                    played.append((command, shown.rstrip(), output))
        finally:
            shell.close()
    return played


def shape(text):
    """The lines without what differs from run to run: numbers, times, sums, and which of two requests is told of first."""
    lines = set()
    for line in text.splitlines():
        line = re.sub(r"\b[0-9a-f]{12}(?:[0-9a-f]{52})?\b", "HASH", line)
        line = re.sub(r"\d+(?:\.\d+)?(?:e-?\d+)?", "N", line)
        lines.add(re.sub(r" +", " ", line).strip())
    return sorted(lines)


def main():
    allot = sys.argv[1]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the run that trains ends with this one
    text = DOCUMENT.read_text()

    def tell(command, output):
        print(f"$ {command}\n{output}" if output else f"$ {command}", flush=True)

    played = iter(play(allot, text, tell))
    if "--write" not in sys.argv[2:]:
        return

    def block(match):
        lines = []
        for command, _ in COMMAND.findall(match.group(1)):
            _, _, output = next(played)
            lines.append(f"$ {command}\n{output}\n" if output else f"$ {command}\n")
        return "```session\n" + "".join(lines) + "```"

    DOCUMENT.write_text(BLOCK.sub(block, text))


if __name__ == "__main__":
    main()
