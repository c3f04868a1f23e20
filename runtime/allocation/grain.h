// When two utilities count as equal.
//
// Two ways to compute one number differ in their last bits, and a tie that is decided by them is decided by chance. So
// utilities are compared in grains: 2⁻⁴⁰ of the power of two at or above the largest one seen at the start. Grains are
// whole numbers, so comparing them is transitive, and sums of up to 2¹³ of them are exact.
#pragma once

namespace allot::allocation {

// Of the largest size |x| of a utility; 0 where that is 0.
double grain(double largest) noexcept;
// The nearest whole number of grains; grain > 0.
double in_grains(double value, double grain) noexcept;

}  // namespace allot::allocation
