"""The language beside its peers, in one run: ratios, never times alone.

Each line alternates both sides and gives peer time over ours, from the fastest and from the median of all rounds. Time is
processor time, one thread on both sides. A ratio counts only where both give the same rules. `python language.py [--rounds N] [--row TEXT] [--groups N]`.
"""
import argparse
import gc
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")   # one core on both sides

import allot  # noqa: E402
import peers  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TEXT = (HERE / "allocation.allot").read_text(encoding="utf-8")


def clock():
    """Seconds of processor time of this process and of those it waited for: what others do on the machine counts less."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def once(call, least=0.02):
    """Seconds a call, over as many calls as take `least` seconds."""
    start = clock()
    call()
    calls = max(1, int(least / max(clock() - start, 1e-7)))
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls


def shown(seconds):
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


class Table:
    def __init__(self, rounds, wanted):
        self.rounds, self.wanted = rounds, wanted
        self.missed = 0
        print(f"{'row':<4} {'what':<34} {'peer':<30} {'ours':>9} {'peer':>9} {'fastest':>9} {'median':>9} {'must':>7}")

    def wants(self, row):
        return self.wanted in ("", row)

    def compare(self, row, what, ours, others, units=1, rounds=None):
        """`others`: (name, call or None, least ratio). All of them in turn, again and again."""
        if not self.wants(row):
            return
        calls = [ours] + [call for _, call, _ in others]
        times = [[] for _ in calls]
        for call in calls:
            if call:
                call()
        gc.collect()
        gc.disable()
        for _ in range(rounds or self.rounds):
            for call, seen in zip(calls, times):
                if call:
                    seen.append(once(call) / units)
        gc.enable()
        own = times[0]
        for (name, call, least), seen in zip(others, times[1:]):
            if not call:
                print(f"{row:<4} {what:<34} {name:<30} {shown(min(own)):>9} {'not measured':>29} {least:>7.3g}")
                continue
            fastest, median = min(seen) / min(own), statistics.median(t / o for t, o in zip(seen, own))
            met = median >= least
            self.missed += not met
            print(f"{row:<4} {what:<34} {name:<30} {shown(min(own)):>9} {shown(min(seen)):>9} {fastest:>8.2f}x "
                  f"{median:>8.2f}x {least:>6.3g}x  {'met' if met else 'NOT MET'}", flush=True)


def batch(table, count):
    np, numba, polars = (peers.optional(name) for name in ("numpy", "numba", "polars"))
    if np is None:
        print("3    a batch needs numpy, which is missing: not measured")
        return
    columns = peers.states(np, count)
    order = [columns[name] for name in ("t", "d", "s", "f", "cost")]
    decide = allot.Decider(TEXT)
    ours = [columns[name] for name in decide.facts]
    rules, out = np.empty(count, np.int8), np.empty(count, np.int8)
    if decide.batch(*ours, rules) != 0:
        sys.exit("a row of the batch faulted")
    if not np.array_equal(rules, peers.numpy_batch(np, *order)):
        sys.exit("the batch and numpy differ")
    loop, flat = peers.numba_batch(numba) if numba else (None, None)
    if numba:
        loop(*order, out)
        if not np.array_equal(rules, out):
            sys.exit("the batch and numba differ")
    frame = peers.polars_batch(polars, columns) if polars else None
    if frame and frame() != int(rules.sum(dtype=np.int64)):
        sys.exit("the batch and polars differ")
    table.compare("3", f"a batch of {count}, a decision", lambda: decide.batch(*ours, rules), [
        ("numba, a loop", numba and (lambda: loop(*order, out)), 8),
        ("polars expression", frame, 6),
        ("numpy select", lambda: peers.numpy_batch(np, *order), 20),
        ("numba, flattened by hand", numba and (lambda: flat(*order, out)), 0.85)], units=count)


def single(table):
    decide = allot.Decider(TEXT)
    rows = [(i % 30, 0.05 * (i % 97), i % 5, i % 7, 0.01 * (i % 11)) for i in range(1000)]
    at = [("t", "d", "s", "f", "cost").index(name) for name in decide.facts]
    if at != [0, 1, 2, 3, 4]:
        sys.exit("facts stand in another order than the inputs of the policy")
    python = peers.python_function()
    rust, cpp = peers.optional("cel"), peers.optional("cel_expr_python.cel")
    calls = {"python": python, "rust": rust and peers.cel_rust(rust), "cpp": cpp and peers.cel_cpp(cpp)}
    expected = [python(*row) for row in rows]
    for name, call in [("allot", decide), *calls.items()]:
        if call and [call(*row) for row in rows] != expected:
            sys.exit(f"{name} gives other rules than Python")

    def each(call, rows):
        def run():
            for t, d, s, f, cost in rows:
                call(t, d, s, f, cost)
        return call and run
    table.compare("3b", "a call from Python", each(decide, rows), [
        ("Python function", each(python, rows), 1.5), ("CEL in Rust", each(calls["rust"], rows), 30),
        ("CEL in C++", each(calls["cpp"], rows), 40)], units=1000)


def first_decision(table):
    def exec_source():
        space = {}
        exec(peers.SOURCE, space)
        return space["decide"](*peers.ARGUMENTS)
    numba, llvm = peers.optional("numba"), peers.optional("llvmlite.binding")

    def numba_first():
        return numba.njit(cache=False)(peers.python_function())(*peers.ARGUMENTS)
    ours = {compiled: (lambda compiled=compiled: allot.Decider(TEXT, compiled=compiled)(*peers.ARGUMENTS))
            for compiled in (False, True)}
    if {ours[False](), ours[True]()} != {exec_source()}:
        sys.exit("the first decision differs from Python's")
    table.compare("6", "text to first decision", ours[False], [
        ("Python exec", exec_source, 1), ("numba, first call", numba and numba_first, 500)])
    table.compare("6b", "text to optimised code", ours[True], [
        ("numba, first call", numba and numba_first, 10),
        ("LLVM O2 from ready IR", llvm and peers.llvm_compiler(llvm), 1 / 1.3)])


def cold(table, program):
    numba = peers.optional("numba")
    code = f"import numba\nspace = {{}}\nexec({peers.SOURCE!r}, space)\nnumba.njit(space['decide'])(*{peers.ARGUMENTS})"

    def process(*command):
        return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    table.compare("6c", "a cold process, first policy", process(program, "test", str(HERE / "first.allot")), [
        ("numba, first policy", numba and process(sys.executable, "-c", code), 15)], rounds=min(table.rounds, 5))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--row", default="", help="this row alone: 3, 3b, 6, 6b, 6c")
    parser.add_argument("--groups", type=int, default=1_000_000)
    parser.add_argument("--program", default=str(HERE.parents[1] / "build" / "allot"))
    options = parser.parse_args()
    table = Table(options.rounds, options.row)
    if table.wants("3"):
        batch(table, options.groups)
    if table.wants("3b"):
        single(table)
    if table.wants("6") or table.wants("6b"):
        first_decision(table)
    if table.wants("6c"):
        cold(table, options.program)
    print("every `must` that was measured is met" if table.missed == 0 else f"{table.missed} not met")


if __name__ == "__main__":
    main()
