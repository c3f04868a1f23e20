// A run that goes back may replace a version more than once: a rollback brings the state of the timeline on which it stands.
#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/auditing.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/replaying.h"
#include "tests/engine/folder.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

namespace {

// `n` counts groups that had a hit; a reason tells it as of the iteration's start.
std::string counting(const std::string& who, const std::string& more = "") {
  return "policy counting\nhit when reward >= 1\n" + more + "state n: int per run = 0\non finish of group g {\n" +
         "  when g.scored < 1 then drop\n  otherwise train because \"" + who + " {n}\"\n}\n" +
         "on update of batch b { for each g in b.ended { remember n = n + (if g.hits > 0 then 1 else 0) } }\n";
}

std::string reason_of(Engine& engine, int iteration, double best) {
  Driver driver(engine, [best](const std::string&, int sample) { return steady(1, sample * best); });
  driver.run(iteration, prompts(1));
  return driver.closed.front().reason;
}

void go_back(Engine& engine, const std::string& state) {
  if (auto restored = engine.restore(state); !restored) FAIL(restored.error().text());
}

void roll_back(Engine& engine) {
  const SwapReport report = engine.swap(back(StateOf::Then));
  if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
}

// Between iterations `iteration` and the one after, or within `iteration`, so that it takes over at its end.
void play_and_swap(Engine& engine, int iteration, double best, const std::string& next, bool waits) {
  Driver driver(engine, [best](const std::string&, int sample) { return steady(1, sample * best); });
  SwapReport report;
  if (waits) {
    driver.after_event = [&] {
      if (report.ticket == 0) report = engine.swap(request_of(next));
    };
  }
  driver.run(iteration, prompts(1));
  if (!waits) report = engine.swap(request_of(next));
  CHECK(report.outcome == (waits ? SwapOutcome::Waiting : SwapOutcome::Active));
  CHECK(engine.swap_outcome(report.ticket).outcome == SwapOutcome::Active);
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

// The first telling has a hit in iterations 0 and 1, and is swapped after 1: n is 2. The second goes back to the end of 0, has
// none any more, and is swapped after 1 too: n is 1. Version 0 is replaced in both, at the same iteration.
TEST_CASE("rollback: the state of then is that of the timeline on which the run stands") {
  for (const bool waits : {false, true}) {
    for (const bool anew : {false, true}) {
      INFO((waits ? "at a barrier" : "between two iterations") << (anew ? ", a process each time" : ", one process"));
      const Folder folder;
      Settings made = settings(1, 2);
      made.run_folder = folder.path;
      const std::string more = waits ? "budget 1000 tokens per run\n" : "";
      auto engine = engine_of(counting("first"), made);
      const auto return_to = [&](const std::string& state) {
        if (anew) {
          engine.reset();
          engine = engine_of(counting("first"), made);
        }
        go_back(*engine, state);
      };
      CHECK(reason_of(*engine, 0, 1.0) == "first 0");
      const std::string early = engine->save_state();
      play_and_swap(*engine, 1, 1.0, counting("second", more), waits);
      CHECK(reason_of(*engine, 2, 1.0) == "second 2");
      const std::string late = engine->save_state();  // n is 3
      return_to(early);
      play_and_swap(*engine, 1, 0.5, counting("third", more), waits);
      CHECK(reason_of(*engine, 2, 0.5) == "third 1");
      const std::string other = engine->save_state();
      return_to(late);
      roll_back(*engine);
      CHECK(reason_of(*engine, 3, 0.5) == "first 2");
      return_to(other);
      roll_back(*engine);
      CHECK(reason_of(*engine, 3, 0.5) == "first 1");
      engine.reset();
      plays_again(folder);
    }
  }
}

// Older programs named the file by the number of the version alone, and their states say nothing of the place.
TEST_CASE("rollback: the state of then that an older program kept is still found") {
  const Folder folder;
  Settings made = settings(1, 2);
  made.run_folder = folder.path;
  std::string state;
  {
    auto engine = engine_of(counting("first"), made);
    play_and_swap(*engine, 0, 1.0, counting("second"), false);
    CHECK(reason_of(*engine, 1, 1.0) == "second 1");
    state = engine->save_state();
  }
  int renamed = 0;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path / "versions")) files.push_back(entry.path());
  for (const fs::path& file : files) {
    if (!file.filename().string().starts_with("state-0-")) continue;
    fs::rename(file, file.parent_path() / "state-0.json");
    ++renamed;
  }
  CHECK(renamed == 1);
  auto json = unseal(state);
  REQUIRE(json);
  auto& before = json->at("versions").at("before");
  REQUIRE(before.size() == 1);
  before.at(0).erase(3);
  json->erase("crc");
  auto engine = engine_of(counting("first"), made);
  go_back(*engine, seal(dump(*json)));
  roll_back(*engine);
  CHECK(reason_of(*engine, 2, 0.5) == "first 1");  // one hit before the swap
}
