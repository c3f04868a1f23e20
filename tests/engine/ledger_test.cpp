// The ledger against a plain model of it, over long random histories.
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/engine/ledger.h"

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

void check_invariants(const Ledger& ledger) {
  for (const Account& account : ledger.accounts()) {
    if (account.reserved + account.spent > account.total) FAIL("overrun of " << lang::name(account.unit));
    if (account.reserved < 0 || account.spent < 0) FAIL("negative " << lang::name(account.unit));
  }
  if (!ledger.conservation().holds()) FAIL("rollouts were lost");
}

// What the ledger says must follow from the permits that are out and from the turns that were settled.
struct Model {
  double tokens_spent = 0, rollouts_spent = 0, calls_spent = 0;
};

}  // namespace

TEST_CASE("over 250,000 random events nothing is overrun, lost, or kept by a permit that was given back") {
  std::mt19937_64 random(20);
  int events = 0;
  for (int history = 0; events < 250'000; ++history) {
    const std::int64_t tokens = 200 + static_cast<std::int64_t>(random() % 4000);
    const lang::Program program = program_with({budget(lang::BaseUnit::Tokens, tokens, true),
                                                budget(lang::BaseUnit::Rollouts, 5 + random() % 60, true),
                                                budget(lang::BaseUnit::Calls, 20 + random() % 100, true)});
    Ledger ledger(program, {}, tokens_per_turn, true);
    ledger.begin_iteration();
    Model model;
    struct Running { Permit permit; int turns = 0; };
    std::vector<Running> running;
    std::int64_t group_members = 0, waiting = 0;
    for (int step = 0; step < 400; ++step, ++events) {
      const auto pick = [&] { return running.begin() + static_cast<std::ptrdiff_t>(random() % running.size()); };
      const int action = static_cast<int>(random() % 10);
      // Rollouts that have ended may wait with their group, and go on with it.
      const std::int64_t idle = group_members - waiting - static_cast<std::int64_t>(running.size());
      if (random() % 8 == 0) {
        const std::int64_t before = ledger.conservation().in_flight;
        if (waiting == 0) {
          ledger.defer_group(static_cast<int>(idle));
          waiting = idle;
        } else {
          ledger.resume_group(static_cast<int>(waiting));
          waiting = 0;
        }
        if (ledger.conservation().deferred != waiting) FAIL("a group that waits was lost");
        if (ledger.conservation().in_flight != group_members - waiting) FAIL("in flight was " << before);
      }
      if (action < 3) {
        if (ledger.affordable(1) == 1) {
          running.emplace_back();
          ledger.start(running.back().permit);
          ++group_members;
        }
      } else if (running.empty()) {
        continue;
      } else if (action < 8) {
        const auto at = pick();
        Turn turn;
        turn.tokens = static_cast<int>(random() % (tokens_per_turn + 1));
        turn.calls = static_cast<int>(random() % 2);
        ledger.settle(at->permit, turn);
        model.tokens_spent += turn.tokens;
        model.calls_spent += turn.calls;
        ++at->turns;
        if (!ledger.reserve_turn(at->permit)) {
          ledger.end(at->permit, true);
          model.rollouts_spent += 1;
          running.erase(at);
        }
      } else {
        const auto at = pick();
        const bool charge = action == 8 || at->turns > 0;
        ledger.end(at->permit, charge);
        model.rollouts_spent += charge;
        running.erase(at);
      }
      check_invariants(ledger);
      const auto out = static_cast<double>(running.size());
      if (ledger.account(lang::BaseUnit::Tokens)->reserved != out * tokens_per_turn) FAIL("a token permit leaks");
      if (ledger.account(lang::BaseUnit::Rollouts)->reserved != out) FAIL("a rollout permit leaks");
      if (ledger.account(lang::BaseUnit::Calls)->reserved != out) FAIL("a call permit leaks");
    }
    for (Running& each : running) ledger.end(each.permit, true);
    model.rollouts_spent += static_cast<double>(running.size());
    if (waiting > 0) ledger.resume_group(static_cast<int>(waiting));
    ledger.close_group(Fate::Trained, static_cast<int>(group_members));
    CHECK(ledger.account(lang::BaseUnit::Tokens)->spent == model.tokens_spent);
    CHECK(ledger.account(lang::BaseUnit::Rollouts)->spent == model.rollouts_spent);
    CHECK(ledger.account(lang::BaseUnit::Calls)->spent == model.calls_spent);
    CHECK(ledger.account(lang::BaseUnit::Tokens)->reserved == 0);
    CHECK(ledger.conservation().in_flight == 0);
    CHECK(ledger.conservation().holds());
  }
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

TEST_CASE("a driver that writes more than was reserved is counted") {
  Ledger ledger(program_with({budget(lang::BaseUnit::Tokens, 100, true)}), {}, tokens_per_turn, true);
  Permit permit;
  ledger.start(permit);
  Turn turn;
  turn.tokens = tokens_per_turn + 1;
  ledger.settle(permit, turn);
  CHECK(ledger.overruns() == 1);
}
