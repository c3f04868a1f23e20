#include "runtime/statistics/pair_columns.h"

#include <catch2/catch.hpp>

#include "runtime/statistics/edit_distance.h"
#include "tests/statistics/random_groups.h"

using namespace allot::statistics;

namespace {

std::span<const Symbol> first(const std::vector<Symbol>& symbols, int count) {
  return std::span(symbols).first(static_cast<std::size_t>(count));
}

// Every prefix of every sequence against every whole other one.
bool agrees_with_table(const PairColumns& columns, const std::vector<std::vector<Symbol>>& sequences) {
  for (int i = 0; i < columns.count(); ++i) {
    for (int j = 0; j < columns.count(); ++j) {
      const auto& pattern = sequences[static_cast<std::size_t>(i)];
      const auto& text = sequences[static_cast<std::size_t>(j)];
      for (int rows = 0; i != j && rows <= static_cast<int>(pattern.size()); ++rows) {
        if (columns.distance(i, rows, j) != edit_distance(first(pattern, rows), text)) return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("bit-parallel columns agree with the table after every append in any order") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    PairColumns columns;
    std::vector<std::vector<Symbol>> sequences;
    for (int event = 0; event < 60; ++event) {
      if (sequences.empty() || (sequences.size() < 20 && dice.roll(5) == 0)) {
        columns.add();
        sequences.emplace_back();
        continue;
      }
      const int at = dice.roll(columns.count());
      const Symbol symbol = dice.roll(4);
      columns.append(at, symbol);
      sequences[static_cast<std::size_t>(at)].push_back(symbol);
      REQUIRE(agrees_with_table(columns, sequences));
    }
  }
}

TEST_CASE("columns agree with the table across the borders of words and of vectors") {
  Dice dice(7);
  PairColumns columns;
  std::vector<std::vector<Symbol>> sequences(11);
  for (std::size_t i = 0; i < sequences.size(); ++i) columns.add();
  const std::vector<int> lengths = {0, 1, 63, 64, 65, 127, 128, 129, 150, 20, 70};
  for (int turn = 0; turn < 150; ++turn) {
    for (int i = 0; i < 11; ++i) {
      if (turn >= lengths[static_cast<std::size_t>(i)]) continue;
      const Symbol symbol = dice.roll(3) > 0 ? turn % 50 : dice.roll(50);
      columns.append(i, symbol);
      sequences[static_cast<std::size_t>(i)].push_back(symbol);
    }
  }
  CHECK(agrees_with_table(columns, sequences));
}
