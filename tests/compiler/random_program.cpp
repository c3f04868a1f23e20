#include "tests/compiler/random_program.h"

#include <functional>

#include "lang/builtins.h"
#include "tests/compiler/random_expression.h"
#include "tests/compiler/rule_trials.h"

namespace allot::compiler::test {

std::uint64_t Dice::roll() {  // SplitMix64 (Steele, Lea & Flood 2014)
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

namespace {

using lang::Effect;
using lang::EffectKind;

// Two scopes that are no lists, for the columns of one program.
std::array<Scope, 2> two_scopes(std::uint64_t seed) {
  static constexpr Scope all[] = {Scope::Rollouts, Scope::Groups, Scope::Ended,  Scope::Prompts,
                                  Scope::Pool,     Scope::Known,  Scope::Turns,  Scope::AllTurns,
                                  Scope::Trained,  Scope::Stored, Scope::Anchors, Scope::GroupRollouts,
                                  Scope::EndedRollouts, Scope::StoredRollouts};
  constexpr std::uint64_t count = std::size(all);
  const std::uint64_t first = seed % count;
  return {all[first], all[(first + 1 + seed / count % (count - 1)) % count]};
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed)
      : seed_(seed), dice_(seed), scopes_(two_scopes(seed)), expression_(builder_, dice_, scopes_) {}

  Program make() {
    declare();
    RuleTrials trials(builder_.program, seed_);
    const int lets = 2 + dice_.below(4);
    for (int i = 0; i < lets; ++i) expression_.add_let(3);
    keys(trials);
    rules(trials);
    effects();
    in_turn();
    if (dice_.once_in(4)) builder_.program.hit = Maker(seed_ + 7'000'000, scopes_).condition_of_hit();
    return std::move(builder_.program);
  }

 private:
  Maker(std::uint64_t seed, std::array<Scope, 2> scopes)
      : seed_(seed), dice_(seed), scopes_(scopes), expression_(builder_, dice_, scopes_) {}

  // Of the same declarations, so that a frame of the program is one for it too.
  Handler condition_of_hit() {
    declare();
    Effect effect;
    effect.value = expression_.scalar(Base::Bool, true, 4);
    Handler hit = std::move(builder_.handler());
    hit.effects = {effect};
    return hit;
  }

  // What chance leaves out is in some program all the same: in turn two functions, and one thing that is rare.
  void in_turn() {
    const std::uint64_t turn = seed_ / 4 * 3 + seed_ % 4;  // every fourth seed is that of another kind (any_program)
    const auto functions = lang::builtins().size();
    for (std::uint64_t i = 0; i < 2; ++i) report(expression_.builtin(static_cast<int>((2 * turn + i) % functions), 2));
    switch (turn % 4) {
      case 0:
        report(expression_.allot(2));
        break;
      case 1:
        report(expression_.reduce(dice_.once_in(2) ? Base::Real : Base::Int, true, 2));
        break;
      case 2:
        report(expression_.matrix(2));
        break;
      default:
        report(expression_.vector(Base::Bool, 2));
        break;
    }
  }

  // Of a vector its size, and whether its elements are as those of the other engine: their sum, or how many hold.
  void report(NodeId value) {
    const Type of = builder_.handler().nodes[static_cast<std::size_t>(value)].type;
    Effect effect;
    effect.kind = EffectKind::Report;
    effect.index = dice_.below(3);
    effect.value = value;
    if (of.vector()) {
      const int loop = builder_.loop(Scope::List, value);
      const NodeId element = builder_.add(Op::Element, element_type(of), {}, -1, loop);
      const bool number = of.base == Base::Real || of.base == Base::Int;
      const auto reduction = number && dice_.once_in(2) ? lang::Reduction::Sum : lang::Reduction::Count;
      effect.value = builder_.add(Op::Reduce, type(reduction == lang::Reduction::Sum ? of.base : Base::Int), {element},
                                  static_cast<int>(reduction), loop);
    }
    builder_.handler().effects.push_back(std::move(effect));
  }

  void declare() {
    for (const Base base : {Base::Real, Base::Int, Base::Bool, Base::Beta, Base::Prompt, Base::Category})
      for (const bool optional : {false, true}) expression_.add_read(type(base, optional));
    expression_.add_read(type(Base::Real));
    expression_.add_read(type(Base::Int));
    for (const Scope scope : scopes_) {
      builder_.column(type(Base::Real, true, scope));
      builder_.column(type(Base::Real, false, scope));
      builder_.column(type(Base::Int, false, scope));
      builder_.column(type(Base::Bool, true, scope));
      builder_.column(type(Base::Prompt, false, scope));
    }
    builder_.column(matrix_type(0, 0, scopes_[0]));
    expression_.add_parameter(type(Base::Real), Cell::of(0.5));
    expression_.add_parameter(type(Base::Int), Cell::of(std::int64_t{3}));
    expression_.add_parameter(type(Base::Bool), Cell::of(true));
    builder_.state(type(Base::Real), lang::StateScope::Group);
    builder_.state(type(Base::Beta), lang::StateScope::Prompt);
    builder_.state(type(Base::Int), lang::StateScope::Run);
    builder_.state(type(Base::Real, true), lang::StateScope::Prompt);
    builder_.state(type(Base::Int), lang::StateScope::Category);
    Type three = type(Base::Real, false, Scope::List);
    three.rows = 3;
    builder_.state(three, lang::StateScope::Prompt);
    builder_.state(matrix_type(2, 2), lang::StateScope::Run);
    builder_.program.warnings = {"warn:1", "warn:2"};
    builder_.program.reports = {"r0", "r1", "r2"};
    builder_.program.name = "random";
  }

  void keys(RuleTrials& trials) {
    if (!dice_.once_in(8)) return;
    builder_.handler().keys = expression_.vector(Base::Real, 1);
    if (trials.ask(builder_.program, -1).left == 0) builder_.handler().keys = -1;  // they fault, whatever the frame
  }

  void rules(RuleTrials& trials) {
    const int count = 1 + dice_.below(3);
    for (int i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      trials.add(builder_.program, !last, [&] { rule(last && dice_.once_in(2)); });
    }
  }

  void rule(bool otherwise) {
    lang::VerdictTemplate verdict;
    if (dice_.once_in(2))
      verdict.amount = dice_.once_in(2) ? expression_.scalar(Base::Int, false, 2) : expression_.vector(Base::Int, 2);
    if (dice_.once_in(4))
      verdict.up_to = dice_.once_in(2) ? expression_.scalar(Base::Int, true, 1) : expression_.vector(Base::Int, 1);
    if (dice_.once_in(4)) verdict.mask = expression_.vector(Base::Bool, 2);
    if (dice_.once_in(4)) verdict.subset = expression_.vector(dice_.once_in(3) ? Base::Bool : Base::Int, 2);
    if (dice_.once_in(6)) verdict.age_limit = expression_.scalar(Base::Int, false, 1);
    if (dice_.once_in(4))
      verdict.until = dice_.once_in(2) ? expression_.scalar(Base::Int, false, 1) : expression_.vector(Base::Int, 1);
    if (dice_.once_in(6)) verdict.readmitted = expression_.vector(Base::Bool, 1);
    if (dice_.once_in(6)) verdict.scores = expression_.vector(Base::Real, 1);
    if (dice_.once_in(6)) verdict.reward = expression_.scalar(Base::Real, false, 2);
    if (dice_.once_in(6)) verdict.loss = expression_.scalar(Base::Real, false, 2);
    if (dice_.once_in(8)) verdict.slope = expression_.scalar(Base::Real, false, 2);
    if (dice_.once_in(6)) verdict.advantages = expression_.vector(Base::Real, 2);
    if (dice_.once_in(6)) verdict.weights = expression_.vector(Base::Real, 1);
    if (dice_.once_in(6))
      verdict.baseline =
          dice_.once_in(2) ? expression_.scalar(Base::Real, false, 1) : expression_.vector(Base::Real, 1);
    std::vector<NodeId> holes;
    for (int hole = dice_.below(3); hole > 0; --hole) holes.push_back(expression_.scalar(any_base(), true, 3));
    builder_.rule(otherwise ? -1 : condition(), verdict, holes);
  }

  // Something that is true now and then.
  NodeId condition() {
    const NodeId plain = expression_.scalar(Base::Bool, dice_.once_in(8), 1);
    if (!dice_.once_in(3)) return plain;
    const NodeId deep = expression_.scalar(Base::Bool, dice_.once_in(8), 4);
    const bool optional = expression_.optional(plain) || expression_.optional(deep);
    return builder_.add(dice_.once_in(3) ? Op::And : Op::Or, type(Base::Bool, optional), {plain, deep});
  }

  void effects() {
    for (int i = dice_.below(3); i > 0; --i) builder_.handler().effects.push_back(simple());
    if (dice_.once_in(2)) builder_.handler().effects.push_back(for_each());
    if (dice_.once_in(2)) builder_.handler().effects.push_back(simple());
  }

  Effect simple() {
    Effect effect;
    switch (dice_.below(4)) {
      case 0:
        effect.kind = EffectKind::Warn;
        effect.index = dice_.below(2);
        effect.value = expression_.scalar(Base::Bool, true, 2);
        return effect;
      case 1:
        effect.kind = EffectKind::Report;
        effect.index = dice_.below(3);
        effect.value = expression_.scalar(any_base(), true, 3);
        return effect;
      default: {
        effect.kind = EffectKind::Remember;
        effect.index = dice_.below(7);
        const lang::State& state = builder_.program.states[static_cast<std::size_t>(effect.index)];
        const Base key = state.scope == lang::StateScope::Category ? Base::Category : Base::Prompt;
        if (state.keyed()) effect.key = expression_.scalar(key, dice_.once_in(4), 1);
        effect.value = state.type.matrix() ? expression_.matrix(2)
                       : state.type.vector()
                           ? expression_.vector(state.type.base, 2)
                           : expression_.scalar(state.type.base, state.type.optional || dice_.once_in(8), 3);
        return effect;
      }
    }
  }

  Effect for_each() {
    Effect effect;
    effect.kind = EffectKind::ForEach;
    effect.loop = expression_.open(scopes_[dice_.once_in(3) ? 0 : 1]);
    for (int i = dice_.below(3); i > 0; --i) effect.owned.push_back(expression_.add_let(2));
    for (int i = 1 + dice_.below(3); i > 0; --i) effect.body.push_back(simple());
    expression_.hide(effect.owned.size());
    expression_.close();
    return effect;
  }

  Base any_base() {
    const Base all[] = {Base::Real, Base::Int, Base::Bool, Base::Beta, Base::Prompt};
    return all[dice_.below(5)];
  }

  std::uint64_t seed_;
  Dice dice_;
  std::array<Scope, 2> scopes_;
  Builder builder_;
  Expression expression_;
};

}  // namespace

Program random_program(std::uint64_t seed) {
  return Maker(seed).make();
}

}  // namespace allot::compiler::test
