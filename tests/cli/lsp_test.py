"""allot lsp, asked by the client of pygls over stdin and stdout, as an editor asks."""

import asyncio
import pathlib
import unittest

from lsprotocol import types

from editor import TEXT, URI, WAIT, Editor, edited, place
from program import SOURCE, policy_file


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

    async def uses(self, line, word, text, nth=0):
        """Lines and columns, the declaration among them."""
        found = await self.client.text_document_references_async(self.at(
            types.ReferenceParams, place(line, word, text, nth), context=types.ReferenceContext(include_declaration=True)))
        return [use.range.start for use in found]

    async def test_words_of_the_grammar_are_no_uses(self):
        text = ("policy p\nparam most: real = 0.5 in 0..1\nparam rounds: real = 0.5 in 0..1\n"
                "param at: turns = 5 turns\nparam chunk: tokens = 100 tokens\nrefill at most 10 rounds then abort\n"
                "on every chunk tokens of rollout r { when r.tokens > 500 tokens then stop }\n"
                "on turn at of group g { when g.alive < 2 then stop }\n"
                "on wave of group g {\n  when prob_mixed(beta(1, 1), hits: 1, misses: 1, size: 8) < ((most)) "
                "then defer at most 2 iterations because \"{rounds} at most {(most)}\"\n}\n"
                "test \"t\" {\n  with at = 6 turns\n  given g = group { rewards: [1, 1] }\n"
                "  expect wave(g) is continue\n}\n")
        await self.change(text)
        # Read off the text: `refill at most … rounds`, `defer at most` and the words of a message are none.
        for name, declared, lines in [("most", 1, [1, 9, 9]), ("rounds", 2, [2, 9]), ("at", 3, [3, 7, 12]),
                                      ("chunk", 4, [4, 6])]:
            self.assertEqual([use.line for use in await self.uses(declared, name, text)], lines, name)

    async def test_a_name_that_is_a_word_of_the_grammar_too_is_renamed(self):
        text = ("policy p\nparam most: real = 0.5 in 0..1\nparam rounds: rollouts = 2\nstate a: int per run = 0\n"
                "refill at most 2 rounds then train_partial\nbudget 12 rollouts per iteration\n"
                "on size of batch b { start rounds each }\n"
                "on wave of group g {\n  when (g.reward_mean ?? 0) < most then stop, drop, refill because \"at most\"\n}\n"
                "on update of batch b { remember a = a + 1 }\n"
                "scenario \"s\" {\n  with most = 0.6, rounds = 2\n  iteration {\n    group a: rewards 1, 1\n"
                "    expect a is trained\n    expect rounds == 1 and a.started == 2 and a == 1\n  }\n}\n")
        self.assertEqual(await self.change(text), [])
        # What a scenario calls `rounds` is the run's, and its group `a` is no state.
        for declared, name, to, wanted in [
                (1, "most", "least", text.replace("param most", "param least").replace("< most", "< least")
                 .replace("with most", "with least")),
                (2, "rounds", "lots", text.replace("param rounds", "param lots").replace("start rounds", "start lots")
                 .replace(", rounds = 2", ", lots = 2")),
                (3, "a:", "seen", text.replace("state a", "state seen").replace("remember a = a", "remember seen = seen")
                 .replace("a == 1", "seen == 1"))]:
            edits = await self.client.text_document_rename_async(
                self.at(types.RenameParams, place(declared, name, text), new_name=to))
            self.assertEqual(edited(text, edits.changes[URI]), wanted)

    async def test_labels_name_the_arguments_of_the_function_that_is_called(self):
        text = ("policy p\nfn f(x: real) -> real = x\nfn h(x: real) -> real = f(x: x) + 1\n"
                "on finish of group g { when h(x: f(x: g.reward_mean ?? 0)) > 1 then drop because \"{f(x: 1)}\" }\n")
        self.assertEqual(await self.change(text), [])
        # Each `x` of the text by its line and its number there, read off: of `f`, then of `h`.
        for places in [[(1, 0), (1, 1), (2, 1), (3, 1), (3, 2)], [(2, 0), (2, 2), (3, 0)]]:
            wanted = [place(line, "x", text, nth) for line, nth in places]
            for line, nth in places:
                self.assertEqual(await self.uses(line, "x", text, nth), wanted, (line, nth))

    async def test_an_input_that_a_test_gives_is_renamed_there_too(self):
        text = ("policy p\ninput hard: bool per prompt\non finish of group g { when hard[g.prompt] then drop }\n"
                "test \"t\" {\n  given hard = true\n  given g = group { rewards: [1, 0] }\n  expect finish(g) is drop\n}\n")
        self.assertEqual(await self.change(text), [])
        edits = await self.client.text_document_rename_async(
            self.at(types.RenameParams, place(1, "hard", text), new_name="tough"))
        self.assertEqual(edited(text, edits.changes[URI]), text.replace("hard", "tough"))

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


if __name__ == "__main__":
    unittest.main()
