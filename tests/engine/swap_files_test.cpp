// Requests for swaps from other processes.
#include <unistd.h>

#include <atomic>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/active_policy.h"
#include "runtime/engine/journal.h"
#include "runtime/engine/swap_desk.h"
#include "tests/engine/desk.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::desk;

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

TEST_CASE("requests that build on each other are made again in their order, before anything is decided") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const std::string first = engine->policy_hash();
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  const auto asked = [&](const SwapRequest& request) {
    auto report = ask_for_swap(folder.path, request, 5);
    if (!report) FAIL(report.error().text());
    REQUIRE(report->outcome == SwapOutcome::Active);
    return *report;
  };
  const SwapReport one = asked(request_of(gate(1), first));
  const SwapReport two = asked(request_of(gate(2), one.to));
  SwapRequest rollback;
  rollback.back = StateOf::Now;
  rollback.expected = two.to;
  CHECK(asked(rollback).to == one.to);
  desk->reset();
  engine.reset();
  CHECK_FALSE(fs::exists(folder.path / "state.json"));  // no iteration has ended: the state holds none of them
  auto again = engine_in(folder.path);
  auto second = SwapDesk::open(*again, folder.path, {});
  REQUIRE(second);
  CHECK(again->policy_hash() == one.to);  // at once
  CHECK(again->active_version() == 3);    // two swaps and a rollback
  CHECK((*second)->take_messages().empty());
}

TEST_CASE("requests are made again in the order in which they were accepted, whatever the clocks of those who asked") {
  const Folder folder;
  const SwapFiles files(folder.path);
  auto engine = engine_in(folder.path);
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  const auto asked = [&](const std::string& id, int line) {
    REQUIRE(replace_file(files.request(id), to_text(request_of(gate(line)))));
    REQUIRE(comes_true([&] { return fs::exists(files.answer(id)); }));
    const auto report = swap_report_from(*read_whole(files.answer(id)));
    REQUIRE(report);
    REQUIRE(report->outcome == SwapOutcome::Active);
    return report->to;
  };
  asked("03-clock-ahead", 1);
  asked("02-clock-right", 2);
  std::string last = asked("01-clock-behind", 3);
  desk->reset();
  engine.reset();  // no iteration has ended: the state holds none of them
  int versions = 3;
  SECTION("all were answered") {}
  SECTION("one was taken and not answered: it comes last") {
    const auto policy = load_policy(request_of(gate(4)).text, {});
    REQUIRE(policy);
    REQUIRE(replace_file(files.taken("00-unanswered"), to_text(request_of(gate(4)))));
    last = (*policy)->program().hash;
    versions = 4;
  }
  for (int resumes = 0; resumes < 2; ++resumes) {  // the answers have the tickets of the process before
    auto again = engine_in(folder.path);
    auto second = SwapDesk::open(*again, folder.path, {});
    REQUIRE(second);
    CHECK(again->policy_hash() == last);  // at once
    CHECK(again->active_version() == versions);
    CHECK((*second)->take_messages().empty());
  }
}

TEST_CASE("which version is active is known from the folder at once, and after the end of the process") {
  const Folder folder;
  const auto known = [&] {
    const auto version = active_version(folder.path);
    if (!version) FAIL(version.error().text());
    return *version;
  };
  const auto with = [](int line) { return gate(line) + "param most: real = 3\n"; };
  auto engine = engine_in(folder.path, with(0));
  CHECK_FALSE(active_version(folder.path));
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  CHECK(known().hash == engine->policy_hash());
  CHECK_FALSE(version_since_barrier(folder.path));
  Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample % 2); });
  driver.run(0, prompts(4));
  CHECK(comes_true([&] { return fs::exists(folder.path / "state.json"); }));
  SwapRequest request = request_of(with(1));
  request.parameters = {{"most", "0.5"}};
  const auto report = ask_for_swap(folder.path, request, 5);
  REQUIRE(report);
  // The answer is there, and so is this; the barrier has not come.
  CHECK(known().number == 1);
  CHECK(known().hash == report->to);
  CHECK(known().parameters == request.parameters);
  REQUIRE(version_since_barrier(folder.path));
  CHECK(version_since_barrier(folder.path)->number == 1);
  const auto policy = active_policy(folder.path);
  if (!policy) FAIL(policy.error().text());
  CHECK((*policy)->program().hash == report->to);
  CHECK((*policy)->parameters() == std::vector{lang::Cell::of(0.5)});
  desk->reset();
  CHECK_FALSE(who_serves(folder.path));
  CHECK(known().number == 1);
  engine.reset();
  // A host that announces nothing goes on: what it wrote is later.
  auto later = engine_in(folder.path, with(0));
  REQUIRE(later->restore_from(folder.path));
  REQUIRE(later->swap(request).version == 1);
  REQUIRE(later->swap(request_of(with(2))).version == 2);
  Driver(*later, [](const std::string&, int sample) { return steady(1, sample % 2); }).run(1, prompts(4));
  CHECK(comes_true([&] { return known().number == 2; }));
  CHECK_FALSE(version_since_barrier(folder.path));
}

TEST_CASE("what was announced is past once a host that announces nothing has gone on from the barrier before") {
  const Folder folder;
  const auto run = [](LiveEngine& engine, int iteration) {
    Driver(engine, [](const std::string&, int sample) { return steady(1, sample % 2); }).run(iteration, prompts(4));
  };
  auto engine = engine_in(folder.path);
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  run(*engine, 0);
  REQUIRE(comes_true([&] { return fs::exists(folder.path / "state.json"); }));
  for (const int line : {1, 2}) REQUIRE(ask_for_swap(folder.path, request_of(gate(line)), 5));
  desk->reset();
  engine.reset();
  REQUIRE(version_since_barrier(folder.path));
  CHECK(version_since_barrier(folder.path)->number == 2);
  auto later = engine_in(folder.path);
  REQUIRE(later->restore_from(folder.path));
  const SwapReport report = later->swap(request_of(gate(3)));
  REQUIRE(report.version == 1);  // the barrier knew of no swap
  run(*later, 1);
  CHECK(comes_true([&] {
    const auto version = active_version(folder.path);
    return version && version->hash == report.to;
  }));
  CHECK_FALSE(version_since_barrier(folder.path));
  // A desk of its own counts again.
  auto second = SwapDesk::open(*later, folder.path, {});
  REQUIRE(second);
  REQUIRE(ask_for_swap(folder.path, request_of(gate(4)), 5));
  REQUIRE(version_since_barrier(folder.path));
  CHECK(version_since_barrier(folder.path)->hash == later->policy_hash());
}

TEST_CASE("a refusal that was told is not tried again, and a swap that cannot be made again is told") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const std::string first = engine->policy_hash();
  const SwapFiles files(folder.path);
  fs::create_directories(files.requests());
  fs::create_directories(files.answer("").parent_path());
  SwapReport refused, accepted;
  accepted.outcome = SwapOutcome::Active;
  REQUIRE(replace_file(files.taken("00-refused"), to_text(request_of(gate(1)))));
  REQUIRE(replace_file(files.answer("00-refused"), to_text(refused)));
  REQUIRE(replace_file(files.taken("01-accepted"), to_text(request_of("policy gate\non turn 99 of group g { stop }\n"))));
  REQUIRE(replace_file(files.answer("01-accepted"), to_text(accepted)));
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  CHECK(engine->policy_hash() == first);
  const auto told = (*desk)->take_messages();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("cannot be made again: ") != std::string::npos);
  CHECK(comes_true([&] { return fs::is_empty(files.requests()); }));
  CHECK(swap_report_from(*read_whole(files.answer("01-accepted")))->outcome == SwapOutcome::Active);  // what was answered stays
}

TEST_CASE("a change counts as kept once state.json holds it, not before") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample % 2); });
  driver.run(0, prompts(4));
  const SwapReport report = engine->swap(request_of(gate(1)));
  REQUIRE(report.outcome == SwapOutcome::Active);
  CHECK(engine->saved_change() == 1);  // save_state() would tell of it
  std::this_thread::sleep_for(50ms);   // for the thread behind
  CHECK(engine->kept_change() == 0);
  driver.run(1, prompts(4));
  CHECK(comes_true([&] { return engine->kept_change() == 1; }));
  const auto state = read_whole(folder.path / "state.json");
  REQUIRE(state);
  CHECK(state->find(report.to) != std::string::npos);
  engine.reset();
  auto resumed = engine_in(folder.path);
  REQUIRE(resumed->restore_from(folder.path));
  CHECK(resumed->kept_change() == 1);
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

TEST_CASE("what lies among the requests is read within bounds") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const SwapFiles files(folder.path);
  fs::create_directories(files.requests());
  fs::create_symlink("/dev/zero", files.request("00-endless"));
  fs::create_directory(files.request("01-folder"));
  write(files.request("02-long"), "");
  fs::resize_file(files.request("02-long"), std::uintmax_t{1} << 32);  // a hole: it takes no room
  auto desk = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(desk);
  for (const char* const id : {"00-endless", "01-folder", "02-long"}) {
    CHECK(comes_true([&] { return fs::exists(files.answer(id)) && !fs::exists(files.request(id)); }));
    CHECK(swap_report_from(*read_whole(files.answer(id)))->reason.find("is no file of") != std::string::npos);
  }
  CHECK(ask_for_swap(folder.path, request_of(gate(1)), 20)->outcome == SwapOutcome::Active);
}

TEST_CASE("a request whose asker gives up is taken back before anybody serves it") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const SwapFiles files(folder.path);
  fs::create_directories(files.requests());
  // Alive by its process, this one, but nobody looks at requests.
  REQUIRE(replace_file(files.alive(), to_text(Beat{host_name(), ::getpid(), 1, engine->policy_hash(), 0})));
  const std::atomic<bool> interrupt = true;
  const auto report = ask_for_swap(folder.path, request_of(gate(1)), 20, &interrupt);
  REQUIRE_FALSE(report);
  CHECK(report.error().what.find("Interrupted") != std::string::npos);
  CHECK(fs::is_empty(files.requests()));
}

TEST_CASE("of a process that is there and silent nobody says that it has ended") {
  const Folder folder;
  auto engine = engine_in(folder.path);
  const SwapFiles files(folder.path);
  fs::create_directories(files.requests());
  REQUIRE(replace_file(files.alive(), to_text(Beat{host_name(), ::getpid(), 1, engine->policy_hash(), 0})));
  const auto report = ask_for_swap(folder.path, request_of(gate(1)), 20);
  REQUIRE_FALSE(report);
  CHECK(report.error().what.find(fmt::format("its process {} gave no sign for 10 s", ::getpid())) != std::string::npos);
  CHECK(fs::is_empty(files.requests()));
}
