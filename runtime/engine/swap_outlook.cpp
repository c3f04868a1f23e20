#include "runtime/engine/swap_outlook.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/engine/inputs.h"
#include "runtime/engine/points.h"
#include "runtime/engine/swap_state.h"
#include "runtime/engine/vanishing.h"
#include "runtime/engine/version.h"

namespace allot::engine {
namespace {

using lang::Program;

void add(std::vector<Error>& refusals, const Result<void>& checked) {
  if (!checked) refusals.push_back(checked.error());
}

std::vector<std::string> keys(const StateStore::Keyed& keyed) {
  std::vector<std::string> all;
  for (const auto& [key, cells] : keyed) all.push_back(key);
  return all;
}

void check_against(const Settings& settings, const Policy& next, std::vector<Error>& refusals) {
  const Program& program = next.program();
  for (const lang::Handler& handler : program.handlers) {
    add(refusals, check_point(program, handler, next.parameters(), settings.turn_limit, settings.host));
  }
  add(refusals, check_inputs(program, declared_inputs(program, settings.inputs)));
}

// With what is remembered as of the snapshot: a `migrate` may meet a fault at one of its values.
void check_memory(ReadSnapshot& then, const StatePlan& plan, const Version& active, const Version& next,
                  const std::optional<Settings>& settings, std::vector<Error>& refusals) {
  StateStore store(active.program());
  if (!then.give_memory(store)) return;  // of another program
  if (auto carried = plan.carry(store); !carried) refusals.push_back(carried.error());
  const bool inputs_fit = settings && refusals.empty();
  if (inputs_fit) add(refusals, check_inputs(next.program(), declared_inputs(next.program(), settings->inputs), keys(store.prompts())));
  const auto check = [&](const LiveGroup& group, bool asked, std::string_view does) {
    if (!asked || group.log.observed()) return;
    refusals.push_back({fmt::format("It asks for `loop`, but group {} {} and its observations were not kept.", group.log.group, does),
                        "swap when no such group is left"});
  };
  for (const LiveGroup* const group : then.waiting) check(*group, next.plan.observations, "waits");
  for (const LiveGroup* const group : then.stored) check(*group, next.plan.replayed_observations, "is kept for `replay`");
}

const lang::Budget* budget_of(const Program& program, lang::BaseUnit unit) {
  const auto found = std::find_if(program.budgets.begin(), program.budgets.end(), [&](const auto& each) { return each.unit == unit; });
  return found == program.budgets.end() ? nullptr : &*found;
}

std::string words(const lang::Budget& budget, const Policy& policy) {
  return fmt::format("{} {} per {}{}", lang::value(budget.amount, policy.parameters()), lang::name(budget.unit),
                     budget.per_run ? "run" : "iteration", budget.carry_over ? ", carry over" : "");
}

std::vector<std::string> changed_budgets(const Policy& active, const Policy& next, const std::vector<Account>& accounts) {
  std::vector<std::string> changed;
  for (const lang::Budget& budget : active.program().budgets) {
    const std::string was = words(budget, active);
    const lang::Budget* const later = budget_of(next.program(), budget.unit);
    const std::string becomes = later == nullptr ? "none" : words(*later, next);
    if (was == becomes) continue;
    const auto spends = [&](const Account& account) { return account.unit == budget.unit && account.per_run; };
    const auto account = std::find_if(accounts.begin(), accounts.end(), spends);
    const bool told = account != accounts.end() && later != nullptr && later->per_run;
    changed.push_back(fmt::format("{} -> {}{}", was, becomes, told ? fmt::format(", {:.6g} are spent", account->spent) : ""));
  }
  for (const lang::Budget& budget : next.program().budgets) {
    if (budget_of(active.program(), budget.unit) == nullptr) changed.push_back("none -> " + words(budget, next));
  }
  return changed;
}

}  // namespace

SwapOutlook foresee_swap(const std::shared_ptr<Policy>& active, const std::shared_ptr<Policy>& next, KnownRun run) {
  SwapOutlook outlook;
  const Version now(0, active), then(1, next);
  const StatePlan plan(now.program(), then.program());
  if (run.settings) check_against(*run.settings, *next, outlook.refusals);
  if (!plan.missing().empty()) {
    std::string what = "State would be lost:";
    for (const std::string& each : plan.missing()) what += "\n  " + each;
    outlook.refusals.push_back({what, "add what is missing, or start a new run"});
  }
  std::vector<Account> accounts;
  if (run.state && run.state->policy_hash == now.hash()) {
    accounts = run.state->accounts;
    check_memory(*run.state, plan, now, then, run.settings, outlook.refusals);
  }
  outlook.waits = frame_difference(now, then);
  outlook.state = plan.changes();
  outlook.budgets = changed_budgets(*active, *next, accounts);
  outlook.handlers = vanishing_handlers(now.program(), then.program());
  return outlook;
}

}  // namespace allot::engine
