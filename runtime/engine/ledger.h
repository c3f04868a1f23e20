// The budget, kept so that it cannot be overrun: work is reserved before it begins and settled when it is done.
//
// Invariants after every call: reserved + spent <= total in every declared unit but seconds (which are checked at
// events and may be overrun by one turn), and started = accepted + dropped + cancelled + deferred + in flight.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/group_log.h"

namespace allot::engine {

struct Account {
  lang::BaseUnit unit = lang::BaseUnit::Tokens;  // Rollouts, Tokens, Calls or Seconds
  std::int64_t amount = 0;                       // as declared
  bool per_run = true;
  bool carry_over = false;                       // what an iteration leaves is added to the next one's total
  double total = 0;                              // amount, plus what was carried over
  double spent = 0;
  double reserved = 0;

  double left() const { return total - spent - reserved; }
};

// Where every rollout that was started has gone.
struct Conservation {
  std::int64_t started = 0, accepted = 0, dropped = 0, cancelled = 0, deferred = 0, in_flight = 0;
  bool holds() const { return started == accepted + dropped + cancelled + deferred + in_flight; }
};

class Ledger {
 public:
  Ledger() = default;
  // `tokens_per_turn` and one call are reserved for each turn. `enforced` false (shadow): count, refuse nothing.
  Ledger(const lang::Program& program, const std::vector<lang::Cell>& parameters, int tokens_per_turn, bool enforced);

  void begin_iteration();

  // How many of `wanted` rollouts can be started now: each needs itself and its first turn.
  int affordable(int wanted) const;
  // How the budget stands that has the least room for one rollout more, in words; empty where there is none.
  std::string tightest() const;
  // How a budget per run stands that will never again cover a rollout: "40 of 40 rollouts"; empty while all of them do.
  // Between two iterations, when nothing is reserved.
  std::string used_up() const;
  // What was spent beyond the budgets of tokens and calls, in words; empty where nothing was.
  std::string beyond() const;
  // Reserves a rollout and its first turn. Only after affordable() allowed it.
  void start(Permit& permit);
  // Settles the turn that was executed.
  void settle(Permit& permit, const Turn& turn);
  // Whether the turn after this one could be reserved once this one is settled.
  bool covers_next(const Permit& permit, const Turn& turn) const;
  // The turn used more than was reserved for it: settle() will count that.
  static bool overruns(const Permit& permit, const Turn& turn) { return turn.tokens > permit.tokens || turn.calls > permit.calls; }
  // Reserves the next turn; false where it cannot be covered.
  bool reserve_turn(Permit& permit);
  // The rollout ended, however: what it still holds comes back. A rollout that never took a turn and was stopped is
  // not charged.
  void end(Permit& permit, bool charge_rollout);
  void seconds_passed(double seconds);
  bool seconds_exhausted() const;

  void close_group(Fate fate, int rollouts);
  // A group waits for a later time, or goes on. Its rollouts have ended and were settled then, so no budget moves; what
  // it starts when it goes on is charged to the iteration of that time.
  void defer_group(int rollouts);
  void resume_group(int rollouts);

  const Account* account(lang::BaseUnit unit) const;
  const std::vector<Account>& accounts() const { return accounts_; }
  // With those that the policy does not declare any more: their run goes on spending, and they may be declared again.
  std::vector<Account> every_account() const;
  bool counts(lang::BaseUnit unit) const;  // in any of them
  bool counts() const { return !accounts_.empty() || !resting_.empty(); }
  // Whether a turn moves any of them.
  bool charges_turns() const { return counts(lang::BaseUnit::Tokens) || counts(lang::BaseUnit::Calls); }
  const Conservation& conservation() const { return conservation_; }
  bool begun() const { return begun_; }
  // Continues where another ledger was at a barrier (its every_account()): nothing is reserved there. An amount that was
  // changed since keeps the new one, per iteration from the next one on; a budget per run that is not declared now rests.
  void restore(const std::vector<Account>& accounts, const Conservation& conservation, bool begun, std::int64_t overruns);

  // Turns of the run that wrote more than was reserved for them: the driver broke its word. Counted, never hidden.
  std::int64_t overruns() const { return overruns_; }

 private:
  double need(lang::BaseUnit unit) const;
  bool covers(lang::BaseUnit unit, double amount) const;
  void move(lang::BaseUnit unit, double reserved, double spent);

  std::vector<Account> accounts_;
  std::vector<Account> resting_;  // limit nothing
  Conservation conservation_;
  std::int64_t tokens_per_turn_ = 16;
  bool enforced_ = true;
  bool begun_ = false;  // an iteration has begun
  std::int64_t overruns_ = 0;
};

}  // namespace allot::engine
