// A batch asked in both ways: row by row in the evaluator, and by machine code.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/batch.h"
#include "tests/compiler/random_program.h"

namespace allot::compiler::test {

// All that a batch tells.
struct Told {
  std::vector<std::int8_t> narrow;
  std::vector<std::int32_t> wide;
  std::vector<std::vector<std::uint64_t>> bits;
  std::vector<std::vector<std::uint8_t>> defined;
  std::vector<FaultKind> faults;
  std::vector<std::int32_t> nodes;
  std::int64_t faulty = 0;
  friend bool operator==(const Told&, const Told&) = default;
};
// `at_once` rows a question; 0: all of them.
Told told(const Batch& batch, const BatchShape& shape, BatchFrame frame, std::int64_t at_once = 0);

// Both over the same random rows, in columns of random shapes; `other` is what the machine code is made of. Each row is
// a frame of the program (memory_for).
struct Comparison {
  Told evaluator;
  // Of all rows in one question; or of a few in each, where that differs: most of those have no row that faults, and
  // machine code has another way for them.
  Told machine;
  bool vectorised = false;
};
Comparison compare_batches(const Program& program, const Program& other, std::uint64_t seed, std::int64_t rows);

// Throws std::runtime_error where there is none.
std::unique_ptr<Batch> made(allot::Result<std::unique_ptr<Batch>> batch);

}  // namespace allot::compiler::test
