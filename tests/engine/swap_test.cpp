// Swaps of a policy under way: who decides what, what is refused, what is remembered.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
#include <utility>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/journal.h"
#include "runtime/engine/swap_state.h"
#include "tests/engine/bench.h"

using namespace allot;
using namespace allot::engine;
using bench::Course;
using bench::Driver;
using bench::prompts;
using bench::settings;
using bench::steady;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("allot_swap_{}_{}", ::getpid(), ++count);
  Folder() { fs::remove_all(path); fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  static inline int count = 0;
};

PolicyText text_of(const std::string& text, const std::string& file = "gate.allot") {
  PolicyText made;
  made.file = file;
  made.text = text;
  return made;
}

std::shared_ptr<Policy> policy_of(const std::string& text, const std::map<std::string, std::string>& set = {}) {
  auto policy = load_policy(text_of(text), set);
  if (!policy) FAIL(policy.error().text());
  return *std::move(policy);
}

std::unique_ptr<LiveEngine> engine_of(const std::string& text, Settings made,
                                      const std::map<std::string, std::string>& set = {}) {
  made.native = false;
  auto engine = LiveEngine::create(made, policy_of(text, set));
  if (!engine) FAIL(engine.error().text());
  return *std::move(engine);
}

SwapRequest request_of(const std::string& text, const std::string& expected = "") {
  SwapRequest request;
  request.text = text_of(text);
  request.expected = expected;
  return request;
}

SwapRequest back(StateOf state) {
  SwapRequest request;
  request.back = state;
  return request;
}

std::string gate(double least) {
  return fmt::format("policy gate\nparam least: real = {}\non finish of group g {{\n"
                     "  when (g.reward_mean ?? 0) < least then drop because \"mean {{g.reward_mean ?? 0}} < {{least}}\"\n"
                     "  otherwise train\n}}\n", least);
}

// The mean reward of a group of two is half its prompt's digit: 0, 0.5, 1, …
Course by_digit(const std::string& prompt, int sample) { return steady(2, sample == 0 ? 0.0 : prompt.back() - '0'); }

std::map<std::string, Fate> fates(const Driver& driver) {
  std::map<std::string, Fate> all;
  for (const GroupResult& result : driver.closed) all[result.prompt] = result.fate;
  return all;
}

std::vector<nlohmann::ordered_json> records(const fs::path& run, const std::string& kind) {
  std::vector<nlohmann::ordered_json> found;
  auto read = read_journal(run / "journal", [&](const nlohmann::ordered_json& record) {
    if (record.at("k") == kind) found.push_back(record);
  });
  REQUIRE(read);
  return found;
}

}  // namespace

TEST_CASE("swap: groups end under the version they were opened under, new ones take the new one") {
  const Folder folder;
  Settings made = settings(4, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(gate(0.75), made);
  const std::string first = engine->policy_hash();
  Driver driver(*engine, by_digit);
  bool swapped = false;
  driver.after_event = [&] {
    if (swapped || driver.turns < 3) return;
    swapped = true;
    const SwapReport report = engine->swap(request_of(gate(0.25), first));
    CHECK(report.outcome == SwapOutcome::Active);
    CHECK(report.from == first);
    CHECK(report.to == engine->policy_hash());
    CHECK(report.iteration == 0);
  };
  driver.run(0, prompts(4));  // means 0, 0.5, 1, 1.5: all opened before the swap
  CHECK(fates(driver)["p1"] == Fate::Dropped);
  for (const GroupResult& result : driver.closed) CHECK(result.policy == first);
  const IterationReport report = driver.run(1, prompts(4));
  CHECK(fates(driver)["p1"] == Fate::Trained);  // 0.5 >= 0.25
  CHECK(fates(driver)["p0"] == Fate::Dropped);
  CHECK(driver.closed.back().policy == engine->policy_hash());
  CHECK(report.metrics.at("policy/version") == 1);
  CHECK(report.metrics.at("version/1/decisions") == 4);
  // The journal names the version of every answer, and has the text of both.
  CHECK(records(folder.path, "version").size() == 1);
  const auto swaps = records(folder.path, "swap");
  REQUIRE(swaps.size() == 1);
  CHECK(swaps.front().at("outcome") == "active");
  CHECK(swaps.front().at("from") == first);
  for (const auto& ask : records(folder.path, "ask")) CHECK(ask.value("v", 0) == ask.at("it"));
}

TEST_CASE("swap: a stale expectation and a file with errors change nothing and are told") {
  const Folder folder;
  Settings made = settings(2, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(gate(0.75), made);
  const std::string first = engine->policy_hash();
  const auto refused = [&](SwapRequest request, const std::string& part) {
    const SwapReport report = engine->swap(request);
    CHECK(report.outcome == SwapOutcome::Refused);
    CHECK(report.reason.find(part) != std::string::npos);
    CHECK(engine->policy_hash() == first);
    if (report.reason.find(part) == std::string::npos) FAIL(report.reason);
  };
  refused(request_of(gate(0.5), std::string(64, '0')), "somebody swapped it");
  refused(request_of(gate(0.5), first.substr(0, 5)), "too short");
  refused(request_of("policy gate\non finish of group g { dorp }\n"), "gate.allot:2");
  refused(request_of(""), "errors");
  refused(request_of("policy gate\non turn 99 of group g { stop }\n"), "at most 30 turns");
  refused(request_of("policy gate\ninput anchor: real per run\non finish of group g { when anchor > 0 then drop\n  otherwise train }\n"), "does not supply");
  refused(back(StateOf::Now), "no version before");
  CHECK(engine->swap(request_of(gate(0.75))).outcome == SwapOutcome::Unchanged);
  CHECK(engine->swap(request_of(gate(0.5), first.substr(0, 8))).outcome == SwapOutcome::Active);
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));
  const auto swaps = records(folder.path, "swap");
  CHECK(swaps.size() == 9);
  CHECK(swaps.front().at("outcome") == "refused");
  CHECK(swaps.front().at("from") == first);
}

TEST_CASE("fault 46: --set survives a swap, and one that no longer exists is an error") {
  auto engine = engine_of(gate(0.75), settings(4, 2), {{"least", "0.4"}});
  const std::string other = "policy gate\nparam least: real = 0.75\non finish of group g {\n  when (g.reward_mean ?? 0) < least then drop\n  otherwise train\n}\n";
  REQUIRE(engine->swap(request_of(other)).outcome == SwapOutcome::Active);
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(4));
  CHECK(fates(driver)["p1"] == Fate::Trained);  // 0.5 >= 0.4
  const SwapReport gone = engine->swap(request_of("policy gate\nparam lowest: real = 0.75\non finish of group g {\n  when (g.reward_mean ?? 0) < lowest then drop\n  otherwise train\n}\n"));
  CHECK(gone.outcome == SwapOutcome::Refused);
  CHECK(gone.reason.find("parameters of the run") != std::string::npos);
  CHECK(gone.reason.find("least") != std::string::npos);
  SwapRequest more = request_of(other);
  more.parameters = {{"least", "0.6"}};
  CHECK(engine->swap(more).outcome == SwapOutcome::Active);  // the same text with another parameter is another version
  driver.run(1, prompts(4));
  CHECK(fates(driver)["p1"] == Fate::Dropped);
}

namespace {

std::string learner(const std::string& state, const std::string& update, const std::string& more = "") {
  return fmt::format("policy learner\nhit when reward >= 1\n{}\n{}on finish of group g {{ train }}\n"
                     "on update of batch b {{\n  for each g in b.ended {{ {} }}\n}}\n", state, more, update);
}

const std::string with_beta = learner("state belief: beta per prompt = beta(1, 1)",
                                      "remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses)");
const std::string as_mean = learner("state belief: real per prompt = 0.5", "remember belief[g.prompt] = 0.9 * belief[g.prompt]",
                                    "migrate belief from beta = beta_mean(old)\n");

}  // namespace

TEST_CASE("fault 48: state carries over by name and type at a barrier, a changed one through migrate or not at all") {
  auto engine = engine_of(with_beta, settings(2, 2));
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));  // p0: no hit of 2; p1: one of 2, so its posterior is beta(2, 2)
  const auto refused = engine->swap(request_of(learner("state belief: real per prompt = 0.5", "remember belief[g.prompt] = 0.9 * belief[g.prompt]")));
  CHECK(refused.outcome == SwapOutcome::Refused);
  CHECK(refused.reason.find("`belief` is real per prompt now and was beta per prompt") != std::string::npos);
  CHECK(refused.reason.find("`migrate belief from beta = …`") != std::string::npos);
  const auto report = engine->swap(request_of(as_mean));
  REQUIRE(report.outcome == SwapOutcome::Active);
  CHECK(report.state.migrated == std::vector<std::string>{"belief"});
  CHECK(engine->store().prompt("p0")[0][0].real() == 0.25);  // beta(1, 3): 1/4
  CHECK(engine->store().prompt("p1")[0][0].real() == 0.5);   // beta(2, 2)
  CHECK(engine->store().prompt("unseen")[0][0].real() == 0.5);
  // A new name starts, a name that is gone is dropped; both are told.
  const auto renamed = engine->swap(request_of(learner("state seen: real per prompt = 0", "remember seen[g.prompt] = 1 + seen[g.prompt]")));
  REQUIRE(renamed.outcome == SwapOutcome::Active);
  CHECK(renamed.state.started == std::vector<std::string>{"seen"});
  CHECK(renamed.state.dropped == std::vector<std::string>{"belief"});
}

TEST_CASE("swap: within an iteration a new form of the state waits for the barrier") {
  auto engine = engine_of(with_beta, settings(2, 2));
  Driver driver(*engine, by_digit);
  SwapReport asked;
  driver.after_event = [&] {
    if (asked.ticket == 0) asked = engine->swap(request_of(as_mean));
  };
  driver.run(0, prompts(2));
  CHECK(asked.outcome == SwapOutcome::Waiting);
  CHECK(asked.reason.find("end of iteration 0: the state `belief`") != std::string::npos);
  const SwapReport later = engine->swap_outcome(asked.ticket);
  CHECK(later.outcome == SwapOutcome::Active);
  CHECK(later.iteration == 1);
  // The batch's own version wrote first: p1 had one hit of two.
  CHECK(engine->store().prompt("p1")[0][0].real() == 0.5);
  driver.run(1, prompts(2));
  CHECK(engine->store().prompt("p1")[0][0].real() == 0.45);  // 0.9 * 0.5 by the new update
}

TEST_CASE("swap: of two in flight the later wins, the earlier is recorded as superseded") {
  const Folder folder;
  Settings made = settings(2, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(with_beta, made);
  Driver driver(*engine, by_digit);
  SwapReport first, second;
  driver.after_event = [&] {
    if (first.ticket != 0) return;
    first = engine->swap(request_of(as_mean));
    second = engine->swap(request_of(as_mean + "# another\n"));
  };
  driver.run(0, prompts(2));
  CHECK(second.outcome == SwapOutcome::Waiting);
  CHECK(engine->swap_outcome(first.ticket).outcome == SwapOutcome::Superseded);
  CHECK(engine->swap_outcome(second.ticket).outcome == SwapOutcome::Active);
  CHECK(engine->policy_hash() == second.to);
  // The same while both are being prepared: the one announced last wins, whoever is ready first.
  SwapRequest early = request_of(as_mean + "# early\n", second.to), late = request_of(as_mean + "# late\n", second.to);
  early.ticket = engine->announce_swap();
  late.ticket = engine->announce_swap();
  SwapReport early_told;
  std::thread other([&] { early_told = engine->swap(early); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const SwapReport late_told = engine->swap(late);
  other.join();
  CHECK(late_told.outcome == SwapOutcome::Active);
  CHECK(early_told.outcome == SwapOutcome::Superseded);
  // … unless it is refused.
  early.ticket = engine->announce_swap();
  late = request_of("policy broken\non finish of group g { dorp }\n", late_told.to);
  late.ticket = engine->announce_swap();
  early.expected = late_told.to;
  std::thread again([&] { early_told = engine->swap(early); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(engine->swap(late).outcome == SwapOutcome::Refused);
  again.join();
  CHECK(early_told.outcome == SwapOutcome::Active);
  driver.run(1, prompts(2));
  int superseded = 0;
  for (const auto& record : records(folder.path, "swap")) superseded += record.at("outcome") == "superseded";
  CHECK(superseded == 2);
}

TEST_CASE("fault 45: a running group ends under its version; with --now it changes over only where state and statistics allow") {
  const auto sprt = [](double bound) {
    return fmt::format("policy sprt\nstate score: real per group = 0\non every turn of group g {{\n  remember score = score + 0.4\n"
                       "  when score >= {} then stop, drop because \"score {{score}}\"\n  otherwise continue\n}}\n", bound);
  };
  // By the turns: a read sees the state from before it, so 0, 0.4, 0.8, 1.2, …; 1.0 is passed at turn 4, 0.6 at turn 3.
  const auto run = [&](bool now) {
    auto engine = engine_of(sprt(1.0), settings(1, 1));
    Driver driver(*engine, [](const std::string&, int) { return steady(9, 1.0); });
    bool swapped = false;
    driver.after_event = [&] {
      if (swapped || driver.turns < 2) return;
      swapped = true;
      SwapRequest request = request_of(sprt(0.6));
      request.now = now;
      const SwapReport report = engine->swap(request);
      CHECK(report.outcome == SwapOutcome::Active);
      CHECK(report.groups_moved == (now ? 1 : 0));
      CHECK(report.groups_restarted == 0);
    };
    driver.run(0, prompts(1));
    return driver.turns;
  };
  CHECK(run(false) == 4);
  CHECK(run(true) == 3);
  auto engine = engine_of(sprt(1.0), settings(1, 1));
  SwapRequest other = request_of("policy sprt\nstate total: int per group = 0\non every turn of group g {\n  remember total = total + 1\n  when total > 3 then stop, drop\n  otherwise continue\n}\n");
  other.now = true;
  Driver driver(*engine, [](const std::string&, int) { return steady(2, 1.0); });
  SwapReport report;
  driver.after_event = [&] {
    if (report.ticket == 0) report = engine->swap(other);
  };
  driver.run(0, prompts(1));
  CHECK(report.outcome == SwapOutcome::Refused);
  CHECK(report.reason.find("Running groups cannot change over: one of them has no state") != std::string::npos);
}

TEST_CASE("swap: statistics that the new version asks for are made from the log of running groups") {
  const std::string plain = "policy p\non turn 2 of group g { continue }\non turn 4 of group g { continue }\n";
  const std::string distances = "policy p\non turn 2 of group g { continue }\non turn 4 of group g {\n  let far = mean_pairwise(normalized_edit_distance, prefixes(g.actions, 4, padded))\n"
                                "  when (far ?? 1) < 0.3 then stop, drop because \"{far}\"\n  otherwise continue\n}\n";
  // Two rollouts that differ in one action of four: distance 1/4.
  const auto courses = [](const std::string&, int sample) {
    Course course = steady(6, sample);
    if (sample == 1) course.actions[0] = "jump";
    return course;
  };
  auto engine = engine_of(plain, settings(1, 2));
  Driver driver(*engine, courses);
  SwapReport report;
  driver.after_event = [&] {
    if (report.ticket != 0 || driver.turns < 5) return;
    SwapRequest request = request_of(distances);
    request.now = true;
    report = engine->swap(request);
  };
  driver.run(0, prompts(1));
  CHECK(report.outcome == SwapOutcome::Active);
  REQUIRE(driver.closed.size() == 1);
  CHECK(driver.closed.front().reason == "0.25");
}

namespace {

std::string pilot(const std::string& state, const std::string& remember, int total) {
  return fmt::format("policy pilot\nrefill at most 2 rounds then train_partial\n{}\non size of batch b {{ start 1 each, up to 4 }}\n"
                     "on wave 1 of group g {{\n  {}\n  otherwise defer at most 3 iterations\n}}\n"
                     "on wave of group g {{ stop }}\non resume of group g by g.age {{ complete to {} }}\non finish of group g {{ report looks = looks\n  train }}\n", state, remember, total);
}

}  // namespace

TEST_CASE("swap: a deferred group resumes under the current version, its state carried or begun anew, and the journal says which") {
  const std::string counts = pilot("state looks: int per group = 0", "remember looks = looks + 1", 2);
  for (const auto& [next, state, looks] :
       {std::tuple(pilot("state looks: int per group = 0", "remember looks = looks + 1", 3), "kept", 1.0),
        std::tuple(pilot("state looks: real per group = 7\nmigrate looks from int = 10 * old", "remember looks = looks + 1", 3), "migrated", 10.0),
        std::tuple(pilot("state looks: real per group = 7", "remember looks = looks + 1", 3), "restarted", 7.0)}) {
    const Folder folder;
    Settings made = settings(1, 4);
    made.run_folder = folder.path;
    auto engine = engine_of(counts, made);
    Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
    driver.run(0, prompts(1));
    REQUIRE(driver.deferred.size() == 1);
    const SwapReport report = engine->swap(request_of(next));
    if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
    CHECK(report.groups_moved == 1);
    CHECK(report.groups_restarted == (std::string(state) == "restarted"));
    const IterationReport told = driver.run(1, prompts(1));
    REQUIRE(driver.closed.size() == 1);
    CHECK(driver.closed.front().rewards.size() == 3);  // complete to 3, by the new version
    CHECK(told.metrics.at("report/looks") == looks);
    const auto adopted = records(folder.path, "adopt");
    REQUIRE(adopted.size() == 1);
    CHECK(adopted.front().at("state") == state);
    CHECK(adopted.front().at("g") == 0);
  }
}

TEST_CASE("swap: batch handlers are those of the batch's version until it ends") {
  const auto sized = [](int size) {
    return fmt::format("policy sized\nrefill at most 4 rounds then train_partial\non size of batch b {{ start {} each }}\n"
                       "on finish of group g {{\n  when (g.reward_mean ?? 0) < 0.6 then drop, refill\n  otherwise train\n}}\n", size);
  };
  auto engine = engine_of(sized(2), settings(1, 2));
  Driver driver(*engine, [](const std::string&, int) { return steady(1, 0.0); });
  SwapReport report;
  driver.after_event = [&] {
    if (report.ticket == 0) report = engine->swap(request_of(sized(3)));
  };
  driver.run(0, prompts(4));
  CHECK(report.outcome == SwapOutcome::Active);
  REQUIRE(driver.starts.size() == 4);  // four rounds, all asked of the batch's version
  for (const Start& start : driver.starts) CHECK(start.count == 2);
  CHECK(driver.closed[0].policy == report.from);
  CHECK(driver.closed[1].policy == report.to);  // opened after the swap
  driver.run(1, prompts(4));
  CHECK(driver.starts.back().count == 3);
}

TEST_CASE("rollback: what was remembered then comes back in its form of then, where that of now has no way back") {
  auto engine = engine_of(with_beta, settings(2, 2));
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));
  const auto then = engine->store().prompts();
  REQUIRE(engine->swap(request_of(as_mean)).outcome == SwapOutcome::Active);
  driver.run(1, prompts(2));
  const SwapReport refused = engine->swap(back(StateOf::Now));
  CHECK(refused.outcome == SwapOutcome::Refused);
  CHECK(refused.reason.find("`migrate belief from real = …`") != std::string::npos);
  const SwapReport report = engine->swap(back(StateOf::Then));
  if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
  CHECK(engine->store().prompts() == then);
  driver.run(2, prompts(2));
}

TEST_CASE("rollback: the version before, with the state of now or of then") {
  for (const bool on_disk : {false, true}) {
    const Folder folder;
    Settings made = settings(2, 2);
    if (on_disk) made.run_folder = folder.path;
    for (const StateOf state : {StateOf::Now, StateOf::Then}) {
      auto engine = engine_of(with_beta, made);
      const std::string first = engine->policy_hash();
      Driver driver(*engine, by_digit);
      driver.run(0, prompts(2));
      const auto then = engine->store().prompts();
      REQUIRE(engine->swap(request_of(with_beta + "# tighter\n")).outcome == SwapOutcome::Active);
      CHECK(engine->store().prompts() == then);  // a swap carries it over as it is
      driver.run(1, prompts(2));
      const auto now = engine->store().prompts();
      CHECK(now != then);
      const SwapReport report = engine->swap(back(state));
      if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
      CHECK(report.by == "rollback");
      CHECK(engine->policy_hash() == first);
      CHECK(engine->active_version() == 2);
      CHECK(engine->store().prompts() == (state == StateOf::Now ? now : then));
      const SwapReport again = engine->swap(back(state));  // the first version has none before it
      CHECK(again.outcome == SwapOutcome::Refused);
      CHECK(again.reason.find("was taken back") != std::string::npos);
      CHECK(engine_of(with_beta, settings(2, 2))->swap(back(state)).reason.find("never swapped") != std::string::npos);
      driver.run(2, prompts(2));
    }
  }
}

TEST_CASE("fault 47: a resumed run comes back to the active version with its parameters") {
  const Folder folder;
  Settings made = settings(4, 2);
  made.run_folder = folder.path;
  std::string state, active;
  std::vector<std::string> whole, resumed;
  const auto play = [](LiveEngine& engine, int from, std::vector<std::string>& told) {
    for (int iteration = from; iteration < from + 2; ++iteration) {
      Driver driver(engine, by_digit, static_cast<std::uint64_t>(iteration));
      driver.run(iteration, prompts(4));
      for (const GroupResult& result : driver.closed) told.push_back(fmt::format("{} {} {}", result.prompt, static_cast<int>(result.fate), result.reason));
    }
  };
  {
    auto engine = engine_of(gate(0.75), made);
    Driver driver(*engine, by_digit);
    driver.run(0, prompts(4));
    SwapRequest request = request_of(gate(0.1));
    request.parameters = {{"least", "0.3"}};
    REQUIRE(engine->swap(request).outcome == SwapOutcome::Active);
    driver.run(1, prompts(4));
    state = engine->save_state();
    active = engine->policy_hash();
    play(*engine, 2, whole);
  }
  auto engine = engine_of(gate(0.75), made);  // made from the file that the run began with
  REQUIRE(engine->restore(state));
  CHECK(engine->policy_hash() == active);
  CHECK(engine->active_version() == 1);
  play(*engine, 2, resumed);
  CHECK(resumed == whole);
  CHECK(engine->swap(back(StateOf::Now)).outcome == SwapOutcome::Active);  // the version before is known too
  // Without its text the run says what is missing.
  for (const auto& entry : fs::directory_iterator(folder.path / "versions")) fs::remove(entry.path());
  auto without = engine_of(gate(0.75), made);
  const auto refused = without->restore(state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("cannot be restored") != std::string::npos);
}

TEST_CASE("canary: a seeded share of the groups, or of the iterations where groups are ranked") {
  auto engine = engine_of(gate(0.75), settings(50, 2));
  SwapRequest request = request_of(gate(0.25));
  request.canary = 0.3;
  const SwapReport report = engine->swap(request);
  REQUIRE(report.outcome == SwapOutcome::Canary);
  Driver driver(*engine, by_digit);
  const IterationReport told = driver.run(0, prompts(50));
  std::map<std::string, int> by_policy;
  for (const GroupResult& result : driver.closed) {
    ++by_policy[result.policy];
    const bool middle = result.rewards[1] == 1.0;  // mean 0.5: the two versions differ
    if (middle) CHECK((result.fate == Fate::Trained) == (result.policy == report.to));
  }
  // 50 draws at 0.3: 4 to 27 is within five standard deviations.
  CHECK(by_policy[report.to] >= 4);
  CHECK(by_policy[report.to] <= 27);
  CHECK(told.metrics.at("version/1/decisions") == by_policy[report.to]);
  CHECK(told.metrics.at("policy/decisions") == 50);
  // Another order of arrival gives the same groups to it.
  auto again = engine_of(gate(0.75), settings(50, 2));
  REQUIRE(again->swap(request).outcome == SwapOutcome::Canary);
  Driver other(*again, by_digit, 99);
  other.run(0, prompts(50));
  std::map<std::string, std::string> one, two;
  for (const GroupResult& result : driver.closed) one[result.prompt] = result.policy;
  for (const GroupResult& result : other.closed) two[result.prompt] = result.policy;
  CHECK(one == two);
  // Taken back, it decides nothing more.
  const SwapReport taken = engine->swap(back(StateOf::Now));
  CHECK(taken.outcome == SwapOutcome::Active);
  CHECK(taken.reason.find("taken back") != std::string::npos);
  Driver last(*engine, by_digit);
  last.run(1, prompts(50));
  for (const GroupResult& result : last.closed) CHECK(result.policy == report.from);

  const auto ranked = [](const std::string& by) {
    return fmt::format("policy ranked\non select of pool p {{ take p.slots by {} }}\non finish of group g {{ train }}\n", by);
  };
  auto pool = engine_of(ranked("[0.0 for q in p.prompts]"), settings(2, 2));
  request = request_of(ranked("[1.0 for q in p.prompts]"));
  request.canary = 0.5;
  const SwapReport by_iteration = pool->swap(request);
  if (by_iteration.outcome != SwapOutcome::Canary) FAIL(by_iteration.reason);
  CHECK(by_iteration.reason.find("iterations") != std::string::npos);
  Driver batches(*pool, by_digit);
  int under_canary = 0;
  for (int iteration = 0; iteration < 20; ++iteration) {
    const std::size_t before = batches.closed.size();
    batches.run(iteration, prompts(4));
    const std::string& policy = batches.closed[before].policy;
    for (std::size_t i = before; i < batches.closed.size(); ++i) CHECK(batches.closed[i].policy == policy);
    under_canary += policy == by_iteration.to;
  }
  CHECK(under_canary >= 2);
  CHECK(under_canary <= 18);
  // State that differs cannot be shared.
  request = request_of(as_mean);
  request.canary = 0.1;
  CHECK(engine_of(with_beta, settings(1, 2))->swap(request).reason.find("A canary shares memory") != std::string::npos);
}

namespace {

// An executable that counts how many of it are alive.
struct Counted final : compiler::Executable {
  static inline std::atomic<int> alive{0};
  std::unique_ptr<compiler::Executable> inner;
  explicit Counted(std::unique_ptr<compiler::Executable> made) : inner(std::move(made)) { ++alive; }
  ~Counted() override { --alive; }
  void decide(int handler, const compiler::Frame& frame, compiler::Outcome& outcome) const noexcept override {
    inner->decide(handler, frame, outcome);
  }
  lang::Cell hit(const compiler::Frame& frame) const noexcept override { return inner->hit(frame); }
};

std::shared_ptr<Policy> counted(const std::string& text) {
  const auto plain = policy_of(text);
  auto program = std::make_shared<const lang::Program>(plain->program());
  auto code = std::make_unique<Counted>(compiler::evaluate(*program));
  return std::make_shared<Policy>(program, plain->parameters(), std::move(code));
}

}  // namespace

TEST_CASE("fault 42: old code is freed when its last group ends, not before, and only once") {
  auto engine = LiveEngine::create(settings(4, 2), counted(gate(0.0)));
  REQUIRE(engine);
  const int before = Counted::alive;
  CHECK(before == 1);
  Driver driver(**engine, by_digit);
  int swaps = 0;
  driver.after_event = [&] {
    if (driver.turns < 3 || swaps >= 40) return;
    SwapRequest request;
    request.policy = counted(gate(0.0) + fmt::format("# {}\n", ++swaps));
    REQUIRE((*engine)->swap(request).outcome == SwapOutcome::Active);
    request.policy.reset();
    // The batch's, that of the open groups, and the active one; what was never asked is gone at once.
    CHECK(Counted::alive <= 2);
  };
  driver.run(0, prompts(4));
  CHECK(swaps > 5);
  CHECK(Counted::alive == 1);  // at the barrier the batch takes the active version
  engine->reset();
  CHECK(Counted::alive == 0);
}

TEST_CASE("a decision never waits for the compilation of a policy that was swapped away") {
  std::promise<void> compiled;
  std::weak_ptr<Policy> slow;
  std::unique_ptr<LiveEngine> engine;
  {
    const auto policy = counted(gate(0.0));
    policy->compile_in_background([ready = compiled.get_future().share()](const lang::Program&) -> Result<std::unique_ptr<compiler::Executable>> {
      ready.wait();
      return Error{"no machine code here", ""};
    });
    slow = policy;
    auto made = LiveEngine::create(settings(2, 2), policy);
    REQUIRE(made);
    engine = *std::move(made);
  }
  Driver driver(*engine, by_digit);
  bool swapped = false;
  driver.after_event = [&] {
    if (std::exchange(swapped, true)) return;
    SwapRequest request;
    request.policy = counted(gate(0.0) + "# next\n");
    CHECK(engine->swap(request).outcome == SwapOutcome::Active);
  };
  driver.run(0, prompts(2));  // its last group ends here: a decision that waited would wait for ever
  CHECK(Counted::alive == 2);
  compiled.set_value();
  while (const auto policy = slow.lock()) {
    if (!policy->is_compiling()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  driver.run(1, prompts(2));
  CHECK(Counted::alive == 1);
}

TEST_CASE("a decision never waits for a swap that is being prepared") {
  // A long text takes milliseconds to check; decisions go on meanwhile and the swap comes through.
  auto engine = engine_of(gate(0.75), settings(2, 2));
  std::string large = gate(0.25);
  for (int i = 0; i < 150; ++i) large += fmt::format("fn f{}(x: real) -> real = x * {} + {}\n", i, i, i + 1);
  std::atomic<bool> done = false;
  std::thread swapping([&] {
    for (int i = 0; i < 10; ++i) (void)engine->swap(request_of(large + fmt::format("# {}\n", i)));
    done = true;
  });
  double worst = 0;
  int iterations = 0;
  while (!done) {
    Driver driver(*engine, by_digit);
    auto last = std::chrono::steady_clock::now();
    driver.after_event = [&] {
      const auto now = std::chrono::steady_clock::now();
      worst = std::max(worst, std::chrono::duration<double>(now - last).count());
      last = now;
    };
    driver.run(iterations++, prompts(2));
  }
  swapping.join();
  CHECK(iterations > 10);
  INFO("worst event " << worst << " s");
  CHECK(worst < 10);  // a hang would be found, on a busy machine too; the bench measures
}
