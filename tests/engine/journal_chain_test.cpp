// One chain over all segments: what a process writes, what a kill leaves of it, and where a run goes on from. Whoever
// changes a journal: journal_attacks_test.cpp.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/engine/journal_chain.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/story.h"
#include "runtime/math/checksum.h"
#include "tests/engine/chained_run.h"
#include "tests/engine/journal_lines.h"

using namespace allot;
using namespace allot::engine;
using bench::all;
using bench::audit;
using bench::contains;
using bench::Folder;
using bench::learning;
using bench::Lines;
using bench::lines_of;
using bench::open_run;
using bench::play_five;
using bench::refusal;
using bench::sealed;
using bench::sum_anew;
using bench::write_lines;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

TEST_CASE("the first line of each process tells the number of its segment and the sum of all that is before it") {
  const Folder folder;
  play_five(folder);
  std::string sum;
  for (const int segment : {1, 2, 3, 5}) {
    Lines lines = lines_of(folder.segment(segment));
    const Json run = Json::parse(lines.front());
    CHECK(run.at("schema") == "journal/4");
    CHECK(run.at("segment") == segment);
    CHECK(run.at("sum") == sum);
    const Lines written = lines;
    sum = sum_anew(lines, sum);
    CHECK(lines == written);
  }
  CHECK(bench::read_file(folder.segment(4)).empty());
  CHECK(audit(folder.path()).sum == sum);  // the last line is an end, and covered
  const auto mark = read_saved_mark(bench::read_file(folder.path() / "state.json"));
  REQUIRE(mark);
  CHECK(mark->segment == 5);
  CHECK(mark->sum == sum);
  CHECK(*journal_sum(folder.path() / "journal") == sum);
}

// The state of a barrier is on disk after the lines of that barrier, so a kill leaves lines beyond it and never too few.
TEST_CASE("wherever a kill cuts what comes after the saved state, the run goes on; a cut before it is refused") {
  const Folder before, after;
  bench::play(learning(), before, 0, 2);
  fs::copy(before.path(), after.path(), fs::copy_options::recursive);
  bench::play(learning(), after, 2, 4);
  const std::string beyond = bench::read_file(after.segment(2));
  for (std::size_t i = 0; i <= 12; ++i) {
    const Folder killed;
    fs::copy(before.path(), killed.path(), fs::copy_options::recursive);
    bench::write_file(killed.segment(2), beyond.substr(0, beyond.size() * i / 12));
    bench::play(learning(), killed, 2, 4);
    const AuditResult result = audit(killed.path());
    INFO(i << ' ' << all(result.damage));
    CHECK(result.good());
    CHECK(result.iterations >= 4);
  }
  const std::string acknowledged = bench::read_file(before.segment(1));
  for (std::size_t i = 0; i <= 12; ++i) {
    const Folder cut;
    fs::copy(before.path(), cut.path(), fs::copy_options::recursive);
    bench::write_file(cut.segment(1), acknowledged.substr(0, (acknowledged.size() - 2) * i / 12));
    CHECK(contains(refusal(cut.path(), cut.path()), "000001.jsonl"));
    CHECK_FALSE(fs::exists(cut.segment(2)));
    if (i > 0) CHECK(contains(all(audit(cut.path()).damage), "journal/000001.jsonl: state.json stands"));
  }
}

TEST_CASE("an iteration that could not be written is not acknowledged by a saved state") {
  const Folder folder, checkpoint;
  fs::create_directories(checkpoint.path());
  bench::play(learning(), folder, 0, 1);
  auto engine = open_run(folder.path());
  REQUIRE(engine);
  REQUIRE((*engine)->restore_from(folder.path()));
  rlimit usual{};
  ::getrlimit(RLIMIT_FSIZE, &usual);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{300, usual.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  REQUIRE((*engine)->begin_iteration(1, {}));
  const auto ended = (*engine)->end_iteration();
  const auto saved = (*engine)->save_state_in(checkpoint.path());
  ::setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, handler);
  CHECK_FALSE(ended);
  CHECK_FALSE(saved);
  CHECK_FALSE(fs::exists(checkpoint.path() / "state.json"));
  REQUIRE((*engine)->begin_iteration(2, {}));
  REQUIRE((*engine)->end_iteration());
  REQUIRE((*engine)->save_state_in(checkpoint.path()));
  engine->reset();
  CHECK(audit(folder.path()).good());
  CHECK(audit(folder.path()).iterations == 3);
  CHECK(refusal(folder.path(), checkpoint.path()).empty());
}

TEST_CASE("a resume tells which iterations had ended after the state from which it goes on") {
  CHECK(again_words({7}) == "iteration 7 had ended, and runs again");
  const Folder folder, older;
  bench::play(learning(), folder, 0, 2);
  fs::copy(folder.path(), older.path(), fs::copy_options::recursive);
  bench::play(learning(), folder, 2, 4);
  auto engine = open_run(folder.path());
  REQUIRE(engine);
  REQUIRE((*engine)->restore_from(older.path()));
  const auto what_of = [&](int iteration) {
    const auto begun = (*engine)->begin_iteration(iteration, {});
    return begun ? std::string() : begun.error().text();
  };
  CHECK(contains(what_of(3), "from the state of iteration 1, and iteration 2 had ended"));  // which would be left out
  CHECK(contains(what_of(4), "iterations 2, 3 had ended after that"));
  CHECK(contains(what_of(4), "or begin iteration 2 again"));
  for (const int iteration : {2, 3}) {
    REQUIRE((*engine)->begin_iteration(iteration, {}));
    const auto report = (*engine)->end_iteration();
    REQUIRE(report);
    CHECK(contains(report->message, "iterations 2, 3 had ended, and run again") == (iteration == 2));  // once
  }
  REQUIRE((*engine)->begin_iteration(7, {}));  // what nobody has ended may be left out
  REQUIRE((*engine)->end_iteration());
  engine->reset();
  CHECK(audit(folder.path()).good());
  const auto again_in = [&](int segment) {
    for (const std::string& line : lines_of(folder.segment(segment))) {
      const Json record = Json::parse(line);
      if (record.at("k") == "resume") return record.value("again", std::vector<int>());
    }
    return std::vector<int>{-1};
  };
  CHECK(again_in(2).empty());  // that state was the latest
  CHECK(again_in(3) == std::vector<int>{2, 3});
  const auto story = tell_run(folder.path(), StoryFormat::Words);
  REQUIRE(story);
  CHECK(contains(*story, "the run was resumed here: iterations 2, 3 had ended, and run again"));
}

TEST_CASE("a checkpoint of another run is refused; in a fresh folder it begins a journal that says so") {
  const Folder one, other, fresh;
  bench::play(learning(), one, 0, 2);
  bench::play(learning(), other, 0, 2, 7);  // another order of arrival
  CHECK(contains(refusal(other.path(), one.path()), "A segment of the journal is not the one that was written"));
  const std::string sum = audit(one.path()).sum;
  for (int attempt = 0; attempt < 2; ++attempt) {  // the first is killed before it has a checkpoint of its own
    auto engine = open_run(fresh.path());
    if (!engine) FAIL(engine.error().text());
    auto restored = (*engine)->restore_from(one.path());
    if (!restored) FAIL(restored.error().text());
    REQUIRE((*engine)->begin_iteration(2, {}));
    REQUIRE((*engine)->end_iteration());
  }
  const AuditResult result = audit(fresh.path());
  INFO(all(result.damage));
  CHECK(result.good());
  CHECK(result.from == sum);
  CHECK(audit(one.path()).from.empty());
}

TEST_CASE("a journal of an older program is read, with a word about its resumes, and goes on in one chain") {
  const Folder folder;
  play_five(folder);
  for (const int segment : {1, 2, 3, 5}) {
    Lines lines = lines_of(folder.segment(segment));
    std::string before, checksums;  // they begin anew with each process
    for (std::string& line : lines) {
      Json record = Json::parse(line);
      record.erase("from");
      if (record.at("k") == "run") {
        record["schema"] = "journal/3";
        record.erase("segment");
        record.erase("sum");
      }
      if (record.at("k") == "end") {
        record["sum"] = before = math::sha256_hex(before + checksums);
        checksums.clear();
      }
      line = sealed(record);
      checksums += Json::parse(line).at("crc").get<std::string>();
    }
    write_lines(folder.segment(segment), lines);
  }
  Json state = Json::parse(bench::read_file(folder.path() / "state.json"));
  state.erase("journal");
  bench::write_file(folder.path() / "state.json", sealed(state));
  const AuditResult old = audit(folder.path());
  INFO(all(old.damage));
  CHECK(old.good());
  CHECK(old.unchained == 3);
  CHECK(old.states == 0);
  bench::play(learning(), folder, 8, 9);
  bench::play(learning(), folder, 9, 10);
  const AuditResult now = audit(folder.path(), {old.sum});
  INFO(all(now.damage));
  CHECK(now.good());
  CHECK(now.unchained == 3);
  CHECK(now.states == 1);
}
