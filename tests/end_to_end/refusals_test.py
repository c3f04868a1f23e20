"""What a person may get wrong: each is told before the run costs anything."""

import json
import shutil
import time
import unittest

from runs import GATE, POLICY, TINY, folder, train


class BadInput(unittest.TestCase):
    def refused(self, *words, says, code=2):
        given = list(TINY) + ["--iterations", "1", "--run", str(folder() / "run")]
        for word in words:  # what is given here takes the place of the usual
            if word in given:
                at = given.index(word)
                del given[at:at + 2]
        began = time.time()
        process = train(*given, *words)
        self.assertEqual(process.returncode, code, process.err)
        self.assertEqual(process.out, "")
        for word in says:
            self.assertIn(word, process.err)
        self.assertNotIn("nats per token", process.err, "refused only after the warm-up was paid for")
        return time.time() - began

    def policy(self, text):
        path = folder() / "policy.allot"
        path.write_text(text)
        return str(path)

    def test_policies(self):
        self.refused(says=["--policy"])
        self.refused("--policy", "/nowhere/at_all.allot", says=["/nowhere/at_all.allot"])
        self.refused("--policy", self.policy("policy p\non finish of group g { when g.falt then drop }\n"),
                     says=["policy.allot:2:31", "flat"], code=1)
        self.refused("--policy", POLICY, "--set", "thresh=0.2", says=["thresh", "threshold"])
        self.refused("--policy", POLICY, "--set", "threshold=2", says=["threshold", "0..1"])
        self.refused("--policy", POLICY, "--set", "at=99", says=["99"])

    def test_a_mistake_in_the_policy_is_found_before_the_model_is_trained(self):
        process = train(*TINY, "--policy", self.policy("policy p\non finish of group g { when g.falt then drop }\n"),
                        "--iterations", "1", "--run", str(folder() / "run"))
        self.assertNotEqual(process.returncode, 0)
        self.assertNotIn("warm-up", process.err)

    def test_with_json_a_refusal_is_a_document_too(self):
        for words, code in [(["--polcy", POLICY], 2), (["--policy", "/nowhere.allot"], 2),
                            (["--policy", self.policy("policy p\non finish of group g { when g.falt then drop }\n")], 1)]:
            with self.subTest(words=words):
                process = train(*TINY, *words, "--run", str(folder() / "run"), "--json")
                self.assertEqual(process.returncode, code, process.err)
                document = json.loads(process.out)
                self.assertEqual(list(document), ["error", "help"])
                self.assertTrue(process.err.startswith("allot train: " + document["error"]))

    def test_options(self):
        self.refused(*GATE, "--no-such-option", says=["--no-such-option"])
        self.refused(*GATE, "--world", "nowhere", says=["nowhere", "household"])
        self.refused(*GATE, "--arms", "none,polcy", says=["polcy"])
        self.refused(*GATE, "--group-size", "0", says=["--group-size"])
        self.refused("--polcy", POLICY, says=["did you mean --policy?"])
        self.refused(*GATE, "--on-fault", "x", says=["--on-fault", "stop", "default"])
        self.refused(*GATE, "--world", "process", says=["--world-command"])
        self.refused(*GATE, "--arms", "none", "none", says=["--arms", "twice"])
        self.refused(*GATE, "--set", "at=4", says=["at", "twice"])
        self.refused(*GATE, "--max-positions", "5", says=["--max-positions 5 is too short", "observation"])

    def test_numbers_out_of_range(self):
        for option, values in {"--turns": ["-1"], "--learning-rate": ["0", "-1", "nan", "inf", "x"],
                               "--iterations": ["-1"], "--gate-turn": ["0"], "--tokens-per-turn": ["0"],
                               "--temperature": ["nan", "0", "-1"], "--top-p": ["nan", "2"], "--holdout": ["nan", "x%", "101%"],
                               "--pause-below": ["nan"], "--warm-up-rate": ["nan", "0"], "--clip-low": ["nan"],
                               "--max-gradient-norm": ["nan"], "--hidden": ["0"], "--slots": ["0", "1e9"],
                               "--seeds": ["0"], "--warm-up": ["-1"], "--micro-tokens": ["0"]}.items():
            for value in values:
                with self.subTest(f"{option} {value}"):
                    self.refused(*GATE, option, value, says=[option])

    def test_games(self):
        self.refused(*GATE, "--world", "textworld", "--games", str(folder()), says=["games"])

    def test_checkpoints(self):
        self.refused(*GATE, "--model", "/nowhere/at_all", says=["/nowhere/at_all"])
        whole = folder() / "run"
        self.assertEqual(train(*TINY, *GATE, "--iterations", "0", "--run", str(whole)).returncode, 0)
        cut = folder() / "model"
        shutil.copytree(whole / "seed-7" / "warm-up", cut)
        weights = cut / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-100])
        self.refused(*GATE, "--model", str(cut), says=["model.safetensors"], code=1)

    def test_a_folder_that_cannot_be_written(self):
        self.refused(*GATE, "--run", "/proc/no_such_run", says=["/proc/no_such_run"])

    def test_a_run_folder_that_is_a_file_or_holds_something_else(self):
        file = folder() / "file"
        file.write_text("mine")
        self.refused(*GATE, "--run", str(file), says=[str(file), "is a file"])
        self.refused(*GATE, "--run", str(file.parent), says=["not empty", "file"])
        self.assertEqual([path.name for path in file.parent.iterdir()], ["file"])

    def test_a_refused_run_leaves_its_place_free(self):
        run_folder = folder() / "run"
        self.refused(*GATE, "--run", str(run_folder), "--max-positions", "5", says=["--max-positions"])
        process = train(*TINY, *GATE, "--iterations", "0", "--run", str(run_folder))
        self.assertEqual(process.returncode, 0, process.err)


if __name__ == "__main__":
    unittest.main()
