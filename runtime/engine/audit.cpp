#include "runtime/engine/audit.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/answer_text.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/event_log.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/json_text.h"
#include "runtime/engine/policy_record.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

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
  json["stop_on_fault"] = settings.stop_on_fault;
  json["has_raw_reward"] = settings.has_raw_reward;
  const Abilities& host = settings.host;
  json["host"] = {host.defers, host.shapes, host.replays, host.branches, host.scores, host.losses};
  json["inputs"] = settings.inputs;
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
  std::optional<JournalWriter> journal;
  std::function<void(std::string)> use;  // where there is no journal
  EventLog events = {};
  // Answers that change nothing, in columns by version, handler and rule until the barrier.
  struct Rows {
    int iteration = 0;
    std::vector<int> groups, samples, turns;
    std::vector<std::string_view> carried;
    std::string sizes, reads, columns, states;  // JSON, with commas between
  };
  std::map<std::tuple<int, int, int>, Rows> packed = {};
  JsonText text = {};

  // A record begins; its kind and iteration come first.
  JsonText& record(std::string_view kind, int iteration) {
    text.clear();
    return text.begin_object().member("k", kind).member("it", iteration);
  }
  void write() { append(text.end_object().take()); }
  void append(std::string record) { journal ? journal->append(std::move(record)) : use(std::move(record)); }
  void begin_run(const Settings& settings, const Policy* policy);
  void write_packed();
};

// What is needed to read the rest by itself.
void Audit::Impl::begin_run(const Settings& settings, const Policy* policy) {
  Json record;
  record["k"] = "run";
  record["schema"] = "journal/3";
  record["settings"] = settings_json(settings);
  record["policy"] = policy != nullptr ? policy_record(*policy) : Json(nullptr);
  append(dump(record));
}

Audit::Audit() = default;
Audit::~Audit() = default;
Audit::Audit(Audit&&) noexcept = default;
Audit& Audit::operator=(Audit&&) noexcept = default;

Result<Audit> Audit::open(const Settings& settings, const Policy* policy) {
  if (auto kept = check_journal(settings.run_folder); !kept) return kept.error();
  auto journal = JournalWriter::open(settings.run_folder / "journal");
  if (!journal) return journal.error();
  Audit audit;
  audit.keeps_events_ = settings.keep_events;
  audit.impl_.reset(new Impl{*std::move(journal), {}});
  audit.impl_->begin_run(settings, policy);
  return audit;
}

Audit Audit::to(std::function<void(std::string)> use, const Settings& settings, const Policy* policy) {
  Audit audit;
  audit.keeps_events_ = settings.keep_events;
  audit.impl_.reset(new Impl{std::nullopt, std::move(use)});
  audit.impl_->begin_run(settings, policy);
  return audit;
}

void Audit::pool(int iteration, const std::vector<PoolPrompt>& prompts) {
  if (!keeps_events()) return;
  put_pool(impl_->record("pool", iteration), prompts);
  impl_->write();
}

void Audit::begun(const std::vector<std::string>& prompts, std::optional<double> now) {
  if (keeps_events()) impl_->events.begin(prompts, now);
}

void Audit::turn(RolloutRef rollout, const Turn& turn, bool with_observation, std::optional<double> now) {
  if (keeps_events()) impl_->events.turn(rollout, turn, with_observation, now);
}

void Audit::ended(RolloutRef rollout, const Ending& ending, std::optional<double> now) {
  if (keeps_events()) impl_->events.ended(rollout, ending, now);
}

void Audit::shape_group(const MicroBatch& group) {
  if (keeps_events()) impl_->events.shape_group(group);
}

void Audit::shape(const MicroBatch& batch) {
  if (keeps_events()) impl_->events.shape(batch);
}

void Audit::swapped() {
  if (keeps_events()) impl_->events.swapped();
}

void Audit::append(std::string record) {
  if (on()) impl_->append(std::move(record));
}

void Audit::version(int iteration, int number, std::string_view policy) {
  if (!on()) return;
  impl_->record("version", iteration).member("v", number).key("policy").raw(policy);
  impl_->write();
}

void Audit::resumed(int iteration, std::string_view state) {
  if (!on()) return;
  impl_->record("resume", iteration);
  if (!state.empty() && keeps_events()) impl_->text.member("state", state);
  impl_->events.clear();
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
    add(rows.sizes, [&](JsonText& text) { text.value(question.sizes()); });
    add(rows.reads, [&](JsonText& text) { put_reads(text, handler, question); });
    add(rows.columns, [&](JsonText& text) { put_columns(text, handler, question); });
    add(rows.states, [&](JsonText& text) { put_states(text, program, judge.states_read(decision.handler), question); });
    return;
  }
  JsonText& text = impl_->record("ask", iteration);
  text.member("g", about.group).member("h", decision.handler).member("t", turn);
  text.member("c", name(carried));
  if (about.sample >= 0) text.member("s", about.sample);
  if (judge.version() != 0) text.member("v", judge.version());
  std::optional<FaultPlace> fault;
  if (decision.fault) fault = FaultPlace{decision.fault->kind, decision.fault->where};
  put_answer(text, handler, verdict, judge.answer(), fault);
  text.member("sizes", question.sizes());
  text.key("reads");
  put_reads(text, handler, question);
  text.key("columns");
  put_columns(text, handler, question);
  text.key("states");
  put_states(text, program, judge.states_read(decision.handler), question);
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

void Audit::losses(int iteration, int version, const LossTally& tally) {
  if (!on()) return;
  JsonText& text = impl_->record("loss", iteration);
  if (version != 0) text.member("v", version);
  text.member("h", tally.handler).member("asked", tally.asked).member("rules", tally.rules);
  text.member("none", tally.none).member("faults", tally.faults).member("fault", tally.first_fault);
  impl_->write();
}

// Answers that changed nothing, of the whole iteration.
void Audit::Impl::write_packed() {
  for (const auto& [key, rows] : packed) {
    const auto& [version, handler, rule] = key;
    record("same", rows.iteration).member("h", handler).member("r", rule);
    if (version != 0) text.member("v", version);
    text.member("g", rows.groups).member("s", rows.samples).member("t", rows.turns).member("c", rows.carried);
    const auto put = [&](std::string_view name, const std::string& column) {
      text.key(name).begin_array().raw(column).end_array();
    };
    put("sizes", rows.sizes);
    put("reads", rows.reads);
    put("columns", rows.columns);
    put("states", rows.states);
    write();
  }
  packed.clear();
}

Result<void> Audit::barrier(const IterationReport& report, Background::Task beside) {
  if (!on()) return {};
  impl_->write_packed();
  if (impl_->events.begun()) {
    impl_->events.put(impl_->record("events", report.iteration));
    impl_->events.clear();
    impl_->write();
  }
  JsonText& text = impl_->record("end", report.iteration);
  text.member("rounds", report.rounds).member("trained", report.trained).member("replayed", report.replayed);
  text.member("skip_update", report.skip_update).member("aborted", report.aborted).member("metrics", report.metrics);
  if (impl_->journal) text.member("sum", impl_->journal->sum());
  impl_->write();
  // One wait for the disk an iteration is the journal's; the state checks itself when it is read.
  return impl_->journal ? impl_->journal->barrier(std::move(beside)) : Result<void>();
}

Result<void> Audit::settle() { return on() && impl_->journal ? impl_->journal->settle() : Result<void>(); }

}  // namespace allot::engine
