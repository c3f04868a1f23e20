// Distribution functions, information, and the sequential test.
#include <algorithm>
#include <cmath>

#include "compiler/builtins/functions.h"
#include "compiler/builtins/read.h"
#include "runtime/math/distributions.h"
#include "runtime/math/elementary.h"
#include "runtime/math/information.h"
#include "runtime/math/probability.h"
#include "runtime/math/sprt.h"
#include "runtime/math/sum.h"

namespace allot::compiler::builtins {
namespace {

constexpr std::int64_t most_trials = 1 << 20;

bool share(double p) noexcept { return p >= 0 && p <= 1; }
bool inside(double p) noexcept { return p > 0 && p < 1; }
bool proper(const math::Beta& belief) noexcept { return belief.a > 0 && belief.b > 0; }

using OfBeta = double (*)(const math::Beta&, double) noexcept;

FaultKind of_beta(const Value* arguments, Value& result, OfBeta compute) noexcept {
  const math::Beta of = belief(arguments[0]);
  const double x = real(arguments[1]);
  return proper(of) && share(x) ? give(result, compute(of, x)) : FaultKind::Domain;
}

using OfTrials = double (*)(std::int64_t, std::int64_t, double) noexcept;

FaultKind of_trials(const Value* arguments, Value& result, OfTrials compute) noexcept {
  const std::int64_t n = integer(arguments[1]);
  const double p = real(arguments[2]);
  if (n < 0 || n > most_trials || !share(p)) return FaultKind::Domain;
  return give(result, compute(integer(arguments[0]), n, p));
}

using OfPlan = double (*)(const math::SprtConstants&) noexcept;

FaultKind bound(const Value* arguments, Value& result, OfPlan compute) noexcept {
  const double alpha = real(arguments[0]);
  const double beta = real(arguments[1]);
  if (!(alpha > 0 && alpha < 0.5) || !(beta > 0 && beta < 0.5)) return FaultKind::Domain;
  return give(result, compute(math::sprt_constants({0.25, 0.75, alpha, beta})));
}

}  // namespace

FaultKind beta_sd(const Value* arguments, Value& result, Scratch&) noexcept {
  const math::Beta of = belief(arguments[0]);
  return proper(of) ? give(result, math::sqrt(math::variance(of))) : FaultKind::Domain;
}

FaultKind beta_cdf(const Value* arguments, Value& result, Scratch&) noexcept {
  return of_beta(arguments, result, math::beta_cdf);
}

FaultKind beta_quantile(const Value* arguments, Value& result, Scratch&) noexcept {
  return of_beta(arguments, result, math::beta_quantile);
}

FaultKind binomial_pmf(const Value* arguments, Value& result, Scratch&) noexcept {
  return of_trials(arguments, result, math::binomial_pmf);
}

FaultKind binomial_cdf(const Value* arguments, Value& result, Scratch&) noexcept {
  return of_trials(arguments, result, math::binomial_cdf);
}

FaultKind pass_at_k(const Value* arguments, Value& result, Scratch&) noexcept {
  const std::int64_t k = integer(arguments[0]);
  const std::int64_t hits = integer(arguments[1]);
  const std::int64_t n = integer(arguments[2]);
  if (k < 0 || hits < 0 || hits > n || n > most_trials) return FaultKind::Domain;
  if (n < k) return give_undefined(result);
  return give(result, math::pass_at_k(static_cast<int>(n), static_cast<int>(hits), static_cast<int>(k)));
}

FaultKind student_t_cdf(const Value* arguments, Value& result, Scratch&) noexcept {
  const double degrees = real(arguments[1]);
  return degrees > 0 ? give(result, math::student_t_cdf(real(arguments[0]), degrees)) : FaultKind::Domain;
}

FaultKind student_t_quantile(const Value* arguments, Value& result, Scratch&) noexcept {
  const double p = real(arguments[0]);
  const double degrees = real(arguments[1]);
  return inside(p) && degrees > 0 ? give(result, math::student_t_quantile(p, degrees)) : FaultKind::Domain;
}

FaultKind normal_cdf(const Value* arguments, Value& result, Scratch&) noexcept {
  return give(result, math::normal_cdf(real(arguments[0])));
}

FaultKind normal_quantile(const Value* arguments, Value& result, Scratch&) noexcept {
  const double p = real(arguments[0]);
  return inside(p) ? give(result, math::normal_quantile(p)) : FaultKind::Domain;
}

FaultKind weights_entropy(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Reals weights = defined_reals(arguments[0], scratch);
  if (!weights.ok) return FaultKind::OutOfMemory;
  for (const double weight : weights.values) {
    if (weight < 0) return FaultKind::Domain;
  }
  if (!std::isfinite(math::sum(weights.values))) return FaultKind::NotFinite;
  const std::optional<double> entropy = math::weights_entropy(weights.values);
  return entropy ? give(result, *entropy) : give_undefined(result);
}

FaultKind bernoulli_entropy(const Value* arguments, Value& result, Scratch&) noexcept {
  const double p = real(arguments[0]);
  return share(p) ? give(result, math::bernoulli_entropy(p)) : FaultKind::Domain;
}

FaultKind bernoulli_kl(const Value* arguments, Value& result, Scratch&) noexcept {
  const double p = real(arguments[0]);
  const double q = real(arguments[1]);
  return share(p) && share(q) ? give(result, math::bernoulli_kl(p, q)) : FaultKind::Domain;
}

FaultKind log_sum_exp(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Reals values = defined_reals(arguments[0], scratch);
  if (!values.ok) return FaultKind::OutOfMemory;
  const std::optional<double> made = math::log_sum_exp(values.values);
  return made ? give(result, *made) : give_undefined(result);
}

FaultKind softmax(const Value* arguments, Value& result, Scratch& scratch) noexcept {
  const Reals values = defined_reals(arguments[0], scratch);
  const Column& column = arguments[0].column;
  const std::span<Cell> cells = make(result, column.size, scratch);
  if (!values.ok || static_cast<std::int64_t>(cells.size()) != column.size) return FaultKind::OutOfMemory;
  // exp(x - log_sum_exp) would carry the rounding of a large logarithm into every share.
  const double most = values.values.empty() ? 0 : *std::max_element(values.values.begin(), values.values.end());
  double total = 0;
  for (const double value : values.values) total += math::exp(value - most);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& own = column.cells[i];
    cells[i] = own.defined != 0 ? Cell::of(math::exp(real(own, arguments[0].base) - most) / total) : Cell::undefined();
  }
  return FaultKind::None;
}

FaultKind geometric_sum(const Value* arguments, Value& result, Scratch&) noexcept {
  const std::int64_t n = integer(arguments[1]);
  return n >= 0 ? give(result, math::geometric_sum(real(arguments[0]), n)) : FaultKind::Domain;
}

FaultKind sprt_ratio(const Value* arguments, Value& result, Scratch&) noexcept {
  const double p0 = real(arguments[0]);
  const double p1 = real(arguments[1]);
  const double hits = real(arguments[2]);
  const double misses = real(arguments[3]);
  if (!inside(p0) || !inside(p1) || hits < 0 || misses < 0) return FaultKind::Domain;
  const math::SprtConstants steps = math::sprt_constants({p0, p1, 0.25, 0.25});
  return give(result, hits * steps.hit + misses * steps.miss);
}

FaultKind sprt_upper(const Value* arguments, Value& result, Scratch&) noexcept {
  return bound(arguments, result, [](const math::SprtConstants& constants) noexcept { return constants.upper; });
}

FaultKind sprt_lower(const Value* arguments, Value& result, Scratch&) noexcept {
  return bound(arguments, result, [](const math::SprtConstants& constants) noexcept { return constants.lower; });
}

}  // namespace allot::compiler::builtins
