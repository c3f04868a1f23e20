#include "runtime/engine/audit.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/answer_text.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/event_log.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/json_text.h"
#include "runtime/engine/policy_record.h"
#include "runtime/engine/settings_record.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

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

namespace {

// Its kind and iteration come first.
JsonText record(std::string_view kind, int iteration) {
  JsonText text;
  text.begin_object().member("k", kind).member("it", iteration);
  return text;
}

}  // namespace

// Texts are made before it is locked.
struct Audit::Impl {
  std::optional<JournalWriter> journal;
  std::function<void(std::string)> use;  // where there is no journal
  std::filesystem::path folder = {};     // of the journal
  std::vector<std::string> untold = {};  // of this process and its disk
  std::vector<int> ahead = {};           // iterations that had ended beyond the state from which the run goes on, or without one
  EventLog events = {};
  SameAnswers same = {};
  std::mutex mutex = {};

  void write(JsonText& text) { append(text.end_object().take()); }
  void append(std::string record) {
    const std::lock_guard lock(mutex);
    journal ? journal->append(std::move(record)) : use(std::move(record));
  }
  // … of what was told, by one at a time.
  template <typename Add>
  void add(const Add& add_to) {
    const std::lock_guard lock(mutex);
    add_to(*this);
  }
  void begin_run(const Settings& settings, const Policy* policy);
};

// Where no barrier had saved a state these are few.
std::vector<int> ended_in(const std::filesystem::path& journal) {
  std::vector<int> ended;
  const auto add = [&](const Json& record) {
    if (record.value("k", "") == "end") ended.push_back(record.value("it", 0));
  };
  (void)read_journal(journal, add);  // what is damaged is told by whoever reads it
  return ended;
}

// What is needed to read the rest by itself.
void Audit::Impl::begin_run(const Settings& settings, const Policy* policy) {
  Json record;
  record["k"] = "run";
  record["schema"] = journal_schema;
  if (journal) {
    record["segment"] = journal->segment();
    record["sum"] = journal->sum();
  }
  record["settings"] = settings_json(settings);
  record["policy"] = policy != nullptr ? policy_record(*policy) : Json(nullptr);
  append(dump(record));
}

Audit::Audit() = default;
Audit::~Audit() = default;
Audit::Audit(Audit&&) noexcept = default;
Audit& Audit::operator=(Audit&&) noexcept = default;
void Audit::abandon() { (void)impl_.release(); }

Result<Audit> Audit::open(const Settings& settings, const Policy* policy) {
  if (auto kept = check_journal(settings.run_folder); !kept) return kept.error();
  const std::filesystem::path folder = settings.run_folder / "journal";
  auto journal = JournalWriter::open(folder);
  if (!journal) return journal.error();
  Audit audit;
  audit.keeps_events_ = settings.keep_events;
  audit.impl_.reset(new Impl{*std::move(journal), {}, folder});
  if (std::string refusal = sync_refusal(folder); !refusal.empty()) audit.impl_->untold.push_back(std::move(refusal));
  if (std::error_code failure; !std::filesystem::exists(settings.run_folder / "state.json", failure)) {
    audit.impl_->ahead = ended_in(folder);
  }
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
  JsonText text = record("pool", iteration);
  put_pool(text, prompts);
  impl_->write(text);
}

void Audit::begun(const std::vector<std::string>& prompts, std::optional<double> now) {
  if (keeps_events()) impl_->add([&](Impl& impl) { impl.events.begin(prompts, now); });
}

void Audit::turn(RolloutRef rollout, const Turn& turn, bool with_observation, std::optional<double> now) {
  if (keeps_events()) impl_->add([&](Impl& impl) { impl.events.turn(rollout, turn, with_observation, now); });
}

void Audit::ended(RolloutRef rollout, const Ending& ending, std::optional<double> now) {
  if (keeps_events()) impl_->add([&](Impl& impl) { impl.events.ended(rollout, ending, now); });
}

void Audit::shape_group(const MicroBatch& group) {
  if (keeps_events()) impl_->add([&](Impl& impl) { impl.events.shape_group(group); });
}

void Audit::shape(const MicroBatch& batch) {
  if (keeps_events()) impl_->add([&](Impl& impl) { impl.events.shape(batch); });
}

void Audit::swapped() {
  if (keeps_events()) impl_->add([&](Impl& impl) { impl.events.swapped(); });
}

void Audit::append(std::string record) {
  if (on()) impl_->append(std::move(record));
}

void Audit::version(int iteration, int number, std::string_view policy) {
  if (!on()) return;
  JsonText text = record("version", iteration);
  text.member("v", number).key("policy").raw(policy);
  impl_->write(text);
}

// A journal in which nothing has ended may go on with the run of another folder.
Result<void> Audit::resumed(int iteration, const std::optional<JournalMark>& from, std::string_view state) {
  if (!on()) return {};
  std::vector<int> beyond;
  if (impl_->journal && from && has_an_end(impl_->folder)) {
    if (auto held = check_mark(impl_->folder, *from, "the saved state"); !held) return held;
    beyond = ended_beyond(impl_->folder, *from);
    std::erase_if(beyond, [&](int ended) { return ended < iteration; });  // where the run went back and comes from another end
  }
  impl_->ahead = beyond;
  JsonText text = record("resume", iteration);
  if (impl_->journal && from) text.member("from", from->sum);
  if (!beyond.empty()) {
    text.member("again", beyond);
    impl_->untold.push_back("the journal is ahead of the state that the run goes on from: " + again_words(beyond));
  }
  if (impl_->journal) mark_ = from;
  if (!state.empty() && keeps_events()) text.member("state", state);
  impl_->events.clear();
  impl_->same.clear();
  impl_->write(text);
  return {};
}

std::vector<int> Audit::missing_between(int last, int next) const {
  std::vector<int> missing;
  if (!on()) return missing;
  std::copy_if(impl_->ahead.begin(), impl_->ahead.end(), std::back_inserter(missing),
               [&](int ended) { return last < ended && ended < next; });
  return missing;
}

std::vector<std::string> Audit::take_untold() { return on() ? std::exchange(impl_->untold, {}) : std::vector<std::string>(); }

void Audit::begin(int iteration, std::size_t prompts) {
  if (!on()) return;
  impl_->ahead.clear();
  JsonText text = record("begin", iteration);
  text.member("prompts", prompts);
  impl_->write(text);
}

void Audit::opened(const LiveGroup& group) {
  if (!on()) return;
  const GroupLog& log = group.log;
  JsonText text = record("open", log.iteration);
  text.member("g", log.group)
      .member("slot", log.slot)
      .member("round", log.round)
      .member("prompt", log.prompt)
      .member("planned", log.planned);
  impl_->write(text);
}

void Audit::started(int iteration, int group, int first, int count) {
  if (!on()) return;
  JsonText text = record("start", iteration);
  text.member("g", group).member("first", first).member("count", count);
  impl_->write(text);
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
    return same(judge, decision, frame_of(judge, decision.handler), iteration, about, turn, carried);
  }
  JsonText text = record("ask", iteration);
  text.member("g", about.group).member("h", decision.handler).member("t", turn);
  text.member("c", name(carried));
  if (about.sample >= 0) text.member("s", about.sample);
  if (judge.version() != 0) text.member("v", judge.version());
  std::optional<FaultPlace> fault;
  if (decision.fault) fault = FaultPlace{decision.fault->kind, decision.fault->where};
  put_answer(text, handler, verdict, judge.answer(), fault);
  if (!verdict.names.empty()) text.member("names", verdict.names);  // the frame has their positions alone
  text.member("sizes", question.sizes());
  text.key("reads");
  put_reads(text, handler, question);
  text.key("columns");
  put_columns(text, handler, question);
  text.key("states");
  put_states(text, program, judge.policy().states_read(decision.handler), question);
  impl_->write(text);
}

void Audit::same(const Judge& judge, const Decision& decision, const FrameText& frame, int iteration, RolloutRef about, int turn,
                 Carried carried) {
  if (!on()) return;
  impl_->add([&](Impl& impl) {
    impl.same.add({judge.version(), decision.handler, decision.verdict.rule}, frame, iteration, about, turn, name(carried));
  });
}

void Audit::deferred(const LiveGroup& group, int iteration) {
  if (!on()) return;
  JsonText text = record("defer", iteration);
  text.member("g", group.log.group).member("limit", *group.defer_limit);
  impl_->write(text);
}

void Audit::taken_up(const LiveGroup& group, int iteration) {
  if (!on()) return;
  JsonText text = record("take_up", iteration);
  text.member("g", group.log.group)
      .member("age", iteration - group.log.iteration)
      .member("slot", group.log.slot)
      .member("round", group.log.round);
  impl_->write(text);
}

void Audit::replayed(int iteration, int group, int age) {
  if (!on()) return;
  JsonText text = record("replay", iteration);
  text.member("g", group).member("age", age);
  impl_->write(text);
}

void Audit::evicted(int iteration, std::string_view prompt, std::int64_t until) {
  if (!on()) return;
  JsonText text = record("evict", iteration);
  text.member("prompt", prompt).key("until");
  if (until == PromptHistory::for_good) {
    text.value("for good");
  } else {
    text.value(until);
  }
  impl_->write(text);
}

void Audit::closed(const LiveGroup& group, const GroupResult& result, int iteration) {
  if (!on()) return;
  JsonText text = record("close", iteration);
  text.member("g", result.group).member("fate", name(result.fate));
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
  impl_->write(text);
}

void Audit::note(int iteration, std::string_view words) {
  if (!on()) return;
  JsonText text = record("note", iteration);
  text.member("text", words);
  impl_->write(text);
}

void Audit::losses(int iteration, int version, const LossTally& tally) {
  if (!on()) return;
  JsonText text = record("loss", iteration);
  if (version != 0) text.member("v", version);
  text.member("h", tally.handler).member("asked", tally.asked).member("rules", tally.rules);
  text.member("none", tally.none).member("faults", tally.faults).member("fault", tally.first_fault);
  impl_->write(text);
}

void Audit::end(const IterationReport& report) {
  if (!on()) return;
  impl_->same.take([&](std::string rows) { impl_->append(std::move(rows)); });
  if (impl_->events.begun()) {
    JsonText events = record("events", report.iteration);
    impl_->events.put(events);
    impl_->events.clear();
    impl_->write(events);
  }
  JsonText text = record("end", report.iteration);
  text.member("rounds", report.rounds).member("trained", report.trained).member("replayed", report.replayed);
  text.member("skip_update", report.skip_update).member("aborted", report.aborted).member("metrics", report.metrics);
  if (impl_->journal) text.member("sum", impl_->journal->sum());
  impl_->write(text);
  if (impl_->journal) mark_ = JournalMark{impl_->journal->segment(), impl_->journal->sum_so_far()};
}

void Audit::stands_on(const std::string& sum) {
  mark_.reset();
  if (!sum.empty()) mark_ = JournalMark{0, sum};
}

std::string Audit::place() const {
  constexpr std::size_t digits = 12;
  return mark_ ? mark_->sum.substr(0, digits) : "start";
}

Result<void> Audit::barrier(Background::Task beside) {
  return on() && impl_->journal ? impl_->journal->barrier(std::move(beside)) : Result<void>();
}

Result<void> Audit::settle() {
  if (!on() || !impl_->journal) return {};
  if (auto settled = impl_->journal->settle(); !settled) return settled;
  if (const auto& unwritten = impl_->journal->unwritten()) return *unwritten;
  return {};
}

}  // namespace allot::engine
