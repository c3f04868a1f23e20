// What a back-test found: how often the policy stopped a group, and how often that group was flat.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"

namespace allot::replay {

// One group under the policy.
struct Outcome {
  std::string group;
  int turn = 0;                // at which it was stopped, else last asked; 0: never asked
  bool asked = false;
  bool stopped = false;        // a `turn` point answered `stop`
  std::map<int, int> stopped_samples;  // those that `stop where` ended: the turn after which each was over
  bool dropped = false;        // by `turn` or `finish`
  std::optional<std::vector<int>> subset;  // samples of `train SUBSET`, ascending
  bool late = false;           // stopped when no rollout was alive any more: nothing could be saved
  std::optional<bool> flat;    // unknown where fewer than two rollouts are scored
  std::string reason;          // rendered; empty where no rule gave one
  std::string rule;            // "file:line" of the rule that decided; empty for the default
  std::string fault;           // what went wrong in a rule; the default of the point stands then
  std::int64_t turns = 0, turns_saved = 0;    // executed in the log, and those of them after the stop
  std::int64_t tokens = 0, tokens_saved = 0;
};

struct Counts {
  int stopped = 0;
  int flat_stopped = 0;
  int unknown_stopped = 0;  // stopped, and nobody knows whether flat

  std::optional<double> precision() const;         // flat among the stopped whose rewards are known
  std::optional<double> recall(int flat) const;    // of all flat groups, those that were stopped
};

struct Report {
  std::vector<Outcome> outcomes;      // in order of first appearance
  bool lateness_known = true;         // else `stoppable` says nothing
  bool costs_known = false;           // turns and tokens are those of a log, not of a table
  std::vector<std::string> notes;     // what the source lacks and what was not asked, a sentence each
  std::vector<std::string> mapped;    // "mean_pairwise(…) at turn 10 from prefix_edit_distance_mean"

  int flat() const;
  int unknown() const;                // groups of which nobody knows whether they are flat
  Counts all() const;                 // late ones included
  Counts stoppable() const;           // without the late ones
};

// Whether it is asked of a whole group after a number of turns, as a back-test can: `turn N`, `every turn`.
bool asks_after_turns(const lang::Handler& handler);

// The handlers that are none of these, nor of the points in `asked`: "on size of batch b", …
std::vector<std::string> handlers_not_asked(const lang::Program& program, const std::vector<lang::Point>& asked);

}  // namespace allot::replay
