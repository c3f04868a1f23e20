#include "runtime/engine/replaying.h"

#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/event_log.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/live_engine.h"
#include "runtime/engine/policy_record.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

Settings settings_of(const Json& json) {
  Settings settings;
  settings.seed = json.at("seed").get<std::uint64_t>();
  settings.slots = json.at("slots").get<int>();
  settings.group_size = json.at("group_size").get<int>();
  settings.turn_limit = json.at("turn_limit").get<int>();
  settings.tokens_per_turn = json.at("tokens_per_turn").get<int>();
  settings.shadow = json.at("shadow").get<bool>();
  settings.holdout = json.at("holdout").get<double>();
  if (!json.at("pause_below").is_null()) settings.pause_below = json.at("pause_below").get<double>();
  settings.stop_on_fault = json.at("stop_on_fault").get<bool>();
  settings.has_raw_reward = json.at("has_raw_reward").get<bool>();
  const Json& host = json.at("host");
  const auto can = [&](std::size_t i) { return host.at(i).get<bool>(); };
  settings.host = {.defers = can(0), .shapes = can(1), .replays = can(2), .branches = can(3), .losses = can(5), .scores = can(4)};
  settings.inputs = json.at("inputs").get<InputValues>();
  return settings;
}

// What is compared: all but what tells of the host, of this build or of the file itself.
bool is_compared(const Json& record) {
  static const std::set<std::string> others = {"run", "events", "pool", "resume"};
  const std::string kind = record.at("k").get<std::string>();
  const bool of_build = kind == "note" && record.at("text").get<std::string>().starts_with("note:");
  return !others.contains(kind) && !of_build;
}

// Without what a replay cannot tell: checksums, and how many tokens were asked their loss (no event says so).
Json comparable(Json record) {
  record.erase("crc");
  record.erase("sum");
  if (const auto metrics = record.find("metrics"); metrics != record.end()) {
    for (const char* const name : {"loss/tokens", "loss/faults"}) metrics->erase(name);
  }
  return record;
}

struct Recorded {
  std::string place;
  Json record;
};

class Replayer {
 public:
  // `kept`: iterations at whose end the state is needed later.
  explicit Replayer(std::set<int> kept) : kept_(std::move(kept)) {}

  void read(const JournalLine& line) {
    if (failure_ || !result_.swapped.empty()) return;
    const Json& record = line.record;
    const std::string kind = record.at("k").get<std::string>();
    if (kind == "swap") return;  // refused ones change nothing; the others come with a version
    if (kind != "run" && !engine_) {
      return fail({line.place() + ": the beginning of the journal, which tells of the run, is missing or damaged.", ""});
    }
    if (kind == "run") {
      leave_unfinished();
      begin_run(record);
    } else if (kind == "version") {
      result_.swapped = line.place();
      recorded_.clear();
    } else if (kind == "pool") {
      demand(engine_->set_pool(read_pool(record)), line);
    } else if (kind == "resume") {
      leave_unfinished();
      resume(record.at("it").get<int>(), line);
    } else if (kind == "events") {
      events_ = read_events(record);
    } else {
      if (kind == "begin") leave_unfinished();
      if (is_compared(record)) recorded_.push_back({line.place(), comparable(record)});
      if (kind == "end") play(record.at("it").get<int>(), line);
    }
  }

  const std::optional<Error>& failure() const { return failure_; }

  ReplayResult result(const JournalProblems& problems) {
    leave_unfinished();
    result_.damage = problems.damaged;
    return std::move(result_);
  }

 private:
  void begin_run(const Json& record) {
    Settings settings = settings_of(record.at("settings"));
    settings.clock = [this] { return clock_; };
    std::shared_ptr<Policy> policy;
    if (!record.at("policy").is_null()) {
      auto read = read_policy_record(record.at("policy"));
      if (!read) return fail(read.error());
      policy = *std::move(read);
    }
    auto engine = LiveEngine::create(settings, std::move(policy));
    if (!engine) return fail(engine.error());
    engine_ = *std::move(engine);
    engine_->record_to([this](std::string text) { replayed_.push_back(comparable(Json::parse(text))); });
    if (kept_.contains(-1)) states_[-1] = engine_->save_state();
  }

  // The state at the end of the iteration before.
  void resume(int iteration, const JournalLine& line) {
    const auto state = states_.find(iteration - 1);
    if (state == states_.end()) {
      return fail({fmt::format("{}: the run goes on from the end of iteration {}, which this journal does not hold.",
                               line.place(), iteration - 1),
                   "play the journal that holds the run from its beginning"});
    }
    demand(engine_->restore(state->second), line);
    replayed_.clear();
  }

  void play(int iteration, const JournalLine& line) {
    if (!events_) {
      return fail({fmt::format("{}: iteration {} has no record of its events, so it cannot be played again.", line.place(),
                               iteration),
                   "train with --keep-events to have them; `allot audit` needs no events"});
    }
    replayed_.clear();
    clock_ = events_->begun.value_or(0);
    bool going = demand(engine_->begin_iteration(iteration, events_->prompts), line);
    for (std::size_t i = 0; going && i < events_->events.size(); ++i) going = tell(events_->events[i], line);
    if (!going || !demand(engine_->end_iteration(), line)) return;
    ++result_.iterations;
    compare(iteration, line);
    if (kept_.contains(iteration)) states_[iteration] = engine_->save_state();
    recorded_.clear();
    replayed_.clear();
    events_.reset();
  }

  bool tell(const LoggedEvent& event, const JournalLine& line) {
    ++result_.events;
    clock_ = event.now.value_or(clock_);
    switch (event.kind) {
      case LoggedEvent::Kind::Turn: return demand(engine_->turn(event.rollout, event.turn), line);
      case LoggedEvent::Kind::Ended: return demand(engine_->ended(event.rollout, event.ending), line);
      case LoggedEvent::Kind::ShapeGroup: return demand(engine_->shape_group(event.batch), line);
      case LoggedEvent::Kind::Shape: return demand(engine_->shape(event.batch), line);
    }
    return false;
  }

  void compare(int iteration, const JournalLine& line) {
    std::erase_if(replayed_, [](const Json& record) { return !is_compared(record); });
    const std::size_t count = std::max(recorded_.size(), replayed_.size());
    static const Json none;
    for (std::size_t i = 0; i < count; ++i) {
      const Json& recorded = i < recorded_.size() ? recorded_[i].record : none;
      const Json& replayed = i < replayed_.size() ? replayed_[i] : none;
      ++result_.records;
      if (recorded.dump() == replayed.dump()) continue;
      ++result_.differing;
      if (result_.first) continue;
      const std::string place = i < recorded_.size() ? recorded_[i].place : line.place();
      result_.first = difference(recorded, replayed);
      result_.first->place = place;
      result_.first->iteration = iteration;
    }
  }

  static ReplayDifference difference(const Json& recorded, const Json& replayed) {
    const auto text = [](const Json& json) { return json.is_null() ? std::string("nothing") : json.dump(); };
    ReplayDifference found;
    found.recorded = text(recorded);
    found.replayed = text(replayed);
    if (recorded.is_null() || replayed.is_null() || recorded.at("k") != replayed.at("k")) return found;
    found.kind = recorded.at("k").get<std::string>();
    const auto member_text = [](const Json& record, const std::string& name) {
      return record.contains(name) ? record.at(name).dump() : std::string("nothing");
    };
    std::set<std::string> names;
    for (const auto& [name, value] : replayed.items()) names.insert(name);
    const auto take = [&](const std::string& name) {
      if (!found.member.empty() || member_text(recorded, name) == member_text(replayed, name)) return;
      found.member = name;
      found.recorded = member_text(recorded, name);
      found.replayed = member_text(replayed, name);
    };
    for (const auto& [name, value] : recorded.items()) take(name);
    for (const std::string& name : names) take(name);
    return found;
  }

  // A barrier that was cut off in the middle: nothing after the last whole iteration was acknowledged.
  void leave_unfinished() {
    result_.unfinished += !recorded_.empty();
    recorded_.clear();
    events_.reset();
  }

  template <typename T>
  bool demand(const Result<T>& done, const JournalLine& line) {
    if (!done) fail({fmt::format("{}: the engine refuses what it was told then: {}", line.place(), done.error().what), done.error().help});
    return static_cast<bool>(done);
  }
  void fail(Error error) {
    if (!failure_) failure_ = std::move(error);
  }

  std::set<int> kept_;
  std::map<int, std::string> states_;
  std::unique_ptr<LiveEngine> engine_;
  double clock_ = 0;
  std::optional<LoggedIteration> events_;
  std::vector<Recorded> recorded_;
  std::vector<Json> replayed_;
  ReplayResult result_;
  std::optional<Error> failure_;
};

}  // namespace

Result<ReplayResult> replay_run(const std::filesystem::path& run_folder) {
  const std::filesystem::path folder = run_folder / "journal";
  try {
    std::set<int> kept;
    auto looked = read_journal(folder, [&](const Json& record) {
      if (record.at("k") == "resume") kept.insert(record.at("it").get<int>() - 1);
    });
    if (!looked) return looked.error();
    Replayer replayer(std::move(kept));
    auto problems = read_lines(folder, [&](const JournalLine& line) { replayer.read(line); });
    if (!problems) return problems.error();
    if (replayer.failure()) return *replayer.failure();
    return replayer.result(*problems);
  } catch (const Json::exception& problem) {  // a good checksum over an unknown form: another version wrote it
    return Error{fmt::format("The journal in {} has a form this program does not know ({}).", folder.string(), problem.what()),
                 "read it with the program that wrote it"};
  }
}

}  // namespace allot::engine
