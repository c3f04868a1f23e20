// The most work one call of a handler can be, as a polynomial. It is a bound on evaluated nodes, not on time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "lang/program.h"

namespace allot::lang {

// Exponents of: rollouts of the group, groups of the batch, prompts of the batch or pool, turns of a rollout, units that
// one allotment gives out.
using Powers = std::array<std::int8_t, 5>;
// A size for each, and what is taken where none is said.
using Sizes = std::array<std::int64_t, 5>;
inline constexpr Sizes usual_sizes{64, 64, 64, 100, 4096};

class Polynomial {
 public:
  Polynomial() = default;
  explicit Polynomial(std::int64_t constant) { terms_[{}] = constant; }
  static Polynomial variable(Scope scope);  // 1 for Single and List
  static Polynomial units();

  Polynomial& operator+=(const Polynomial& other);
  friend Polynomial operator*(const Polynomial& left, const Polynomial& right);
  std::int64_t at(const Sizes& sizes) const;  // saturates
  int degree() const;        // the most powers in one product; 0 of a constant
  std::string text() const;  // "3 n^2 + 2 g + 7", highest powers first; "0"

 private:
  std::map<Powers, std::int64_t> terms_;
};

// Every rule is tried, every `let` is computed once in each scope that owns it, every branch is taken.
Polynomial worst_cost(const Handler& handler);

}  // namespace allot::lang
