// Why a group got its fate: the words that the host hears are those that a reader of the journal finds.
#include <algorithm>
#include <map>
#include <optional>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/record_rows.h"
#include "runtime/engine/replaying.h"
#include "runtime/engine/story.h"
#include "tests/engine/bench.h"
#include "tests/engine/chained_run.h"
#include "tests/engine/journal_lines.h"

using namespace allot;
using namespace allot::engine;
using bench::contains;
using bench::Driver;
using bench::engine_of;
using bench::Folder;
using bench::rows_of;
using bench::settings;
using bench::steady;

namespace {

// One group of two, whose rollouts get these rewards.
GroupResult only_result(const Folder& folder, const std::string& handlers, const std::vector<std::optional<double>>& rewards) {
  Settings made = settings(1, 2);
  made.run_folder = folder.path();
  auto engine = engine_of("policy p\n" + handlers, made);
  Driver driver(*engine, [&](const std::string&, int sample) { return steady(2, rewards[static_cast<std::size_t>(sample)]); });
  driver.run(0, {"p0"});
  REQUIRE(driver.closed.size() == 1);
  return driver.closed.front();
}

}  // namespace

TEST_CASE("a prompt in a reason is its name, for the host and for whoever reads the journal") {
  const std::vector<std::string> names{"p0", "", "0", "a \"quoted\" one", "p0"};
  const Folder folder;
  Settings made = settings(5, 1);
  made.run_folder = folder.path();
  std::vector<GroupResult> closed;
  {
    auto engine = engine_of(R"(
policy naming
state n: int per prompt = 0
on finish of group g {
  when g.scored < 1 then drop
  otherwise train because "{n[g.prompt]} of {g.prompt}, {g.scored}"
}
on update of batch b { for each g in b.ended { remember n[g.prompt] = n[g.prompt] + 1 } }
)", made);
    Driver driver(*engine, [](const std::string&, int) { return steady(1, 1.0); });
    driver.run(0, names);
    driver.run(1, names);
    closed = driver.closed;
  }
  std::map<int, std::string> told;
  for (const RecordRow& row : rows_of(folder, "decision")) {
    if (row.group >= 0) told[row.group] = row.reason;
  }
  REQUIRE(closed.size() == 10);
  for (const GroupResult& group : closed) {
    // Before the second iteration each prompt had ended once, and "p0", which has two slots, twice.
    const int seen = group.group < 5 ? 0 : group.prompt == "p0" ? 2 : 1;
    CHECK(group.reason == fmt::format("{} of {}, 1", seen, group.prompt));
    CHECK(told.at(group.group) == group.reason);
  }
  const auto story = tell_group(folder.path(), 8, StoryFormat::Words);
  REQUIRE(story);
  CHECK(contains(*story, "because \"1 of a "));
  CHECK(bench::audit(folder.path()).good());
  const auto replayed = replay_run(folder.path());
  REQUIRE(replayed);
  CHECK(replayed->differing == 0);

  // A name that somebody changed is found, and the answers of a program that wrote none are the same.
  std::vector<std::string> lines = bench::lines_of(folder.segment(1));
  const auto named = std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return contains(line, "\"names\":"); });
  REQUIRE(named != lines.end());
  auto record = nlohmann::ordered_json::parse(*named);
  for (auto& [hole, name] : record.at("names").items()) name = "another";
  *named = bench::sealed(record);
  bench::write_lines(folder.segment(1), lines);
  const auto forged = replay_run(folder.path());
  REQUIRE(forged);
  REQUIRE(forged->differing == 1);
  CHECK(forged->first->member == "names");
  record.erase("names");
  *named = bench::sealed(record);
  bench::write_lines(folder.segment(1), lines);
  const auto older = replay_run(folder.path());
  REQUIRE(older);
  CHECK(older->differing == 0);
}

TEST_CASE("where nothing is left to train on, no rule that said `train` has decided, and the journal says why") {
  struct Case {
    std::string handlers;
    std::vector<std::optional<double>> rewards;
    std::string reason;
  };
  const std::vector<Case> cases{
      {"on finish of group g { when g.scored > 9 then drop\n otherwise train }", {{}, {}}, "no rollout was scored; test.allot:3 had said train"},
      {"on finish of group g { train because \"all {g.started}\" }", {{}, {}}, "no rollout was scored; test.allot:2 had said train: all 2"},
      {"on finish of group g { train [0] }", {{}, 1.0}, "the subset holds no scored rollout; test.allot:2 had said train"},
      {"on finish of group g { when g.scored > 9 then drop }", {{}, {}}, "no rollout was scored"},
      {"on turn 1 of group g { stop }", {1.0, 1.0}, "no rollout was scored; test.allot:2 had said stop"}};
  for (const Case& each : cases) {
    INFO(each.handlers);
    const Folder folder;
    const GroupResult result = only_result(folder, each.handlers, each.rewards);
    CHECK(result.fate == Fate::Dropped);
    CHECK(result.rule.empty());
    CHECK(result.reason == each.reason);
    const auto rows = rows_of(folder, "close");
    REQUIRE(rows.size() == 1);
    CHECK(rows.front().rule.empty());
    CHECK(rows.front().reason == each.reason);
    const auto story = tell_group(folder.path(), 0, StoryFormat::Words);
    REQUIRE(story);
    CHECK(contains(*story, "fate: dropped because " + each.reason + "\n"));
  }
}

TEST_CASE("a rule that stopped all rollouts and told why has decided") {
  const Folder folder;
  const GroupResult result = only_result(folder, "on turn 1 of group g { stop because \"enough\" }", {1.0, 1.0});
  CHECK(result.fate == Fate::Dropped);
  CHECK(result.rule == "test.allot:2");
  CHECK(result.reason == "enough");
  const auto story = tell_group(folder.path(), 0, StoryFormat::Words);
  REQUIRE(story);
  CHECK(contains(*story, "because \"enough\""));
  CHECK(contains(*story, "fate: dropped by test.allot:2\n"));
}

TEST_CASE("numbers of a record are told whole, however large a policy makes them") {
  const nlohmann::ordered_json deferred{{"k", "defer"}, {"g", 3}, {"limit", 9000000000}};
  CHECK(event_words(deferred) == "group 3 waits, for 9000000000 iterations at most");
  const nlohmann::ordered_json once{{"k", "defer"}, {"g", 3}, {"limit", 1}};
  CHECK(event_words(once) == "group 3 waits, for 1 iteration at most");
}
