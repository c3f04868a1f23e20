// Allotting rollouts by the chance that one of them hits, for very many prompts under one prior (HORA,
// arXiv:2605.07114).
//
// Prompts with the same hits and misses have the same gains, so the work is that of the distinct pairs, of which there
// are few, and one look-up a prompt. The price of the last unit is found by halving; units at the price go to the lower
// prompts. The counts are those of `Greedy` over beta_hit, one by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/math/beta.h"

namespace allot::allocation {

struct HitAllotment {
  std::vector<std::int32_t> counts;  // by prompt
  double utility = 0;                // expected prompts that are hit: the sum of beta_hit in their order
};

// How many of `budget` rollouts each prompt gets, at most `most` each. Hits and misses of a prompt, none negative, stand
// at its index; both lists are of one length. budget and most are 0 or more.
HitAllotment allot_hits(const math::Beta& prior, std::span<const std::int32_t> hits, std::span<const std::int32_t> misses,
                        std::int64_t budget, std::int32_t most);

}  // namespace allot::allocation
