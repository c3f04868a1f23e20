// Products. Every sum runs in the order of its index.
#include <algorithm>

#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"

namespace allot::compiler::builtins {

FaultKind dot(const Value* arguments, Value& result, Scratch&) noexcept {
  const Column& a = arguments[0].column;
  const Column& b = arguments[1].column;
  if (a.size != b.size) return FaultKind::Domain;
  double sum = 0;
  for (std::int64_t i = 0; i < a.size; ++i) {
    if (a.cells[i].defined == 0 || b.cells[i].defined == 0) continue;
    sum += real(a.cells[i], arguments[0].base) * real(b.cells[i], arguments[1].base);
  }
  return give(result, sum);
}

FaultKind outer(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Matrix a = matrix(arguments[0], scratch);
  const Matrix b = matrix(arguments[1], scratch);
  if (a.fault != FaultKind::None) return a.fault;
  if (b.fault != FaultKind::None) return b.fault;
  const std::size_t size = a.values.size() * b.values.size();
  const std::span<Cell> cells = make(result, static_cast<std::int64_t>(size), scratch, std::max<std::int64_t>(b.rows, 1));
  if (cells.size() != size) return FaultKind::OutOfMemory;
  std::size_t at = 0;
  for (const double x : a.values) {
    for (const double y : b.values) cells[at++] = Cell::of(x * y);
  }
  return FaultKind::None;
}

FaultKind matmul(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Matrix a = matrix(arguments[0], scratch);
  const Matrix b = matrix(arguments[1], scratch);
  if (a.fault != FaultKind::None) return a.fault;
  if (b.fault != FaultKind::None) return b.fault;
  const bool empty = a.values.empty() && b.values.empty();
  if (!empty && a.columns != b.rows) return FaultKind::Domain;
  const std::span<Cell> cells = make(result, a.rows * b.columns, scratch, b.columns);
  if (static_cast<std::int64_t>(cells.size()) != a.rows * b.columns) return FaultKind::OutOfMemory;
  std::size_t at = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < a.columns; ++k) {
        sum += a.values[static_cast<std::size_t>(i * a.columns + k)] *
               b.values[static_cast<std::size_t>(k * b.columns + j)];
      }
      cells[at++] = Cell::of(sum);
    }
  }
  return FaultKind::None;
}

FaultKind transpose(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Matrix m = matrix(arguments[0], scratch);
  if (m.fault != FaultKind::None) return m.fault;
  const std::span<Cell> cells =
      make(result, static_cast<std::int64_t>(m.values.size()), scratch, std::max<std::int64_t>(m.rows, 1));
  if (cells.size() != m.values.size()) return FaultKind::OutOfMemory;
  std::size_t at = 0;
  for (std::int64_t j = 0; j < m.columns && m.rows > 0; ++j) {
    for (std::int64_t i = 0; i < m.rows; ++i) cells[at++] = Cell::of(m.values[static_cast<std::size_t>(i * m.columns + j)]);
  }
  return FaultKind::None;
}

}  // namespace allot::compiler::builtins
