// Optimiser steps: supervised warm-up on demonstrations, and GRPO on sampled rollouts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/result.h"
#include "runtime/training/loss.h"
#include "runtime/training/model.h"

namespace allot::training {

// One rollout as it is trained on: the prompt, then actions and observations in turn. All vectors are as long as
// `tokens`, except `behaviour_logp`, which the warm-up does not need.
struct TrainSequence {
  std::vector<int> tokens;
  std::vector<std::uint8_t> trained;  // 1: the model sampled this token; 0: context, which is never trained on
  std::vector<float> behaviour_logp;  // SampledToken::logprob where trained, anything elsewhere
  double advantage = 0;
  std::vector<double> turn_advantages = {};  // one a token, in place of `advantage`; empty: all tokens have that
  double weight = 1;                  // of its loss, on top of what the aggregation gives it
};

struct OptimizerOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double max_gradient_norm = 1.0;  // <= 0: not clipped
};

// The tokens of a micro-batch, log-probabilities in nats; `reference` is empty without a reference model.
struct LossTokens {
  std::span<const double> logp, old_logp, reference, advantages;
};

// What someone else makes of them: loss and its slope in `logp`; where `own` is not 0 the trainer's own loss is taken.
struct GivenLoss {
  std::vector<double> loss, slope;
  std::vector<std::uint8_t> own;
};

struct UpdateOptions {
  LossOptions loss;
  double temperature = 1.0;   // > 0; the one the rollouts were sampled at
  double learning_rate = 0;   // > 0 replaces the optimizer's for this step
  int micro_tokens = 2048;    // padded tokens of a micro-batch; splits memory and work, not the result
  // Passes over rollouts whose loss is 0 whatever the model does (advantage 0, no KL term). Their tokens stay in the
  // denominators, so the step is the same; only the metrics no longer cover them.
  bool skip_zero_advantage = false;
  // Takes the place of `loss.kind`; the aggregation and the KL term stay. Called by several threads at once.
  std::function<GivenLoss(const LossTokens&)> token_loss;
};

struct UpdateReport {
  bool stepped = false;         // false: nothing to train on, or a gradient that is not finite; weights are as before
  double loss = 0;
  double kl = 0;                // mean over trained tokens, 0 without a reference
  double entropy = 0;           // mean over trained tokens, nats
  double clip_fraction = 0;     // share of trained tokens whose ratio lies outside the clip range
  double ratio = 1;             // mean of new / behaviour probability
  double gradient_norm = 0;     // before clipping
  std::int64_t sequences = 0;   // with at least one trained token
  std::int64_t trained_tokens = 0;
  std::int64_t computed_tokens = 0;  // padded tokens that went through the model
  double seconds = 0;
};

class Trainer {
 public:
  // On a CPU as many micro-batches run at once as set_up_torch() allows threads.
  // `model` must outlive the trainer; its weights change in place.
  Trainer(Model& model, const OptimizerOptions& options);
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  // One optimiser step over all of `sequences` (the trained rollouts of the batch; a dropped group is simply not among
  // them). The denominators of the loss are those of the whole call, so neither the order of the sequences nor the
  // split into micro-batches changes the gradient beyond rounding. `reference` is needed where kl_coefficient > 0.
  // Errors: sequences that do not fit the model or are malformed; nothing has changed then.
  Result<UpdateReport> update(std::span<const TrainSequence> sequences, const UpdateOptions& options,
                              const Model* reference = nullptr);

  // The micro-batches into which update() cuts these sequences (before any with advantage 0 are left out), as indices.
  std::vector<std::vector<std::size_t>> micro_batches(std::span<const TrainSequence> sequences, int micro_tokens) const;

  // The Gram matrix of the chosen sequences' gradient features, row-major. The feature of a sequence is the gradient of
  // the sum of -log p of its trained tokens with respect to the output head alone, under the weights of this moment:
  // the sum over its tokens of (softmax - one-hot) times the last hidden state (shaping.md 3). Plain inner products,
  // in double precision. Costs a forward pass and one vocabulary x hidden matrix a sequence.
  std::vector<double> gram(std::span<const TrainSequence> sequences, const std::vector<std::size_t>& members,
                           double temperature) const;

  // One embedding a row for the chosen sequences: the mean last hidden state of their trained tokens under the weights of
  // this moment, in double precision; as wide as the model.
  std::vector<double> embeddings(std::span<const TrainSequence> sequences, const std::vector<std::size_t>& members) const;

  // One step of mean cross entropy over the trained tokens; `loss` of the report is that mean, in nats.
  // `learning_rate` > 0 replaces the optimizer's.
  Result<UpdateReport> warm_up(std::span<const TrainSequence> sequences, double learning_rate = 0,
                               int micro_tokens = 2048);

  // The moments under "exp_avg.NAME" and "exp_avg_sq.NAME", and the number of steps taken: all there is to resume.
  TensorMap optimizer_state() const;
  std::int64_t steps() const;
  Result<void> load_optimizer_state(const TensorMap& state, std::int64_t steps);

  const Model& model() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace allot::training
