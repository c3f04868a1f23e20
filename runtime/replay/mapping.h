// Which column of a table is what: the group, the turn, how the group ended, and the facts that a policy reads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/replay/csv.h"

namespace allot::replay {

// The short name of a fact, the same for every prefix length: "mean_pairwise(normalized_edit_distance)",
// "unique_ratio(prefixes)", "unique_ratio(actions_at)", "agreement", "entropy(normalized)", "finished_fraction",
// "g.tokens". Where prefixes are compared unpadded, "unpadded" stands behind a comma: "unique_ratio(prefixes, unpadded)".
std::string short_name(const lang::ReadKey& key);
// The turn that a statistic is about: its N, or the turn at which it is read.
int turn_of(const lang::ReadKey& key, const std::vector<lang::Cell>& parameters, int asked_at);

struct Mapping {
  struct Source {
    std::size_t column = 0;
    std::optional<int> turn;   // a column about one turn; else the row's own
  };
  std::size_t group = 0;
  std::optional<std::size_t> turn;      // none: one row a group, every column says its turn itself
  std::optional<std::size_t> label;     // all_fail, all_succeed, mixed; or flat: true, false, 1, 0
  std::optional<std::size_t> variance;  // of the rewards; flat where it is 0
  std::multimap<std::string, Source, std::less<>> facts;  // by short name

  const Source* find(std::string_view fact, int turn) const;
};

// `settings` are "NAME=COLUMN" or "NAME@TURN=COLUMN": NAME is group, turn, label, variance, or a fact's short name.
// Columns of the known layout (data of Selective Rollout: K, task_id, label, …) need none.
Result<Mapping> read_mapping(const Csv& csv, const std::vector<std::string>& settings);

}  // namespace allot::replay
