#include "runtime/linear/cholesky.h"

#include <algorithm>
#include <bit>

#include "runtime/math/elementary.h"

namespace allot::linear {

bool cholesky(Input m, Output factor) noexcept {
  std::fill(factor.values.begin(), factor.values.end(), 0.0);
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = m(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= factor(i, k) * factor(j, k);
      if (i != j) {
        factor(i, j) = rest / factor(j, j);
        continue;
      }
      if (!(rest > 0)) return false;
      factor(i, i) = math::sqrt(rest);
    }
  }
  return true;
}

double log_determinant(Output factor) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < factor.rows; ++i) sum += math::log(factor(i, i));
  return 2 * sum;
}

// (m⁻¹)[j, j] is the squared length of column j of L⁻¹, which forward substitution of a unit vector gives.
void inverse_diagonal(Output factor, std::span<double> column, std::span<double> diagonal) noexcept {
  for (std::size_t j = 0; j < factor.rows; ++j) {
    double squares = 0;
    for (std::size_t i = j; i < factor.rows; ++i) {
      double rest = i == j ? 1 : 0;
      for (std::size_t k = j; k < i; ++k) rest -= factor(i, k) * column[k];
      column[i] = rest / factor(i, i);
      squares += column[i] * column[i];
    }
    diagonal[j] = squares;
  }
}

bool log_determinant_shares(Input m, std::span<double> room, std::span<double> shares) noexcept {
  const std::size_t n = m.rows;
  const std::size_t subsets = std::size_t{1} << n;
  const std::span<double> gains = room.first(subsets);
  gains[0] = 0;
  for (std::size_t set = 1; set < subsets; ++set) {
    const auto size = static_cast<std::size_t>(std::popcount(set));
    const Output part{room.subspan(subsets, size * size), size, size};
    std::size_t row = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if ((set >> i & 1) == 0) continue;
      std::size_t column = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        if ((set >> j & 1) != 0) part(row, column++) = m(i, j);
      }
      ++row;
    }
    // In place: each element is read before it is written, and what lies above the diagonal is never looked at.
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double rest = part(i, j);
        for (std::size_t k = 0; k < j; ++k) rest -= part(i, k) * part(j, k);
        if (i == j && !(rest > 0)) return false;
        part(i, j) = i == j ? math::sqrt(rest) : rest / part(j, j);
      }
    }
    gains[set] = log_determinant(part);
  }
  // Σ over S without i of |S|! (n − 1 − |S|)! / n! times the gain; the weight is 1 / (n C(n − 1, |S|)).
  for (std::size_t i = 0; i < n; ++i) {
    double share = 0;
    for (std::size_t set = 0; set < subsets; ++set) {
      if ((set >> i & 1) != 0) continue;
      double choices = 1;
      const auto size = static_cast<std::size_t>(std::popcount(set));
      for (std::size_t k = 1; k <= size; ++k) choices = choices * static_cast<double>(n - k) / static_cast<double>(k);
      share += (gains[set | std::size_t{1} << i] - gains[set]) / (static_cast<double>(n) * choices);
    }
    shares[i] = share;
  }
  return true;
}

}  // namespace allot::linear
