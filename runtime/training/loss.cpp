#include "runtime/training/loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "runtime/training/loss_impl.h"

namespace allot::training {
namespace {

constexpr std::array<std::pair<PolicyLoss, std::string_view>, 6> loss_names = {{{PolicyLoss::PpoClip, "ppo"},
                                                                                {PolicyLoss::Gspo, "gspo"},
                                                                                {PolicyLoss::Cispo, "cispo"},
                                                                                {PolicyLoss::CispoTrl, "cispo_trl"},
                                                                                {PolicyLoss::SoftGate, "soft_gate"},
                                                                                {PolicyLoss::Gmpo, "gmpo"}}};

using at::Tensor;

// verl's limit for log ratios before exp.
constexpr double kLogRatioLimit = 20.0;

Tensor log_ratio(const TokenBatch& b) { return (b.new_logp - b.old_logp).clamp(-kLogRatioLimit, kLogRatioLimit); }

// verl's divisor of a geometric mean over a sequence is its length plus this.
constexpr double kLengthEpsilon = 1e-8;

// Per sequence, the sum over its tokens by (their number + epsilon); sequences without tokens give 0.
Tensor sequence_mean(const Tensor& values, const TokenBatch& b, double epsilon) {
  const Tensor zeros = at::zeros({b.sequences}, values.options());
  const Tensor count = zeros.index_add(0, b.sequence, at::ones_like(values)).clamp_min(1);
  return zeros.index_add(0, b.sequence, values) / (count + epsilon);
}

Tensor clipped_surrogate(const LossOptions& o, const Tensor& ratio, const Tensor& advantages) {
  return at::maximum(-advantages * ratio, -advantages * ratio.clamp(1 - o.clip_low, 1 + o.clip_high));
}

Tensor ppo_clip(const LossOptions& o, const TokenBatch& b) {
  const Tensor loss = clipped_surrogate(o, log_ratio(b).exp(), b.advantages);
  if (std::isinf(o.dual_clip)) return loss;
  return at::where(b.advantages < 0, at::minimum(loss, -b.advantages * o.dual_clip), loss);
}

// The value is that of the sequence's ratio; the gradient flows through each token's own log-probability.
Tensor gspo(const LossOptions& o, const TokenBatch& b) {
  const Tensor mean = sequence_mean(b.new_logp - b.old_logp, b, 0).detach().index_select(0, b.sequence);
  const Tensor ratio = (mean + b.new_logp - b.new_logp.detach()).clamp_max(10.0).exp();
  return clipped_surrogate(o, ratio, b.advantages);
}

Tensor cispo(const LossOptions& o, const TokenBatch& b) {
  const Tensor ratio = log_ratio(b).exp();
  const Tensor cut = o.kind == PolicyLoss::CispoTrl ? ratio.clamp_max(o.clip_high)
                                                    : ratio.clamp(1 - o.clip_low, 1 + o.clip_high);
  return -cut.detach() * b.advantages * b.new_logp;
}

Tensor soft_gate(const LossOptions& o, const TokenBatch& b) {
  const Tensor tau = at::where(b.advantages > 0, at::full_like(b.advantages, o.tau_positive),
                               at::full_like(b.advantages, o.tau_negative));
  return -(4.0 / tau) * at::sigmoid(tau * (log_ratio(b).exp() - 1)) * b.advantages;
}

Tensor gmpo(const LossOptions& o, const TokenBatch& b) {
  const Tensor sign = b.advantages.sign(), log = log_ratio(b);
  const Tensor chosen = sign * at::minimum(sign * log, sign * log.clamp(-o.clip_low, o.clip_high));
  return -sequence_mean(chosen, b, kLengthEpsilon).exp().index_select(0, b.sequence) * b.advantages;
}

}  // namespace

Tensor policy_token_loss(const LossOptions& options, const TokenBatch& batch) {
  switch (options.kind) {
    case PolicyLoss::PpoClip: return ppo_clip(options, batch);
    case PolicyLoss::Gspo: return gspo(options, batch);
    case PolicyLoss::Cispo:
    case PolicyLoss::CispoTrl: return cispo(options, batch);
    case PolicyLoss::SoftGate: return soft_gate(options, batch);
    case PolicyLoss::Gmpo: return gmpo(options, batch);
  }
  __builtin_unreachable();
}

Tensor kl_token(const KlEstimator& kl, const Tensor& logp, const Tensor& ref) {
  const Tensor difference = logp - ref;
  const Tensor square = 0.5 * difference * difference;
  const auto value = [&]() -> Tensor {
    switch (kl.kind) {
      case KlKind::K1: return difference;
      case KlKind::K2: return square;
      case KlKind::Abs: return difference.abs();
      case KlKind::K3: break;
    }
    const Tensor exponent = kl.clamp ? (-difference).clamp(-kLogRatioLimit, kLogRatioLimit) : -difference;
    const Tensor k3 = exponent.exp() - exponent - 1;
    return kl.clamp ? k3.clamp(-10, 10) : k3;
  };
  if (!kl.straight_through) return value();
  return square - square.detach() + value().detach();
}

Result<PolicyLoss> parse_policy_loss(std::string_view text) {
  for (const auto& [kind, word] : loss_names)
    if (word == text) return kind;
  return Error{"there is no policy loss \"" + std::string(text) + "\"",
               "choose one of ppo, gspo, cispo, cispo_trl, soft_gate, gmpo"};
}

std::string_view name(PolicyLoss loss) {
  for (const auto& [kind, word] : loss_names)
    if (kind == loss) return word;
  return "";
}

Result<KlEstimator> parse_kl(std::string_view text) {
  const std::string whole(text);
  KlEstimator kl;
  if (text.ends_with('+')) {
    kl.straight_through = true;
    text.remove_suffix(1);
  }
  constexpr std::array<std::pair<std::string_view, KlKind>, 7> names = {{{"k1", KlKind::K1},
                                                                         {"kl", KlKind::K1},
                                                                         {"k2", KlKind::K2},
                                                                         {"mse", KlKind::K2},
                                                                         {"k3", KlKind::K3},
                                                                         {"low_var_kl", KlKind::K3},
                                                                         {"abs", KlKind::Abs}}};
  for (const auto& [word, kind] : names)
    if (word == text) {
      kl.kind = kind;
      return kl;
    }
  return Error{"there is no KL estimator \"" + whole + "\"", "choose one of k1, k2, k3 (low_var_kl), abs"};
}

}  // namespace allot::training
