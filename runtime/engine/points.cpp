#include "runtime/engine/points.h"

#include <algorithm>

namespace allot::engine {

using lang::Point;

Points::Points(const lang::Program& program, const std::vector<lang::Cell>& parameters) {
  for (std::size_t i = 0; i < program.handlers.size(); ++i) {
    const lang::Handler& handler = program.handlers[i];
    const int number = handler.number ? static_cast<int>(lang::value(*handler.number, parameters)) : 0;
    const auto& too = handler.numbers_too;
    const bool comes = std::all_of(too.begin(), too.end(), [&](const lang::ReadArgument& other) {
      return lang::value(other, parameters) == number;
    });
    const int meets = comes ? static_cast<int>(too.size()) : -1;
    entries_.push_back({handler.point, handler.subject, handler.number.has_value(), number, static_cast<int>(i), meets});
  }
  asks_rollouts_ = has(Point::Tokens) || has(Point::Turn, lang::Subject::Rollout);
}

int Points::find(Point point, lang::Subject subject, int number) const {
  int general = no_handler;
  const Entry* exact = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.point != point || entry.subject != subject || entry.meets < 0) continue;
    if (entry.numbered && entry.number == number && (exact == nullptr || entry.meets > exact->meets)) exact = &entry;
    if (!entry.numbered && general == no_handler) general = entry.handler;
  }
  return exact == nullptr ? general : exact->handler;
}

bool Points::numbered(int handler) const {
  return handler != no_handler && entries_[static_cast<std::size_t>(handler)].numbered;
}

int Points::number(int handler) const { return entries_[static_cast<std::size_t>(handler)].number; }

std::vector<int> Points::turn_handlers() const {
  std::vector<Entry> found;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(found),
               [&](const Entry& entry) {
                 return entry.point == Point::Turn && entry.subject == lang::Subject::Group && entry.numbered &&
                        find(Point::Turn, entry.number) == entry.handler;
               });
  std::stable_sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.number < b.number; });
  std::vector<int> handlers;
  for (const Entry& entry : found) handlers.push_back(entry.handler);
  return handlers;
}

std::vector<int> Points::handlers(Point point) const {
  std::vector<int> found;
  for (const Entry& entry : entries_) {
    if (entry.point == point) found.push_back(entry.handler);
  }
  return found;
}

std::vector<int> Points::chain(Point point, lang::Subject subject) const {
  std::vector<int> found;
  for (const Entry& entry : entries_) {
    if (entry.point == point && entry.subject == subject) found.push_back(entry.handler);
  }
  return found;
}

bool Points::has(Point point) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.point == point; });
}

bool Points::has(Point point, lang::Subject subject) const {
  const auto is = [&](const Entry& entry) { return entry.point == point && entry.subject == subject; };
  return std::any_of(entries_.begin(), entries_.end(), is);
}

namespace {

bool looks_back(const lang::Handler& handler) {
  if (handler.subject == lang::Subject::Pool) return true;
  const auto of_history = [](const lang::ReadKey& key) {
    return key.fact == lang::Fact::Epoch || lang::row(key.fact).subject == lang::Subject::Prompt;
  };
  const auto sends_away = [](const lang::Rule& rule) { return rule.verdict.prompt != lang::PromptField::Default; };
  return std::any_of(handler.reads.begin(), handler.reads.end(), of_history) ||
         std::any_of(handler.columns.begin(), handler.columns.end(), of_history) ||
         std::any_of(handler.rules.begin(), handler.rules.end(), sends_away);
}

}  // namespace

Demands Demands::of(const lang::Program& program) {
  Demands demands;
  for (const lang::Handler& handler : program.handlers) {
    demands.shapes = demands.shapes || handler.point == Point::Shape;
    demands.replays = demands.replays || handler.point == Point::Replay;
    demands.history = demands.history || looks_back(handler);
    demands.branches = demands.branches || handler.point == Point::Expand;
    for (const lang::ReadKey& key : handler.columns) {
      demands.gram = demands.gram || key.fact == lang::Fact::MicroGram;
      demands.embeddings = demands.embeddings || key.fact == lang::Fact::Embeddings;
    }
    for (const lang::Rule& rule : handler.rules) {
      demands.defers = demands.defers || rule.verdict.group == lang::GroupField::Defer;
      demands.branches = demands.branches || rule.verdict.rollouts == lang::RolloutsField::Branch;
    }
  }
  return demands;
}

namespace {

std::string place(const lang::Program& program, const lang::Handler& handler) {
  if (!program.source) return handler.text;
  return program.source->where(handler.span.begin);
}

bool served(const lang::Handler& handler) {
  using lang::Subject;
  switch (handler.point) {
    case Point::Select:
    case Point::Epoch: return handler.subject == Subject::Pool;
    case Point::Size:
    case Point::Replay: return handler.subject == Subject::Batch;
    case Point::Update: return handler.subject == Subject::Batch || handler.subject == Subject::Pool;
    case Point::Turn: return handler.subject == Subject::Group || (handler.subject == Subject::Rollout && handler.every);
    case Point::Tokens:
    case Point::Score: return handler.subject == Subject::Rollout;
    case Point::Wave: return handler.subject == Subject::Group || handler.subject == Subject::Batch;
    case Point::Result:
    case Point::Finish:
    case Point::Resume: return handler.subject == Subject::Group;
    case Point::Shape: return handler.subject == Subject::Group || handler.subject == Subject::MicroBatch;
    case Point::Loss: return handler.subject == Subject::Token;
    default: return false;
  }
}

// What a handler asks of the host that this one cannot do, in words; empty where it can.
std::string beyond(const lang::Handler& handler, const Abilities& host) {
  if (handler.point == Point::Expand && !host.branches) return "branches rollouts";
  if (handler.point == Point::Score && !host.scores) return "sets rewards";
  if (handler.point == Point::Loss && !host.losses) return "sets the loss of tokens";
  if (handler.point == Point::Shape && !host.shapes) return "changes advantages";
  if (handler.point == Point::Replay && !host.replays) return "replays earlier groups";
  for (const lang::Rule& rule : handler.rules) {
    if (rule.verdict.group == lang::GroupField::Defer && !host.defers) return "defers groups to a later iteration";
    if (rule.verdict.rollouts == lang::RolloutsField::Branch && !host.branches) return "branches rollouts";
  }
  return "";
}

}  // namespace

Result<void> check_point(const lang::Program& program, const lang::Handler& handler, const std::vector<lang::Cell>& parameters,
                         int turn_limit, const Abilities& host) {
  const std::string where = place(program, handler) + ": `on " + handler.text + "`";
  if (const std::string what = beyond(handler, host); !what.empty()) {
    return Error{where + " " + what + ", which this host cannot do.",
                 "run it where it can be done, or take that rule out; `allot test` tries it without a host"};
  }
  if (!served(handler)) return Error{where + " is a decision point that this host does not serve.", ""};
  if (!handler.number) return {};
  const std::int64_t number = lang::value(*handler.number, parameters);
  if (number < 1) return Error{where + " would come at " + std::to_string(number) + ": it must be 1 or more.", ""};
  if (handler.point == Point::Turn && number > turn_limit) {
    return Error{where + " would come at turn " + std::to_string(number) + ", but a rollout of this run has at most " +
                     std::to_string(turn_limit) + " turns: it would never be asked.",
                 "lower the number, or raise the turn limit"};
  }
  return {};
}

Result<void> check_points(const lang::Program& program, const std::vector<lang::Cell>& parameters, int turn_limit,
                          const Abilities& host) {
  for (const lang::Handler& handler : program.handlers) {
    if (auto fits = check_point(program, handler, parameters, turn_limit, host); !fits) return fits;
  }
  return {};
}

}  // namespace allot::engine
