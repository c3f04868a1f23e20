#include "runtime/statistics/interner.h"

#include <catch2/catch.hpp>

using namespace allot::statistics;

TEST_CASE("equal texts are one symbol, different texts are different ones") {
  Interner interner;
  const Symbol open = interner.intern("open drawer");
  CHECK(interner.intern("open drawer") == open);
  CHECK(interner.intern("open door") != open);
  CHECK(interner.text(open) == "open drawer");
  CHECK(interner.find("open drawer") == open);
  CHECK_FALSE(interner.find("never seen").has_value());
}

TEST_CASE("what could not be parsed is one symbol and no text is END") {
  Interner interner;
  CHECK(interner.intern("invalid") == invalid_symbol);
  CHECK(interner.intern("END") != end_symbol);
  CHECK(interner.intern("") != end_symbol);
  CHECK(interner.text(end_symbol) == "END");
}

TEST_CASE("symbols stay what they are while a thousand texts come in") {
  Interner interner;
  std::vector<Symbol> symbols;
  for (int i = 0; i < 1000; ++i) symbols.push_back(interner.intern("go to drawer " + std::to_string(i)));
  CHECK(interner.size() == 1002);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = "go to drawer " + std::to_string(i);
    CHECK(interner.intern(text) == symbols[static_cast<std::size_t>(i)]);
    CHECK(interner.text(symbols[static_cast<std::size_t>(i)]) == text);
  }
  CHECK(interner.find("go to drawer 1000") == std::nullopt);
  CHECK(interner.find("END") == std::nullopt);
  CHECK(interner.intern("") != interner.intern("invalid"));
}

TEST_CASE("what is forgotten was never there") {
  // Against an interner that never saw it, across two doublings of the table.
  Interner forgetting, plain;
  for (int i = 0; i < 300; ++i) {
    const std::string text = "go to drawer " + std::to_string(i);
    const int before = forgetting.size();
    forgetting.intern("for nothing " + std::to_string(i));
    if (i % 3 == 0) forgetting.intern("and again " + std::to_string(i));
    forgetting.forget_from(before);
    CHECK(forgetting.find("for nothing " + std::to_string(i)) == std::nullopt);
    CHECK(forgetting.intern(text) == plain.intern(text));
    CHECK(forgetting.size() == plain.size());
  }
  for (int i = 0; i < 300; ++i) {
    const std::string text = "go to drawer " + std::to_string(i);
    REQUIRE(forgetting.find(text) == plain.find(text));
    CHECK(forgetting.text(*forgetting.find(text)) == text);
  }
}
