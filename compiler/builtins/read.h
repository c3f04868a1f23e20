// Reading arguments and writing results, for the files of this folder.
#pragma once

#include <new>
#include <span>

#include "compiler/builtins/value.h"
#include "runtime/math/beta.h"
#include "runtime/math/checked.h"

namespace allot::compiler::builtins {

inline double real(const Cell& cell, lang::Base base) noexcept {
  return base == lang::Base::Real ? cell.real() : static_cast<double>(cell.integer());
}
inline double real(const Value& value) noexcept { return real(value.cell, value.base); }
inline std::int64_t integer(const Value& value) noexcept { return value.cell.integer(); }
inline math::Beta belief(const Value& value) noexcept { return {value.cell.real(), value.cell.second}; }

inline FaultKind give(Value& result, double value) noexcept {
  result.cell = Cell::of(value);
  return FaultKind::None;
}
inline FaultKind give(Value& result, std::int64_t value) noexcept {
  result.cell = Cell::of(value);
  return FaultKind::None;
}
inline FaultKind give(Value& result, bool value) noexcept {
  result.cell = Cell::of(value);
  return FaultKind::None;
}
inline FaultKind give_undefined(Value& result) noexcept {
  result.cell = Cell::undefined();
  return FaultKind::None;
}

inline FaultKind kind(math::IntFault fault) noexcept {
  switch (fault) {
    case math::IntFault::None: return FaultKind::None;
    case math::IntFault::Overflow: return FaultKind::IntegerOverflow;
    case math::IntFault::DivisionByZero: return FaultKind::DivisionByZero;
  }
  return FaultKind::Domain;
}
inline FaultKind give(Value& result, math::CheckedInt value) noexcept {
  return value ? give(result, value.value) : kind(value.fault);
}

// Room for plain things in a scratch of cells. Empty with `count` > 0 means: exhausted.
template <typename T>
std::span<T> take(Scratch& scratch, std::int64_t count) noexcept {
  static_assert(alignof(T) <= alignof(Cell) && std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  const std::int64_t cells = (count * static_cast<std::int64_t>(sizeof(T)) + 23) / 24;
  Cell* const memory = scratch.take(cells);
  if (memory == nullptr) return {};
  return {new (static_cast<void*>(memory)) T[static_cast<std::size_t>(count)], static_cast<std::size_t>(count)};
}

// The defined elements in order as reals. `ok` is false when the scratch is exhausted.
struct Reals {
  bool ok = false;
  std::span<const double> values;
};
inline Reals defined_reals(const Value& vector, Scratch& scratch) noexcept {
  const std::span<double> values = take<double>(scratch, vector.column.size);
  if (values.empty() && vector.column.size > 0) return {};
  std::size_t count = 0;
  for (std::int64_t i = 0; i < vector.column.size; ++i) {
    const Cell& cell = vector.column.cells[i];
    if (cell.defined != 0) values[count++] = real(cell, vector.base);
  }
  return {true, values.first(count)};
}

// A vector or matrix as plain reals, row by row. `fault` is Domain where an element is undefined.
struct Matrix {
  FaultKind fault = FaultKind::OutOfMemory;
  std::span<const double> values;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
};
inline Matrix matrix(const Value& value, Scratch& scratch) noexcept {
  const Column& column = value.column;
  const std::span<double> values = take<double>(scratch, column.size);
  if (values.empty() && column.size > 0) return {};
  for (std::int64_t i = 0; i < column.size; ++i) {
    if (column.cells[i].defined == 0) return {FaultKind::Domain, {}, 0, 1};
    values[static_cast<std::size_t>(i)] = real(column.cells[i], value.base);
  }
  return {FaultKind::None, values, column.size / column.width, column.width};
}

// Room for the elements of a result, which the caller fills; empty with `count` > 0 means: exhausted.
inline std::span<Cell> make(Value& result, std::int64_t count, Scratch& scratch, std::int64_t width = 1) noexcept {
  Cell* const cells = scratch.take(count);
  if (cells == nullptr) return {};
  result.cell = Cell{};
  result.column = {cells, count, width};
  return {cells, static_cast<std::size_t>(count)};
}

inline FaultKind give(Value& result, std::span<const double> values, Scratch& scratch,
                      std::int64_t width = 1) noexcept {
  const std::span<Cell> cells = make(result, static_cast<std::int64_t>(values.size()), scratch, width);
  if (cells.size() != values.size()) return FaultKind::OutOfMemory;
  for (std::size_t i = 0; i < values.size(); ++i) cells[i] = Cell::of(values[i]);
  return FaultKind::None;
}

}  // namespace allot::compiler::builtins
