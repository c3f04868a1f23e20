#include "compiler/builtins/order.h"

#include <algorithm>
#include <bit>

#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/math/random.h"

namespace allot::compiler::builtins {
namespace {

// A number for each position: their order is one of all orders, drawn by `ties`.
std::uint64_t drawn(double ties, std::int64_t position) noexcept {
  return math::mix(std::bit_cast<std::uint64_t>(ties) ^ math::mix(static_cast<std::uint64_t>(position) + 1));
}

}  // namespace

Positions sorted_positions(const Value& vector, Direction direction, Scratch& scratch, double ties) noexcept {
  const Column& column = vector.column;
  const std::span<std::int64_t> positions = take<std::int64_t>(scratch, column.size);
  if (positions.empty() && column.size > 0) return {};
  std::size_t count = 0;
  for (std::int64_t i = 0; i < column.size; ++i) {
    if (column.cells[i].defined != 0) positions[count++] = i;
  }
  // A total order, so an unstable sort (which needs no memory) gives one answer.
  std::sort(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(count),
            [&](std::int64_t a, std::int64_t b) {
              const double left = real(column.cells[a], vector.base);
              const double right = real(column.cells[b], vector.base);
              if (left != right) return direction == Direction::Ascending ? left < right : left > right;
              if (ties >= 0 && drawn(ties, a) != drawn(ties, b)) return drawn(ties, a) < drawn(ties, b);
              return a < b;
            });
  return {true, positions.first(count)};
}

FaultKind give(Value& result, std::span<const std::int64_t> values, Scratch& scratch) noexcept {
  Cell* const cells = scratch.take(static_cast<std::int64_t>(values.size()));
  if (cells == nullptr) return FaultKind::OutOfMemory;
  std::transform(values.begin(), values.end(), cells, [](std::int64_t value) { return Cell::of(value); });
  result.cell = Cell{};
  result.column = {cells, static_cast<std::int64_t>(values.size())};
  return FaultKind::None;
}

namespace {

FaultKind first_of(const Value* arguments, Direction direction, Value& result, Scratch& scratch) noexcept {
  const std::int64_t wanted = integer(arguments[1]);
  if (wanted < 0) return FaultKind::Domain;
  const Positions positions = sorted_positions(arguments[0], direction, scratch, real(arguments[2]));
  if (!positions.ok) return FaultKind::OutOfMemory;
  const std::size_t count = std::min(positions.values.size(), static_cast<std::size_t>(wanted));
  return give(result, positions.values.first(count), scratch);
}

}  // namespace

FaultKind top(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return first_of(arguments, Direction::Descending, result, scratch);
}

FaultKind bottom(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return first_of(arguments, Direction::Ascending, result, scratch);
}

FaultKind argsort(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Direction direction = arguments[1].cell.truth() ? Direction::Descending : Direction::Ascending;
  const Positions positions = sorted_positions(arguments[0], direction, scratch, real(arguments[2]));
  return positions.ok ? give(result, positions.values, scratch) : FaultKind::OutOfMemory;
}

FaultKind rank(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Value& vector = arguments[0];
  const Positions positions = sorted_positions(vector, Direction::Ascending, scratch);
  const std::span<Cell> cells = make(result, vector.column.size, scratch);
  if (!positions.ok || static_cast<std::int64_t>(cells.size()) != vector.column.size) return FaultKind::OutOfMemory;
  std::fill(cells.begin(), cells.end(), Cell::undefined());
  const auto value = [&](std::size_t place) { return real(vector.column.cells[positions.values[place]], vector.base); };
  for (std::size_t first = 0, end = 0; first < positions.values.size(); first = end) {
    while (end < positions.values.size() && value(end) == value(first)) ++end;
    const double shared = 0.5 * static_cast<double>(first + 1 + end);
    for (std::size_t i = first; i < end; ++i) cells[static_cast<std::size_t>(positions.values[i])] = Cell::of(shared);
  }
  return FaultKind::None;
}

namespace {

FaultKind quantile_of(const Value& vector, double share, Value& result, Scratch& scratch) noexcept {
  if (!(share >= 0 && share <= 1)) return FaultKind::Domain;
  const Positions positions = sorted_positions(vector, Direction::Ascending, scratch);
  if (!positions.ok) return FaultKind::OutOfMemory;
  if (positions.values.empty()) return give_undefined(result);
  const auto value = [&](std::size_t place) { return real(vector.column.cells[positions.values[place]], vector.base); };
  const double at = share * static_cast<double>(positions.values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, positions.values.size() - 1);
  const double part = at - static_cast<double>(below);
  return give(result, value(below) == value(above) ? value(below) : (1 - part) * value(below) + part * value(above));
}

}  // namespace

FaultKind quantile(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return quantile_of(arguments[0], real(arguments[1]), result, scratch);
}

FaultKind median(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return quantile_of(arguments[0], 0.5, result, scratch);
}

FaultKind places_of_group(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const std::int64_t first = integer(arguments[0]);
  const std::int64_t count = integer(arguments[1]);
  std::int64_t end = 0;
  if (first < 0 || count < 0 || __builtin_add_overflow(first, count, &end)) return FaultKind::Domain;
  const std::span<Cell> cells = make(result, count, scratch);
  if (static_cast<std::int64_t>(cells.size()) != count) return FaultKind::OutOfMemory;
  for (std::int64_t i = 0; i < count; ++i) cells[static_cast<std::size_t>(i)] = Cell::of(first + i);
  return FaultKind::None;
}

}  // namespace allot::compiler::builtins
