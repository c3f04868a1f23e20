// Runs that are swapped, tried by canaries, rolled back, killed and resumed at random moments: each plays again to the same
// records and is audited to the end, and what is changed in it is found.
#include <algorithm>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/auditing.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/replaying.h"
#include "runtime/math/random.h"
#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::Course;
using bench::Driver;
using bench::Folder;
using bench::prompts;
using Json = nlohmann::ordered_json;

namespace {

// The same frame: memory, budgets, and what is asked of the host.
const char* const frame = R"(
param least: real = 0.3
hit when reward >= 1
budget 900 rollouts per run
budget 3000 tokens per iteration, carry over
refill at most 3 rounds then train_partial
state belief: beta per prompt = beta(1, 1) decay 0.95
state seen: groups per run = 0
state looks: int per group = 0
on update of batch b {
  for each g in b.ended { remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses) }
  remember seen = seen + b.size
  report seen = seen
}
)";

// Another frame: more memory, other budgets, the clock.
const char* const other_frame = R"(
param least: real = 0.3
hit when reward >= 1
budget 2 seconds per iteration
budget 4000 tokens per iteration, carry over
refill at most 2 rounds then train_partial
state belief: beta per prompt = beta(1, 1) decay 0.95
state seen: groups per run = 0
state extra: real per prompt = 0.25
on update of batch b {
  for each g in b.ended {
    remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses)
    remember extra[g.prompt] = extra[g.prompt] + least
  }
}
)";

const std::vector<std::string>& policies() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> made;
    const auto add = [&](const char* frame_text, const std::string& rest) {
      made.push_back(fmt::format("policy p{}\n{}{}", made.size(), frame_text, rest));
    };
    const std::string finish =
        "on finish of group g {\n  when g.flat or (g.reward_mean ?? 0) < least then drop, refill because \"{belief[g.prompt]}\"\n"
        "  otherwise train\n}\n";
    add(frame, "on size of batch b { start 2 each, up to 4 }\n" + finish +
                   "on wave of group g {\n  when beta_mean(belief[g.prompt]) > 0.6 then stop, drop, refill because \"known\"\n"
                   "  otherwise complete to 4\n}\n");
    add(frame, "on turn 2 of group g {\n  remember looks = looks + 1\n"
                   "  when (mean_pairwise(normalized_edit_distance, prefixes(g.actions, 2, padded)) ?? 1) < least and draw(\"gate\") < 0.7\n"
                   "    then stop, drop, refill because \"close: {looks}\"\n  otherwise continue\n}\n" + finish);
    add(frame, "on every turn of rollout r { when r.turns >= 4 then stop }\n" + finish);
    add(frame, "on wave of batch b { complete to [4 for g in b.groups] }\n" + finish);  // ranks groups
    add(frame, "on wave 1 of group g {\n  when (g.hit_rate ?? 0) >= 1.0 then stop, drop, refill\n"
                   "  otherwise defer at most 2 iterations, refill\n}\n"
                   "on resume of group g by -(g.reward_std ?? 0), g.age { complete to 4 }\n" + finish);
    add(other_frame, finish);
    add(other_frame, "on turn 1 of group g { when budget.seconds.left < 1.0 seconds and draw(\"late\") < least then stop }\n" + finish);
    return made;
  }();
  return all;
}

PolicyText text_of(std::size_t policy) {
  PolicyText text;
  text.file = fmt::format("p{}.allot", policy);
  text.text = policies()[policy];
  return text;
}

Course course_of(const std::string& prompt, int sample) {
  const std::uint64_t key = math::hash_text(prompt);
  const auto low = static_cast<std::uint64_t>(sample);
  Course course;
  const int turns = 1 + static_cast<int>(math::below(5, key, 1, low));
  for (int turn = 0; turn < turns; ++turn) {
    course.actions.push_back(fmt::format("a{}", math::below(3, key, 2, low * 100 + static_cast<std::uint64_t>(turn))));
  }
  course.tokens = 5 + static_cast<int>(math::below(11, key, 5, low));
  if (math::below(9, key, 3, low) == 0) course.status = Status::Timeout;
  else course.reward = static_cast<double>(math::below(2, key, 7, low));
  return course;
}

struct Killed {};

// What came of the requests, over all runs.
struct Seen {
  std::map<std::string, int> outcomes;
  int rollbacks = 0, back_then = 0, now = 0, taken_back = 0, between = 0, resumed = 0, resumed_after_swap = 0;
};

// One run and its host, driven by a seed.
class Run {
 public:
  Run(std::uint64_t seed, const Folder& folder, Seen& seen) : random_(seed), folder_(folder), seen_(seen) {}

  void play(int iterations) {
    start();
    for (int iteration = 0; iteration < iterations;) {
      try {
        iterate(iteration);
        ++ended;
        if (chance(0.6)) checkpoint(iteration);
        if (chance(0.4)) between(iteration);
        ++iteration;
      } catch (const Killed&) {
        engine_.reset();
        iteration = resume() + 1;
      }
    }
  }

  int ended = 0;  // iterations, told again ones too

 private:
  bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(random_) < share; }
  std::size_t below(std::size_t count) { return random_() % count; }

  void start() {
    Settings made = bench::settings(3, 4);
    made.run_folder = folder_.path();
    made.native = false;
    made.clock = [this] { return time_ += 0.013; };
    auto policy = load_policy(text_of(0), {{"least", "0.25"}});
    if (!policy) FAIL(policy.error().text());
    auto engine = LiveEngine::create(made, *std::move(policy));
    if (!engine) FAIL(engine.error().text());
    engine_ = *std::move(engine);
    if (checkpoint_.empty()) checkpoint_ = engine_->save_state();
  }

  int resume() {
    start();
    if (auto restored = engine_->restore(checkpoint_); !restored) FAIL(restored.error().text());
    if (checkpoint_iteration_ < 0) return -1;  // from the beginning
    ++seen_.resumed;
    seen_.resumed_after_swap += saved_between_;
    return checkpoint_iteration_;
  }

  void checkpoint(int iteration) {
    checkpoint_ = engine_->save_state();
    checkpoint_iteration_ = iteration;
    saved_between_ = false;
  }

  void between(int iteration) {
    const int before = engine_->active_version();
    request();
    ++seen_.between;
    if (!chance(0.5)) return;
    checkpoint(iteration);
    saved_between_ = engine_->active_version() != before;
    if (chance(0.5)) throw Killed();
  }

  void iterate(int iteration) {
    std::vector<PoolPrompt> pool;
    for (const std::string& key : prompts(chance(0.2) ? 10 : 12)) pool.push_back({key, pool.size() % 2 == 0 ? "even" : "odd"});
    if (auto set = engine_->set_pool(pool); !set) FAIL(set.error().text());
    Driver driver(*engine_, course_of, random_());
    const bool dies = iteration > 0 && chance(0.15);
    driver.after_event = [&] {
      if (chance(0.02)) request();
      if (dies && chance(0.03)) throw Killed();
    };
    driver.generate(iteration, prompts(10));
    driver.after_event = [] {};
    if (chance(0.1)) request();
    auto report = engine_->end_iteration();
    if (!report) FAIL(report.error().text());
  }

  void request() {
    SwapRequest request;
    if (chance(0.25)) {
      request.back = chance(0.4) ? StateOf::Then : StateOf::Now;
    } else {
      request.text = text_of(below(policies().size()));
      if (chance(0.4)) request.parameters = {{"least", fmt::format("0.{}", 1 + below(8))}};
      request.now = chance(0.3);
      if (chance(0.25)) request.canary = 0.4;
    }
    if (chance(0.05)) request.expected = std::string(12, '0');
    if (chance(0.05)) request.text.text += "on finish of group g { dorp }\n";
    const SwapReport report = engine_->swap(request);
    ++seen_.outcomes[std::string(name(report.outcome))];
    const bool active = report.outcome == SwapOutcome::Active;
    const bool withdrawn = request.back && report.reason.find("the canary ") != std::string::npos;
    seen_.taken_back += withdrawn;
    seen_.rollbacks += active && request.back && !withdrawn;
    seen_.back_then += active && request.back == StateOf::Then && !withdrawn;
    seen_.now += active && report.groups_moved > 0;
  }

  std::mt19937_64 random_;
  const Folder& folder_;
  Seen& seen_;
  std::unique_ptr<LiveEngine> engine_;
  std::string checkpoint_;
  int checkpoint_iteration_ = -1;
  bool saved_between_ = false;
  double time_ = 0;
};

// Changes what one answer says, with a good checksum; the version that gave it.
int flip_one(const Folder& folder, std::uint64_t seed) {
  struct Place { int segment; std::size_t line; int version; };
  std::vector<std::vector<std::string>> segments;
  std::vector<Place> places;
  for (int segment = 1; std::filesystem::exists(folder.segment(segment)); ++segment) {
    std::istringstream text(bench::read_file(folder.segment(segment)));
    segments.emplace_back();
    for (std::string line; std::getline(text, line);) {
      const Json record = Json::parse(line, nullptr, false);
      if (!record.is_discarded() && record.at("k") == "ask" && record.at("r").get<int>() >= 0) {
        places.push_back({segment, segments.back().size(), record.value("v", 0)});
      }
      segments.back().push_back(line);
    }
  }
  REQUIRE_FALSE(places.empty());
  const Place place = places[seed % places.size()];
  std::vector<std::string>& lines = segments[static_cast<std::size_t>(place.segment - 1)];
  Json record = Json::parse(lines[place.line]);
  record["r"] = record["r"].get<int>() + 1;
  record.erase("crc");
  lines[place.line] = seal(dump(record));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  bench::write_file(folder.segment(place.segment), text);
  return place.version;
}

}  // namespace

TEST_CASE("runs that were swapped, rolled back and resumed at random moments play again, and are audited, to their end") {
  Seen seen;
  std::set<int> flipped;
  std::int64_t swaps = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    const Folder folder;
    Run run(seed, folder, seen);
    run.play(9);
    const auto replayed = replay_run(folder.path());
    if (!replayed) FAIL(replayed.error().text());
    if (replayed->first) {
      FAIL(replayed->first->place << ' ' << replayed->first->kind << ' ' << replayed->first->member << ": "
                                  << replayed->first->recorded << " / " << replayed->first->replayed);
    }
    CHECK(replayed->swapped.empty());
    CHECK(replayed->iterations == run.ended);
    swaps += replayed->swaps;
    const auto audited = audit_run(folder.path());
    if (!audited) FAIL(audited.error().text());
    if (audited->first) FAIL(audited->first->place << ' ' << audited->first->point << ": " << audited->first->recorded << " / " << audited->first->again);
    CHECK(audited->good());
    CHECK(audited->iterations == run.ended);
    flipped.insert(flip_one(folder, seed * 7919));
    const auto found = audit_run(folder.path());
    REQUIRE(found);
    CHECK(found->differing == 1);
    const auto differs = replay_run(folder.path());
    REQUIRE(differs);
    CHECK(differs->differing == 1);
  }
  // Everything that was meant to happen did.
  CHECK(swaps > 60);
  CHECK(flipped.size() > 3);
  for (const char* const outcome : {"active", "waiting", "canary", "unchanged", "refused"}) CHECK(seen.outcomes[outcome] > 3);
  CHECK(seen.rollbacks > 5);
  CHECK(seen.back_then > 3);
  CHECK(seen.now > 3);
  CHECK(seen.taken_back > 3);
  CHECK(seen.between > 20);
  CHECK(seen.resumed > 5);
  CHECK(seen.resumed_after_swap > 1);
}
