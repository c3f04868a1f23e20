"""A training run that is killed at random moments and resumed: journal, decisions and weights against those of a run that
nobody interrupted, and requests for swaps that were under way at the kill."""

import hashlib
import json
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

from survival import Lost, records

ITERATIONS = 10
# A small model that was shown enough to take valid turns; what it is rewarded for beside success (the policy's `score`)
# differs from rollout to rollout, so that every update moves the weights.
TINY = ["--hidden", "64", "--intermediate", "128", "--layers", "1", "--heads", "2", "--kv-heads", "1", "--slots", "3",
        "--group-size", "4", "--turns", "12", "--warm-up", "200", "--demonstrations", "300", "--held-out", "4", "--threads", "1",
        "--seed", "7", "--arms", "policy", "--keep-events", "--quiet"]
POLICY = """policy gate
param most: real = {most}
hit when reward >= 1
budget 5000 rollouts per run
refill at most 2 rounds then train_partial
state belief: beta per prompt = beta(1, 1) decay 0.95
state seen: groups per run = 0
on turn 3 of group g {{
  when (mean_pairwise(normalized_edit_distance, prefixes(g.actions, 3, padded)) ?? 1) < 0.4 and draw("gate") < 0.5
    then stop, drop, refill because "{{belief[g.prompt]}}, {{seen}} seen"
  otherwise continue
}}
on score of rollout r {{ set reward = r.reward + r.tokens / 100 tokens }}
on finish of group g {{
  when (mean(g.raw_rewards) ?? 0) > most then drop because "mean {{mean(g.raw_rewards) ?? 0}}"
  otherwise train
}}
on update of batch b {{
  for each g in b.ended {{ remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses) }}
  remember seen = seen + b.size
}}
"""


class Trainer:
    def __init__(self, allot, place):
        self.allot, self.place = str(allot), pathlib.Path(place)
        self.policy = self.place / "gate.allot"
        self.policy.write_text(POLICY.format(most=3))
        # A checkpoint of the beginning, so that no kill lands in the same warm-up again.
        self.begun = self.place / "begun"
        self.run_to_end(self.begun, iterations=1)

    def fresh(self, name):
        """A run with one iteration behind it."""
        run = self.place / name
        shutil.copytree(self.begun, run)
        return run

    def command(self, run, iterations, *more):
        resume = ["--resume"] if (run / "settings.json").exists() else []
        return [self.allot, "train", *TINY, "--policy", str(self.policy), "--run", str(run), "--iterations", str(iterations), *resume,
                *more]

    def start(self, run, *more, iterations=ITERATIONS):
        return subprocess.Popen(self.command(run, iterations, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_to_end(self, run, *more, iterations=ITERATIONS):
        process = self.start(run, *more, iterations=iterations)
        out, err = process.communicate(timeout=600)
        if process.returncode != 0:
            raise Lost(f"the trainer does not go on: {out}{err}")

    def ask(self, *words, good=(0,)):
        answer = subprocess.run([self.allot, *map(str, words)], capture_output=True, text=True, timeout=300)
        if answer.returncode not in good:
            raise Lost(f"allot {' '.join(map(str, words))}: {answer.stdout}{answer.stderr}")
        return answer

    def audit(self, arm):
        self.ask("audit", arm)
        told = json.loads(self.ask("replay", "--journal", arm, "--json").stdout)
        if told["swapped"]:
            raise Lost(f"the replay ends at {told['swapped']}")
        return told


def arm_of(run):
    return run / "seed-7" / "policy"


def whole_lines(file):
    return [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")] if file.exists() else []


def weights(run):
    """What was learnt: the weights and the optimiser's state, by their content."""
    return {name: hashlib.sha256((arm_of(run) / "checkpoint" / name).read_bytes()).hexdigest()
            for name in ("model.safetensors", "optimizer.safetensors")}


def acknowledged(run):
    """Iterations of which somebody was told: a row of metrics, or a checkpoint after them."""
    arm = arm_of(run)
    told = {json.loads(line)["iteration"] for line in whole_lines(arm / "metrics.jsonl")}
    checkpoint = arm / "checkpoint" / "training.json"
    after = json.loads(checkpoint.read_text())["iteration"] if checkpoint.exists() else 0
    return told | set(range(after))


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode != 0  # else it had ended by itself


def check(run):
    """After a kill, what was acknowledged is in the journal. Gives what is there."""
    there = records(arm_of(run))
    if missing := acknowledged(run) - set(there):
        raise Lost(f"iterations {sorted(missing)} were acknowledged and are not in the journal")
    return set(there)


def kills(allot, count, seed=1):
    """Kills at `count` random moments, each resumed; the runs end as one that was not interrupted."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="allot-trainer-") as name:
        trainer = Trainer(allot, name)
        whole = trainer.fresh("whole")
        begin = time.monotonic()
        trainer.run_to_end(whole)
        window = time.monotonic() - begin
        reference, learnt = records(arm_of(whole)), weights(whole)
        if learnt["model.safetensors"] == weights(trainer.begun)["model.safetensors"]:
            raise Lost("the run learns nothing, so equal weights would say nothing")
        survived, runs, iterations = 0, 0, 0
        while survived < count:
            run = trainer.fresh(f"run{runs}")
            runs += 1
            before = check(run)
            while survived < count:
                process = trainer.start(run)
                time.sleep(chance.uniform(0, window))
                was_killed = kill(process)
                # Some land in the start of the process, most in its iterations.
                window *= 1.05 if was_killed else 0.8
                now = check(run)
                iterations += len(now - before)
                before = now
                survived += was_killed
                if not was_killed:
                    break
            trainer.run_to_end(run)
            there = records(arm_of(run))
            if there != reference:
                raise Lost(f"the run in {run} decided otherwise than the uninterrupted one")
            if weights(run) != learnt:
                raise Lost("the weights are not those of the uninterrupted run")
            trainer.audit(arm_of(run))
            shutil.rmtree(run)
    return {"kills": survived, "runs": runs, "iterations": iterations, "lost": 0}


def pending_swaps(allot, count, seed=2):
    """Kills while a request for a swap is under way: it is carried out after the resume, and once."""
    chance = random.Random(seed)
    outcomes = {"before": 0, "after": 0}  # whether the journal told of the swap when the process was killed
    with tempfile.TemporaryDirectory(prefix="allot-trainer-swap-") as name:
        trainer = Trainer(allot, name)
        for number in range(count):
            run = trainer.fresh(f"run{number}")
            arm = arm_of(run)
            other = trainer.place / f"other{number}.allot"
            other.write_text(POLICY.format(most=1 + (number + 1) / 100))
            wanted = hashlib.sha256(other.read_bytes()).hexdigest()
            process = trainer.start(run, iterations=1000)
            wait_for(process, lambda: len(acknowledged(run)) >= 3)
            asking = subprocess.Popen([trainer.allot, "swap", str(arm), str(other), "--wait", "60"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            requests = arm / "swap" / "requests"  # what is still being written was not asked yet
            wait_for(process, lambda: any(file.suffix in (".json", ".taken") for file in requests.glob("*")) or asking.poll() is not None)
            time.sleep(chance.choice([0, 0.02, 0.2, 1, 2]))
            asking.kill()  # it would take its request back once it sees that nobody serves any more
            asking.wait()
            kill(process)
            there = check(run)
            applied = any(swap["outcome"] == "active" for swap in swaps(arm))
            outcomes["before" if applied else "after"] += 1
            trainer.run_to_end(run, iterations=max(there) + 4)
            taken = [swap for swap in swaps(arm) if swap["outcome"] == "active" and swap["to"] == wanted]
            state = json.loads((arm / "state.json").read_text())
            if len(taken) != 1 or state["policy"] != wanted:
                raise Lost(f"the request made {len(taken)} swaps; {state['policy'][:12]} is active, not {wanted[:12]}")
            if list(requests.iterdir()):
                raise Lost("the request is still there after it was carried out and saved")
            trainer.audit(arm)
            shutil.rmtree(run)
    return {"pending": count, **outcomes, "lost": 0}


def swaps(arm):
    """Of the last telling of each iteration; one between two iterations is told with the one that follows."""
    told = {}
    for segment in sorted((arm / "journal").glob("*.jsonl")):
        lines = []
        for line in whole_lines(segment):
            record = json.loads(line)
            if record["k"] == "resume":
                told = {iteration: kept for iteration, kept in told.items() if iteration < record["it"]}
            if record["k"] == "swap":
                lines.append(record)
            if record["k"] == "end":
                told[record["it"]], lines = lines, []
    return [record for lines in told.values() for record in lines]


def wait_for(process, holds, seconds=120):
    end = time.monotonic() + seconds
    while not holds():
        if process.poll() is not None or time.monotonic() > end:
            raise Lost(f"the run did not get so far: {process.stderr.read() if process.poll() is not None else 'too slow'}")
        time.sleep(0.01)
