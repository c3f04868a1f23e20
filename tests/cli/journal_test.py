"""allot audit, replay --journal, log and its exports, on a run of the small driver."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from program import ALLOT, allot, policy_file
from swap_test import rollout

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


def sums_anew(lines):
    """The lines of one process with sums that fit again, as who rewrites them would make them."""
    chain, checksums, made = None, "", []
    for line in lines:
        record = json.loads(line)
        if record["k"] == "run":
            chain = record["sum"]
        elif record["k"] == "end":
            chain = record["sum"] = hashlib.sha256((chain + checksums).encode()).hexdigest()
        if record["k"] in ("run", "end"):
            checksums = ""
        made.append(sealed(record))
        checksums += json.loads(made[-1])["crc"]
    return made


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
        for command in ("audit", "log"):
            above = allot(command, str(self.place))  # some folder, not that of a run with its arms
            self.assertEqual(above.code, 2)
            self.assertIn(self.run_folder, above.err)
        empty = tempfile.mkdtemp(dir=self.place)
        self.assertEqual(allot("audit", empty).code, 2)

    def test_a_run_with_arms(self):
        run = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, run / "seed-7" / "policy")
        (run / "settings.json").write_text("{}")
        for folder in (run, run / "seed-7", run / "seed-7" / "policy"):
            self.assertEqual(allot("audit", str(folder)).code, 0)


class Chain(unittest.TestCase):
    """A run of three processes, and what somebody does to its segments."""

    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="allot-chain-"))
        cls.run_folder = cls.place / "run"
        for iterations in (4, 7, 9):
            cls.drive(cls.run_folder, iterations).check_returncode()
        cls.sum = allot("audit", str(cls.run_folder), "--json").json()["sum"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.place)

    @staticmethod
    def drive(folder, iterations):
        return subprocess.run([DRIVER, folder, str(iterations), "3", "0"], capture_output=True, text=True)

    def attack(self, change):
        """What the audit says of a copy to which `change` was made, and the copy; it must find something."""
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, copy)
        change(copy / "journal")
        answer = allot("audit", str(copy))
        self.assertEqual(answer.code, 1, answer.out + answer.err)
        return answer.out, copy

    @staticmethod
    def edit(journal, number, change):
        segment = journal / f"{number:06}.jsonl"
        segment.write_text("".join(change(segment.read_text().splitlines(keepends=True))))

    @staticmethod
    def other_fate(lines):
        at = next(i for i, line in enumerate(lines) if json.loads(line)["k"] == "close")
        record = json.loads(lines[at])
        record["fate"] = "dropped" if record["fate"] == "trained" else "trained"
        return sums_anew([*lines[:at], sealed(record), *lines[at + 1:]])

    def test_an_untouched_run_agrees_and_has_the_sums_it_had(self):
        answer = allot("audit", str(self.run_folder), "--kept", self.sum)
        self.assertEqual(answer.code, 0, answer.out + answer.err)
        self.assertIn(f"sum of the journal: {self.sum}", answer.out)
        lines = (self.run_folder / "journal" / "000003.jsonl").read_text().splitlines(keepends=True)
        self.assertEqual(sums_anew(lines), lines)
        last = json.loads(lines[-1])
        self.assertEqual(hashlib.sha256((last["sum"] + last["crc"]).encode()).hexdigest(), self.sum)
        self.assertEqual(json.loads((self.run_folder / "state.json").read_text())["journal"], {"segment": 3, "sum": self.sum})

    def test_a_segment_rewritten_with_its_own_sums(self):
        said, _ = self.attack(lambda journal: self.edit(journal, 1, self.other_fate))
        self.assertIn("to journal/000002.jsonl:1 (up to where a process began): a line or a segment was changed", said)
        said, copy = self.attack(lambda journal: self.edit(journal, 3, self.other_fate))
        self.assertIn("journal/000003.jsonl: state.json stands on an iteration that ended there", said)
        resumed = self.drive(copy, 12)
        self.assertEqual(resumed.returncode, 1)
        self.assertIn("000003.jsonl", resumed.stderr)
        (copy / "state.json").unlink()
        self.assertEqual(allot("audit", str(copy)).code, 0)
        self.assertEqual(allot("audit", str(copy), "--kept", self.sum).code, 1)

    def test_a_segment_deleted(self):
        for number in (1, 2, 3):
            said, copy = self.attack(lambda journal: (journal / f"{number:06}.jsonl").unlink())
            self.assertIn(f"{number:06}.jsonl", said)
            resumed = self.drive(copy, 12)
            self.assertEqual(resumed.returncode, 1)
            self.assertIn("A segment of the journal is missing", resumed.stderr)
            self.assertIn(f"{number:06}.jsonl", resumed.stderr)

    def test_iterations_cut_off(self):
        def cut(lines):
            ends = [i for i, line in enumerate(lines) if json.loads(line)["k"] == "end"]
            return lines[: ends[-2] + 1]

        said, _ = self.attack(lambda journal: self.edit(journal, 2, cut))
        self.assertIn("to journal/000003.jsonl:1 (up to where a process began)", said)
        said, copy = self.attack(lambda journal: self.edit(journal, 3, cut))
        self.assertIn("journal/000003.jsonl: state.json stands on an iteration that ended there", said)
        self.assertIn("000003.jsonl", self.drive(copy, 12).stderr)

    def test_segments_exchanged_and_copied(self):
        def exchange(journal):
            (journal / "000001.jsonl").rename(journal / "aside")
            (journal / "000002.jsonl").rename(journal / "000001.jsonl")
            (journal / "aside").rename(journal / "000002.jsonl")

        said, _ = self.attack(exchange)
        self.assertIn("journal/000001.jsonl:1: it was written as segment 2", said)
        for number in (1, 2, 3):
            said, _ = self.attack(lambda journal: shutil.copy(journal / f"{number:06}.jsonl", journal / "000004.jsonl"))
            self.assertIn(f"journal/000004.jsonl:1: it was written as segment {number}", said)

    def test_a_run_line_doubled_and_an_end_changed(self):
        def other_end(lines):
            record = json.loads(lines[-1])
            record["trained"] = [] if record["trained"] else [1]
            return [*lines[:-1], sealed(record)]

        for number in (1, 2, 3):
            said, _ = self.attack(lambda journal: self.edit(journal, number, lambda lines: [lines[0], *lines]))
            self.assertIn(f"journal/{number:06}.jsonl:2 (up to where a process began)", said)
            self.attack(lambda journal: self.edit(journal, number, other_end))

    def test_misuse(self):
        for wrong in ("", self.sum[:12], "x" * 64):
            self.assertEqual(allot("audit", str(self.run_folder), "--kept", wrong).code, 2, wrong)


class Replay(Journal):
    def test_the_run_plays_again_to_the_same(self):
        answer = allot("replay", "--journal", self.run_folder)
        self.assertEqual(answer.code, 0, answer.out + answer.err)
        self.assertRegex(answer.out, r"^8 iterations played again from \d+ events: \d+ records, all the same\n")

    def test_misuse(self):
        self.assertEqual(allot("replay", "p.allot", "--journal", self.run_folder).code, 2)
        self.assertEqual(allot("replay").code, 2)


class Plan(Journal):
    def test_of_a_run_everything_that_stands_in_the_way_is_told(self):
        run = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, run)
        lines = [rollout("g-1", sample, sample, turns=4) for sample in range(2)]
        (run / "rollouts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        new = policy_file("policy late\nbudget 10 tokens per iteration, carry over\nstate belief: real per prompt = 0\n"
                          "on turn 50 of group g { stop, drop }\non turn 60 of group g { stop, drop }\non finish of group g { train }\n")
        told = allot("plan", new, "--on", str(run))
        self.assertEqual(told.code, 1, told.err)
        refusals = [line for line in told.out.splitlines() if line.startswith("a swap would be refused: ")]
        self.assertEqual(len(refusals), 3, told.out)
        self.assertRegex(told.out, r"would come at turn 50, but a rollout of this run has at most \d+ turns: it would never be asked")
        self.assertIn("would come at turn 60", told.out)
        self.assertIn("`belief` is real per prompt now and was beta per prompt", told.out)
        self.assertIn("state dropped: seen", told.out)
        self.assertIn("budget: 4000 rollouts per run -> none", told.out)
        self.assertIn("budget: 2000 tokens per iteration, carry over -> 10 tokens per iteration, carry over", told.out)
        self.assertIn("`on update of batch b`", told.out)
        same = allot("plan", str(run / "policy.allot"), "--on", str(run), "--json")
        self.assertEqual(same.code, 0, same.err)
        plan = same.json()
        self.assertEqual([plan[name] for name in ("refused", "budgets", "handlers_gone", "waits")], [[], [], [], ""])


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
        for version in ("0", "v0", active["policy"][:8], active["policy"]):
            self.assertEqual(count("--version", version, "--kind", "decision"), sum(row["kind"] == "decision" for row in rows))
        self.assertEqual(count("--version", "1"), 0)
        self.assertIn(f"version 0 ({active['policy'][:12]})", allot("log", self.run_folder, "--version", "0").out)
        for wrong in ("one", "abc", "-1"):
            self.assertNotEqual(allot("log", self.run_folder, "--version", wrong).code, 0)
        self.assertEqual(allot("log", self.run_folder, "--iteration", "9..2").code, 2)
        for kind in kinds:
            self.assertEqual(allot("log", self.run_folder, "--kind", kind).code, 0, kind)
        for kind, told in (("decisoin", "did you mean decision?"), ("nope", "did you mean note?"), ("xyzzy", "take_up"), ("", "no record is of the kind")):
            wrong = allot("log", self.run_folder, "--kind", kind)
            self.assertEqual(wrong.code, 2, kind)
            self.assertIn(told, wrong.err)
        for option in ("--sql", "--rule", "--iteration", "--version"):  # an unset shell variable
            self.assertEqual(allot("log", self.run_folder, option, "").code, 2, option)

    def test_data_cannot_move_the_cursor_nor_look_like_a_line_of_ours(self):
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, copy)
        text = "a\x1b[2Jb\u202ec\x9bd\x7fe\rf\n   3  iteration: forged"
        with (copy / "journal" / "000001.jsonl").open("a") as journal:
            journal.write(sealed({"k": "note", "it": 7, "text": text}))
            journal.write(sealed({"k": "evict", "it": 7, "prompt": "p\x1b[31m", "until": 0}))
        words = allot("log", str(copy)).out
        self.assertIn("a\\u001b[2Jb\\u202ec\\u009bd\\u007fe\\rf\\n   3  iteration: forged\n", words)
        self.assertIn("prompt p\\u001b[31m may be drawn again", words)
        self.assertFalse([line for line in words.splitlines() if line.startswith("   3  iteration: forged")])
        table = allot("log", str(copy), "--sql", "select prompt from records where kind = 'evict' and prompt like 'p' || char(27) || '%'").out
        self.assertIn("p\\u001b[31m", table)
        for out in (words, table, allot("log", str(copy), "--all").out):
            self.assertFalse(set(out) & set("\x1b\u202e\x9b\x7f\r"))

    def test_a_filter_that_fits_nothing_says_so(self):
        answer = allot("log", self.run_folder, "--kind", "adopt")  # there is such a kind, and nothing was swapped
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

    def test_a_prompt_may_be_nothing(self):
        self.assertEqual(allot("log", self.run_folder, "--jsonl", "-", "--prompt", "").out, "")  # no prompt of this run is
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, copy)
        with (copy / "journal" / "000001.jsonl").open("a") as journal:
            journal.write(sealed({"k": "evict", "it": 7, "prompt": "", "until": 0}))
        told = [json.loads(line) for line in allot("log", str(copy), "--jsonl", "-", "--prompt", "").out.splitlines()]
        self.assertEqual([(row["kind"], row["record"]["prompt"]) for row in told], [("evict", "")])

    def test_a_version_is_told_in_words(self):
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, copy)
        run = json.loads((copy / "journal" / "000001.jsonl").read_text().splitlines()[0])
        policy = {**run["policy"], "hash": "ab" * 32, "set": {"most": "0.5"}}
        with (copy / "journal" / "000001.jsonl").open("a") as journal:
            journal.write(sealed({"k": "version", "it": 7, "v": 1, "policy": policy}))
        answer = allot("log", str(copy), "--kind", "version")
        self.assertEqual(answer.code, 0, answer.err)
        self.assertEqual(answer.out, f"   7  version 1 (abababababab) is the policy {policy['name']} of {policy['file']}, with most=0.5\n")
        self.assertEqual(json.loads(allot("log", str(copy), "--kind", "version", "--json").out)["k"], "version")
        self.assertNotIn("abababababab", allot("log", str(copy)).out)  # the line of its swap tells of it

    def test_what_cannot_be_said_or_written_is_told(self):
        answer = allot("log", self.run_folder, "--json", "--sql", "select cast(x'ff41' as text) as bytes")
        self.assertEqual(answer.code, 2)
        self.assertIn("bytes that are no UTF-8 text", answer.json()["error"])
        self.assertIn("hex(", answer.json()["help"])
        self.assertIn("FF41", allot("log", self.run_folder, "--sql", "select hex(cast(x'ff41' as text)) as bytes").out)
        for words in ([], ["--json"], ["--all"], ["--sql", "select * from records"], ["--jsonl", "-"], ["--follow"]):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                process = subprocess.run([ALLOT, "log", self.run_folder, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(process.returncode, 1)
                self.assertEqual(process.stderr, "allot: cannot write to standard output: No space left on device\n")

    def test_a_stream_that_breaks_off_says_so_in_its_last_line(self):
        answer = allot("log", self.run_folder, "--json", "--sql", "select 'good' as bytes union all select cast(x'ff41' as text)")
        self.assertEqual(answer.code, 2)
        *rows, last = map(json.loads, answer.out.splitlines())
        self.assertEqual(rows, [{"bytes": "good"}])
        self.assertEqual(list(last), ["error", "help"])
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, copy)
        with (copy / "journal" / "000001.jsonl").open("a") as journal:
            journal.write(sealed({"k": "ask", "it": 7}))
        answer = allot("log", str(copy), "--json")
        self.assertEqual(answer.code, 2)
        *rows, last = map(json.loads, answer.out.splitlines())
        self.assertGreater(len(rows), 8)
        self.assertEqual([row for row in rows if "error" in row], [])
        self.assertIn("a form this program does not know", last["error"])
        self.assertEqual(answer.err, f"allot: {last['error']}\n  help: {last['help']}\n")
        # An export is a table: its exit status alone tells.
        answer = allot("log", str(copy), "--jsonl", "-")
        self.assertEqual(answer.code, 2)
        self.assertTrue(all("kind" in json.loads(line) for line in answer.out.splitlines()))

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

    def test_parquet_on_standard_output(self):
        file = self.place / "of_file.parquet"
        self.assertEqual(allot("log", self.run_folder, "--parquet", str(file)).code, 0)
        process = subprocess.run([ALLOT, "log", self.run_folder, "--parquet", "-"], capture_output=True, cwd=self.place)
        self.assertEqual((process.returncode, process.stderr), (0, b""))
        self.assertEqual(process.stdout, file.read_bytes())
        self.assertFalse((self.place / "-").exists())
        with open("/dev/full", "w") as full:
            process = subprocess.run([ALLOT, "log", self.run_folder, "--parquet", "-"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.returncode, 1)
        self.assertIn("cannot write to standard output: No space left on device", process.stderr)
        main, terminal = os.openpty()
        try:
            process = subprocess.run([ALLOT, "log", self.run_folder, "--parquet", "-"], stdout=terminal, stderr=subprocess.PIPE, text=True)
        finally:
            os.close(main)
            os.close(terminal)
        self.assertEqual(process.returncode, 2)
        self.assertIn("no text for a terminal", process.stderr)

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

    def test_follow_announces_an_iteration_that_runs_again(self):
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "run"
        shutil.copytree(self.run_folder, copy)
        segment = copy / "journal" / "000001.jsonl"
        lines = segment.read_text().splitlines(keepends=True)
        begins = [number for number, line in enumerate(lines) if json.loads(line)["k"] == "begin"]
        self.assertEqual([json.loads(lines[number])["it"] for number in begins], list(range(8)))
        # As of a process that was killed after iteration 7, and resumed from the checkpoint before 6.
        segment.write_text("".join([*lines, sealed({"k": "resume", "it": 6}), *lines[begins[6]:]]))

        def followed(*words):
            process = subprocess.Popen([ALLOT, "log", str(copy), "--follow", *words], stdout=subprocess.PIPE, text=True)
            try:
                told = []
                while len([line for line in told if "   7  iteration:" in line or '"it":7' in line and '"k":"end"' in line]) < 2:
                    told.append(process.stdout.readline())
                    self.assertTrue(told[-1])
                return told
            finally:
                process.kill()
                process.communicate()

        told = followed("--kind", "end")
        self.assertEqual([line.split(":")[0].rstrip("\n") for line in told[6:]],
                         ["   6  iteration", "   7  iteration", "   6  iteration 6 runs again after a resume", "   6  iteration",
                          "   7  iteration 7 runs again after a resume", "   7  iteration"])
        told = [json.loads(line) for line in followed("--kind", "end", "--iteration", "7", "--json")]
        self.assertEqual([(line["k"], line["it"]) for line in told], [("end", 7), ("again", 7), ("end", 7)])
        once = allot("log", str(copy), "--kind", "end").out
        self.assertEqual(once.count("   7  iteration:"), 1)
        self.assertNotIn("runs again", once)


if __name__ == "__main__":
    unittest.main()
