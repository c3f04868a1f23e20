// What bounds a run: budgets and rounds of refills.
#include <map>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

void declare_budgets(Policy& policy) {
  std::map<BaseUnit, Span> seen;
  for (const tree::BudgetDecl& decl : policy.tree.budgets) {
    const tree::Expr& amount = policy.tree[decl.amount];
    Budget budget;
    budget.span = decl.span;
    budget.per_run = decl.period != "iteration";
    budget.carry_over = decl.carry_over;
    std::optional<BaseUnit> unit;
    Binding* const binding = amount.kind == tree::ExprKind::Name ? policy.names.find(amount.text) : nullptr;
    if (amount.kind == tree::ExprKind::Integer && !amount.unit.empty()) unit = unit_named(amount.unit);
    if (binding) binding->used = true;
    if (binding && binding->meaning == Meaning::Poison) continue;
    if (binding && binding->meaning == Meaning::Value && binding->node.type.base == Base::Int) {
      for (int i = 0; i < base_unit_count; ++i) {
        if (binding->node.type.unit == of(static_cast<BaseUnit>(i))) unit = static_cast<BaseUnit>(i);
      }
    }
    if (!unit || (*unit != BaseUnit::Rollouts && *unit != BaseUnit::Tokens && *unit != BaseUnit::Calls &&
                  *unit != BaseUnit::Seconds)) {
      const bool broken = amount.kind == tree::ExprKind::Real && unit_named(amount.unit);
      policy.error("E0403", amount.span,
                   broken ? "a budget is a whole number of " + amount.unit
                          : "a budget is a number of rollouts, tokens, calls or seconds",
                   "",
                   "for example `budget 400_000_000 tokens per run`, or a parameter of that unit");
      continue;
    }
    if (const auto it = seen.find(*unit); it != seen.end()) {
      policy.error("E0401", decl.span, "two budgets in " + std::string(name(*unit)), "", "",
                   {{it->second, "the first one"}});
      continue;
    }
    seen[*unit] = decl.span;
    Builder builder(policy);
    Expressions expressions(policy, builder, Where{});
    const std::optional<ReadArgument> argument = expressions.read_argument(decl.amount, *unit, true, false, "a budget");
    if (!argument) continue;
    budget.unit = *unit;
    budget.amount = *argument;
    policy.program.budgets.push_back(budget);
  }
}

void declare_refill(Policy& policy) {
  const std::vector<tree::RefillDecl>& decls = policy.tree.refills;
  for (std::size_t i = 1; i < decls.size(); ++i) {
    policy.error("E0401", decls[i].span, "`refill at most` is declared twice", "", "",
                 {{decls[0].span, "the first one"}});
  }
  if (decls.empty()) return;
  Builder builder(policy);
  Expressions expressions(policy, builder, Where{});
  Refill refill;
  refill.span = decls[0].span;
  // Rounds are a plain count; `Groups` only fills the place of a unit that is not asked for.
  const tree::Expr& rounds = policy.tree[decls[0].rounds];
  const std::optional<ReadArgument> argument =
      expressions.read_argument(decls[0].rounds, BaseUnit::Groups, false, false, "the number of rounds");
  if (!rounds.unit.empty()) return;
  if (argument) refill.rounds = *argument;
  refill.then = decls[0].then == "skip_update" ? RefillFallback::SkipUpdate
                : decls[0].then == "abort"     ? RefillFallback::Abort
                                               : RefillFallback::TrainPartial;
  policy.program.refill = refill;
}

}  // namespace allot::lang::checker
