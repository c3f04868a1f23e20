#include "runtime/cli/explanation.h"

#include <fmt/core.h>

#include <set>
#include <string_view>

#include "lang/cost.h"
#include "runtime/cli/cell_json.h"
#include "runtime/cli/policy_file.h"
#include "runtime/engine/verdict.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;
using lang::one_line;

std::string argument(const lang::Program& program, const lang::ReadArgument& argument) {
  switch (argument.kind) {
    case lang::ReadArgument::Kind::Word: return argument.word;
    case lang::ReadArgument::Kind::Integer: return std::to_string(argument.integer);
    case lang::ReadArgument::Kind::Parameter: return program.parameters[static_cast<std::size_t>(argument.integer)].name;
    case lang::ReadArgument::Kind::CurrentTurn: return "the turn that is asked";
  }
  return "";
}

// "at = 10", or the number itself.
std::string argument_value(const lang::Program& program, const std::vector<lang::Cell>& parameters,
                           const lang::ReadArgument& given) {
  const std::string name = argument(program, given);
  return given.kind == lang::ReadArgument::Kind::Parameter
             ? fmt::format("{} = {}", name, lang::value(given, parameters))
             : name;
}

std::string_view when_asked(const lang::Handler& handler) {
  switch (handler.point) {
    case lang::Point::Select: return "before an iteration";
    case lang::Point::Size: return "once an iteration, prompts chosen and nothing started";
    case lang::Point::Turn:
      if (handler.subject == lang::Subject::Rollout) return "after every turn of the rollout";
      return handler.every ? "after every turn of all live rollouts"
                           : "once, when every live rollout has executed that many turns";
    case lang::Point::Tokens: return "whenever the rollout has written that many tokens more";
    case lang::Point::Result: return "whenever a rollout was scored and others run or wait";
    case lang::Point::Wave:
      return handler.subject == lang::Subject::Batch ? "whenever the last outstanding rollout of the batch has ended"
                                                     : "whenever the last outstanding rollout has ended";
    case lang::Point::Finish: return "when all rollouts have ended and the group was not dropped";
    case lang::Point::Resume: return "when a deferred group's turn comes";
    case lang::Point::Expand: return "when rollouts have finished, in a world that can be restored";
    case lang::Point::Score: return "when a reward arrives";
    case lang::Point::Shape: return "before the loss";
    case lang::Point::Replay: return "when slots are empty and there is a buffer of groups";
    case lang::Point::Loss: return "in the loss";
    case lang::Point::Update: return "at the barrier after the iteration's last optimiser step";
    case lang::Point::Epoch: return "at the barrier after the pool has been passed once";
    case lang::Point::Eval: break;
  }
  return "at its point";
}

// What becomes of the fields that a verdict leaves out.
std::string_view defaults_of(lang::Point point) {
  switch (point) {
    case lang::Point::Select: return "take as many prompts as there are slots, in the pool's order";
    case lang::Point::Size: return "start the run's group size for each prompt";
    case lang::Point::Turn:
    case lang::Point::Result: return "continue, train at the end, leave the slot, keep the prompt";
    case lang::Point::Tokens: return "continue";
    case lang::Point::Wave:
      return "complete to what `start` planned (nothing more after a stop, drop or defer), train at the end, leave the "
             "slot, keep the prompt";
    case lang::Point::Finish: return "train on what is scored, leave the slot, keep the prompt";
    case lang::Point::Resume: return "complete to what `start` planned, train at the end, leave the slot, keep the prompt";
    case lang::Point::Expand: return "branch nowhere";
    case lang::Point::Score: return "keep the reward";
    case lang::Point::Shape: return "keep advantages, weights and baseline";
    case lang::Point::Replay: return "leave the slots empty";
    case lang::Point::Loss: return "the trainer's own loss";
    case lang::Point::Update: return "decides nothing";
    case lang::Point::Epoch: return "evict nobody, readmit those whose epoch has come";
    case lang::Point::Eval: break;
  }
  return "nothing";
}

// Points that no handler of this policy answers, with what then holds.
Json describe_defaults(const lang::Program& program) {
  using lang::Point;
  Json list = Json::array();
  for (const Point point : {Point::Select, Point::Size, Point::Turn, Point::Result, Point::Wave, Point::Finish,
                            Point::Resume, Point::Expand, Point::Score, Point::Shape, Point::Replay, Point::Epoch}) {
    const bool answered = std::any_of(program.handlers.begin(), program.handlers.end(),
                                      [&](const lang::Handler& handler) { return handler.point == point; });
    if (!answered) list.push_back({{"point", lang::name(point)}, {"holds", defaults_of(point)}});
  }
  return list;
}

std::string_view kept_for(const lang::ReadKey& read) {
  switch (read.fact) {
    case lang::Fact::PairwiseMean:
    case lang::Fact::PairwiseMin:
    case lang::Fact::PairwiseMax: return "kept: one row of edit distances a pair of rollouts, brought forward with every action";
    case lang::Fact::UniquePrefixRatio:
    case lang::Fact::UniqueActionRatio:
    case lang::Fact::Agreement:
    case lang::Fact::ActionEntropy: return "kept: counts of actions";
    case lang::Fact::Repetition:
    case lang::Fact::Loop: return "kept: the last actions of each rollout";
    default: return "";
  }
}

Json describe_reads(const lang::Handler& handler) {
  Json reads = Json::array();
  for (const auto* list : {&handler.reads, &handler.columns}) {
    for (const lang::ReadKey& read : *list) {
      const lang::FactRow& row = lang::row(read.fact);
      Json entry = {{"text", one_line(read.text)}, {"type", lang::to_text(read.type)}};
      if (row.measured) entry["measured"] = true;
      if (const std::string_view kept = kept_for(read); !kept.empty()) entry["statistic"] = kept;
      reads.push_back(entry);
    }
  }
  return reads;
}

// Where members of a composition answer together, a handler stands in each of their files.
std::string places_of(const lang::Source& source, const lang::Handler& handler) {
  std::string text = where(source, handler.span.begin);
  std::set<std::uint32_t> told{handler.span.begin};
  for (const lang::Rule& rule : handler.rules) {
    for (const lang::MemberRule& member : rule.members) {
      if (told.insert(member.handler.begin).second) text += ", " + where(source, member.handler.begin);
    }
  }
  return text;
}

Json describe_effects(const lang::Program& program, const std::vector<lang::Effect>& effects) {
  Json list = Json::array();
  for (const lang::Effect& effect : effects) {
    list.push_back({{"line", program.source->place(effect.span.begin).line},
                    {"where", where(*program.source, effect.span.begin)},
                    {"text", one_line(program.source->text(effect.span))}});
  }
  return list;
}

Json describe(const lang::Program& program, const std::vector<lang::Cell>& parameters, const lang::Handler& handler) {
  Json rules = Json::array();
  for (const lang::Rule& rule : handler.rules) {
    Json json = {{"line", rule.line}, {"text", one_line(program.source->text(rule.span))}};
    // In a composition a rule may stand for one of each member.
    if (program.source->file_count() > 1) json["where"] = engine::place_of(program, rule);
    for (std::size_t i = 1; i < rule.origins.size(); ++i) {
      json["text"] = json["text"].get<std::string>() + " + " + one_line(program.source->text(rule.origins[i]));
    }
    rules.push_back(std::move(json));
  }
  Json object = {{"point", lang::name(handler.point)},
                 {"text", handler.text},
                 {"line", program.source->place(handler.span.begin).line},
                 {"where", places_of(*program.source, handler)},
                 {"asked", when_asked(handler)}};
  if (handler.number) object["number"] = argument_value(program, parameters, *handler.number);
  object["reads"] = describe_reads(handler);
  object["rules"] = rules;
  object["effects"] = describe_effects(program, handler.effects);
  for (const lang::Allotment& allotment : handler.allotments) {
    object["allots"].push_back({{"line", program.source->place(allotment.place.begin).line},
                                {"where", where(*program.source, allotment.place.begin)},
                                {"text", one_line(program.source->text(allotment.place))},
                                {"solved_by", allotment.why}});
  }
  object["left_out"] = defaults_of(handler.point);
  object["worst_cost"] = lang::worst_cost(handler).text();
  return object;
}

Json describe(const lang::Parameter& parameter, const lang::Cell& value) {
  Json object = {{"name", parameter.name},
                 {"type", lang::to_text(parameter.type)},
                 {"value", cell_json(value, parameter.type)},
                 {"default", cell_json(parameter.value, parameter.type)}};
  if (!parameter.type.unit.plain()) object["unit"] = lang::to_text(parameter.type.unit);
  object["low"] = parameter.low ? Json(*parameter.low) : Json();
  object["high"] = parameter.high ? Json(*parameter.high) : Json();
  if (!parameter.doc.empty()) object["doc"] = parameter.doc;
  return object;
}

Json describe(const lang::State& state, std::size_t offset) {
  constexpr std::string_view scopes[] = {"group", "prompt", "category", "run"};
  Json object = {{"name", state.name},
                 {"type", lang::to_text(state.type)},
                 {"per", scopes[static_cast<std::size_t>(state.scope)]},
                 {"initial", lang::show(state.initial, state.type)},
                 {"written", state.scope == lang::StateScope::Group ? "by its group's handlers" : state.input ? "by the host" : "at barriers"},
                 {"offset_bytes", offset},
                 {"bytes", sizeof(lang::Cell) * static_cast<std::size_t>(state.type.cells())}};
  if (state.decay) object["decay"] = *state.decay;
  return object;
}

// States of one scope lie one after the other in the order of their declaration.
Json describe_states(const lang::Program& program) {
  Json list = Json::array();
  std::size_t next[4] = {};
  for (const lang::State& state : program.states) {
    std::size_t& offset = next[static_cast<std::size_t>(state.scope)];
    list.push_back(describe(state, offset));
    offset += sizeof(lang::Cell) * static_cast<std::size_t>(state.type.cells());
  }
  return list;
}

Json describe_budgets(const lang::Program& program, const std::vector<lang::Cell>& parameters) {
  Json list = Json::array();
  for (const lang::Budget& budget : program.budgets) {
    list.push_back({{"amount", lang::value(budget.amount, parameters)},
                    {"unit", lang::name(budget.unit)},
                    {"per", budget.per_run ? "run" : "iteration"},
                    {"carry_over", budget.carry_over}});
  }
  return list;
}

Json describe_refill(const lang::Program& program, const std::vector<lang::Cell>& parameters) {
  if (!program.refill) return {};
  constexpr std::string_view fallbacks[] = {"train_partial", "skip_update", "abort"};
  return {{"rounds", lang::value(program.refill->rounds, parameters)},
          {"then", fallbacks[static_cast<std::size_t>(program.refill->then)]}};
}

// Facts that depend on when they are asked: their recorded values can be audited, the run cannot be repeated from them.
std::vector<std::string> measured_reads(const lang::Program& program) {
  std::set<std::string> texts;
  for (const lang::Handler& handler : program.handlers) {
    for (const auto* list : {&handler.reads, &handler.columns}) {
      for (const lang::ReadKey& read : *list) {
        if (!lang::row(read.fact).measured) continue;
        texts.insert(fmt::format("{} ({})", one_line(read.text), where(*program.source, read.span.begin)));
      }
    }
  }
  return {texts.begin(), texts.end()};
}

}  // namespace

Json explanation(const lang::Program& program, const std::vector<lang::Cell>& parameters) {
  Json document = {{"policy", program.name}, {"file", program.source->name()}, {"sha256", program.hash},
                   {"doc", program.doc},     {"parameters", Json::array()},    {"handlers", Json::array()}};
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    document["parameters"].push_back(describe(program.parameters[i], parameters[i]));
  }
  for (const lang::Handler& handler : program.handlers) {
    document["handlers"].push_back(describe(program, parameters, handler));
  }
  document["defaults"] = describe_defaults(program);
  if (program.hit) document["hit"] = one_line(program.source->text(program.hit->span));
  document["flat_within"] = program.flat_within;
  document["state"] = describe_states(program);
  document["budgets"] = describe_budgets(program, parameters);
  document["refill"] = describe_refill(program, parameters);
  document["reports"] = program.reports;
  document["audit_only_because"] = measured_reads(program);
  return document;
}

}  // namespace allot::cli
