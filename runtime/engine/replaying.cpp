#include "runtime/engine/replaying.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/event_log.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/journal_chain.h"
#include "runtime/engine/live_engine.h"
#include "runtime/engine/policy_record.h"
#include "runtime/engine/settings_record.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;

// Of a swap that changed who decides; what was refused, superseded or still waits changed nothing.
// One that is told again stands in the state of the resume.
bool took_place(const Json& swap) {
  return (swap.at("outcome") == "active" || swap.at("outcome") == "canary") && !swap.contains("again");
}

// What is compared: all but what tells of the host, of this build or of the file itself.
bool is_compared(const Json& record) {
  static const std::set<std::string> others = {"run", "events", "pool", "resume"};
  const std::string kind = record.at("k").get<std::string>();
  const bool of_build = kind == "note" && record.at("text").get<std::string>().starts_with("note:");
  return !others.contains(kind) && !of_build && (kind != "swap" || took_place(record));
}

// Rows of different groups stand as they came from clients beside each other.
void sort_by_group(Json& same) {
  const std::vector<int> groups = same.at("g").get<std::vector<int>>();
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return groups[a] < groups[b]; });
  for (const char* const name : {"g", "s", "t", "c", "sizes", "reads", "columns", "states"}) {
    Json& column = same.at(name);
    Json sorted = Json::array();
    for (const std::size_t row : order) sorted.push_back(std::move(column.at(row)));
    column = std::move(sorted);
  }
}

// Without checksums, and of a swap without what tells of the moment and of the way in which it was asked for, and without words for people; what it changed is in the record of its
// version.
Json comparable(Json record) {
  record.erase("crc");
  record.erase("sum");
  if (record.at("k") == "swap") {
    for (const char* const name : {"ticket", "by", "set", "reason", "seconds"}) record.erase(name);
  }
  if (record.at("k") == "same") sort_by_group(record);
  return record;
}

LossTally tally_of(const Json& record) {
  return {record.at("h").get<int>(), record.at("asked").get<std::int64_t>(), record.at("rules").get<std::vector<std::int64_t>>(),
          record.at("none").get<std::int64_t>(), record.at("faults").get<std::int64_t>(), record.at("fault").get<std::string>()};
}

// The end on which a resumed run stands: by its sum, or, where the record names none, the last one of its iteration.
std::string end_name(int iteration) { return fmt::format("iteration {}", iteration); }
std::string origin_of(const Json& resume) {
  return resume.contains("from") ? resume.at("from").get<std::string>() : end_name(resume.at("it").get<int>() - 1);
}

// The versions of the run by number and hash, as the journal has them, and what was remembered when each was replaced.
class JournalVersions : public KeptVersions {
 public:
  explicit JournalVersions(std::filesystem::path run) : run_(std::move(run)) {}
  void add(int number, const Json& record) { policies_.insert_or_assign(std::pair(number, record.at("hash").get<std::string>()), record); }

  Result<std::shared_ptr<Policy>> policy(int number, const std::string& hash) override {
    const auto found = policies_.find({number, hash});
    if (found != policies_.end()) return read_policy_record(found->second);
    return Error{fmt::format("The journal does not hold version {} of the policy ({}).", number, hash.substr(0, 12)), ""};
  }
  // States of older programs name the number alone.
  void keep_state(const StateThen& state) override {
    states_[{state.version, state.at}] = states_[{state.version, ""}] = state.snapshot;
  }
  std::shared_ptr<const std::string> state(int number, const std::string& at) const override {
    if (const auto found = states_.find({number, at}); found != states_.end()) return std::make_shared<const std::string>(write(*found->second));
    // Replaced between two iterations by a process that ended before it could write of it.
    auto on_disk = kept_state(run_, number, at);
    return on_disk ? std::make_shared<const std::string>(*std::move(on_disk)) : nullptr;
  }

 private:
  std::filesystem::path run_;
  std::map<std::pair<int, std::string>, Json> policies_;
  std::map<std::pair<int, std::string>, std::shared_ptr<const Snapshot>> states_;
};

struct Recorded {
  std::string place;
  Json record;
};

class Replayer {
 public:
  // `kept`: the ends at which the state is needed later, as origin_of() names them.
  Replayer(const std::filesystem::path& run, std::set<std::string> kept)
      : kept_(std::move(kept)), versions_(std::make_shared<JournalVersions>(run)) {}

  void read(const JournalLine& line) {
    if (failure_ || !result_.swapped.empty()) return;
    const Json& record = line.record;
    const std::string kind = record.at("k").get<std::string>();
    if (kind != "run" && !engine_) {
      return fail({line.place() + ": the beginning of the journal, which tells of the run, is missing or damaged.", ""});
    }
    if (resuming_ && kind != "version") resume();
    if (failure_) return;
    if (kind == "version") versions_->add(record.at("v").get<int>(), record.at("policy"));
    if (kind == "run") {
      leave_unfinished();
      begin_run(record);
    } else if (kind == "pool") {
      demand(engine_->set_pool(read_pool(record)), line);
    } else if (kind == "resume") {
      leave_unfinished();
      resuming_ = Recorded{line.place(), record};
    } else if (kind == "events") {
      events_ = read_events(record);
    } else {
      begun_ = begun_ || kind == "begin";
      if (kind == "loss") losses_ = tally_of(record);
      if (is_compared(record)) recorded_.push_back({line.place(), comparable(record)});
      if (kind == "swap" && took_place(record)) read_swap(record, line);
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
    Settings settings = settings_from(record.at("settings"));
    settings.clock = [this] { return clock_; };
    std::shared_ptr<Policy> policy;
    if (!record.at("policy").is_null()) {
      auto read = read_policy_record(record.at("policy"));
      if (!read) return fail(read.error());
      policy = *std::move(read);
      versions_->add(0, record.at("policy"));
    }
    auto engine = LiveEngine::create(settings, std::move(policy));
    if (!engine) return fail(engine.error());
    engine_ = *std::move(engine);
    engine_->record_to([this](std::string text) { replayed_.push_back(comparable(Json::parse(text))); });
    engine_->keep_versions_with(versions_);
    replayed_.clear();
    keep_state(end_name(-1));
  }

  // Within an iteration the events say when it was.
  void read_swap(const Json& record, const JournalLine& line) {
    if (!record.contains("now")) {
      result_.swapped = line.place();
    } else if (begun_) {
      swaps_.push_back(record);
    } else {
      swap(record);
    }
  }

  // Whatever comes of it is in the records that are compared.
  void swap(const Json& record) {
    ++result_.swaps;
    SwapRequest request;
    request.now = record.at("now").get<bool>();
    request.canary = record.value("canary", 0.0);
    if (record.contains("back")) request.back = record.at("back") == "then" ? StateOf::Then : StateOf::Now;
    auto policy = versions_->policy(record.at("v").get<int>(), record.at("to").get<std::string>());
    if (!policy) return fail(policy.error());
    request.policy = *std::move(policy);
    (void)engine_->swap(request);
  }

  // The state at the end of the iteration before, or the one that came with the record. Versions that a resumed process
  // names first are those that it found; they follow the record.
  void resume() {
    const Recorded from = *std::exchange(resuming_, std::nullopt);
    const int iteration = from.record.at("it").get<int>();
    const std::string origin = origin_of(from.record);
    const auto kept = states_.find(origin);
    if (kept == states_.end() && !from.record.contains("state")) {
      return fail({fmt::format("{}: the run goes on from the end of iteration {}, which this journal does not hold.", from.place,
                               iteration - 1),
                   "play the journal that holds the run from its beginning"});
    }
    const std::string state = from.record.contains("state") ? from.record.at("state").get<std::string>() : kept->second;
    replayed_.clear();
    if (auto restored = engine_->restore(state); !restored) {
      return fail({fmt::format("{}: the engine refuses the state it was resumed from: {}", from.place, restored.error().what),
                   restored.error().help});
    }
    engine_->stands_on(from.record.value("from", ""));
    states_.emplace(origin, state);  // of a run that began elsewhere
    std::erase_if(replayed_, [](const Json& record) { return !is_compared(record); });
  }

  void play(int iteration, const JournalLine& line) {
    if (!events_) {
      return fail({fmt::format("{}: iteration {} has no record of its events, so it cannot be played again.", line.place(),
                               iteration),
                   "train with --keep-events to have them; `allot audit` needs no events"});
    }
    clock_ = events_->begun.value_or(0);
    bool going = demand(engine_->begin_iteration(iteration, events_->prompts), line);
    for (std::size_t i = 0; going && i < events_->events.size(); ++i) going = tell(events_->events[i], line);
    if (losses_) engine_->losses_were(*losses_);
    const std::string sum = sum_with(line.text);
    engine_->stands_on(sum);
    if (!going || !demand(engine_->end_iteration(), line)) return;
    ++result_.iterations;
    compare(iteration, line);
    keep_state(end_name(iteration));
    keep_state(sum);
    forget();
  }

  void keep_state(const std::string& end) {
    if (kept_.contains(end)) states_[end] = engine_->save_state();
  }

  void forget() {
    recorded_.clear();
    replayed_.clear();
    swaps_.clear();
    events_.reset();
    losses_.reset();
    begun_ = false;
  }

  bool tell(const LoggedEvent& event, const JournalLine& line) {
    if (event.kind == LoggedEvent::Kind::Swap) {
      if (swaps_.empty()) return fail({line.place() + ": the record of a swap is missing.", ""}), false;
      swap(swaps_.front());
      swaps_.pop_front();
      return !failure_;
    }
    ++result_.events;
    clock_ = event.now.value_or(clock_);
    switch (event.kind) {
      case LoggedEvent::Kind::Turn: return demand(engine_->turn(event.rollout, event.turn), line);
      case LoggedEvent::Kind::Ended: return demand(engine_->ended(event.rollout, event.ending), line);
      case LoggedEvent::Kind::ShapeGroup: return demand(engine_->shape_group(event.batch), line);
      case LoggedEvent::Kind::Swap: break;
      case LoggedEvent::Kind::Shape: return demand(engine_->shape(event.batch), line);
    }
    return false;
  }

  // Older programs told what is trained on once more at the question, not at the barrier, and no names of prompts.
  void compare_with_older() {
    const auto stays = [](const Json& record) { return record.at("k") != "replay"; };
    std::stable_partition(recorded_.begin(), recorded_.end(), [&](const Recorded& each) { return stays(each.record); });
    std::stable_partition(replayed_.begin(), replayed_.end(), stays);
    for (std::size_t i = 0; i < std::min(recorded_.size(), replayed_.size()); ++i) {
      if (!recorded_[i].record.contains("names")) replayed_[i].erase("names");
    }
  }

  void compare(int iteration, const JournalLine& line) {
    std::erase_if(replayed_, [](const Json& record) { return !is_compared(record); });
    compare_with_older();
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
    result_.unfinished += begun_;
    forget();
  }

  template <typename T>
  bool demand(const Result<T>& done, const JournalLine& line) {
    if (!done) fail({fmt::format("{}: the engine refuses what it was told then: {}", line.place(), done.error().what), done.error().help});
    return static_cast<bool>(done);
  }
  void fail(Error error) {
    if (!failure_) failure_ = std::move(error);
  }

  std::set<std::string> kept_;
  std::map<std::string, std::string> states_;
  std::shared_ptr<JournalVersions> versions_;
  std::unique_ptr<LiveEngine> engine_;
  double clock_ = 0;
  std::optional<LoggedIteration> events_;
  std::optional<LossTally> losses_;
  std::deque<Json> swaps_;           // of the iteration that is read, not yet made
  bool begun_ = false;               // an iteration is being read
  std::optional<Recorded> resuming_;
  std::vector<Recorded> recorded_;
  std::vector<Json> replayed_;
  ReplayResult result_;
  std::optional<Error> failure_;
};

}  // namespace

Result<ReplayResult> replay_run(const std::filesystem::path& run_folder) {
  const std::filesystem::path folder = run_folder / "journal";
  try {
    std::set<std::string> kept;
    auto looked = read_journal(folder, [&](const Json& record) {
      if (record.at("k") == "resume") kept.insert(origin_of(record));
    });
    if (!looked) return looked.error();
    Replayer replayer(run_folder, std::move(kept));
    auto problems = read_lines(folder, [&](const JournalLine& line) { replayer.read(line); });
    if (!problems) return problems.error();
    ReplayResult result = replayer.result(*problems);
    // After a difference the rest may not be playable: it is the difference that is told.
    if (replayer.failure() && !result.first) return *replayer.failure();
    return result;
  } catch (const Json::exception& problem) {  // a good checksum over an unknown form: another version wrote it
    return Error{fmt::format("The journal in {} has a form this program does not know ({}).", folder.string(), problem.what()),
                 "read it with the program that wrote it"};
  }
}

}  // namespace allot::engine
