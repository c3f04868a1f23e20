// The policy losses and KL estimators, chosen by name, and a form of them over plain numbers.
// Definitions: shaping.md 2.3 and 2.5.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/training/loss_weights.h"

namespace allot::training {

enum class PolicyLoss {
  PpoClip,    // "ppo": max(-A r, -A clip(r)), with dual clip
  Gspo,       // "gspo": one ratio a sequence, exp(mean log ratio)
  Cispo,      // "cispo": -stop_grad(clip(r, 1 - low, 1 + high)) A logp, verl's bounds
  CispoTrl,   // "cispo_trl": the ratio is cut at clip_high itself, without a lower bound
  SoftGate,   // "soft_gate": -(4 / tau) sigmoid(tau (r - 1)) A (verl and TRL call it sapo)
  Gmpo,       // "gmpo": geometric mean of ratios that are clipped one-sidedly in log space
};

Result<PolicyLoss> parse_policy_loss(std::string_view name);
std::string_view name(PolicyLoss loss);

enum class KlKind { K1, K2, K3, Abs };

struct KlEstimator {
  KlKind kind = KlKind::K3;
  bool clamp = true;             // k3: exponent within +-20 and value within +-10, as verl does; TRL does not
  bool straight_through = false;  // the value of `kind`, the gradient of k2 (verl's trailing "+")
};

// "k1" ("kl"), "k2" ("mse"), "k3" ("low_var_kl"), "abs", each optionally with "+".
Result<KlEstimator> parse_kl(std::string_view name);

struct LossOptions {
  PolicyLoss kind = PolicyLoss::PpoClip;
  double clip_low = 0.2;
  double clip_high = 0.2;  // DAPO: 0.28; cispo_trl: the largest ratio itself, for instance 5
  double dual_clip = 3.0;  // > 1: for A < 0 a token's loss is at most dual_clip |A|; infinity: none
  double tau_positive = 1.0;
  double tau_negative = 1.05;
  Aggregate aggregate = Aggregate::TokenMean;
  int length_scale = 0;        // of seq-mean-token-sum-norm and dr_grpo; 0: the longest sequence of the update
  double kl_coefficient = 0;   // > 0 needs a reference model
  KlEstimator kl;
};

// --- the same computations over plain numbers, in double precision ---

using LossMatrix = std::vector<std::vector<double>>;  // [sequence][token]; masked positions are 0 in results

struct LossInputs {
  LossMatrix old_logp, new_logp;
  std::vector<double> advantages;  // one a sequence
  LossMatrix mask;                 // 0 or 1
};

LossMatrix token_loss(const LossOptions& options, const LossInputs& inputs);
// The gradient of sum_t m L with respect to new_logp.
LossMatrix token_loss_gradient(const LossOptions& options, const LossInputs& inputs);
// exp(mean log ratio) of each sequence, as gspo uses it.
std::vector<double> sequence_ratios(const LossInputs& inputs);
double aggregate_loss(Aggregate mode, const LossMatrix& loss, const LossMatrix& mask, int length);
std::vector<double> kl_estimate(const KlEstimator& kl, const std::vector<double>& logp, const std::vector<double>& ref);

// Weights min(exp(log prox - log behaviour), cap) for rollouts of an older policy, per token or one a sequence
// (exp of the summed log ratio); log ratios are limited to +-20. Truncated importance sampling, as in verl.
LossMatrix decoupled_weights(const LossMatrix& behaviour_logp, const LossMatrix& proximal_logp, const LossMatrix& mask,
                             double cap, bool per_sequence);

// sum(m v) / (sum(m) + eps); 0 for an empty mask.
double masked_mean(const LossMatrix& values, const LossMatrix& mask, double eps);

// verl's controller of the KL coefficient: value *= 1 + clip(kl / target - 1, +-0.2) * samples / horizon.
struct AdaptiveKl {
  double value;
  double target;   // > 0
  double horizon;  // samples, > 0
  void update(double current_kl, double samples);
};

}  // namespace allot::training
