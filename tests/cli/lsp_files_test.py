"""allot lsp, asked about names that several files use."""

import asyncio
import pathlib
import unittest

from lsprotocol import types

from editor import WAIT, Editor, edited, place
from program import policy_file

GATES = """policy gates
# What a reward is worth.
param limit: real = 0.3 in 0..1
fn worth(x: real) -> real = x * x
on finish of group g { when worth(g.reward_mean ?? 0) < limit then drop }
"""
USER = """policy user
import gates as gg
on finish of group g { when gg.worth(g.reward_mean ?? 0) < 0.1 then drop }
"""
TEAM = """policy team = gates(limit: 0.4)
test "t" {
  with gates.limit = 0.5
  given g = group { rewards: [0.5, 0.5] }
  expect finish(g) is drop
}
"""


class SeveralFiles(Editor):
    async def asyncSetUp(self):
        # A blank in the folder's name: an address has it as %20.
        self.folder = pathlib.Path(policy_file(GATES)).parent.resolve() / "a b"
        self.folder.mkdir()
        self.paths = {}
        for name, text in [("gates", GATES), ("user", USER), ("team", TEAM)]:
            self.paths[name] = self.folder / f"{name}.allot"
            self.paths[name].write_text(text)
        await self.start(self.folder.as_uri())

    def uri(self, name):
        return self.paths[name].as_uri()

    def at(self, kind, name, position, **more):
        return kind(text_document=types.TextDocumentIdentifier(self.uri(name)), position=position, **more)

    async def rename(self, name, position, to):
        edits = await self.client.text_document_rename_async(self.at(types.RenameParams, name, position, new_name=to))
        return {uri: list(each) for uri, each in edits.changes.items()}

    async def test_a_function_is_renamed_in_all_files_open_or_not(self):
        self.assertEqual(await self.open(USER, self.uri("user")), [])
        changes = await self.rename("user", place(2, "gg.worth", USER, into=4), "value")
        self.assertEqual(set(changes), {self.uri("gates"), self.uri("user")})
        self.assertEqual(edited(GATES, changes[self.uri("gates")]), GATES.replace("worth(", "value("))
        self.assertEqual(edited(USER, changes[self.uri("user")]), USER.replace("gg.worth", "gg.value"))

    async def test_references_over_files(self):
        await self.open(USER, self.uri("user"))
        uses = await self.client.text_document_references_async(self.at(
            types.ReferenceParams, "user", place(2, "gg.worth", USER, into=4),
            context=types.ReferenceContext(include_declaration=True)))
        # Where it is declared, where its own file calls it, where the importer does.
        self.assertEqual([(use.uri, use.range.start.line) for use in uses],
                         [(self.uri("gates"), 3), (self.uri("gates"), 4), (self.uri("user"), 2)])

    async def test_a_parameter_of_a_member(self):
        await self.open(TEAM, self.uri("team"))
        for where in [place(0, "limit", TEAM), place(2, "limit", TEAM)]:
            found = await self.client.text_document_definition_async(self.at(types.DefinitionParams, "team", where))
            self.assertEqual((found.uri, found.range.start), (self.uri("gates"), place(2, "limit", GATES)))
        told = await self.client.text_document_hover_async(
            self.at(types.HoverParams, "team", place(2, "limit", TEAM)))
        self.assertIn("param limit: real = 0.3 in 0..1", told.contents.value)
        changes = await self.rename("team", place(2, "limit", TEAM), "least")
        self.assertEqual(edited(GATES, changes[self.uri("gates")]), GATES.replace("limit", "least"))
        self.assertEqual(edited(TEAM, changes[self.uri("team")]), TEAM.replace("limit", "least"))

    async def test_what_lies_outside_is_not_renamed(self):
        hidden = self.folder / ".kept" / "far.allot"
        hidden.parent.mkdir()
        hidden.write_text("policy far\nfn worth(x: real) -> real = x\n")
        self.paths["user"] = self.folder / ".kept" / "user.allot"
        text = USER.replace("import gates as gg", "import far as gg")
        self.assertEqual(await self.open(text, self.uri("user")), [])
        with self.assertRaisesRegex(Exception, "not part of the workspace"):
            await self.rename("user", place(2, "gg.worth", text, into=4), "value")

    async def test_an_argument_is_renamed_where_calls_name_it(self):
        named = USER.replace("gg.worth(g", "gg.worth(x: g").replace("drop }", 'drop because "{gg.worth(x: 0.5)}" }')
        own = GATES.replace("when worth(g", "when worth(x: g")
        wanted = {self.uri("gates"): own.replace("x * x", "reached * reached").replace("x:", "reached:"),
                  self.uri("user"): named.replace("x:", "reached:")}
        self.paths["user"].write_text(named)
        self.assertEqual(await self.open(own, self.uri("gates")), [])
        for name, where in [("gates", place(3, "x:", own)), ("gates", place(4, "x:", own)),
                            ("user", place(2, "x:", named)), ("user", place(2, "x:", named, nth=1))]:
            if name == "user":  # closed so far
                self.assertEqual(await self.open(named, self.uri("user")), [])
            changes = await self.rename(name, where, "reached")
            texts = {self.uri("gates"): own, self.uri("user"): named}
            self.assertEqual({uri: edited(texts[uri], edits) for uri, edits in changes.items()}, wanted)

    async def test_an_input_that_members_share_is_not_renamed_in_one_of_them(self):
        text = "policy {}\ninput hard: bool per prompt\non {} of group g {{ when hard[g.prompt] then {} }}\n"
        for name, point, answer in [("one", "finish", "drop"), ("two", "wave", "stop")]:
            self.paths[name] = self.folder / f"{name}.allot"
            self.paths[name].write_text(text.format(name, point, answer))
        one = text.format("one", "finish", "drop")
        self.assertEqual(await self.open(one, self.uri("one")), [])

        def others(**policies):
            for name, policy in policies.items():
                (self.folder / f"{name}.allot").write_text(policy)

        # The members of this one have one input between them.
        others(alone="policy alone = one then gates\n")
        changes = await self.rename("one", place(1, "hard", one), "tough")
        self.assertEqual(set(changes), {self.uri("one")})
        self.assertEqual(edited(one, changes[self.uri("one")]), one.replace("hard", "tough"))
        others(alone='policy alone = one then gates\ntest "t" {\n  given hard = true\n'
                     '  given g = group { rewards: [1, 1] }\n  expect finish(g) is drop\n}\n')
        with self.assertRaisesRegex(Exception, "alone.allot would have a mistake"):
            await self.rename("one", place(1, "hard", one), "tough")
        others(alone="policy alone = gates\n", inner="policy inner = first\nimport one as first\n",
               both="policy both = inner then two\n")
        with self.assertRaisesRegex(Exception, "both.allot share inputs by their names, and 'hard' is one of .*two.allot too"):
            await self.rename("one", place(1, "hard", one), "tough")

    async def test_more_text_than_is_looked_at_is_told(self):
        self.assertEqual(await self.open(GATES, self.uri("gates")), [])
        for i in range(17):  # each as large as a policy may be, and 16 are looked at
            (self.folder / f"large{i}.allot").write_text("#" * (1 << 20))
        with self.assertRaisesRegex(Exception, "too large ones"):
            await self.rename("gates", place(3, "worth", GATES), "value")

    async def test_an_importer_is_checked_again_as_the_imported_file_changes(self):
        self.assertEqual(await self.open(USER, self.uri("user")), [])
        self.assertEqual(await self.open(GATES, self.uri("gates")), [])
        changed = GATES.replace("worth(", "value(")
        self.assertEqual(await self.change(changed, self.uri("gates")), [])
        told = await asyncio.wait_for(self.client.published.get(), WAIT)
        self.assertEqual(told.uri, self.uri("user"))
        self.assertEqual([each.range.start.line for each in told.diagnostics], [2])
        self.assertEqual(await self.change(GATES, self.uri("gates")), [])
        told = await asyncio.wait_for(self.client.published.get(), WAIT)
        self.assertEqual((told.uri, list(told.diagnostics)), (self.uri("user"), []))

    async def test_completion_after_an_import_and_a_member(self):
        for name, text, there, absent in [
                ("user", "policy user\nimport gates as gg\non finish of group g { when gg.", "worth", "reward_mean"),
                ("team", 'policy team = gates\ntest "t" {\n  with gates.', "limit", "reward_mean")]:
            await self.open(text, self.uri(name))
            last = text.splitlines()[-1]
            items = await self.client.text_document_completion_async(
                self.at(types.CompletionParams, name, types.Position(2, len(last))))
            labels = {item.label for item in items}
            self.assertIn(there, labels)
            self.assertNotIn(absent, labels)


if __name__ == "__main__":
    unittest.main()
