"""Clients of a served engine from Python: the document's example, defaults, kills."""

import concurrent.futures
import gc
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

import allot

SOURCE = Path(os.environ["ALLOT_SOURCE_DIR"])
SELECTIVE = str(SOURCE / "stdlib" / "selective_rollout.allot")


def refs(rollouts):
    return [(ref.group, ref.sample) for ref in rollouts]


class Interrupted(Exception):
    pass


class Clients(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="allot_test_")
        self.addCleanup(place.cleanup)
        self.run_folder = Path(place.name, "run")

    def serve(self, policy="", **settings):
        self.engine = allot.Engine(policy, **dict(slots=1, group_size=2) | settings)
        server = self.engine.serve(self.run_folder, grace=0.05)
        self.addCleanup(server.close)
        return server

    def connect(self, **settings):
        client = allot.connect(self.run_folder, **settings)
        self.addCleanup(client.close)
        return client

    def test_a_client_has_the_methods_of_an_engine_and_its_answers(self):
        server = self.serve(SELECTIVE, parameters={"at": "2"})
        self.assertEqual(stat.S_IMODE(os.stat(server.path).st_mode), 0o600)
        leader, worker = self.connect(), self.connect()
        self.assertIsInstance(leader, allot.Engine)
        self.assertEqual(leader.policy_hash, self.engine.policy_hash)
        self.assertEqual([(s.group, s.prompt, s.count) for s in leader.begin_iteration(0, ["p0"]).start], [(0, "p0", 2)])
        for action in ("look", "go"):
            leader.turn(0, 0, action)
        worker.drive([(0, 1)])
        worker.turn(0, 1, "look")
        self.assertEqual(refs(worker.turn(0, 1, "go").stop), [(0, 1)])
        orders = leader.orders(wait=2)
        self.assertEqual(refs(orders.stop), [(0, 0)])
        self.assertEqual((orders.closed[0].fate, orders.batch_closed), ("dropped", True))
        self.assertTrue(leader.end_iteration().skip_update)
        self.assertEqual(leader.save_state(), self.engine.save_state())
        self.assertEqual((leader.defaults, worker.defaults, server.counts["refused"]), (0, 0, 0))

    def test_an_answer_travels_with_its_ending(self):
        policy = self.run_folder.parent / "answers.allot"
        policy.write_text("policy answers\non finish of group g {\n  let most = max(count_by(g.classes)) ?? 0\n"
                          "  drop because \"{most} alike\"\n}\n")
        self.serve(str(policy), group_size=3)
        client = self.connect()
        client.begin_iteration(0, ["p0"])
        client.ended(0, 0, answer="42")
        client.ended(0, 1, answer="42")
        self.assertEqual(client.ended(0, 2, answer="7").closed[0].reason, "2 alike")

    def test_a_report_that_cannot_be_is_refused_here_and_costs_nothing_else(self):
        server = self.serve()
        client = self.connect()
        client.begin_iteration(0, ["p0"])
        for engine in (client, self.engine):
            with self.assertRaisesRegex(allot.Error, "reported with -1 tokens"):
                engine.turn(0, 0, "look", tokens=-1)
        for sample in (0, 1):
            client.turn(0, sample, "look", last=True)
            closed = client.ended(0, sample, reward=sample).closed
        self.assertEqual((closed[0].rewards, server.counts["refused"], client.lost), ([0, 1], 0, 0))

    def test_errors_of_the_engine_are_those_of_the_client(self):
        self.serve(SELECTIVE)
        client = self.connect()
        with self.assertRaisesRegex(allot.Error, "No iteration is under way"):
            client.end_iteration()
        client.begin_iteration(0, ["p0"])
        client.ended(0, 0, reward=1.0)
        client.ended(0, 1, reward=1.0)
        with self.assertRaisesRegex(allot.Error, "policy selective_rollout loaded, 0 decisions in iteration 0"):
            client.end_iteration()  # faults.md 31

    def test_without_an_engine_nothing_is_ordered_and_it_is_counted(self):
        client = self.connect(timeout=0.2, patience=0.1)
        began = time.monotonic()
        for sample in range(10):
            self.assertEqual(client.turn(0, sample, "look").stop, [])
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual((client.calls, client.defaults, client.reached), (10, 10, False))
        self.assertIn("engine.sock", client.problem)
        for needs_an_engine in (lambda: client.begin_iteration(0, ["p0"]), client.save_state, client.preview,
                                client.unused_prompts, lambda: client.policy_hash, lambda: client.replay_age,
                                lambda: client.shapes_groups, lambda: client.shape_group([(0, 0)], [0.5])):
            with self.assertRaisesRegex(allot.Error, "cannot be reached"):
                needs_an_engine()

    def test_what_is_no_time_is_refused(self):
        for seconds in (float("nan"), -1, 0):
            for name in ("timeout", "patience"):
                with self.subTest(name, seconds=seconds), self.assertRaisesRegex(allot.Error, f"{name} is "):
                    self.connect(**{name: seconds})
        server = self.serve()
        client = self.connect(timeout=1e300, patience=float("inf"))
        self.assertEqual((client.policy_hash, client.reached), ("", True))
        with self.assertRaisesRegex(allot.Error, "wait is nan"):
            client.orders(wait=float("nan"))
        self.assertEqual(server.counts["refused"], 0)

    def raise_on_alarm(self):
        def handle(*_):
            raise Interrupted

        previous = signal.signal(signal.SIGALRM, handle)
        self.addCleanup(signal.signal, signal.SIGALRM, previous)

    def test_a_signal_is_seen_while_a_call_waits(self):
        self.raise_on_alarm()
        client = self.connect(timeout=20, patience=20)
        for wait in (lambda: client.orders(wait=20), lambda: client.policy_hash, lambda: client.begin_iteration(0, ["p0"])):
            began = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with self.assertRaises(Interrupted):
                wait()
            self.assertLess(time.monotonic() - began, 5)

    def run_script(self, code):
        """In a process of its own, with `client`, since what fails here hangs."""
        begin = f"import allot, os, signal, threading, time\nrun = {str(self.run_folder)!r}\n"
        ran = subprocess.run([sys.executable, "-c", begin + textwrap.dedent(code)], capture_output=True, text=True,
                             timeout=20)
        return ran.returncode, ran.stdout

    def test_a_handler_looks_at_the_client_that_waits_below_it(self):
        self.assertEqual(self.run_script("""
            client = allot.connect(run, timeout=0.5, patience=1)

            def handle(*_):
                print(client.calls, client.reached, "engine.sock" in client.problem)
                for ask in (lambda: client.turn(0, 0, "look"), client.save_state, lambda: client.drive([(0, 0)])):
                    try:
                        ask()
                    except allot.Error as error:
                        print(str(error).split(",")[0])

            signal.signal(signal.SIGALRM, handle)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            try:
                client.begin_iteration(0, ["p0"])
            except allot.Error as error:
                print("cannot be reached" in str(error))
            """), (0, "1 False True\n" + "A call of this client waits in the same thread\n" * 3 + "True\n"))

    def test_a_handler_closes_the_client_that_waits_below_it(self):
        for end, shown, status in (("pass", "This client is closed\n", 0), ("raise SystemExit(5)", "", 5)):
            with self.subTest(end):
                self.assertEqual(self.run_script(f"""
                    client = allot.connect(run, timeout=0.5, patience=60)

                    def handle(*_):
                        client.close()
                        {end}

                    signal.signal(signal.SIGALRM, handle)
                    signal.setitimer(signal.ITIMER_REAL, 0.2)
                    try:
                        client.begin_iteration(0, ["p0"])
                    except allot.Error as error:
                        print(str(error).split(":")[0])
                    """), (status, shown))

    def test_a_signal_is_seen_while_another_thread_waits_in_the_client(self):
        self.raise_on_alarm()
        client = self.connect(timeout=0.5, patience=4)
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            asked = threads.submit(client.save_state)
            time.sleep(0.3)   # it waits by now; to look would be to wait for it
            for call in (lambda: client.defaults, lambda: client.turn(0, 0, "look")):
                began = time.monotonic()
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                with self.assertRaises(Interrupted):
                    call()
                self.assertLess(time.monotonic() - began, 1.5)
            self.assertFalse(asked.done())
            self.assertIn("cannot be reached", str(asked.exception()))

    def test_a_forked_process_asks_where_a_thread_of_its_parent_waits(self):
        self.assertEqual(self.run_script("""
            client = allot.connect(run, timeout=0.5, patience=2)

            def ask():
                try:
                    client.save_state()
                except allot.Error as error:
                    return "cannot be reached" in str(error)

            thread = threading.Thread(target=ask)
            thread.start()
            time.sleep(0.3)
            child = os.fork()
            if child == 0:
                signal.alarm(10)   # ends one that hangs
                os._exit(7 if ask() and client.calls == 1 else 1)   # its own call
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            thread.join()
            """), (0, "7\n"))

    def test_a_process_ends_while_its_threads_wait(self):
        script = textwrap.dedent(f"""
            import allot, sys, threading, time

            class Slow:
                def __del__(self, sleep=time.sleep):
                    sleep(0.3)   # the interpreter is ending, and a wait looks around every 50 ms

            sys.slow = Slow()
            client = allot.connect({str(self.run_folder)!r}, timeout=0.5, patience=30)
            for call in (lambda: client.orders(wait=30), lambda: client.policy_hash):
                threading.Thread(target=call, daemon=True).start()
            time.sleep(0.2)
            """)
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_other_threads_look_at_a_client_that_waits(self):
        client = self.connect(timeout=0.2, patience=1)
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            for asked in [threads.submit(client.save_state) for _ in range(2)]:
                while not asked.done():
                    self.assertEqual((client.reached, client.defaults), (False, 0))
                self.assertIn("cannot be reached", str(asked.exception()))

    def test_a_server_that_closes_leaves_its_clients_with_the_default(self):
        server = self.serve()
        client = self.connect(timeout=0.2)
        client.begin_iteration(0, ["p0"])
        client.turn(0, 0, "look")
        server.close()
        self.assertEqual(client.turn(0, 0, "look").stop, [])
        self.assertEqual(client.defaults, 1)

    def test_a_worker_that_is_killed_leaves_its_rollout_aborted(self):
        server = self.serve()
        leader = self.connect()
        leader.begin_iteration(0, ["p0"])
        script = (f"import allot, time; client = allot.connect({str(self.run_folder)!r}); client.turn(0, 0, 'look');"
                  "print('ready', flush=True); time.sleep(60)")
        worker = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        self.assertEqual(worker.stdout.readline(), "ready\n")
        leader.ended(0, 1, reward=1.0)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
        self.assertTrue(leader.orders(wait=10).batch_closed)
        self.assertEqual(leader.end_iteration().metrics["rollouts/aborted"], 1)
        self.assertEqual((server.counts["gone"], server.counts["aborted"]), (1, 1))

    def test_an_engine_is_served_for_as_long_as_it_is_there(self):
        engine = allot.Engine("", slots=1, group_size=2)
        engine.serve(self.run_folder)   # and nobody keeps what it gives
        gc.collect()
        client = self.connect(timeout=0.5, patience=0.2)
        self.assertEqual(client.begin_iteration(0, ["p0"]).start[0].count, 2)
        del engine
        gc.collect()
        self.assertFalse((self.run_folder / "engine.sock").exists())
        with self.assertRaisesRegex(allot.Error, "cannot be reached"):
            client.preview()

    def test_a_server_keeps_its_engine(self):
        server = allot.Engine("", slots=1, group_size=2).serve(self.run_folder)
        gc.collect()
        self.assertEqual(self.connect().begin_iteration(0, ["p0"]).start[0].count, 2)
        server.close()
        again = allot.Engine("").serve(self.run_folder)   # nothing is left of the first
        self.assertEqual(again.path, server.path)
        again.close()

    def test_a_closed_client_says_so(self):
        self.serve()
        with self.connect() as client:
            client.begin_iteration(0, ["p0"])
        for call in (lambda: client.turn(0, 0, "look"), client.orders, client.save_state, lambda: client.policy_hash):
            with self.assertRaisesRegex(allot.Error, "client is closed"):
                call()

    def test_a_second_engine_for_a_run_is_refused(self):
        self.serve()
        with self.assertRaisesRegex(allot.Error, "Another engine is served at"):
            allot.Engine("").serve(self.run_folder)


class Document(unittest.TestCase):
    def test_the_example_runs_and_prints_what_is_shown(self):
        text = (SOURCE / "docs" / "clients.md").read_text()
        example = text.split("## An example\n")[1].split("\n## Who is told what")[0]
        with tempfile.TemporaryDirectory(prefix="allot_test_") as place:
            Path(place, "gate.allot").write_text(re.search(r"```allot\n(.*?)```", example, re.DOTALL).group(1))
            for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", example, re.DOTALL):
                Path(place, name).write_text(code)
            ran = subprocess.run([sys.executable, "trainer.py"], cwd=place, capture_output=True, text=True, timeout=50)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout, re.search(r"```text\n(.*?)```", example, re.DOTALL).group(1))


if __name__ == "__main__":
    unittest.main()
