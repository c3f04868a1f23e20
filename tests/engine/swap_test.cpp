// Swaps of a policy under way: who decides what, what is refused, which of several wins.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/auditing.h"
#include "runtime/engine/swap_record.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

TEST_CASE("swap: groups end under the version they were opened under, new ones take the new one") {
  const Folder folder;
  Settings made = settings(4, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(gate(0.75), made);
  const std::string first = engine->policy_hash();
  Driver driver(*engine, by_digit);
  bool swapped = false;
  driver.after_event = [&] {
    if (swapped || driver.turns < 3) return;
    swapped = true;
    const SwapReport report = engine->swap(request_of(gate(0.25), first));
    CHECK(report.outcome == SwapOutcome::Active);
    CHECK(report.from == first);
    CHECK(report.to == engine->policy_hash());
    CHECK(report.iteration == 0);
  };
  driver.run(0, prompts(4));  // means 0, 0.5, 1, 1.5: all opened before the swap
  CHECK(fates(driver)["p1"] == Fate::Dropped);
  for (const GroupResult& result : driver.closed) CHECK(result.policy == first);
  const IterationReport report = driver.run(1, prompts(4));
  CHECK(fates(driver)["p1"] == Fate::Trained);  // 0.5 >= 0.25
  CHECK(fates(driver)["p0"] == Fate::Dropped);
  CHECK(driver.closed.back().policy == engine->policy_hash());
  CHECK(report.metrics.at("policy/version") == 1);
  CHECK(report.metrics.at("version/1/decisions") == 4);
  // The journal names the version of every answer, and has the text of both.
  CHECK(records(folder.path, "version").size() == 1);
  const auto swaps = records(folder.path, "swap");
  REQUIRE(swaps.size() == 1);
  CHECK(swaps.front().at("outcome") == "active");
  CHECK(swaps.front().at("from") == first);
  for (const auto& ask : records(folder.path, "ask")) CHECK(ask.value("v", 0) == ask.at("it"));
}

TEST_CASE("swap: a stale expectation and a file with errors change nothing and are told") {
  const Folder folder;
  Settings made = settings(2, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(gate(0.75), made);
  const std::string first = engine->policy_hash();
  const auto refused = [&](SwapRequest request, const std::string& part) {
    const SwapReport report = engine->swap(request);
    CHECK(report.outcome == SwapOutcome::Refused);
    CHECK(report.reason.find(part) != std::string::npos);
    CHECK(engine->policy_hash() == first);
    if (report.reason.find(part) == std::string::npos) FAIL(report.reason);
  };
  refused(request_of(gate(0.5), std::string(64, '0')), "somebody swapped it");
  refused(request_of(gate(0.5), first.substr(0, 5)), "too short");
  refused(request_of("policy gate\non finish of group g { dorp }\n"), "gate.allot:2");
  refused(request_of(""), "errors");
  refused(request_of("policy gate\non turn 99 of group g { stop }\n"), "at most 30 turns");
  refused(request_of("policy gate\ninput anchor: real per run\non finish of group g { when anchor > 0 then drop\n  otherwise train }\n"), "does not supply");
  refused(back(StateOf::Now), "no version before");
  CHECK(engine->swap(request_of(gate(0.75))).outcome == SwapOutcome::Unchanged);
  CHECK(engine->swap(request_of(gate(0.5), first.substr(0, 8))).outcome == SwapOutcome::Active);
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));
  const auto swaps = records(folder.path, "swap");
  CHECK(swaps.size() == 9);
  CHECK(swaps.front().at("outcome") == "refused");
  CHECK(swaps.front().at("from") == first);
}

TEST_CASE("swap: a version is expected by its number where the text alone says too little") {
  const Folder folder;
  Settings made = settings(2, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(gate(0.75), made);
  const auto ask = [&](const std::string& least, const std::string& expected) {
    SwapRequest request = request_of(gate(0.75), expected);
    request.parameters = {{"least", least}};
    return engine->swap(request);
  };
  const std::string hash = engine->policy_hash();
  REQUIRE(ask("0.5", "v0").outcome == SwapOutcome::Active);
  // Who saw version 0 may not replace version 1, though it has the same text.
  const SwapReport late = ask("0.25", "v0");
  CHECK(late.outcome == SwapOutcome::Refused);
  CHECK(late.reason.find("The active policy is version 1 (" + hash.substr(0, 12) + " with least = 0.5), not v0: somebody swapped it meanwhile.") !=
        std::string::npos);
  CHECK(late.reason.find("expect v1") != std::string::npos);
  CHECK(ask("0.25", "v10").outcome == SwapOutcome::Refused);
  CHECK(ask("0.25", "v").reason.find("too short") != std::string::npos);
  CHECK(ask("0.25", hash).outcome == SwapOutcome::Active);  // a hash is that of the text
  // The same value, written in another way.
  CHECK(ask("0.250", "v2").outcome == SwapOutcome::Unchanged);
  CHECK(engine->active_version() == 2);
  const SwapReport taken_back = engine->swap(back(StateOf::Now));
  CHECK(taken_back.parameters == std::map<std::string, std::string>{{"least", "0.5"}});  // those of version 1
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));
  std::vector<std::string> told;
  for (const auto& record : records(folder.path, "swap")) {
    if (record.at("outcome") == "active") told.push_back(swap_words(record));
  }
  const std::string text = hash.substr(0, 12);
  CHECK(told == std::vector<std::string>{
                    fmt::format("swap: version 1 ({0} with least = 0.5) takes the place of {0}", text),
                    fmt::format("swap: version 2 ({0} with least = 0.25) takes the place of {0}", text),
                    fmt::format("rollback: version 3 ({0} with least = 0.5) takes the place of {0}", text)});
}

TEST_CASE("audit: versions are counted by their numbers, since one text may come with several parameters") {
  const Folder folder;
  Settings made = settings(2, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(gate(0.75), made);
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));
  for (int version = 1; version <= 3; ++version) {
    SwapRequest request = request_of(gate(0.75));
    request.parameters = {{"least", fmt::format("0.{}", version)}};
    REQUIRE(engine->swap(request).version == version);
    driver.run(version, prompts(2));
  }
  engine.reset();
  const auto audited = audit_run(folder.path);
  if (!audited) FAIL(audited.error().text());
  CHECK(audited->good());
  CHECK(audited->versions == 4);  // what it began with, and three swaps
}

TEST_CASE("fault 46: --set survives a swap, and one that no longer exists is an error") {
  auto engine = engine_of(gate(0.75), settings(4, 2), {{"least", "0.4"}});
  const std::string other = "policy gate\nparam least: real = 0.75\non finish of group g {\n  when (g.reward_mean ?? 0) < least then drop\n  otherwise train\n}\n";
  REQUIRE(engine->swap(request_of(other)).outcome == SwapOutcome::Active);
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(4));
  CHECK(fates(driver)["p1"] == Fate::Trained);  // 0.5 >= 0.4
  const SwapReport gone = engine->swap(request_of("policy gate\nparam lowest: real = 0.75\non finish of group g {\n  when (g.reward_mean ?? 0) < lowest then drop\n  otherwise train\n}\n"));
  CHECK(gone.outcome == SwapOutcome::Refused);
  CHECK(gone.reason.find("parameters of the run") != std::string::npos);
  CHECK(gone.reason.find("least") != std::string::npos);
  SwapRequest more = request_of(other);
  more.parameters = {{"least", "0.6"}};
  CHECK(engine->swap(more).outcome == SwapOutcome::Active);  // the same text with another parameter is another version
  driver.run(1, prompts(4));
  CHECK(fates(driver)["p1"] == Fate::Dropped);
}

TEST_CASE("swap: of two in flight the later wins, the earlier is recorded as superseded") {
  const Folder folder;
  Settings made = settings(2, 2);
  made.run_folder = folder.path;
  auto engine = engine_of(with_beta, made);
  Driver driver(*engine, by_digit);
  SwapReport first, second;
  driver.after_event = [&] {
    if (first.ticket != 0) return;
    first = engine->swap(request_of(as_mean));
    second = engine->swap(request_of(as_mean + "# another\n"));
  };
  driver.run(0, prompts(2));
  CHECK(second.outcome == SwapOutcome::Waiting);
  CHECK(engine->swap_outcome(first.ticket).outcome == SwapOutcome::Superseded);
  CHECK(engine->swap_outcome(second.ticket).outcome == SwapOutcome::Active);
  CHECK(engine->policy_hash() == second.to);
  // The same while both are being prepared: the one announced last wins, whoever is ready first.
  SwapRequest early = request_of(as_mean + "# early\n", second.to), late = request_of(as_mean + "# late\n", second.to);
  early.ticket = engine->announce_swap();
  late.ticket = engine->announce_swap();
  SwapReport early_told;
  std::thread other([&] { early_told = engine->swap(early); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const SwapReport late_told = engine->swap(late);
  other.join();
  CHECK(late_told.outcome == SwapOutcome::Active);
  CHECK(early_told.outcome == SwapOutcome::Superseded);
  // … unless it is refused.
  early.ticket = engine->announce_swap();
  late = request_of("policy broken\non finish of group g { dorp }\n", late_told.to);
  late.ticket = engine->announce_swap();
  early.expected = late_told.to;
  std::thread again([&] { early_told = engine->swap(early); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(engine->swap(late).outcome == SwapOutcome::Refused);
  again.join();
  CHECK(early_told.outcome == SwapOutcome::Active);
  driver.run(1, prompts(2));
  int superseded = 0;
  for (const auto& record : records(folder.path, "swap")) superseded += record.at("outcome") == "superseded";
  CHECK(superseded == 2);
}

TEST_CASE("a swap in words is one line: what a first line announces follows in it, and help does not") {
  const auto words = [](const std::string& reason) {
    SwapReport report;
    report.by = "a person";
    report.to = std::string(64, 'a');
    report.reason = reason;
    return swap_words(nlohmann::ordered_json::parse(swap_record(report)));
  };
  const std::string refused = "a person: aaaaaaaaaaaa refused";
  CHECK(words("") == refused);
  CHECK(words("It is wrong.\n  help: mend it") == refused + ": It is wrong.");
  CHECK(words("error[E0001]: what\n  --> gate.allot:1:2\n") == refused + ": error[E0001]: what");
  CHECK(words("Lost:\n  one: two\n  three\n  help: mend it\n  or not") == refused + ": Lost: one: two; three");
  CHECK(words("Lost:") == refused + ": Lost:");
  CHECK(words("Lost:\n") == refused + ": Lost:");
}
