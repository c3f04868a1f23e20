#include "lang/codes.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "check_harness.h"
#include "golden.h"
#include "lang/parser.h"

using namespace allot::lang;

namespace {

std::set<std::string> codes_of(std::string_view text) {
  const Source source("c", std::string(text));
  Diagnostics diagnostics;
  parse(source, diagnostics);
  std::set<std::string> codes;
  for (const auto& diagnostic : diagnostics.all()) codes.insert(diagnostic.code);
  return codes;
}

}  // namespace

TEST_CASE("the wrong program of a page of syntax gives its code, the right one none") {
  for (const auto& code : syntax_codes()) {
    INFO(code.code);
    CHECK_FALSE(code.title.empty());
    CHECK(code.explanation.size() > 20);
    CHECK_FALSE(code.wrong.empty());
    CHECK(codes_of(example(code.wrong)) == std::set<std::string>{std::string(code.code)});
    CHECK(codes_of(example(code.right)).empty());
  }
}

TEST_CASE("the right program of every page is right, without a warning") {
  for (const auto* code : all_codes()) {
    const auto checked = allot::test::check(example(code->right));
    INFO(code->code << "\n" << checked.shown);
    CHECK(checked.codes.empty());
  }
}

TEST_CASE("an example may hold what a page cannot show") {
  CHECK(example("a<3 times: b(>c") == "ab(b(b(c");
  CHECK(example("<byte FF><U+0007><U+202E>") == "\xFF\x07\xE2\x80\xAE");
  CHECK(example("a < b, c > d, vec<real>") == "a < b, c > d, vec<real>");
}

TEST_CASE("every code has one page") {
  std::set<std::string_view> seen;
  for (const auto* code : all_codes()) CHECK(seen.insert(code->code).second);
  REQUIRE(find_code("e0001") != nullptr);
  CHECK(find_code("E9999") == nullptr);
  CHECK(page(*find_code("E0009")).find("policy p\n    param most: int = 9223372036854775808") != std::string::npos);
}

TEST_CASE("every code of the golden syntax files has a page") {
  namespace fs = std::filesystem;
  for (const auto& entry : fs::directory_iterator(fs::path(ALLOT_SOURCE_DIR) / "tests/golden/syntax")) {
    if (entry.path().extension() != ".allot") continue;
    for (const auto& code : codes_of(allot::test::read_file(entry.path().string()))) {
      INFO(code);
      CHECK(find_code(code) != nullptr);
    }
  }
}
