// Whoever changes, takes out, exchanges, copies or cuts what was acknowledged of a journal is found: by the audit and,
// where a saved state knows better, by the next process. What a kill leaves is none of these.
#include <filesystem>
#include <string>
#include <utility>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
using bench::play_five;
using bench::refusal;
using bench::sealed;
using bench::sum_anew;
using bench::write_lines;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

// A run, and copies of it to which something is done.
class Attacked {
 public:
  Attacked() {
    play_five(whole_);
    const AuditResult result = audit(whole_.path());
    if (!result.good()) FAIL(all(result.damage));
    CHECK(result.iterations == 8);
    CHECK(result.states == 1);
    sum_ = result.sum;
  }
  // Gives the damage that the audit finds, and what the next process says; `state`: with the saved state beside it.
  template <typename Change>
  std::pair<std::string, std::string> after(Change change, bool state = true) {
    const Folder copy;
    fs::copy(whole_.path(), copy.path(), fs::copy_options::recursive);
    change(copy);
    if (!state) fs::remove(copy.path() / "state.json");
    auto result = audit_run(copy.path());
    if (!result) FAIL(result.error().text());
    CHECK(result->differing == 0);
    last_sum_ = result->sum;
    return {all(result->damage), refusal(copy.path(), state ? copy.path() : whole_.path())};
  }
  const Folder& whole() const { return whole_; }
  const std::string& sum() const { return sum_; }
  const std::string& last_sum() const { return last_sum_; }

 private:
  Folder whole_;
  std::string sum_, last_sum_;
};

std::size_t nth(const Lines& lines, const std::string& kind, int n) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (Json::parse(lines[i]).at("k") == kind && n-- == 0) return i;
  }
  FAIL("no such line");
  return 0;
}

void flip_fate(std::string& line) {
  Json record = Json::parse(line);
  record["fate"] = record.at("fate") == "trained" ? "dropped" : "trained";
  line = sealed(record);
}

}  // namespace

TEST_CASE("a segment that is rewritten with sums of its own is found where the next process begins") {
  Attacked run;
  for (const int segment : {1, 2, 3}) {
    const auto [damage, said] = run.after([&](const Folder& copy) {
      Lines lines = lines_of(copy.segment(segment));
      flip_fate(lines[nth(lines, "close", 1)]);
      sum_anew(lines, "", false);
      write_lines(copy.segment(segment), lines);
    }, false);
    CHECK(contains(damage, fmt::format("journal/{:06}.jsonl:1 (up to where a process began): a line or a segment was changed",
                                       segment == 3 ? 5 : segment + 1)));
    CHECK(run.last_sum() == run.sum());  // … only there
  }
  // The last one has no next.
  const auto rewrite = [](const Folder& copy) {
    Lines lines = lines_of(copy.segment(5));
    flip_fate(lines[nth(lines, "close", 1)]);
    sum_anew(lines, "", false);
    write_lines(copy.segment(5), lines);
  };
  const auto [damage, said] = run.after(rewrite);
  CHECK(contains(damage, "journal/000005.jsonl: state.json stands on an iteration that ended there"));
  CHECK(contains(said, "journal/000005.jsonl"));
  run.after(rewrite, false);
  CHECK(run.last_sum() != run.sum());
}

TEST_CASE("a segment that was deleted is named, the last one and an empty one too") {
  Attacked run;
  for (int segment = 1; segment <= 5; ++segment) {
    const auto [damage, said] = run.after([&](const Folder& copy) { fs::remove(copy.segment(segment)); });
    const std::string name = fmt::format("{:06}.jsonl", segment);
    INFO(name << '\n' << damage << said);
    CHECK(contains(damage, name));
    CHECK(contains(said, "A segment of the journal is missing"));
    CHECK(contains(said, name));
  }
  // Renumbered so that no hole is left.
  const auto [damage, said] = run.after([&](const Folder& copy) {
    for (int segment = 2; segment <= 5; ++segment) fs::rename(copy.segment(segment), copy.segment(segment - 1));
  });
  CHECK(contains(damage, "journal/000001.jsonl:1: it was written as segment 2"));
  CHECK(contains(damage, "the sum of these lines is that of no lines"));
  CHECK(contains(said, "journal/000005.jsonl"));
}

TEST_CASE("iterations that are cut off a segment are missed by the process after it, those of the last by the state") {
  Attacked run;
  for (const int segment : {1, 2, 5}) {
    const auto [damage, said] = run.after([&](const Folder& copy) {
      Lines lines = lines_of(copy.segment(segment));
      lines.resize(nth(lines, "end", 0) + 1);
      write_lines(copy.segment(segment), lines);
    });
    INFO(damage << said);
    CHECK(contains(damage, segment == 5 ? "journal/000005.jsonl: state.json stands" : "(up to where a process began)"));
    if (segment == 5) CHECK(contains(said, "000005.jsonl, with the sum"));
  }
}

TEST_CASE("segments that were exchanged, and copies that were appended, tell another number") {
  Attacked run;
  for (const auto& [one, other] : {std::pair(1, 2), std::pair(2, 3), std::pair(3, 5)}) {
    const auto [damage, said] = run.after([&](const Folder& copy) {
      fs::rename(copy.segment(one), copy.path() / "aside");
      fs::rename(copy.segment(other), copy.segment(one));
      fs::rename(copy.path() / "aside", copy.segment(other));
    });
    CHECK(contains(damage, fmt::format("{:06}.jsonl:1: it was written as segment {}", one, other)));
    CHECK(contains(damage, fmt::format("{:06}.jsonl:1: it was written as segment {}", other, one)));
    CHECK(contains(damage, "(up to where a process began)"));
  }
  for (const int segment : {1, 2, 3, 5}) {
    const auto [damage, said] = run.after([&](const Folder& copy) { fs::copy_file(copy.segment(segment), copy.segment(6)); });
    CHECK(contains(damage, fmt::format("journal/000006.jsonl:1: it was written as segment {}", segment)));
  }
}

TEST_CASE("a doubled first line, and a changed last one, of any segment are found") {
  Attacked run;
  for (const int segment : {1, 2, 3, 5}) {
    const auto [doubled, ignored] = run.after([&](const Folder& copy) {
      Lines lines = lines_of(copy.segment(segment));
      lines.insert(lines.begin(), lines.front());
      write_lines(copy.segment(segment), lines);
    });
    CHECK(contains(doubled, fmt::format("journal/{:06}.jsonl:2 (up to where a process began)", segment)));
    const auto change_end = [&](const Folder& copy) {
      Lines lines = lines_of(copy.segment(segment));
      Json end = Json::parse(lines.back());
      REQUIRE(end.at("k") == "end");
      end["trained"] = end.at("trained").empty() ? Json{1} : Json::array();
      lines.back() = sealed(end);
      write_lines(copy.segment(segment), lines);
    };
    const auto [damage, said] = run.after(change_end);
    INFO(damage << said);
    CHECK_FALSE(damage.empty());
    if (segment < 5) continue;
    CHECK(contains(said, "000005.jsonl"));
    run.after(change_end, false);
    CHECK(run.last_sum() != run.sum());
  }
}

TEST_CASE("a run that was rewritten from its first line to its last is found by a sum that was kept") {
  Attacked run;
  const Folder copy;
  fs::copy(run.whole().path(), copy.path(), fs::copy_options::recursive);
  std::string sum;
  for (const int segment : {1, 2, 3, 5}) {
    Lines lines = lines_of(copy.segment(segment));
    if (segment == 1) flip_fate(lines[nth(lines, "close", 1)]);
    for (std::string& line : lines) {
      Json record = Json::parse(line);
      if (!record.contains("from")) continue;
      record["from"] = sum;  // each process went on from the last end
      line = sealed(record);
    }
    sum = sum_anew(lines, sum);
    write_lines(copy.segment(segment), lines);
  }
  CHECK(contains(all(audit(copy.path()).damage), "state.json stands on"));
  fs::remove(copy.path() / "state.json");
  const AuditResult unseen = audit(copy.path());
  CHECK(unseen.good());
  CHECK(unseen.states == 0);
  CHECK(unseen.sum != run.sum());
  CHECK_FALSE(audit(copy.path(), {run.sum()}).good());
  // A run that goes on keeps the sums that it had.
  bench::play(learning(), run.whole(), 8, 9);
  CHECK(audit(run.whole().path()).sum != run.sum());
  CHECK(audit(run.whole().path(), {run.sum()}).good());
}
