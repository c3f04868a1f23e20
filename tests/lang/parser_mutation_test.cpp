// Valid programs with tokens deleted, doubled or swapped: nothing may crash, and every refusal must have a place.
#include <catch2/catch.hpp>
#include <random>

#include "golden.h"
#include "lang/parser.h"

using namespace allot::lang;

namespace {

// Words, numbers, strings and single marks, with the blanks between them.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    auto end = at + 1;
    if (is_word(text[at])) {
      while (end < text.size() && is_word(text[end])) ++end;
    } else if (std::isspace(static_cast<unsigned char>(text[at]))) {
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end]))) ++end;
    }
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

}  // namespace

TEST_CASE("2,000 damaged programs are read or refused with a place") {
  std::vector<std::vector<std::string>> programs;
  for (const auto* name : {"stdlib/selective_rollout.allot", "stdlib/dynamic_sampling.allot",
                           "tests/golden/syntax/test_block.allot", "tests/golden/syntax/names_like_keywords.allot"}) {
    programs.push_back(tokens_of(allot::test::read_file(std::string(ALLOT_SOURCE_DIR) + "/" + name)));
  }
  std::mt19937 random(20'240'601);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    auto tokens = programs[random() % programs.size()];
    const int edits = 1 + static_cast<int>(random() % 3);
    for (int edit = 0; edit < edits && tokens.size() > 2; ++edit) {
      const auto at = random() % tokens.size();
      const auto other = random() % tokens.size();
      switch (random() % 3) {
        case 0:
          tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 1:
          tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(other), tokens[at]);
          break;
        default:
          std::swap(tokens[at], tokens[other]);
      }
    }
    std::string text;
    for (const auto& token : tokens) text += token;
    const Source source("m", text);
    Diagnostics diagnostics;
    const auto file = parse(source, diagnostics);
    REQUIRE(file.has_value());
    refused += diagnostics.has_errors();
    for (const auto& diagnostic : diagnostics.all()) {
      INFO(text << "\n" << render(diagnostic, source));
      REQUIRE(diagnostic.span.begin <= text.size());
      REQUIRE(diagnostic.span.begin <= diagnostic.span.end);
      REQUIRE_FALSE(diagnostic.message.empty());
      REQUIRE(diagnostic.code.size() == 5);
    }
    for (const auto& expr : file->exprs) REQUIRE(expr.span.end <= text.size());
  }
  CHECK(refused > 1000);  // most of them are no programs any more
}
