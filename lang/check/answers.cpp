// The prompt field, deferral and branches of a verdict, and what the points answer that give no verdict.
#include <algorithm>
#include "lang/check/handlers.h"
#include "lang/check/slope.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

// One number for each element of `scope`.
NodeId HandlerChecker::each(tree::ExprId id, Scope scope, std::string_view variable, const Type& wanted,
                            std::string_view role) {
  const Span span = policy_.tree[id].span;
  const int loop = expressions_.open_scope(scope, std::string(variable), span);
  NodeId body = expressions_.check(id);
  policy_.names.leave();
  if (body == poison) return poison;
  if (builder_.type(body).vector()) {  // written as a vector
    if (builder_.type(body).scope == scope) return expressions_.fit_elements(body, id, wanted, role);
    policy_.error("E0220", span, std::string(role) + " is one value with `" + std::string(variable) + "`, or " +
                                     describe(scope),
                  "this is " + describe(builder_.type(body)));
    return poison;
  }
  const bool ranks = wanted.base == Base::Real && wanted.optional;
  body = ranks ? expressions_.rank(body, id, true, role) : expressions_.fit(body, id, wanted, role);
  if (body == poison) return poison;
  return builder_.make(Op::Map, vector_of(builder_.type(body), scope), span, {body}, -1, loop);
}

void HandlerChecker::branch(const tree::Action& action, VerdictTemplate& into) {
  into.rollouts = RolloutsField::Branch;
  const bool expand = point_.point == Point::Expand;
  into.amount = expand ? amount(action.amount, "K of `branch K`", Counts::Vector, Scope::Anchors)
                       : amount(action.amount, "K of `branch K`");
}

// A number of iterations, at least one.
NodeId HandlerChecker::age(tree::ExprId id, std::string_view role) {
  const NodeId node = expressions_.check_as(id, count(BaseUnit::Iterations), role);
  if (const std::optional<Cell> value = builder_.value(node); value && value->integer() < 1) {
    policy_.error("E0306", policy_.tree[id].span, std::string(role) + " is at least 1");
    return poison;
  }
  return node;
}

void HandlerChecker::defer(const tree::Action& action, VerdictTemplate& into) {
  into.group = GroupField::Defer;
  into.age_limit = age(action.amount, "N of `defer at most N iterations`");
  if (!policy_.first_defer) policy_.first_defer = action.span;
}

void HandlerChecker::evict(const tree::Action& action, VerdictTemplate& into) {
  const bool pool = point_.subject == Subject::Pool;
  into.prompt = action.target.empty() ? PromptField::Evict : PromptField::EvictForGood;
  if (action.target.empty() && action.amount == tree::none && !policy_.open_eviction) policy_.open_eviction = action.span;
  if (pool != (action.third != tree::none)) {
    policy_.error("E0304", action.span, pool ? "which prompts are evicted?" : "a group has one prompt", "",
                  pool ? "write `evict where (q.hit_rate ?? 0) >= 1.0 until epoch + 2`"
                       : "leave `where …` out, and evict by a rule: `when … then drop, evict until epoch + 1`");
    return;
  }
  const Type epochs = count(BaseUnit::Epochs);
  constexpr std::string_view role = "E of `evict until E`";
  if (pool) into.mask = each(action.third, Scope::Pool, "q", plain(Base::Bool), "the condition of `evict where`");
  if (action.amount == tree::none) return;
  into.until = pool ? each(action.amount, Scope::Pool, "q", epochs, role)
                    : expressions_.check_as(action.amount, epochs, role);
}

void HandlerChecker::readmit(const tree::Action& action, VerdictTemplate& into) {
  policy_.readmits = true;
  const bool pool = point_.subject == Subject::Pool;
  if (pool != (action.third != tree::none)) {
    policy_.error("E0304", action.span, pool ? "which prompts are readmitted?" : "a group has one prompt", "",
                  pool ? "write `readmit where q.evicted and draw(\"back\") < 0.1`"
                       : "leave `where …` out, and readmit by a rule: `when … then readmit`");
    return;
  }
  if (!pool) {
    into.prompt = PromptField::Readmit;
    return;
  }
  into.readmits = true;
  into.readmitted = each(action.third, Scope::Known, "q", plain(Base::Bool), "the condition of `readmit where`");
}

void HandlerChecker::take(const tree::Action& action, VerdictTemplate& into) {
  if (action.target == "where") {
    into.take = Take::Where;
    into.mask = each(action.amount, Scope::Pool, "q", plain(Base::Bool), "the condition of `take where`");
    return;
  }
  constexpr std::string_view role = "N of `take N`";
  NodeId amount = expressions_.check(action.amount);
  if (amount != poison) {
    const Unit unit = builder_.type(amount).unit;  // groups to open, or prompts to draw: one and the same number
    const bool prompts = unit == of(BaseUnit::Prompts);
    amount = expressions_.fit(amount, action.amount, count(prompts ? BaseUnit::Prompts : BaseUnit::Groups), role);
  }
  if (const std::optional<Cell> value = builder_.value(amount); value && value->integer() < 0) {
    policy_.error("E0306", policy_.tree[action.amount].span, std::string(role) + " is not negative");
  }
  into.amount = amount;
  into.take = action.second == tree::none         ? Take::First
              : action.target == "by weight" ? Take::Weighted
                                                  : Take::Best;
  if (action.second == tree::none) return;
  into.scores = each(action.second, Scope::Pool, "q", optional(plain(Base::Real)),
                     into.take == Take::Weighted ? "W of `take N by weight W`" : "SCORE of `take N by SCORE`");
}

void HandlerChecker::replay(const tree::Action& action, VerdictTemplate& into) {
  into.amount = expressions_.check_as(action.amount, count(BaseUnit::Groups), "N of `replay up to N`");
  into.scores = each(action.second, Scope::Stored, "g", optional(plain(Base::Real)), "KEY of `replay up to N by KEY`");
  if (action.third == tree::none) {
    policy_.error("E0323", action.span, "how old may a group be that is replayed?",
                  "groups of a policy long gone collapse the training", "add `, max_age 4 iterations`");
    return;
  }
  into.age_limit = age(action.third, "A of `max_age A`");
}

// Advantages and weights are a vector over the rollouts; a baseline may be one number, the advantages of a group a vector
// over all its turns.
NodeId HandlerChecker::shaped(tree::ExprId id, std::string_view role, bool one_too, bool turns_too) {
  const NodeId node = expressions_.check(id);
  if (node == poison) return poison;
  const Type given = builder_.type(node);
  const bool group = point_.subject == Subject::Group;
  const Scope scope = group ? Scope::Rollouts : Scope::Trained;
  Type wanted = plain(Base::Real);
  if (!given.vector() && one_too) return expressions_.fit(node, id, wanted, role);
  wanted.optional = group;  // an undefined one leaves what was there
  const bool of_turns = turns_too && group && given.scope == Scope::AllTurns;
  if ((given.scope == scope || of_turns) && numeric(given) && !given.unit.plain()) {
    const bool open = policy_.tree[id].kind == tree::ExprKind::Binary;
    const std::string text = (open ? "(" : "") + policy_.text(id) + (open ? ")" : "");
    policy_.error("E0215", policy_.tree[id].span, "an element of " + std::string(role) + " is a plain number",
                  "these are " + to_text(given.unit), "a unit goes by division: `" + text + ones(product({}, given.unit, -1)) + "`");
    return poison;
  }
  if (given.scope == scope || of_turns) return expressions_.fit_elements(node, id, wanted, role);
  policy_.error("E0220", policy_.tree[id].span,
                std::string(role) + (one_too ? " is one number, or " : " is ") + describe(scope),
                "this is " + describe(given),
                "write `[… for r in " + tree_.variable.text + ".rollouts]`");
  return poison;
}

void HandlerChecker::set(const tree::Action& action, VerdictTemplate& into) {
  const bool score = point_.point == Point::Score;
  const bool loss = point_.point == Point::Loss;
  const std::vector<std::string> targets = score  ? std::vector<std::string>{"reward"}
                                           : loss ? std::vector<std::string>{"loss"}
                                                  : std::vector<std::string>{"advantages", "weights", "baseline"};
  const std::string role = "what " + quoted(action.target) + " is set to";
  if (std::find(targets.begin(), targets.end(), action.target) == targets.end()) {
    const std::string near = near_help(action.target, targets);
    policy_.error("E0324", action.span, quoted(action.target) + " cannot be set at " + quoted(point_.name), "",
                  !near.empty() ? near
                  : score       ? "at `score` one sets the reward: `set reward = r.reward - 0.1`"
                  : loss        ? "at `loss` one sets the loss of the token: `set loss = -t.advantage * t.logprob`"
                                : "at `shape` one sets `advantages`, `weights` or `baseline`");
    return;
  }
  if (score) into.reward = expressions_.check_as(action.amount, plain(Base::Real), role);
  if (loss) {
    into.loss = expressions_.check_as(action.amount, plain(Base::Real), role);
    into.slope = Slopes(policy_, builder_).of(into.loss);
  }
  if (action.target == "advantages") into.advantages = shaped(action.amount, role, false, true);
  if (action.target == "weights") into.weights = shaped(action.amount, role, false);
  if (action.target == "baseline") into.baseline = shaped(action.amount, role, true);
}

// `by KEYS` of `resume`: numbers that are defined, the lowest first.
void HandlerChecker::keys() {
  if (tree_.keys.empty()) return;
  std::vector<NodeId> keys;
  for (const tree::ExprId id : tree_.keys) {
    const NodeId key = expressions_.rank(expressions_.check(id), id, false, "a key of `resume`");
    if (key == poison) return;
    keys.push_back(key);
  }
  const Span span{policy_.tree[tree_.keys.front()].span.begin, policy_.tree[tree_.keys.back()].span.end};
  builder_.handler.keys = builder_.make(Op::ListOf, vector_of(plain(Base::Real), Scope::List), span, std::move(keys));
}

}  // namespace allot::lang::checker
