#include "runtime/replay/plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::replay {

std::string fate_words(const Outcome& outcome) {
  if (outcome.stopped) {
    return fmt::format("stop at turn {}{}{}", outcome.turn, outcome.dropped ? ", drop" : "", outcome.late ? " (late)" : "");
  }
  if (outcome.dropped) return "drop";
  if (!outcome.subset) return "train";
  std::string samples;
  for (const int sample : *outcome.subset) samples += fmt::format("{}{}", samples.empty() ? "" : ", ", sample);
  return fmt::format("train [{}]", samples);
}

Plan compare(const Report& before, const Report& after) {
  Plan plan;
  std::map<std::string_view, const Outcome*> was;
  for (const Outcome& outcome : before.outcomes) was.emplace(outcome.group, &outcome);
  for (const Outcome& becomes : after.outcomes) {
    const auto known = was.find(becomes.group);
    if (known == was.end()) continue;
    ++plan.groups;
    Change change{becomes.group, fate_words(*known->second), fate_words(becomes), *known->second, becomes};
    if (change.before == change.after) continue;
    ++plan.counts[change.before + " -> " + change.after];
    plan.changes.push_back(std::move(change));
  }
  for (const Report* report : {&before, &after}) {
    for (const std::string& note : report->notes) {
      if (std::find(plan.notes.begin(), plan.notes.end(), note) == plan.notes.end()) plan.notes.push_back(note);
    }
  }
  return plan;
}

}  // namespace allot::replay
