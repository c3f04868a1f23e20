"""Files that no person would write: each is refused, or read, in bounded time and memory, and never ends the program.

Every command that reads a policy gets every file, on a stack of 1 MB; what has more to do where the stack is larger gets them
on one of 8 MB too.
"""

import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from program import ALLOT

MANY = 100_000
SECONDS = 20  # of the processor, for one command over all files of a kind; a busy machine may take longer
MEMORY = 3 << 30  # of address space
SANITIZED = "ALLOT_SANITIZED" in os.environ  # its shadow takes address space, and everything takes longer

FUNCTION = "policy p\nfn f(x: real) -> real = "
HANDLER = "policy p\non finish of group g {\n  "
BARRIER = "policy p\non update of batch b {\n  "


def nested(opening, middle, closing, head=FUNCTION, tail="\n", levels=MANY):
    """Levels of one kind: as many as asked for, and as many as fit into a file that is not refused for its size."""
    fitting = min(levels, 1_000_000 // max(1, len(opening) + len(closing)))
    return [head + opening * n + middle + closing * n + tail for n in {levels, fitting, 128, 127, 60}]


def brackets():
    files = []
    for opening, middle, closing in [
        ("(", "x", ")"), ("[", "1", "]"), ("f(", "x", ")"), ("f(x: ", "x", ")"), ("-", "x", ""), ("- ", "x", ""),
        ("not ", "true", ""), ("if x > 0 then ", "x", " else 1"), ("if x > 0 then 1 else ", "x", ""), ('"{', "x", '}"'),
        ("x[", "1", "]"), ("sum(", "x", " for y in [1])"), ("where(x > 0, 1, ", "x", ")"), ("min(1, ", "x", ")"),
        ("1 + (", "x", ")"), ("(x ?? ", "1", ")"), ("(not ", "x > 0", ")"), ("[[", "1", "]]"), ("{", "x", "}"),
        ("group { a: ", "1", " }"), ("allot 3 over y in [1], n in 0..1 maximizing ", "n", ""), ("(", "", ""), ("[", "", ""),
        ("{", "", ""), ('"{', "", ""), ("f(", "", ""), (")", "", ""), ("]", "", ""), ("}", "", ""), ('"', "", ""),
    ]:
        files += nested(opening, middle, closing)
    files += nested("vec<", "real", ">", "policy p\nstate s: ", " per run = 1\n")
    files += nested("mat<", "real", ">", "policy p\nfn f(x: ", ") -> real = 1\n")
    files += nested("{ ", "continue", " }", HANDLER, "\n}\n")
    files += nested("for each g in b.ended { ", "report r = 1", " }", BARRIER, "\n}\n")
    files += nested("[", "1", "]", 'policy p\ntest "t" { given g = group { rewards: ', " } }\n")
    files += nested("group { rewards: ", "[1]", " }", 'policy p\ntest "t" { given g = ', " }\n")
    files += nested("(", "1 > 0", ")", HANDLER + "when ", " then drop\n}\n")
    return files


def chains():
    files = []
    for operator in ["+", "-", "*", "/", "mod", "and", "or", "??", "<", "<=", ">", "==", "!=", "is undefined", "is not undefined",
                     "->", "=", "..", ",", "not", "if", "in", "mod mod", "%", "?"]:
        for terms in [1000, 1001, MANY]:
            files.append(FUNCTION + f" {operator} ".join(["x"] * terms) + "\n")
    for part in [".y", "[0]", "(x)", " x", "?", "%", " tokens", " for y in x", " where x"]:
        files.append(FUNCTION + "x" + part * MANY + "\n")
    for part in ["stop, ", "drop, ", "sample 1 more, ", "continue\n", "when true then drop\n", "let a = 1\n", "otherwise drop\n",
                 "report r = 1\n", 'warn when true because ""\n']:
        files.append(HANDLER + part * MANY + "continue\n}\n")
    for operator in ["+", "*", "/", "-"]:
        files.append("policy p\non loss of token t { set loss = " + f" {operator} ".join(["t.logprob"] * 1000) + " }\n")
    for start in ["1.0", "t.logprob"]:
        lets = f"  let a0 = {start}\n" + "".join(f"  let a{i} = a{i - 1} + a{i - 1}\n" for i in range(1, 100))
        files.append("policy p\non loss of token t {\n" + lets + "  set loss = a99 * t.logprob\n}\n")
        if start == "1.0":
            files.append("policy p\non wave of batch b {\n" + lets + "  let e = allot 8 rollouts over g in b.groups, n in 0..4 maximizing a99 * n\n"
                         "  when a99 > 1 then sample e more because \"{a99}\"\n  otherwise stop\n}\n")
            files.append("policy p\nbudget 100 rollouts per run\non finish of group g {\n" + lets + "  report r = if a99 > 0 then a99 else 1 / a99\n"
                         "  when mean(g.rewards) > a99 and mean(g.rewards) < a98 then drop\n  otherwise train\n}\n")
    for opening in ["exp(", "min(1, ", "-", "if t.advantage > 0 then 1 else "]:
        files.append("policy p\non loss of token t { set loss = " + opening * 120 + "t.logprob" + ")" * (120 * opening.count("(")) + " }\n")
    # What looks at what lets are made of must look at each once, and not let by let.
    doubling = "  let a0 = g.scored * 1.0\n" + "".join(f"  let a{i} = a{i - 1} + a{i - 1}\n" for i in range(1, 80))
    files.append("policy p\non score of rollout r { set reward = r.reward * 2 }\non finish of group g {\n" + doubling
                 + "  when a79 > 1 then drop\n}\n")
    wide = "".join(f"  let a{i} = " + " + ".join([f"a{i - 1}"] * 990) + "\n" for i in range(1, 95))
    rules = "".join(f"  when a94 > {i} then drop\n" for i in range(1800))
    files.append("policy p\non score of rollout r { set reward = r.reward * 2 }\non finish of group g {\n  let a0 = g.scored * 1.0\n"
                 + wide + rules + "}\n")
    allots = "".join(f"  let e{i} = allot 8 rollouts over g in b.groups, n in 0..4 maximizing a94 * n\n" for i in range(1700))
    files.append("policy p\nbudget 9 rollouts per run\non wave of batch b {\n  let a0 = 1.0 * budget.left\n" + wide + allots + "  stop\n}\n")
    files.append("policy p\non loss of token t {\n  let a0 = t.logprob\n" + wide + "  set loss = a94\n}\n")
    files.append(BARRIER + "remember s[g.prompt] = 1\n" * MANY + "}\n")
    files.append("policy p" + " then q" * MANY + "\n")
    files.append("policy p = a" + " then q(x: 1)" * 50_000 + "\n")
    files.append("policy p\nimport a" + ".b" * MANY + "\n")
    files.append(FUNCTION + "[" + "1, " * MANY + "1]\n")
    files.append(FUNCTION + "f(" + "x, " * MANY + "x)\n")
    files.append('policy p\ntest "t" { given g = group { rewards: [' + "1, " * MANY + "1] } expect finish(g) is train }\n")
    files.append('policy p\ntest "t" { given g = group { rewards: [1] * 9223372036854775807 } expect finish(g) is train }\n')
    files.append('policy p\ntest "t" { given g = group { rewards: ' + "[" * 20 + "1" + "] * 1000" * 20 + " } expect finish(g) is train }\n")
    files.append('policy p\nscenario "s" { ' + "iteration { group a: rewards 1 expect a is trained } " * 10_000 + "}\n")
    return files


def items():
    files = []
    for item in ["param a{}: real = 1\n", "fn f{}(x: real) -> real = x\n", "state s{}: int per run = 0\n",
                 "input i{}: real? per prompt\n", "budget 1 tokens per run\n", "import a{}\n", "refill at most 1 rounds then abort\n",
                 'test "{}" {{ }}\n', 'scenario "{}" {{ }}\n', "on finish of group g {{ when g.flat then drop }}\n", "hit when reward > 0\n",
                 "migrate s{} from int = old\n", "## {}\n", "# {}\n", "\n", "what{}\n", "on\n", "policy p{}\n"]:
        files.append("policy p\n" + "".join(item.format(i) for i in range(MANY)))
    loops = " + ".join(["sum(y for y in [1, 2])"] * 900)
    files.append("policy p\n" + "".join(f"fn f{i}(x: real) -> real = {loops}\n" for i in range(40)))
    calls = "policy p\nfn f0(x: real) -> real = x + x\n"
    calls += "".join(f"fn f{i}(x: real) -> real = f{i - 1}(x) + f{i - 1}(x)\n" for i in range(1, 1000))
    files.append(calls + "on finish of group g { when f999(1) > 0 then drop }\n")
    files.append("policy p\n" + "".join(f"fn f{i}(x: real) -> real = f{(i + 1) % 1500}(x)\n" for i in range(1500)))
    files.append("policy p\non finish of group g {\n" + "  let a0 = g.scored * 1.0\n"
                 + "".join(f"  let a{i} = a{i - 1} + a{i - 1}\n" for i in range(1, 1900)) + "  when a1899 > 0 then drop\n}\n")
    return files


def large():
    files = [part * (10_000_000 // len(part)) for part in ["\n", " ", "#", "a", "9", '"', "(", "policy p\n", "\0", "\u00e9", "a ", "\t\r\n"]]
    files += [text[:1_000_000] for text in files]
    files += ["policy p\n" + text[:1_000_000] for text in files[:12]]
    files += [FUNCTION + text[:1_000_000] for text in files[:12]]
    files += [HANDLER + 'drop because "' + text[:1_000_000] + '"\n}\n' for text in ["a" * 1_000_000, "{x}" * 300_000, "{{" * 400_000]]
    return files


def numbers():
    files = []
    for number in ["1e999", "-1e999", "1e-999", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
                   "-9223372036854775809", "1" * 400, "0." + "0" * 400 + "1", "1e308 * 10", "1.0 / 0", "1 / 0", "0 / 0", "5 mod 0",
                   "9223372036854775807 + 1", "-(-9223372036854775808)", "1__0", "0x10", "1.", ".5", "1e", "1e+", "1.2.3", "1_000",
                   "1e308%", "NaN", "inf", "infinity", "1e400%"]:
        files.append(f"policy p\nparam a: real = {number}\n")
        files.append(f"policy p\nparam a: int = {number}\n")
        files.append(f"policy p\nparam a: real = 1 in {number}..{number}\n")
        files.append(FUNCTION + number + "\n")
        files.append(f"policy p\nstate s: vec<real, {number}> per prompt = [0]\n")
        files.append(f"policy p\nbudget {number} tokens per run\n")
        files.append(f"policy p\non turn {number} of group g {{ stop }}\n")
        files.append(f"policy p\non wave of group g {{ defer at most {number} iterations }}\n")
        files.append(f"policy p\non wave of group g {{ sample {number} more }}\n")
        files.append(f"policy p\nrefill at most {number} rounds then abort\n")
        files.append(f"policy p\non size of batch b {{ start {number} each, up to {number} }}\n")
        files.append(f'policy p\ntest "t" {{ given g = group {{ rewards: [1] * {number} }} expect finish(g) is train }}\n')
        files.append(f"policy p\non wave of batch b {{ let n = allot {number} over g in b.groups, n in 0..{number} maximizing n  sample n more }}\n")
    return files


def encodings():
    good = b"policy p\non finish of group g { when g.flat then drop otherwise train }\n"
    files = [b"", b"\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf" + good, good.replace(b"\n", b"\r\n"), good.replace(b"\n", b"\r"),
             good.replace(b"\n", b"\n\r"), good + b"\0", b"\0" + good, good.replace(b"g.flat", b"g.fl\0at"), good + b"\xff", b"\xff\xfe" + good,
             good.decode().encode("utf-16"), good.decode().encode("utf-32"), good + b"\xc3", good + b"\xed\xa0\x80", good + b"\xf4\x90\x80\x80",
             good + b"\xc0\x80", good + b"# \xe2\x80\xae\n", good[:-3], good[:-1], good + b'"', good + b'test "', good + b"# comment without end",
             good.replace(b"drop", b'drop because "not ended'), good.replace(b"drop", b'drop because "{'),
             good.replace(b"drop", b'drop because "\\'), good.replace(b"drop", b'drop because "{g.flat'), good + b"\x1b[31m", good + b"\x07\x08\x7f",
             b"\xfe" * 100_000, b"\xf0\x9f\x98\x80" * 100_000, b"\xcc\x81" * 100_000]
    for alike in ["p\u043elicy p\n", "policy \u0440\n", "policy p\nparam thre\u0455hold: real = 1\n", "policy p\u200b\n", "policy p\nparam \u03b1: real = 1\n",
                  "policy p\nparam e\u0301: real = 1\n", "policy \uff50\n", "policy p\nparam \u0131: real = 1\n", "policy p\u037e\n", "policy p\n\u00a0param a: real = 1\n"]:
        files.append(alike.encode())
    for end in range(0, len(good), 3):
        files += [good[:end], good[end:], good[:end] + b"\0" + good[end:], good[:end] + b"\xff" + good[end:]]
    return files


class Hostile(unittest.TestCase):
    def run_on(self, stack, words, stdin=None):
        seconds = SECONDS * (20 if SANITIZED else 1)

        def limits():
            resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        return subprocess.run([ALLOT, *words], input=stdin, capture_output=True, timeout=20 * seconds, preexec_fn=limits)

    def fine(self, process):
        """Refused or read, in words of ours."""
        text = process.stderr + (b"" if "--ir" in process.args else process.stdout)  # which is LLVM's own language
        alien = [word for word in [b"std::", b"boost::", b"llvm", b"LLVM", b"terminate called", b"bad_alloc", b"Sanitizer"] if word in text]
        return process.returncode in (0, 1, 2) and not alien

    def each(self, make, single=("explain",)):  # the commands that take one file
        with tempfile.TemporaryDirectory(prefix="allot-hostile-") as folder:
            paths = []
            for i, content in enumerate(make()):
                path = pathlib.Path(folder) / f"{i:04}.allot"
                path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
                paths.append(str(path))
            for stack, words in [(8 << 20, ["test"]), (1 << 20, ["check", "--json"]), (1 << 20, ["fmt", "--diff"]), (1 << 20, ["test"])]:
                process = self.run_on(stack, [*words, *paths])
                if not self.fine(process):
                    self.blame(stack, words, paths, process)
            for command in single:
                for path in paths:
                    process = self.run_on(1 << 20, [*command.split(), path])
                    self.assertTrue(self.fine(process), (command, self.head(path), process.returncode, process.stderr[-500:]))
            self.lsp(1 << 20, paths)

    def blame(self, stack, words, paths, whole):
        for path in paths:
            process = self.run_on(stack, [*words, path])
            self.assertTrue(self.fine(process), (stack, words, self.head(path), process.returncode, process.stderr[-500:]))
        self.fail((stack, words, "all files together", whole.returncode, whole.stderr[-500:]))

    def head(self, path):
        return pathlib.Path(path).name, pathlib.Path(path).read_bytes()[:80]

    def lsp(self, stack, paths):
        def message(body):
            data = json.dumps({"jsonrpc": "2.0", **body}).encode()
            return b"Content-Length: %d\r\n\r\n" % len(data) + data

        session = [message({"id": 0, "method": "initialize", "params": {}}), message({"method": "initialized", "params": {}})]
        number = 0
        for path in paths:
            uri = "file://" + path
            text = pathlib.Path(path).read_bytes().decode("utf-8", "replace")
            session.append(message({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "languageId": "allot", "version": 1, "text": text}}}))
            for method in ["formatting", "documentSymbol", "hover", "completion", "references"]:
                number += 1
                session.append(message({"id": number, "method": "textDocument/" + method, "params": {
                    "textDocument": {"uri": uri}, "position": {"line": 1, "character": 5}, "options": {}, "context": {"includeDeclaration": True}}}))
            session.append(message({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}}))
        number += 1
        session += [message({"id": number, "method": "shutdown"}), message({"method": "exit"})]
        process = self.run_on(stack, ["lsp"], b"".join(session))
        self.assertEqual(process.returncode, 0, (stack, process.stderr[-500:]))
        self.assertIn(b'"id":%d' % number, process.stdout)

    def test_nesting(self):
        self.each(brackets)

    def test_chains(self):
        self.each(chains)

    def test_items(self):
        self.each(items)

    def test_size(self):
        self.each(large)

    def test_numbers(self):
        self.each(numbers, single=())

    def test_encodings(self):
        self.each(encodings, single=())

    def test_expressions(self):
        for text in ["(" * 60_000 + "1" + ")" * 60_000, "-" * 90_000 + "1", "1+" * 60_000 + "1", "not " * 30_000 + "true", "[" * 60_000,
                     "if 1>0 then " * 4000 + "1" + " else 2" * 4000, '"{' * 30_000, "[1]" + "[0]" * 30_000, "9" * 100_000, "1e999",
                     "\u00e9" * 40_000, "1 mod " * 20_000 + "1", "+".join(["1.5"] * 1000), "min(1," * 127 + "1" + ")" * 127]:
            process = self.run_on(1 << 20, ["eval", text])
            self.assertTrue(self.fine(process), (text[:60], process.returncode, process.stderr[-500:]))

    def test_messages_of_an_editor(self):
        deep = "[" * MANY + "]" * MANY
        for body in [f'{{"jsonrpc":"2.0","id":{deep},"method":"x"}}', f'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{deep}}}', deep,
                     '{"id":1e999,"method":"x"}', '{"method":' + deep + "}", "{" * MANY, "\xff", ""]:
            data = body.encode("latin-1")
            process = self.run_on(1 << 20, ["lsp"], b"Content-Length: %d\r\n\r\n" % len(data) + data)
            self.assertIn(process.returncode, (0, 1), (body[:60], process.stderr[-500:]))
        for head in [b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"Content-Length: 5\r\n", b"\r\n\r\n", b"a" * 1_000_000]:
            self.assertIn(self.run_on(1 << 20, ["lsp"], head).returncode, (0, 1), head[:60])


if __name__ == "__main__":
    unittest.main()
