#include "runtime/replay/report.h"

#include <algorithm>

namespace allot::replay {

std::optional<double> Counts::precision() const {
  const int known = stopped - unknown_stopped;
  if (known == 0) return std::nullopt;
  return static_cast<double>(flat_stopped) / known;
}

std::optional<double> Counts::recall(int flat) const {
  if (flat == 0) return std::nullopt;
  return static_cast<double>(flat_stopped) / flat;
}

namespace {

Counts count(const std::vector<Outcome>& outcomes, bool late_too) {
  Counts counts;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.stopped || (outcome.late && !late_too)) continue;
    ++counts.stopped;
    counts.flat_stopped += outcome.flat.value_or(false);
    counts.unknown_stopped += !outcome.flat.has_value();
  }
  return counts;
}

}  // namespace

int Report::flat() const {
  return static_cast<int>(std::count_if(outcomes.begin(), outcomes.end(),
                                        [](const Outcome& outcome) { return outcome.flat.value_or(false); }));
}

int Report::unknown() const {
  return static_cast<int>(
      std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) { return !outcome.flat; }));
}

Counts Report::all() const {
  return count(outcomes, true);
}
Counts Report::stoppable() const {
  return count(outcomes, false);
}

bool asks_after_turns(const lang::Handler& handler) {
  const bool every_so_many_tokens = handler.every && handler.number.has_value();
  return handler.point == lang::Point::Turn && handler.subject == lang::Subject::Group && !every_so_many_tokens;
}

std::vector<std::string> handlers_not_asked(const lang::Program& program, const std::vector<lang::Point>& asked) {
  std::vector<std::string> left;
  for (const lang::Handler& handler : program.handlers) {
    const bool other = std::find(asked.begin(), asked.end(), handler.point) == asked.end();
    if (other && !asks_after_turns(handler)) left.push_back("on " + handler.text);
  }
  return left;
}

}  // namespace allot::replay
