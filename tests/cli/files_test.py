"""Policies of several files, as people call them: where files are found, what is told when they are not."""

import os
import pathlib
import unittest

from program import SOURCE, allot, policy_file

USES = """policy p
import team.gates as gates
on finish of group g { when gates.few(g.scored) then drop }
test "few" {
  given g = group { rewards: [1, undefined] }
  expect finish(g) is drop
}
"""
GATES = "policy gates\nfn few(n: rollouts) -> bool = n < 2\n"


class Files(unittest.TestCase):
    def test_beside_the_file(self):
        path = policy_file(USES + "# file team/gates.allot\n" + GATES)
        self.assertEqual(allot("check", path).code, 0)
        self.assertEqual(allot("test", path).code, 0)

    def test_a_folder_of_the_path(self):
        path = policy_file(USES)
        elsewhere = pathlib.Path(policy_file("# file team/gates.allot\n" + GATES)).parent
        missing = allot("check", path)
        self.assertEqual(missing.code, 1)
        self.assertIn("E0601", missing.err)
        self.assertIn("--path", missing.err)
        self.assertEqual(allot("check", path, "--path", str(elsewhere)).code, 0)
        self.assertEqual(allot("--path", str(elsewhere), "check", path).code, 0)
        os.environ["ALLOT_PATH"] = f"/nowhere:{elsewhere}"
        try:
            self.assertEqual(allot("check", path).code, 0)
        finally:
            del os.environ["ALLOT_PATH"]

    def test_the_stdlib_and_the_parameters_of_members(self):
        path = policy_file("policy team = sara(size: 16 rollouts) then pods(kept: 8 rollouts)\n")
        self.assertEqual(allot("check", path, "--set", "sara.size=4").code, 0)
        wrong = allot("check", path, "--set", "size=4")
        self.assertEqual(wrong.code, 2)
        self.assertIn("sara.size", wrong.err)

    def test_too_many_files_are_one_mistake(self):
        # Each file calls the next: the last that can be read calls one that is not there, and nobody is blamed for that.
        text = "policy p\nimport f0\non finish of group g { when f0.f(1.0) > 2 then drop }\n"
        for i in range(70):
            text += f"# file f{i}.allot\npolicy f{i}\nimport f{i + 1}\nfn f(x: real) -> real = f{i + 1}.f(x) + 1\n"
        text += "# file f70.allot\npolicy f70\nfn f(x: real) -> real = x\n"
        answer = allot("check", policy_file(text))
        self.assertEqual(answer.code, 1)
        self.assertEqual([line[:12] for line in answer.err.splitlines() if line.startswith("error")], ["error[E0601]"])

    def test_a_mistake_in_another_file_is_shown_there(self):
        path = policy_file(USES + "# file team/gates.allot\npolicy gates\nfn few(n: rollouts) -> bool = n <\n")
        answer = allot("check", path, "--json")
        self.assertEqual(answer.code, 1)
        places = [d["file"] for d in answer.json()[0]["diagnostics"]]
        self.assertTrue(places and all(place.endswith("team/gates.allot") for place in places), places)

    def test_the_hash_covers_all_files(self):
        hashes = set()
        for limit in ["2", "3"]:
            path = policy_file(USES + "# file team/gates.allot\n" + GATES.replace("2", limit))
            hashes.add(allot("explain", path, "--json").json()["sha256"])
        self.assertEqual(len(hashes), 2)

    def test_combinations_are_one_line(self):
        for text in ["policy a = selective_rollout then dynamic_sampling\n", "policy b = sara then pods(kept: 4)\n"]:
            answer = allot("check", policy_file(text))
            self.assertEqual(answer.code, 0, answer.err)

    def test_a_scenario_that_fails_shows_what_came(self):
        text = ('policy p\non finish of group g { when g.flat then drop because "flat" }\n'
                'scenario "s" { size 2 iteration { group a: rewards 1, 1 expect a is trained } }\n')
        answer = allot("test", policy_file(text))
        self.assertEqual(answer.code, 1)
        self.assertIn("expected: trained", answer.out)
        self.assertIn('got:      dropped because "flat"', answer.out)


if __name__ == "__main__":
    unittest.main()
