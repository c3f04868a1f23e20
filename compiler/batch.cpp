#include "compiler/batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "compiler/kernel.h"
#include "compiler/native/kernels.h"

namespace allot::compiler {
namespace {

using lang::Base;
using lang::Handler;
using lang::Program;

constexpr std::size_t most_narrow_rules = 126;
// Rows whose columns stay in the first cache while those that must be asked again are looked for.
constexpr std::int64_t block_rows = 2048;
// After rows for which haste was in vain: where some may fault, those after them often do as well.
constexpr std::int64_t careful_rows = 16 * block_rows;

template <typename T>
T at(const void* values, std::int64_t row) noexcept {
  return static_cast<const T*>(values)[row];
}

Cell raw_at(const ColumnShape& shape, const Facts& facts, std::int64_t row) noexcept {
  if (shape.gaps && facts.defined[row] == 0) return Cell::undefined();
  switch (shape.kind) {
    case ColumnKind::None: return Cell::undefined();
    case ColumnKind::Same: return at<Cell>(facts.values, 0);
    case ColumnKind::Cells: return at<Cell>(facts.values, row);
    case ColumnKind::Real64: return Cell::of(at<double>(facts.values, row));
    case ColumnKind::Real32: return Cell::of(static_cast<double>(at<float>(facts.values, row)));
    case ColumnKind::Int64: return Cell::of(at<std::int64_t>(facts.values, row));
    case ColumnKind::Int32: return Cell::of(std::int64_t{at<std::int32_t>(facts.values, row)});
    case ColumnKind::Byte: return Cell::of(at<std::uint8_t>(facts.values, row) != 0);
  }
  return Cell::undefined();
}

Cell value_at(const ColumnShape& shape, const Facts& facts, std::int64_t row, Base base) noexcept {
  const Cell cell = raw_at(shape, facts, row);
  return base == Base::Real && !std::isfinite(cell.real()) ? Cell::undefined() : cell;
}

// Memory of the thread that asks; grows to the largest handler and stays.
struct Row {
  std::vector<Cell> reads, before, after;
  std::vector<StateView> states;
  Outcome outcome;
};

class Loop : public Batch {
 public:
  Loop(const Program& program, int handler, BatchShape shape, std::unique_ptr<Executable> executable)
      : program_(program), handler_(handler), shape_(std::move(shape)), executable_(std::move(executable)) {}

  std::int64_t decide(const BatchFrame& frame, const BatchOutcome& outcome) const noexcept override {
    return ask(frame, outcome, 0, frame.count);
  }
  bool vectorised() const noexcept override { return false; }

 protected:
  std::int64_t ask(const BatchFrame& frame, const BatchOutcome& outcome, std::int64_t begin,
                   std::int64_t end) const noexcept {
    Row& row = workspace();
    std::int64_t faults = 0;
    for (std::int64_t i = begin; i < end; ++i) faults += one(frame, outcome, i, row) ? 1 : 0;
    return faults;
  }

  bool ask_one(const BatchFrame& frame, const BatchOutcome& outcome, std::int64_t i) const noexcept {
    return one(frame, outcome, i, workspace());
  }

  int rule(const BatchOutcome& outcome, std::int64_t row) const noexcept {
    return shape_.narrow ? at<std::int8_t>(outcome.rules, row) : at<std::int32_t>(outcome.rules, row);
  }

 private:
  Row& workspace() const {
    thread_local Row row;
    row.reads.resize(std::max(row.reads.size(), shape_.reads.size()));
    row.before.resize(std::max(row.before.size(), shape_.states.size()));
    row.after.resize(row.before.size());
    row.states.resize(row.before.size());
    for (std::size_t i = 0; i < shape_.states.size(); ++i) {
      const bool given = shape_.states[i].kind != ColumnKind::None;
      row.states[i] = given ? StateView{&row.before[i], &row.after[i], 1} : StateView{};
    }
    return row;
  }

  bool one(const BatchFrame& frame, const BatchOutcome& outcome, std::int64_t i, Row& row) const noexcept {
    Frame asked = frame.frames != nullptr ? frame.frames[i] : Frame{};
    const auto& reads = program_.handlers[static_cast<std::size_t>(handler_)].reads;
    for (std::size_t r = 0; r < reads.size(); ++r)
      row.reads[r] = value_at(shape_.reads[r], frame.reads[r], i, reads[r].type.base);
    for (std::size_t s = 0; s < shape_.states.size(); ++s)
      row.after[s] = row.before[s] = value_at(shape_.states[s], frame.states[s], i, program_.states[s].type.base);
    asked.parameters = frame.parameters;
    asked.reads = row.reads.data();
    asked.scratch = frame.scratch;
    if (!shape_.states.empty()) asked.states = row.states.data();
    executable_->decide(handler_, asked, row.outcome);
    tell(row.outcome, outcome, i);
    return row.outcome.fault != FaultKind::None;
  }

  void tell(const Outcome& answer, const BatchOutcome& outcome, std::int64_t i) const noexcept {
    if (shape_.narrow) static_cast<std::int8_t*>(outcome.rules)[i] = static_cast<std::int8_t>(answer.rule);
    else static_cast<std::int32_t*>(outcome.rules)[i] = answer.rule;
    for (std::size_t n = 0; shape_.operands && n < number_count; ++n) {
      const Cell& cell = answer.*number_places[n].cell;
      outcome.numbers[n].bits[i] = cell.bits;
      outcome.numbers[n].defined[i] = cell.defined != 0 ? 1 : 0;
    }
    if (outcome.faults != nullptr) outcome.faults[i] = answer.fault;
    if (outcome.fault_nodes != nullptr) outcome.fault_nodes[i] = answer.fault_node;
  }

  const Program& program_;
  int handler_;
  BatchShape shape_;
  std::unique_ptr<Executable> executable_;
};

class Vectorised final : public Loop {
 public:
  Vectorised(const Program& program, int handler, BatchShape shape, std::unique_ptr<Executable> executable,
             std::unique_ptr<Kernel> kernel)
      : Loop(program, handler, std::move(shape), std::move(executable)), kernel_(std::move(kernel)) {}

  std::int64_t decide(const BatchFrame& frame, const BatchOutcome& outcome) const noexcept override {
    const KernelFrame asked{frame.parameters, frame.reads, frame.states, outcome.rules, outcome.numbers};
    const std::int64_t whole = frame.count - frame.count % kernel_->lanes;
    std::int64_t faults = 0, careful_until = 0;
    for (std::int64_t begin = 0; begin < whole; begin += block_rows) {
      const std::int64_t end = std::min(whole, begin + block_rows);
      if (outcome.faults != nullptr) std::fill(outcome.faults + begin, outcome.faults + end, FaultKind::None);
      if (outcome.fault_nodes != nullptr) std::fill(outcome.fault_nodes + begin, outcome.fault_nodes + end, -1);
      if (begin >= careful_until) {
        if (kernel_->hasty(&asked, begin, end) == 0) continue;
        careful_until = begin + careful_rows;
      }
      if (kernel_->careful(&asked, begin, end) == 0) continue;
      for (std::int64_t i = begin; i < end; ++i) {
        if (rule(outcome, i) == ask_again && ask_one(frame, outcome, i)) ++faults;
      }
    }
    return faults + ask(frame, outcome, whole, frame.count);
  }
  bool vectorised() const noexcept override { return true; }

 private:
  std::unique_ptr<Kernel> kernel_;
};

bool fits(ColumnKind kind, const lang::Type& type) {
  if (type.vector()) return kind == ColumnKind::None;
  switch (kind) {
    case ColumnKind::None: case ColumnKind::Same: case ColumnKind::Cells: return true;
    case ColumnKind::Real64: case ColumnKind::Real32: return type.base == Base::Real;
    case ColumnKind::Int64: case ColumnKind::Int32:
      return type.base == Base::Int || type.base == Base::Prompt || type.base == Base::Category;
    case ColumnKind::Byte: return type.base == Base::Bool;
  }
  return false;
}

Result<void> check(const Program& program, int handler, const BatchShape& shape) {
  if (handler < 0 || static_cast<std::size_t>(handler) >= program.handlers.size())
    return Error{"Policy `" + program.name + "` has no handler " + std::to_string(handler) + ".", ""};
  const Handler& asked = program.handlers[static_cast<std::size_t>(handler)];
  const std::string where = "The handler `" + asked.text + "` of the policy `" + program.name + "`";
  if (shape.reads.size() != asked.reads.size())
    return Error{where + " reads " + std::to_string(asked.reads.size()) + " facts, " +
                     std::to_string(shape.reads.size()) + " columns were described.", "describe one column a fact"};
  for (std::size_t i = 0; i < shape.reads.size(); ++i) {
    if (shape.reads[i].kind == ColumnKind::None || !fits(shape.reads[i].kind, asked.reads[i].type))
      return Error{where + " cannot read `" + asked.reads[i].text + "` from such a column.",
                   "it is " + lang::to_text(asked.reads[i].type)};
  }
  if (!shape.states.empty() && shape.states.size() != program.states.size())
    return Error{"Policy `" + program.name + "` has " + std::to_string(program.states.size()) + " states, " +
                     std::to_string(shape.states.size()) + " columns were described.", "describe one column a state"};
  for (std::size_t i = 0; i < shape.states.size(); ++i) {
    if (!fits(shape.states[i].kind, program.states[i].type))
      return Error{where + " cannot read the state `" + program.states[i].name + "` from such a column.",
                   "it is " + lang::to_text(program.states[i].type)};
  }
  if (shape.narrow && asked.rules.size() > most_narrow_rules)
    return Error{where + " has more than " + std::to_string(most_narrow_rules) + " rules.",
                 "ask for their indices as int32"};
  return {};
}

}  // namespace

Result<std::unique_ptr<Batch>> evaluate_batch(const Program& program, int handler, BatchShape shape) {
  if (Result<void> fine = check(program, handler, shape); !fine) return fine.error();
  return std::unique_ptr<Batch>(std::make_unique<Loop>(program, handler, std::move(shape), evaluate(program)));
}

Result<std::unique_ptr<Batch>> compile_batch(const Program& program, int handler, BatchShape shape) {
  if (Result<void> fine = check(program, handler, shape); !fine) return fine.error();
  Result<std::unique_ptr<Executable>> scalar = compile(program);
  if (!scalar) return scalar.error();
  Result<std::unique_ptr<Kernel>> kernel = native::compile_kernel(program, handler, shape);
  if (!kernel) return kernel.error();
  if (*kernel == nullptr)
    return std::unique_ptr<Batch>(std::make_unique<Loop>(program, handler, std::move(shape), *std::move(scalar)));
  return std::unique_ptr<Batch>(
      std::make_unique<Vectorised>(program, handler, std::move(shape), *std::move(scalar), *std::move(kernel)));
}

}  // namespace allot::compiler
