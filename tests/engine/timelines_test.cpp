// Iterations that were given up, and a run that went back to an earlier state and came again from a later one.
#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/record_rows.h"
#include "runtime/engine/replaying.h"
#include "runtime/engine/story.h"
#include "tests/engine/bench.h"
#include "tests/engine/chained_run.h"

using namespace allot;
using namespace allot::engine;
using bench::contains;
using bench::Driver;
using bench::engine_of;
using bench::Folder;
using bench::prompts;
using bench::rows_of;
using bench::settings;
using bench::steady;

namespace {

void check_whole(const Folder& folder, std::int64_t iterations) {
  CHECK(bench::audit(folder.path()).good());
  auto replayed = replay_run(folder.path());
  if (!replayed) FAIL(replayed.error().text());
  if (replayed->first) FAIL(replayed->first->place << ' ' << replayed->first->kind << ' ' << replayed->first->member << ": " << replayed->first->recorded << " / " << replayed->first->replayed);
  CHECK(replayed->iterations == iterations);
}

}  // namespace

// Two handlers are asked of each of two groups once: four answers an iteration, all of which change nothing.
TEST_CASE("answers of an iteration that was given up are not told as those of the next") {
  const Folder folder;
  Settings made = settings(2, 2);
  made.run_folder = folder.path();
  {
    auto engine = engine_of(R"(
policy watching
on turn 1 of group g { when g.alive < 1 then stop, drop otherwise continue }
on turn 2 of group g { when g.alive < 1 then stop, drop otherwise continue }
)", made);
    const auto course = [](const std::string&, int sample) { return steady(3, sample); };
    Driver(*engine, course).run(0, prompts(2));
    const std::string state = engine->save_state();
    REQUIRE(engine->begin_iteration(1, prompts(2)));
    for (const int group : {2, 3}) {
      for (const int sample : {0, 1}) {
        Turn turn;
        turn.action = "look";
        REQUIRE(engine->turn({group, sample}, turn));
      }
    }
    REQUIRE(engine->restore(state));
    Driver(*engine, course).run(1, prompts(2));
  }
  std::map<int, int> decisions;
  for (const RecordRow& row : rows_of(folder, "decision")) ++decisions[row.iteration];
  CHECK(decisions == std::map<int, int>{{0, 4}, {1, 4}});
  check_whole(folder, 2);
}

namespace {

const char* const counting = R"(
policy counting
hit when reward >= 1
state n: int per run = 0
on finish of group g {
  when g.scored < 1 then drop
  otherwise train because "n {n}"
}
on update of batch b { for each g in b.ended { remember n = n + (if g.hits > 0 then 1 else 0) } }
)";

// Its group has a hit where it is one of the first telling.
void play(Engine& engine, const std::string& telling, int iteration) {
  const double best = telling == "a" ? 1.0 : 0.5;
  Driver(engine, [best](const std::string&, int sample) { return steady(1, sample * best); })
      .run(iteration, {fmt::format("{}{}", telling, iteration)});
}

}  // namespace

// a0 … a4, back to the end of a2, b3 and b4, and again from the end of a4: a5. Each `a` counts one in `n`, no `b` does.
TEST_CASE("a run that goes on from an end which it had left is played and told as the one on which it stands") {
  const Folder folder;
  Settings made = settings(1, 2);
  made.run_folder = folder.path();
  {
    auto engine = engine_of(counting, made);
    std::map<int, std::string> ends;
    for (int iteration = 0; iteration < 5; ++iteration) {
      play(*engine, "a", iteration);
      ends[iteration] = engine->save_state();
    }
    REQUIRE(engine->restore(ends.at(2)));
    for (const int iteration : {3, 4}) play(*engine, "b", iteration);
    REQUIRE(engine->restore(ends.at(4)));
    play(*engine, "a", 5);
  }
  check_whole(folder, 5 + 2 + 1);
  std::vector<std::string> told;
  for (const RecordRow& row : rows_of(folder, "open")) told.push_back(row.prompt);
  CHECK(told == std::vector<std::string>{"a0", "a1", "a2", "a3", "a4", "a5"});
  std::vector<std::string> reasons;
  for (const RecordRow& row : rows_of(folder, "decision")) {
    if (row.group >= 0) reasons.push_back(row.reason);
  }
  CHECK(reasons == std::vector<std::string>{"n 0", "n 1", "n 2", "n 3", "n 4", "n 5"});
  const auto story = tell_group(folder.path(), 3, StoryFormat::Words);
  REQUIRE(story);
  CHECK(contains(*story, "prompt a3"));
  CHECK(contains(*story, "because \"n 3\""));
  const auto resumes = rows_of(folder, "resume");
  REQUIRE(resumes.size() == 1);  // the other one led to what is not told
  CHECK(resumes.front().iteration == 5);
  const auto log = tell_run(folder.path(), StoryFormat::Words);
  REQUIRE(log);
  CHECK(contains(*log, "the run was resumed here\n"));  // nothing that had ended runs again
}

TEST_CASE("of a run that stands on the later telling, that one is told, whatever came before it") {
  const Folder folder;
  Settings made = settings(1, 2);
  made.run_folder = folder.path();
  {
    auto engine = engine_of(counting, made);
    std::string second, last;
    for (int iteration = 0; iteration < 5; ++iteration) {
      play(*engine, "a", iteration);
      (iteration == 1 ? second : last) = engine->save_state();
    }
    REQUIRE(engine->restore(second));
    play(*engine, "b", 2);
    const std::string other = engine->save_state();
    REQUIRE(engine->restore(last));
    play(*engine, "a", 5);
    REQUIRE(engine->restore(other));
    play(*engine, "b", 3);
  }
  check_whole(folder, 5 + 1 + 1 + 1);
  std::vector<std::string> told;
  for (const RecordRow& row : rows_of(folder, "open")) told.push_back(row.prompt);
  CHECK(told == std::vector<std::string>{"a0", "a1", "b2", "b3"});
  const auto log = tell_run(folder.path(), StoryFormat::Words);
  REQUIRE(log);
  CHECK(contains(*log, "the run was resumed here: iterations 2, 3, 4 had ended, and run again\n"));
  CHECK(contains(*log, "the run was resumed here: iteration 5 had ended, and runs again\n"));
  CHECK(rows_of(folder, "resume").size() == 2);  // the one between them led to what is not told
}
