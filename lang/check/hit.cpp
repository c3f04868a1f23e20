// When a reward is a hit, and when rewards are flat.
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"
#include "lang/check/warnings.h"

namespace allot::lang::checker {

void declare_hit(Policy& policy) {
  if (policy.tree.flat_within != tree::none) {
    const auto within = constant(policy, policy.tree.flat_within, plain(Base::Real), "the tolerance of `flat within`");
    if (within && within->real() < 0) {
      policy.error("E0216", policy.tree[policy.tree.flat_within].span, "a tolerance is 0 or more");
    } else if (within) {
      policy.program.flat_within = within->real();
    }
  }
  if (policy.tree.hit == tree::none) return;
  Builder builder(policy);
  Where where;
  where.hit = true;
  where.subject = Subject::Rollout;
  Expressions expressions(policy, builder, where);
  const NodeId condition = expressions.condition(policy.tree.hit);
  if (condition == poison) return;
  warn_of_hit(policy, builder, expressions.ranges(), condition);
  const Span span = policy.tree[policy.tree.hit].span;
  const Type maybe = optional(plain(Base::Bool));
  // An unscored rollout is neither hit nor miss.
  const auto read = [&](Fact fact) {
    const Type type = row(fact).type;
    const int key = builder.read({fact, {}, Scope::Single, type, std::string(row(fact).name), span});
    return builder.make(Op::Read, type, span, {}, key);
  };
  const NodeId reward =
      builder.make(Op::Coalesce, row(Fact::Reward).type, span, {read(Fact::RawReward), read(Fact::Reward)});
  const NodeId unscored = builder.make(Op::IsUndefined, plain(Base::Bool), span, {reward});
  Effect effect;
  effect.kind = EffectKind::Report;
  effect.value =
      builder.make(Op::If, maybe, span, {unscored, builder.constant(Cell::undefined(), maybe, span), condition});
  effect.span = span;
  Handler hit = std::move(builder.handler);
  hit.point = Point::Eval;
  hit.subject = Subject::Rollout;
  hit.text = "hit when " + policy.text(span);
  hit.span = policy.tree.hit_span;
  hit.effects.push_back(std::move(effect));
  policy.program.hit = std::move(hit);
}

}  // namespace allot::lang::checker
