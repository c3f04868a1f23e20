// Gram matrices and what is read off them. Sums run in the order of their index.
#pragma once

#include "runtime/linear/view.h"

namespace allot::linear {

// out[i, j] = Σ_k m[i, k] m[j, k]; out is rows × rows.
void gram(Input m, Output out) noexcept;

// The same of rows divided by their length: cosines, in -1..1, with 1 on the diagonal. A row of zeros has cosine 0 with
// every row, itself too.
void cosine_gram(Input m, Output out) noexcept;

// tr(m)² / Σ m[i, j]²: how many directions a Gram matrix spreads over, 1..n; 0 for a matrix of zeros.
double participation_ratio(Input m) noexcept;

// aᵀ m a / Σ a[i]² m[i, i]: of n vectors with Gram matrix m and weights a, the squared length of their sum over the sum
// of their squared lengths. 0 where they cancel, 1 where they are orthogonal, n where they are equal; 0 where all are 0.
double effective_count(Input m, std::span<const double> weights) noexcept;

}  // namespace allot::linear
