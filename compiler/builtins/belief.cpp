#include "runtime/math/beta.h"

#include <limits>

#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/math/probability.h"

namespace allot::compiler::builtins {
namespace {

// Loops over rollouts run so often; more than any batch holds, few enough to return at once.
constexpr std::int64_t most_rollouts = 1 << 20;

bool countable(std::int64_t count) noexcept { return count >= 0 && count <= most_rollouts; }

FaultKind give_beta(Value& result, const math::Beta& belief) noexcept {
  result.cell = Cell::beta(belief.a, belief.b);
  return FaultKind::None;
}

bool proper(const math::Beta& belief) noexcept { return belief.a > 0 && belief.b > 0; }

using Moment = double (*)(const math::Beta&) noexcept;

FaultKind moment(const Value* arguments, Value& result, Moment compute) noexcept {
  const math::Beta of = belief(arguments[0]);
  return proper(of) ? give(result, compute(of)) : FaultKind::Domain;
}

}  // namespace

FaultKind beta(const Value* arguments, Value& result, Scratch&) noexcept {
  const math::Beta made{real(arguments[0]), real(arguments[1])};
  return proper(made) ? give_beta(result, made) : FaultKind::Domain;
}

FaultKind observe(const Value* arguments, Value& result, Scratch&) noexcept {
  const double hits = real(arguments[1]);
  const double misses = real(arguments[2]);
  if (hits < 0 || misses < 0) return FaultKind::Domain;
  return give_beta(result, math::observe(belief(arguments[0]), hits, misses));
}

FaultKind beta_mean(const Value* arguments, Value& result, Scratch&) noexcept {
  return moment(arguments, result, math::mean);
}

FaultKind beta_variance(const Value* arguments, Value& result, Scratch&) noexcept {
  return moment(arguments, result, math::variance);
}

FaultKind beta_learnability(const Value* arguments, Value& result, Scratch&) noexcept {
  return moment(arguments, result, math::expected_variance);
}

FaultKind prob_mixed(const Value* arguments, Value& result, Scratch&) noexcept {
  const math::Beta prior = belief(arguments[0]);
  const std::int64_t hits = integer(arguments[1]);
  const std::int64_t misses = integer(arguments[2]);
  const std::int64_t size = integer(arguments[3]);
  if (!proper(prior) || !countable(hits) || !countable(misses) || !countable(size)) return FaultKind::Domain;
  return give(result, math::prob_mixed(prior, static_cast<int>(hits), static_cast<int>(misses),
                                       static_cast<int>(size)));
}

FaultKind hit_utility(const Value* arguments, Value& result, Scratch&) noexcept {
  const math::Beta of = belief(arguments[0]);
  const std::int64_t count = integer(arguments[1]);
  if (!proper(of) || !countable(count)) return FaultKind::Domain;
  return give(result, math::beta_hit(of, static_cast<int>(count)));
}

namespace {

FaultKind chance(const Value* arguments, Value& result, double (*compute)(double, int) noexcept) noexcept {
  const double p = real(arguments[0]);
  const std::int64_t count = integer(arguments[1]);
  if (!(p >= 0 && p <= 1) || !countable(count)) return FaultKind::Domain;
  return give(result, compute(p, static_cast<int>(count)));
}

}  // namespace

FaultKind flat_prob(const Value* arguments, Value& result, Scratch&) noexcept {
  return chance(arguments, result, math::flat_prob);
}

FaultKind any_prob(const Value* arguments, Value& result, Scratch&) noexcept {
  return chance(arguments, result, math::any_prob);
}

}  // namespace allot::compiler::builtins
