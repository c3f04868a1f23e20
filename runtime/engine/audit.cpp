#include "runtime/engine/audit.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/json_text.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;
using lang::Cell;

Json value_json(const Cell& cell, const lang::Type& type) {
  if (!cell.defined) return nullptr;
  switch (type.base) {
    case lang::Base::Bool: return cell.truth();
    case lang::Base::Real: return cell.real();
    case lang::Base::Beta: return Json::array({cell.real(), cell.second});
    default: return cell.integer();
  }
}

Json parts_json(const std::vector<lang::MessagePart>& parts) {
  Json json = Json::array();
  int hole = 0;
  for (const lang::MessagePart& part : parts) part.hole < 0 ? json.push_back(part.text) : json.push_back(hole++);
  return json;
}

Json names_json(const std::vector<lang::ReadKey>& keys) {
  Json names = Json::array();
  for (const lang::ReadKey& key : keys) names.push_back(key.text);
  return names;
}

Json handler_json(const lang::Program& program, const lang::Handler& handler) {
  Json states = Json::array();
  for (const std::int32_t state : states_read(handler)) {
    states.push_back(program.states[static_cast<std::size_t>(state)].name);
  }
  Json rules = Json::array();
  for (const lang::Rule& rule : handler.rules) {
    Json json{{"line", rule.line},
              {"verdict", words(rule.verdict, handler.point)},
              {"because", parts_json(rule.because)}};
    if (program.source && program.source->file_count() > 1) {
      json["where"] = place_of(program, rule);
      json["text"] = std::string(program.source->line_at(rule.span.begin));
    }
    rules.push_back(std::move(json));
  }
  return {{"text", handler.text},
          {"reads", names_json(handler.reads)},
          {"columns", names_json(handler.columns)},
          {"states", std::move(states)},
          {"rules", std::move(rules)}};
}

Json policy_json(const Policy& policy) {
  const lang::Program& program = policy.program();
  Json parameters = Json::object();
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    parameters[program.parameters[i].name] = value_json(policy.parameters()[i], program.parameters[i].type);
  }
  Json handlers = Json::array();
  for (const lang::Handler& handler : program.handlers) handlers.push_back(handler_json(program, handler));
  Json json;
  json["name"] = program.name;
  json["hash"] = program.hash;
  json["file"] = program.source ? program.source->name() : "";
  json["source"] = program.source ? std::string(program.source->text()) : "";
  json["parameters"] = std::move(parameters);
  json["handlers"] = std::move(handlers);
  return json;
}

Json settings_json(const Settings& settings) {
  Json json;
  json["seed"] = settings.seed;
  json["slots"] = settings.slots;
  json["group_size"] = settings.group_size;
  json["turn_limit"] = settings.turn_limit;
  json["tokens_per_turn"] = settings.tokens_per_turn;
  json["shadow"] = settings.shadow;
  json["holdout"] = settings.holdout;
  json["pause_below"] = settings.pause_below ? Json(*settings.pause_below) : Json(nullptr);
  return json;
}

// State that was written at a barrier tells that there was a journal; a gap in its numbers, that a segment is lost.
Result<void> check_journal(const std::filesystem::path& run) {
  const std::filesystem::path folder = run / "journal";
  std::error_code ignored;
  const std::vector<std::filesystem::path> files = segments(folder);
  if (files.empty() && std::filesystem::exists(run / "state.json", ignored)) {
    return Error{fmt::format("The journal of this run is missing: {} holds no segments, but state.json tells of decisions.",
                             folder.string()),
                 "put the journal folder back, or start a new run in another folder"};
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string expected = fmt::format("{:06}.jsonl", i + 1);
    if (files[i].filename() == expected) continue;
    return Error{fmt::format("A segment of the journal is missing: there is {}, but no {}.", files[i].string(), expected),
                 "put the segment back, or start a new run in another folder"};
  }
  return {};
}

}  // namespace

std::string_view name(Carried carried) {
  switch (carried) {
    case Carried::Out: return "out";
    case Carried::Shadow: return "shadow";
    case Carried::HeldOut: return "held out";
    case Carried::Late: break;
  }
  return "late";
}

std::string_view name(Fate fate) {
  switch (fate) {
    case Fate::Trained: return "trained";
    case Fate::Dropped: return "dropped";
    case Fate::Surplus: return "surplus";
    case Fate::Cancelled: break;
  }
  return "cancelled";
}

struct Audit::Impl {
  JournalWriter journal;
  std::filesystem::path snapshot;  // replaced at every barrier
  // Answers that change nothing, in columns by version, handler and rule until the barrier.
  struct Rows {
    int iteration = 0;
    std::vector<int> groups, samples, turns;
    std::vector<std::string_view> carried;
    std::string reads, columns, states;  // JSON, with commas between
  };
  std::map<std::tuple<int, int, int>, Rows> packed;
  JsonText text;

  // A record begins; its kind and iteration come first.
  JsonText& record(std::string_view kind, int iteration) {
    text.clear();
    return text.begin_object().member("k", kind).member("it", iteration);
  }
  void write() { journal.append(text.end_object().take()); }
};

Audit::Audit() = default;
Audit::~Audit() = default;
Audit::Audit(Audit&&) noexcept = default;
Audit& Audit::operator=(Audit&&) noexcept = default;

Result<Audit> Audit::open(const Settings& settings, const Policy* policy) {
  if (auto kept = check_journal(settings.run_folder); !kept) return kept.error();
  auto journal = JournalWriter::open(settings.run_folder / "journal");
  if (!journal) return journal.error();
  Audit audit;
  audit.impl_ = std::make_unique<Impl>(Impl{*std::move(journal), settings.run_folder / "state.json", {}, {}});
  Json record;
  record["k"] = "run";
  record["schema"] = "journal/2";
  record["settings"] = settings_json(settings);
  record["policy"] = policy != nullptr ? policy_json(*policy) : Json(nullptr);
  audit.impl_->journal.append(dump(record));
  return audit;
}

void Audit::append(std::string record) {
  if (on()) impl_->journal.append(std::move(record));
}

void Audit::version(int iteration, int number, const Policy& policy) {
  if (!on()) return;
  impl_->record("version", iteration).member("v", number).key("policy").raw(dump(policy_json(policy)));
  impl_->write();
}

void Audit::resumed(int iteration) {
  if (!on()) return;
  impl_->record("resume", iteration);
  impl_->write();
}

void Audit::begin(int iteration, std::size_t prompts) {
  if (!on()) return;
  impl_->record("begin", iteration).member("prompts", prompts);
  impl_->write();
}

void Audit::opened(const LiveGroup& group) {
  if (!on()) return;
  const GroupLog& log = group.log;
  impl_->record("open", log.iteration)
      .member("g", log.group)
      .member("slot", log.slot)
      .member("round", log.round)
      .member("prompt", log.prompt)
      .member("planned", log.planned);
  impl_->write();
}

void Audit::started(int iteration, int group, int first, int count) {
  if (!on()) return;
  impl_->record("start", iteration).member("g", group).member("first", first).member("count", count);
  impl_->write();
}

namespace {

// A verdict of a group or rollout that leaves everything as it is.
bool changes_nothing(const Verdict& verdict) {
  const bool goes_on = verdict.rollouts == lang::RolloutsField::Continue ||
                       (verdict.rollouts == lang::RolloutsField::Default && verdict.amounts.empty());
  return goes_on && verdict.group == lang::GroupField::Default && verdict.slot == lang::SlotField::Default &&
         verdict.prompt == lang::PromptField::Default && !verdict.reward && !verdict.advantages && !verdict.weights &&
         !verdict.baselines && verdict.keys.empty();
}

void put_cell(JsonText& text, const Cell& cell, const lang::Type& type) {
  if (!cell.defined) {
    text.null();
    return;
  }
  switch (type.base) {
    case lang::Base::Bool: text.value(cell.truth()); break;
    case lang::Base::Real: text.value(cell.real()); break;
    case lang::Base::Beta: text.begin_array().value(cell.real()).value(cell.second).end_array(); break;
    default: text.value(cell.integer());
  }
}

void put_cells(JsonText& text, const std::vector<Cell>& cells, const lang::Type& type) {
  text.begin_array();
  for (const Cell& cell : cells) put_cell(text, cell, type);
  text.end_array();
}

void put_reads(JsonText& text, const lang::Handler& handler, const Question& question) {
  text.begin_array();
  for (std::size_t i = 0; i < handler.reads.size(); ++i) {
    put_cell(text, question.reads()[i], handler.reads[i].type);
  }
  text.end_array();
}

void put_columns(JsonText& text, const lang::Handler& handler, const Question& question) {
  text.begin_array();
  for (std::size_t i = 0; i < handler.columns.size(); ++i) {
    put_cells(text, question.columns()[i], handler.columns[i].type);
  }
  text.end_array();
}

void put_states(JsonText& text, const lang::Program& program, const std::vector<std::int32_t>& read,
                const Question& question) {
  text.begin_array();
  for (const std::int32_t state : read) {
    const auto index = static_cast<std::size_t>(state);
    put_cells(text, question.states_before()[index], program.states[index].type);
  }
  text.end_array();
}

// Values of the rule's holes, in its own order.
void put_holes(JsonText& text, const lang::Handler& handler, const lang::Rule& rule, const std::vector<Cell>& holes) {
  text.begin_array();
  std::size_t hole = 0;
  for (const lang::MessagePart& part : rule.because) {
    if (part.hole < 0) continue;
    put_cell(text, holes[hole++], handler.nodes[static_cast<std::size_t>(part.hole)].type);
  }
  text.end_array();
}

void put_verdict(JsonText& text, const Verdict& verdict) {
  text.member("verdict", words(verdict));
  if (verdict.amounts.size() > 1) text.member("amounts", verdict.amounts);
  if (!verdict.up_tos.empty()) text.member("up_to", verdict.up_tos);
  if (!verdict.stopped.empty()) text.member("where", verdict.stopped);
  if (verdict.subset) text.member("subset", *verdict.subset);
  if (verdict.age_limit) text.member("age_limit", *verdict.age_limit);
  if (!verdict.untils.empty()) text.member("until", verdict.untils);
  if (!verdict.evicted.empty()) text.member("evicted", verdict.evicted);
  if (!verdict.readmitted.empty()) text.member("readmitted", verdict.readmitted);
  if (!verdict.taken.empty()) text.member("taken", verdict.taken);
  if (!verdict.scores.empty()) text.member("scores", verdict.scores);
  if (verdict.reward) text.member("reward", *verdict.reward);
  if (verdict.advantages) text.member("advantages", *verdict.advantages);
  if (verdict.weights) text.member("weights", *verdict.weights);
  if (verdict.baselines) text.member("baselines", *verdict.baselines);
}

}  // namespace

// The frame as the handler found it and what it answered: enough to ask again.
void Audit::decided(const Judge& judge, const Decision& decision, int iteration, RolloutRef about, int turn,
                    Carried carried) {
  if (!on()) return;
  const lang::Program& program = judge.policy().program();
  const auto index = static_cast<std::size_t>(decision.handler);
  const lang::Handler& handler = program.handlers[index];
  const Verdict& verdict = decision.verdict;
  const Question& question = judge.question();
  if (!decision.fault && changes_nothing(verdict) && about.group >= 0) {
    Impl::Rows& rows = impl_->packed[{judge.version(), decision.handler, verdict.rule}];
    rows.iteration = iteration;
    rows.groups.push_back(about.group);
    rows.samples.push_back(about.sample);
    rows.turns.push_back(turn);
    rows.carried.push_back(name(carried));
    const auto add = [&](std::string& column, const auto& put) {
      impl_->text.clear();
      put(impl_->text);
      if (!column.empty()) column += ',';
      column += impl_->text.text();
    };
    add(rows.reads, [&](JsonText& text) { put_reads(text, handler, question); });
    add(rows.columns, [&](JsonText& text) { put_columns(text, handler, question); });
    add(rows.states, [&](JsonText& text) { put_states(text, program, judge.states_read(decision.handler), question); });
    return;
  }
  JsonText& text = impl_->record("ask", iteration);
  text.member("g", about.group).member("h", decision.handler).member("t", turn);
  text.member("r", verdict.rule).member("c", name(carried));
  if (about.sample >= 0) text.member("s", about.sample);
  if (judge.version() != 0) text.member("v", judge.version());
  if (verdict.rule >= 0) {
    put_verdict(text, verdict);
    text.key("holes");
    put_holes(text, handler, handler.rules[static_cast<std::size_t>(verdict.rule)], judge.answer().holes());
  }
  if (!verdict.keys.empty()) text.member("keys", verdict.keys);
  if (about.group < 0) text.member("sizes", question.sizes());
  text.key("reads");
  put_reads(text, handler, question);
  text.key("columns");
  put_columns(text, handler, question);
  text.key("states");
  put_states(text, program, judge.states_read(decision.handler), question);
  if (decision.fault) {
    text.key("fault").begin_object();
    text.member("kind", words(decision.fault->kind)).member("where", decision.fault->where).end_object();
  }
  impl_->write();
}

void Audit::deferred(const LiveGroup& group, int iteration) {
  if (!on()) return;
  impl_->record("defer", iteration).member("g", group.log.group).member("limit", *group.defer_limit);
  impl_->write();
}

void Audit::taken_up(const LiveGroup& group, int iteration) {
  if (!on()) return;
  impl_->record("take_up", iteration)
      .member("g", group.log.group)
      .member("age", iteration - group.log.iteration)
      .member("slot", group.log.slot)
      .member("round", group.log.round);
  impl_->write();
}

void Audit::replayed(int iteration, int group, int age) {
  if (!on()) return;
  impl_->record("replay", iteration).member("g", group).member("age", age);
  impl_->write();
}

void Audit::evicted(int iteration, std::string_view prompt, std::int64_t until) {
  if (!on()) return;
  JsonText& text = impl_->record("evict", iteration).member("prompt", prompt).key("until");
  if (until == PromptHistory::for_good) {
    text.value("for good");
  } else {
    text.value(until);
  }
  impl_->write();
}

void Audit::closed(const LiveGroup& group, const GroupResult& result, int iteration) {
  if (!on()) return;
  JsonText& text = impl_->record("close", iteration).member("g", result.group).member("fate", name(result.fate));
  text.member("subset", result.subset);
  text.member("normalize", result.normalize == NormalizeOver::Group ? "group" : "subset");
  text.member("flat", result.flat).member("rule", result.rule);
  text.member("reason", group.where.empty() ? result.reason : "");  // with a rule it is rendered from the rule's values
  text.key("gate").begin_object();
  text.member("asked", result.gate.asked).member("stop", result.gate.stop).member("late", result.gate.late);
  text.member("carried_out", result.gate.carried_out).end_object();
  text.member("held_out", group.held_out).member("cut_by_budget", group.cut_by_budget);
  const auto column = [&](std::string_view name, const auto& of) {
    text.key(name).begin_array();
    for (const RolloutLog& rollout : group.log.rollouts) text.value(of(rollout));
    text.end_array();
  };
  column("status", [](const RolloutLog& rollout) { return name(rollout.status); });
  column("iterations", [](const RolloutLog& rollout) { return rollout.iteration; });
  column("reward", [](const RolloutLog& rollout) { return rollout.reward; });
  column("raw_reward", [](const RolloutLog& rollout) { return rollout.raw_reward; });
  column("hit", [](const RolloutLog& rollout) { return rollout.hit; });
  column("turns", [](const RolloutLog& rollout) { return rollout.turns(); });
  column("tokens", [](const RolloutLog& rollout) { return rollout.tokens; });
  const auto has_cause = [](const RolloutLog& rollout) { return !rollout.cause.empty(); };
  if (std::any_of(group.log.rollouts.begin(), group.log.rollouts.end(), has_cause)) {
    text.key("causes").begin_array();
    for (const RolloutLog& rollout : group.log.rollouts) {
      if (has_cause(rollout)) text.value(rollout.cause);
    }
    text.end_array();
  }
  impl_->write();
}

void Audit::note(int iteration, std::string_view words) {
  if (!on()) return;
  impl_->record("note", iteration).member("text", words);
  impl_->write();
}

Result<void> Audit::barrier(const IterationReport& report, const std::string& state) {
  if (!on()) return {};
  for (const auto& [key, rows] : impl_->packed) {
    JsonText& text = impl_->record("same", rows.iteration).member("h", std::get<1>(key)).member("r", std::get<2>(key));
    if (std::get<0>(key) != 0) text.member("v", std::get<0>(key));
    text.member("g", rows.groups).member("s", rows.samples).member("t", rows.turns).member("c", rows.carried);
    const auto put = [&](std::string_view name, const std::string& column) {
      text.key(name).begin_array().raw(column).end_array();
    };
    put("reads", rows.reads);
    put("columns", rows.columns);
    put("states", rows.states);
    impl_->write();
  }
  impl_->packed.clear();
  JsonText& text = impl_->record("end", report.iteration);
  text.member("rounds", report.rounds).member("trained", report.trained).member("replayed", report.replayed);
  text.member("skip_update", report.skip_update).member("aborted", report.aborted).member("metrics", report.metrics);
  impl_->write();
  // One wait for the disk an iteration is the journal's; the state checks itself when it is read.
  return impl_->journal.barrier(Replacement{impl_->snapshot, state});
}

}  // namespace allot::engine
