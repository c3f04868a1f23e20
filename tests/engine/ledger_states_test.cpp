// Every state that the protocol of reservations can reach, for small sizes: nothing is overrun, lost or kept anywhere.
#include <array>
#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/engine/ledger.h"

using namespace allot;
using namespace allot::engine;

namespace {

constexpr int tokens_per_turn = 2;
constexpr int most_turns = 2;
constexpr int most_rollouts = 2;  // of a group
constexpr int most_iterations = 3;

enum class Run : char { Runs, LastTurn, Ended };
enum class Stage : char { Unopened, Open, Waits, Closed };

struct Rollout {
  Permit permit;
  Run run = Run::Runs;
  char turns = 0;
};

struct Group {
  Stage stage = Stage::Unopened;
  std::vector<Rollout> rollouts;
};

struct State {
  Ledger ledger;
  std::array<Group, 2> groups;
  int iteration = 0;
};

// What tells states apart: all that a later event can depend on.
std::string key(const State& state) {
  std::string text;
  const auto put = [&](std::int64_t number) { text += static_cast<char>(number); };
  for (const Account& account : state.ledger.accounts()) {
    put(static_cast<std::int64_t>(account.total));
    put(static_cast<std::int64_t>(account.spent));
    put(static_cast<std::int64_t>(account.reserved));
  }
  const Conservation& c = state.ledger.conservation();
  for (const std::int64_t count : {c.started, c.accepted, c.dropped, c.cancelled, c.deferred, c.in_flight}) put(count);
  put(state.iteration);
  for (const Group& group : state.groups) {
    text += static_cast<char>(group.stage);
    for (const Rollout& rollout : group.rollouts) {
      text += static_cast<char>(rollout.run);
      text += rollout.turns;
      put(rollout.permit.rollout);
      put(rollout.permit.tokens);
      put(rollout.permit.calls);
    }
    text += '|';
  }
  return text;
}

bool rests(const Group& group) {
  for (const Rollout& rollout : group.rollouts) {
    if (rollout.run != Run::Ended) return false;
  }
  return true;
}

// All states that one event leads to.
std::vector<State> after(const State& state) {
  std::vector<State> next;
  const auto add = [&](const auto& change) { change(next.emplace_back(state)); };
  bool all_rest = true;
  for (std::size_t g = 0; g < state.groups.size(); ++g) {
    const Group& group = state.groups[g];
    const int size = static_cast<int>(group.rollouts.size());
    all_rest = all_rest && (group.stage != Stage::Open);
    const bool opens = group.stage == Stage::Unopened || group.stage == Stage::Open;
    if (opens && size < most_rollouts && state.ledger.affordable(1) == 1) {
      add([&](State& s) {
        s.groups[g].stage = Stage::Open;
        s.ledger.start(s.groups[g].rollouts.emplace_back().permit);
      });
    }
    for (std::size_t r = 0; r < group.rollouts.size(); ++r) {
      const Rollout& rollout = group.rollouts[r];
      if (rollout.run == Run::Ended) continue;
      for (const bool charge : {true, false}) {  // completed, aborted, timed out, crashed; or stopped
        if (!charge && rollout.turns > 0) continue;
        add([&](State& s) {
          s.ledger.end(s.groups[g].rollouts[r].permit, charge);
          s.groups[g].rollouts[r].run = Run::Ended;
        });
      }
      if (rollout.run == Run::LastTurn || rollout.turns == most_turns) continue;
      for (const int tokens : {0, tokens_per_turn}) {
        for (const bool last : {true, false}) {
          add([&](State& s) {
            Rollout& own = s.groups[g].rollouts[r];
            Turn turn;
            turn.tokens = tokens;
            turn.calls = tokens > 0;
            s.ledger.settle(own.permit, turn);
            ++own.turns;
            if (last) {
              own.run = Run::LastTurn;
            } else if (!s.ledger.reserve_turn(own.permit)) {
              s.ledger.end(own.permit, true);
              own.run = Run::Ended;
            }
          });
        }
      }
    }
    if (group.stage == Stage::Open && rests(group)) {
      for (const Fate fate : {Fate::Trained, Fate::Dropped, Fate::Cancelled}) {
        add([&](State& s) {
          s.ledger.close_group(fate, size);
          s.groups[g].stage = Stage::Closed;
        });
      }
      add([&](State& s) {
        s.ledger.defer_group(size);
        s.groups[g].stage = Stage::Waits;
      });
    }
    if (group.stage == Stage::Waits) {
      add([&](State& s) {
        s.ledger.resume_group(size);
        s.groups[g].stage = Stage::Open;
      });
    }
  }
  if (all_rest && state.iteration + 1 < most_iterations) {
    add([&](State& s) {
      s.ledger.begin_iteration();
      ++s.iteration;
    });
  }
  return next;
}

lang::Budget budget(lang::BaseUnit unit, std::int64_t amount, bool per_run, bool carry_over) {
  lang::Budget budget;
  budget.unit = unit;
  budget.amount = {lang::ReadArgument::Kind::Integer, "", amount};
  budget.per_run = per_run;
  budget.carry_over = carry_over;
  return budget;
}

}  // namespace

TEST_CASE("in every reachable state of two groups of two rollouts the budget holds and nothing is lost") {
  for (const bool carry_over : {false, true}) {
    lang::Program program;
    program.budgets = {budget(lang::BaseUnit::Rollouts, 3, true, false), budget(lang::BaseUnit::Tokens, 4, false, carry_over),
                       budget(lang::BaseUnit::Calls, 3, true, false)};
    State first;
    first.ledger = Ledger(program, {}, tokens_per_turn, true);
    first.ledger.begin_iteration();
    std::unordered_set<std::string> seen = {key(first)};
    std::deque<State> open = {first};
    std::int64_t ends = 0, broken = 0;
    while (!open.empty()) {
      const State state = std::move(open.front());
      open.pop_front();
      const Conservation& rollouts = state.ledger.conservation();
      std::int64_t tokens = 0, calls = 0, running = 0, members = 0, waiting = 0;
      for (const Group& group : state.groups) {
        if (group.stage == Stage::Open) members += static_cast<std::int64_t>(group.rollouts.size());
        if (group.stage == Stage::Waits) waiting += static_cast<std::int64_t>(group.rollouts.size());
        for (const Rollout& rollout : group.rollouts) {
          running += rollout.run != Run::Ended;
          tokens += rollout.permit.tokens;
          calls += rollout.permit.calls;
        }
      }
      broken += !rollouts.holds() || rollouts.in_flight != members || rollouts.deferred != waiting;
      const std::array<std::int64_t, 3> held = {running, tokens, calls};
      for (std::size_t i = 0; i < held.size(); ++i) {
        const Account& account = state.ledger.accounts()[i];
        broken += account.reserved != static_cast<double>(held[i]) || account.spent < 0;
        broken += account.reserved + account.spent > account.total;
      }
      const std::vector<State> next = after(state);
      ends += next.empty();
      for (const State& each : next) {
        if (seen.insert(key(each)).second) open.push_back(each);
      }
    }
    INFO(seen.size() << " states, " << ends << " of them ends");
    CHECK(broken == 0);
    CHECK(seen.size() > 10'000);
    CHECK(ends > 0);
  }
}
