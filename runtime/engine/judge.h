// Asks the policy: builds the frame, lets the executable decide, puts the operands in, counts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/live_group.h"
#include "runtime/engine/policy.h"
#include "runtime/engine/question.h"
#include "runtime/engine/verdict.h"

namespace allot::engine {

// A value of `report`, with a place in an order that does not depend on arrival.
struct ReportValue {
  int report = 0;
  int slot = 0;
  int round = 0;
  int turn = 0;
  double value = 0;
};

struct JudgeCounts {
  std::vector<std::int64_t> asked;            // by handler
  std::vector<std::vector<std::int64_t>> rules;  // by handler and rule
  std::vector<std::int64_t> warned;           // by warning
  std::vector<ReportValue> reports;
  std::int64_t faults = 0;
  std::int64_t hit_faults = 0;

  std::int64_t decisions() const;
  void add(const JudgeCounts& other);  // of the same policy
};

struct Fault {
  compiler::FaultKind kind = compiler::FaultKind::None;
  std::string where;   // "file:line"
  std::string text;    // what happened, where, and the values read
};

struct Decision {
  int handler = -1;
  Verdict verdict;
  std::optional<Fault> fault;   // the verdict is then the point's default, or (in an effect) stands without that effect
};

// Which effects of a handler are kept: of a late question none, since it must change nothing.
enum class Effects { Keep, Discard };

class Judge {
 public:
  // `version`: its number in the run, for the journal.
  explicit Judge(std::shared_ptr<Policy> policy, int version = 0);

  Decision ask(int handler, LiveGroup& group, int turn, const RunFacts& run, const StateStore& store, Effects effects);
  // About one rollout of a group. `score` and `every …` are asked that way.
  Decision ask_rollout(int handler, LiveGroup& group, int sample, int turn, const RunFacts& run,
                       const StateStore& store);
  // The question of ask(), or with a sample that of ask_rollout(), without a trace. keep() makes it as if it had been
  // asked in the ordinary way; before the next question.
  Decision consider(int handler, const LiveGroup& group, int sample, int turn, const RunFacts& run, const StateStore& store);
  void keep(const Decision& decision, LiveGroup& group, int turn);
  // About a batch or the pool while the iteration runs.
  Decision ask_batch(int handler, const BatchFacts& batch, const RunFacts& run, const StateStore& store);
  // The barrier: what the handler remembers is written to the store.
  Decision ask_barrier(int handler, const BatchFacts& batch, const RunFacts& run, StateStore& store);
  Decision ask_micro(int handler, const MicroFacts& micro, const BatchFacts& batch, const RunFacts& run,
                     const StateStore& store);
  // KEYS of a `resume` handler, and nothing else: not counted, no effect.
  std::vector<double> keys(int handler, LiveGroup& group, const RunFacts& run, const StateStore& store);
  // Whether a scored rollout met the `hit` condition; undefined without one, and where it faults.
  std::optional<bool> hit(const LiveGroup& group, int sample, const RunFacts& run);

  // The last question, as it was asked; valid until the next one.
  const Question& question() const { return question_; }
  const Answer& answer() const { return answer_; }
  const JudgeCounts& counts() const { return counts_; }
  const Policy& policy() const { return *policy_; }
  int version() const { return version_; }
  void set_version(int version) { version_ = version; }
  void reset_counts();
  // Messages of `warn` since the last call, one a line of the policy, in order.
  std::vector<std::string> take_warnings();

 private:
  Decision decide(int handler, const std::vector<std::string>& prompts);
  void count(const Decision& decision);
  void keep_group_state(LiveGroup& group);
  void keep_effects(const lang::Handler& handler, int slot, int round, int turn);
  Fault describe(const lang::Handler& handler) const;

  std::shared_ptr<Policy> policy_;
  int version_ = 0;
  Question question_;
  Answer answer_;
  JudgeCounts counts_;
  std::vector<std::string> warnings_;
  std::vector<char> warned_before_;
};

}  // namespace allot::engine
