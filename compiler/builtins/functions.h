// All built-ins by subject. Names as in lang/builtins.h; what each computes is said there.
#pragma once

#include "compiler/builtins/value.h"

namespace allot::compiler::builtins {

// arithmetic.cpp: numbers of either base
FaultKind absolute(const Value*, Value&, Scratch&) noexcept;
FaultKind minimum(const Value*, Value&, Scratch&) noexcept;
FaultKind maximum(const Value*, Value&, Scratch&) noexcept;
FaultKind clamp(const Value*, Value&, Scratch&) noexcept;
FaultKind floor(const Value*, Value&, Scratch&) noexcept;
FaultKind ceil(const Value*, Value&, Scratch&) noexcept;
FaultKind round_even(const Value*, Value&, Scratch&) noexcept;

// elementary.cpp: reals
FaultKind sqrt(const Value*, Value&, Scratch&) noexcept;
FaultKind exp(const Value*, Value&, Scratch&) noexcept;
FaultKind log(const Value*, Value&, Scratch&) noexcept;
FaultKind pow(const Value*, Value&, Scratch&) noexcept;
FaultKind tanh(const Value*, Value&, Scratch&) noexcept;

// spread.cpp: one value from a vector, undefined elements left out
FaultKind variance(const Value*, Value&, Scratch&) noexcept;
FaultKind deviation(const Value*, Value&, Scratch&) noexcept;
FaultKind size(const Value*, Value&, Scratch&) noexcept;

// order.cpp: positions in a vector
FaultKind top(const Value*, Value&, Scratch&) noexcept;
FaultKind bottom(const Value*, Value&, Scratch&) noexcept;
FaultKind argsort(const Value*, Value&, Scratch&) noexcept;

// subset.cpp
FaultKind max_variance(const Value*, Value&, Scratch&) noexcept;

// matrix.cpp
FaultKind dot(const Value*, Value&, Scratch&) noexcept;
FaultKind outer(const Value*, Value&, Scratch&) noexcept;
FaultKind matmul(const Value*, Value&, Scratch&) noexcept;
FaultKind transpose(const Value*, Value&, Scratch&) noexcept;

// belief.cpp: what is known of a hit rate
FaultKind beta(const Value*, Value&, Scratch&) noexcept;
FaultKind observe(const Value*, Value&, Scratch&) noexcept;
FaultKind beta_mean(const Value*, Value&, Scratch&) noexcept;
FaultKind beta_variance(const Value*, Value&, Scratch&) noexcept;
FaultKind beta_learnability(const Value*, Value&, Scratch&) noexcept;
FaultKind prob_mixed(const Value*, Value&, Scratch&) noexcept;
FaultKind hit_utility(const Value*, Value&, Scratch&) noexcept;
FaultKind flat_prob(const Value*, Value&, Scratch&) noexcept;
FaultKind any_prob(const Value*, Value&, Scratch&) noexcept;

}  // namespace allot::compiler::builtins
