// Matrices of reals as they lie in memory, row by row.
#pragma once

#include <cstddef>
#include <span>

namespace allot::linear {

template <typename T>
struct View {
  std::span<T> values;   // rows × columns of them
  std::size_t rows = 0;
  std::size_t columns = 0;
  T& operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
  bool square() const { return rows == columns; }
};
using Input = View<const double>;
using Output = View<double>;

}  // namespace allot::linear
