#include "runtime/remote/waits.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::remote {

Result<double> wait_of(std::string_view name, double seconds, Zero zero) {
  const bool possible = zero == Zero::Allowed ? seconds >= 0 : seconds > 0;  // neither holds for what is no number
  if (possible) return std::min(seconds, longest_wait);
  return Error{fmt::format("{} is {}, but it is a number of seconds, {}.", name, seconds,
                           zero == Zero::Allowed ? "0 or more" : "above 0"),
               "give infinity to wait for as long as it takes"};
}

}  // namespace allot::remote
