"""The long runs of what CI tries in short: `./dev soak [PART …]`.

  ledger     random events of the ledger against a plain model (--events, 10 million)
  kills      kill -9 at random moments (--kills, 200), with and without a filesystem's bad manners
  starving   a full disk, a folder that cannot be written, a damaged and a missing segment
  state      a million prompts of state (--prompts): memory and the time of a barrier
  swaps      thousands of swaps with fresh compiles (--swaps): memory stays flat
  operations the sessions of docs/operations.md, played again on a machine that does nothing else
  trainer    kill -9 of `allot train` at random moments (--trainer-kills, 200), a tenth of them with a swap under way

Each part tells its figures; the last line is JSON with all of them. The exit status is 1 where anything was lost."""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import operations
import survival
import trainer

HERE = pathlib.Path(__file__).resolve().parent


def figures(*words):
    """The program's last line, which is JSON."""
    answer = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    sys.stderr.write(answer.stderr)
    if answer.returncode != 0:
        raise survival.Lost(f"{pathlib.Path(words[0]).name}: {answer.stdout}{answer.stderr}")
    return json.loads(answer.stdout.strip().splitlines()[-1])


def ledger(options):
    told = figures(options.build / "tests/soak/ledger_soak", options.events)
    print(f"ledger: {told['events']} events in {told['seconds']} s, each as the model says; {told['crashes']} crashes")
    return told


def kills(options):
    driver, allot = options.build / "tests/soak/run_driver", options.build / "allot"
    shim = options.build / "tests/soak/libbad_filesystem.so"
    begin = time.monotonic()
    plain = survival.kills(survival.Driver(driver, allot), options.kills)
    manners = survival.kills(survival.Driver(driver, allot, {"LD_PRELOAD": str(shim)}), max(1, options.kills // 10), seed=2)
    told = {name: plain[name] + manners[name] for name in plain}
    print(f"kills: {told['kills']} survived in {told['runs']} runs, {told['iterations']} acknowledged iterations, nothing lost "
          f"({time.monotonic() - begin:.0f} s)")
    return told


def starving(options):
    driver = survival.Driver(options.build / "tests/soak/run_driver", options.build / "allot")
    told = {**survival.small_files(driver), **survival.read_only(driver), **survival.damaged_segment(driver)}
    for what, words in told.items():
        print(f"starving: {what}: {words.splitlines()[0]}")
    return told


def state(options):
    told = figures(options.build / "tests/soak/state_soak", options.prompts, 5)
    print(f"state: {told['prompts']} prompts: {told['mib_with_state']} MiB at the end, {told['mib_peak']} at most; a barrier "
          f"that writes to {told['touched']} takes {told['barrier_s']} s and puts {told['written_mib']} MiB on disk, one that "
          f"writes to every prompt takes {told['barrier_of_all_s']} s; a checkpoint takes {told['checkpoint_s']} s, a restore "
          f"{told['restore_s']} s")
    return told


def swaps(options):
    program = options.build / "tests/engine/swap_soak"
    if not program.exists():
        print("swaps: this build has no swap_soak")
        return {}
    told = figures(program, "memory", "--swaps", options.swaps)
    print(f"swaps: {told['swaps']} with fresh compiles, memory grew by {told['growth_mib']:.1f} MiB, the slowest took "
          f"{told['slowest_swap_ms']:.0f} ms")
    # How it compares with a run without swaps is a bench of its own, which a busy machine may fail: `./dev bench swap`.
    load = subprocess.run([str(program), "load", "--rounds", "1"], capture_output=True, text=True)
    rate = json.loads(load.stdout.strip().splitlines()[-1])["events_a_second"]["swapping"]
    print(f"swaps: {rate:.0f} events a second are decided while policies are swapped a thousand times a second")
    return {"survived": told["swaps"], "growth_mib": told["growth_mib"], "events_a_second": round(rate)}


def trainer_part(options):
    allot = options.build / "allot"
    if not (options.build / "allot-train").exists():
        print("trainer: this build has no allot-train")
        return {}
    begin = time.monotonic()
    told = trainer.kills(allot, options.trainer_kills)
    told |= {"swaps_" + name: value for name, value in trainer.pending_swaps(allot, max(1, options.trainer_kills // 10)).items()}
    print(f"trainer: {told['kills']} kills survived in {told['runs']} runs, {told['iterations']} iterations, and {told['swaps_pending']} with "
          f"a swap under way; decisions and weights as in a run without kills ({time.monotonic() - begin:.0f} s)")
    return told


def operations_part(options):
    if not (options.build / "allot-train").exists():
        print("operations: this build has no allot-train")
        return {}
    told = operations.play(options.build / "allot")
    print(f"operations: {told['commands']} commands of docs/operations.md print what the page shows")
    return told


PARTS = {"ledger": ledger, "kills": kills, "starving": starving, "state": state, "swaps": swaps, "operations": operations_part,
         "trainer": trainer_part}


def summary(told, lost):
    """What a reader wants to know, as far as it was tried."""
    parts = []
    if "events_a_second" in told.get("swaps", {}):
        parts += [f"{told['swaps']['events_a_second']} decisions a second", f"{told['swaps']['survived']} swaps survived"]
    killed = sum(told.get(part, {}).get("kills", 0) for part in ("kills", "trainer"))
    if killed:
        parts.append(f"{killed} kills survived")
    return ", ".join([*parts, f"LOST: {', '.join(lost)}" if lost else "nothing lost"])


def main():
    words = argparse.ArgumentParser(prog="./dev soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all where none is named")
    words.add_argument("--build", type=pathlib.Path, default=HERE.parent.parent / "build")
    words.add_argument("--events", type=int, default=10_000_000)
    words.add_argument("--kills", type=int, default=200)
    words.add_argument("--prompts", type=int, default=1_000_000)
    words.add_argument("--swaps", type=int, default=5_000)
    words.add_argument("--trainer-kills", type=int, default=200)
    words.add_argument("--short", action="store_true", help="a minute of each part")
    options = words.parse_args()
    if options.short:
        options.events, options.kills, options.prompts, options.swaps, options.trainer_kills = 1_000_000, 30, 50_000, 200, 10
    if unknown := set(options.parts) - set(PARTS):
        words.error(f"no such part: {', '.join(sorted(unknown))}")
    told, lost = {}, []
    for name in options.parts or PARTS:
        try:
            told[name] = PARTS[name](options)
        except survival.Lost as problem:
            lost.append(name)
            print(f"{name}: LOST: {problem}")
    print(summary(told, lost))
    print(json.dumps({"lost": lost, **told}))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
