// What the solvers share: who may get how much, and the question they put.
//
// A solver asks for the utility of giving `count` units to `item`, is told, and asks again until it knows. So a caller
// needs no table and no callback: the evaluator, machine code and plain C++ ask the same solver in the same order and
// get the same counts, bit for bit. No solver allocates: it works in memory that the caller gives it.
#pragma once

#include <cstdint>
#include <span>

namespace allot::allocation {

struct Share {
  std::int64_t low = 0;
  std::int64_t high = 0;   // low <= high
  std::int64_t count = 0;  // the answer
  double value = 0;        // utility of `count`; of `in proportion to`, the weight
  double next = 0;         // what a solver keeps beside them
  double gain = 0;
};

struct Question {
  std::int64_t item = 0;
  std::int64_t count = 0;
};

// Σ low, or more than `budget` where that is passed or the sum leaves 64 bits.
std::int64_t least(std::span<const Share> shares, std::int64_t budget) noexcept;
// Σ (high − low), but no more than `bound`.
std::int64_t room(std::span<const Share> shares, std::int64_t bound) noexcept;
std::int64_t spent(std::span<const Share> shares) noexcept;
double total(std::span<const Share> shares) noexcept;  // Σ value, in order

}  // namespace allot::allocation
