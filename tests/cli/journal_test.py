"""allot audit, replay --journal, log and its exports, on a run of the small driver."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from program import ALLOT, allot

DRIVER = os.environ["RUN_DRIVER"]


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return f"{value ^ 0xFFFFFFFF:08x}"


def sealed(record):
    record = {name: value for name, value in record.items() if name != "crc"}
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":"))[:-1]
    return f'{body},"crc":"{crc32c(body.encode())}"}}\n'


class Journal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="allot-journal-"))
        subprocess.run([DRIVER, cls.place / "run", "8", "3", "0"], check=True, stdout=subprocess.DEVNULL)
        cls.run_folder = str(cls.place / "run")
        cls.segment = cls.place / "run" / "journal" / "000001.jsonl"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.place)

    def changed(self, change):
        """A copy of the run in which `change` was made to the first `ask` that it accepts; that line's number."""
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place))
        shutil.copytree(self.run_folder, copy / "run")
        segment = copy / "run" / "journal" / "000001.jsonl"
        lines = segment.read_text().splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            if record["k"] == "ask" and change(record):
                lines[number - 1] = sealed(record)
                segment.write_text("".join(lines))
                return str(copy / "run"), number
        self.fail("no record could be changed")


class Audit(Journal):
    def test_all_agree(self):
        answer = allot("audit", self.run_folder)
        self.assertEqual(answer.code, 0, answer.out + answer.err)
        self.assertRegex(answer.out, r"^\d+ decisions of 8 iterations asked again: all agree\n")
        told = allot("audit", self.run_folder, "--json").json()
        self.assertGreater(told["audited"], 50)
        self.assertEqual((told["differing"], told["damaged"], told["first"]), (0, 0, None))

    def test_a_flipped_verdict_is_found_with_place_and_values(self):
        def flip(record):
            if not record.get("verdict", "").startswith("stop, drop"):
                return False
            record["verdict"] = "train"
            return True

        run, number = self.changed(flip)
        answer = allot("audit", run)
        self.assertEqual(answer.code, 1)
        self.assertIn(f"first difference: journal/000001.jsonl:{number}: iteration", answer.out)
        self.assertIn('verdict was recorded as "train"\n    asked again it is "stop, drop', answer.out)
        self.assertEqual(allot("audit", run, "--json").json()["differing"], 1)

    def test_a_flipped_input_is_found_even_where_the_verdict_stays(self):
        def flip(record):
            if not record["reads"] or not isinstance(record["reads"][0], (int, float)):
                return False
            record["reads"][0] += 1
            return True

        run, number = self.changed(flip)
        answer = allot("audit", run)
        self.assertEqual(answer.code, 1)
        self.assertIn("a line was changed, added or taken out since it was written", answer.out)
        replayed = allot("replay", "--journal", run)
        self.assertEqual(replayed.code, 1)
        self.assertIn(f"first difference: journal/000001.jsonl:{number}: iteration", replayed.out)
        self.assertIn("reads of the record `ask`", replayed.out)

    def test_a_folder_that_is_no_run(self):
        self.assertEqual(allot("audit", str(self.place)).code, 0)  # the run below it
        empty = tempfile.mkdtemp(dir=self.place)
        self.assertEqual(allot("audit", empty).code, 2)


class Replay(Journal):
    def test_the_run_plays_again_to_the_same(self):
        answer = allot("replay", "--journal", self.run_folder)
        self.assertEqual(answer.code, 0, answer.out + answer.err)
        self.assertRegex(answer.out, r"^8 iterations played again from \d+ events: \d+ records, all the same\n")

    def test_misuse(self):
        self.assertEqual(allot("replay", "p.allot", "--journal", self.run_folder).code, 2)
        self.assertEqual(allot("replay").code, 2)


class Log(Journal):
    def test_filters(self):
        rows = [json.loads(line) for line in allot("log", self.run_folder, "--jsonl", "-").out.splitlines()]
        kinds = {row["kind"] for row in rows}
        self.assertLessEqual({"run", "begin", "open", "start", "decision", "close", "events", "end"}, kinds)

        def count(*words):
            return len(allot("log", self.run_folder, "--jsonl", "-", *words).out.splitlines())

        self.assertEqual(count("--iteration", "2..3"), sum(row.get("iteration") in (2, 3) for row in rows))
        self.assertEqual(count("--group", "4"), sum(row.get("group_id") == 4 for row in rows))
        self.assertEqual(count("--kind", "decision"), sum(row["kind"] == "decision" for row in rows))
        prompt = next(row["prompt"] for row in rows if row["kind"] == "open")
        self.assertEqual(count("--prompt", prompt), sum(row.get("prompt") == prompt for row in rows))
        rule = next(row["rule"] for row in rows if row["kind"] == "decision")
        line = rule.rsplit(":", 1)[1]
        self.assertEqual(count("--rule", line), sum(row.get("rule") == rule for row in rows))
        active = next(row for row in rows if row["kind"] == "decision")
        self.assertEqual(active["version"], 0)
        for version in ("0", active["policy"][:8], active["policy"]):
            self.assertEqual(count("--version", version, "--kind", "decision"), sum(row["kind"] == "decision" for row in rows))
        self.assertEqual(count("--version", "1"), 0)
        self.assertIn(f"version 0 ({active['policy'][:12]})", allot("log", self.run_folder, "--version", "0").out)
        for wrong in ("one", "abc", "-1"):
            self.assertNotEqual(allot("log", self.run_folder, "--version", wrong).code, 0)
        self.assertEqual(allot("log", self.run_folder, "--iteration", "9..2").code, 2)

    def test_a_filter_that_fits_nothing_says_so(self):
        answer = allot("log", self.run_folder, "--kind", "nope")
        self.assertEqual((answer.code, answer.out), (0, ""))
        self.assertIn("no record of the run is so; its records are of the kinds", answer.err)
        self.assertIn("decision", answer.err)
        self.assertIn("no record", allot("log", self.run_folder, "--rule", "9999").err)

    def test_sql(self):
        answer = allot("log", self.run_folder, "--json", "--sql",
                       "select count(*) as n, sum(changed) as changed from decisions where iteration < 4")
        self.assertEqual(answer.code, 0, answer.err)
        rows = [json.loads(line) for line in allot("log", self.run_folder, "--jsonl", "-").out.splitlines()]
        early = [row for row in rows if row["kind"] == "decision" and row["iteration"] < 4]
        self.assertEqual(answer.json(), {"n": len(early), "changed": sum(row["changed"] for row in early)})
        words = allot("log", self.run_folder, "--sql", "select fate, count(*) as groups from groups group by fate order by fate")
        self.assertRegex(words.out, r"^fate +groups\n")
        metric = allot("log", self.run_folder, "--json", "--sql", "select value from metrics where name = 'turns' and iteration = 0")
        end = next(row for row in rows if row["kind"] == "end")
        self.assertEqual(metric.json()["value"], end["record"]["metrics"]["turns"])
        for wrong in ("drop table records", "select 1; select 2", "select nothing from records", "attach 'x' as x"):
            self.assertEqual(allot("log", self.run_folder, "--sql", wrong).code, 2, wrong)

    def test_parquet_is_read_by_another_program(self):
        try:
            import pyarrow.parquet
        except ImportError:
            self.skipTest("pyarrow is not installed")
        file = self.place / "records.parquet"
        self.assertEqual(allot("log", self.run_folder, "--parquet", str(file)).code, 0)
        table = pyarrow.parquet.read_table(file).to_pylist()
        rows = [json.loads(line) for line in allot("log", self.run_folder, "--jsonl", "-").out.splitlines()]
        self.assertEqual(len(table), len(rows))
        for found, row in zip(table, rows):
            for name in ("reads", "record"):
                if found[name] is not None:
                    self.assertEqual(json.loads(found.pop(name)), row.pop(name))
            self.assertEqual({name: value for name, value in found.items() if value is not None}, row)

    def test_follow_tells_what_comes_later(self):
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, copy)
        segment = copy / "journal" / "000001.jsonl"
        lines = segment.read_text().splitlines(keepends=True)
        last = max(number for number, line in enumerate(lines) if line.startswith('{"k":"end"'))
        segment.write_text("".join(lines[:last]))
        process = subprocess.Popen([ALLOT, "log", str(copy), "--follow", "--kind", "end"], stdout=subprocess.PIPE, text=True)
        try:
            told = [process.stdout.readline() for _ in range(7)]
            self.assertIn("   6  iteration:", told[-1])
            with segment.open("a") as more:
                more.write(lines[last][:50])
                more.flush()
                time.sleep(0.3)
                more.write(lines[last][50:])
            self.assertIn("   7  iteration:", process.stdout.readline())
        finally:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    unittest.main()
