#include "tests/compiler/harness.h"

#include <cmath>
#include <stdexcept>

#include "tests/compiler/scalar_program.h"

namespace allot::compiler::test {
namespace {

std::unique_ptr<Executable> compiled(const Program& program, Optimize level) {
  auto result = compile(program, level);
  if (!result) throw std::runtime_error(result.error().text() + "\n" + text(program));
  return std::move(*result);
}

}  // namespace

Program any_program(std::uint64_t seed) {
  return seed % 4 == 3 ? scalar_program(seed) : random_program(seed);
}

bool is_scalar(const Program& program) {
  return program.name == "scalars";
}

Memory memory_for(const Program& program, std::uint64_t seed) {
  return is_scalar(program) ? scalar_memory(program, seed) : random_memory(program, seed);
}

namespace {

void make_finite(std::vector<Cell>& cells) {
  for (Cell& cell : cells) {
    if (!std::isfinite(cell.real())) cell = Cell::undefined();
  }
}

// A host that has no finite number has none at all; a column of a batch may hold others, and then means that.
void make_finite(Memory& memory, const Program& program) {
  const auto& reads = program.handlers.front().reads;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (reads[i].type.base == Base::Real && !std::isfinite(memory.reads[i].real())) memory.reads[i] = Cell::undefined();
  }
  for (std::size_t i = 0; i < program.states.size(); ++i) {
    if (program.states[i].type.base != Base::Real) continue;
    make_finite(memory.before[i]);
    make_finite(memory.after[i]);
  }
}

}  // namespace

Engines::Engines(const Program& program) : Engines(program, program) {}

Engines::Engines(const Program& program, const Program& other)
    : program_(program),
      evaluator_(evaluate(program)),
      plain_(compiled(other, Optimize::None)),
      full_(compiled(other, Optimize::Full)) {}

std::string Engines::difference(std::uint64_t seed, const std::function<void(const Answer&)>& see) const {
  Memory memory = memory_for(program_, seed);
  make_finite(memory, program_);
  const std::size_t cells = random_scratch(seed);
  Scratch first(cells), second(cells), third(cells);
  const Answer expected = ask(*evaluator_, program_, memory, first);
  const Answer plain = ask(*plain_, program_, memory, second);
  const Answer full = ask(*full_, program_, memory, third);
  if (see) see(expected);
  if (plain == expected && full == expected) return {};
  return text(program_) + text(memory) + "scratch " + std::to_string(cells) + "\nevaluator: " + text(expected) +
         "O0:        " + text(plain) + "Full:      " + text(full);
}

}  // namespace allot::compiler::test
