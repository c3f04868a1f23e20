#include "runtime/linear/gram.h"

#include "runtime/math/elementary.h"
#include "runtime/math/round.h"

namespace allot::linear {

void gram(Input m, Output out) noexcept {
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < m.columns; ++k) sum += m(i, k) * m(j, k);
      out(i, j) = out(j, i) = sum;
    }
  }
}

void cosine_gram(Input m, Output out) noexcept {
  gram(m, out);
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double lengths = math::sqrt(out(i, i)) * math::sqrt(out(j, j));
      out(i, j) = out(j, i) = lengths > 0 ? math::clamp(out(i, j) / lengths, -1, 1) : 0;
    }
  }
  for (std::size_t i = 0; i < m.rows; ++i) out(i, i) = out(i, i) > 0 ? 1 : 0;
}

double participation_ratio(Input m) noexcept {
  double trace = 0;
  double squares = 0;
  for (std::size_t i = 0; i < m.rows; ++i) {
    trace += m(i, i);
    for (std::size_t j = 0; j < m.columns; ++j) squares += m(i, j) * m(i, j);
  }
  return squares > 0 ? trace * trace / squares : 0;
}

double effective_count(Input m, std::span<const double> weights) noexcept {
  double together = 0;
  double apart = 0;
  for (std::size_t i = 0; i < m.rows; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < m.columns; ++j) row += m(i, j) * weights[j];
    together += weights[i] * row;
    apart += weights[i] * weights[i] * m(i, i);
  }
  return apart > 0 ? together / apart : 0;
}

}  // namespace allot::linear
