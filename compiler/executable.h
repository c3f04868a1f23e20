// A program that can be asked. Two implementations: the evaluator (compiler/evaluate, the definition of the language)
// and machine code (compiler/native). They agree bit for bit on every field of Outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/result.h"
#include "lang/program.h"

namespace allot::compiler {

using lang::Cell;

// A vector, or a matrix row by row.
struct Column {
  const Cell* cells = nullptr;
  std::int64_t size = 0;    // of all elements
  std::int64_t width = 1;   // columns of a matrix, 1 or more; 1 of a vector
};

// State as a handler sees it: `size` values of Type::cells() cells each. For group and run state, and per-prompt or
// per-category state in a handler of one group or rollout, size is 1. Elsewhere state per prompt has one value per distinct
// prompt of the question, state per category one per distinct category; a key is the position there. In a barrier's `for
// each` `before` == `after`: a read sees what was written. Elsewhere `after` is a separate copy that starts equal to
// `before`.
struct StateView {
  const Cell* before = nullptr;
  Cell* after = nullptr;
  std::int64_t size = 0;
};

// Memory for vectors that a handler makes, grown as it is needed up to a limit and then kept. Executables reset it when
// they are asked, so vectors of an Outcome live until the next question, and no column of a frame may stand in it.
class Scratch {
 public:
  explicit Scratch(std::size_t most_cells = 1 << 22) : most_(most_cells) {}
  Cell* take(std::int64_t count) noexcept;  // nullptr when the limit is reached, or memory is out: a fault
  void reset() noexcept;

 private:
  bool grow(std::size_t count) noexcept;

  std::size_t most_;
  std::size_t taken_ = 0;                    // cells in all
  std::vector<std::vector<Cell>> blocks_;    // what was taken stays where it is
  std::size_t block_ = 0;                    // the one in use
  std::size_t used_ = 0;                     // cells of it
};

enum class FaultKind : std::int32_t {
  None, IntegerOverflow, DivisionByZero, NotFinite, IndexOutOfRange, Domain, OutOfMemory
};

// Plain data, filled by decide(). `holes`, `reports`, `report_written`, `warned` point to the caller's arrays.
struct Outcome {
  FaultKind fault = FaultKind::None;
  std::int32_t fault_node = -1;        // index into Handler::nodes: gives file:line
  std::int32_t rule = -1;              // index into Handler::rules; -1: no rule held, or a fault
  // Operands of the rule's verdict or answer: lang::VerdictTemplate says what each is and over what a vector runs. One
  // that may be either stands in the cell (one number) or in the column of its plural.
  Cell amount = Cell::undefined();     // Int: of sample, complete, start, branch, take, replay
  Cell up_to = Cell::undefined();      // Int
  Column amounts;                      // `start` over Prompts, `wave of batch` over Groups, `expand` over Anchors
  Column up_tos;                       // over Prompts
  Column mask;                         // Bool: `stop where`, `take where`, `evict where`
  Column subset;                       // Int samples, or Bool over Rollouts
  Cell age_limit = Cell::undefined();  // Int: of `defer`, of `replay`
  Cell until = Cell::undefined();      // Int epoch: `evict until`
  Column untils;                       // … at `epoch`, over Pool; only those of `mask` count
  Column readmitted;                   // Bool over Known
  Column scores;                       // Real, may be undefined: over Pool or Stored
  Cell reward = Cell::undefined();     // Real
  Cell loss = Cell::undefined();       // Real
  Cell slope = Cell::undefined();      // Real
  Column advantages;                   // Real: over Rollouts or Trained
  Column weights;
  Cell baseline = Cell::undefined();   // Real
  Column baselines;
  Column keys;                         // Real: of `resume … by KEYS`, whichever rule answers
  Cell* holes = nullptr;               // Handler::hole_count cells; a hole that faults is undefined
  Cell* reports = nullptr;             // Program::reports.size() cells
  std::uint8_t* report_written = nullptr;
  std::uint8_t* warned = nullptr;      // Program::warnings.size()
};

// What the type of a read, a column or a state says is always defined must be: where it is not, the handler faults
// (Domain) at the node that looks. Reals are finite.
struct Frame {
  const Cell* parameters = nullptr;    // Program::parameters.size(), each defined (lang::bind)
  const Cell* reads = nullptr;         // Handler::reads.size()
  const Column* columns = nullptr;     // Handler::columns.size()
  const std::int64_t* scope_sizes = nullptr;  // lang::scope_count
  const StateView* states = nullptr;   // Program::states.size()
  Scratch* scratch = nullptr;
};

class Executable {
 public:
  virtual ~Executable() = default;
  // Never throws, never allocates beyond `scratch`. A fault in a rule: rule = -1 and no effect has been carried out.
  // A fault in an effect: that effect is left out, `fault` tells of the first one, rule stays.
  virtual void decide(int handler, const Frame& frame, Outcome& outcome) const noexcept = 0;
  // The `hit` condition over one rollout; undefined where it faults.
  virtual Cell hit(const Frame& frame) const noexcept = 0;
};

enum class Optimize { None, Full };

// The program must outlive the executable.
std::unique_ptr<Executable> evaluate(const lang::Program& program);
// Machine code. Loads LLVM at first use; an error names the policy, never an LLVM pass.
Result<std::unique_ptr<Executable>> compile(const lang::Program& program, Optimize level = Optimize::Full);

}  // namespace allot::compiler
