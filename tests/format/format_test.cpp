// The formatter: what it must never do (properties over every program of the project and over damaged layouts), and
// what a layout looks like (by the rules of lang/format/format.h).
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "lang/format/format.h"
#include "lang/format/tokens.h"
#include "lang/parser.h"

using namespace allot::lang;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> programs() {
  std::vector<fs::path> found;
  for (const auto* folder : {"stdlib", "tests/golden"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ALLOT_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".allot") found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<std::string> formatted(const std::string& text) {
  Diagnostics diagnostics;
  return format::format(Source("t", text), diagnostics);
}

// Everything of a tree but the places.
bool same(const tree::Expr& a, const tree::Expr& b) {
  return a.kind == b.kind && a.text == b.text && a.op == b.op && a.unit == b.unit && a.negated == b.negated &&
         a.args == b.args && a.labels == b.labels && a.ops == b.ops &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                    [](const auto& x, const auto& y) { return x.text == y.text && x.hole == y.hole; });
}

bool same(const tree::Statement& a, const tree::Statement& b) {
  const auto actions = [](const tree::Action& x, const tree::Action& y) {
    return x.kind == y.kind && x.amount == y.amount && x.second == y.second && x.target == y.target;
  };
  return a.kind == b.kind && a.name.text == b.name.text && a.condition == b.condition && a.value == b.value &&
         a.target == b.target && a.verdict.because == b.verdict.because &&
         std::equal(a.verdict.actions.begin(), a.verdict.actions.end(), b.verdict.actions.begin(),
                    b.verdict.actions.end(), actions) &&
         std::equal(a.body.begin(), a.body.end(), b.body.begin(), b.body.end(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}

bool same_tree(const std::string& left, const std::string& right) {
  Diagnostics diagnostics;
  const auto a = parse(Source("a", left), diagnostics), b = parse(Source("b", right), diagnostics);
  return a && b && a->doc == b->doc && a->policy.text == b->policy.text &&
         std::equal(a->exprs.begin(), a->exprs.end(), b->exprs.begin(), b->exprs.end(),
                    [](const auto& x, const auto& y) { return same(x, y); }) &&
         std::equal(a->params.begin(), a->params.end(), b->params.begin(), b->params.end(),
                    [](const auto& x, const auto& y) { return x.name.text == y.name.text && x.doc == y.doc; }) &&
         std::equal(a->handlers.begin(), a->handlers.end(), b->handlers.begin(), b->handlers.end(),
                    [](const auto& x, const auto& y) {
                      return x.point == y.point && x.subject == y.subject && x.number == y.number &&
                             std::equal(x.statements.begin(), x.statements.end(), y.statements.begin(),
                                        y.statements.end(), [](const auto& s, const auto& t) { return same(s, t); });
                    }) &&
         a->tests.size() == b->tests.size() && a->functions.size() == b->functions.size();
}

std::vector<std::string> comments(const std::string& text) {
  std::vector<std::string> found;
  const Source source("t", text);
  for (const format::Token& token : format::tokens(source)) {
    if (token.kind != format::TokenKind::Comment) continue;
    found.emplace_back(token.text.substr(0, token.text.find_last_not_of(" \t") + 1));
  }
  return found;
}

void check_properties(const std::string& text, const std::string& formatted_text) {
  CHECK(same_tree(text, formatted_text));
  CHECK(comments(text) == comments(formatted_text));
  const auto again = formatted(formatted_text);
  REQUIRE(again);
  CHECK(*again == formatted_text);
  CHECK(formatted_text.ends_with('\n'));
  CHECK(formatted_text.find('\t') == std::string::npos);
  CHECK(formatted_text.find(" \n") == std::string::npos);
}

// The same tokens with other blanks between them: where lines end stays, for it can matter.
std::string shaken(const std::string& text, std::mt19937& random) {
  const Source source("t", text);
  std::string result;
  std::uint32_t end = 0;
  for (const format::Token& token : format::tokens(source)) {
    const std::string between = text.substr(end, token.span.begin - end);
    if (between.find('\n') != std::string::npos) {
      result.append(1 + random() % 4, '\n');
      const bool margin = between.ends_with('\n');
      result.append(margin ? 0 : 1 + random() % 9, ' ');
    } else if (!between.empty()) {
      result.append(1 + random() % 3, random() % 5 == 0 ? '\t' : ' ');
    }
    result += token.text;
    end = token.span.end;
  }
  return result;
}

}  // namespace

TEST_CASE("every program of the project keeps its tree and its comments, and once is twice") {
  int formatted_programs = 0;
  for (const fs::path& path : programs()) {
    const std::string text = read(path);
    const auto result = formatted(text);
    if (!result) continue;  // a golden file with a syntax error
    INFO(path.string());
    check_properties(text, *result);
    ++formatted_programs;
  }
  CHECK(formatted_programs > 60);
}

TEST_CASE("500 damaged layouts are brought back to one") {
  std::mt19937 random(20'261'129);
  const std::vector<fs::path> all = programs();
  int seen = 0;
  for (int round = 0; round < 500; ++round) {
    const std::string text = shaken(read(all[random() % all.size()]), random);
    const auto result = formatted(text);
    if (!result) continue;
    INFO(text);
    check_properties(text, *result);
    ++seen;
  }
  CHECK(seen > 250);
}

TEST_CASE("blanks within a line") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"param  x:real=-1.5   in -2..2", "param x: real = -1.5 in -2..2"},
      {"param x : real? = 3  -  1", "param x: real? = 3 - 1"},
      {"state m:vec< real,3 > per run=[1,2 , 3]", "state m: vec<real, 3> per run = [1, 2, 3]"},
      {"fn f(a:real,b:real)->real=if a<b then b-a else-a", "fn f(a: real, b: real) -> real = if a < b then b - a else -a"},
      {"fn f(x: real) -> vec<real, 2>=[x, 2]", "fn f(x: real) -> vec<real, 2> = [x, 2]"},
      {"state m: vec< real in 0..1,2 >per run=[1, 1]", "state m: vec<real in 0..1, 2> per run = [1, 1]"},
      {"fn f(v: vec<real in -1..1 , 2>) -> real=v[0]", "fn f(v: vec<real in -1..1, 2>) -> real = v[0]"},
      {"fn f(x: real) -> real = [1, x] [0]", "fn f(x: real) -> real = [1, x][0]"},
      {"fn f(x: real) -> real = [1, x][0]", "fn f(x: real) -> real = [1, x][0]"},
      {"hit when 0<reward<=1", "hit when 0 < reward <= 1"},
      {"fn f(a: real) -> real = ( a+1 )*clamp( a ,0,1 )", "fn f(a: real) -> real = (a + 1) * clamp(a, 0, 1)"},
  };
  for (const auto& [line, wanted] : cases) {
    const auto result = formatted("policy p\n" + line + "\n");
    REQUIRE(result);
    CHECK(*result == "policy p\n" + wanted + "\n");
  }
}

TEST_CASE("a list stands apart from the words of a verdict, and an element is glued to its vector") {
  const auto in_wave = [](const std::string& statements) {
    return "policy p\n\non wave of group g {\n" + statements + "}\n";
  };
  // Each pair differs in the blank alone, so both are one text; glued is what the author wrote.
  for (const std::string verdict : {"sample [1, 2] more", "branch [1, 0]", "complete to [2]", "stop where [1]"}) {
    std::string glued = verdict;
    glued.erase(glued.find(" ["), 1);
    CHECK(formatted(in_wave("  when g.flat then " + glued + "\n")) == in_wave("  when g.flat then " + verdict + "\n"));
    CHECK(formatted(in_wave("  otherwise " + glued + "\n")) == in_wave("  otherwise " + verdict + "\n"));
  }
  CHECK(formatted("policy p\n\non size of group g {\n  start[1] each, up to[3]\n}\n") ==
        "policy p\n\non size of group g {\n  start [1] each, up to [3]\n}\n");
  for (const std::string element : {"  let n = if g.flat then train[0] else 2\n", "  let n = max(1, train[0])\n",
                                    "  let n = max(1,\n    train[0])\n", "  let n = 1 +\n    train[0]\n",
                                    "  when (if g.flat then sample[0] else 2) > 1 then stop\n"}) {
    const std::string text = in_wave("  let train = [1]\n" + element);
    const auto result = formatted(text);
    REQUIRE(result);
    CHECK(result->find("train [0]") == std::string::npos);
    CHECK(result->find("sample [0]") == std::string::npos);
  }
}

TEST_CASE("a value that has the name of a type is compared") {
  // By the grammar: a type stands before the `=` of a declaration, and a label of a call takes a value.
  const std::string head = "policy p\n\nparam vec: real = 1\nparam v: vec<real, 2> = [1, 2]\n";
  const std::string wanted = head +
                             "fn vec(vec: vec<real, 2>, m: real) -> bool = g(x: vec < 3, vec >= 1)\n"
                             "hit when f(x: vec < 3, vec >= 1)\n\n"
                             "on finish of group g {\n  when f(x: vec < 3, vec >= 1) then drop\n}\n";
  CHECK(formatted(wanted) == wanted);
  std::string tight = wanted;
  for (const std::string_view sign : {" < ", " >= "}) {
    for (std::size_t at = tight.find(sign); at != std::string::npos; at = tight.find(sign)) {
      tight.replace(at, sign.size(), sign.substr(1, sign.size() - 2));
    }
  }
  CHECK(tight != wanted);
  CHECK(formatted(tight) == wanted);
}

TEST_CASE("what is trained on stands apart from its verb") {
  for (const std::string_view blank : {"", " "}) {
    const std::string list = std::string(blank) + "[0, 1]";
    const auto result = formatted("policy p\n\non finish of group g {\n  when g.flat then train" + list +
                                  "\n  otherwise train" + list + ", normalize over subset\n}\n");
    const std::string wanted = "policy p\n\non finish of group g {\n  when g.flat then train [0, 1]\n"
                               "  otherwise train [0, 1], normalize over subset\n}\n";
    CHECK(result == wanted);
  }
}

TEST_CASE("a line of a scenario ends with its last score") {
  const std::string text =
      "policy p\n\nscenario \"s\" {\niteration {\ngroup a: rewards 1, !\ngroup b: rewards 0,?\n"
      "group c: rewards 0,!\nexpect a is trained\n}\n}\n";
  const std::string wanted =
      "policy p\n\nscenario \"s\" {\n  iteration {\n    group a: rewards 1, !\n    group b: rewards 0, ?\n"
      "    group c: rewards 0, !\n    expect a is trained\n  }\n}\n";
  CHECK(formatted(text) == wanted);
}

TEST_CASE("indentation, empty lines and comments") {
  const std::string text =
      "\n\n  # of the file\npolicy p\n\n\n\nparam a: int = 1 # one\nparam long: int = 2 # two\n# about the handler\n"
      "on finish of group g {\n\n# first\nlet x = g.scored +\n2 rollouts\nwhen x > 2\nthen drop # few\n"
      "otherwise train\n      # last\n\n}\ntest \"t\" {\ngiven g = group {\nrewards: [1,0],\nturn: 3\n}\n"
      "expect finish(g) is train }\n";
  const std::string wanted =
      "# of the file\npolicy p\n\nparam a: int = 1     # one\nparam long: int = 2  # two\n\n# about the handler\n"
      "on finish of group g {\n  # first\n  let x = g.scored +\n    2 rollouts\n  when x > 2\n    then drop  # few\n"
      "  otherwise train\n  # last\n}\n\ntest \"t\" {\n  given g = group {\n    rewards: [1, 0],\n    turn: 3\n  }\n"
      "  expect finish(g) is train }\n";
  CHECK(formatted(text) == wanted);
}

TEST_CASE("a text with a syntax error is not laid out") {
  Diagnostics diagnostics;
  CHECK_FALSE(format::format(Source("t", "policy p\nparam a: int = \n"), diagnostics));
  CHECK(diagnostics.has_errors());
}

TEST_CASE("strings and their holes are one token, and holes can be looked into") {
  const Source source("t", "because \"a {{ {f(\"b}\")} \\\" c\" # {x}");
  const auto whole = format::tokens(source);
  REQUIRE(whole.size() == 3);
  CHECK(whole[1].text == "\"a {{ {f(\"b}\")} \\\" c\"");
  std::vector<std::string> words;
  for (const auto& token : format::tokens(source, true)) words.emplace_back(token.text);
  CHECK(words == std::vector<std::string>{"because", "\"a {{ {f(\"b}\")} \\\" c\"", "f", "(", "\"b}\"", ")", "# {x}"});
}

TEST_CASE("a difference is a unified diff") {
  // The form of GNU diff -u: three lines of context, line numbers from 1, counts of either side.
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n", after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n";
  CHECK(format::difference("p", before, before).empty());
  CHECK(format::difference("p", before, after) ==
        "--- p\n+++ p (formatted)\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+ten\n");
}
