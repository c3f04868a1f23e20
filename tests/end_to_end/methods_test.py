"""Every method of stdlib/ decides inside the native trainer: a few iterations of a tiny model in a world that gives flat and
mixed groups. What is looked at is the journal: each handler was asked, answered by one of its rules, and never faulted."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import unittest

from runs import ALLOT, SOURCE, folder

HERE = pathlib.Path(__file__).parent

SMALL = ["--world", "process", "--world-command", f"{sys.executable} -S {HERE / 'lottery.py'}", "--worlds", "4",
        "--hidden", "16", "--intermediate", "32", "--layers", "1", "--heads", "2", "--kv-heads", "1",
        "--slots", "3", "--group-size", "4", "--tokens-per-turn", "3", "--warm-up", "1", "--demonstrations", "2",
        "--held-out", "1", "--threads", "1", "--iterations", "3", "--arms", "policy", "--quiet"]

# Smaller numbers than published, where a method's own would ask for hundreds of rollouts or more turns than there are.
SMALLER = {
    "adaptive_consistency": ["most=4"],
    "cero": ["unit=2", "capacity=6"],
    "gfpo": ["kept=2"],
    "gigpo": [],
    "hora": ["first=2", "most=3", "spend=12"],
    "hora_rloo": ["hora.first=2", "hora.most=3", "hora.spend=12"],
    "knapsack_rl": ["each=4", "high=8"],
    "pilot_commit": ["pilot=2", "total=4", "low=0"],
    "pods": ["kept=2"],
    "pods_max_reward": ["kept=2"],
    "pods_percentile": ["kept=2"],
    "pods_random": ["kept=2"],
    "reinforce_ada": ["round=2", "most=6"],
    "sara": ["size=4"],
    "sara_dps": ["sara.size=4"],
    "selective_rollout": ["at=2"],
    "selective_rollout_ds": ["selective_rollout.at=2"],
    "speed_rl": ["screen=2", "rest=2"],
    "sprt": ["size=6"],
    "support_reshaping": ["attempts=4", "window=2"],
    "trace": ["spend=12", "most=6"],
    "vigor": ["rounds=2"],
    "vip": ["each=4"],
    "vip_dr_grpo": ["each=4"],
    "vip_rloo": ["vip.each=4"],
    "xrpo": ["first=2", "most=3", "spend=12"],
}
INPUTS = {
    "ada_rft": {"difficulty": 40}, "pcl": {"value": 0.4}, "think_prior": {"anchor_hits": 1, "anchor_rollouts": 4},
    "vip": {"predicted": 0.4}, "vip_dr_grpo": {"predicted": 0.4}, "vip_rloo": {"predicted": 0.4},
}
# What the trainer cannot do yet: refused before anything runs.
REFUSED = {
    "arpo": "branches rollouts, which this host cannot do",
    "trace_prefixes": "branches rollouts, which this host cannot do",
}
POLICIES = sorted(path.stem for path in (SOURCE / "stdlib").glob("*.allot"))


def inputs_file(name, place):
    tasks = [f"{kind}-{i}" for i in range(5) for kind in ["always", "never", "either"]]
    path = place / f"{name}.json"
    path.write_text(json.dumps({fact: {task: value for task in tasks} for fact, value in INPUTS[name].items()}))
    return ["--inputs", str(path)]


def run_method(name, place):
    words = [ALLOT, "train", *SMALL, "--policy", str(SOURCE / "stdlib" / f"{name}.allot"), "--run", str(place / name)]
    for setting in SMALLER.get(name, []):
        words += ["--set", setting]
    if name in INPUTS:
        words += inputs_file(name, place)
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=SOURCE, timeout=300)


def journal(run_folder):
    files = sorted((run_folder / "seed-7" / "policy" / "journal").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def metrics(run_folder):
    return run_folder / "seed-7" / "policy" / "metrics.jsonl"


class Methods(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = folder()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            cls.ended = dict(zip(POLICIES, pool.map(lambda name: run_method(name, cls.place), POLICIES)))

    def test_there_are_methods(self):
        self.assertGreater(len(POLICIES), 35)
        for name in [*SMALLER, *INPUTS, *REFUSED]:
            self.assertIn(name, POLICIES)

    def test_each_decides(self):
        for name in POLICIES:
            if name in REFUSED:
                continue
            with self.subTest(name):
                self.assertEqual(self.ended[name].returncode, 0, self.ended[name].stderr)
                records = journal(self.place / name)
                handlers = records[0]["policy"]["handlers"]
                answers = [record for record in records if record["k"] in ("ask", "same")]
                self.assertEqual([answer["fault"] for answer in answers if "fault" in answer], [])
                for index, handler in enumerate(handlers):
                    if handler["text"].startswith("loss"):  # asked of every token: metrics count, the journal does not tell
                        rows = [json.loads(line) for line in metrics(self.place / name).read_text().splitlines()]
                        self.assertGreater(sum(row["loss/tokens"] for row in rows), 0)
                        self.assertEqual(sum(row["loss/faults"] for row in rows), 0)
                        continue
                    of_it = [answer for answer in answers if answer["h"] == index]
                    self.assertTrue(of_it, f"`on {handler['text']}` was never asked")
                    rules = range(len(handler["rules"]))
                    if rules:
                        self.assertTrue(all(answer["r"] in rules for answer in of_it), handler["text"])
                        self.assertTrue(all(answer["k"] == "same" or answer["verdict"] for answer in of_it))
                self.assertEqual(sum(record["k"] == "end" for record in records), 3)

    def test_what_the_trainer_cannot_do_is_refused_with_the_reason(self):
        for name, reason in REFUSED.items():
            with self.subTest(name):
                self.assertNotEqual(self.ended[name].returncode, 0)
                self.assertIn(reason, self.ended[name].stderr)
                self.assertFalse((self.place / name).exists())


if __name__ == "__main__":
    unittest.main()
