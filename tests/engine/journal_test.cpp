// The journal: everything is there, damage is named to the line, and the story is told from it alone.
#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/policy_text.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/story.h"
#include "runtime/engine/swap_files.h"
#include "runtime/math/checksum.h"
#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::Course;
using bench::Driver;
using bench::engine_of;
using bench::Folder;
using bench::prompts;
using bench::settings;
using bench::steady;
namespace fs = std::filesystem;

namespace {

const char* const selective = R"(
policy selective_rollout
param at: turns = 3
on turn at of group g {
  let divergence = mean_pairwise(normalized_edit_distance, prefixes(g.actions, at, padded))
  when (divergence ?? 1.0) < 0.12 then stop, drop because "converged: divergence {divergence}"
  otherwise continue
}
)";

Course course_of(const std::string& prompt, int sample) {
  Course course = steady(5, sample % 2);
  if (prompt != "p0") course.actions.assign(5, fmt::format("go {}", sample));
  return course;
}

Settings in_folder(const Folder& folder) {
  Settings made = settings(2, 4);
  made.run_folder = folder.path();
  return made;
}

void play(const Folder& folder, int iterations) {
  auto engine = engine_of(selective, in_folder(folder));
  Driver driver(*engine, course_of);
  for (int iteration = 0; iteration < iterations; ++iteration) driver.run(iteration, prompts(2));
}

int count(const fs::path& folder, const std::string& kind) {
  int found = 0;
  auto problems = read_journal(folder / "journal", [&](const nlohmann::ordered_json& record) {
    found += record.at("k") == kind;
  });
  REQUIRE(problems);
  CHECK(problems->damaged.empty());
  return found;
}

}  // namespace

TEST_CASE("a line carries its own checksum and stays plain JSON") {
  const std::string line = seal(R"({"a":1})");
  CHECK(is_sealed(line));
  CHECK(nlohmann::json::parse(line).at("a") == 1);
  for (std::size_t at = 0; at < line.size(); ++at) {
    std::string flipped = line;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    CHECK_FALSE(is_sealed(flipped));
  }
  CHECK_FALSE(is_sealed(""));
  CHECK_FALSE(is_sealed(line.substr(0, line.size() - 3)));
}

namespace {

// Text in front of a checksum that fits, whatever the text is.
std::string with_sum(const std::string& text) { return text + R"(,"crc":")" + math::crc32c_hex(text) + R"("})"; }

}  // namespace

// A reader of JSON takes a NUL for the end of the text: what stands before it need be no object, though the sum fits.
TEST_CASE("a checksum that fits makes no record of what is no object") {
  const std::string nul(1, '\0');
  for (const std::string& text : {"\"score\"" + nul, "5" + nul, "[1]" + nul, "null" + nul, std::string("{\"a\"")}) {
    const std::string line = with_sum(text);
    INFO(line);
    CHECK(is_sealed(line));
    CHECK_FALSE(unseal(line));
    const Folder folder;
    fs::create_directories(folder.path() / "journal");
    bench::write_file(folder.segment(1), line + "\n" + seal(R"({"k":"run"})") + "\n");
    int good = 0;
    const auto problems = read_journal(folder.path() / "journal", [&](const nlohmann::ordered_json& record) { good += record.is_object(); });
    REQUIRE(problems);
    CHECK(good == 1);
    CHECK(problems->damaged.size() == 1);
    CHECK_FALSE(read_snapshot(line, {}));
    CHECK_FALSE(unpack(line));
    CHECK_FALSE(swap_request_from(line));
    CHECK_FALSE(swap_report_from(line));
  }
}

TEST_CASE("every evaluation of a handler is in the journal, with what it read") {
  const Folder folder;
  play(folder, 3);
  int asked = 0, packed = 0;
  auto problems = read_journal(folder.path() / "journal", [&](const nlohmann::ordered_json& record) {
    if (record.at("k") == "ask") {
      ++asked;
      CHECK(record.at("reads")[0] == 0.0);   // equal actions: divergence 0
      CHECK(record.at("holes")[0] == 0.0);
    }
    if (record.at("k") != "same") return;
    packed += static_cast<int>(record.at("g").size());
    CHECK(record.at("reads")[0][0] == 1.0);  // all different: 1
  });
  REQUIRE(problems);
  CHECK(asked == 3);
  CHECK(packed == 3);
  CHECK(count(folder.path(), "close") == 6);
  CHECK(count(folder.path(), "end") == 3);
}

TEST_CASE("the state is on disk after each barrier and restores") {
  const Folder folder;
  play(folder, 2);
  auto engine = engine_of(selective, settings(2, 4));
  REQUIRE(engine->restore_from(folder.path()));
  CHECK_FALSE(fs::exists(folder.path() / "state.json.new"));
}

TEST_CASE("a last line that was cut off is left out; a damaged line is named by file and number") {
  const Folder folder;
  play(folder, 1);
  const std::string whole = bench::read_file(folder.segment(1));
  const auto lines = std::count(whole.begin(), whole.end(), '\n');
  SECTION("cut") {
    bench::write_file(folder.segment(1), whole.substr(0, whole.size() - 20));
    int good = 0;
    auto problems = read_journal(folder.path() / "journal", [&](const auto&) { ++good; });
    REQUIRE(problems);
    CHECK(problems->cut_lines == 1);
    CHECK(problems->damaged.empty());
    CHECK(good == lines - 1);
  }
  SECTION("damaged") {
    std::string damaged = whole;
    const std::size_t third = damaged.find('\n', damaged.find('\n') + 1) + 1;
    damaged[third + 10] = damaged[third + 10] == 'x' ? 'y' : 'x';
    bench::write_file(folder.segment(1), damaged);
    int good = 0;
    auto problems = read_journal(folder.path() / "journal", [&](const auto&) { ++good; });
    REQUIRE(problems);
    REQUIRE(problems->damaged.size() == 1);
    CHECK(problems->damaged.front().find("000001.jsonl:3:") != std::string::npos);
    CHECK(good == lines - 1);
    CHECK(tell_run(folder.path(), StoryFormat::Words)->find("000001.jsonl:3:") != std::string::npos);
  }
  SECTION("no journal") { CHECK_FALSE(read_journal(folder.path() / "nowhere", [](const auto&) {})); }
}

TEST_CASE("a full disk is an error that says so, and nothing is lost once there is room") {
  if (!fs::exists("/dev/full")) return;
  auto full = replace_file("/dev/full/x", "text");
  CHECK_FALSE(full);
  const Folder folder;
  fs::create_directories(folder.path() / "journal");
  fs::create_symlink("/dev/full", folder.path() / "state.json.new");
  auto engine = engine_of("", in_folder(folder));
  REQUIRE(engine->begin_iteration(0, {}));
  REQUIRE(engine->end_iteration());  // the state is written behind; the next barrier tells
  REQUIRE(engine->begin_iteration(1, {}));
  auto report = engine->end_iteration();
  REQUIRE_FALSE(report);
  CHECK(report.error().what.find("No space left") != std::string::npos);
}

TEST_CASE("the story of a run and of a group, from the journal alone") {
  const Folder folder;
  play(folder, 2);
  auto run = tell_run(folder.path(), StoryFormat::Words);
  REQUIRE(run);
  CHECK(run->find("group 0  on turn at of group g: stop, drop because \"converged: divergence 0\"") != std::string::npos);
  CHECK(run->find("test.allot:6") != std::string::npos);
  CHECK(run->find("continue") == std::string::npos);
  CHECK(tell_run(folder.path(), StoryFormat::Words, true)->find("continue") != std::string::npos);
  auto group = tell_group(folder.path(), 1, StoryFormat::Words);
  REQUIRE(group);
  CHECK(group->find("prompt p1, iteration 0, slot 1") != std::string::npos);
  CHECK(group->find("mean_pairwise") != std::string::npos);
  CHECK(group->find(" = 1\n") != std::string::npos);        // the value it read
  CHECK(group->find("otherwise continue") != std::string::npos);  // the line of the rule
  CHECK(group->find("rollout 3: completed, 5 turns") != std::string::npos);
  auto json = tell_group(folder.path(), 0, StoryFormat::Json);
  REQUIRE(json);
  const auto told = nlohmann::json::parse(*json);
  CHECK(told.at("decisions")[0].at("reason") == "converged: divergence 0");
  CHECK(told.at("decisions")[0].at("carried") == "out");
  auto none = tell_group(folder.path(), 99, StoryFormat::Words);
  REQUIRE_FALSE(none);
  CHECK(none.error().help.find("3") != std::string::npos);
}

TEST_CASE("after a resume the last telling of an iteration counts") {
  const Folder folder;
  auto engine = engine_of(selective, in_folder(folder));
  Driver driver(*engine, course_of);
  driver.run(0, prompts(2));
  const std::string checkpoint = engine->save_state();
  driver.run(1, prompts(2));
  driver.run(2, prompts(2));
  engine.reset();
  auto resumed = engine_of(selective, in_folder(folder));
  REQUIRE(resumed->restore(checkpoint));
  Driver again(*resumed, course_of);
  again.run(1, prompts(2));
  CHECK(fs::exists(folder.segment(2)));
  const std::string run = *tell_run(folder.path(), StoryFormat::Words);
  std::size_t iterations = 0;
  for (std::size_t at = run.find("iteration:"); at != std::string::npos; at = run.find("iteration:", at + 1)) ++iterations;
  CHECK(iterations == 2);  // 0 and the second telling of 1; what came after the checkpoint is gone
}
