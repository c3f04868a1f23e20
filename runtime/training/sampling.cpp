#include "runtime/training/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/training/kernels.h"

namespace allot::training {
namespace {

// Sets the weight of every token outside the nucleus to 0 and returns what is left in sum.
double keep_nucleus(std::span<float> weights, double sum, double top_p) {
  std::vector<int> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return weights[a] > weights[b]; });
  double kept = 0;
  std::size_t count = 0;
  while (count < order.size() && (count == 0 || kept < top_p * sum)) kept += weights[order[count++]];
  for (std::size_t i = count; i < order.size(); ++i) weights[order[i]] = 0;
  return kept;
}

// The first token at which the running sum passes `target`; the last one that has weight where rounding runs past it.
int pick(std::span<const float> weights, double target) {
  double running = 0;
  int last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    running += weights[i];
    last = static_cast<int>(i);
    if (running > target) break;
  }
  return last;
}

}  // namespace

Draw draw_token(std::span<float> logits, double temperature, double top_p, double uniform) {
  const bool greedy = temperature <= 0;
  const float scale = static_cast<float>(greedy ? 1.0 : 1.0 / temperature);
  const auto best = static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  const kernels::SoftmaxSums sums = kernels::exponentials(logits, scale);
  const double log_sum = std::log(sums.sum);

  Draw draw;
  draw.entropy = static_cast<float>(log_sum - sums.weighted / sums.sum);
  // The weight itself is needed for the log-probability, before the nucleus removes anything.
  const auto logprob = [&](int token, double weight) {
    draw.token = token;
    draw.logprob = static_cast<float>(std::log(weight) - log_sum);
    return draw;
  };
  if (greedy) return logprob(best, logits[static_cast<std::size_t>(best)]);
  const double mass = top_p < 1 ? keep_nucleus(logits, sums.sum, top_p) : sums.sum;
  const int token = pick(logits, uniform * mass);
  return logprob(token, logits[static_cast<std::size_t>(token)]);
}

}  // namespace allot::training
