"""Runs of the driver that are killed, cut short or starved, and what is left of them."""

import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time

ITERATIONS = 24
CHECKPOINT_EVERY = 3


class Lost(AssertionError):
    """Something that was acknowledged is not there, or is not what an uninterrupted run decides."""


def records(folder):
    """The records of the last telling of each iteration, without what only tells of files."""
    told, lines = {}, None
    for segment in sorted((folder / "journal").glob("*.jsonl")):
        for line in segment.read_text().splitlines(keepends=True):
            if not line.endswith("\n"):
                continue  # the kill cut it off
            record = json.loads(line.replace(str(folder), "RUN"))  # rules are named by the path of their file
            record.pop("crc"), record.pop("sum", None)
            if record["k"] == "resume":
                told = {iteration: kept for iteration, kept in told.items() if iteration < record["it"]}
            elif record["k"] == "begin":
                lines = [record]
            elif record["k"] not in ("run", "pool") and lines is not None:
                lines.append(record)
                if record["k"] == "end":
                    told[record["it"]], lines = lines, None
            elif record["k"] == "run":
                lines = None
    return told


class Driver:
    def __init__(self, program, allot, environment=None):
        self.program, self.allot = str(program), str(allot)
        self.environment = {**os.environ, **(environment or {})}

    def command(self, folder, sleep):
        return [self.program, str(folder), str(ITERATIONS), str(CHECKPOINT_EVERY), str(sleep)]

    def whole(self, folder, **how):
        return subprocess.run(self.command(folder, 0), env=self.environment, capture_output=True, text=True, timeout=120, **how)

    def killed(self, folder, seconds, sleep=60):
        """The lines that it said before it was killed; whether it was done before that."""
        process = subprocess.Popen(self.command(folder, sleep), env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        if process.returncode not in (0, -signal.SIGKILL):
            raise Lost(f"the driver does not resume: {err}")
        return out.split("\n")[:-1]

    def audit(self, folder):
        for words in (["audit", str(folder)], ["replay", "--journal", str(folder)]):
            answer = subprocess.run([self.allot, *words], env={**os.environ}, capture_output=True, text=True, timeout=300)
            if answer.returncode != 0:
                raise Lost(f"allot {' '.join(words)}: {answer.stdout}{answer.stderr}")


def check_acknowledged(folder, said):
    """Everything that was acknowledged is there."""
    ended = [int(line.split()[1]) for line in said if line.startswith("ended")]
    saved = [int(line.split()[1]) for line in said if line.startswith("checkpoint")]
    there = records(folder) if ended else {}
    for iteration in ended:
        if iteration not in there:
            raise Lost(f"iteration {iteration} was acknowledged and is not in the journal")
    if ended:
        state = json.loads((folder / "state.json").read_text()) if (folder / "state.json").exists() else {"iteration": -1}
        if state["iteration"] < ended[-1] - 1:
            raise Lost(f"the state is of iteration {state['iteration']}, but {ended[-1]} was acknowledged")
    if saved and json.loads((folder / "checkpoint.json").read_text())["iteration"] < saved[-1]:
        raise Lost(f"checkpoint {saved[-1]} was acknowledged and is not there")


def same_decisions(folder, reference):
    if records(folder) != reference:
        raise Lost(f"the run in {folder} decided otherwise than the uninterrupted one")


def kills(driver, count, seed=1):
    """Kills runs at `count` random moments. Gives how many were survived, with how many iterations and runs."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="allot-kills-") as name:
        place = pathlib.Path(name)
        driver.whole(place / "whole").check_returncode()
        reference = records(place / "whole")
        survived, runs, iterations, window = 0, 0, 0, 0.12
        while survived < count:
            folder = place / f"run{runs}"
            runs += 1
            while True:
                said = driver.killed(folder, chance.uniform(0.0, window))
                check_acknowledged(folder, said)
                # On a busy machine a process needs longer to get anywhere.
                window *= 0.98 if any(line.startswith("checkpoint") for line in said) else 1.1
                iterations += sum(line.startswith("ended") for line in said)
                if said and said[-1] == "done":
                    break
                survived += 1
                if survived >= count:
                    driver.whole(folder).check_returncode()
                    break
            same_decisions(folder, reference)
            driver.audit(folder)
            shutil.rmtree(folder)
    return {"kills": survived, "runs": runs, "iterations": iterations, "lost": 0}


def small_files(driver):
    """A disk that takes no more in the middle of a run: told, with nothing lost, and the run goes on once there is room."""
    with tempfile.TemporaryDirectory(prefix="allot-full-") as name:
        place = pathlib.Path(name)
        driver.whole(place / "whole").check_returncode()
        reference = records(place / "whole")
        size = sum(file.stat().st_size for file in (place / "whole" / "journal").iterdir())

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))

        answer = driver.whole(place / "run", preexec_fn=limit)
        if answer.returncode != 1 or "Cannot write" not in answer.stderr:
            raise Lost(f"a full disk is not told: {answer.returncode} {answer.stderr}")
        check_acknowledged(place / "run", answer.stdout.splitlines())
        driver.whole(place / "run").check_returncode()
        same_decisions(place / "run", reference)
        driver.audit(place / "run")
    return {"full_disk": answer.stderr.strip()}


def read_only(driver):
    """A folder that cannot be written is told before anything runs."""
    with tempfile.TemporaryDirectory(prefix="allot-read-only-") as name:
        place = pathlib.Path(name)
        driver.whole(place / "run").check_returncode()
        for folder in (place, place / "run", place / "run" / "journal"):
            os.chmod(folder, 0o555)
        # Root may write anywhere.
        how = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            answer = driver.whole(place / "run", **how)
        except PermissionError:
            return {"read_only": "not tried: nobody else may run the driver here"}
        finally:
            for folder in (place, place / "run", place / "run" / "journal"):
                os.chmod(folder, 0o755)
        if answer.returncode != 1 or "ermission denied" not in answer.stderr:
            raise Lost(f"a read-only folder is not told: {answer.returncode} {answer.stderr}")
        if answer.stdout:
            raise Lost("it ran all the same")
    return {"read_only": answer.stderr.strip()}


def saved(folder):
    """Whether a checkpoint tells of an iteration."""
    file = folder / "checkpoint.json"
    return file.exists() and json.loads(file.read_text())["iteration"] >= 0


def damaged_segment(driver):
    """A damaged line of an old segment: the run goes on, and the audit names the line."""
    with tempfile.TemporaryDirectory(prefix="allot-damaged-") as name:
        folder = pathlib.Path(name) / "run"
        seconds = 0.05
        while not saved(folder):  # where a process is slow, or watched, it needs longer to get anywhere
            driver.killed(folder, seconds)
            seconds *= 1.3
        segment = next(file for file in sorted((folder / "journal").iterdir()) if len(file.read_text().splitlines()) > 9)
        lines = segment.read_text().splitlines(keepends=True)
        lines[5] = lines[5].replace(":", ";", 1)
        segment.write_text("".join(lines))
        driver.whole(folder).check_returncode()
        answer = subprocess.run([driver.allot, "audit", str(folder)], capture_output=True, text=True)
        if answer.returncode != 1 or f"{segment.name}:6: the line is damaged" not in answer.stdout:
            raise Lost(f"the damage is not named: {answer.stdout}{answer.stderr}")
        segment.unlink()
        answer = driver.whole(folder)
        if answer.returncode != 1 or "A segment of the journal is missing" not in answer.stderr:
            raise Lost(f"a missing segment is not told: {answer.returncode} {answer.stderr}")
    return {"damaged_segment": "named", "missing_segment": answer.stderr.strip()}
