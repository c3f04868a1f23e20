// The ledger against a plain model of it, over long random histories.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/engine/ledger.h"
#include "tests/engine/ledger_model.h"

using namespace allot;
using namespace allot::engine;

namespace {

constexpr int tokens_per_turn = 16;

lang::Budget budget(lang::BaseUnit unit, std::int64_t amount, bool per_run, bool carry_over = false) {
  lang::Budget budget;
  budget.unit = unit;
  budget.amount = {lang::ReadArgument::Kind::Integer, "", amount};
  budget.per_run = per_run;
  budget.carry_over = carry_over;
  return budget;
}

lang::Program program_with(std::vector<lang::Budget> budgets) {
  lang::Program program;
  program.budgets = std::move(budgets);
  return program;
}

}  // namespace

TEST_CASE("over 200,000 random events the ledger is what a plain model says, after each of them") {
  const bench::LedgerHistory told = bench::random_ledger_history(20, 200'000);
  if (told.problem) FAIL(*told.problem);
  CHECK(told.events >= 200'000);
  // Every path was taken often: a check that cannot fail is none.
  for (const std::int64_t count : {told.starts, told.refused, told.settled, told.accepted, told.dropped, told.cancelled,
                                   told.deferred, told.iterations}) {
    CHECK(count > 1000);
  }
  CHECK(told.crashes > 100);
}

TEST_CASE("what can be started is bounded by the tightest unit") {
  const lang::Program program = program_with({budget(lang::BaseUnit::Tokens, 100, true),
                                              budget(lang::BaseUnit::Rollouts, 50, true)});
  const Ledger ledger(program, {}, tokens_per_turn, true);
  CHECK(ledger.affordable(50) == 6);  // 6 · 16 = 96 tokens
  CHECK(ledger.affordable(3) == 3);
  const Ledger shadow(program, {}, tokens_per_turn, false);
  CHECK(shadow.affordable(50) == 50);
}

TEST_CASE("a budget per run counts on through versions that declare another or none") {
  const lang::Program per_run = program_with({budget(lang::BaseUnit::Rollouts, 10, true)});
  const lang::Program per_iteration = program_with({budget(lang::BaseUnit::Rollouts, 3, false)});
  const lang::Program tokens = program_with({budget(lang::BaseUnit::Tokens, 1000, true)});
  Ledger ledger;
  int started = 0;
  const lang::Program none;
  for (const lang::Program* const program : {&per_run, &per_iteration, &tokens, &none, &per_run}) {
    Ledger next(*program, {}, tokens_per_turn, true);
    next.restore(ledger.every_account(), ledger.conservation(), ledger.begun(), ledger.overruns());
    ledger = std::move(next);
    ledger.begin_iteration();
    CHECK(ledger.accounts().size() == program->budgets.size());
    if (program == &per_run) CHECK(ledger.accounts()[0].spent == started);
    // Once as part of a swap, once as a snapshot is read back.
    Ledger again(*program, {}, tokens_per_turn, true);
    again.restore(ledger.every_account(), ledger.conservation(), ledger.begun(), ledger.overruns());
    ledger = std::move(again);
    for (int i = 0; i < 2; ++i, ++started) {
      Permit permit;
      ledger.start(permit);
      ledger.end(permit, true);
    }
  }
  CHECK(ledger.affordable(99) == 0);  // 5 versions started 2 each
}

TEST_CASE("a budget per iteration begins anew, and carries over only where that is declared") {
  for (const bool carry : {false, true}) {
    const lang::Program program = program_with({budget(lang::BaseUnit::Rollouts, 10, false, carry)});
    Ledger ledger(program, {}, tokens_per_turn, true);
    ledger.begin_iteration();
    CHECK(ledger.affordable(99) == 10);
    Permit permit;
    ledger.start(permit);
    ledger.end(permit, true);
    ledger.begin_iteration();
    CHECK(ledger.affordable(99) == (carry ? 19 : 10));  // 9 were left
  }
}

// What the next iteration has, by hand: the new amount, and with `carry over` what the old one left.
TEST_CASE("a version that changes a budget per iteration finds what the last one left of it, and nothing of one it adds") {
  struct Change {
    std::optional<std::int64_t> before;
    int spent;
    std::int64_t after;
    bool carry;
    int room;
  };
  for (const Change& change : {Change{4, 4, 10, true, 10}, Change{{}, 4, 6, true, 6}, Change{100, 24, 10, true, 86},
                               Change{100, 24, 10, false, 10}, Change{10, 4, 10, true, 16}}) {
    const auto declared = [&](std::int64_t amount) { return program_with({budget(lang::BaseUnit::Rollouts, amount, false, change.carry)}); };
    Ledger ledger(change.before ? declared(*change.before) : lang::Program(), {}, tokens_per_turn, true);
    ledger.begin_iteration();
    for (int i = 0; i < change.spent; ++i) {
      Permit permit;
      ledger.start(permit);
      ledger.end(permit, true);
    }
    // A swap, and a snapshot of it that is read back.
    for (int i = 0; i < 2; ++i) {
      Ledger next(declared(change.after), {}, tokens_per_turn, true);
      next.restore(ledger.every_account(), ledger.conservation(), ledger.begun(), ledger.overruns());
      ledger = std::move(next);
    }
    ledger.begin_iteration();
    CHECK(ledger.affordable(999) == change.room);
  }
  // Before the first iteration nothing was left.
  Ledger fresh(program_with({budget(lang::BaseUnit::Rollouts, 4, false, true)}), {}, tokens_per_turn, true);
  Ledger next(program_with({budget(lang::BaseUnit::Rollouts, 10, false, true)}), {}, tokens_per_turn, true);
  next.restore(fresh.every_account(), fresh.conservation(), fresh.begun(), 0);
  next.begin_iteration();
  CHECK(next.affordable(99) == 10);
}

TEST_CASE("a budget per run is used up when it covers no rollout's first turn") {
  const auto after = [](lang::BaseUnit unit, bool per_run, bool enforced, int spent) {
    Ledger ledger(program_with({budget(unit, 100, per_run)}), {}, tokens_per_turn, enforced);
    Permit permit;
    ledger.start(permit);
    Turn turn;
    turn.tokens = spent;
    ledger.settle(permit, turn);
    ledger.end(permit, true);
    return std::pair(ledger.used_up(), ledger.beyond());
  };
  using lang::BaseUnit;
  CHECK(after(BaseUnit::Tokens, true, true, 100 - tokens_per_turn) == std::pair(std::string(), std::string()));
  CHECK(after(BaseUnit::Tokens, true, true, 101 - tokens_per_turn).first == "85 of 100 tokens, and a turn may take 16");
  CHECK(after(BaseUnit::Tokens, true, true, 100) == std::pair(std::string("100 of 100 tokens"), std::string()));
  CHECK(after(BaseUnit::Tokens, true, true, 107) == std::pair(std::string("107 of 100 tokens"), std::string("7 tokens beyond the 100 per run")));
  CHECK(after(BaseUnit::Tokens, false, true, 107) == std::pair(std::string(), std::string("7 tokens beyond the 100 per iteration")));
  CHECK(after(BaseUnit::Tokens, true, false, 100).first.empty());
  CHECK(after(BaseUnit::Rollouts, true, true, 100).first.empty());
}

TEST_CASE("a driver that writes more than was reserved is counted") {
  Ledger ledger(program_with({budget(lang::BaseUnit::Tokens, 100, true)}), {}, tokens_per_turn, true);
  Permit permit;
  ledger.start(permit);
  Turn turn;
  turn.tokens = tokens_per_turn + 1;
  ledger.settle(permit, turn);
  CHECK(ledger.overruns() == 1);
  Ledger next(program_with({budget(lang::BaseUnit::Tokens, 200, true)}), {}, tokens_per_turn, true);
  next.restore(ledger.every_account(), ledger.conservation(), ledger.begun(), ledger.overruns());
  CHECK(next.overruns() == 1);
}
