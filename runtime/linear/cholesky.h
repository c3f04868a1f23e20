// The Cholesky factor of a symmetric positive definite matrix, and what it is good for. Only the lower triangle of the
// input is read.
#pragma once

#include <optional>

#include "runtime/linear/view.h"

namespace allot::linear {

// m = L Lᵀ, L into the lower triangle of `factor` (the rest is 0). False where m is not positive definite.
bool cholesky(Input m, Output factor) noexcept;

// 2 Σ ln L[i, i].
double log_determinant(Output factor) noexcept;

// The diagonal of m⁻¹ into `diagonal`, `column` being room for one column of L⁻¹.
void inverse_diagonal(Output factor, std::span<double> column, std::span<double> diagonal) noexcept;

// What each row adds to the log-determinant of the rows before it, on average over all orders: the Shapley value of the
// game S → ln det m[S, S]. Exact, from all 2ⁿ subsets. `room` has 2ⁿ + n² elements. False where a submatrix is not
// positive definite.
inline constexpr std::size_t most_players = 12;
bool log_determinant_shares(Input m, std::span<double> room, std::span<double> shares) noexcept;

}  // namespace allot::linear
