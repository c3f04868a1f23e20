// The prompts that may be drawn, what is known of each, and which of them are away.
//
// Like the state of a policy it changes at barriers only: between them every reader sees the iteration's start, so the
// order in which groups end leaves no trace.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/events.h"
#include "runtime/engine/keyed_rows.h"

namespace allot::engine {

// What a prompt's groups gave so far.
struct PromptHistory {
  std::int64_t groups = 0;             // opened; what follows counts at the end of a group, dropped ones too
  std::int64_t flat = 0;               // groups
  std::int64_t started = 0;            // rollouts
  std::int64_t scored = 0;
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t last_scored = 0;        // of its latest group
  std::int64_t last_hits = 0;
  double reward_mean = 0;              // over the scored rollouts
  double reward_squares = 0;           // sum of squared distances from that mean (Welford 1962)
  int last_iteration = -1;             // in which a group of it was opened; −1: never
  int away_until = 0;                  // evicted while the epoch is below this
  int passed_in = -1;                  // the epoch in which it was opened last; −1: never

  static constexpr int for_good = std::numeric_limits<int>::max();
  std::optional<double> mean() const;
  std::optional<double> deviation() const;  // divisor n
  void add(double reward);
  friend bool operator==(const PromptHistory&, const PromptHistory&) = default;
};

class Pool {
 public:
  using Histories = KeyedRows<PromptHistory>;

  // In the order that breaks ties. History of prompts that are known already stays.
  void assign(std::vector<PoolPrompt> prompts);
  bool given() const { return !prompts_.empty(); }
  const std::vector<PoolPrompt>& prompts() const { return prompts_; }
  std::vector<std::string> keys() const;

  const PromptHistory& history(std::string_view prompt) const;
  Histories::Moment histories() const { return histories_.moment(); }
  // nullptr where the host knows no such prompt.
  const PoolPrompt* find(std::string_view prompt) const;
  bool away(const PromptHistory& history) const { return history.away_until > epoch_; }
  // Of the prompts of the pool, or without one of all that are known.
  std::int64_t away_count() const;
  int epoch() const { return epoch_; }

  // ---- the barrier: it begins, and renews a part of what nobody has changed
  void next_barrier() { histories_.next_barrier(); }
  void renew();
  void opened(const std::string& prompt, int iteration);
  // Valid until the next change.
  PromptHistory& change(const std::string& prompt);
  // Away while the epoch is below `until`; back at once where it is not.
  void evict(const std::string& prompt, std::int64_t until);
  void readmit(const std::string& prompt) { evict(prompt, 0); }
  // An epoch is over when as many groups were opened in it as there are prompts that may be drawn or were opened in it:
  // with a host that goes through its prompts in order, when each has come once. Without a pool never.
  bool epoch_over() const;
  void next_epoch();

  void restore(Histories histories, int epoch, std::int64_t passed);
  std::int64_t passed() const { return passed_; }

 private:
  std::vector<PoolPrompt> prompts_;
  std::map<std::string, std::size_t, std::less<>> places_;  // into prompts_
  Histories histories_;
  std::set<std::string, std::less<>> away_;  // prompts that were evicted and may be away still
  int epoch_ = 0;
  std::int64_t passed_ = 0;  // groups opened in this epoch
};

}  // namespace allot::engine
