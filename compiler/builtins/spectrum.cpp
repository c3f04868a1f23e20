// Gram matrices, their eigenvalues and eigenspaces, and what a Cholesky factor gives.
#include <algorithm>

#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/linear/cholesky.h"
#include "runtime/linear/gram.h"
#include "runtime/linear/symmetric.h"

namespace allot::compiler::builtins {
namespace {

// Two eigenvalues are apart where their distance is more than this share of the largest.
constexpr double gap_tolerance = 1e-9;

linear::Input input(const Matrix& m) noexcept {
  return {m.values, static_cast<std::size_t>(m.rows), static_cast<std::size_t>(m.columns)};
}

// A square matrix to be filled; without values where memory is out.
linear::Output square(std::int64_t size, Scratch& scratch) noexcept {
  const auto n = static_cast<std::size_t>(size);
  return {take<double>(scratch, size * size), n, n};
}

FaultKind give_square(Value& result, const linear::Output& out, Scratch& scratch) noexcept {
  return give(result, out.values, scratch, std::max<std::int64_t>(static_cast<std::int64_t>(out.rows), 1));
}

using Make = void (*)(linear::Input, linear::Output) noexcept;

FaultKind gram_of(const Value* arguments, Value& result, Scratch& scratch, Make make) noexcept {
  const Matrix m = matrix(arguments[0], scratch);
  if (m.fault != FaultKind::None) return m.fault;
  const linear::Output out = square(m.rows, scratch);
  if (out.values.empty() && m.rows > 0) return FaultKind::OutOfMemory;
  make(input(m), out);
  return give_square(result, out, scratch);
}

// Eigenvalues in descending order; eigenvectors too where they are asked for.
struct Spectrum {
  FaultKind fault = FaultKind::OutOfMemory;
  std::span<double> values;
  linear::Output vectors;
};

Spectrum spectrum(const Value& argument, bool vectors, Scratch& scratch) noexcept {
  const Matrix m = matrix(argument, scratch);
  Spectrum found;
  if (m.fault != FaultKind::None || m.rows == 0) {
    found.fault = m.fault;
    return found;
  }
  if (!linear::symmetric(input(m))) {
    found.fault = FaultKind::Domain;
    return found;
  }
  found.values = take<double>(scratch, m.rows);
  if (vectors) found.vectors = square(m.rows, scratch);
  if (found.values.empty() || (vectors && found.vectors.values.empty())) return found;
  switch (linear::eigen(input(m), found.values, found.vectors)) {
    case linear::Solved::Yes: found.fault = FaultKind::None; break;
    case linear::Solved::NoMemory: found.fault = FaultKind::OutOfMemory; break;
    case linear::Solved::Failed: found.fault = FaultKind::NotFinite; break;
  }
  return found;
}

// The factor of a positive definite matrix; no values where it is not.
struct Factor {
  FaultKind fault = FaultKind::OutOfMemory;
  bool positive = false;
  linear::Output lower;
};

Factor factor(const Value& argument, Scratch& scratch) noexcept {
  const Matrix m = matrix(argument, scratch);
  Factor found;
  found.fault = m.fault;
  if (m.fault != FaultKind::None) return found;
  if (m.rows > 0 && !linear::symmetric(input(m))) found.fault = FaultKind::Domain;
  if (found.fault != FaultKind::None) return found;
  found.lower = square(m.rows, scratch);
  if (found.lower.values.empty() && m.rows > 0) found.fault = FaultKind::OutOfMemory;
  else found.positive = linear::cholesky(input(m), found.lower);
  return found;
}

}  // namespace

FaultKind gram(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return gram_of(arguments, result, scratch, linear::gram);
}

FaultKind cosine_gram(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return gram_of(arguments, result, scratch, linear::cosine_gram);
}

FaultKind diagonal(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Matrix m = matrix(arguments[0], scratch);
  if (m.fault != FaultKind::None) return m.fault;
  if (m.rows > 0 && m.rows != m.columns) return FaultKind::Domain;
  const std::span<Cell> cells = make(result, m.rows, scratch);
  if (static_cast<std::int64_t>(cells.size()) != m.rows) return FaultKind::OutOfMemory;
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = Cell::of(input(m)(i, i));
  return FaultKind::None;
}

FaultKind ridge(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Matrix m = matrix(arguments[0], scratch);
  if (m.fault != FaultKind::None) return m.fault;
  if (m.rows > 0 && m.rows != m.columns) return FaultKind::Domain;
  if (const FaultKind fault = give(result, m.values, scratch, m.columns); fault != FaultKind::None) return fault;
  auto* const cells = const_cast<Cell*>(result.column.cells);
  for (std::int64_t i = 0; i < m.rows; ++i) {
    Cell& cell = cells[i * m.columns + i];
    cell = Cell::of(cell.real() + real(arguments[1]));
  }
  return FaultKind::None;
}

FaultKind participation_ratio(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Matrix m = matrix(arguments[0], scratch);
  if (m.fault != FaultKind::None) return m.fault;
  if (m.rows > 0 && m.rows != m.columns) return FaultKind::Domain;
  return give(result, linear::participation_ratio(input(m)));
}

FaultKind effective_count(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Matrix m = matrix(arguments[0], scratch);
  const Matrix weights = matrix(arguments[1], scratch);
  if (m.fault != FaultKind::None) return m.fault;
  if (weights.fault != FaultKind::None) return weights.fault;
  if (m.rows != weights.rows || (m.rows > 0 && m.rows != m.columns)) return FaultKind::Domain;
  return give(result, linear::effective_count(input(m), weights.values));
}

FaultKind eigenvalues(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Spectrum found = spectrum(arguments[0], false, scratch);
  return found.fault != FaultKind::None ? found.fault : give(result, found.values, scratch);
}

FaultKind eigenvectors(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Spectrum found = spectrum(arguments[0], true, scratch);
  return found.fault != FaultKind::None ? found.fault : give_square(result, found.vectors, scratch);
}

FaultKind eigengap(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const std::int64_t k = integer(arguments[1]);
  const Spectrum found = spectrum(arguments[0], false, scratch);
  if (found.fault != FaultKind::None) return found.fault;
  if (k < 1 || k >= static_cast<std::int64_t>(found.values.size())) return give_undefined(result);
  const auto at = static_cast<std::size_t>(k);
  return give(result, found.values[at - 1] - found.values[at]);
}

FaultKind top_eigenspace(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const std::int64_t k = integer(arguments[1]);
  if (k < 1) return FaultKind::Domain;
  const Spectrum found = spectrum(arguments[0], true, scratch);
  if (found.fault != FaultKind::None) return found.fault;
  const std::size_t size = found.values.size();
  const std::size_t taken = std::min(size, static_cast<std::size_t>(k));
  const double largest = size == 0 ? 0 : std::max(found.values.front(), -found.values.back());
  const bool apart = taken == size || found.values[taken - 1] - found.values[taken] > gap_tolerance * largest;
  if (!(largest > 0) || !apart) {
    result.column = {};
    return give_undefined(result);
  }
  const linear::Output out = square(static_cast<std::int64_t>(size), scratch);
  if (out.values.empty()) return FaultKind::OutOfMemory;
  linear::projector(found.vectors, taken, out);
  return give_square(result, out, scratch);
}

FaultKind project(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  return matmul(arguments, result, scratch);
}

FaultKind reject(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  Value inside;
  if (const FaultKind fault = matmul(arguments, inside, scratch); fault != FaultKind::None) return fault;
  const Column& of = arguments[1].column;
  if (inside.column.size != of.size) return FaultKind::Domain;
  const std::span<Cell> cells = make(result, of.size, scratch);
  if (static_cast<std::int64_t>(cells.size()) != of.size) return FaultKind::OutOfMemory;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = Cell::of(real(of.cells[i], arguments[1].base) - inside.column.cells[i].real());
  }
  return FaultKind::None;
}

FaultKind log_det(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Factor found = factor(arguments[0], scratch);
  if (found.fault != FaultKind::None) return found.fault;
  return found.positive ? give(result, linear::log_determinant(found.lower)) : give_undefined(result);
}

FaultKind inverse_diagonal(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Factor found = factor(arguments[0], scratch);
  if (found.fault != FaultKind::None) return found.fault;
  if (!found.positive) {
    result.column = {};
    return give_undefined(result);
  }
  const auto size = static_cast<std::int64_t>(found.lower.rows);
  const std::span<double> column = take<double>(scratch, size);
  const std::span<double> values = take<double>(scratch, size);
  if (size > 0 && (column.empty() || values.empty())) return FaultKind::OutOfMemory;
  linear::inverse_diagonal(found.lower, column, values);
  return give(result, values, scratch);
}

FaultKind log_det_shares(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Matrix m = matrix(arguments[0], scratch);
  if (m.fault != FaultKind::None) return m.fault;
  const auto size = static_cast<std::size_t>(m.rows);
  if (size > linear::most_players || (size > 0 && !linear::symmetric(input(m)))) return FaultKind::Domain;
  const std::span<double> room = take<double>(scratch, (std::int64_t{1} << m.rows) + m.rows * m.rows);
  const std::span<double> shares = take<double>(scratch, m.rows);
  if (room.empty() || shares.size() != size) return FaultKind::OutOfMemory;
  if (linear::log_determinant_shares(input(m), room, shares)) return give(result, shares, scratch);
  result.column = {};
  return give_undefined(result);
}

}  // namespace allot::compiler::builtins
