// What a policy would decide otherwise than another on the same log, group by group.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/replay/report.h"

namespace allot::replay {

struct Change {
  std::string group;
  std::string before, after;  // "train", "drop", "stop at turn 3, drop", …
  Outcome was, becomes;
};

struct Plan {
  int groups = 0;
  std::vector<Change> changes;          // in the order of the log
  std::map<std::string, int> counts;    // "train -> drop": how many groups
  std::vector<std::string> notes;       // what either back-test says of the log, each once
};

// Both reports must be of one log.
Plan compare(const Report& before, const Report& after);

// What became of a group, in the words of the language.
std::string fate_words(const Outcome& outcome);

}  // namespace allot::replay
