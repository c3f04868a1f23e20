// Every decision follows from its record; a run plays again to the same records; whatever is changed is found.
#include <algorithm>
#include <filesystem>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/auditing.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/replaying.h"
#include "tests/engine/journal_lines.h"
#include "tests/engine/played_runs.h"

using namespace allot;
using namespace allot::engine;
using bench::Folder;
using bench::lines_of;
using bench::played_run;
using bench::PlayedRun;
using bench::sealed;
using bench::write_lines;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

// Another value of the same kind.
Json flipped(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>() + 1;
  if (value.is_number()) return value.get<double>() + 0.25;
  if (value.is_string()) return value.get<std::string>() + "x";
  return 1;
}

AuditResult audit(const Folder& folder) {
  auto result = audit_run(folder.path());
  if (!result) FAIL(result.error().text());
  return *std::move(result);
}

ReplayResult replay(const Folder& folder) {
  auto result = replay_run(folder.path());
  if (!result) FAIL(result.error().text());
  return *std::move(result);
}

}  // namespace

TEST_CASE("every decision of every kind of run is given again, and every run plays again to the same records") {
  for (const PlayedRun& run : bench::played_runs()) {
    INFO(run.name);
    const Folder folder;
    bench::play(run, folder, 0, 4);
    const AuditResult audited = audit(folder);
    if (audited.first) FAIL(audited.first->place << ' ' << audited.first->point << ' ' << audited.first->member << ": " << audited.first->recorded << " / " << audited.first->again);
    CHECK(audited.good());
    CHECK(audited.iterations == 4);
    CHECK((audited.audited > 0) == !run.policy.empty());
    CHECK(audited.unsummed == 0);
    CHECK(audited.sum.size() == 64);
    const ReplayResult replayed = replay(folder);
    if (replayed.first) FAIL(replayed.first->place << ' ' << replayed.first->kind << ' ' << replayed.first->member << ": " << replayed.first->recorded << " / " << replayed.first->replayed);
    CHECK(replayed.differing == 0);
    CHECK(replayed.iterations == 4);
    CHECK(replayed.events > 100);
    CHECK(replayed.records > 40);
  }
}

TEST_CASE("a run in two processes is audited and plays again as one") {
  for (const char* const name : {"learning", "choosing", "timed", "shaping"}) {
    INFO(name);
    const Folder folder;
    bench::play(played_run(name), folder, 0, 3);
    bench::play(played_run(name), folder, 3, 5);
    CHECK(audit(folder).good());
    CHECK(audit(folder).iterations == 5);
    const ReplayResult replayed = replay(folder);
    if (replayed.first) FAIL(replayed.first->place << ' ' << replayed.first->kind << ' ' << replayed.first->member);
    CHECK(replayed.differing == 0);
    CHECK(replayed.iterations == 5);
  }
}

TEST_CASE("a flipped verdict differs, at its place and with both values") {
  const Folder folder;
  bench::play(played_run("learning"), folder, 0, 2);
  std::vector<std::string> lines = lines_of(folder.segment(1));
  int tried = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Json record = Json::parse(lines[i]);
    if (record.at("k") != "ask" || !record.contains("verdict")) continue;
    std::vector<std::string> changed = lines;
    record["verdict"] = "stop, leave";  // no rule says that
    changed[i] = sealed(record);
    write_lines(folder.segment(1), changed);
    const AuditResult result = audit(folder);
    CHECK(result.differing == 1);
    REQUIRE(result.first);
    CHECK(result.first->place == fmt::format("journal/000001.jsonl:{}", i + 1));
    CHECK(result.first->member == "verdict");
    CHECK(result.first->recorded == "\"stop, leave\"");
    CHECK(result.first->again != result.first->recorded);
    if (++tried == 6) break;
  }
  CHECK(tried == 6);
}

// What a record says of its frame and of the answer: a change of an input need not change the answer, but the sum of the
// iteration's lines tells of it all the same, and the replay says which value it was.
TEST_CASE("whatever value of whatever decision is changed and sealed anew, the audit finds it") {
  for (const char* const name : {"learning", "choosing", "shaping", "faulty"}) {
    const Folder folder;
    bench::play(played_run(name), folder, 0, 2);
    const std::vector<std::string> lines = lines_of(folder.segment(1));
    int tried = 0, differing = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Json record = Json::parse(lines[i]);
      if (record.at("k") != "ask" && record.at("k") != "same") continue;
      std::vector<Json::json_pointer> leaves;
      const Json flat = record.flatten();
      for (const auto& [place, value] : flat.items()) leaves.emplace_back(place);
      for (std::size_t at = i % 5; at < leaves.size(); at += 1 + leaves.size() / 4) {
        if (leaves[at].to_string() == "/crc" || leaves[at].to_string() == "/k") continue;
        Json changed = record;
        changed[leaves[at]] = flipped(record.at(leaves[at]));
        std::vector<std::string> written = lines;
        written[i] = sealed(changed);
        write_lines(folder.segment(1), written);
        auto result = audit_run(folder.path());
        INFO(name << " line " << i + 1 << " " << leaves[at].to_string());
        CHECK((!result || !result->good()));
        ++tried;
        differing += result && result->differing > 0;
      }
    }
    CHECK(tried > 30);
    CHECK(differing > 5);
    write_lines(folder.segment(1), lines);
    CHECK(audit(folder).good());
  }
}

TEST_CASE("a line that is taken out, added or moved breaks the sum of its iteration, and is told by its stretch") {
  const Folder folder;
  bench::play(played_run("learning"), folder, 0, 2);
  const std::vector<std::string> lines = lines_of(folder.segment(1));
  const auto damaged = [&](std::vector<std::string> changed) {
    write_lines(folder.segment(1), changed);
    const AuditResult result = audit(folder);
    REQUIRE(result.damage.size() == 1);
    CHECK(result.damage.front().find("journal/000001.jsonl:1 to journal/000001.jsonl:") == 0);
    CHECK(result.damage.front().find("iteration 0") != std::string::npos);
    CHECK_FALSE(result.good());
  };
  std::vector<std::string> changed = lines;
  changed.erase(changed.begin() + 4);
  damaged(changed);
  changed = lines;
  changed.insert(changed.begin() + 4, lines[4]);
  damaged(changed);
  changed = lines;
  std::swap(changed[3], changed[4]);
  damaged(changed);
}

TEST_CASE("a damaged line is told, and what is around it is audited") {
  const Folder folder;
  bench::play(played_run("learning"), folder, 0, 2);
  std::vector<std::string> lines = lines_of(folder.segment(1));
  const std::int64_t before = audit(folder).audited;
  const auto found = std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("{\"k\":\"ask\""); });
  (*found)[20] = (*found)[20] == '1' ? '2' : '1';
  write_lines(folder.segment(1), lines);
  const AuditResult result = audit(folder);
  CHECK(result.audited == before - 1);
  CHECK(result.differing == 0);
  REQUIRE_FALSE(result.damage.empty());
  CHECK(result.damage.front().find(fmt::format("journal/000001.jsonl:{}: the line is damaged", found - lines.begin() + 1)) == 0);
  CHECK_FALSE(result.good());
}

TEST_CASE("a policy text that is not the one whose hash stands beside it is refused") {
  const Folder folder;
  bench::play(played_run("learning"), folder, 0, 1);
  std::vector<std::string> lines = lines_of(folder.segment(1));
  Json run = Json::parse(lines.front());
  std::string source = run["policy"]["source"].get<std::string>();
  source.replace(source.find("0.75"), 4, "0.85");
  run["policy"]["source"] = source;
  lines.front() = sealed(run);
  write_lines(folder.segment(1), lines);
  auto result = audit_run(folder.path());
  REQUIRE_FALSE(result);
  CHECK(result.error().what.find("not the one whose hash") != std::string::npos);
  CHECK_FALSE(replay_run(folder.path()));
}

TEST_CASE("the replay names the value of an input that was changed without a change of the verdict") {
  const Folder folder;
  bench::play(played_run("learning"), folder, 0, 2);
  std::vector<std::string> lines = lines_of(folder.segment(1));
  const auto found = std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("{\"k\":\"same\""); });
  Json record = Json::parse(*found);
  record["t"][0] = record["t"][0].get<int>() + 1;  // no answer depends on it
  *found = sealed(record);
  write_lines(folder.segment(1), lines);
  const AuditResult audited = audit(folder);
  CHECK(audited.differing == 0);
  CHECK(audited.damage.size() == 1);
  const ReplayResult replayed = replay(folder);
  CHECK(replayed.differing == 1);
  REQUIRE(replayed.first);
  CHECK(replayed.first->place == fmt::format("journal/000001.jsonl:{}", found - lines.begin() + 1));
  CHECK(replayed.first->kind == "same");
  CHECK(replayed.first->member == "t");
}

TEST_CASE("a journal without its beginning, or without events, says why it cannot be played") {
  const Folder folder;
  bench::play(played_run("learning"), folder, 0, 1);
  const std::vector<std::string> lines = lines_of(folder.segment(1));
  write_lines(folder.segment(1), {lines.begin() + 1, lines.end()});
  auto headless = replay_run(folder.path());
  REQUIRE_FALSE(headless);
  CHECK(headless.error().what.find("beginning of the journal") != std::string::npos);
  std::vector<std::string> eventless = lines;
  std::erase_if(eventless, [](const std::string& line) { return line.starts_with("{\"k\":\"events\""); });
  write_lines(folder.segment(1), eventless);
  auto old = replay_run(folder.path());
  REQUIRE_FALSE(old);
  CHECK(old.error().what.find("no record of its events") != std::string::npos);
  CHECK_FALSE(audit_run(folder.path() / "nowhere"));
}
