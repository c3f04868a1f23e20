// The faults of faults.md F that the scanner must meet: depth, unicode tricks, huge input, missing brackets.
#include "lang/scanner.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <functional>

#include "lang/limits.h"
#include "lang/parser.h"
#include "tests/small_stack.h"

using namespace allot::lang;

namespace {

Diagnostics diagnostics_of(const std::string& text) {
  const Source source("s.allot", text);
  Diagnostics diagnostics;
  parse(source, diagnostics);
  diagnostics.sort();
  return diagnostics;
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

// Of this process's own time, so that a busy machine fails no test.
double seconds_since(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void on_small_stack(std::function<void()> work) {
  allot::test::on_stack(512 * 1024, std::move(work));
}

}  // namespace

TEST_CASE("100,000 levels of anything give one error at the level after the limit") {
  constexpr int levels = 100'000;
  const std::string head = "policy p\non finish of group g {\n  let x = ";
  // opening text of a level, how many levels stand before it (the handler's brace), byte of the level in the text
  struct Case {
    std::string open, middle, close;
    int before, at;
  };
  const std::vector<Case> cases{
      {"(", "1", ")", 1, 0},
      {"[", "1", "]", 1, 0},
      {"f(", "1", ")", 1, 1},
      {"-", "1", "", 1, 0},
      {"not ", "true", "", 1, 0},
      {"if c then ", "1", " else 2", 1, 0},
      {"- (", "1", ")", 1, -1},
      {"\"{", "1", "}\"", 1, 1},
      {"sum(", "1", " for r in g.rollouts)", 1, 3},
      {"x[", "1", "]", 1, 1},
      {"if a then b else ", "1", "", 1, 0},
  };
  for (const auto& c : cases) {
    INFO(c.open);
    const auto text = head + repeated(c.open, levels) + c.middle + repeated(c.close, levels) + "\n}\n";
    if (text.size() > limits.source_bytes) {
      // The size is refused first; as many levels as fit must still be refused for their depth.
      CHECK(diagnostics_of(text).all().at(0).code == "E0019");
    }
    const int fitting = std::min<int>(levels, static_cast<int>(900'000 / (c.open.size() + c.close.size())));
    const auto fits = head + repeated(c.open, fitting) + c.middle + repeated(c.close, fitting) + "\n}\n";
    Diagnostics diagnostics;
    const auto begin = std::clock();
    on_small_stack([&] { diagnostics = diagnostics_of(fits); });
    CHECK(seconds_since(begin) < 1);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].code == "E0007");
    CHECK(diagnostics.all()[0].message == "nested more than 128 deep");
    if (c.at >= 0) {
      const auto level = static_cast<std::size_t>(limits.depth - c.before);
      CHECK(diagnostics.all()[0].span.begin == head.size() + level * c.open.size() + static_cast<std::size_t>(c.at));
    }
  }
}

TEST_CASE("100,000 nested braces in a handler give one error") {
  const auto text = "policy p\non finish of group g " + repeated("{", 100'000) + repeated("}", 100'000) + "\n";
  Diagnostics diagnostics;
  on_small_stack([&] { diagnostics = diagnostics_of(text); });
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].code == "E0007");
}

TEST_CASE("unclosed levels are refused like closed ones") {
  for (const auto* open : {"(", "[", "f(", "\"{", "{"}) {
    INFO(open);
    const auto text = std::string("policy p\non finish of group g {\n let x = ") + repeated(open, 100'000);
    Diagnostics diagnostics;
    on_small_stack([&] { diagnostics = diagnostics_of(text); });
    REQUIRE_FALSE(diagnostics.all().empty());
    CHECK(diagnostics.all().size() == 1);
  }
}

// What a level takes of the stack depends on how this was compiled: without optimisation 512 kB are soon full, and then
// that is said.
TEST_CASE("the deepest legal nesting is read, or refused for the stack where that is small") {
  const std::string head = "policy p\nfn f(x: real) -> real = ";
  for (const auto& [open, close] : std::vector<std::pair<std::string, std::string>>{{"(", ")"},
                                                                                    {"[", "]"},
                                                                                    {"f(", ")"},
                                                                                    {"-", ""},
                                                                                    {"x[", "]"},
                                                                                    {"\"{", "}\""},
                                                                                    {"if x then ", " else 1"},
                                                                                    {"if x then 1 else ", ""},
                                                                                    {"1 + (", ")"},
                                                                                    {"f(y: ", ")"}}) {
    INFO(open);
    for (const int depth : {limits.depth, limits.depth + 1}) {
      const auto text = head + repeated(open, depth) + "x" + repeated(close, depth) + "\n";
      const std::size_t expected = depth > limits.depth ? 1 : 0;
      CHECK(diagnostics_of(text).all().size() == expected);
      Diagnostics diagnostics;
      on_small_stack([&] { diagnostics = diagnostics_of(text); });
      REQUIRE(diagnostics.all().size() <= 1);
      if (diagnostics.all().size() == expected) continue;
      CHECK(diagnostics.all()[0].code == "E0007");
      CHECK(diagnostics.all()[0].message == "nested deeper than the stack of this thread allows");
    }
  }
}

TEST_CASE("chains and postfixes have a limit too") {
  const std::string head = "policy p\nfn f(x: real) -> real = x";
  CHECK(diagnostics_of(head + repeated(" + x", limits.chain_terms - 1) + "\n").all().empty());
  const auto longer = diagnostics_of(head + repeated(" + x", limits.chain_terms) + "\n");
  REQUIRE(longer.all().size() == 1);
  CHECK(longer.all()[0].code == "E0008");
  CHECK(longer.all()[0].message == "a chain of 1001 terms, more than 1000");
  CHECK(diagnostics_of(head + repeated(".y", limits.depth) + "\n").all().empty());
  for (const auto* postfix : {".y", "[1]"}) {
    Diagnostics diagnostics;
    on_small_stack([&] { diagnostics = diagnostics_of(head + repeated(postfix, 100'000) + "\n"); });
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].code == "E0007");
  }
}

// CVE-2021-42574 and its kin. The characters are written as bytes here, never in a file of the project.
TEST_CASE("characters that deceive are refused wherever they stand") {
  struct Case {
    const char* bytes;
    const char* name;
  };
  for (const auto& c :
       {Case{"\xE2\x80\xAE", "right-to-left override, U+202E"}, Case{"\xE2\x81\xA6", "left-to-right isolate, U+2066"},
        Case{"\xE2\x81\xA9", "pop directional isolate, U+2069"}, Case{"\xE2\x80\x8B", "zero-width space, U+200B"},
        Case{"\xEF\xBB\xBF", "zero-width no-break space, U+FEFF"}, Case{"\xC2\xAD", "soft hyphen, U+00AD"},
        Case{"\xE2\x80\xA8", "line separator, U+2028"}}) {
    INFO(c.name);
    for (const std::string& place :
         {std::string("# a comment @\n"), std::string("on finish of group g { drop because \"@\" }\n"),
          std::string("param thre@shold: real = 1\n"), std::string("@\n")}) {
      auto text = "policy p\n" + place;
      const auto at = text.find('@');
      text.replace(at, 1, c.bytes);
      const auto diagnostics = diagnostics_of(text);
      REQUIRE(diagnostics.all().size() == 1);
      CHECK(diagnostics.all()[0].code == "E0022");
      CHECK(diagnostics.all()[0].span.begin == at);
      CHECK(diagnostics.all()[0].message == std::string("a policy may not hold this character: ") + c.name);
    }
  }
  std::string nul = "policy p\non finish of group g { drop because \"a@b\" }\n";
  nul[nul.find('@')] = '\0';
  const auto diagnostics = diagnostics_of(nul);
  REQUIRE(diagnostics.all().size() == 1);
  CHECK(diagnostics.all()[0].code == "E0021");
  CHECK(diagnostics.all()[0].message == "a policy may not hold this character: NUL, U+0000");
}

TEST_CASE("letters that look like ASCII are named") {
  const auto one = diagnostics_of("policy p\nparam threshold\xD0\xB0: real = 1\n");
  REQUIRE(one.all().size() == 1);
  CHECK(one.all()[0].code == "E0023");
  CHECK(one.all()[0].message == "names are ASCII, and this is Cyrillic a, U+0430");
  CHECK(one.all()[0].help == "write `a`");
  const auto accent = diagnostics_of("policy p\nparam s\xC3\xA9uil: real = 1\n");
  REQUIRE(accent.all().size() == 1);
  CHECK(accent.all()[0].help == "write `e`");
  const auto wide = diagnostics_of("policy p\nparam \xEF\xBD\x81: real = 1\n");  // U+FF41
  CHECK(wide.all().at(0).message.find("full-width a, U+FF41") != std::string::npos);
  const auto minus = diagnostics_of(
      "policy p\nparam a: real = \xE2\x88\x92"
      "1\n");
  CHECK(minus.all().at(0).message == "only strings and comments may hold this: minus sign, U+2212");
  CHECK(minus.all().at(0).help == "write `-`");
  const auto space = diagnostics_of("policy p\nparam a:\xC2\xA0real = 1\n");
  CHECK(space.all().at(0).help == "write `a plain space`");
  CHECK(diagnostics_of("policy p # caf\xC3\xA9 \xD0\xB0 \xE6\xBC\xA2\xE5\xAD\x97\n").all().empty());
}

TEST_CASE("bytes that are no UTF-8 are refused with their offset") {
  struct Case {
    const char* bytes;
    const char* what;
  };
  for (const auto& c :
       {Case{"\xC0\xAF", "overlong"}, Case{"\xE0\x80\xAF", "overlong"}, Case{"\xE6\xBC", "truncated"},
        Case{"\xFF", "never valid"}, Case{"\xED\xA0\x80", "surrogate"}, Case{"\xF5\x80\x80\x80", "too high"}}) {
    INFO(c.what);
    const auto diagnostics = diagnostics_of(std::string("policy p # ") + c.bytes);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].code == "E0020");
    CHECK(diagnostics.all()[0].message == "not UTF-8 at byte 11");
  }
}

TEST_CASE("huge input is refused by name and soon") {
  const auto begin = std::clock();
  const auto file = diagnostics_of("policy p\n" + repeated("# a comment\n", 900'000));
  CHECK(file.all().at(0).message == "this file has 10800009 bytes, more than 1048576");
  CHECK(diagnostics_of(std::string(10'000'000, 'a')).all().at(0).code == "E0019");
  const auto many = diagnostics_of("policy p\n" + repeated("param a: int = 1\n", 50'000));
  CHECK(many.all().at(0).code == "E0024");
  CHECK(many.all().size() == 1);
  const auto string =
      diagnostics_of("policy p\non finish of group g { drop because \"" + std::string(500'000, 'x') + "\" }");
  CHECK(string.all().at(0).code == "E0025");
  const auto name = diagnostics_of("policy " + std::string(1'000'000, 'x') + " y\n");
  CHECK(name.all().size() == 1);
  const Source source("n", "policy " + std::string(1'000'000, 'x') + " y\n");
  CHECK(render_all(name, source).size() < 2000);
  CHECK(seconds_since(begin) < 2);
}

TEST_CASE("comments are kept by offset") {
  const Source source("c",
                      "# one\npolicy p # two\n## doc\nparam a: int = 1\non finish of group g { train # \"three\"\n}\n");
  Diagnostics diagnostics;
  const auto scanned = scan(source, diagnostics);
  REQUIRE(scanned);
  REQUIRE(scanned->comments.size() == 4);
  CHECK(source.text(scanned->comments[0].span) == "# one");
  CHECK(scanned->comments[0].own_line);
  CHECK(source.text(scanned->comments[1].span) == "# two");
  CHECK_FALSE(scanned->comments[1].own_line);
  CHECK(scanned->comments[2].doc);
  CHECK(source.text(scanned->comments[3].span) == "# \"three\"");
  REQUIRE(scanned->items.size() == 3);
  CHECK(scanned->items[1].doc == "doc");
  CHECK(source.text(scanned->items[1].span) == "param a: int = 1");
}

TEST_CASE("items begin where their word can be nothing else") {
  const auto words = [](const std::string& text) {
    const Source source("i", text);
    Diagnostics diagnostics;
    const auto scanned = scan(source, diagnostics);
    std::vector<std::string> result;
    for (const auto& item : scanned->items) result.push_back(item.word);
    return result;
  };
  using Words = std::vector<std::string>;
  CHECK(words("policy p param state: int = 1 param input: int = state") == Words{"policy", "param", "param"});
  CHECK(words("policy p\nparam x: int =\nparam y: int = 2") == Words{"policy", "param", "param"});
  CHECK(words("policy p\non turn 3 of group g {\n  refill\n}\nhit when reward > 1") == Words{"policy", "on", "hit"});
  CHECK(words("policy p\nfn f(x: int) -> int =\n  state * 2") == Words{"policy", "fn"});
  CHECK(words("policy p\nrefill at most 3 rounds\nthen abort") == Words{"policy", "refill"});
  CHECK(words("policy p\nhit when \"param x\" == y") == Words{"policy", "hit"});
  CHECK(words("") == Words{});
  CHECK(words("# nothing\n") == Words{});
}
