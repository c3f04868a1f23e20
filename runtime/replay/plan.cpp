#include "runtime/replay/plan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace allot::replay {

namespace {

// "stop where [1, 2] at turn 4, " for each turn at which some were.
std::string cut_words(const Outcome& outcome) {
  std::map<int, std::string> by_turn;
  for (const auto& [sample, turn] : outcome.stopped_samples) {
    std::string& samples = by_turn[turn];
    samples += fmt::format("{}{}", samples.empty() ? "" : ", ", sample);
  }
  std::string text;
  for (const auto& [turn, samples] : by_turn) text += fmt::format("stop where [{}] at turn {}, ", samples, turn);
  return text;
}

std::string group_words(const Outcome& outcome) {
  if (outcome.stopped) {
    return fmt::format("stop at turn {}{}{}", outcome.turn, outcome.dropped ? ", drop" : "", outcome.late ? " (late)" : "");
  }
  if (outcome.dropped) return "drop";
  if (!outcome.subset) return "train";
  std::string samples;
  for (const int sample : *outcome.subset) samples += fmt::format("{}{}", samples.empty() ? "" : ", ", sample);
  return fmt::format("train [{}]", samples);
}

}  // namespace

std::string fate_words(const Outcome& outcome) { return cut_words(outcome) + group_words(outcome); }

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
