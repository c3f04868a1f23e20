// Facts and budgets, read where they are known.
#include <utility>

#include "lang/check/collections.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

bool needs_hit(Fact fact) {
  switch (fact) {
    case Fact::Hits:
    case Fact::Misses:
    case Fact::HitRate:
    case Fact::RolloutHit:
    case Fact::HistoryHits:
    case Fact::HistoryMisses:
    case Fact::HistoryHitRate:
    case Fact::LastHitRate:
      return true;
    default:
      return false;
  }
}

}  // namespace

// `hit` reads what the environment gave where there is such a thing, and is asked of scored rollouts only.
NodeId Expressions::hit_fact(const FactRow& row, tree::ExprId id) {
  const Span span = expr(id).span;
  if (row.fact == Fact::RolloutHit) {
    policy_.error("E0107", span, "the `hit` condition cannot read `hit`");
    return poison;
  }
  const auto read = [&](Fact fact) {
    const FactRow& r = lang::row(fact);
    const int key = builder_.read({fact, {}, Scope::Single, r.type, std::string(r.name), span});
    return builder_.make(Op::Read, r.type, span, {}, key);
  };
  if (row.fact != Fact::Reward && row.fact != Fact::RawReward) return read(row.fact);
  const NodeId reward = builder_.make(Op::Coalesce, row.type, span, {read(Fact::RawReward), read(Fact::Reward)});
  return builder_.make(Op::Assume, defined(row.type), span, {reward});
}

bool Expressions::refuse_fact(const FactRow& row, tree::ExprId id) {
  const tree::Expr& e = expr(id);
  Span span = e.span;
  if (e.kind == tree::ExprKind::Field) {
    span = policy_.inside(span);
    span.begin = span.end - static_cast<std::uint32_t>(e.text.size());
  }
  if (!known_at(row, where_.point)) {
    // Once a handler for each fact: its variable tells one handler from another.
    const tree::Expr* root = &e;
    while (root->kind == tree::ExprKind::Field) root = &expr(root->args[0]);
    const Binding* const owner = policy_.names.find(root->text);
    const std::string handler = std::to_string(owner ? owner->id : -1);
    const std::string said = row.name.empty() ? policy_.text(span) : std::string(row.name);  // `draw("a")` has no name
    if (!policy_.first_time("E0301", said + " " + handler)) return true;
    const std::string point = quoted(lang::name(where_.point));
    const bool shape = known_at(row, Point::Shape) && !known_at(row, Point::Finish);
    const bool empty = row.fact == Fact::EmptySlots;
    policy_.error("E0301", span, quoted(said) + " is not known at " + point,
                  shape
                      ? (row.fact == Fact::Embeddings ? "embeddings" : "advantages") + std::string(" exist at `shape`")
                  : empty                       ? "slots are counted as empty at `replay`"
                  : where_.point == Point::Loss ? "a loss reads its token, parameters and state of the run"
                                                : "rewards exist from `result` on",
                  shape || empty || where_.point == Point::Loss ? ""
                  : where_.point == Point::Size                 ? "at `size` a rule may read prompts, budget and state"
                  : where_.point == Point::Select
                      ? "at `select` a rule may read the history of prompts and state"
                      : "at " + point + " a rule may read actions, observations, tokens, log-probabilities, entropy");
    return true;
  }
  if (needs_hit(row.fact) && policy_.tree.hit == tree::none) {
    if (policy_.unread || !policy_.first_time("E0312", "hit")) return true;
    policy_.error("E0312", span, quoted(row.name) + " needs to know what a hit is", "no `hit` condition is declared",
                  "add  hit when reward >= 1.0");
    return true;
  }
  return false;
}

NodeId Expressions::fact(const FactRow& row, const Binding* owner, tree::ExprId id,
                         std::vector<ReadArgument> arguments) {
  const Span span = expr(id).span;
  if (where_.constant) {
    const std::string what = quoted(policy_.text(id));
    const bool ties = policy_.source.text(span).starts_with("seeded");  // where no number can stand
    policy_.error("E0404", span,
                  where_.eval ? what + " is known in a run only" : "this must be known from the text alone", "",
                  std::string(where_.eval ? "`allot eval` has no run: " : "") +
                      (ties          ? "leave `ties:` out"
                       : where_.eval ? "write a number in its place"
                                     : "write a literal"));
    return poison;
  }
  if (refuse_fact(row, id)) return poison;
  Fact wanted = row.fact;
  Scope scope = owner ? owner->scope : Scope::Single;
  Type type = row.type;
  if (type.vector()) {  // the rewards of a group are a column of its rollouts' rewards
    if (scope != Scope::Single) return vector_of_each(row, *owner, id);
    wanted = element_of(wanted);
    scope = type.scope;
    const int column = builder_.column({wanted, {}, scope, type, policy_.text(id), span});
    return builder_.make(Op::Column, type, span, {}, column);
  }
  if (scope == Scope::Single) {
    // A handler of `score` is asked because a reward has come.
    const bool arrived = where_.point == Point::Score && (wanted == Fact::Reward || wanted == Fact::RawReward);
    if (arrived) {
      const int read = builder_.read({wanted, {}, scope, type, policy_.text(id), span});
      return builder_.make(Op::Assume, defined(type), span, {builder_.make(Op::Read, type, span, {}, read)});
    }
    const int read = builder_.read({wanted, std::move(arguments), scope, type, policy_.text(id), span});
    return assume_if_known(builder_.make(Op::Read, type, span, {}, read), path(id));
  }
  if (scope == Scope::Trained && wanted == Fact::Advantage) type = defined(type);
  const int column =
      builder_.column({wanted, std::move(arguments), scope, vector_of(type, scope), policy_.text(id), span});
  if (of_many_groups(scope) || owner->placed) return assume_if_known(at_place(column, type, owner->loop, span), path(id));
  return assume_if_known(builder_.make(Op::Element, type, span, {}, column, owner->loop), path(id));
}

// `g.rewards` of a group that is walked: those of its own rollouts, a list.
NodeId Expressions::vector_of_each(const FactRow& row, const Binding& owner, tree::ExprId id) {
  const Span span = expr(id).span;
  if (row.type.scope != Scope::Rollouts || row.type.matrix() || !rollouts_of(owner.scope)) {
    const bool turns = row.type.scope == Scope::Turns;
    policy_.error("E0302", span,
                  quoted(policy_.text(id)) + " is " + (row.type.matrix() ? "a matrix" : "a vector") + " for each " +
                      (turns ? "rollout" : "group"),
                  "there are many of them here",
                  turns ? "read it in a handler of one rollout: `on every turn of rollout r`"
                        : "read it in a handler of one group");
    return poison;
  }
  const Scope scope = *rollouts_of(owner.scope);
  const Type element = lang::row(element_of(row.fact)).type;
  const int loop = loop_over_rollouts(owner, span);
  const int column =
      builder_.column({element_of(row.fact), {}, scope, vector_of(element, scope), policy_.text(id), span});
  const NodeId body = at_place(column, element, loop, span);
  return builder_.make(Op::Map, vector_of(element, Scope::List), span, {body}, -1, loop);
}

// budget.left, b.budget.tokens.left: `word` is left, spent or total.
NodeId Expressions::budget(tree::ExprId id, const std::string& word, std::string unit) {
  const Span span = expr(id).span;
  const Fact fact = word == "left" ? Fact::BudgetLeft : word == "spent" ? Fact::BudgetSpent : Fact::BudgetTotal;
  if (word != "left" && word != "spent" && word != "total") {
    policy_.error("E0105", span, "a budget has no " + quoted(word), "",
                  near_help(word, {"left", "spent", "total", "rollouts", "tokens", "calls", "seconds"}));
    return poison;
  }
  if (where_.eval) {
    policy_.error("E0404", span, quoted(policy_.text(id)) + " is known in a run only", "",
                  "`allot eval` has no run: write a number in its place");
    return poison;
  }
  const std::vector<Budget>& budgets = policy_.program.budgets;
  if (unit.empty()) {
    if (budgets.empty() && !policy_.tree.budgets.empty()) return poison;  // what is wrong with it has been told
    if (budgets.size() != 1) {
      policy_.error("E0316", span, budgets.empty() ? "no budget is declared" : "which budget is meant?", "",
                    budgets.empty()
                        ? "add  budget 400_000_000 tokens per run"
                        : "name the unit: `budget." + std::string(lang::name(budgets[0].unit)) + "." + word + "`");
      return poison;
    }
    unit = lang::name(budgets[0].unit);
  }
  for (const Budget& candidate : budgets) {
    if (lang::name(candidate.unit) != unit) continue;
    ReadArgument argument;
    argument.kind = ReadArgument::Kind::Word;
    argument.word = unit;
    const Type type = count(candidate.unit);
    const int read = builder_.read({fact, {argument}, Scope::Single, type, policy_.text(id), span});
    return builder_.make(Op::Read, type, span, {}, read);
  }
  if (budgets.size() < policy_.tree.budgets.size()) return poison;
  policy_.error("E0316", span, "no budget in " + unit + " is declared", "", "add  budget 1_000 " + unit + " per run");
  return poison;
}

}  // namespace allot::lang::checker
