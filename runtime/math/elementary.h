// Elementary functions with the same bits on every machine.
//
// The evaluator, the constant folder and machine code all call these, so that they cannot differ. The system's libm is
// never called: it picks variants by processor, and compilers rewrite calls that they know by name. Behind these stand
// SLEEF's scalar functions without fused multiply-add, whose results do not depend on the processor; the error bound is
// 1.0 ulp, square roots are exactly rounded.
//
// Outside its domain a function returns what IEEE 754 says (NaN or an infinity); the language turns that into a fault.
#pragma once

namespace allot::math {

double exp(double x) noexcept;
double exp_minus_one(double x) noexcept;  // e^x − 1 without cancellation near 0
double log(double x) noexcept;            // natural
double log_one_plus(double x) noexcept;   // ln(1 + x) without cancellation near 0
double log2(double x) noexcept;
double log10(double x) noexcept;
double pow(double base, double exponent) noexcept;
double sqrt(double x) noexcept;
double sin(double x) noexcept;  // radians
double cos(double x) noexcept;  // radians
double tanh(double x) noexcept;
double sigmoid(double x) noexcept;  // 1 / (1 + e^−x), no overflow on either side

// base^exponent by squaring, exponent >= 0: products in a fixed order, exact wherever they are.
double power(double base, int exponent) noexcept;

}  // namespace allot::math
