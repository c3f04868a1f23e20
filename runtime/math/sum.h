// Sums whose order is part of their definition: from the first element to the last, one addition each, no blocking and
// no reassociation. Evaluator and machine code must add in this order.
#pragma once

#include <optional>
#include <span>

namespace allot::math {

double sum(std::span<const double> values) noexcept;  // 0 for none

// The sum divided by the count, held within the smallest and largest value: so the mean of equal values is that value,
// and their variance is 0, though 0.1 + 0.1 + 0.1 is not 0.3. Undefined for none.
std::optional<double> mean(std::span<const double> values) noexcept;

// Σ (value − mean)², in order. 0 for fewer than two values.
double squared_deviations(std::span<const double> values) noexcept;

// squared_deviations / (n − ddof), ddof 0 or 1. One value has variance 0 under either divisor (never 0/0);
// undefined for none.
std::optional<double> variance(std::span<const double> values, int ddof) noexcept;
std::optional<double> deviation(std::span<const double> values, int ddof) noexcept;  // its square root

}  // namespace allot::math
