// What a policy has and another one lacks.
#pragma once

#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/policy.h"

namespace allot::engine {

// Parts of `from` that are not in `to`, in words: "`on finish of group g`", "the state `belief`". A handler that comes at
// another turn is still there, one of three that are two now is not.
std::vector<std::string> vanishing(const lang::Program& from, const lang::Program& to);

// … of these the handlers alone.
std::vector<std::string> vanishing_handlers(const lang::Program& from, const lang::Program& to);

// Why `next` may be half of a text that is still being written in the place of the active one's; empty where nothing
// says so. A policy ends between two of its parts as well as at its end, so half of it may be a policy, too.
std::string looks_like_half(const Policy& active, const Policy& next);

}  // namespace allot::engine
