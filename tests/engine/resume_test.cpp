// A resumed run decides what an uninterrupted one decides.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::Course;
using bench::Driver;
using bench::engine_of;
using bench::prompts;
using bench::settings;
using bench::steady;

namespace {

const char* const learning = R"(
policy learning
hit when reward >= 1
budget 500 rollouts per run
budget 900 tokens per iteration, carry over
refill at most 3 rounds then train_partial
state belief: beta per prompt = beta(1, 1) decay 0.95
state seen: groups per run = 0
on size of batch b { start 2 each, up to 4 }
on wave of group g {
  when beta_mean(belief[g.prompt]) > 0.6 then stop, drop, refill because "known: {beta_mean(belief[g.prompt])}"
  otherwise complete to 4
}
on update of batch b {
  for each g in b.ended { remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses) }
  remember seen = seen + b.size
  report seen = seen
}
)";

Course course_of(const std::string& prompt, int sample) { return steady(3, (prompt.back() + sample) % 3 == 0 ? 0.0 : 1.0); }

struct Told {
  std::vector<std::string> groups;
  std::vector<std::map<std::string, double>> metrics;
};

void play(LiveEngine& engine, int from, int to, Told& told) {
  for (int iteration = from; iteration < to; ++iteration) {
    Driver driver(engine, course_of, static_cast<std::uint64_t>(iteration));  // the order of arrival is part of the run
    told.metrics.push_back(driver.run(iteration, prompts(9)).metrics);
    for (const GroupResult& result : driver.closed) {
      told.groups.push_back(fmt::format("{} {} {} {}", result.group, result.prompt, static_cast<int>(result.fate), result.reason));
    }
  }
}

}  // namespace

TEST_CASE("saved and restored at any barrier, the run goes on as if it had never been interrupted") {
  Told whole;
  auto uninterrupted = engine_of(learning, settings(3, 4));
  play(*uninterrupted, 0, 6, whole);
  for (int cut = 1; cut < 6; ++cut) {
    Told parts;
    auto before = engine_of(learning, settings(3, 4));
    play(*before, 0, cut, parts);
    auto after = engine_of(learning, settings(3, 4));
    REQUIRE(after->restore(before->save_state()));
    play(*after, cut, 6, parts);
    CHECK(parts.groups == whole.groups);
    CHECK(parts.metrics == whole.metrics);
    CHECK(after->save_state() == uninterrupted->save_state());
  }
}

TEST_CASE("the same from the folder of the run, and from a checkpoint of it") {
  Told whole;
  auto uninterrupted = engine_of(learning, settings(3, 4));
  play(*uninterrupted, 0, 6, whole);
  for (const bool at_checkpoint : {false, true}) {
    for (int cut = 1; cut < 6; ++cut) {
      const bench::Folder folder, checkpoint;
      std::filesystem::create_directories(checkpoint.path());
      Settings kept = settings(3, 4);
      kept.run_folder = folder.path();
      Told parts;
      {
        auto before = engine_of(learning, kept);
        play(*before, 0, cut, parts);
        REQUIRE(before->save_state_in(checkpoint.path()));
        if (at_checkpoint) {
          Told lost;  // iterations after the checkpoint, which is what counts
          play(*before, cut, 6, lost);
        }
      }
      auto after = engine_of(learning, kept);
      auto restored = after->restore_from(at_checkpoint ? checkpoint.path() : folder.path());
      if (!restored) FAIL(restored.error().text());
      play(*after, cut, 6, parts);
      CHECK(parts.groups == whole.groups);
      CHECK(parts.metrics == whole.metrics);
      CHECK(bench::without_mark(after->save_state()) == bench::without_mark(uninterrupted->save_state()));
    }
  }
}

TEST_CASE("what is saved in the middle of an iteration is its beginning") {
  auto engine = engine_of(learning, settings(3, 4));
  Told told;
  play(*engine, 0, 2, told);
  const std::string at_barrier = engine->save_state();
  REQUIRE(engine->begin_iteration(2, prompts(9)));
  CHECK(engine->save_state() == at_barrier);
  const bench::Folder folder;
  std::filesystem::create_directories(folder.path());
  REQUIRE(engine->save_state_in(folder.path()));
  CHECK(bench::read_file(folder.path() / "state.json") == at_barrier);  // an engine without a run folder: one text
}

TEST_CASE("a damaged state, and one of another policy, are refused") {
  auto engine = engine_of(learning, settings(3, 4));
  Told told;
  play(*engine, 0, 1, told);
  const std::string state = engine->save_state();
  for (std::size_t at = 0; at < state.size(); at += 7) {
    std::string damaged = state;
    damaged[at] = damaged[at] == 'x' ? 'y' : 'x';
    CHECK_FALSE(engine_of(learning, settings(3, 4))->restore(damaged));
  }
  CHECK_FALSE(engine->restore(state.substr(0, state.size() / 2)));
  CHECK_FALSE(engine->restore(""));
  auto other = engine_of("policy other\non finish of group g { train }\n", settings(3, 4));
  auto refused = other->restore(state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("another policy") != std::string::npos);
}

TEST_CASE("a run is not begun over the state of another: it is given that state first, or a folder of its own") {
  const bench::Folder folder;
  Settings kept = settings(3, 4);
  kept.run_folder = folder.path();
  std::string at_beginning;
  {
    auto engine = engine_of(learning, kept);
    at_beginning = engine->save_state();
    Told told;
    play(*engine, 0, 2, told);
  }
  const std::string state = bench::read_file(folder.path() / "state.json");
  {
    auto forgetful = engine_of(learning, kept);
    const auto begun = forgetful->begin_iteration(0, prompts(9));
    REQUIRE_FALSE(begun);
    CHECK(begun.error().what.find("holds the state of a run") != std::string::npos);
    CHECK(begun.error().what.find(folder.path().string()) != std::string::npos);
    CHECK(begun.error().help.find("name another folder") != std::string::npos);
  }
  CHECK(bench::read_file(folder.path() / "state.json") == state);
  {
    auto resumed = engine_of(learning, kept);
    REQUIRE(resumed->restore_from(folder.path()));
    CHECK(resumed->begin_iteration(2, prompts(9)));
  }
  // A host that ended before its first checkpoint begins anew from the state of the beginning.
  auto anew = engine_of(learning, kept);
  REQUIRE(anew->restore(at_beginning));
  CHECK(anew->begin_iteration(0, prompts(9)));
}
