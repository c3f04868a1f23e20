#include "runtime/engine/audit.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/journal.h"

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

Json values_json(const std::vector<Cell>& cells, const lang::Type& type) {
  Json values = Json::array();
  for (const Cell& cell : cells) values.push_back(value_json(cell, type));
  return values;
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

// States that the handler looks at: the others are no part of its frame.
std::vector<std::int32_t> states_read(const lang::Handler& handler) {
  std::set<std::int32_t> states;
  for (const lang::Node& node : handler.nodes) {
    if (node.op == lang::Op::State) states.insert(node.index);
  }
  return {states.begin(), states.end()};
}

Json handler_json(const lang::Program& program, const lang::Handler& handler) {
  Json states = Json::array();
  for (const std::int32_t state : states_read(handler)) {
    states.push_back(program.states[static_cast<std::size_t>(state)].name);
  }
  Json rules = Json::array();
  for (const lang::Rule& rule : handler.rules) {
    rules.push_back({{"line", rule.line},
                     {"verdict", words(rule.verdict, handler.point)},
                     {"because", parts_json(rule.because)}});
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

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
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
  std::filesystem::path snapshot;
  std::vector<std::vector<std::int32_t>> states;  // by handler: the ones it reads
  // Answers that change nothing, in columns by handler and rule until the barrier.
  std::map<std::pair<int, int>, Json> packed;
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
  record["schema"] = "journal/1";
  record["settings"] = settings_json(settings);
  record["policy"] = policy != nullptr ? policy_json(*policy) : Json(nullptr);
  audit.impl_->journal.append(record);
  if (policy != nullptr) {
    for (const lang::Handler& handler : policy->program().handlers) audit.impl_->states.push_back(states_read(handler));
  }
  return audit;
}

void Audit::resumed(int iteration) {
  if (on()) impl_->journal.append({{"k", "resume"}, {"it", iteration}});
}

void Audit::begin(int iteration, std::size_t prompts) {
  if (on()) impl_->journal.append({{"k", "begin"}, {"it", iteration}, {"prompts", prompts}});
}

void Audit::opened(const LiveGroup& group) {
  if (!on()) return;
  const GroupLog& log = group.log;
  impl_->journal.append({{"k", "open"},
                         {"it", log.iteration},
                         {"g", log.group},
                         {"slot", log.slot},
                         {"round", log.round},
                         {"prompt", log.prompt},
                         {"planned", log.planned}});
}

void Audit::started(int group, int first, int count) {
  if (on()) impl_->journal.append({{"k", "start"}, {"g", group}, {"first", first}, {"count", count}});
}

namespace {

bool changes_nothing(const Verdict& verdict) {
  const bool goes_on = verdict.rollouts == lang::RolloutsField::Continue ||
                       (verdict.rollouts == lang::RolloutsField::Default && verdict.amounts.empty());
  return goes_on && verdict.group == lang::GroupField::Default && verdict.slot == lang::SlotField::Default;
}

Json reads_json(const lang::Handler& handler, const Question& question) {
  Json reads = Json::array();
  for (std::size_t i = 0; i < handler.reads.size(); ++i) {
    reads.push_back(value_json(question.reads()[i], handler.reads[i].type));
  }
  return reads;
}

Json columns_json(const lang::Handler& handler, const Question& question) {
  Json columns = Json::array();
  for (std::size_t i = 0; i < handler.columns.size(); ++i) {
    columns.push_back(values_json(question.columns()[i], handler.columns[i].type));
  }
  return columns;
}

Json states_json(const lang::Program& program, const std::vector<std::int32_t>& read, const Question& question) {
  Json states = Json::array();
  for (const std::int32_t state : read) {
    const auto index = static_cast<std::size_t>(state);
    states.push_back(values_json(question.states_before()[index], program.states[index].type));
  }
  return states;
}

// Values of the rule's holes, in its own order; a prompt by its text.
Json holes_json(const lang::Handler& handler, const lang::Rule& rule, const std::vector<Cell>& holes) {
  Json values = Json::array();
  std::size_t hole = 0;
  for (const lang::MessagePart& part : rule.because) {
    if (part.hole < 0) continue;
    values.push_back(value_json(holes[hole++], handler.nodes[static_cast<std::size_t>(part.hole)].type));
  }
  return values;
}

}  // namespace

void Audit::decided(const Judge& judge, const Decision& decision, int iteration, int group, int turn,
                    Carried carried) {
  if (!on()) return;
  const lang::Program& program = judge.policy().program();
  const auto index = static_cast<std::size_t>(decision.handler);
  const lang::Handler& handler = program.handlers[index];
  const Verdict& verdict = decision.verdict;
  const bool barrier = handler.point == lang::Point::Update;
  Json reads = reads_json(handler, judge.question());
  Json columns = columns_json(handler, judge.question());
  Json states = barrier ? Json::array() : states_json(program, impl_->states[index], judge.question());
  if (!decision.fault && changes_nothing(verdict) && !barrier && group >= 0) {
    Json& rows = impl_->packed[{decision.handler, verdict.rule}];
    if (rows.is_null()) {
      rows = {{"k", "same"}, {"it", iteration}, {"h", decision.handler}, {"r", verdict.rule}};
      for (const char* column : {"g", "t", "c", "reads", "columns", "states"}) rows[column] = Json::array();
    }
    rows["g"].push_back(group);
    rows["t"].push_back(turn);
    rows["c"].push_back(name(carried));
    rows["reads"].push_back(std::move(reads));
    rows["columns"].push_back(std::move(columns));
    rows["states"].push_back(std::move(states));
    return;
  }
  Json record = {{"k", "ask"}, {"it", iteration}, {"g", group},   {"h", decision.handler},
                 {"t", turn},  {"r", verdict.rule}, {"c", name(carried)}};
  if (verdict.rule >= 0) {
    record["verdict"] = words(verdict);
    if (verdict.amounts.size() > 1) record["amounts"] = verdict.amounts;
    if (!verdict.up_tos.empty()) record["up_to"] = verdict.up_tos;
    if (!verdict.stopped.empty()) record["where"] = verdict.stopped;
    if (verdict.subset) record["subset"] = *verdict.subset;
    const lang::Rule& rule = handler.rules[static_cast<std::size_t>(verdict.rule)];
    record["holes"] = holes_json(handler, rule, judge.answer().holes());
  }
  record["reads"] = std::move(reads);
  record["columns"] = std::move(columns);
  record["states"] = std::move(states);
  if (decision.fault) record["fault"] = {{"kind", words(decision.fault->kind)}, {"where", decision.fault->where}};
  impl_->journal.append(record);
}

void Audit::closed(const LiveGroup& group, const GroupResult& result) {
  if (!on()) return;
  Json record = {{"k", "close"}, {"it", group.log.iteration}, {"g", result.group}, {"fate", name(result.fate)}};
  record["subset"] = result.subset;
  record["normalize"] = result.normalize == NormalizeOver::Group ? "group" : "subset";
  record["flat"] = result.flat;
  record["rule"] = result.rule;
  record["reason"] = group.where.empty() ? result.reason : "";  // with a rule it is rendered from the rule's values
  record["gate"] = {{"asked", result.gate.asked},
                    {"stop", result.gate.stop},
                    {"late", result.gate.late},
                    {"carried_out", result.gate.carried_out}};
  record["held_out"] = group.held_out;
  record["cut_by_budget"] = group.cut_by_budget;
  for (const char* column : {"status", "reward", "raw_reward", "hit", "turns", "tokens"}) {
    record[column] = Json::array();
  }
  for (const RolloutLog& rollout : group.log.rollouts) {
    record["status"].push_back(name(rollout.status));
    record["reward"].push_back(optional_json(rollout.reward));
    record["raw_reward"].push_back(optional_json(rollout.raw_reward));
    record["hit"].push_back(optional_json(rollout.hit));
    record["turns"].push_back(rollout.turns());
    record["tokens"].push_back(rollout.tokens);
    if (!rollout.cause.empty()) record["causes"].push_back(rollout.cause);
  }
  impl_->journal.append(record);
}

void Audit::note(int iteration, std::string_view text) {
  if (on()) impl_->journal.append({{"k", "note"}, {"it", iteration}, {"text", text}});
}

Result<void> Audit::barrier(const IterationReport& report, const std::string& state) {
  if (!on()) return {};
  for (const auto& [key, rows] : impl_->packed) impl_->journal.append(rows);
  impl_->packed.clear();
  Json record = {{"k", "end"},
                 {"it", report.iteration},
                 {"rounds", report.rounds},
                 {"trained", report.trained},
                 {"skip_update", report.skip_update},
                 {"aborted", report.aborted}};
  record["metrics"] = report.metrics;
  impl_->journal.append(record);
  auto written = impl_->journal.barrier();
  if (!written) return written;
  // One wait for the disk an iteration is the journal's; the state checks itself when it is read.
  return replace_file(impl_->snapshot, state, Durability::Atomic);
}

}  // namespace allot::engine
