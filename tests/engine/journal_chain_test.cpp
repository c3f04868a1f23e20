// One chain over all segments: whoever changes, takes out, exchanges, copies or cuts what was acknowledged is found, by the
// audit and, where a saved state knows better, by the next process. What a kill leaves is none of these.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/auditing.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/journal_chain.h"
#include "runtime/engine/snapshot.h"
#include "runtime/math/checksum.h"
#include "tests/engine/journal_lines.h"
#include "tests/engine/played_runs.h"

using namespace allot;
using namespace allot::engine;
using bench::Folder;
using bench::lines_of;
using bench::PlayedRun;
using bench::sealed;
using bench::write_lines;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

PlayedRun learning() { return bench::played_run("learning"); }

using Lines = std::vector<std::string>;

// The sums as whoever rewrites a journal makes them anew, by their definition and not by LineChain. Gives the sum at the end.
std::string sum_anew(Lines& lines, std::string before, bool of_the_run_too = true) {
  std::string checksums;
  const auto sum = [&] { return checksums.empty() ? before : math::sha256_hex(before + checksums); };
  for (std::string& line : lines) {
    Json record = Json::parse(line);
    const bool is_run = record.at("k") == "run";
    if (is_run || record.at("k") == "end") {
      if (is_run && !of_the_run_too) before = record.at("sum").get<std::string>(), checksums.clear();
      before = sum();
      checksums.clear();
      record["sum"] = before;
      line = sealed(record);
    }
    checksums += Json::parse(line).at("crc").get<std::string>();
  }
  return sum();
}

// Five processes; the fourth ended before its first barrier. Iterations 0–2, 3–4, 5, none, 6–7.
void play_five(const Folder& folder) {
  bench::play(learning(), folder, 0, 3);
  bench::play(learning(), folder, 3, 5);
  bench::play(learning(), folder, 5, 6);
  bench::play(learning(), folder, 6, 6);
  bench::play(learning(), folder, 6, 8);
}

Result<std::unique_ptr<LiveEngine>> open_run(const fs::path& folder) {
  Settings made = bench::settings(3, 4);
  made.run_folder = folder;
  return LiveEngine::create(made, bench::policy_of(learning().policy));
}

// What the next process says to `state`; empty where it goes on.
std::string refusal(const fs::path& folder, const fs::path& state) {
  auto engine = open_run(folder);
  if (!engine) return engine.error().what;
  auto restored = (*engine)->restore_from(state);
  return restored ? "" : restored.error().what;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

AuditResult audit(const fs::path& folder, const std::vector<std::string>& kept = {}) {
  auto result = audit_run(folder, kept);
  if (!result) FAIL(result.error().text());
  return *std::move(result);
}

std::string all(const std::vector<std::string>& damage) {
  std::string text;
  for (const std::string& line : damage) text += line + "\n";
  return text;
}

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
