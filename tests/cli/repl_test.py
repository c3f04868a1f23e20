"""allot repl: lines from a pipe, and from a terminal (a pseudo-terminal) with history and completion."""

import os
import pathlib
import pty
import select
import signal
import tempfile
import time
import unittest

from program import ALLOT, SOURCE, allot


def answers(*lines):
    return allot("repl", stdin="\n".join(lines) + "\n")


class Piped(unittest.TestCase):
    def test_values_and_names_are_kept_between_lines(self):
        answer = answers("let x = 3 tokens", "x * 4", "fn twice(a: real) -> real = 2 * a", "twice(0.25)",
                         "param p: prob = 0.5", "twice(p) == 1", "let x = 0.5", "x", "undefined ?? x")
        self.assertEqual((answer.out, answer.err), ("12 tokens\n0.5\ntrue\n0.5\n0.5\n", ""))
        self.assertEqual(answer.code, 0)

    def test_a_group_can_be_asked_about(self):
        answer = answers("hit when reward >= 1.0", "given g = group { rewards: [1, 0, undefined, 1] }", "g.hits",
                         "g.reward_mean", "g.flat", "given g = group {", '  actions: [["a", "b"]] * 3,', "  turn: 2", "}",
                         "unique_ratio(prefixes(g.actions, 2, padded))", "g.hit_rate")
        # Two hits of three scored rewards, mean 2/3; three equal prefixes are one of three.
        self.assertEqual(answer.out.splitlines(), ["2 rollouts", "0.6666666666666666", "false", "0.3333333333333333",
                                                   "undefined"])

    def test_every_value_is_shown_that_eval_shows(self):
        answer = answers("[1, 2]", "beta(1, 2)", "[[1, 2], [3, 4]]", "given g = group { rewards: [1, 0, undefined] }",
                         "g.rewards", "g.rewards > 0", "allot 3 over x in [0.2, 0.5], n in 0..2 maximizing n * x",
                         "g.scored > 1", "[2 tokens, 3 tokens]")
        # Both units go to 0.5 first, whose each unit adds most; the third to 0.2.
        self.assertEqual((answer.out.splitlines(), answer.err),
                         (["[1, 2]", "beta(1, 2)", "[[1, 2], [3, 4]]", "[1, 0, undefined]", "[true, false, undefined]",
                           "[1, 2]", "true", "[2, 3] tokens"], ""))

    def test_state_is_given_beside_a_group(self):
        answer = answers("state belief: beta per prompt = beta(1, 1)", "state seen: int per group = 0",
                         "given belief = beta(1, 2)", "given g = group { rewards: [1, 0] }", "belief[g.prompt]",
                         "given seen = 4", "seen + 1", "g.reward_mean", "given belief = beta(3, 1)", "belief[g.prompt]",
                         "given h = group { rewards: [1, 1] }", "h.reward_mean", ":list")
        self.assertEqual(answer.err, "")
        self.assertEqual(answer.out.splitlines()[:5], ["beta(1, 2)", "5", "0.5", "beta(3, 1)", "1"])
        self.assertEqual(answer.out.count("given"), 3)  # belief, seen and the last group

    def test_mistakes_are_shown_in_the_line_and_change_nothing(self):
        answer = answers("let x = 2", "let x = y", "x + tree", "x", "1 / g.wave")
        self.assertEqual(answer.out, "2\n")
        self.assertEqual(answer.code, 1)
        self.assertIn("line:1:9", answer.err)
        self.assertIn("line:1:5", answer.err)
        self.assertNotIn("session", answer.err)
        self.assertIn("no value: ", answer.err)

    def test_what_a_session_cannot_hold_is_told_in_its_own_words(self):
        answer = answers("given b = batch { prompts: 3 }", "import team.gates", 'test "t" { expect 1 < 2 }', "g.started",
                         "let test = 2", "test * 2", "top_eigenspace([[1, 0], [0, 1]], 1)")
        # The group of a session that was given none has four rollouts; both eigenvalues are 1, so no first one stands apart.
        self.assertEqual(answer.out, "4 rollouts\n4\nundefined\n")
        told = answer.err.splitlines()
        self.assertEqual(len(told), 3, told)
        self.assertIn("given g = group", told[0])
        for line, word in zip(told[1:], ["`import`", "`test`"]):
            self.assertIn(word + " stands in a policy", line)

    def test_commands(self):
        answer = answers(f":load {SOURCE}/stdlib/sara.allot", "size", ":list", ":clear", "size", ":help hit_rate", ":nonsense",
                         ":quit", "1 + 1")
        self.assertIn("8 rollouts", answer.out)
        self.assertIn("state belief: beta per prompt = beta(1, 1)", answer.out)
        self.assertIn("g.hit_rate: prob?", answer.out)
        self.assertIn("E0", answer.err)          # `size` after :clear
        self.assertNotIn("\n2\n", answer.out)    # nothing after :quit


class Terminal(unittest.TestCase):
    def start(self, folder):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.environ.update({"XDG_STATE_HOME": folder, "TERM": "xterm"})
            os.execv(ALLOT, [ALLOT, "repl"])
        self.pid, self.seen = pid, ""
        return self.until("allot> ")

    def until(self, words, seconds=20):
        """What the terminal shows up to `words`; what follows them is kept for the next question."""
        end = time.monotonic() + seconds
        while words not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            self.assertTrue(ready, f"waited for {words!r}, saw {self.seen!r}")
            self.seen += os.read(self.terminal, 4096).decode(errors="replace")
        before, _, self.seen = self.seen.partition(words)
        return before + words

    def type(self, text):
        os.write(self.terminal, text.encode())

    def interrupt(self):
        time.sleep(0.5)  # as in end(): between two lines the terminal is as it was, and Ctrl-C ends the program
        self.type("\x03")

    def test_ctrl_c_gives_a_line_up_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            self.start(folder)
            self.type("1 + ")
            self.until("1 + ")
            self.interrupt()
            self.until("allot> ")
            self.type("let kept = 4\n")
            self.until("allot> ")
            self.type("max(1,\n")
            self.until("... ")
            self.interrupt()
            self.until("allot> ")
            self.type("kept * 2\n")
            self.until("8\r\n")
            self.until("allot> ")
            self.end()

    def end(self):
        time.sleep(0.5)  # what is typed while the program changes the mode of its terminal may be lost
        self.type("\x04")
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def test_completion_and_history(self):
        folder = tempfile.mkdtemp(prefix="allot-test-")
        self.start(folder)
        self.type("round_e\t(2.5)\n")
        self.until("\n2\r\n")
        self.type("g.reward_m\t\t")
        self.until("reward_mean  reward_min")
        self.type("\x15\n")
        self.until("allot> ")
        self.type("let kept = 41\n")
        self.until("allot> ")
        self.type("kept + 1\n")
        self.until("\n42\r\n")
        self.end()
        self.assertTrue((pathlib.Path(folder) / "allot" / "history").exists())
        # A new session finds the lines of the former: two steps up is the `let`, whose name is then known.
        self.start(folder)
        self.type("\x1b[A\x1b[A\n")
        self.until("allot> ")
        self.type("kept\n")
        self.until("\n41\r\n")
        self.end()


if __name__ == "__main__":
    unittest.main()
