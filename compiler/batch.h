// One question asked of many groups at once: columns of facts in, a rule for each row out.
//
// By definition a batch is a loop over Executable::decide. Machine code may do better: a handler whose rules look at
// single facts alone has no jumps worth taking, since nothing in it has an effect. So all branches are computed over
// several rows side by side and the answer is chosen (if-conversion; Allen, Kennedy, Porterfield & Warren, POPL 1983).
// Rows in which anything might fault are asked again one by one, so results are those of the loop, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/executable.h"

namespace allot::compiler {

enum class ColumnKind : std::uint8_t {
  None,     // not given: a state that Frame::states of the rows holds, or one that is not read
  Same,     // one Cell for all rows
  Cells,    // a Cell a row
  Real64, Real32, Int64, Int32,
  Byte      // a bool, 0 or not
};

struct ColumnShape {
  ColumnKind kind = ColumnKind::None;
  bool gaps = false;   // a byte a row tells whether the value is there
};

// What machine code is made for.
struct BatchShape {
  std::vector<ColumnShape> reads;    // as many as Handler::reads
  // As many as Program::states, or none. In a handler of one group or rollout a state has one value, so it can be a
  // column: state before the handler, and inputs of the host. What is remembered is then not told.
  std::vector<ColumnShape> states;
  bool operands = false;             // the numbers of the verdicts are wanted
  bool narrow = true;                // rules as int8, of which there are at most 126; else as int32
};

// A real that is not finite counts as missing.
struct Facts {
  const void* values = nullptr;
  const std::uint8_t* defined = nullptr;   // where the shape says `gaps`
};

struct BatchFrame {
  std::int64_t count = 0;
  const Cell* parameters = nullptr;
  const Facts* reads = nullptr;
  const Facts* states = nullptr;
  const Frame* frames = nullptr;   // by row: vectors, sizes of scopes and states; needed where the handler looks at them
  Scratch* scratch = nullptr;
};

// Operands that are one number; undefined: bits 0, defined 0.
struct Numbers {
  std::uint64_t* bits = nullptr;       // of an int64 or a double
  std::uint8_t* defined = nullptr;
};
enum class Number { Amount, UpTo, AgeLimit, Until, Reward, Baseline };
inline constexpr std::size_t number_count = 6;

struct BatchOutcome {
  void* rules = nullptr;               // index into Handler::rules; -1: none held, or a fault
  Numbers numbers[number_count];       // by Number; all of them where the shape says `operands`
  FaultKind* faults = nullptr;         // may be left out
  std::int32_t* fault_nodes = nullptr;
};

class Batch {
 public:
  virtual ~Batch() = default;
  // Rows with a fault, in a rule or in an effect. Reports, warnings, messages and vectors of a verdict are not told.
  virtual std::int64_t decide(const BatchFrame& frame, const BatchOutcome& outcome) const noexcept = 0;
  // Whether rows are decided side by side.
  virtual bool vectorised() const noexcept = 0;
};

// Errors: a column that the handler does not have or that does not fit its type, too many rules for int8. The program
// must outlive the batch.
Result<std::unique_ptr<Batch>> evaluate_batch(const lang::Program& program, int handler, BatchShape shape);
Result<std::unique_ptr<Batch>> compile_batch(const lang::Program& program, int handler, BatchShape shape);

}  // namespace allot::compiler
