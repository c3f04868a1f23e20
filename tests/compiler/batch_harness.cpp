#include "tests/compiler/batch_harness.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "tests/compiler/harness.h"

namespace allot::compiler::test {
namespace {

template <typename T>
void put(std::vector<std::uint8_t>& bytes, T value) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof(T));
}

// Columns of one shape, and what stands in them.
struct Columns {
  std::vector<std::vector<std::uint8_t>> values, defined;
  std::vector<Facts> facts;

  void add(const ColumnShape& shape, const std::vector<Cell>& cells) {
    std::vector<std::uint8_t> bytes, gaps;
    for (const Cell& cell : cells) {
      gaps.push_back(cell.defined != 0 ? 1 : 0);
      switch (shape.kind) {
        case ColumnKind::Real64:
          put(bytes, cell.real());
          break;
        case ColumnKind::Real32:
          put(bytes, static_cast<float>(cell.real()));
          break;
        case ColumnKind::Int64:
          put(bytes, cell.integer());
          break;
        case ColumnKind::Int32:
          put(bytes, static_cast<std::int32_t>(cell.integer()));
          break;
        case ColumnKind::Byte:
          put(bytes, std::uint8_t{cell.truth()});
          break;
        default:
          put(bytes, cell);
      }
    }
    values.push_back(std::move(bytes));
    defined.push_back(std::move(gaps));
  }
  const Facts* finish() {
    for (std::size_t i = 0; i < values.size(); ++i) facts.push_back({values[i].data(), defined[i].data()});
    return facts.data();
  }
};

std::int64_t bytes_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::None:
    case ColumnKind::Same:
      return 0;
    case ColumnKind::Cells:
      return sizeof(Cell);
    case ColumnKind::Real32:
    case ColumnKind::Int32:
      return 4;
    case ColumnKind::Byte:
      return 1;
    default:
      return 8;
  }
}

// The same columns, as if they began at that row.
std::vector<Facts> from_row(const std::vector<ColumnShape>& shapes, const Facts* facts, std::int64_t row) {
  std::vector<Facts> moved;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto* const values = static_cast<const std::uint8_t*>(facts[i].values);
    moved.push_back({values == nullptr ? nullptr : values + row * bytes_of(shapes[i].kind),
                     facts[i].defined == nullptr ? nullptr : facts[i].defined + row});
  }
  return moved;
}

ColumnShape random_shape(Dice& dice, const Type& type) {
  ColumnShape shape;
  shape.gaps = type.optional || dice.once_in(6);
  switch (type.base) {
    case Base::Real:
      shape.kind = dice.once_in(4) ? ColumnKind::Real32 : ColumnKind::Real64;
      break;
    case Base::Bool:
      shape.kind = ColumnKind::Byte;
      break;
    case Base::Beta:
      shape.kind = ColumnKind::Cells;
      break;
    default:
      shape.kind = dice.once_in(2) ? ColumnKind::Int32 : ColumnKind::Int64;
  }
  if (dice.once_in(8)) shape.kind = ColumnKind::Same;
  return shape;
}

}  // namespace

Told told(const Batch& batch, const BatchShape& shape, BatchFrame frame, std::int64_t at_once) {
  const auto size = static_cast<std::size_t>(frame.count);
  Scratch scratch;
  frame.scratch = &scratch;
  Told answer;
  answer.narrow.assign(size, 99);
  answer.wide.assign(size, 99);
  answer.bits.assign(number_count, std::vector<std::uint64_t>(size, 99));
  answer.defined.assign(number_count, std::vector<std::uint8_t>(size, 99));
  answer.faults.assign(size, FaultKind::OutOfMemory);
  answer.nodes.assign(size, 99);
  const std::int64_t step = at_once == 0 ? std::max<std::int64_t>(1, frame.count) : at_once;
  for (std::int64_t begin = 0; begin < frame.count || begin == 0; begin += step) {
    const std::vector<Facts> reads = from_row(shape.reads, frame.reads, begin);
    const std::vector<Facts> states = from_row(shape.states, frame.states, begin);
    BatchFrame part = frame;
    part.count = std::min(step, frame.count - begin);
    part.reads = reads.data();
    part.states = states.data();
    if (frame.frames != nullptr) part.frames = frame.frames + begin;
    BatchOutcome outcome;
    outcome.rules = shape.narrow ? static_cast<void*>(answer.narrow.data() + begin)
                                 : static_cast<void*>(answer.wide.data() + begin);
    for (std::size_t i = 0; i < number_count; ++i)
      outcome.numbers[i] = {answer.bits[i].data() + begin, answer.defined[i].data() + begin};
    outcome.faults = answer.faults.data() + begin;
    outcome.fault_nodes = answer.nodes.data() + begin;
    answer.faulty += batch.decide(part, outcome);
  }
  return answer;
}

std::unique_ptr<Batch> made(allot::Result<std::unique_ptr<Batch>> batch) {
  if (!batch) throw std::runtime_error(batch.error().text());
  return std::move(*batch);
}

Comparison compare_batches(const Program& program, const Program& other, std::uint64_t seed, std::int64_t rows) {
  Dice dice(seed * 7 + 3);
  BatchShape shape;
  shape.operands = dice.once_in(2);
  shape.narrow = dice.once_in(2);
  const Handler& handler = program.handlers.front();
  for (const auto& read : handler.reads) shape.reads.push_back(random_shape(dice, read.type));
  const bool single = is_scalar(program);  // else state stands in the frames
  if (single)
    for (const auto& state : program.states) shape.states.push_back(random_shape(dice, state.type));

  Scratch scratch;
  std::vector<Memory> memories;
  for (std::int64_t row = 0; row < rows; ++row)
    memories.push_back(memory_for(program, frame_seed(seed, static_cast<std::uint64_t>(row))));
  std::vector<std::unique_ptr<Question>> questions;
  std::vector<std::vector<Cell>> reads(handler.reads.size()), states(shape.states.size());
  std::vector<Frame> frames;
  for (Memory& memory : memories) {
    memory.parameters = memories.front().parameters;  // one set for all rows
    for (std::size_t i = 0; i < reads.size(); ++i) reads[i].push_back(memory.reads[i]);
    for (std::size_t i = 0; i < states.size(); ++i) states[i].push_back(memory.before[i][0]);
    questions.push_back(std::make_unique<Question>(program, handler, memory, scratch));
    frames.push_back(questions.back()->frame);
  }
  Columns of_reads, of_states;
  for (std::size_t i = 0; i < reads.size(); ++i) of_reads.add(shape.reads[i], reads[i]);
  for (std::size_t i = 0; i < states.size(); ++i) of_states.add(shape.states[i], states[i]);
  const BatchFrame frame{rows,
                         memories.front().parameters.data(),
                         of_reads.finish(),
                         of_states.finish(),
                         single ? nullptr : frames.data(),
                         nullptr};
  const auto evaluator = made(evaluate_batch(program, 0, shape));
  const auto machine = made(compile_batch(other, 0, shape));
  Comparison both;
  both.vectorised = machine->vectorised();
  both.evaluator = told(*evaluator, shape, frame);
  // What the first has remembered where state is shared must not be there for the second.
  for (std::size_t row = 0; !single && row < memories.size(); ++row) {
    Memory fresh = memory_for(program, frame_seed(seed, row));
    for (std::size_t i = 0; i < fresh.before.size(); ++i) {
      memories[row].before[i] = fresh.before[i];
      memories[row].after[i] = fresh.after[i];
    }
    questions[row] = std::make_unique<Question>(program, handler, memories[row], scratch);
    frames[row] = questions[row]->frame;
  }
  both.machine = told(*machine, shape, frame);
  if (both.vectorised) {
    const Told in_parts = told(*machine, shape, frame, 8 + dice.below(12));
    if (!(in_parts == both.machine)) both.machine = in_parts;
  }
  return both;
}

}  // namespace allot::compiler::test
