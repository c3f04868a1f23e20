// The pages of what the scanner and the grammar say. A test holds every `wrong` to its code and every `right` to none.
// What cannot stand in a page is written in the notation of example() (lang/codes.h).
#include <array>

#include "lang/codes.h"

namespace allot::lang {
namespace {

constexpr std::array<Code, 23> codes{{
    {"E0001", "something is missing or too much",
     "The words so far can go on in the ways that the message names, and what follows is none of them. Where the line "
     "simply ends too early, the caret stands right after its last word.",
     "policy p\nparam at: turns =\non turn at of group g { stop }", "policy p\nparam at: turns = 10\non turn at of group g { stop }"},
    {"E0002", "a line that begins nothing",
     "Outside braces a policy file holds declarations, handlers and tests. Each begins with one of the words policy, "
     "param, hit, flat, budget, refill, state, input, fn, on and test.",
     "policy p\nparm at: turns = 10\non turn at of group g { stop }", "policy p\nparam at: turns = 10\non turn at of group g { stop }"},
    {"E0003", "a bracket that is never closed",
     "The bracket under the caret has no partner. Where the next declaration, handler or test begins before it is "
     "closed, that place is shown too: the partner is missing somewhere between.",
     "policy p\nfn twice(x: real) -> real = (x + x\non finish of group g { report x = twice(g.scored / 1 rollout) }",
     "policy p\nfn twice(x: real) -> real = (x + x)\non finish of group g { report x = twice(g.scored / 1 rollout) }"},
    {"E0004", "a bracket that closes nothing",
     "No bracket of this kind is open here. Either it is one too many, or its partner is of another kind.",
     "policy p\nfn twice(x: real) -> real = x + x)\non finish of group g { report x = twice(g.scored / 1 rollout) }",
     "policy p\nfn twice(x: real) -> real = x + x\non finish of group g { report x = twice(g.scored / 1 rollout) }"},
    {"E0005", "a string or a hole without an end",
     "A string ends on the line on which it begins, and so do the holes in it. A line break in a message is written "
     "\\n, a brace is written twice.",
     "policy p\non finish of group g { drop because \"flat }", "policy p\non finish of group g { drop because \"flat\" }"},
    {"E0006", "something that means nothing inside a string",
     "In a string \\n is a line break, \\\" a quote and \\\\ a backslash; { and } enclose a value to be shown, and are "
     "doubled where the braces themselves are meant. The title of a test shows no values.",
     "policy p\non finish of group g { drop because \"50\\% flat\" }", "policy p\non finish of group g { drop because \"50% flat\" }"},
    {"E0007", "nested too deep",
     "Brackets, holes in messages, unary operators, conditionals and types may stand inside each other up to a fixed "
     "depth, so that no policy can exhaust the memory of the program that reads it. The message names the limit and the "
     "place of the first level beyond it. On a thread with a small stack the limit may be lower. Loops may stand in "
     "few others: each multiplies the work.",
     "policy p\nfn f(x: real) -> real = <129 times: (>x<129 times: )>\non finish of group g { report x = f(g.scored / 1 rollout) }",
     "policy p\nfn f(x: real) -> real = ((x))\non finish of group g { report x = f(g.scored / 1 rollout) }"},
    {"E0008", "a chain that is too long",
     "A chain of operands such as a + b + c may have a fixed number of terms. Sums over many values are written as "
     "comprehensions: sum(f(r) for r in g.rollouts).",
     "policy p\nfn f(x: real) -> real = <1000 times: x + >x\non finish of group g { report x = f(g.scored / 1 rollout) }",
     "policy p\nfn f(x: real) -> real = 1001 * x\non finish of group g { report x = f(g.scored / 1 rollout) }"},
    {"E0009", "a number that does not fit an int",
     "An int has 64 bits: -9223372036854775808 to 9223372036854775807. Write a real (1e19) where size matters more "
     "than the last digit.",
     "policy p\nparam most: int = 9223372036854775808\non finish of group g { report x = most }",
     "policy p\nparam most: int = 9223372036854775807\non finish of group g { report x = most }"},
    {"E0010", "neither a number nor a name",
     "Numbers are written 12, 4_000, 0.5 or 1e-9: a digit before and after the point, single underscores between "
     "digits. A unit is a word of its own.",
     "policy p\nparam at: turns = 10turns\non turn at of group g { stop }", "policy p\nparam at: turns = 10 turns\non turn at of group g { stop }"},
    {"E0011", "a number that does not fit a real",
     "A real is a double: its size lies between about 5e-324 and 1.8e308. There is no infinity and no NaN.",
     "policy p\nparam most: real = 1e400\non finish of group g { report x = most }", "policy p\nparam most: real = 1e300\non finish of group g { report x = most }"},
    {"E0012", "a comparison in two directions",
     "Comparisons may be chained in one direction, 0 < m < 1 or a == b == c. A chain that turns round reads like "
     "something it is not; join two comparisons with `and`. `is undefined` compares nothing and stands alone.",
     "policy p\nhit when 0 < reward > 1", "policy p\nhit when 0 < reward and reward > 1"},
    {"E0017", "a file without a policy", "A policy file names its policy once: the word policy and a name.", "param at: turns = 10\non turn at of group g { stop }",
     "policy p\nparam at: turns = 10\non turn at of group g { stop }"},
    {"E0018", "a second policy", "One file holds one policy.", "policy p\npolicy another", "policy p"},
    {"E0019", "a file that is too large", "A policy is a few pages. The message names the limit and what was found.", "policy p\n<1048576 times: #>", "policy p\n# a comment"},
    {"E0020", "not UTF-8",
     "A policy file is UTF-8 text. The message counts bytes from 0; an editor's \"save with encoding\" helps.", "policy p\n# caf<byte E9>", "policy p\n# caf\xC3\xA9"},
    {"E0021", "a control character",
     "NUL and other control characters, save tabs and line ends, may stand nowhere, not even in comments.", "policy p\n# a bell:<U+0007>", "policy p\n# a bell"},
    {"E0022", "an invisible character",
     "Bidirectional controls, zero-width characters and separators of Unicode make a text read differently from what "
     "runs (CVE-2021-42574). They may stand nowhere, not even in strings and comments.",
     "policy p\n# <U+202E>after this, text runs to the left", "policy p\n# after this, text runs to the right"},
    {"E0023", "a character outside ASCII",
     "Names and operators are ASCII; other letters stand in strings and comments only. Some look exactly like an ASCII "
     "letter and are another: the message names them.",
     "policy p\nparam s\xC3\xA9uil: real = 0.5\non finish of group g { report x = 1 }",
     "policy p\nparam seuil: real = 0.5\non finish of group g { report x = seuil }"},
    {"E0024", "too many declarations or statements",
     "A file, and a block within it, holds a fixed number of parts. The message names the limit.", "policy p\non finish of group g {\n<2001 times:   report x = 1\n>}", "policy p\non finish of group g {\n  report x = 1\n}"},
    {"E0025", "a string that is too long", "A message is a sentence or two. The message names the limit.", "policy p\non finish of group g { drop because \"<4097 times: x>\" }", "policy p\non finish of group g { drop because \"x\" }"},
    {"E0026", "said twice", "`hit`, `flat within` and a parameter's range are given once.",
     "policy p\nhit when reward >= 1\nhit when reward >= 2", "policy p\nhit when reward >= 1"},
    {"E0027", "a verdict right after another",
     "The actions of one verdict are joined with commas. Another verdict needs a rule of its own: `when` or "
     "`otherwise`.",
     "policy p\non finish of group g { when g.flat then drop refill }", "policy p\nrefill at most 10 rounds then train_partial\non finish of group g { when g.flat then drop, refill }"},
}};

}  // namespace

std::span<const Code> syntax_codes() { return codes; }

}  // namespace allot::lang
