// The losses over plain matrices: what tests, documentation and other languages call. Same tensors underneath.
#include <cmath>

#include "runtime/training/loss_impl.h"

namespace allot::training {
namespace {

bool counts(double mask) { return mask > 0; }

std::vector<double> masked(const LossMatrix& values, const LossMatrix& mask) {
  std::vector<double> out;
  for (std::size_t i = 0; i < mask.size(); ++i)
    for (std::size_t t = 0; t < mask[i].size(); ++t)
      if (counts(mask[i][t])) out.push_back(values[i][t]);
  return out;
}

at::Tensor tensor(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

TokenBatch flatten(const LossInputs& inputs) {
  std::vector<double> advantages;
  std::vector<std::int64_t> sequence;
  for (std::size_t i = 0; i < inputs.mask.size(); ++i)
    for (const double m : inputs.mask[i])
      if (counts(m)) {
        advantages.push_back(inputs.advantages[i]);
        sequence.push_back(static_cast<std::int64_t>(i));
      }
  return {tensor(masked(inputs.new_logp, inputs.mask)), tensor(masked(inputs.old_logp, inputs.mask)),
          tensor(advantages), at::tensor(sequence, at::kLong), static_cast<std::int64_t>(inputs.mask.size())};
}

LossMatrix unflatten(const at::Tensor& values, const LossMatrix& mask) {
  LossMatrix out = mask;
  std::int64_t next = 0;
  const at::Tensor plain = values.detach().contiguous();
  for (auto& row : out)
    for (double& cell : row) cell = counts(cell) ? plain.data_ptr<double>()[next++] : 0.0;
  return out;
}

}  // namespace

LossMatrix token_loss(const LossOptions& options, const LossInputs& inputs) {
  return unflatten(policy_token_loss(options, flatten(inputs)), inputs.mask);
}

LossMatrix token_loss_gradient(const LossOptions& options, const LossInputs& inputs) {
  TokenBatch batch = flatten(inputs);
  batch.new_logp.requires_grad_();
  policy_token_loss(options, batch).sum().backward();
  return unflatten(batch.new_logp.grad(), inputs.mask);
}

std::vector<double> sequence_ratios(const LossInputs& inputs) {
  std::vector<double> out;
  for (std::size_t i = 0; i < inputs.mask.size(); ++i) {
    double sum = 0, count = 0;
    for (std::size_t t = 0; t < inputs.mask[i].size(); ++t)
      if (counts(inputs.mask[i][t])) {
        sum += inputs.new_logp[i][t] - inputs.old_logp[i][t];
        count += 1;
      }
    out.push_back(std::exp(sum / std::max(count, 1.0)));
  }
  return out;
}

double aggregate_loss(Aggregate mode, const LossMatrix& loss, const LossMatrix& mask, int length) {
  std::vector<int> tokens;
  for (const auto& row : mask) {
    tokens.push_back(0);
    for (const double m : row) tokens.back() += counts(m) ? 1 : 0;
  }
  const std::vector<double> weights = sequence_weights(mode, tokens, length);
  double total = 0;
  for (std::size_t i = 0; i < mask.size(); ++i)
    for (std::size_t t = 0; t < mask[i].size(); ++t)
      if (counts(mask[i][t])) total += weights[i] * loss[i][t];
  return total;
}

std::vector<double> kl_estimate(const KlEstimator& kl, const std::vector<double>& logp,
                                const std::vector<double>& ref) {
  const at::Tensor out = kl_token(kl, tensor(logp), tensor(ref)).contiguous();
  return {out.data_ptr<double>(), out.data_ptr<double>() + out.numel()};
}

LossMatrix decoupled_weights(const LossMatrix& behaviour_logp, const LossMatrix& proximal_logp, const LossMatrix& mask,
                             double cap, bool per_sequence) {
  const auto weight = [cap](double log_ratio) { return std::min(std::exp(std::clamp(log_ratio, -20.0, 20.0)), cap); };
  LossMatrix out = mask;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    double sum = 0;
    for (std::size_t t = 0; t < mask[i].size(); ++t)
      if (counts(mask[i][t])) sum += proximal_logp[i][t] - behaviour_logp[i][t];
    for (std::size_t t = 0; t < mask[i].size(); ++t)
      if (counts(mask[i][t])) out[i][t] = weight(per_sequence ? sum : proximal_logp[i][t] - behaviour_logp[i][t]);
  }
  return out;
}

double masked_mean(const LossMatrix& values, const LossMatrix& mask, double eps) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < mask.size(); ++i)
    for (std::size_t t = 0; t < mask[i].size(); ++t) {
      if (!counts(mask[i][t])) continue;
      sum += values[i][t];
      count += 1;
    }
  return count > 0 ? sum / (count + eps) : 0.0;
}

void AdaptiveKl::update(double current_kl, double samples) {
  value *= 1.0 + std::clamp(current_kl / target - 1.0, -0.2, 0.2) * samples / horizon;
}

}  // namespace allot::training
