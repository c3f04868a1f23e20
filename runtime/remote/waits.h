// How long somebody says to wait.
#pragma once

#include <chrono>
#include <string_view>

#include "common/result.h"

namespace allot::remote {

// In seconds. Longer ones are taken for it: a clock that counts nanoseconds would overflow.
constexpr double longest_wait = 365.0 * 24 * 3600;

// Nobody sleeps longer at once: in between whoever called may look at other things.
constexpr std::chrono::milliseconds slice{50};

enum class Zero { Allowed, Refused };

// `seconds`, at most longest_wait. An error, which names it, for what is no number, negative, or 0 where that is
// refused.
Result<double> wait_of(std::string_view name, double seconds, Zero zero);

}  // namespace allot::remote
