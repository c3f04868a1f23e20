// What `on loss of token` makes of the tokens of a micro-batch: the loss of each, and its slope.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine/policy.h"
#include "runtime/engine/state.h"

namespace allot::engine {

// Log-probabilities in nats, all of one length; `reference` is empty where the run has no reference model.
struct LossTokens {
  std::span<const double> logprob;      // under the weights that are trained
  std::span<const double> old_logprob;  // when the token was written
  std::span<const double> reference;
  std::span<const double> advantage;
};

struct TokenLosses {
  std::vector<double> loss;
  std::vector<double> slope;        // d loss / d logprob
  std::vector<std::uint8_t> own;    // 1: no rule answered, or a fault: the trainer's own loss is taken there
};

// How often each rule of the handler answered: tokens are too many for a record each.
struct LossTally {
  int handler = -1;
  std::int64_t asked = 0;            // tokens: the sum of what follows
  std::vector<std::int64_t> rules;   // by rule
  std::int64_t none = 0;             // no rule held, or its loss is undefined: the trainer's own
  std::int64_t faults = 0;           // the trainer's own too
  std::string first_fault;           // what happened and where; empty without one
};

// The handler with the run's state as it was when this was made. Any number of threads may ask.
class TokenLoss {
 public:
  using Heard = std::function<void(const LossTally&)>;

  // `handler`: index of a handler of Point::Loss in the policy's program. `heard`: what each ask() added to the tally, on
  // the thread that asked; for a loss whose run is in another process.
  TokenLoss(std::shared_ptr<const Policy> policy, int handler, const StateStore& store, std::int64_t iteration,
            std::int64_t epoch, Heard heard = {});

  TokenLosses ask(const LossTokens& tokens) const;

  LossTally tally() const;
  // Adds what was asked of this loss elsewhere; false where it is of another one.
  [[nodiscard]] bool add(const LossTally& elsewhere) const;

  // What it was made from.
  const std::shared_ptr<const Policy>& policy() const { return policy_; }
  int handler() const { return handler_; }
  std::int64_t iteration() const { return iteration_; }
  std::int64_t epoch() const { return epoch_; }
  const StateCells& states() const { return states_; }

 private:
  std::string fault_words(const compiler::Outcome& outcome) const;

  std::shared_ptr<const Policy> policy_;
  int handler_;
  std::int64_t iteration_;
  std::int64_t epoch_;
  StateCells states_;
  Heard heard_;
  mutable std::mutex mutex_;
  mutable LossTally tally_;
};

}  // namespace allot::engine
