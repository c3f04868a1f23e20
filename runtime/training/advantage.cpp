#include "runtime/training/advantage.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace allot::training {
namespace {

// Mean and spread of the scored rewards.
struct Summary {
  int count = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
};

Summary summarise(Rewards rewards) {
  Summary s;
  double sum = 0;
  for (const Reward& r : rewards) {
    if (!scored(r)) continue;
    s.min = s.count == 0 ? *r : std::min(s.min, *r);
    s.max = s.count == 0 ? *r : std::max(s.max, *r);
    sum += *r;
    ++s.count;
  }
  if (s.count > 0) s.mean = sum / s.count;
  return s;
}

bool live(const Summary& s) { return s.count >= 2 && s.max - s.min > 0; }

double variance(Rewards rewards, const Summary& s, int ddof) {
  double squares = 0;
  for (const Reward& r : rewards)
    if (scored(r)) squares += (*r - s.mean) * (*r - s.mean);
  return s.count > ddof ? squares / (s.count - ddof) : 0.0;
}

// f(reward) for the scored, 0 for the others; 0 too where the quotient left the finite numbers.
template <typename F>
std::vector<double> each(Rewards rewards, F f) {
  std::vector<double> out(rewards.size(), 0.0);
  for (std::size_t i = 0; i < rewards.size(); ++i)
    if (scored(rewards[i])) {
      const double value = f(*rewards[i]);
      out[i] = std::isfinite(value) ? value : 0.0;
    }
  return out;
}

std::vector<double> zeros(Rewards rewards) { return std::vector<double>(rewards.size(), 0.0); }

}  // namespace

bool scored(const Reward& reward) { return reward && std::isfinite(*reward); }

bool flat(Rewards rewards, double tolerance) {
  const Summary s = summarise(rewards);
  return s.count >= 2 && s.max - s.min <= tolerance;
}

std::vector<double> grpo(Rewards rewards, int ddof, double eps, Singleton singleton) {
  const Summary s = summarise(rewards);
  if (s.count == 1 && singleton == Singleton::RawReward)
    return each(rewards, [&](double r) { return r / (1.0 + eps); });
  if (!live(s)) return zeros(rewards);
  const double divisor = std::sqrt(variance(rewards, s, ddof)) + eps;
  return each(rewards, [&](double r) { return (r - s.mean) / divisor; });
}

std::vector<double> grpo_variance_floor(Rewards rewards, double eps) {
  const Summary s = summarise(rewards);
  if (!live(s)) return zeros(rewards);
  const double divisor = std::sqrt(std::max(variance(rewards, s, 1), eps)) + eps;
  return each(rewards, [&](double r) { return (r - s.mean) / divisor; });
}

std::vector<double> dr_grpo(Rewards rewards) {
  const Summary s = summarise(rewards);
  if (!live(s)) return zeros(rewards);
  return each(rewards, [&](double r) { return r - s.mean; });
}

std::vector<double> rloo(Rewards rewards) {
  const Summary s = summarise(rewards);
  if (!live(s)) return zeros(rewards);
  const double sum = s.mean * s.count;
  return each(rewards, [&](double r) { return r - (sum - r) / (s.count - 1); });
}

std::vector<double> opo(Rewards rewards, std::span<const double> lengths) {
  if (!live(summarise(rewards))) return zeros(rewards);
  double weighted = 0, total = 0;
  for (std::size_t i = 0; i < rewards.size(); ++i)
    if (scored(rewards[i])) {
      weighted += lengths[i] * *rewards[i];
      total += lengths[i];
    }
  if (!(total > 0)) return zeros(rewards);
  return each(rewards, [&](double r) { return r - weighted / total; });
}

std::vector<double> grpo_passk(Rewards rewards, int ddof, double eps) {
  std::vector<double> out = zeros(rewards);
  const Summary s = summarise(rewards);
  if (!live(s)) return out;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rewards.size(); ++i)
    if (scored(rewards[i]) && (!best || *rewards[i] > *rewards[*best])) best = i;
  double second = s.min;
  for (std::size_t i = 0; i < rewards.size(); ++i)
    if (scored(rewards[i]) && i != *best) second = std::max(second, *rewards[i]);
  out[*best] = (s.max - second) / (std::sqrt(variance(rewards, s, ddof)) + eps);
  return out;
}

}  // namespace allot::training
