#include "runtime/trial/record.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lang/diagnostics.h"
#include "runtime/engine/facts.h"

namespace allot::trial {

using lang::Base;
using lang::Cell;
using lang::Fact;
using lang::tree::Expr;
using lang::tree::ExprKind;
using lang::tree::File;

namespace {

using engine::GroupLog;
using engine::LiveGroup;
using engine::RolloutLog;

constexpr std::size_t most_rollouts = 4096;

Error wrong(std::string_view name, std::string_view what, std::string_view example) {
  return {fmt::format("`{}` is {}.", name, what), fmt::format("for example `{}: {}`", name, example)};
}

// A list with an entry a rollout.
Result<void> of_rollouts(std::string_view name, const Value& value, std::string_view what, std::string_view example) {
  if (value.kind != Value::Kind::List) return wrong(name, what, example);
  if (value.items.size() > most_rollouts) {
    return Error{fmt::format("`{}` is of {} rollouts.", name, value.items.size()),
                 fmt::format("a group of a test has at most {}", most_rollouts)};
  }
  return {};
}

// A single fact: counts are not negative, probabilities lie in 0..1.
Result<void> fits(std::string_view name, const Value& value, const lang::Type& type) {
  constexpr std::int64_t most_count = 1'000'000'000;
  if (value.kind == Value::Kind::Undefined && type.optional) return {};
  switch (type.base) {
    case Base::Bool:
      if (value.kind != Value::Kind::Bool) return wrong(name, "true or false", "true");
      return {};
    case Base::Int:
      if (value.kind != Value::Kind::Int || value.integer < 0 || value.integer > most_count) {
        return wrong(name, fmt::format("a whole number in 0..{}", most_count), "4");
      }
      return {};
    case Base::Real:
      if (!value.is_number()) return wrong(name, "a number", "0.5");
      if (type.prob && (value.number() < 0 || value.number() > 1)) return wrong(name, "a number in 0..1", "0.5");
      return {};
    case Base::Prompt:
      if (value.kind != Value::Kind::String) return wrong(name, "a text", "\"a task\"");
      return {};
    default: return {};
  }
}

RolloutLog& rollout_at(GroupLog& log, std::size_t sample) {
  while (log.rollouts.size() <= sample) log.rollouts.emplace_back();
  return log.rollouts[sample];
}

constexpr std::string_view actions_form = "a list with one list of texts a rollout";
constexpr std::string_view actions_example = "[[\"look\", \"go\"], [\"look\"]]";

Result<void> read_actions(GroupLog& log, const Value& lists) {
  if (auto list = of_rollouts("actions", lists, actions_form, actions_example); !list) return list.error();
  for (std::size_t sample = 0; sample < lists.items.size(); ++sample) {
    rollout_at(log, sample);
    if (lists.items[sample].kind != Value::Kind::List) return wrong("actions", actions_form, actions_example);
    for (const Value& action : lists.items[sample].items) {
      if (action.kind != Value::Kind::String) return wrong("actions", actions_form, actions_example);
      engine::Turn turn;
      turn.action = action.text;
      turn.valid = action.text != "invalid";
      log.append(static_cast<int>(sample), turn, true);
    }
  }
  return {};
}

// A scored rollout has ended; an unscored one may still run.
Result<void> read_rewards(GroupLog& log, const Value& rewards, bool raw) {
  constexpr std::string_view form = "a list with one number a rollout, or `undefined`";
  const std::string_view name = raw ? "raw_rewards" : "rewards";
  if (auto list = of_rollouts(name, rewards, form, "[1, 0, undefined]"); !list) return list.error();
  for (std::size_t sample = 0; sample < rewards.items.size(); ++sample) {
    const Value& reward = rewards.items[sample];
    RolloutLog& rollout = rollout_at(log, sample);
    if (reward.kind == Value::Kind::Undefined) continue;
    if (!reward.is_number()) return wrong(name, form, "[1, 0, undefined]");
    (raw ? rollout.raw_reward : rollout.reward) = reward.number();
    if (!raw) rollout.status = engine::Status::Completed;
  }
  return {};
}

Result<void> read_tokens(GroupLog& log, const Value& tokens) {
  constexpr std::string_view form = "a count, or a list with one count a rollout";
  if (auto list = of_rollouts("tokens", tokens, form, "[120, 80]"); !list) return list.error();
  for (std::size_t sample = 0; sample < tokens.items.size(); ++sample) {
    const Value& count = tokens.items[sample];
    if (!fits("tokens", count, lang::row(Fact::RolloutTokens).type)) return wrong("tokens", form, "[120, 80]");
    rollout_at(log, sample).tokens = count.integer;
  }
  return {};
}

std::vector<std::string> group_fields() {
  std::vector<std::string> names = {"actions"};
  for (const lang::FactRow& row : lang::fact_rows()) {
    if (row.subject == lang::Subject::Group && !row.name.empty()) names.emplace_back(row.name);
  }
  return names;
}

// Facts of a rollout that have a list with an entry a rollout, and no place in the log: what they are is taken as given.
bool list_of_rollouts(const std::string& name) {
  return name == "advantages" || name == "classes";
}

Result<void> read_embeddings(GroupLog& log, const Value& rows) {
  constexpr std::string_view form = "a list with one list of numbers a rollout, all of a length";
  if (auto list = of_rollouts("embeddings", rows, form, "[[1, 0], [0, 1]]"); !list) return list.error();
  const std::size_t width = rows.items.empty() ? 0 : rows.items.front().items.size();
  const auto fits_in = [width](const Value& row) {
    return width > 0 && row.items.size() == width &&
           std::all_of(row.items.begin(), row.items.end(), [](const Value& each) { return each.is_number(); });
  };
  if (!std::all_of(rows.items.begin(), rows.items.end(), fits_in)) return wrong("embeddings", form, "[[1, 0], [0, 1]]");
  if (!rows.items.empty()) rollout_at(log, rows.items.size() - 1);
  return {};
}

// `turn_samples`, `turn_rewards` and `turn_states` have an entry a turn of the group.
Result<void> read_turns(const Record& record, const std::string& name, const Value& list) {
  constexpr std::string_view form = "a list with an entry for each turn of the group, as long as the others";
  if (lang::find_fact(lang::Subject::Group, name) == nullptr || list.kind != Value::Kind::List || list.items.empty()) {
    return wrong(name, form, "turn_samples: [0, 0, 1]");
  }
  for (const auto& [other, value] : record.fields) {
    if (other.starts_with("turn_") && value.items.size() != list.items.size()) return wrong(name, form, "[0, 0, 1]");
  }
  for (const Value& entry : list.items) {
    const bool left_out = entry.kind == Value::Kind::Undefined && name != "turn_samples";
    const bool number = name == "turn_rewards" ? entry.is_number() : entry.kind == Value::Kind::Int && entry.integer >= 0;
    if (!left_out && !number) return wrong(name, form, "[0, 0, 1]");
  }
  return {};
}

// What follows from given counts, where it was not given itself.
void complete_counts(Record& record) {
  std::map<Fact, Value>& facts = record.facts;
  const engine::GroupCounts logged = record.group->log.counts();
  const auto given = [&](Fact fact) { return facts.contains(fact); };
  const auto number = [&](Fact fact, std::int64_t otherwise) { return given(fact) ? facts.at(fact).integer : otherwise; };
  const auto set = [&](Fact fact, std::int64_t value) { facts.try_emplace(fact, Value::of(Value::Kind::Int, value)); };
  if (given(Fact::Hits) || given(Fact::Misses)) {
    const bool known = given(Fact::Scored) || record.fields.contains("rewards");
    const std::int64_t all = number(Fact::Scored, logged.scored);
    const auto rest = [&](Fact other) { return known ? std::max<std::int64_t>(0, all - number(other, 0)) : 0; };
    set(Fact::Hits, rest(Fact::Misses));
    set(Fact::Misses, rest(Fact::Hits));
    const std::int64_t hits = number(Fact::Hits, 0), scored = known ? all : hits + number(Fact::Misses, 0);
    set(Fact::Scored, scored);
    if (scored > 0) {
      facts.try_emplace(Fact::HitRate,
                        Value::of(Value::Kind::Real, 0, static_cast<double>(hits) / static_cast<double>(scored)));
    }
  }
  const std::int64_t least = std::max({number(Fact::Scored, 0), number(Fact::Alive, 0) + number(Fact::Ended, 0), number(Fact::Errors, 0)});
  if (least > logged.started) set(Fact::Started, least);
}

Result<void> read_field(Record& record, const std::string& name, Value value) {
  GroupLog& log = record.group->log;
  if (name == "actions") return read_actions(log, value);
  if (name == "rewards" || name == "raw_rewards") return read_rewards(log, value, name == "raw_rewards");
  if (name == "tokens" && value.kind == Value::Kind::List) return read_tokens(log, value);
  if (name == "prompt") {
    if (auto text = fits(name, value, lang::row(Fact::PromptKey).type); !text) return text.error();
    log.prompt = value.text;
    return {};
  }
  if (list_of_rollouts(name)) {
    if (auto list = of_rollouts(name, value, "a list with one number a rollout, or `undefined`", "[0.5, undefined]"); !list)
      return list.error();
    if (!value.items.empty()) rollout_at(log, value.items.size() - 1);
    return {};
  }
  if (name == "embeddings") return read_embeddings(log, value);
  if (name.starts_with("turn_")) return read_turns(record, name, value);
  const lang::FactRow* row = lang::find_fact(lang::Subject::Group, name);
  if (row == nullptr) {
    const std::string near = lang::near_match(name, group_fields());
    return Error{fmt::format("A group has no fact {}.", name),
                 near.empty() ? "" : fmt::format("did you mean {}?", near)};
  }
  if (auto value_fits = fits(name, value, row->type); !value_fits) return value_fits.error();
  if (row->fact == Fact::Started && value.integer > static_cast<std::int64_t>(most_rollouts)) {
    return Error{fmt::format("A group of a test has at most {} rollouts.", most_rollouts), ""};
  }
  if (row->fact == Fact::Wave) log.wave = static_cast<int>(value.integer);
  if (row->fact == Fact::Round) log.round = static_cast<int>(value.integer);
  if (row->fact == Fact::Slot) log.slot = static_cast<int>(value.integer);
  if (row->fact == Fact::Planned) log.planned = static_cast<int>(value.integer);
  if (row->fact == Fact::Started && value.integer > 0) {
    rollout_at(log, static_cast<std::size_t>(value.integer - 1));
  }
  record.facts.insert_or_assign(row->fact, std::move(value));
  return {};
}

// Lists of one group are of the same rollouts.
struct Lengths {
  std::string first;
  std::size_t length = 0;

  Result<void> same(const std::string& name, const Value& value) {
    if (value.kind != Value::Kind::List) return {};
    if (first.empty()) {
      first = name;
      length = value.items.size();
    }
    if (value.items.size() == length) return {};
    return Error{fmt::format("`{}` is of {} rollouts, `{}` of {}.", first, length, name, value.items.size()),
                 "write one entry a rollout in each: [] where it did nothing, undefined where it has no reward"};
  }
};

Result<Record> read_group(const lang::Program& program, const std::vector<Cell>& parameters, const Expr& expr,
                          Allowance& allowance) {
  Record record;
  record.kind = expr.text;
  record.group = std::make_unique<LiveGroup>();
  LiveGroup& group = *record.group;
  group.log.prompt = std::string(1, 'p');  // gcc 12 sees an overlap in assigning the literal
  group.log.group = 0;
  for (const lang::State& state : program.states) group.state.push_back(state.initial);
  Lengths lengths;
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    auto value = literal(*program.tree, expr.args[i], allowance);
    if (!value) return value.error();
    const bool of_turns = expr.labels.at(i).starts_with("turn_");
    if (auto same = of_turns ? Result<void>{} : lengths.same(expr.labels.at(i), *value); !same) return same.error();
    record.fields.insert_or_assign(expr.labels.at(i), *value);
    auto read = read_field(record, expr.labels.at(i), *std::move(value));
    if (!read) return read.error();
  }
  complete_counts(record);
  const auto started = record.facts.find(Fact::Started);
  if (group.log.planned == 0) {
    group.log.planned = started != record.facts.end() ? static_cast<int>(started->second.integer)
                                                      : static_cast<int>(group.log.rollouts.size());
  }
  const auto turn = record.facts.find(Fact::Turn);
  record.turn = turn == record.facts.end() ? engine::current_turn(group.log) : static_cast<int>(turn->second.integer);
  // A rollout that has fewer turns than the group has ended: `turn` is what every live one has executed.
  for (RolloutLog& rollout : group.log.rollouts) {
    const bool behind = rollout.turns() > 0 && rollout.turns() < record.turn;
    if (behind && rollout.live()) rollout.status = engine::Status::Completed;
  }
  group.kept = engine::KeptStatistics::rebuild(engine::StatisticsPlan::of(program, parameters), group.log);
  return record;
}

// A list of prompts by name, or how many different ones there are.
Result<void> check_prompts(const Value& value) {
  constexpr std::string_view form = "a list of texts, or how many prompts there are";
  constexpr std::int64_t most_prompts = 65'536;
  if (value.kind == Value::Kind::Int && value.integer >= 1 && value.integer <= most_prompts) return {};
  if (value.kind != Value::Kind::List || value.items.empty()) return wrong("prompts", form, "4");
  for (const Value& prompt : value.items) {
    if (prompt.kind != Value::Kind::String) return wrong("prompts", form, "[\"a\", \"b\"]");
  }
  return {};
}

// Any other subject: its facts by name. Lists have an entry for each of what it holds.
Result<Record> read_other(const lang::Program& program, const Expr& expr, Allowance& allowance) {
  Record record;
  record.kind = expr.text;
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    auto value = literal(*program.tree, expr.args[i], allowance);
    if (!value) return value.error();
    record.fields.insert_or_assign(expr.labels.at(i), *std::move(value));
  }
  return record;
}

Result<Record> read_batch(const lang::Program& program, const Expr& expr, Allowance& allowance) {
  Record record;
  record.kind = expr.text;
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    auto value = literal(*program.tree, expr.args[i], allowance);
    if (!value) return value.error();
    const std::string& name = expr.labels.at(i);
    record.fields.insert_or_assign(name, *value);
    if (name == "prompts") {
      if (auto prompts = check_prompts(*value); !prompts) return prompts.error();
    } else if (const lang::FactRow* row = lang::find_fact(lang::Subject::Batch, name)) {
      if (auto value_fits = fits(name, *value, row->type); !value_fits) return value_fits.error();
      record.facts.insert_or_assign(row->fact, *std::move(value));
    }  // else a list about its groups or anchors
  }
  return record;
}

}  // namespace

Result<Record> read_record(const lang::Program& program, const std::vector<Cell>& parameters,
                           const lang::tree::Given& given, Allowance& allowance) {
  const Expr& expr = (*program.tree)[given.value];
  if (expr.kind == ExprKind::Record && expr.text == "group") return read_group(program, parameters, expr, allowance);
  if (expr.kind == ExprKind::Record && expr.text == "batch") return read_batch(program, expr, allowance);
  if (expr.kind == ExprKind::Record) return read_other(program, expr, allowance);
  return Error{fmt::format("`given {}` is no record.", given.name.text), "write group { … }, batch { … } or pool { … }"};
}

}  // namespace allot::trial
