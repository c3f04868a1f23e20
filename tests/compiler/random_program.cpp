#include "tests/compiler/random_program.h"

#include "lang/builtins.h"
#include "tests/compiler/random_expression.h"

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

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : dice_(seed), expression_(builder_, dice_) {}

  Program make() {
    declare();
    const int lets = 2 + dice_.below(4);
    for (int i = 0; i < lets; ++i) expression_.add_let(3);
    rules();
    effects();
    return std::move(builder_.program);
  }

 private:
  void declare() {
    for (const Base base : {Base::Real, Base::Int, Base::Bool, Base::Beta, Base::Prompt})
      for (const bool optional : {false, true}) expression_.add_read(type(base, optional));
    expression_.add_read(type(Base::Real));
    expression_.add_read(type(Base::Int));
    for (const Scope scope : {Scope::Rollouts, Scope::Groups}) {
      builder_.column(type(Base::Real, true, scope));
      builder_.column(type(Base::Real, false, scope));
      builder_.column(type(Base::Int, false, scope));
      builder_.column(type(Base::Bool, true, scope));
      builder_.column(type(Base::Prompt, false, scope));
    }
    builder_.column(matrix_type(0, 0, Scope::Rollouts));
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

  void rules() {
    if (dice_.once_in(8)) builder_.handler().keys = expression_.vector(Base::Real, 1);
    const int count = 1 + dice_.below(3);  // a rule behind three others is seldom reached
    for (int i = 0; i < count; ++i) {
      lang::VerdictTemplate verdict;
      if (dice_.once_in(2))
        verdict.amount = dice_.once_in(2) ? expression_.scalar(Base::Int, false, 2) : expression_.vector(Base::Int, 2);
      if (dice_.once_in(4)) verdict.up_to = expression_.scalar(Base::Int, true, 1);
      if (dice_.once_in(4)) verdict.mask = expression_.vector(Base::Bool, 2);
      if (dice_.once_in(4)) verdict.subset = expression_.vector(Base::Int, 2);
      if (dice_.once_in(6)) verdict.age_limit = expression_.scalar(Base::Int, false, 1);
      if (dice_.once_in(4))
        verdict.until = dice_.once_in(2) ? expression_.scalar(Base::Int, false, 1) : expression_.vector(Base::Int, 1);
      if (dice_.once_in(6)) verdict.readmitted = expression_.vector(Base::Bool, 1);
      if (dice_.once_in(6)) verdict.scores = expression_.vector(Base::Real, 1);
      if (dice_.once_in(6)) verdict.reward = expression_.scalar(Base::Real, false, 2);
      if (dice_.once_in(6)) verdict.advantages = expression_.vector(Base::Real, 2);
      if (dice_.once_in(6)) verdict.weights = expression_.vector(Base::Real, 1);
      if (dice_.once_in(6))
        verdict.baseline = dice_.once_in(2) ? expression_.scalar(Base::Real, false, 1) : expression_.vector(Base::Real, 1);
      std::vector<NodeId> holes;
      for (int hole = dice_.below(3); hole > 0; --hole) holes.push_back(expression_.scalar(any_base(), true, 3));
      const bool last = i + 1 == count && dice_.once_in(2);
      builder_.rule(last ? -1 : condition(), verdict, holes);
    }
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
        if (state.keyed()) effect.key = expression_.scalar(Base::Prompt, dice_.once_in(4), 1);
        effect.value = state.type.matrix()   ? expression_.matrix(2)
                       : state.type.vector() ? expression_.vector(state.type.base, 2)
                                             : expression_.scalar(state.type.base, state.type.optional || dice_.once_in(8), 3);
        return effect;
      }
    }
  }

  Effect for_each() {
    Effect effect;
    effect.kind = EffectKind::ForEach;
    const Scope scope = dice_.once_in(3) ? Scope::Rollouts : Scope::Groups;
    effect.loop = expression_.open(scope);
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

  Dice dice_;
  Builder builder_;
  Expression expression_;
};

double random_real(Dice& dice, bool wild) {
  static const double extremes[] = {0.0, -0.0, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 1e154, -1e200,
                                    9.2233720368547758e18, 0.1, 1.0 / 3};
  if (wild && dice.once_in(3)) return extremes[dice.below(10)];
  return dice.once_in(2) ? 0.1 * dice.below(20) : 0.25 * (dice.below(17) - 8);
}

std::int64_t random_int(Dice& dice, bool wild) {
  static const std::int64_t extremes[] = {INT64_MIN, INT64_MAX, -1, 0, (1LL << 53) + 1, INT64_MIN + 1, 1LL << 32};
  if (wild && dice.once_in(3)) return extremes[dice.below(7)];
  return dice.below(10) - 3;
}

Cell random_cell(Dice& dice, const Type& of, std::int64_t prompts, bool wild) {
  if (of.optional ? dice.once_in(4) : wild && dice.once_in(40)) return Cell::undefined();
  switch (of.base) {
    case Base::Real: return Cell::of(random_real(dice, wild));
    case Base::Bool: return Cell::of(dice.once_in(2));
    case Base::Beta: return Cell::beta(0.5 + dice.below(6), wild && dice.once_in(5) ? -1.0 : 0.25 + dice.below(5));
    case Base::Prompt:
    case Base::Category:
      if (wild && dice.once_in(10)) return Cell::of(std::int64_t{99});
      return Cell::of(std::int64_t{dice.below(static_cast<int>(prompts))});
    default: return Cell::of(random_int(dice, wild));
  }
}

}  // namespace

Program random_program(std::uint64_t seed) { return Maker(seed).make(); }

Memory random_memory(const Program& program, std::uint64_t seed) {
  Dice dice(seed);
  const bool wild = dice.once_in(3);
  const Handler& handler = program.handlers.front();
  Memory memory;
  for (auto& size : memory.sizes) size = dice.below(6);
  const std::int64_t prompts = 1 + dice.below(3);
  for (const lang::Parameter& parameter : program.parameters)
    memory.parameters.push_back(random_cell(dice, parameter.type, prompts, false));
  for (const lang::ReadKey& read : handler.reads) memory.reads.push_back(random_cell(dice, read.type, prompts, wild));
  for (const lang::ReadKey& column : handler.columns) {
    std::int64_t size = memory.sizes[static_cast<std::size_t>(column.scope)];
    if (column.type.matrix()) size = dice.once_in(4) ? size * size : 4;
    else if (wild && size > 0 && dice.once_in(20)) --size;
    memory.columns.emplace_back();
    for (std::int64_t i = 0; i < size; ++i)
      memory.columns.back().push_back(random_cell(dice, element_type(column.type), prompts, wild));
  }
  for (const lang::State& state : program.states) {
    const std::int64_t size = (state.keyed() ? prompts : 1) * state.type.cells();
    memory.before.emplace_back();
    for (std::int64_t i = 0; i < size; ++i)
      memory.before.back().push_back(random_cell(dice, element_type(state.type), prompts, wild));
  }
  memory.after = memory.before;
  memory.shared = dice.once_in(3);
  return memory;
}

std::size_t random_scratch(std::uint64_t seed) {
  Dice dice(seed + 17);
  return dice.once_in(10) ? static_cast<std::size_t>(dice.below(12)) : std::size_t{4096};
}

namespace {

void count_effects(const std::vector<Effect>& effects, std::map<std::string, int>& counts) {
  for (const Effect& effect : effects) {
    ++counts["effect " + std::to_string(static_cast<int>(effect.kind))];
    count_effects(effect.body, counts);
  }
}

}  // namespace

void count_parts(const Program& program, std::map<std::string, int>& counts) {
  const Handler& handler = program.handlers.front();
  for (const Node& node : handler.nodes) {
    ++counts["op " + std::to_string(static_cast<int>(node.op))];
    if (node.op == Op::Reduce) ++counts["reduction " + std::to_string(node.index)];
    if (node.op != Op::Call) continue;
    ++counts["call " + std::string(lang::builtins()[static_cast<std::size_t>(node.index)].name)];
  }
  count_effects(handler.effects, counts);
}

}  // namespace allot::compiler::test
