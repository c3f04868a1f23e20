#include "tests/compiler/scalar_program.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "tests/compiler/rule_trials.h"

namespace allot::compiler::test {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : seed_(seed), dice_(seed + 5'000'000) {}

  Program make() {
    b_.program.name = "scalars";
    for (const Base base : {Base::Real, Base::Int, Base::Bool, Base::Prompt}) {
      for (const bool optional : {false, true}) b_.read(type(base, optional));
    }
    b_.parameter(type(Base::Real), Cell::of(0.5));
    b_.parameter(type(Base::Int), Cell::of(std::int64_t{3}));
    b_.state(type(Base::Real), lang::StateScope::Run);
    b_.state(type(Base::Int, true), lang::StateScope::Prompt);
    for (int i = dice_.below(4); i > 0; --i) lets_.push_back(b_.let(value(any_number(), dice_.once_in(2), 3)));
    RuleTrials trials(b_.program, seed_, scalar_memory);
    for (int i = 1 + dice_.below(4); i > 0; --i) trials.add(b_.program, i > 1, [&] { rule(i == 1); });
    if (dice_.once_in(3)) b_.report(value(Base::Real, true, 3));
    return std::move(b_.program);
  }

 private:
  Base any_number() { return dice_.once_in(2) ? Base::Real : Base::Int; }
  const Type& of(NodeId id) { return b_.handler().nodes[static_cast<std::size_t>(id)].type; }

  void rule(bool last) {
    lang::VerdictTemplate verdict;
    if (dice_.once_in(2)) verdict.amount = value(Base::Int, false, 2);
    if (dice_.once_in(4)) verdict.up_to = value(Base::Int, true, 2);
    if (dice_.once_in(4)) verdict.reward = value(Base::Real, false, 3);
    if (dice_.once_in(12)) verdict.loss = value(Base::Real, false, 2);   // not over lanes
    if (dice_.once_in(6)) verdict.baseline = value(Base::Real, true, 2);
    b_.rule(last && dice_.once_in(2) ? -1 : value(Base::Bool, dice_.once_in(4), 4), verdict);
  }

  NodeId leaf(Base base, bool may) {
    if (base == Base::Prompt) return b_.add(Op::Read, type(base, may), {}, may ? 7 : 6);
    switch (dice_.below(7)) {
      case 0:
        if (base == Base::Real) return b_.real(0.25 * (dice_.below(17) - 8));
        return base == Base::Int ? b_.integer(dice_.below(9) - 3) : b_.truth(dice_.once_in(2));
      case 1:
        if (base == Base::Real) return b_.add(Op::Parameter, type(base), {}, 0);
        if (base == Base::Int) return b_.add(Op::Parameter, type(base), {}, 1);
        break;
      case 2:
        if (base == Base::Real) return b_.add(Op::State, type(base), {}, 0);
        if (base == Base::Int && may)
          return b_.add(Op::State, type(base, true), {leaf(Base::Prompt, dice_.once_in(2))}, 1);
        break;
      case 3:
        for (const int let : lets_) {
          const Type& has = of(b_.handler().lets[static_cast<std::size_t>(let)].value);
          if (has.base == base && (may || !has.optional)) return b_.use(let);
        }
        break;
      default: break;
    }
    const int first = base == Base::Real ? 0 : base == Base::Int ? 2 : 4;
    const bool optional = may && dice_.once_in(2);
    return b_.add(Op::Read, type(base, optional), {}, first + (optional ? 1 : 0));
  }

  NodeId value(Base base, bool may, int depth) {
    if (depth <= 0 || base == Base::Prompt) return leaf(base, may);
    switch (dice_.below(10)) {
      case 0: return leaf(base, may);
      case 1: {
        const NodeId condition = value(Base::Bool, may, depth - 1);
        const NodeId then = value(base, may, depth - 1), otherwise = value(base, may, depth - 1);
        const bool undefined = of(condition).optional || of(then).optional || of(otherwise).optional;
        return b_.add(Op::If, type(base, undefined), {condition, then, otherwise});
      }
      case 2: {
        const NodeId first = value(base, true, depth - 1), second = value(base, may, depth - 1);
        return b_.add(Op::Coalesce, type(base, of(second).optional), {first, second});
      }
      case 3: {
        if (dice_.once_in(4)) return b_.add(Op::Assume, type(base), {value(base, true, depth - 1)});
        const int let = b_.let(value(any_number(), dice_.once_in(2), depth - 1));
        lets_.push_back(let);
        const NodeId body = value(base, may, depth - 1);
        lets_.pop_back();
        const NodeId id = b_.add(Op::Scope, type(base, of(body).optional), {body});
        b_.handler().nodes.back().owned = {let};
        return id;
      }
      default: return base == Base::Bool ? truth(may, depth - 1) : number(base, may, depth - 1);
    }
  }

  NodeId number(Base base, bool may, int depth) {
    const auto call = [&](const char* name, int count) {
      std::vector<NodeId> args;
      bool undefined = false;
      for (int i = 0; i < count; ++i) {
        args.push_back(value(base, may, depth));
        undefined = undefined || of(args.back()).optional;
      }
      return b_.call(name, type(base, undefined), args);
    };
    switch (dice_.below(14)) {
      case 0: {
        const NodeId a = value(base, may, depth);
        return b_.add(Op::Negate, type(base, of(a).optional), {a});
      }
      case 1: return call("min", 2);
      case 2: return call("max", 2);
      case 3: return call("abs", 1);
      case 4: return call("clamp", 3);
      case 5:
        if (base == Base::Real) return call("sqrt", 1);
        [[fallthrough]];
      case 6:
        if (base == Base::Real && dice_.once_in(4)) return call("exp", 1);   // not over lanes
        [[fallthrough]];
      case 7:
        if (base == Base::Real) {
          const NodeId a = value(Base::Int, may, depth);
          return b_.add(Op::ToReal, type(base, of(a).optional), {a});
        }
        [[fallthrough]];
      default: {
        const Op ops[] = {Op::Add, Op::Subtract, Op::Multiply, base == Base::Real ? Op::Divide : Op::Modulo, Op::Add};
        const NodeId left = value(base, may, depth), right = value(base, may, depth);
        return b_.add(ops[dice_.below(5)], type(base, of(left).optional || of(right).optional), {left, right});
      }
    }
  }

  NodeId truth(bool may, int depth) {
    switch (dice_.below(8)) {
      case 0: {
        const NodeId a = value(Base::Bool, may, depth);
        return b_.add(Op::Not, type(Base::Bool, of(a).optional), {a});
      }
      case 1: return b_.add(Op::IsUndefined, type(Base::Bool), {value(any_number(), true, depth)});
      case 2: case 3: {
        const NodeId left = value(Base::Bool, may, depth), right = value(Base::Bool, may, depth);
        return b_.add(dice_.once_in(2) ? Op::And : Op::Or, type(Base::Bool, of(left).optional || of(right).optional),
                      {left, right});
      }
      default: {
        const Base bases[] = {Base::Real, Base::Int, Base::Real, Base::Int, Base::Bool, Base::Prompt};
        const Base base = bases[dice_.below(6)];
        const Op ops[] = {Op::Equal, Op::NotEqual, Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual};
        const bool ordered = base == Base::Real || base == Base::Int;
        const NodeId left = value(base, may, depth), right = value(base, may, depth);
        return b_.add(ops[dice_.below(ordered ? 6 : 2)], type(Base::Bool, of(left).optional || of(right).optional),
                      {left, right});
      }
    }
  }

  std::uint64_t seed_;
  Dice dice_;
  Builder b_;
  std::vector<int> lets_;
};

Cell random_cell(Dice& dice, const Type& type, bool wild) {
  if (type.optional ? dice.once_in(4) : wild && dice.once_in(40)) return Cell::undefined();
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr auto whole = std::numeric_limits<std::int64_t>::max();
  switch (type.base) {
    case Base::Real: {
      const double extremes[] = {0.0, -0.0, huge, -huge, 5e-324, 1e200, -1e154, 0.1, 1.0 / 3, HUGE_VAL};
      if (wild && dice.once_in(4)) return Cell::of(extremes[dice.below(10)]);
      return Cell::of(dice.once_in(2) ? 0.1 * dice.below(20) : 0.25 * (dice.below(17) - 8));
    }
    case Base::Bool: return Cell::of(dice.once_in(2));
    case Base::Prompt: return Cell::of(std::int64_t{wild && dice.once_in(10) ? 1 : 0});
    default: {
      const std::int64_t extremes[] = {whole,      -whole - 1,    -whole,          0,         -1,
                                       1LL << 31, -(1LL << 31), (1LL << 53) + 1, 3037000500};
      if (wild && dice.once_in(4)) return Cell::of(extremes[dice.below(9)]);
      return Cell::of(std::int64_t{dice.below(10) - 3});
    }
  }
}

}  // namespace

Program scalar_program(std::uint64_t seed) { return Maker(seed).make(); }

Memory scalar_memory(const Program& program, std::uint64_t seed) {
  Dice dice(seed);
  const bool wild = dice.once_in(3);
  Memory memory;
  for (const lang::Parameter& parameter : program.parameters) memory.parameters.push_back(parameter.value);
  for (const lang::ReadKey& read : program.handlers.front().reads)
    memory.reads.push_back(random_cell(dice, read.type, wild));
  for (const lang::State& state : program.states) memory.before.push_back({random_cell(dice, state.type, wild)});
  memory.after = memory.before;
  return memory;
}

std::uint64_t seed_of(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace allot::compiler::test
