// One value at run time, the same for evaluator, machine code, state and journal.
#pragma once

#include <bit>
#include <cstdint>

namespace allot::lang {

struct Cell {
  std::uint64_t bits = 0;     // an int64, a double, 0 or 1 for a bool, the position of a prompt, a beta's first parameter
  double second = 0;          // a beta's second parameter, else 0
  std::uint64_t defined = 1;  // 0: undefined; bits and second are then 0

  static Cell undefined() { return {0, 0, 0}; }
  static Cell of(double value) { return {std::bit_cast<std::uint64_t>(value), 0, 1}; }
  static Cell of(std::int64_t value) { return {static_cast<std::uint64_t>(value), 0, 1}; }
  static Cell of(bool value) { return {value ? 1ULL : 0ULL, 0, 1}; }
  static Cell beta(double a, double b) { return {std::bit_cast<std::uint64_t>(a), b, 1}; }

  double real() const { return std::bit_cast<double>(bits); }
  std::int64_t integer() const { return static_cast<std::int64_t>(bits); }
  bool truth() const { return bits != 0; }
  friend bool operator==(const Cell&, const Cell&) = default;
};
static_assert(sizeof(Cell) == 24);

}  // namespace allot::lang
