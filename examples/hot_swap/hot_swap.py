"""Drives a training run through two swaps and a rollback. Usage: hot_swap.py ALLOT POLICIES [FOLDER]"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from flip import flip_one_value

ALLOT, POLICIES = sys.argv[1], pathlib.Path(sys.argv[2])
GROUPS_EACH = 20  # that every version decides at least
TRAIN = ["--arms", "policy", "--seed", "7", "--iterations", "16", "--slots", "8", "--group-size", "4", "--warm-up", "700",
         "--demonstrations", "1600", "--turns", "12", "--held-out", "8"]


def say(text):
    print(text, flush=True)


def fail(text):
    sys.exit(f"hot_swap: {text}")


def allot(*words, codes=(0,)):
    """Standard output of one command; it is shown first, as a person would type it."""
    say("$ allot " + " ".join(str(word) for word in words))
    done = subprocess.run([ALLOT, *map(str, words)], capture_output=True, text=True)
    if done.returncode not in codes:
        fail(f"exit {done.returncode}: {done.stdout}{done.stderr}")
    return done


def metrics(arm):
    try:
        lines = (arm / "metrics.jsonl").read_text().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def decided(arm, version):
    return sum(line.get(f"version/{version}/decisions", 0) for line in metrics(arm))


def wait_until(process, holds, seconds=600):
    end = time.monotonic() + seconds
    while not holds():
        if process.poll() is not None:
            fail(f"the run ended early: {process.stderr.read()}")
        if time.monotonic() > end:
            fail("the run did not get so far in time")
        time.sleep(0.05)


def records(arm):
    for segment in sorted((arm / "journal").glob("*.jsonl")):
        for line in segment.read_text().splitlines():
            yield json.loads(line)


def state_before(arm, version):
    """belief by prompt, as of the swap that replaced this version: [alpha, beta] pairs in the bits of their cells."""
    (kept,) = (arm / "versions").glob(f"state-{version}-*.json")  # named by the place in the journal too
    snapshot = json.loads(kept.read_text())
    return {prompt: cells[0] for prompt, cells in snapshot["prompts"].items()}


def bits(value):
    import struct

    return struct.unpack("<Q", struct.pack("<d", value))[0]


def state_carried(arm, before, after):
    """What the new version read before its first barrier is what the old one had left. Gives how many were compared."""
    kept = state_before(arm, before)
    prompts, compared = {}, 0
    for record in records(arm):
        if record["k"] == "open":
            prompts[record["g"]] = record["prompt"]
        if record["k"] == "end" and compared:
            return compared
        if record["k"] not in ("ask", "same") or record.get("v", 0) != after:
            continue
        packed = record["k"] == "same"
        for group, states in zip(record["g"], record["states"]) if packed else [(record["g"], record["states"])]:
            if group < 0 or not states:
                continue
            read = states[0][0]
            expected = kept.get(prompts[group], [[bits(1.0), bits(1.0), 1]])[0]
            if [bits(read[0]), bits(read[1])] != expected[:2]:
                fail(f"version {after} read {read} for {prompts[group]}, which is not what was remembered")
            compared += 1
    return compared


def plan(policy, arm):
    told = json.loads(allot("plan", policy, "--on", arm, "--json").stdout)
    say(f"  {told['changed']} of {told['groups']} groups would be decided otherwise")
    for change, count in told["counts"].items():
        say(f"    {change}: {count}")
    if told["changed"] < 1:
        fail("the plan names no group that would be decided otherwise")
    return told["changed"]


def swap(*words):
    told = json.loads(allot(*words, "--json").stdout)
    say(f"  {told['outcome']}: version {told['version']}, {told['to'][:12]}, after {1000 * told['seconds']:.0f} ms")
    return told


def main(folder):
    run = folder / "run"
    arm = run / "seed-7" / "policy"
    command = [ALLOT, "train", "--policy", str(POLICIES / "gate.allot"), "--run", str(run), "--quiet", *TRAIN]
    say("$ allot " + " ".join(command[1:]) + " &")
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        changed = []
        wait_until(process, lambda: decided(arm, 0) >= GROUPS_EACH)
        for version, name in enumerate(["tighter", "tightest"]):
            changed.append(plan(POLICIES / f"{name}.allot", arm))
            expected = json.loads((arm / "swap" / "alive.json").read_text())["policy"]
            told = swap("swap", arm, POLICIES / f"{name}.allot", "--expect", expected[:12])
            if told["outcome"] != "active" or told["state"]["kept"] != ["belief"]:
                fail(f"the swap came out otherwise: {told}")
            wait_until(process, lambda: decided(arm, version + 1) >= GROUPS_EACH)
        changed.append(plan(POLICIES / "tighter.allot", arm))
        if swap("rollback", arm, "--state", "now")["outcome"] != "active":
            fail("the rollback was refused")
        wait_until(process, lambda: decided(arm, 3) >= GROUPS_EACH)
        if process.wait() != 0:
            fail(f"the run failed: {process.stderr.read()}")
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()

    for before, after in [(0, 1), (1, 2), (2, 3)]:
        say(f"state read by version {after} is what version {before} left: {state_carried(arm, before, after)} values")
    decisions = [decided(arm, version) for version in range(4)]
    say(f"decisions by version: {[int(each) for each in decisions]}")
    if min(decisions) < GROUPS_EACH:
        fail("a version decided fewer groups than it should have")
    audit = json.loads(allot("audit", arm, "--json").stdout)
    flipped = folder / "flipped"
    shutil.copytree(arm, flipped)
    if flip_one_value(flipped) is None:
        fail("no record to flip was found")
    found = allot("audit", flipped, codes=(0, 1))
    say("  " + found.stdout.strip().replace("\n", "\n  "))
    if found.returncode != 1:
        fail("the audit did not find the record that was flipped")
    say(json.dumps({"swaps": 3, "decisions": int(sum(decisions)), "audited": audit["audited"], "differing": audit["differing"],
                    "changed": sum(changed), "changed_by_swap": changed, "flip_found": True}))


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[3]:
        chosen = pathlib.Path(sys.argv[3])
        if chosen.exists():
            fail(f"{chosen} exists already")
        chosen.mkdir(parents=True)
        main(chosen)
    else:
        with tempfile.TemporaryDirectory(prefix="allot-hot-swap-") as temporary:
            main(pathlib.Path(temporary))
