// What `allot log` is made of: rows, filters, the tail of a journal, and the whole story of a group.
#include <algorithm>
#include <map>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/engine/journal_tail.h"
#include "runtime/engine/record_rows.h"
#include "runtime/engine/story.h"
#include "tests/engine/played_runs.h"

using namespace allot;
using namespace allot::engine;
using bench::Folder;
using bench::played_run;
using bench::PlayedRun;

namespace {

std::vector<RecordRow> rows_of(const Folder& folder, const RowFilter& filter = {}) {
  std::vector<RecordRow> rows;
  auto read = read_rows(folder.path(), [&](const RecordRow& row) {
    if (filter.accepts(row)) rows.push_back(row);
  });
  REQUIRE(read);
  return rows;
}

}  // namespace

TEST_CASE("a filter keeps the rows of which all that it says holds") {
  const Folder folder;
  bench::play(played_run("learning"), folder, 0, 4);
  const std::vector<RecordRow> all = rows_of(folder);
  const auto expect = [&](const RowFilter& filter, const auto& holds) {
    const std::size_t expected = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), holds));
    CHECK(expected > 0);
    CHECK(expected < all.size());
    CHECK(rows_of(folder, filter).size() == expected);
  };
  RowFilter filter;
  filter.iterations = {1, 2};
  expect(filter, [](const RecordRow& row) { return row.iteration == 1 || row.iteration == 2; });
  filter = {};
  filter.group = 5;
  expect(filter, [](const RecordRow& row) { return row.group == 5; });
  filter.kind = "decision";
  expect(filter, [](const RecordRow& row) { return row.group == 5 && row.kind == "decision"; });
  filter = {};
  filter.prompt = "p1";
  expect(filter, [](const RecordRow& row) { return row.prompt == "p1"; });
  filter = {};
  filter.rule = "22";
  expect(filter, [](const RecordRow& row) { return row.rule == "test.allot:22"; });
  filter.rule = "test.allot:22";
  expect(filter, [](const RecordRow& row) { return row.rule == "test.allot:22"; });
  filter.rule = "2";  // no rule stands there, and 22 is another
  CHECK(rows_of(folder, filter).empty());
}

TEST_CASE("the tail of a journal gives each record once, as soon as its line is whole") {
  const Folder folder;
  JournalTail tail(folder.path() / "journal");
  const auto ignore = [](const nlohmann::ordered_json&) {};
  CHECK_FALSE(tail.poll(ignore));
  bench::play(played_run("learning"), folder, 0, 1);
  int seen = 0;
  const auto count = [&](const nlohmann::ordered_json&) { ++seen; };
  REQUIRE(tail.poll(count));
  const std::string whole = bench::read_file(folder.segment(1));
  const auto lines = static_cast<int>(std::count(whole.begin(), whole.end(), '\n'));
  CHECK(seen == lines);
  const std::string last = whole.substr(whole.rfind('\n', whole.size() - 2) + 1);
  bench::write_file(folder.segment(1), whole + last.substr(0, 30));
  REQUIRE(tail.poll(count));
  CHECK(seen == lines);  // the line is still being written
  bench::write_file(folder.segment(1), whole + last);
  REQUIRE(tail.poll(count));
  CHECK(seen == lines + 1);
  bench::play(played_run("learning"), folder, 1, 2);  // in a segment of its own
  REQUIRE(tail.poll(count));
  const std::string second = bench::read_file(folder.segment(2));
  CHECK(seen == lines + 1 + static_cast<int>(std::count(second.begin(), second.end(), '\n')));
  std::string damaged = second.substr(0, second.find('\n') + 1);
  damaged[10] = 'x';
  bench::write_file(folder.segment(2), second + damaged);
  const auto problems = tail.poll(count);
  REQUIRE(problems);
  CHECK(problems->size() == 1);
}

// The budget of the run ends in the third iteration: 3 slots of 4 rollouts, 30 rollouts in all.
TEST_CASE("the story of a group tells of the budget's cut and of the refill that followed") {
  const Folder folder;
  const PlayedRun run{.name = "cut", .policy = R"(
policy cut
budget 30 rollouts per run
refill at most 2 rounds then train_partial
on finish of group g {
  when g.slot == 1 or g.scored < 2 then drop, refill
  otherwise train
}
)"};
  bench::play(run, folder, 0, 4);
  bool cut = false, refilled = false;
  for (const RecordRow& row : rows_of(folder)) {
    if (row.kind != "close") continue;
    const auto story = tell_group(folder.path(), row.group, StoryFormat::Words);
    REQUIRE(story);
    CHECK((story->find("the budget could not cover") != std::string::npos) == row.record.at("cut_by_budget").get<bool>());
    cut = cut || row.record.at("cut_by_budget").get<bool>();
    refilled = refilled || story->find("was filled again by group") != std::string::npos;
  }
  CHECK(cut);
  CHECK(refilled);
}

TEST_CASE("the story of a deferred group tells of its wait and of its taking up") {
  const Folder folder;
  bench::play(played_run("choosing"), folder, 0, 4);
  int told = 0;
  for (const RecordRow& row : rows_of(folder)) {
    if (row.kind != "take_up") continue;
    const auto story = tell_group(folder.path(), row.group, StoryFormat::Words);
    REQUIRE(story);
    const std::size_t waits = story->find("waits, for 2 iterations at most");
    CHECK(waits != std::string::npos);
    CHECK(story->find("is taken up in slot", waits) != std::string::npos);
    ++told;
  }
  CHECK(told > 0);
}

TEST_CASE("rows name the version that decided, by number and hash, and can be chosen by either") {
  const Folder folder;
  Settings made = bench::settings(2, 2);
  made.run_folder = folder.path();
  std::string first, second;
  {
    auto engine = bench::engine_of("policy one\non finish of group g { train }\n", made);
    bench::Driver driver(*engine, [](const std::string&, int sample) { return bench::steady(2, sample); });
    driver.run(0, bench::prompts(2));
    first = engine->policy_hash();
    SwapRequest request;
    request.policy = bench::policy_of("policy two\non finish of group g { drop }\n");
    REQUIRE(engine->swap(request).outcome == SwapOutcome::Active);
    second = engine->policy_hash();
    driver.run(1, bench::prompts(2));
  }
  const auto decisions = [&](const std::string& version) {
    RowFilter filter;
    filter.kind = "decision";
    filter.version = version;
    std::vector<int> iterations;
    for (const RecordRow& row : rows_of(folder, filter)) {
      CHECK(row.policy == (row.version == 0 ? first : second));
      iterations.push_back(row.iteration);
    }
    return iterations;
  };
  CHECK(decisions("0") == std::vector{0, 0});
  CHECK(decisions("1") == std::vector{1, 1});
  CHECK(decisions(first.substr(0, 12)) == std::vector{0, 0});
  CHECK(decisions(second) == std::vector{1, 1});
  CHECK(decisions("2").empty());
  CHECK(decisions("00000000").empty());
  RowFilter of_second;
  of_second.version = "1";
  std::map<std::string, int> kinds;
  for (const RecordRow& row : rows_of(folder, of_second)) ++kinds[row.kind];
  CHECK(kinds == std::map<std::string, int>{{"decision", 2}, {"swap", 1}, {"version", 1}});
  const auto told = tell_run(folder.path(), StoryFormat::Words);
  REQUIRE(told);
  CHECK(told->find("[test.allot:2, version 1 (" + second.substr(0, 12) + ")]") != std::string::npos);
  CHECK(told->find("version 1 (" + second.substr(0, 12) + ") takes the place of " + first.substr(0, 12)) != std::string::npos);
  const auto why = tell_group(folder.path(), 2, StoryFormat::Words);
  REQUIRE(why);
  CHECK(why->find("on finish of group g: drop, version 1 (" + second.substr(0, 12) + ")\n") != std::string::npos);
  const auto json = tell_group(folder.path(), 2, StoryFormat::Json);
  REQUIRE(json);
  const auto decision = nlohmann::json::parse(*json).at("decisions").at(0);
  CHECK(decision.at("version") == 1);
  CHECK(decision.at("policy") == second);
}
