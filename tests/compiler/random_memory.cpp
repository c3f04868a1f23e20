// Random frames.
#include "tests/compiler/random_program.h"

namespace allot::compiler::test {
namespace {

double random_real(Dice& dice, bool wild) {
  static const double extremes[] = {
      0.0, -0.0,   1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 1e154, -1e200, 9.2233720368547758e18,
      0.1, 1.0 / 3};
  if (wild && dice.once_in(3)) return extremes[dice.below(10)];
  return dice.once_in(2) ? 0.1 * dice.below(20) : 0.25 * (dice.below(17) - 8);
}

std::int64_t random_int(Dice& dice, bool wild) {
  static const std::int64_t extremes[] = {INT64_MIN, INT64_MAX, -1, 0, (1LL << 53) + 1, INT64_MIN + 1, 1LL << 32};
  if (wild && dice.once_in(3)) return extremes[dice.below(7)];
  return dice.below(10) - 3;
}

Cell random_cell(Dice& dice, const Type& of, std::int64_t prompts, bool wild) {
  if (of.optional ? dice.once_in(4) : wild && dice.once_in(40)) return Cell::undefined();
  switch (of.base) {
    case Base::Real:
      return Cell::of(random_real(dice, wild));
    case Base::Bool:
      return Cell::of(dice.once_in(2));
    case Base::Beta:
      return Cell::beta(0.5 + dice.below(6), wild && dice.once_in(5) ? -1.0 : 0.25 + dice.below(5));
    case Base::Prompt:
    case Base::Category:
      if (wild && dice.once_in(10)) return Cell::of(std::int64_t{99});
      return Cell::of(std::int64_t{dice.below(static_cast<int>(prompts))});
    default:
      return Cell::of(random_int(dice, wild));
  }
}

// The lower half becomes that of a symmetric matrix.
void mirror(std::vector<Cell>& cells, std::int64_t width) {
  for (std::int64_t row = 0; row < width; ++row)
    for (std::int64_t column = 0; column < row; ++column)
      cells[static_cast<std::size_t>(row * width + column)] = cells[static_cast<std::size_t>(column * width + row)];
}

}  // namespace

Memory random_memory(const Program& program, std::uint64_t seed) {
  Dice dice(seed);
  const bool wild = dice.once_in(3);
  const Handler& handler = program.handlers.front();
  Memory memory;
  for (auto& size : memory.sizes) size = dice.below(6);
  const std::int64_t prompts = 1 + dice.below(3);
  for (const lang::Parameter& parameter : program.parameters)
    memory.parameters.push_back(random_cell(dice, parameter.type, prompts, false));
  for (const lang::ReadKey& read : handler.reads) memory.reads.push_back(random_cell(dice, read.type, prompts, wild));
  for (const lang::ReadKey& column : handler.columns) {
    std::int64_t size = memory.sizes[static_cast<std::size_t>(column.scope)];
    const std::int64_t width = size;
    if (column.type.matrix())
      size = dice.once_in(4) ? size * size : 4;
    else if (wild && size > 0 && dice.once_in(20))
      --size;
    memory.columns.emplace_back();
    for (std::int64_t i = 0; i < size; ++i)
      memory.columns.back().push_back(random_cell(dice, element_type(column.type), prompts, wild));
    if (column.type.matrix() && !dice.once_in(4)) mirror(memory.columns.back(), size == 4 ? 2 : width);
  }
  for (const lang::State& state : program.states) {
    const std::int64_t size = (state.keyed() ? prompts : 1) * state.type.cells();
    memory.before.emplace_back();
    for (std::int64_t i = 0; i < size; ++i)
      memory.before.back().push_back(random_cell(dice, element_type(state.type), prompts, wild));
  }
  memory.after = memory.before;
  memory.shared = dice.once_in(3);
  return memory;
}

std::size_t random_scratch(std::uint64_t seed) {
  Dice dice(seed + 17);
  return dice.once_in(10) ? static_cast<std::size_t>(dice.below(12)) : std::size_t{4096};
}

}  // namespace allot::compiler::test
