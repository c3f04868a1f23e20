// The policy that `allot new` writes: small, right, with tests on either side of its rule.
#pragma once

#include <string>
#include <string_view>

namespace allot::cli {

std::string new_policy(std::string_view name);

}  // namespace allot::cli
