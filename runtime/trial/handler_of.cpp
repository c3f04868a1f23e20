#include "runtime/trial/handler_of.h"

#include <cstdint>

#include "runtime/engine/points.h"

namespace allot::trial {

using lang::Point;

namespace {

// `wave: N` of a batch's record, 1 where it is left out.
std::int64_t wave_given(const Record& record) {
  const auto wave = record.fields.find("wave");
  if (wave == record.fields.end()) return 1;
  const Value& value = wave->second;
  return value.kind == Value::Kind::List && !value.items.empty() ? value.items.front().integer : value.integer;
}

}  // namespace

std::optional<Point> point_named(const std::string& name) {
  for (int i = 0; i < static_cast<int>(Point::Eval); ++i) {
    if (lang::name(static_cast<Point>(i)) == name) return static_cast<Point>(i);
  }
  return std::nullopt;
}

bool about(const lang::Handler& handler, const std::string& kind) {
  using lang::Subject;
  switch (handler.subject) {
    case Subject::Group: return kind == "group";
    case Subject::Batch: return kind == "batch";
    case Subject::Pool: return kind == "pool";
    case Subject::Rollout: return kind == "rollout";
    case Subject::MicroBatch: return kind == "micro_batch";
    case Subject::Token: return kind == "token";
    default: return false;
  }
}

int wave_of(const Record& record) { return record.is_group() ? record.group->log.wave : 0; }

int handler_of(const lang::Program& program, const std::vector<lang::Cell>& parameters, Point point,
               const Record& record, int number) {
  if (record.is_group()) {
    const int found = engine::Points(program, parameters).find(point, number);
    const bool fits = found != engine::no_handler && about(program.handlers[static_cast<std::size_t>(found)], "group");
    if (fits) return found;
  }
  int general = engine::no_handler;
  for (std::size_t i = 0; i < program.handlers.size(); ++i) {
    const lang::Handler& handler = program.handlers[i];
    if (handler.point != point || !about(handler, record.kind)) continue;
    const bool numbered = handler.number && !handler.every;
    if (numbered && lang::value(*handler.number, parameters) == wave_given(record)) return static_cast<int>(i);
    if (!numbered) general = static_cast<int>(i);
  }
  return general;
}

}  // namespace allot::trial
