#include "runtime/linear/symmetric.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <new>

#include "runtime/math/round.h"

namespace allot::linear {

bool symmetric(Input m) noexcept {
  if (!m.square()) return false;
  double largest = 0;
  double apart = 0;
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j < m.columns; ++j) {
      largest = math::max(largest, math::abs(m(i, j)));
      apart = math::max(apart, math::abs(m(i, j) - m(j, i)));
    }
  }
  return apart <= asymmetry * largest;
}

Solved eigen(Input m, std::span<double> values, Output vectors) noexcept {
  const auto n = static_cast<Eigen::Index>(m.rows);
  if (n == 0) return Solved::Yes;
  const bool all = !vectors.values.empty();
  try {
    Eigen::MatrixXd copy(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const auto row = static_cast<std::size_t>(i);
        const auto column = static_cast<std::size_t>(j);
        copy(i, j) = 0.5 * m(row, column) + 0.5 * m(column, row);
      }
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(copy,
                                                               all ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (solver.info() != Eigen::Success) return Solved::Failed;
    for (Eigen::Index k = 0; k < n; ++k) {
      const Eigen::Index from = n - 1 - k;  // Eigen sorts upwards
      values[static_cast<std::size_t>(k)] = solver.eigenvalues()(from);
      if (!all) continue;
      Eigen::Index largest = 0;
      for (Eigen::Index i = 1; i < n; ++i) {
        if (std::fabs(solver.eigenvectors()(i, from)) > std::fabs(solver.eigenvectors()(largest, from))) largest = i;
      }
      const double sign = solver.eigenvectors()(largest, from) < 0 ? -1 : 1;
      for (Eigen::Index i = 0; i < n; ++i) {
        vectors(static_cast<std::size_t>(i), static_cast<std::size_t>(k)) = sign * solver.eigenvectors()(i, from);
      }
    }
  } catch (const std::bad_alloc&) {
    return Solved::NoMemory;
  }
  return Solved::Yes;
}

void projector(Output vectors, std::size_t k, Output out) noexcept {
  for (std::size_t i = 0; i < out.rows; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < k; ++c) sum += vectors(i, c) * vectors(j, c);
      out(i, j) = out(j, i) = sum;
    }
  }
}

}  // namespace allot::linear
