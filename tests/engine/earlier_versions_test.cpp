// A trainer that goes back to an earlier checkpoint comes back to the version of then, and a swap that was accepted for the
// end of an iteration is made although that iteration is run again.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/auditing.h"
#include "runtime/engine/replaying.h"
#include "tests/engine/folder.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

namespace {

Settings in_folder(const Folder& folder, bool on_disk = true) {
  Settings made = settings(4, 2);
  if (on_disk) made.run_folder = folder.path;
  return made;
}

// The group of p1 has the mean reward 0.5.
Fate fate_of_p1(Engine& engine, int iteration) {
  Driver driver(engine, by_digit);
  driver.run(iteration, prompts(4));
  return fates(driver)["p1"];
}

void go_back(Engine& engine, const std::string& state) {
  if (auto restored = engine.restore(state); !restored) FAIL(restored.error().text());
}

void plays_again(const Folder& folder) {
  const auto replayed = replay_run(folder.path);
  if (!replayed) FAIL(replayed.error().text());
  if (replayed->first) FAIL(replayed->first->place << ' ' << replayed->first->recorded << " / " << replayed->first->replayed);
  const auto audited = audit_run(folder.path);
  if (!audited) FAIL(audited.error().text());
  CHECK(audited->good());
}

}  // namespace

TEST_CASE("a checkpoint of before a swap is decided by what was active then, one of after it by what was active after it") {
  for (const bool on_disk : {false, true}) {
    INFO((on_disk ? "with" : "without") << " a run folder");
    const Folder folder;
    auto engine = engine_of(gate(0.75), in_folder(folder, on_disk));
    const std::string first = engine->policy_hash();
    CHECK(fate_of_p1(*engine, 0) == Fate::Dropped);  // 0.5 < 0.75
    const std::string before = engine->save_state();
    const SwapReport report = engine->swap(request_of(gate(0.25)));
    REQUIRE(report.outcome == SwapOutcome::Active);
    CHECK(fate_of_p1(*engine, 1) == Fate::Trained);  // 0.5 >= 0.25
    const std::string after = engine->save_state();

    for (int time = 0; time < 2; ++time) {
      go_back(*engine, before);
      CHECK(engine->policy_hash() == first);
      CHECK(engine->active_version() == 0);
      CHECK(fate_of_p1(*engine, 1) == Fate::Dropped);
      go_back(*engine, after);
      CHECK(engine->policy_hash() == report.to);
      CHECK(engine->active_version() == 1);
      CHECK(fate_of_p1(*engine, 2) == Fate::Trained);
    }
    go_back(*engine, before);
    CHECK(engine->swap(request_of(gate(0.5))).version == 2);  // a number is not given twice
  }
}

TEST_CASE("where parameters alone were swapped a checkpoint of before has those of before") {
  for (const bool on_disk : {false, true}) {
    const Folder folder;
    auto engine = engine_of(gate(0.75), in_folder(folder, on_disk), {{"least", "0.6"}});
    CHECK(fate_of_p1(*engine, 0) == Fate::Dropped);  // 0.5 < 0.6
    const std::string before = engine->save_state();
    SwapRequest request = request_of(gate(0.75));
    request.parameters = {{"least", "0.4"}};
    REQUIRE(engine->swap(request).outcome == SwapOutcome::Active);
    CHECK(fate_of_p1(*engine, 1) == Fate::Trained);
    go_back(*engine, before);
    CHECK(engine->active().parameters == std::map<std::string, std::string>{{"least", "0.6"}});
    CHECK(fate_of_p1(*engine, 1) == Fate::Dropped);
    engine.reset();
    if (on_disk) plays_again(folder);
  }
}

TEST_CASE("a process that came back under a later version can go back to before it, and its journal plays again") {
  const Folder folder;
  std::string before, after, first;
  {
    auto engine = engine_of(gate(0.75), in_folder(folder));
    first = engine->policy_hash();
    fate_of_p1(*engine, 0);
    before = engine->save_state();
    REQUIRE(engine->swap(request_of(gate(0.25))).outcome == SwapOutcome::Active);
    fate_of_p1(*engine, 1);
    after = engine->save_state();
  }
  {
    auto engine = engine_of(gate(0.25), in_folder(folder));  // the active one, as a server takes it from the folder
    go_back(*engine, after);
    go_back(*engine, before);
    CHECK(engine->policy_hash() == first);
    CHECK(fate_of_p1(*engine, 1) == Fate::Dropped);
  }
  plays_again(folder);
}

TEST_CASE("without a run folder a swapped state is restored where its policy is known, and refused in words elsewhere") {
  auto engine = engine_of(gate(0.75), settings(4, 2));
  REQUIRE(engine->swap(request_of(gate(0.25))).outcome == SwapOutcome::Active);
  fate_of_p1(*engine, 0);
  const std::string after = engine->save_state();
  auto made_of_it = engine_of(gate(0.25), settings(4, 2));
  go_back(*made_of_it, after);
  CHECK(made_of_it->active_version() == 1);
  CHECK(fate_of_p1(*made_of_it, 1) == Fate::Trained);
  const auto refused = engine_of(gate(0.75), settings(4, 2))->restore(after);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("is not known: an engine without a run folder") != std::string::npos);
}

TEST_CASE("a swap that was accepted and waits takes over at the end of the iteration that is run again") {
  const Folder folder;
  auto engine = engine_of(with_beta, in_folder(folder));
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(4));
  const std::string state = engine->save_state();
  REQUIRE(engine->begin_iteration(1, prompts(4)));
  const SwapReport accepted = engine->swap(request_of(as_mean));
  REQUIRE(accepted.outcome == SwapOutcome::Waiting);
  go_back(*engine, state);
  CHECK(engine->swap_outcome(accepted.ticket).outcome == SwapOutcome::Waiting);
  CHECK(engine->swap_outcome(accepted.ticket).reason.find("at the end of iteration 1") != std::string::npos);
  driver.run(1, prompts(4));
  CHECK(engine->swap_outcome(accepted.ticket).outcome == SwapOutcome::Active);
  CHECK(engine->swap_outcome(accepted.ticket).iteration == 2);
  CHECK(engine->policy_hash() == accepted.to);
  driver.run(2, prompts(4));
  engine.reset();
  plays_again(folder);
}

TEST_CASE("a swap that waits changes nothing where the run went back to where its policy was active") {
  const Folder folder;
  auto engine = engine_of(with_beta, in_folder(folder));
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(4));
  const std::string before = engine->save_state();
  REQUIRE(engine->swap(request_of(as_mean)).outcome == SwapOutcome::Active);
  driver.run(1, prompts(4));
  const std::string after = engine->save_state();
  go_back(*engine, before);
  REQUIRE(engine->begin_iteration(1, prompts(4)));
  const SwapReport accepted = engine->swap(request_of(as_mean));
  REQUIRE(accepted.outcome == SwapOutcome::Waiting);
  go_back(*engine, after);
  driver.run(2, prompts(4));
  CHECK(engine->swap_outcome(accepted.ticket).outcome == SwapOutcome::Unchanged);
  CHECK(engine->active_version() == 1);
  driver.run(3, prompts(4));
  engine.reset();
  plays_again(folder);
}

TEST_CASE("a rollback that waits is refused where the run went back to before what it takes back") {
  auto engine = engine_of(with_beta, settings(4, 2));
  const std::string first = engine->policy_hash();
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(4));
  const std::string state = engine->save_state();
  REQUIRE(engine->swap(request_of(with_beta + "# tighter\n")).outcome == SwapOutcome::Active);
  driver.run(1, prompts(4));
  REQUIRE(engine->begin_iteration(2, prompts(4)));
  const SwapReport accepted = engine->swap(back(StateOf::Then));
  REQUIRE(accepted.outcome == SwapOutcome::Waiting);
  go_back(*engine, state);
  driver.run(1, prompts(4));
  CHECK(engine->swap_outcome(accepted.ticket).outcome == SwapOutcome::Refused);
  CHECK(engine->policy_hash() == first);
}

TEST_CASE("a swap between two iterations is told once, also where the process ended before the iteration that follows") {
  const Folder folder;
  std::string state, hash;
  {
    auto engine = engine_of(with_beta, in_folder(folder));
    Driver driver(*engine, by_digit);
    driver.run(0, prompts(4));
    const SwapReport report = engine->swap(request_of(with_beta + "# tighter\n"));
    REQUIRE(report.outcome == SwapOutcome::Active);
    hash = report.to;
    state = engine->save_state();
  }
  auto engine = engine_of(with_beta, in_folder(folder));
  go_back(*engine, state);
  Driver driver(*engine, by_digit);
  driver.run(1, prompts(4));
  driver.run(2, prompts(4));
  engine.reset();
  int told = 0;
  for (const auto& record : records(folder.path, "swap")) {
    told += record.at("to") == hash && record.at("v") == 1 && record.at("it") == 1;
  }
  CHECK(told == 1);
  plays_again(folder);
}
