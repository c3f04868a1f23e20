// The penalty for rollouts that come close to the length limit (DAPO, arXiv:2503.14476, "soft overlong punishment").
#pragma once

namespace allot::math {

// 0 up to `limit − buffer` tokens, then falling in a line to −factor at `limit` and beyond. Lengths in tokens;
// 0 < buffer <= limit, factor >= 0. Added to the reward.
double overlong_penalty(double length, double limit, double buffer, double factor = 1.0) noexcept;

}  // namespace allot::math
