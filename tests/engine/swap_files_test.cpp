// Requests from other processes, and a file that is watched.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/journal.h"
#include "runtime/engine/swap_desk.h"
#include "tests/engine/bench.h"

using namespace allot;
using namespace allot::engine;
using bench::Driver;
using bench::prompts;
using bench::settings;
using bench::steady;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("allot_desk_{}_{}", ::getpid(), ++count);
  Folder() { fs::remove_all(path); fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  static inline int count = 0;
};

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

std::string gate(int line) { return fmt::format("policy gate\non finish of group g {{ train }}\n# {}\n", line); }

std::unique_ptr<LiveEngine> engine_in(const fs::path& run) {
  write(run / "first.allot", gate(0));
  auto policy = load_policy(run / "first.allot", {});
  REQUIRE(policy);
  Settings made = settings(2, 2);
  made.run_folder = run;
  made.native = false;
  auto engine = LiveEngine::create(made, *policy);
  if (!engine) FAIL(engine.error().text());
  return *std::move(engine);
}

SwapRequest request_of(const std::string& text, const std::string& expected = "") {
  SwapRequest request;
  request.text.file = "gate.allot";
  request.text.text = text;
  request.expected = expected;
  return request;
}

template <typename Holds>
bool comes_true(const Holds& holds, std::chrono::milliseconds within = 5000ms) {
  for (const auto until = std::chrono::steady_clock::now() + within; std::chrono::steady_clock::now() < until;) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return holds();
}

// Looks every 10 ms for so long; the texts that were told.
std::vector<std::string> watch(FileWatcher& watcher, std::chrono::milliseconds time) {
  std::vector<std::string> told;
  for (const auto until = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < until;) {
    if (auto text = watcher.look()) told.push_back(*text);
    std::this_thread::sleep_for(10ms);
  }
  return told;
}

// Waits for one text, however busy the machine is, and looks a while longer for another.
std::vector<std::string> next_of(FileWatcher& watcher) {
  std::vector<std::string> told;
  for (int tries = 0; told.empty() && tries < 100; ++tries) told = watch(watcher, 50ms);
  for (std::string& more : watch(watcher, 400ms)) told.push_back(std::move(more));
  return told;
}

}  // namespace

TEST_CASE("fault 44: a watcher survives every way of saving, and tells each text once") {
  const Folder folder;
  const fs::path file = folder.path / "gate.allot";
  write(file, gate(1));
  FileWatcher watcher(file, 150ms);
  CHECK(watch(watcher, 300ms).empty());
  SECTION("renamed over") {
    write(folder.path / "new", gate(2));
    fs::rename(folder.path / "new", file);
    CHECK(next_of(watcher) == std::vector{gate(2)});
  }
  SECTION("truncated, then written after a pause") {
    std::thread editor([&] {
      std::ofstream out(file, std::ios::binary | std::ios::trunc);
      out.flush();
      std::this_thread::sleep_for(100ms);
      out << gate(3).substr(0, 20) << std::flush;  // half of it
      std::this_thread::sleep_for(100ms);
      out << gate(3).substr(20) << std::flush;
    });
    CHECK(next_of(watcher) == std::vector{gate(3)});
    editor.join();
  }
  SECTION("deleted and made anew") {
    fs::remove(file);
    CHECK(watch(watcher, 300ms).empty());
    write(file, gate(4));
    CHECK(next_of(watcher) == std::vector{gate(4)});
  }
  SECTION("another target of a link") {
    write(folder.path / "a", gate(5));
    write(folder.path / "b", gate(6));
    fs::remove(file);
    fs::create_symlink(folder.path / "a", file);
    CHECK(next_of(watcher) == std::vector{gate(5)});
    fs::create_symlink(folder.path / "b", folder.path / "link");
    fs::rename(folder.path / "link", file);
    CHECK(next_of(watcher) == std::vector{gate(6)});
  }
  SECTION("an empty file and the same content are nothing new") {
    write(file, "");
    CHECK(watch(watcher, 300ms).empty());
    write(file, gate(1));
    CHECK(watch(watcher, 500ms).empty());
    fs::last_write_time(file, fs::file_time_type::clock::now());
    CHECK(watch(watcher, 300ms).empty());
  }
}

TEST_CASE("a request from another process is answered, and goes when it would survive") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const std::string first = engine->policy_hash();
  CHECK(ask_for_swap(folder.path, request_of(gate(1)), 1).error().what.find("nobody has announced") != std::string::npos);
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  CHECK(who_serves(folder.path)->policy == first);
  auto report = ask_for_swap(folder.path, request_of(gate(1), first), 5);
  if (!report) FAIL(report.error().text());
  CHECK(report->outcome == SwapOutcome::Active);
  CHECK(report->to == engine->policy_hash());
  CHECK(comes_true([&] { return who_serves(folder.path)->policy == report->to; }));
  auto stale = ask_for_swap(folder.path, request_of(gate(2), first), 5);
  REQUIRE(stale);
  CHECK(stale->outcome == SwapOutcome::Refused);
  CHECK(comes_true([&] { return std::distance(fs::directory_iterator(folder.path / "swap" / "requests"), {}) == 1; }));
  (*desk)->saved(report->version);
  CHECK(comes_true([&] { return fs::is_empty(folder.path / "swap" / "requests"); }));
  desk->reset();
  CHECK_FALSE(who_serves(folder.path));
}

TEST_CASE("a request that was carried out and not yet saved comes again after the end of the process") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const std::string first = engine->policy_hash(), state = engine->save_state();
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  const auto report = ask_for_swap(folder.path, request_of(gate(1), first), 5);
  REQUIRE(report);
  desk->reset();  // killed before the checkpoint was written
  engine.reset();
  auto resumed = engine_in(folder.path);
  REQUIRE(resumed->restore(state));
  CHECK(resumed->policy_hash() == first);
  auto second = SwapDesk::open(*resumed, folder.path, {});
  REQUIRE(second);
  CHECK(comes_true([&] { return resumed->policy_hash() == report->to; }));
}

TEST_CASE("what a resumed run knows of is not carried out again: a swap, a canary, its end, a rollback") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const std::string first = engine->policy_hash();
  std::vector<SwapRequest> requests(5);
  requests[0] = request_of(gate(1));
  requests[1] = request_of(gate(2));
  requests[1].canary = 0.5;
  requests[2].back = requests[3].back = StateOf::Now;  // the canary goes, then version 1
  requests[4] = request_of(gate(3));
  int carried_out = 0;
  for (const SwapRequest& request : requests) {
    {
      auto desk = SwapDesk::open(*engine, folder.path, {});
      REQUIRE(desk);
      const auto report = ask_for_swap(folder.path, request, 5);
      REQUIRE(report);
      REQUIRE((report->outcome == SwapOutcome::Active || report->outcome == SwapOutcome::Canary));
      CHECK(report->change == ++carried_out);
      Driver(*engine, [](const std::string&, int sample) { return steady(1, sample % 2); }).run(carried_out, prompts(4));
      desk->reset();  // killed after the checkpoint was written and before anybody cleaned up
    }
    const std::string state = engine->save_state(), active = engine->policy_hash();
    engine.reset();
    engine = engine_in(folder.path);
    REQUIRE(engine->restore(state));
    CHECK(engine->saved_change() == carried_out);
    CHECK(engine->policy_hash() == active);
    auto desk = SwapDesk::open(*engine, folder.path, {});
    REQUIRE(desk);
    CHECK(comes_true([&] { return fs::is_empty(folder.path / "swap" / "requests"); }));
    desk->reset();
    CHECK(engine->policy_hash() == active);
    CHECK(engine->save_state() == state);
  }
  CHECK(engine->active_version() == 5);  // of 5 changes one was a canary, and its end took a number too
}

TEST_CASE("a request that the run has taken is not said to be taken back") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const SwapFiles files(folder.path);
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  int late = 0, taken_back = 0;
  for (int i = 0; i < 40; ++i) {
    const SwapRequest request = request_of(gate(i % 9 + 1));
    const std::string before = engine->policy_hash();
    const auto answer = ask_for_swap(folder.path, request, i % 8 * 0.004);
    if (answer) continue;
    const bool back = answer.error().what.find("was taken back") != std::string::npos;
    if (!back) CHECK(answer.error().what.find("it will carry it out or refuse it") != std::string::npos);
    const int version = engine->active_version();
    if (back) {
      std::this_thread::sleep_for(100ms);
      CHECK(engine->active_version() == version);
      ++taken_back;
    } else {
      ++late;
      CHECK(comes_true([&] { return !fs::is_empty(folder.path / "swap" / "answers"); }));
    }
    CHECK(comes_true([&] { return std::none_of(fs::directory_iterator(files.requests()), {}, [](const auto& entry) { return entry.path().extension() == ".json"; }); }));
    std::this_thread::sleep_for(60ms);
  }
  CHECK(late + taken_back > 5);
}

TEST_CASE("what is saved last, just before the end of the process, leaves no request behind") {
  for (int trial = 0; trial < 20; ++trial) {  // else the desk's next look takes it away, and the end has nothing to do
    const Folder folder;
    auto engine = engine_in(folder.path);
    auto desk = SwapDesk::open(*engine, folder.path, {});
    REQUIRE(desk);
    const auto report = ask_for_swap(folder.path, request_of(gate(1)), 5);
    REQUIRE(report);
    (*desk)->saved(report->version);
    desk->reset();
    REQUIRE(fs::is_empty(folder.path / "swap" / "requests"));
  }
}

TEST_CASE("a run that ended without a word, and a damaged request") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  write(folder.path / "first.allot", gate(0));
  fs::create_directories(folder.path / "swap");
  // Process numbers end below 2^22 on Linux.
  REQUIRE(replace_file(folder.path / "swap" / "alive.json", to_text(Beat{host_name(), 1 << 23, 7, "", 0})));
  CHECK(ask_for_swap(folder.path, request_of(gate(1)), 1).error().what.find("has ended") != std::string::npos);
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  const SwapFiles files(folder.path);
  REQUIRE(replace_file(files.request("00-bad"), "{\"policy\": 1}\n"));
  CHECK(comes_true([&] { return fs::exists(files.answer("00-bad")) && !fs::exists(files.request("00-bad")); }));
  CHECK(swap_report_from(*read_whole(files.answer("00-bad")))->reason.find("damaged") != std::string::npos);
  CHECK(engine->active_version() == 0);
}

TEST_CASE("a watched file becomes the policy, a broken one is told and changes nothing") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const fs::path file = folder.path / "first.allot";
  auto desk = SwapDesk::open(*engine, folder.path, file);
  REQUIRE(desk);
  write(file, gate(9));
  CHECK(comes_true([&] { return engine->active_version() == 1; }));
  write(file, "policy gate\non finish of group g { trian }\n");
  std::vector<std::string> told;
  CHECK(comes_true([&] {
    for (std::string& line : (*desk)->take_messages()) told.push_back(std::move(line));
    return told.size() >= 2;
  }));
  REQUIRE(told.size() == 2);
  CHECK(told[0].find("active as version 1") != std::string::npos);
  CHECK(told[1].find("refused") != std::string::npos);
  CHECK(told[1].find("train") != std::string::npos);
  CHECK(engine->active_version() == 1);
}
