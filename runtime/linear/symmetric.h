// Eigenvalues and eigenvectors of a symmetric matrix, by Eigen's direct solver: no start vector, one thread, so the same
// build gives the same bits.
#pragma once

#include <span>

#include "runtime/linear/view.h"

namespace allot::linear {

// Differences between m[i, j] and m[j, i] beyond this share of the largest element mean that m is not symmetric.
inline constexpr double asymmetry = 1e-9;
bool symmetric(Input m) noexcept;

enum class Solved { Yes, NoMemory, Failed };

// Eigenvalues in descending order, and the unit eigenvectors as columns in that order (where `vectors` is not empty). The
// element of largest size of each is positive, of equal ones the first. The mean of m and its transpose is what is solved.
Solved eigen(Input m, std::span<double> values, Output vectors) noexcept;

// The orthogonal projector onto the space of the first k of those eigenvectors; it does not depend on their signs.
void projector(Output vectors, std::size_t k, Output out) noexcept;

}  // namespace allot::linear
