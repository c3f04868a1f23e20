"""An editor for the tests: the client of pygls, and where the words of a text stand."""

import asyncio
import unittest

from lsprotocol import types
from pygls.lsp.client import BaseLanguageClient

from program import ALLOT

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
