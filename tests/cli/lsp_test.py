"""allot lsp, asked by the client of pygls over stdin and stdout, as an editor asks."""

import asyncio
import pathlib
import unittest

from lsprotocol import types
from pygls.lsp.client import BaseLanguageClient

from program import ALLOT, SOURCE, policy_file

URI = "file:///early.allot"
TEXT = """## Stops what repeats itself.
policy early
## How alike is too alike.
param threshold: real = 0.12 in 0..1
param size: rollouts = 8
hit when reward >= 1.0
on turn 10 of group g {
  let divergence = mean_pairwise(normalized_edit_distance, prefixes(g.actions, 10, padded))
  when (divergence ?? 1.0) < threshold then stop, drop because "é: {divergence} < {threshold}"
  otherwise continue
}
on wave of group g {
  let mixed = prob_mixed(beta(1, 1), hits: g.hits, misses: g.misses, size: size)
  when mixed < threshold then stop
  otherwise complete to size
}
test "t" {
  with threshold = 0.5
  given g = group { rewards: [1, 0] }
  expect wave(g) is complete to 8
}
"""
WAIT = 20  # seconds; the machine may be busy


def place(line, word, text=TEXT, nth=0, into=0):
    """The position of a word on a line (from 0), in UTF-16 units."""
    row = text.splitlines()[line]
    at = -1
    for _ in range(nth + 1):
        at = row.index(word, at + 1)
    return types.Position(line, len(row[: at + into].encode("utf-16-le")) // 2)


class Client(BaseLanguageClient):
    def __init__(self):
        super().__init__("allot-tests", "1")
        self.published = asyncio.Queue()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            self.published.put_nowait(params)


def edited(text, edits):
    """The text after the edits; no character of these texts is beyond the basic plane."""
    lines = text.splitlines()
    for edit in sorted(edits, key=lambda e: (e.range.start.line, -e.range.start.character)):
        row = lines[edit.range.start.line]
        lines[edit.range.start.line] = (row[: edit.range.start.character] + edit.new_text +
                                        row[edit.range.end.character:])
    return "\n".join(lines) + "\n"


class Editor(unittest.IsolatedAsyncioTestCase):
    async def start(self, root=None):
        self.client = Client()
        await self.client.start_io(ALLOT, "lsp")
        answer = await asyncio.wait_for(self.client.initialize_async(types.InitializeParams(
            capabilities=types.ClientCapabilities(), process_id=None, root_uri=root)), WAIT)
        self.capabilities = answer.capabilities
        self.client.initialized(types.InitializedParams())

    async def asyncTearDown(self):
        await asyncio.wait_for(self.client.shutdown_async(None), WAIT)
        self.client.exit(None)
        await self.client.stop()

    async def published(self):
        return list((await asyncio.wait_for(self.client.published.get(), WAIT)).diagnostics)

    async def open(self, text, uri=URI):
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(
            types.TextDocumentItem(uri=uri, language_id="allot", version=1, text=text)))
        return await self.published()

    async def change(self, text, uri=URI):
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(text)]))
        return await self.published()


class Lsp(Editor):
    async def asyncSetUp(self):
        await self.start()
        self.first = await self.open(TEXT)

    def at(self, kind, position, **more):
        return kind(text_document=types.TextDocumentIdentifier(URI), position=position, **more)

    async def hover(self, position):
        answer = await asyncio.wait_for(
            self.client.text_document_hover_async(self.at(types.HoverParams, position)), WAIT)
        return None if answer is None else answer.contents.value

    async def labels(self, position):
        items = await asyncio.wait_for(
            self.client.text_document_completion_async(self.at(types.CompletionParams, position)), WAIT)
        return {item.label: item for item in items}

    async def test_what_it_offers(self):
        self.assertTrue(self.capabilities.hover_provider)
        self.assertTrue(self.capabilities.rename_provider)
        self.assertEqual(self.capabilities.text_document_sync.change, types.TextDocumentSyncKind.Full)

    async def test_diagnostics_as_one_types(self):
        self.assertEqual(self.first, [])
        broken = TEXT.replace("mixed < threshold", "mixed < treshold").replace("divergence ?? 1.0", "divergence")
        found = {each.code: each for each in await self.change(broken)}
        self.assertEqual(set(found), {"E0101", "E0118"})
        self.assertEqual(found["E0101"].severity, types.DiagnosticSeverity.Error)
        self.assertEqual(found["E0101"].range.start, place(13, "treshold", broken))
        self.assertIn("threshold", found["E0101"].message)
        self.assertEqual(await self.change(TEXT), [])

    async def test_hover(self):
        unit = await self.hover(place(12, "g.hits", into=3))
        self.assertIn("g.hits: rollouts", unit)
        self.assertIn("Scored rollouts that met the `hit` condition", unit)
        parameter = await self.hover(place(8, "threshold"))
        self.assertIn("param threshold: real = 0.12 in 0..1", parameter)
        self.assertIn("How alike is too alike.", parameter)
        self.assertIn("of type real?", await self.hover(place(8, "divergence")))
        self.assertIn("prob_mixed(belief: beta, hits: rollouts", await self.hover(place(12, "prob_mixed")))
        self.assertIn("Rules are tried in order", await self.hover(place(13, "when")))
        self.assertIsNone(await self.hover(types.Position(0, 3)))

    async def test_completion(self):
        after_dot = await self.labels(place(12, "g.hits", into=2))
        self.assertIn("hit_rate", after_dot)
        self.assertNotIn("slots", after_dot)       # a fact of a batch
        self.assertNotIn("threshold", after_dot)
        here = await self.labels(place(13, "mixed"))
        self.assertLessEqual({"threshold", "mixed", "clamp", "when", "drop"}, set(here))
        self.assertNotIn("divergence", here)        # a let of the other handler
        self.assertIn("x, moved into low..high", here["clamp"].documentation.value)
        text = TEXT.replace("param size: rollouts = 8", "param size: rollouts = 8 ")
        await self.change(text)
        units = await self.labels(types.Position(4, len("param size: rollouts = 8 ")))
        self.assertIn("rollouts", units)
        self.assertNotIn("clamp", units)

    async def test_completion_while_a_bracket_is_open(self):
        for head, here, elsewhere in [
                ("on wave of group one { when one.", "hit_rate", "turn_count"),
                ("on turn 5 of group one { when one.", "alive", "hit_rate"),           # rewards are not known yet
                ("on size of batch all { start [8 for q in all.", "prompts", "hit_rate"),
                ("on size of batch all { let n = all.", "budget", "hit_rate"),
                ("on finish of group g { report x = sum(each.tokens for each in g.rollouts where each.", "alive", "hit_rate"),
                ("on update of batch all { for each done in all.ended { report x = done.", "hit_rate", "slots")]:
            await self.change("policy p\nhit when reward >= 1.0\n" + head)
            labels = await self.labels(types.Position(2, len(head)))
            self.assertIn(here, labels, head)
            self.assertNotIn(elsewhere, labels, head)
            self.assertNotIn("??", labels)

    async def test_completion_where_few_words_can_follow(self):
        head = "policy p\nbudget 9 tokens per run\n"
        for line, there, absent in [
                ("param a: ", {"real", "beta", "tokens"}, "clamp"),
                ("fn f(x: ", {"real"}, "clamp"),
                ("on ", {"turn", "finish", "update"}, "clamp"),
                ("on update of batch b { report left = b.budget.", {"left", "spent", "total"}, "hit_rate"),
                ('test "t" { expect finish(g) is ', {"drop", "stop", "train"}, "clamp"),
                ('scenario "s" { iteration { group a: rewards 1 expect a is ', {"trained", "dropped"}, "clamp"),
                ("param a: real = clamp(x: ", {"clamp"}, "trained")]:
            await self.change(head + line)
            labels = await self.labels(types.Position(2, len(line)))
            self.assertLessEqual(there, set(labels), line)
            self.assertNotIn(absent, labels, line)

    async def test_definition_and_references(self):
        found = await self.client.text_document_definition_async(
            self.at(types.DefinitionParams, place(13, "threshold")))
        self.assertEqual(found.range.start, place(3, "threshold"))
        uses = await self.client.text_document_references_async(self.at(
            types.ReferenceParams, place(3, "threshold"), context=types.ReferenceContext(include_declaration=True)))
        # Its declaration, the rule and the message of the first handler, the rule of the second, the test.
        self.assertEqual([use.range.start for use in uses],
                         [place(3, "threshold"), place(8, "threshold"), place(8, "threshold", nth=1),
                          place(13, "threshold"), place(17, "threshold")])
        self.assertEqual(uses[2].range.start.character, TEXT.splitlines()[8].rindex("threshold"))

    async def test_a_function_of_another_file(self):
        path = policy_file("policy p\nimport gates\non finish of group g { when gates.few(g.scored) then drop }\n"
                           "# file gates.allot\npolicy gates\n\nfn few(n: rollouts) -> bool = n < 2\n")
        uri = pathlib.Path(path).as_uri()
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(
            types.TextDocumentItem(uri, "allot", 1, pathlib.Path(path).read_text())))
        where = dict(text_document=types.TextDocumentIdentifier(uri), position=types.Position(2, 36))
        told = await self.client.text_document_hover_async(types.HoverParams(**where))
        self.assertIn("fn few(n: rollouts) -> bool = n < 2", told.contents.value)
        found = await self.client.text_document_definition_async(types.DefinitionParams(**where))
        self.assertEqual(found.uri, (pathlib.Path(path).parent / "gates.allot").as_uri())
        self.assertEqual(found.range, types.Range(types.Position(2, 3), types.Position(2, 6)))

    async def test_names_are_not_confused_with_words_and_labels(self):
        uses = await self.client.text_document_references_async(self.at(
            types.ReferenceParams, place(4, "size"), context=types.ReferenceContext(include_declaration=False)))
        # `size: size`: the label is the function's, the value the parameter's.
        self.assertEqual([use.range.start for use in uses], [place(12, "size", nth=1), place(14, "size")])

    async def test_rename(self):
        edits = await self.client.text_document_rename_async(
            self.at(types.RenameParams, place(8, "divergence"), new_name="distance"))
        after = edited(TEXT, edits.changes[URI])
        self.assertEqual(after, TEXT.replace("divergence", "distance"))
        self.assertEqual(await self.change(after), [])

    async def test_a_let_that_a_test_reads(self):
        text = ("policy p\nparam limit: real = 0.5 in 0..1\non finish of group g {\n  let w = g.reward_mean ?? 0\n"
                "  when w < limit then drop\n}\ntest \"t\" {\n  given g = group { rewards: [0.1, 0.1] }\n"
                "  expect w < limit\n  expect finish(g) is drop\n}\n")
        await self.change(text)
        use = place(8, "w <", text)
        found = await self.client.text_document_definition_async(self.at(types.DefinitionParams, use))
        self.assertEqual(found.range.start, place(3, "w", text))
        self.assertIn("let w = g.reward_mean", await self.hover(use))
        edits = await self.client.text_document_rename_async(
            self.at(types.RenameParams, place(3, "w", text), new_name="worth"))
        self.assertEqual(edited(text, edits.changes[URI]),
                         text.replace("let w", "let worth").replace("when w ", "when worth ")
                         .replace("expect w ", "expect worth "))
        # The test finds the lets by the group's name, so that name cannot change in one place alone.
        for where in [place(2, "g {", text), place(7, "g =", text)]:
            with self.assertRaisesRegex(Exception, "a test reads"):
                await self.client.text_document_rename_async(self.at(types.RenameParams, where, new_name="all"))

    async def test_what_check_refuses_is_no_new_name(self):
        with self.assertRaisesRegex(Exception, "would have a mistake"):
            await self.client.text_document_rename_async(
                self.at(types.RenameParams, place(3, "threshold"), new_name="iteration"))

    async def test_a_name_that_would_hide_another_is_refused(self):
        # `hit` would compare the parameter with itself.
        text = "policy p\nparam limit: real = 0.5 in 0..1\nhit when reward >= limit\n" \
               "on finish of group g { when g.hits == 0 then drop }\n"
        self.assertEqual(await self.change(text), [])
        with self.assertRaisesRegex(Exception, "of the rollout"):
            await self.client.text_document_rename_async(
                self.at(types.RenameParams, place(1, "limit", text), new_name="reward"))
        # Without a `hit` nothing reads a rollout by its bare words.
        free = text.replace("hit when reward >= limit\n", "").replace("g.hits == 0", "(g.reward_mean ?? 0) < limit")
        self.assertEqual(await self.change(free), [])
        edits = await self.client.text_document_rename_async(
            self.at(types.RenameParams, place(1, "limit", free), new_name="reward"))
        self.assertEqual(edited(free, edits.changes[URI]), free.replace("limit", "reward"))
        await self.change(TEXT)
        with self.assertRaisesRegex(Exception, "also the name of a built-in function"):
            await self.client.text_document_rename_async(
                self.at(types.RenameParams, place(8, "divergence"), new_name="clamp"))

    async def test_a_name_that_is_taken_is_refused(self):
        for name in ["size", "when", "2x"]:
            with self.assertRaises(Exception) as raised:
                await self.client.text_document_rename_async(
                    self.at(types.RenameParams, place(8, "threshold"), new_name=name))
            self.assertIn(name, str(raised.exception))

    async def test_formatting(self):
        rough = "policy p\n\n\nparam  a:int=1\n"
        await self.change(rough)
        edits = await self.client.text_document_formatting_async(types.DocumentFormattingParams(
            types.TextDocumentIdentifier(URI), types.FormattingOptions(tab_size=2, insert_spaces=True)))
        self.assertEqual([edit.new_text for edit in edits], ["policy p\n\nparam a: int = 1\n"])
        self.assertEqual(edits[0].range.start, types.Position(0, 0))
        await self.change("policy p\nparam a: int =\n")
        self.assertIsNone(await self.client.text_document_formatting_async(types.DocumentFormattingParams(
            types.TextDocumentIdentifier(URI), types.FormattingOptions(tab_size=2, insert_spaces=True))))

    async def test_outline(self):
        found = await self.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(types.TextDocumentIdentifier(URI)))
        self.assertEqual([each.name for each in found],
                         ["threshold", "size", "on turn 10 of group g", "on wave of group g", "test: t"])
        await self.change(TEXT + 'scenario "s" { iteration { group a: rewards 1 expect a is trained } }\n')
        found = await self.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(types.TextDocumentIdentifier(URI)))
        self.assertEqual(found[-1].name, "scenario: s")

    async def test_every_policy_of_stdlib_can_be_asked_everywhere(self):
        for path in sorted((SOURCE / "stdlib").glob("*.allot"))[:4]:
            text = path.read_text()
            await self.change(text)
            for line in range(0, len(text.splitlines()), 3):
                for character in range(0, 60, 12):
                    await self.hover(types.Position(line, character))
            self.assertTrue(await self.labels(types.Position(0, 0)) is not None)

    async def test_a_request_that_makes_no_sense_is_refused_and_the_server_lives(self):
        with self.assertRaises(Exception):
            await self.client.text_document_hover_async(types.HoverParams(
                text_document=types.TextDocumentIdentifier("file:///elsewhere.allot"), position=types.Position(0, 0)))
        self.assertIsNotNone(await self.hover(place(13, "when")))


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

    async def test_an_argument_that_a_call_elsewhere_names_is_not_renamed(self):
        self.assertEqual(await self.open(GATES, self.uri("gates")), [])
        where = place(3, "x:", GATES)
        changes = await self.rename("gates", where, "reward_of")
        self.assertEqual(set(changes), {self.uri("gates")})
        self.paths["user"].write_text(USER.replace("gg.worth(", "gg.worth(x: "))
        with self.assertRaisesRegex(Exception, "user.allot would have a mistake"):
            await self.rename("gates", where, "reward_of")

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
