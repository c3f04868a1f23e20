#include "runtime/training/micro_batch.h"

#include <algorithm>
#include <numeric>

namespace allot::training {

SequenceShape shape_of(const TrainSequence& sequence) {
  SequenceShape shape;
  for (std::size_t t = 1; t < sequence.trained.size(); ++t)
    if (sequence.trained[t]) {
      shape.inputs = static_cast<int>(t);
      ++shape.trained;
    }
  return shape;
}

std::vector<std::vector<std::size_t>> plan(std::span<const SequenceShape> shapes, int micro_tokens) {
  std::vector<std::size_t> order(shapes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shapes[a].inputs > shapes[b].inputs; });
  std::vector<std::vector<std::size_t>> out;
  for (const std::size_t i : order) {
    if (shapes[i].trained == 0) continue;
    const bool fits = !out.empty() && static_cast<std::int64_t>(out.back().size() + 1) *
                                              shapes[out.back().front()].inputs <= micro_tokens;
    if (!fits) out.emplace_back();
    out.back().push_back(i);
  }
  return out;
}

MicroBatch gather(std::span<const TrainSequence> sequences, std::span<const SequenceShape> shapes,
                  std::span<const double> weights, const std::vector<std::size_t>& members, at::Device device) {
  const auto batch = static_cast<std::int64_t>(members.size());
  const std::int64_t length = shapes[members.front()].inputs;  // the plan puts the longest first
  at::Tensor inputs = at::zeros({batch, length}, at::kLong);
  std::vector<std::int64_t> selected, targets, sequence;
  std::vector<float> old_logp, advantages, weight;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::size_t i = members[static_cast<std::size_t>(b)];
    const TrainSequence& s = sequences[i];
    std::int64_t* row = inputs.data_ptr<std::int64_t>() + b * length;
    for (int t = 0; t <= shapes[i].inputs; ++t) {
      const auto at = static_cast<std::size_t>(t);
      if (t < shapes[i].inputs) row[t] = s.tokens[at];
      if (t == 0 || !s.trained[at]) continue;
      selected.push_back(b * length + t - 1);
      targets.push_back(s.tokens[at]);
      sequence.push_back(b);
      old_logp.push_back(at < s.behaviour_logp.size() ? s.behaviour_logp[at] : 0.0f);
      advantages.push_back(static_cast<float>(s.turn_advantages.empty() ? s.advantage : s.turn_advantages[at]));
      weight.push_back(static_cast<float>(weights[i]));
    }
  }
  const auto integers = [&](const std::vector<std::int64_t>& v) { return at::tensor(v, at::kLong).to(device); };
  const auto reals = [&](const std::vector<float>& v) { return at::tensor(v, at::kFloat).to(device); };
  return {inputs.to(device), integers(selected), integers(targets), reals(old_logp),
          reals(advantages), reals(weight),      integers(sequence)};
}

}  // namespace allot::training
