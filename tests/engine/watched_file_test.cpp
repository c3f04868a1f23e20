// A file that is watched: when its text counts, and what is not taken over from it.
#include <unistd.h>

#include <atomic>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/journal.h"
#include "runtime/engine/swap_desk.h"
#include "runtime/engine/vanishing.h"
#include "runtime/engine/versions_folder.h"
#include "tests/engine/desk.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::desk;

namespace {

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

namespace {

// Every part that a policy may have at its top level, in the usual order; `flat` differs from version to version.
std::string rich(double near) {
  return fmt::format(R"(policy rich
# what is near
param near: real = {}
fn close(x: real) -> bool = x < near
hit when reward >= 1
budget 4000 rollouts per run
budget 2000 tokens per iteration, carry over
refill at most 3 rounds then train_partial
state belief: beta per prompt = beta(1, 1) decay 0.95
state seen: groups per run = 0
on size of batch b {{ start 2 each, up to 4 }}
on turn 2 of group g {{
  when close(mean_pairwise(normalized_edit_distance, prefixes(g.actions, 2, padded)) ?? 1) then stop, drop
  otherwise continue
}}

on turn 4 of group g {{ continue }}
on finish of group g {{
  when g.flat then drop because "flat"
  otherwise train
}}
on update of batch b {{
  for each g in b.ended {{ remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses) }}
  remember seen = seen + b.size
}}

# the end
)", near);
}

std::shared_ptr<Policy> parsed(const std::string& text) {
  PolicyText whole;
  whole.file = "rich.allot";
  whole.text = text;
  auto policy = load_policy(whole, {});
  return policy ? *std::move(policy) : nullptr;
}

std::vector<std::string> wait_for_messages(SwapDesk& desk, std::size_t count) {
  std::vector<std::string> told;
  comes_true([&] {
    for (std::string& line : desk.take_messages()) told.push_back(std::move(line));
    return told.size() >= count;
  }, 20000ms);
  return told;
}

}  // namespace

TEST_CASE("fault 44: of a policy cut anywhere no half would be taken for the whole") {
  const auto active = parsed(rich(0.25));
  REQUIRE(active);
  REQUIRE(looks_like_half(*active, *active).empty());
  int policies = 0;
  // The file is written anew as it was, and with a change in an early line.
  for (const double near : {0.25, 0.5}) {
    const std::string text = rich(near);
    const std::size_t last = text.rfind('}') + 1;  // from there on nothing that decides is missing
    for (std::size_t size = 0; size < (near == 0.25 ? text.rfind("end") : last); ++size) {
      const auto half = parsed(text.substr(0, size));
      if (!half) continue;  // the checker refuses it
      ++policies;
      INFO(text.substr(0, size));
      CHECK(!looks_like_half(*active, *half).empty());
    }
  }
  CHECK(policies > 20);  // so the checker alone would not do
  CHECK(looks_like_half(*active, *parsed(rich(0.5))).empty());
}

TEST_CASE("what vanishes is named; what comes at another turn or is told otherwise does not") {
  const auto program = [](const std::string& text) {
    auto policy = parsed(text);
    REQUIRE(policy);
    return policy;
  };
  const std::string head = "policy p\n";
  const std::string two = "on turn 2 of group g { continue }\non turn 4 of group g { continue }\n";
  const auto gone = [&](const std::string& from, const std::string& to) {
    return vanishing(program(head + from)->program(), program(head + to)->program());
  };
  using Names = std::vector<std::string>;
  CHECK(gone(two, "on turn 3 of group g { continue }\non turn 5 of group g { continue }\n").empty());
  CHECK(gone(two, "on turn 2 of group g { continue }\n") == Names{"`on turn 4 of group g`"});
  CHECK(gone(two, "on finish of group g { train }\n").size() == 2);
  CHECK(gone("state seen: int per prompt = 0\n", "state sees: int per prompt = 0\n") == Names{"the state `seen`"});
  CHECK(gone("budget 40 tokens per run\n", "budget 40 rollouts per run\n") == Names{"the budget of tokens"});
  CHECK(gone("budget 40 tokens per run\n", "budget 4 tokens per iteration\n").empty());
  CHECK(gone("hit when reward >= 1\nrefill at most 2 rounds then train_partial\n", "") == Names{"`refill`", "`hit`"});
}

TEST_CASE("half of a watched file is told and not taken, the whole one is; by request it may be less") {
  const Folder folder;
  auto engine = engine_in(folder.path, rich(0.25));
  const fs::path file = folder.path / "first.allot";
  auto desk = SwapDesk::open(*engine, folder.path, file);
  REQUIRE(desk);
  const std::string whole = rich(0.5);
  const std::string half = whole.substr(0, whole.find("on finish"));
  write(file, half);
  const auto refused = wait_for_messages(**desk, 1);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].find("refused: It may be half a file: `on finish of group g` and `on update of batch b`") != std::string::npos);
  CHECK(refused[0].find(fmt::format("allot swap {} {}", folder.path.string(), file.string())) != std::string::npos);
  CHECK(engine->active_version() == 0);
  write(file, whole);
  const auto taken = wait_for_messages(**desk, 1);
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].find("active as version 1") != std::string::npos);
  std::string forgetful = whole;
  for (const std::string line : {"state seen: groups per run = 0\n", "  remember seen = seen + b.size\n"}) forgetful.erase(forgetful.find(line), line.size());
  write(file, forgetful);
  const auto kept = wait_for_messages(**desk, 1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].find("the state `seen` of the active policy is not in it") != std::string::npos);
  CHECK(engine->active_version() == 1);
  const auto meant = ask_for_swap(folder.path, request_of(forgetful), 20);
  REQUIRE(meant);
  CHECK(meant->outcome == SwapOutcome::Active);
  CHECK(meant->state.dropped == std::vector<std::string>{"seen"});
}

TEST_CASE("a watched file that was changed while the run was down is taken up, once; an unchanged one is not") {
  const Folder folder;
  const fs::path file = folder.path / "watched.allot";
  write(file, gate(1));
  auto engine = engine_in(folder.path);
  const auto open = [&] {
    auto desk = SwapDesk::open(*engine, folder.path, file);
    REQUIRE(desk);
    return *std::move(desk);
  };
  auto desk = open();
  const auto by_hand = ask_for_swap(folder.path, request_of(gate(5)), 20);
  REQUIRE(by_hand);
  desk->saved(by_hand->version);
  desk.reset();
  desk = open();  // another text than the active one all the time, but nobody changed it
  std::this_thread::sleep_for(1500ms);
  CHECK(engine->active_version() == 1);
  desk.reset();
  write(file, gate(2));
  desk = open();
  const auto told = wait_for_messages(*desk, 1);
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("watched.allot, changed while the run was down: active as version 2") != std::string::npos);
  write(file, gate(3));
  const auto saved = wait_for_messages(*desk, 1);
  REQUIRE(saved.size() == 1);
  CHECK(saved[0].find("watched.allot: active as version 3") != std::string::npos);
  desk->saved(3);
  desk.reset();
  desk = open();
  std::this_thread::sleep_for(1500ms);
  CHECK(desk->take_messages().empty());
  CHECK(engine->active_version() == 3);
}

TEST_CASE("what was saved while the run was down is active before it goes on: its budget may be larger") {
  const Folder folder;
  const fs::path file = folder.path / "first.allot";
  const auto tight = [](int rollouts) { return fmt::format("policy gate\nbudget {} rollouts per run\non finish of group g {{ train }}\n", rollouts); };
  auto engine = engine_in(folder.path, tight(4));
  REQUIRE(SwapDesk::open(*engine, folder.path, file));
  Driver(*engine, [](const std::string&, int sample) { return steady(1, sample % 2); }).run(0, prompts(4));
  REQUIRE(engine->used_up() == "4 of 4 rollouts");  // two groups of two
  write(file, tight(8));
  auto desk = SwapDesk::open(*engine, folder.path, file);
  REQUIRE(desk);
  CHECK(engine->active_version() == 1);  // at once
  CHECK(engine->used_up().empty());
  const auto told = (*desk)->take_messages();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("changed while the run was down: active as version 1") != std::string::npos);
}

TEST_CASE("a request that nobody had taken when the process ended is carried out before the run goes on") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const SwapFiles files(folder.path);
  fs::create_directories(files.requests());
  REQUIRE(replace_file(files.request("00-asked"), to_text(request_of(gate(1)))));
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  CHECK(engine->active_version() == 1);
  CHECK(fs::exists(files.answer("00-asked")));
}

TEST_CASE("a run that is resumed with a watch it did not have takes the file, unless it is active") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  REQUIRE(SwapDesk::open(*engine, folder.path, {}));
  auto desk = SwapDesk::open(*engine, folder.path, folder.path / "first.allot");
  REQUIRE(desk);
  std::this_thread::sleep_for(1500ms);
  CHECK((*desk)->take_messages().empty());
  desk->reset();
  const fs::path other = folder.path / "other.allot";
  write(other, gate(4));
  desk = SwapDesk::open(*engine, folder.path, other);
  REQUIRE(desk);
  CHECK(wait_for_messages(**desk, 1).size() == 1);
  CHECK(engine->active_version() == 1);
}

TEST_CASE("a run goes on under the text that its folder keeps, whatever the file says by now") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const std::string hash = engine->policy_hash(), state = engine->save_state();
  engine.reset();
  for (const std::string& now : {gate(7), std::string("policy gate\non finish of"), std::string()}) {
    write(folder.path / "first.allot", now);
    Settings made = settings(2, 2);
    made.run_folder = folder.path;
    made.native = false;
    made.policy = folder.path / "first.allot";
    made.kept_policy = hash;
    auto resumed = Engine::create(made);
    if (!resumed) FAIL(resumed.error().text());
    CHECK((*resumed)->restore(state));
    CHECK((*resumed)->policy_hash() == hash);
  }
  Settings lost = settings(2, 2);
  lost.run_folder = folder.path;
  lost.kept_policy = std::string(64, '0');
  CHECK_FALSE(Engine::create(lost));
}
