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


class Lsp(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = Client()
        await self.client.start_io(ALLOT, "lsp")
        answer = await asyncio.wait_for(self.client.initialize_async(types.InitializeParams(
            capabilities=types.ClientCapabilities(), process_id=None, root_uri=None)), WAIT)
        self.capabilities = answer.capabilities
        self.client.initialized(types.InitializedParams())
        self.first = await self.open(TEXT)

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

    async def change(self, text):
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=URI),
            [types.TextDocumentContentChangeWholeDocument(text)]))
        return await self.published()

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
        lines = TEXT.splitlines()
        for edit in sorted(edits.changes[URI], key=lambda e: (e.range.start.line, -e.range.start.character)):
            row = lines[edit.range.start.line]  # no character here is beyond the basic plane
            lines[edit.range.start.line] = (row[: edit.range.start.character] + edit.new_text +
                                            row[edit.range.end.character:])
        self.assertEqual("\n".join(lines) + "\n", TEXT.replace("divergence", "distance"))
        self.assertEqual(await self.change("\n".join(lines) + "\n"), [])

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


if __name__ == "__main__":
    unittest.main()
