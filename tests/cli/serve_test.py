"""allot serve from outside: it is ready when it says so, speaks the protocol of docs/clients.md, and ends cleanly."""

import json
import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import unittest

from program import ALLOT, SOURCE, allot, policy_file
from swap_test import rollout

PROTOCOL = 3
DYNAMIC = str(SOURCE / "stdlib" / "dynamic_sampling.allot")


class Client:
    """Speaks the protocol by hand."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.numbers = 0

    def say(self, **message):
        text = json.dumps(message).encode()
        self.socket.sendall(struct.pack("<I", len(text)) + text)

    def hear(self):
        (length,) = struct.unpack("<I", self.take(4))
        return json.loads(self.take(length))

    def take(self, count):
        taken = b""
        while len(taken) < count:
            more = self.socket.recv(count - len(taken))
            if not more:
                raise EOFError
            taken += more
        return taken

    def ask(self, call, **members):
        self.numbers += 1
        self.say(**dict(q=self.numbers, seen=0, call=call) | members)
        answer = self.hear()
        assert answer["q"] == self.numbers
        return answer


class Serve(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="allot-test-")
        self.addCleanup(place.cleanup)
        self.run_folder = str(pathlib.Path(place.name, "run"))

    def start(self, *words):
        process = subprocess.Popen([ALLOT, "serve", *words, "--run", self.run_folder, "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process, json.loads(process.stdout.readline())

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def play(self, client, iteration, group):
        begun = client.ask("begin", it=iteration, prompts=["p0", "p1"])
        self.assertEqual(begun["orders"]["start"], [[group, "p0", 0, 2]])
        ends = [[2, float(sample), None, "", ""] for sample in range(2)]  # completed, with a reward of 0 and of 1
        closed = client.ask("events", prompts=[], kinds="ee", g=[group] * 2, s=[0, 1], texts=[], a=[], o=[], ends=ends)
        self.assertEqual(closed["orders"]["closed"][0]["subset"], [0, 1])
        self.assertTrue(closed["orders"]["batch_closed"])
        return client.ask("end")["report"]

    def test_a_run_over_the_socket_by_hand_then_resumed(self):
        process, ready = self.start(DYNAMIC, "--slots", "1", "--group-size", "2")
        self.assertEqual((ready["policy"], ready["process"]), ("dynamic_sampling", process.pid))
        self.assertEqual(stat.S_IMODE(os.stat(ready["socket"]).st_mode), 0o600)
        client = Client(ready["socket"])
        client.say(allot=PROTOCOL, client="by hand", seen=0)
        self.assertEqual(client.hear()["last"], 0)
        self.assertEqual(self.play(client, 0, 0)["trained"], [0])
        self.assertIn("No iteration is under way", client.ask("end")["error"][0])
        second = allot("serve", DYNAMIC, "--run", self.run_folder)
        self.assertEqual((second.code, "Another engine is served" in second.err), (2, True))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=10)
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertEqual((json.loads(out)["requests"], json.loads(out)["refused"]), (4, 0))
        self.assertFalse(os.path.exists(ready["socket"]))

        fresh = allot("serve", DYNAMIC, "--run", self.run_folder)
        self.assertEqual((fresh.code, "--resume" in fresh.err), (2, True))
        process, ready = self.start(DYNAMIC, "--slots", "1", "--group-size", "2", "--resume")
        client = Client(ready["socket"])
        client.say(allot=PROTOCOL, client="by hand", seen=0)
        client.hear()
        self.assertEqual(self.play(client, 1, 1)["iteration"], 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(allot("audit", self.run_folder, "--json").json()["differing"], 0)

    def test_a_run_that_was_killed_before_a_state_was_saved_begins_anew(self):
        words = [DYNAMIC, "--slots", "1", "--group-size", "2"]
        process, _ = self.start(*words)
        process.kill()
        process.communicate()
        unnamed = allot("serve", "--run", self.run_folder, "--resume")  # nothing says what its policy was
        self.assertEqual((unnamed.code, "name POLICY" in unnamed.err), (2, True))
        process, ready = self.start(*words, "--resume")
        self.play(self.greet(ready), 0, 0)
        process.kill()
        self.assertIn("it begins anew", process.communicate()[1])
        # As where the process was killed before the state of iteration 0 was on disk.
        pathlib.Path(self.run_folder, "state.json").unlink(missing_ok=True)
        _, ready = self.start(*words, "--resume")
        client = self.greet(ready)
        told = client.ask("begin", it=1, prompts=["p0"])["error"]
        self.assertEqual(told, ["Iteration 1 cannot begin: the run begins anew, and iteration 0 had ended after that.",
                                "restore() the state of your checkpoint, which knows of them, or begin iteration 0 again"])
        self.play(client, 0, 0)
        self.assertEqual(allot("audit", self.run_folder, "--json").json()["differing"], 0)

    def test_what_is_wrong_is_told_before_it_listens(self):
        wrong = allot("serve", policy_file("policy p\non finish of group g { dorp }\n"), "--run", self.run_folder)
        self.assertEqual((wrong.code, "drop" in wrong.err), (2, True))
        self.assertFalse(os.path.exists(self.run_folder + "/engine.sock"))
        self.assertEqual(allot("serve", DYNAMIC).code, 2)
        self.assertIn("--run", allot("serve", DYNAMIC).err)
        self.assertEqual(allot("serve", DYNAMIC, "--run", self.run_folder, "--resume").code, 2)

    def test_it_serves_swaps(self):
        process, _ = self.start(policy_file("policy gate\non finish of group g { train }\n", "gate.allot"))
        other = policy_file("policy gate\non finish of group g { when g.flat then drop otherwise train }\n", "gate.allot")
        swapped = allot("swap", self.run_folder, other, "--json")
        self.assertEqual(swapped.code, 0, swapped.err)
        self.assertEqual(swapped.json()["outcome"], "active")

    def test_a_run_goes_on_with_the_options_that_it_began_with(self):
        text = "policy gate\nparam most: real = 3\non finish of group g { when (g.reward_mean ?? 0) > most then drop otherwise train }\n"
        policy = policy_file(text, "gate.allot")
        words = [policy, "--slots", "1", "--group-size", "2", "--set", "most=2", "--can", "defers"]
        process, ready = self.start(*words)
        self.play(self.greet(ready), 0, 0)
        pathlib.Path(policy).write_text(text + "# edited\n")
        edited = allot("swap", self.run_folder, policy, "--json").json()["to"]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)

        segments = sorted(os.listdir(self.run_folder + "/journal"))
        refused = allot("serve", policy, "--slots", "3", "--group-size", "2", "--set", "most=9", "--seed", "5", "--run", self.run_folder, "--resume")
        self.assertEqual(refused.code, 2)
        for line in ('--set: the run has {"most":"2"}, now it is {"most":"9"}', "--seed: the run has 0, now it is 5",
                     "--slots: the run has 1, now it is 3", "--can: the run has defers, now it is nothing"):
            self.assertIn(line, refused.err)
        for option in ("POLICY", "--group-size", "--turns", "--inputs"):
            self.assertNotIn(option + ":", refused.err)
        self.assertEqual(sorted(os.listdir(self.run_folder + "/journal")), segments)  # before anything is written

        other = policy_file(text + "# never swapped in\n", "gate.allot")
        self.assertIn("POLICY: the run has", allot("serve", other, *words[1:], "--run", self.run_folder, "--resume").err)
        _, ready = self.start(*words, "--resume")  # the file was edited, but the run was under what it says now
        self.assertEqual(ready["hash"], edited)

    def test_a_run_goes_on_under_the_text_that_its_folder_keeps(self):
        text = "policy gate\nimport part as part\non finish of group g { when part.worth(g.reward_mean ?? 0) > 2 then drop otherwise train }\n"
        part = "policy part\nfn worth(x: real) -> real = x\n"
        policy = pathlib.Path(policy_file(f"{text}# file part.allot\n{part}", "gate.allot"))
        imported = policy.parent / "part.allot"
        shape = ["--slots", "1", "--group-size", "2"]
        process, ready = self.start(str(policy), *shape)
        begun = ready["hash"]
        self.play(self.greet(ready), 0, 0)

        def resumed(process, *words):
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=10)
            process, ready = self.start(*words, *shape, "--resume")
            self.assertEqual(ready["hash"], begun)
            return process

        def told(process):
            process.send_signal(signal.SIGTERM)
            return process.communicate(timeout=10)[1]

        for now in (part.replace("= x", "= x * x"), "policy part\nfn worth(", None):
            imported.unlink() if now is None else imported.write_text(now)
            process = resumed(process, str(policy))
            err = told(process)
            self.assertIn(f"{imported} " + ("cannot be read any more" if now is None else "changed since"), err)
            self.assertIn(f"`allot swap {self.run_folder} {policy}`", err)
        imported.write_text(part)
        self.assertEqual(told(resumed(process, str(policy))), "")  # as it was
        for now in (text + "# edited\n", "policy gate\non finish of", None):
            policy.unlink() if now is None else policy.write_text(now)
            refused = allot("serve", str(policy), *shape, "--run", self.run_folder, "--resume")
            self.assertEqual(refused.code, 2)
            self.assertIn("There is no policy file" if now is None else f"POLICY: the run has {begun[:12]}", refused.err)
            self.assertIn("without POLICY under the one that its folder keeps" if now else "leave POLICY out", refused.err)
            process = resumed(process)  # as these say
            self.assertEqual(told(process), "")

    def test_what_is_active_is_known_before_the_barrier(self):
        gate = "policy gate\nparam least: real = {}\non finish of group g {{ when (g.reward_mean ?? 0) < least then drop otherwise train }}\n"
        first, second = policy_file(gate.format(0.25), "gate.allot"), policy_file(gate.format(0.75), "gate.allot")
        process, ready = self.start(first, "--slots", "1", "--group-size", "2")
        self.play(self.greet(ready), 0, 0)
        # The mean of this group is 0.5: trained under 0.25 and dropped under 0.75.
        pathlib.Path(self.run_folder, "rollouts.jsonl").write_text("".join(json.dumps(rollout("a", i, i)) + "\n" for i in range(2)))
        swapped = allot("swap", self.run_folder, second, "--json").json()

        def check():
            plan = allot("plan", first, "--on", self.run_folder, "--json")
            self.assertEqual(plan.code, 0, plan.err)
            self.assertEqual((plan.json()["from"]["sha256"], plan.json()["counts"]), (swapped["to"], {"drop -> train": 1}))
            told = allot("log", self.run_folder, "--kind", "swap")
            self.assertIn(f"note: version 1 ({swapped['to'][:12]}) is active since the last barrier", told.err)

        check()
        process.kill()
        process.communicate(timeout=10)
        check()

    def test_a_version_is_expected_and_its_parameters_are_told(self):
        text = "policy gate\nparam most: real = 3\non finish of group g { when (g.reward_mean ?? 0) > most then drop otherwise train }\n"
        policy = policy_file(text, "gate.allot")
        self.start(policy)
        told = allot("swap", self.run_folder, policy, "--set", "most=0.5", "--expect", "v0")
        self.assertEqual(told.code, 0, told.err)
        self.assertIn("with most = 0.5 in the place of", told.out)
        late = allot("swap", self.run_folder, policy, "--set", "most=0.7", "--expect", "v0")
        self.assertEqual((late.code, "with most = 0.5), not v0: somebody swapped it meanwhile" in late.err), (1, True))
        same = allot("swap", self.run_folder, policy, "--set", "most=0.50", "--json")
        self.assertEqual((same.json()["outcome"], same.json()["version"]), ("unchanged", 1))
        told = allot("swap", self.run_folder, policy, "--set", "most=0.7", "--expect", "v1", "--json")
        self.assertEqual((told.json()["outcome"], told.json()["parameters"]), ("active", {"most": "0.7"}))

    def greet(self, ready):
        client = Client(ready["socket"])
        client.say(allot=PROTOCOL, client="by hand", seen=0)
        client.hear()
        return client

    def test_what_was_answered_holds_whatever_ends_the_process(self):
        gate = "policy gate\n# {}\non finish of group g {{ train }}\n"
        first, second, third = (policy_file(gate.format(i), "gate.allot") for i in range(3))
        words = [first, "--slots", "1", "--group-size", "2"]
        process, ready = self.start(*words)
        begun = ready["hash"]
        self.play(self.greet(ready), 0, 0)

        def ended_and_resumed(process, how):
            process.send_signal(how)
            process.communicate(timeout=10)
            return self.start(*words, "--resume")

        def asked(*words):
            told = allot(*words, "--json")
            self.assertEqual(told.code, 0, told.err)
            self.assertEqual(told.json()["outcome"], "active")
            return told.json()["to"]

        for how in (signal.SIGTERM, signal.SIGKILL):
            hash = asked("swap", self.run_folder, second)
            process, ready = ended_and_resumed(process, how)
            self.assertEqual(ready["hash"], hash)
            self.assertEqual(asked("rollback", self.run_folder), begun)
            process, ready = ended_and_resumed(process, how)
            self.assertEqual(ready["hash"], begun)
        # … and at a barrier: whether state.json holds it by then or not, it is carried out once.
        hash = asked("swap", self.run_folder, third)
        self.play(self.greet(ready), 1, 1)
        process, ready = ended_and_resumed(process, signal.SIGKILL)
        self.assertEqual(ready["hash"], hash)
        next_one = json.loads(pathlib.Path(self.run_folder, "state.json").read_text())["iteration"] + 1  # each opens one group
        self.play(self.greet(ready), next_one, next_one)
        process.send_signal(signal.SIGTERM)
        told = process.communicate(timeout=10)[1].splitlines()  # of the file that it was resumed with, and nothing else
        self.assertEqual(len(told), 2)
        self.assertIn(f"{first} says something else than the active version", told[0])
        self.assertIn(f"({hash[:12]}): the run goes on under the text that its folder keeps", told[0])
        self.assertEqual(allot("audit", self.run_folder, "--json").json()["differing"], 0)

    def test_what_the_trainer_can_do_is_said(self):
        policy = policy_file("policy p\non shape of group g { set advantages = 2 * g.advantages }\n")
        refused = allot("serve", policy, "--run", self.run_folder)
        self.assertEqual((refused.code, "changes advantages, which this host cannot do" in refused.err), (2, True))
        unknown = allot("serve", policy, "--run", self.run_folder, "--can", "fly")
        self.assertEqual((unknown.code, "say defers, scores, shapes, replays or losses" in unknown.err), (2, True))
        _, ready = self.start(policy, "--can", "shapes", "--can", "defers")
        self.assertEqual(ready["policy"], "p")

    def test_a_loss_is_served(self):
        policy = policy_file("policy p\non loss of token t { set loss = -t.logprob }\n")
        self.assertEqual(allot("serve", policy, "--run", self.run_folder).code, 2)
        _, ready = self.start(policy, "--can", "losses", "--slots", "1", "--group-size", "2")
        client = self.greet(ready)
        self.assertNotIn("loss", client.ask("loss", policy=""))  # no iteration is under way
        client.ask("begin", it=0, prompts=["p0"])
        loss = client.ask("loss", policy="")["loss"]
        self.assertEqual((loss["policy"], loss["it"], "on loss of token" in loss["text"]), (ready["hash"], 0, True))
        self.assertNotIn("text", client.ask("loss", policy=ready["hash"])["loss"])
        told = dict(loss=loss["number"], it=0, h=loss["h"], asked=5, rules=[4], none=1, faults=0, fault="")
        self.assertNotIn("error", client.ask("tally", **told))
        self.assertIn("error", client.ask("tally", **told | {"loss": "another"}))


if __name__ == "__main__":
    unittest.main()
