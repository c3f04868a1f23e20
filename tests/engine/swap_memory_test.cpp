// What is remembered over a swap and a rollback: carried, migrated, or taken back.
#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/swap_state.h"
#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

TEST_CASE("fault 48: state carries over by name and type at a barrier, a changed one through migrate or not at all") {
  auto engine = engine_of(with_beta, settings(2, 2));
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));  // p0: no hit of 2; p1: one of 2, so its posterior is beta(2, 2)
  const auto refused = engine->swap(request_of(learner("state belief: real per prompt = 0.5", "remember belief[g.prompt] = 0.9 * belief[g.prompt]")));
  CHECK(refused.outcome == SwapOutcome::Refused);
  CHECK(refused.reason.find("`belief` is real per prompt now and was beta per prompt") != std::string::npos);
  CHECK(refused.reason.find("`migrate belief from beta = …`") != std::string::npos);
  const auto report = engine->swap(request_of(as_mean));
  REQUIRE(report.outcome == SwapOutcome::Active);
  CHECK(report.state.migrated == std::vector<std::string>{"belief"});
  CHECK(engine->store().prompt("p0")[0][0].real() == 0.25);  // beta(1, 3): 1/4
  CHECK(engine->store().prompt("p1")[0][0].real() == 0.5);   // beta(2, 2)
  CHECK(engine->store().prompt("unseen")[0][0].real() == 0.5);
  // A new name starts, a name that is gone is dropped; both are told.
  const auto renamed = engine->swap(request_of(learner("state seen: real per prompt = 0", "remember seen[g.prompt] = 1 + seen[g.prompt]")));
  REQUIRE(renamed.outcome == SwapOutcome::Active);
  CHECK(renamed.state.started == std::vector<std::string>{"seen"});
  CHECK(renamed.state.dropped == std::vector<std::string>{"belief"});
}

TEST_CASE("swap: where budgets alone differ, memory stays where it is") {
  auto engine = engine_of(with_beta, settings(2, 2));
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));
  const auto before = engine->store().moment();
  const auto stays = [&] { return engine->store().moment().prompts.continues(before.prompts); };
  const auto report = engine->swap(request_of(learner("state belief: beta per prompt = beta(1, 1)",
                                                      "remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses)",
                                                      "budget 1000 tokens per run\n")));
  if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
  CHECK(report.state.kept == std::vector<std::string>{"belief"});
  CHECK(stays());
  driver.run(1, prompts(2));
  REQUIRE(engine->swap(request_of(as_mean)).outcome == SwapOutcome::Active);
  CHECK_FALSE(stays());
}

TEST_CASE("swap: within an iteration a new form of the state waits for the barrier") {
  auto engine = engine_of(with_beta, settings(2, 2));
  Driver driver(*engine, by_digit);
  SwapReport asked;
  driver.after_event = [&] {
    if (asked.ticket == 0) asked = engine->swap(request_of(as_mean));
  };
  driver.run(0, prompts(2));
  CHECK(asked.outcome == SwapOutcome::Waiting);
  CHECK(asked.reason.find("end of iteration 0: the state `belief`") != std::string::npos);
  const SwapReport later = engine->swap_outcome(asked.ticket);
  CHECK(later.outcome == SwapOutcome::Active);
  CHECK(later.iteration == 1);
  // The batch's own version wrote first: p1 had one hit of two.
  CHECK(engine->store().prompt("p1")[0][0].real() == 0.5);
  driver.run(1, prompts(2));
  CHECK(engine->store().prompt("p1")[0][0].real() == 0.45);  // 0.9 * 0.5 by the new update
}

namespace {

using lang::Cell;
using Cells = std::vector<Cell>;

const std::string wearing = "state belief: beta per prompt = beta(1, 1) decay 0.9\n";

// More prompts than a barrier renews (KeyedRows::renew), so that most rows are left as they are.
void barrier(StateStore& store, int written) {
  store.decay();
  for (int i = 0; i < written; ++i) {
    const std::string prompt = fmt::format("p{}", i);
    store.write_prompt(prompt, 0, Cells{Cell::beta(1.5 + i, 2.5)});
    store.write_prompt(prompt, 1, Cells{Cell::of(0.25 * i)});
  }
  store.write_run(2, Cells{Cell::of(1.0 * written)});
  store.renew();
}

}  // namespace

TEST_CASE("swap: memory that was carried over ahead of a barrier is what is carried over at it") {
  const auto learns = [](const std::string& states) { return policy_of(learner(states, "remember seen = 1.0"))->program(); };
  const lang::Program from = learns(wearing + "state level: real per prompt = 0.5\nstate seen: real per run = 0");
  struct Case {
    std::string states;
    bool ahead;  // whether it can be
  };
  const std::string seen = "state seen: real per run = 0\n", level = "state level: real per prompt = 0.5\n";
  const std::vector<Case> cases{
      {wearing + level + seen + "state hope: real per prompt = 1 decay 0.5", true},
      {seen + level, true},
      {wearing + "state level: int per prompt = 0\n" + seen + "migrate level from real = floor(4 * old)", true},
      {"state belief: beta per prompt = beta(1, 1) decay 0.5\n" + level + seen, false},
      {"state belief: real per prompt = 0.5\n" + level + seen + "migrate belief from beta = beta_mean(old)", false}};
  for (const Case& each : cases) {
    INFO(each.states);
    const lang::Program to = learns(each.states);
    StateStore store(from);
    barrier(store, 3000);
    barrier(store, 10);
    const StatePlan plan(from, to);
    REQUIRE(plan.missing().empty());
    auto ahead = plan.carry_ahead(store.moment());
    REQUIRE(ahead.has_value() == each.ahead);
    for (const int barriers : {0, 1, 3}) {
      for (int i = 0; i < barriers; ++i) barrier(store, 20 + i);
      const auto rows = store.moment().prompts;
      std::size_t left = 0;
      for (std::size_t row = 0; row < rows.size(); ++row) left += rows.stamp(row) <= rows.now() - barriers;
      if (barriers == 1) CHECK(left > 1000);  // which nobody has written since the preparation
      auto at_once = plan.carry(store);
      auto again = plan.carry_ahead(store.moment());  // for the next round
      auto made = plan.carry(store, ahead ? &*ahead : nullptr);
      REQUIRE((at_once && made));
      for (int later = 0; later < 2; ++later) {
        CHECK((made->prompts() == at_once->prompts()));
        CHECK((made->run() == at_once->run()));
        made->decay();
        at_once->decay();
      }
      ahead = std::move(again);
    }
  }
  // Of another memory nothing is taken up.
  StateStore store(from), other(from);
  barrier(store, 3000);
  barrier(other, 7);
  const StatePlan plan(from, from);
  auto ahead = plan.carry_ahead(store.moment());
  REQUIRE(ahead);
  const auto made = plan.carry(other, &*ahead);
  REQUIRE(made);
  CHECK((made->prompts() == other.prompts()));
}

TEST_CASE("rollback: what was remembered then comes back in its form of then, where that of now has no way back") {
  auto engine = engine_of(with_beta, settings(2, 2));
  Driver driver(*engine, by_digit);
  driver.run(0, prompts(2));
  const auto then = engine->store().prompts();
  REQUIRE(engine->swap(request_of(as_mean)).outcome == SwapOutcome::Active);
  driver.run(1, prompts(2));
  const SwapReport refused = engine->swap(back(StateOf::Now));
  CHECK(refused.outcome == SwapOutcome::Refused);
  CHECK(refused.reason.find("`migrate belief from real = …`") != std::string::npos);
  const SwapReport report = engine->swap(back(StateOf::Then));
  if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
  CHECK(engine->store().prompts() == then);
  driver.run(2, prompts(2));
}

// Three versions in one iteration, within which memory stands still: each left what the iteration began with.
TEST_CASE("rollback: to versions that came and went within one iteration, with the state of its beginning") {
  enum class Kept { InMemory, OnDisk, Resumed };
  for (const Kept kept : {Kept::InMemory, Kept::OnDisk, Kept::Resumed}) {
    const Folder folder;
    Settings made = settings(2, 2);
    if (kept != Kept::InMemory) made.run_folder = folder.path;
    auto engine = engine_of(with_beta, made);
    const std::string first = engine->policy_hash();
    StateStore::Keyed then;
    std::string second;
    {
      Driver driver(*engine, by_digit);
      driver.run(0, prompts(2));
      then = engine->store().prompts();
      driver.generate(1, prompts(2));
      REQUIRE(engine->swap(request_of(with_beta + "# second\n")).outcome == SwapOutcome::Active);
      second = engine->policy_hash();
      REQUIRE(engine->swap(request_of(with_beta + "# third\n")).outcome == SwapOutcome::Active);
      REQUIRE(engine->end_iteration());
    }
    CHECK(engine->store().prompts() != then);
    if (kept == Kept::Resumed) {
      engine.reset();
      engine = engine_of(with_beta, made);
      REQUIRE(engine->restore_from(folder.path));
    }
    const SwapReport report = engine->swap(back(StateOf::Then));
    if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
    CHECK(engine->policy_hash() == second);
    CHECK(engine->store().prompts() == then);
    if (kept != Kept::InMemory) {  // without a folder the latest state alone is held
      const SwapReport further = engine->swap(back(StateOf::Then));
      if (further.outcome != SwapOutcome::Active) FAIL(further.reason);
      CHECK(engine->policy_hash() == first);
      CHECK(engine->store().prompts() == then);
    }
    Driver(*engine, by_digit).run(2, prompts(2));
  }
}

TEST_CASE("rollback: the version before, with the state of now or of then") {
  for (const bool on_disk : {false, true}) {
    for (const StateOf state : {StateOf::Now, StateOf::Then}) {
      const Folder folder;
      Settings made = settings(2, 2);
      if (on_disk) made.run_folder = folder.path;
      auto engine = engine_of(with_beta, made);
      const std::string first = engine->policy_hash();
      Driver driver(*engine, by_digit);
      driver.run(0, prompts(2));
      const auto then = engine->store().prompts();
      REQUIRE(engine->swap(request_of(with_beta + "# tighter\n")).outcome == SwapOutcome::Active);
      CHECK(engine->store().prompts() == then);  // a swap carries it over as it is
      driver.run(1, prompts(2));
      const auto now = engine->store().prompts();
      CHECK(now != then);
      const SwapReport report = engine->swap(back(state));
      if (report.outcome != SwapOutcome::Active) FAIL(report.reason);
      CHECK(report.by == "rollback");
      CHECK(engine->policy_hash() == first);
      CHECK(engine->active_version() == 2);
      CHECK(engine->store().prompts() == (state == StateOf::Now ? now : then));
      const SwapReport again = engine->swap(back(state));  // the first version has none before it
      CHECK(again.outcome == SwapOutcome::Refused);
      CHECK(again.reason.find("was taken back") != std::string::npos);
      CHECK(engine_of(with_beta, settings(2, 2))->swap(back(state)).reason.find("never swapped") != std::string::npos);
      driver.run(2, prompts(2));
    }
  }
}
