#include "runtime/engine/points.h"

#include <algorithm>

namespace allot::engine {

using lang::Point;

Points::Points(const lang::Program& program, const std::vector<lang::Cell>& parameters) {
  for (std::size_t i = 0; i < program.handlers.size(); ++i) {
    const lang::Handler& handler = program.handlers[i];
    const int number = handler.number ? static_cast<int>(lang::value(*handler.number, parameters)) : 0;
    entries_.push_back({handler.point, handler.number.has_value(), number, static_cast<int>(i)});
  }
}

int Points::find(Point point, int number) const {
  int general = no_handler;
  for (const Entry& entry : entries_) {
    if (entry.point != point) continue;
    if (entry.numbered && entry.number == number) return entry.handler;
    if (!entry.numbered && general == no_handler) general = entry.handler;
  }
  return general;
}

bool Points::numbered(int handler) const {
  return handler != no_handler && entries_[static_cast<std::size_t>(handler)].numbered;
}

int Points::number(int handler) const { return entries_[static_cast<std::size_t>(handler)].number; }

std::vector<int> Points::turn_handlers() const {
  std::vector<Entry> found;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(found),
               [](const Entry& entry) { return entry.point == Point::Turn && entry.numbered; });
  std::stable_sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.number < b.number; });
  std::vector<int> handlers;
  for (const Entry& entry : found) handlers.push_back(entry.handler);
  return handlers;
}

bool Points::has(Point point) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.point == point; });
}

namespace {

std::string place(const lang::Program& program, const lang::Handler& handler) {
  if (!program.source) return handler.text;
  return program.source->name() + ":" + std::to_string(program.source->place(handler.span.begin).line);
}

bool served(const lang::Handler& handler) {
  using lang::Subject;
  switch (handler.point) {
    case Point::Size:
    case Point::Update: return handler.subject == Subject::Batch;
    case Point::Turn:
    case Point::Result:
    case Point::Wave:
    case Point::Finish: return handler.subject == Subject::Group;
    default: return false;
  }
}

bool reads_epoch(const lang::Handler& handler) {
  const auto is_epoch = [](const lang::ReadKey& key) { return key.fact == lang::Fact::Epoch; };
  return std::any_of(handler.reads.begin(), handler.reads.end(), is_epoch);
}

}  // namespace

Result<void> check_points(const lang::Program& program, const std::vector<lang::Cell>& parameters, int turn_limit) {
  for (const lang::Handler& handler : program.handlers) {
    const std::string where = place(program, handler) + ": `on " + handler.text + "`";
    if (!served(handler)) return Error{where + " is a decision point that this host does not serve.", ""};
    if (reads_epoch(handler)) {
      return Error{where + " reads `epoch`, which this host does not tell.", "count in iterations instead"};
    }
    if (!handler.number) continue;
    const std::int64_t number = lang::value(*handler.number, parameters);
    if (number < 1) return Error{where + " would come at " + std::to_string(number) + ": it must be 1 or more.", ""};
    if (handler.point == Point::Turn && number > turn_limit) {
      return Error{where + " would come at turn " + std::to_string(number) + ", but a rollout of this run has at most " +
                       std::to_string(turn_limit) + " turns: it would never be asked.",
                   "lower the number, or raise the turn limit"};
    }
  }
  return {};
}

}  // namespace allot::engine
