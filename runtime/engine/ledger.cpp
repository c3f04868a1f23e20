#include "runtime/engine/ledger.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace allot::engine {

using lang::BaseUnit;

namespace {
constexpr std::int64_t calls_per_turn = 1;
}  // namespace

Ledger::Ledger(const lang::Program& program, const std::vector<lang::Cell>& parameters, int tokens_per_turn,
               bool enforced)
    : tokens_per_turn_(tokens_per_turn), enforced_(enforced) {
  for (const lang::Budget& budget : program.budgets) {
    Account account;
    account.unit = budget.unit;
    account.amount = lang::value(budget.amount, parameters);
    account.per_run = budget.per_run;
    account.carry_over = budget.carry_over;
    account.total = static_cast<double>(account.amount);
    accounts_.push_back(account);
  }
}

void Ledger::begin_iteration() {
  for (Account& account : accounts_) {
    if (account.per_run || !begun_) continue;
    const double rest = account.carry_over ? std::max(0.0, account.total - account.spent) : 0.0;
    account.total = static_cast<double>(account.amount) + rest;
    account.spent = 0;
  }
  begun_ = true;
}

void Ledger::restore(const std::vector<Account>& accounts, const Conservation& conservation, bool begun,
                     std::int64_t overruns) {
  resting_.clear();
  // The iteration that ended gave it nothing, so it left nothing.
  for (Account& account : accounts_) {
    if (begun && !account.per_run) account.total = 0;
  }
  for (const Account& saved : accounts) {
    const auto account = std::find_if(accounts_.begin(), accounts_.end(), [&](const Account& each) {
      return each.unit == saved.unit && each.per_run == saved.per_run;
    });
    if (account != accounts_.end()) {
      if (account->per_run) {
        account->total = saved.total + static_cast<double>(account->amount - saved.amount);
      } else if (begun) {
        account->total = saved.total;
      }
      account->spent = saved.spent;
      account->reserved = 0;
    } else if (saved.per_run) {
      resting_.push_back(saved);
      resting_.back().reserved = 0;
    }
  }
  conservation_ = conservation;
  begun_ = begun;
  overruns_ = overruns;
}

double Ledger::need(BaseUnit unit) const {
  switch (unit) {
    case BaseUnit::Rollouts: return 1;
    case BaseUnit::Tokens: return static_cast<double>(tokens_per_turn_);
    case BaseUnit::Calls: return calls_per_turn;
    default: return 0;
  }
}

int Ledger::affordable(int wanted) const {
  if (!enforced_) return wanted;
  double most = wanted;
  for (const Account& account : accounts_) {
    if (account.unit == BaseUnit::Seconds) {
      if (account.left() <= 0) return 0;
    } else if (const double each = need(account.unit); each > 0) {
      most = std::min(most, std::floor(account.left() / each));
    }
  }
  return static_cast<int>(std::max(0.0, most));
}

std::string Ledger::tightest() const {
  const auto room = [&](const Account& account) {
    const double each = need(account.unit);
    return each > 0 ? account.left() / each : account.left() > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  };
  const auto least = std::min_element(accounts_.begin(), accounts_.end(),
                                      [&](const Account& a, const Account& b) { return room(a) < room(b); });
  if (least == accounts_.end()) return {};
  const std::string all = fmt::format("{} {}", least->total, lang::name(least->unit));
  if (least->unit == BaseUnit::Rollouts) return fmt::format("{} of {} were started", least->reserved + least->spent, all);
  if (least->unit == BaseUnit::Seconds) return fmt::format("{} of {} were spent", least->spent, all);
  return fmt::format("{} of {} were reserved by open rollouts, {} each for the next turn, and {} spent; what a rollout does not "
                     "use comes back when its turn is told or it ends",
                     least->reserved, all, need(least->unit), least->spent);
}

std::string Ledger::used_up() const {
  const auto covers_none = [&](const Account& account) {
    return account.unit == BaseUnit::Seconds ? account.left() <= 0 : account.left() < need(account.unit);
  };
  const auto found = std::find_if(accounts_.begin(), accounts_.end(),
                                  [&](const Account& account) { return account.per_run && covers_none(account); });
  if (!enforced_ || found == accounts_.end()) return {};
  const std::string text = fmt::format("{} of {} {}", found->spent, found->total, lang::name(found->unit));
  return found->left() > 0 ? fmt::format("{}, and a turn may take {}", text, need(found->unit)) : text;
}

std::string Ledger::beyond() const {
  std::string text;
  for (const Account& account : accounts_) {
    if (account.unit == BaseUnit::Seconds || account.spent <= account.total) continue;
    text += fmt::format("{}{} {} beyond the {} per {}", text.empty() ? "" : ", ", account.spent - account.total, lang::name(account.unit),
                        account.total, account.per_run ? "run" : "iteration");
  }
  return text;
}

void Ledger::start(Permit& permit) {
  permit = {true, tokens_per_turn_, calls_per_turn};
  move(BaseUnit::Rollouts, 1, 0);
  move(BaseUnit::Tokens, static_cast<double>(permit.tokens), 0);
  move(BaseUnit::Calls, static_cast<double>(permit.calls), 0);
  ++conservation_.started;
  ++conservation_.in_flight;
}

void Ledger::settle(Permit& permit, const Turn& turn) {
  if (overruns(permit, turn)) ++overruns_;
  move(BaseUnit::Tokens, -static_cast<double>(permit.tokens), turn.tokens);
  move(BaseUnit::Calls, -static_cast<double>(permit.calls), turn.calls);
  permit.tokens = 0;
  permit.calls = 0;
}

bool Ledger::covers_next(const Permit& permit, const Turn& turn) const {
  return covers(BaseUnit::Tokens, static_cast<double>(tokens_per_turn_ - permit.tokens + turn.tokens)) &&
         covers(BaseUnit::Calls, static_cast<double>(calls_per_turn - permit.calls + turn.calls));
}

bool Ledger::reserve_turn(Permit& permit) {
  if (!covers(BaseUnit::Tokens, static_cast<double>(tokens_per_turn_)) || !covers(BaseUnit::Calls, calls_per_turn)) {
    return false;
  }
  permit.tokens = tokens_per_turn_;
  permit.calls = calls_per_turn;
  move(BaseUnit::Tokens, static_cast<double>(permit.tokens), 0);
  move(BaseUnit::Calls, static_cast<double>(permit.calls), 0);
  return true;
}

void Ledger::end(Permit& permit, bool charge_rollout) {
  if (permit.rollout) move(BaseUnit::Rollouts, -1, charge_rollout ? 1 : 0);
  move(BaseUnit::Tokens, -static_cast<double>(permit.tokens), 0);
  move(BaseUnit::Calls, -static_cast<double>(permit.calls), 0);
  permit = {};
}

void Ledger::seconds_passed(double seconds) { move(BaseUnit::Seconds, 0, seconds); }

bool Ledger::seconds_exhausted() const {
  const Account* seconds = account(BaseUnit::Seconds);
  return enforced_ && seconds != nullptr && seconds->left() <= 0;
}

void Ledger::close_group(Fate fate, int rollouts) {
  conservation_.in_flight -= rollouts;
  switch (fate) {
    case Fate::Trained: conservation_.accepted += rollouts; break;
    case Fate::Dropped: conservation_.dropped += rollouts; break;
    case Fate::Surplus:
    case Fate::Cancelled: conservation_.cancelled += rollouts; break;
  }
}

void Ledger::defer_group(int rollouts) {
  conservation_.in_flight -= rollouts;
  conservation_.deferred += rollouts;
}

void Ledger::resume_group(int rollouts) {
  conservation_.deferred -= rollouts;
  conservation_.in_flight += rollouts;
}

const Account* Ledger::account(BaseUnit unit) const {
  const auto found = std::find_if(accounts_.begin(), accounts_.end(), [&](const Account& a) { return a.unit == unit; });
  return found == accounts_.end() ? nullptr : &*found;
}

std::vector<Account> Ledger::every_account() const {
  std::vector<Account> all = accounts_;
  all.insert(all.end(), resting_.begin(), resting_.end());
  return all;
}

bool Ledger::counts(BaseUnit unit) const {
  const auto of_unit = [&](const Account& account) { return account.unit == unit; };
  return std::any_of(accounts_.begin(), accounts_.end(), of_unit) || std::any_of(resting_.begin(), resting_.end(), of_unit);
}

bool Ledger::covers(BaseUnit unit, double amount) const {
  return !enforced_ || std::none_of(accounts_.begin(), accounts_.end(), [&](const Account& account) {
    return account.unit == unit && account.left() < amount;
  });
}

// One unit may be declared per run and per iteration: both accounts move.
void Ledger::move(BaseUnit unit, double reserved, double spent) {
  for (std::vector<Account>* const accounts : {&accounts_, &resting_}) {
    for (Account& account : *accounts) {
      if (account.unit != unit) continue;
      account.reserved += reserved;
      account.spent += spent;
    }
  }
}

}  // namespace allot::engine
