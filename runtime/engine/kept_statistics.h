// The statistics of a group's actions that a program reads, and no others.
//
// A plan is made once from the program's reads. Distances between all pairs are kept while the rollouts run, since
// starting over at each turn would cost G²·T² a read; what is one pass over the log is read from the log. All of it can
// be rebuilt from the log at any time, with the same bits.
#pragma once

#include <optional>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/group_log.h"
#include "runtime/statistics/prefix_edit.h"

namespace allot::engine {

struct StatisticsPlan {
  std::optional<int> longest_edit_prefix;  // set where an edit distance is read; INT_MAX for "up to the current turn"
  bool observations = false;               // `loop` compares actions together with what they led to
  bool replayed_observations = false;      // … of groups that are trained on once more, at `replay` and `shape`
  bool turn_numbers = false;               // tokens, log-probabilities or entropies of single turns are read

  static StatisticsPlan of(const lang::Program& program, const std::vector<lang::Cell>& parameters);
};

class KeptStatistics {
 public:
  KeptStatistics() = default;
  explicit KeptStatistics(const StatisticsPlan& plan);
  // As if every event of the log had been fed.
  static KeptStatistics rebuild(const StatisticsPlan& plan, const GroupLog& log);
  // What that plan asks for is there from here on, too: another version may ask about a group than the one it was opened
  // under. Rebuilt from the log where it is not.
  void cover(const StatisticsPlan& plan, const GroupLog& log);

  // In step with the log: a rollout was started, took the turn that is the log's last, ended by itself or by order,
  // or is in error and has no part in the statistics any more.
  void started();
  void took_turn(const GroupLog& log, int sample);
  void ended(int sample);
  void left_out(int sample);

  // A fact of `lang::Fact::PairwiseMean` … `FinishedFraction` over the group's rollouts without those in error, with
  // the current turn put for `g.turn`. Undefined where the definition of runtime/statistics says so.
  std::optional<double> group_fact(const lang::ReadKey& key, const std::vector<lang::Cell>& parameters,
                                   const GroupLog& log, int turn) const;

 private:
  std::optional<statistics::PrefixEdit> edit_;
};

// Repetition (a real) and Loop (true or false as 1 or 0) of one rollout.
double rollout_repetition(const RolloutLog& rollout, int n);
bool rollout_loops(const RolloutLog& rollout, int k);

}  // namespace allot::engine
