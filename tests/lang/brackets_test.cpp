// Brackets around a part of an expression change what its places hold: both of the two, or neither.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "check_harness.h"
#include "golden.h"
#include "lang/codes.h"
#include "lang/parser.h"

using namespace allot;
using lang::Span;

namespace {

// Of brackets outside of strings and comments: each one is closed, and none is closed that was not opened.
bool balanced(std::string_view text) {
  std::string open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (std::string_view("([").find(c) != std::string_view::npos) {
      open += c == '(' ? ')' : ']';
    } else if (std::string_view(")]").find(c) != std::string_view::npos) {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

std::vector<std::string> programs() {
  std::vector<std::string> all;
  for (const auto* code : lang::all_codes()) all.push_back(lang::example(code->right));
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(ALLOT_SOURCE_DIR) / "stdlib")) {
    if (entry.path().extension() == ".allot") all.push_back(test::read_file(entry.path().string()));
  }
  return all;
}

std::optional<lang::tree::File> parsed(const lang::Source& source) {
  lang::Diagnostics diagnostics;
  auto tree = lang::parse(source, diagnostics);
  return diagnostics.has_errors() ? std::nullopt : tree;
}

}  // namespace

TEST_CASE("the place of an expression holds both brackets of a pair or neither") {
  int bracketed = 0;
  for (const std::string& text : programs()) {
    const lang::Source source("p.allot", text);
    const auto tree = parsed(source);
    if (!tree) continue;
    // Every part in brackets, one after the other: where that can still be read, no place may be torn.
    for (const auto& part : tree->exprs) {
      if (part.kind == lang::tree::ExprKind::String || part.kind == lang::tree::ExprKind::Comprehension) continue;
      std::string changed = text;
      changed.insert(part.span.end, ")").insert(part.span.begin, "(");
      const lang::Source again("p.allot", changed);
      const auto with = parsed(again);
      if (!with) continue;
      ++bracketed;
      for (const auto& expr : with->exprs) {
        if (expr.kind == lang::tree::ExprKind::String) continue;
        INFO(again.text(expr.span));
        if (!balanced(again.text(expr.span))) FAIL_CHECK("torn in " << changed);
      }
    }
  }
  CHECK(bracketed > 1000);
}

TEST_CASE("what a help offers has its brackets in pairs") {
  // The findings of a reader, and their like: the operand in brackets stands first, last, and under a field.
  for (const std::string condition :
       {"(1 - 0.2) * g.reward_mean > 0.5", "g.reward_mean * (1 - 0.2) > 0.5", "1 - (g.reward_mean) > 0.5",
        "((g.reward_mean)) > 0.5", "(g).reward_mean > 0.5", "(g.scored) + 1 tokens > 3 rollouts",
        "(g.tokens) > (5 * g.started)", "(g.rewards) > 0", "(g.scored)", "(g.reward_maen) > 1", "(clmp(1)) > 1"}) {
    const auto found = test::check("policy p\non finish of group g { when " + condition + " then drop }\n");
    INFO(found.shown);
    REQUIRE_FALSE(found.codes.empty());
    const auto help = found.shown.find("help: ");
    if (help != std::string::npos) CHECK(balanced(found.shown.substr(help)));
    CHECK(found.shown.find("clmp(1)`") == std::string::npos);
  }
}

TEST_CASE("the caret stands under what is in brackets, or under them") {
  const auto shown = [](const std::string& condition) {
    return test::check("policy p\non finish of group g { when " + condition + " then drop }\n").shown;
  };
  // Columns counted by hand: `when` begins at 24, the condition at 29.
  CHECK(shown("(1 - 0.2) * g.reward_mean > 0.5").find("say what then: `(1 - 0.2) * (g.reward_mean ?? 0.0)`") !=
        std::string::npos);
  CHECK(shown("(1) < 2").find("p.allot:2:29") != std::string::npos);
  CHECK(shown("(g.reward_maen) > 1").find("p.allot:2:32") != std::string::npos);
  CHECK(shown("(g.tokens) > 3 turns").find("compare `g.turn > 3 turns`") != std::string::npos);
}
