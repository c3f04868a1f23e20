// Many rollouts sampled at once, turn by turn, over one cache of keys and values.
//
// A row is one rollout. It lies in a slot of the cache; a row that is removed leaves at once: the next step does no
// work for it, and its slot may be filled at once by another (continuous batching). Rows that wait for their world
// cost nothing. What a row samples depends on (seed, key, its own tokens) alone, never on who shares the batch, bit
// for bit on a CPU: a rollout that is stopped and later continued from its tokens draws what it would have drawn.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/result.h"
#include "runtime/training/model.h"

namespace allot::training {

struct SamplerOptions {
  std::uint64_t seed = 0;
  double temperature = 1.0;  // >= 0; 0 is greedy
  double top_p = 1.0;        // in (0, 1]
  int end_token = -1;        // ends an action, for instance Tokenizer::newline(); it belongs to the action
  int rows = 64;             // slots: the most rows at once
  int max_context = 1024;    // the most tokens of a row, <= ModelConfig::max_positions
  int threads = 0;           // 0: all the hardware has
};

struct SampledToken {
  int id = -1;  // the row
  int token = 0;
  float logprob = 0;  // see sampling.h: under softmax(logits / temperature)
  float entropy = 0;
  bool action_ended = false;  // by the end token, the token limit or the end of the context
  bool context_full = false;  // the row has no room for another token: it cannot go on
};

class Sampler {
 public:
  // `model` must outlive the sampler. Weights may change between steps; rows that are alive keep their cached past.
  static Result<Sampler> make(const Model& model, const SamplerOptions& options);

  // A new row with `tokens` (at least one) as context. `key` names the rollout for the random numbers, for instance a
  // hash of (iteration, group, sample). The context is computed with the row's next step, together with others'.
  // Errors: the id is taken, no slot is free, the context does not fit.
  Result<void> add(int id, std::uint64_t key, std::span<const int> tokens);
  // More context, after an action ended: what the world answered.
  Result<void> extend(int id, std::span<const int> tokens);
  // From the next step on the row samples an action of at most `max_tokens`, until its end token.
  Result<void> begin_action(int id, int max_tokens);
  // One token for every row that is in an action; in order of the rows' adding. Empty when there is none.
  // The span is valid until the next call.
  std::span<const SampledToken> step();
  // Frees the row's slot; an unknown id is ignored.
  void remove(int id);
  void clear();

  void set_temperature(double temperature);  // 0 for greedy evaluation
  bool contains(int id) const;
  int rows() const;           // alive
  int free_rows() const;      // slots that add() can still fill
  int room(int id) const;     // tokens the row can still take
  std::span<const int> tokens(int id) const;  // context and actions so far; valid until the row changes
  std::int64_t computed_tokens() const;       // tokens taken through the model since the start, context included

  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;
  ~Sampler();

 private:
  struct State;
  explicit Sampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace allot::training
