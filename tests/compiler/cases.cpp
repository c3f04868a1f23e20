#include "tests/compiler/cases.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace allot::compiler::test {
namespace {

constexpr std::int64_t int_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t int_max = std::numeric_limits<std::int64_t>::max();
const Type real = type(Base::Real);
const Type maybe = type(Base::Real, true);
const Type whole = type(Base::Int);
const Type truth = type(Base::Bool);

class Table {
 public:
  // An expression without facts.
  void value(const std::string& name, const std::function<NodeId(Builder&)>& make, Cell expected) {
    add(name, make, expected, FaultKind::None);
  }
  void fault(const std::string& name, const std::function<NodeId(Builder&)>& make, FaultKind expected) {
    add(name, make, Cell::undefined(), expected);
  }
  // Over three rollouts with the reals 1, undefined, 4 in column 0.
  void rollouts(const std::string& name, const std::function<NodeId(Builder&)>& make, Cell expected,
                FaultKind fault = FaultKind::None) {
    Case one;
    one.name = name;
    one.builder.column(type(Base::Real, true, Scope::Rollouts));
    one.builder.report(make(one.builder));
    one.value = expected;
    one.fault = fault;
    one.memory = blank(one.builder.program, 3);
    one.memory.columns[0] = {Cell::of(1.0), Cell::undefined(), Cell::of(4.0)};
    all.push_back(std::move(one));
  }
  std::vector<Case> all;

 private:
  void add(const std::string& name, const std::function<NodeId(Builder&)>& make, Cell expected, FaultKind fault) {
    Case one;
    one.name = name;
    one.builder.report(make(one.builder));
    one.value = expected;
    one.fault = fault;
    one.memory = blank(one.builder.program, 3);
    all.push_back(std::move(one));
  }
};

// Faults of the reference, part F: constants and, as `--set` would give them, parameters.
void integer_edges(Table& table) {
  struct Edge {
    const char* name;
    Op op;
    std::int64_t a, b;
    Cell value;
    FaultKind fault;
  };
  const Cell none = Cell::undefined();
  const Edge edges[] = {
      {"MIN mod -1", Op::Modulo, int_min, -1, Cell::of(std::int64_t{0}), FaultKind::None},
      {"MIN * -1", Op::Multiply, int_min, -1, none, FaultKind::IntegerOverflow},
      {"MIN - 1", Op::Subtract, int_min, 1, none, FaultKind::IntegerOverflow},
      {"MIN + -1", Op::Add, int_min, -1, none, FaultKind::IntegerOverflow},
      {"MAX + 1", Op::Add, int_max, 1, none, FaultKind::IntegerOverflow},
      {"MAX * 2", Op::Multiply, int_max, 2, none, FaultKind::IntegerOverflow},
      {"1 mod 0", Op::Modulo, 1, 0, none, FaultKind::DivisionByZero},
      {"MIN mod 0", Op::Modulo, int_min, 0, none, FaultKind::DivisionByZero},
      {"-7 mod 3", Op::Modulo, -7, 3, Cell::of(std::int64_t{-1}), FaultKind::None},
      {"7 mod -3", Op::Modulo, 7, -3, Cell::of(std::int64_t{1}), FaultKind::None},
      {"MIN + 0", Op::Add, int_min, 0, Cell::of(int_min), FaultKind::None},
      {"MAX - MAX", Op::Subtract, int_max, int_max, Cell::of(std::int64_t{0}), FaultKind::None},
  };
  for (const Edge& edge : edges) {
    const auto constant = [&](Builder& b) { return b.add(edge.op, whole, {b.integer(edge.a), b.integer(edge.b)}); };
    const auto parameter = [&](Builder& b) {
      const NodeId left = b.parameter(whole, Cell::of(edge.a));
      return b.add(edge.op, whole, {left, b.parameter(whole, Cell::of(edge.b))});
    };
    for (const bool folded : {true, false}) {
      const std::string name = std::string(edge.name) + (folded ? ", constants" : ", parameters");
      const std::function<NodeId(Builder&)> make = folded ? std::function<NodeId(Builder&)>(constant) : parameter;
      if (edge.fault == FaultKind::None) table.value(name, make, edge.value);
      else table.fault(name, make, edge.fault);
    }
  }
  table.fault("-MIN", [](Builder& b) { return b.add(Op::Negate, whole, {b.parameter(whole, Cell::of(int_min))}); },
              FaultKind::IntegerOverflow);
  table.fault("abs(MIN)", [](Builder& b) { return b.call("abs", whole, {b.parameter(whole, Cell::of(int_min))}); },
              FaultKind::IntegerOverflow);
  // int / int is real (language.md §4): 2^63 exactly.
  table.value("MIN / -1", [](Builder& b) {
    const NodeId left = b.add(Op::ToReal, real, {b.parameter(whole, Cell::of(int_min))});
    return b.add(Op::Divide, real, {left, b.add(Op::ToReal, real, {b.integer(-1)})});
  }, Cell::of(9223372036854775808.0));
}

void reals(Table& table) {
  const auto binary = [](Op op, double a, double b) {
    return [=](Builder& builder) {
      const NodeId left = builder.parameter(real, Cell::of(a));
      return builder.add(op, real, {left, builder.parameter(real, Cell::of(b))});
    };
  };
  table.value("0.1 + 0.2", binary(Op::Add, 0.1, 0.2), Cell::of(0.30000000000000004));  // IEEE 754 double
  table.fault("1e308 + 1e308", binary(Op::Add, 1e308, 1e308), FaultKind::NotFinite);
  table.fault("1e200 * 1e200", binary(Op::Multiply, 1e200, 1e200), FaultKind::NotFinite);
  table.fault("0 / 0", binary(Op::Divide, 0, 0), FaultKind::DivisionByZero);
  table.fault("1 / -0", binary(Op::Divide, 1, -0.0), FaultKind::DivisionByZero);
  table.fault("1e308 / 0.1", binary(Op::Divide, 1e308, 0.1), FaultKind::NotFinite);
  table.value("-7.5 mod 2", binary(Op::Modulo, -7.5, 2), Cell::of(-1.5));
  table.fault("1.0 mod 0", binary(Op::Modulo, 1, 0), FaultKind::DivisionByZero);
  table.value("-(0.0)", [](Builder& b) { return b.add(Op::Negate, real, {b.parameter(real, Cell::of(0.0))}); },
              Cell::of(-0.0));
  table.value("0.0 == -0.0", [](Builder& b) { return b.add(Op::Equal, truth, {b.real(0.0), b.real(-0.0)}); },
              Cell::of(true));
  table.value("-1 < 0", [](Builder& b) { return b.add(Op::Less, truth, {b.integer(-1), b.integer(0)}); },
              Cell::of(true));
  table.value("2 >= 3", [](Builder& b) { return b.add(Op::GreaterEqual, truth, {b.real(2), b.real(3)}); },
              Cell::of(false));
  table.value("true != false", [](Builder& b) { return b.add(Op::NotEqual, truth, {b.truth(true), b.truth(false)}); },
              Cell::of(true));
}

NodeId fails(Builder& b, Type of) {   // faults when somebody asks
  const NodeId zero = b.parameter(real, Cell::of(0.0));
  const NodeId ratio = b.add(Op::Divide, real, {b.real(1), zero});
  return of.base == Base::Bool ? b.add(Op::Less, truth, {ratio, b.real(1)}) : ratio;
}

void control(Table& table) {
  table.value("false and fault", [](Builder& b) { return b.add(Op::And, truth, {b.truth(false), fails(b, truth)}); },
              Cell::of(false));
  table.value("true or fault", [](Builder& b) { return b.add(Op::Or, truth, {b.truth(true), fails(b, truth)}); },
              Cell::of(true));
  table.fault("true and fault", [](Builder& b) { return b.add(Op::And, truth, {b.truth(true), fails(b, truth)}); },
              FaultKind::DivisionByZero);
  table.value("if true", [](Builder& b) { return b.add(Op::If, real, {b.truth(true), b.real(2), fails(b, real)}); },
              Cell::of(2.0));
  table.value("undefined ?? 3", [](Builder& b) {
    return b.add(Op::Coalesce, real, {b.undefined(Base::Real), b.real(3)});
  }, Cell::of(3.0));
  table.value("2 ?? fault", [](Builder& b) { return b.add(Op::Coalesce, real, {b.real(2), fails(b, real)}); },
              Cell::of(2.0));
  table.value("undefined is undefined", [](Builder& b) {
    return b.add(Op::IsUndefined, truth, {b.undefined(Base::Real)});
  }, Cell::of(true));
  table.value("not true", [](Builder& b) { return b.add(Op::Not, truth, {b.truth(true)}); }, Cell::of(false));
  table.fault("assume undefined", [](Builder& b) { return b.add(Op::Assume, real, {b.undefined(Base::Real)}); },
              FaultKind::Domain);
  table.value("undefined + 1", [](Builder& b) {
    return b.add(Op::Add, maybe, {b.undefined(Base::Real), b.real(1)});
  }, Cell::undefined());
  table.value("a let nobody asks does not fault", [](Builder& b) {
    b.let(fails(b, real));
    return b.real(1);
  }, Cell::of(1.0));
  table.value("a let twice", [](Builder& b) {
    const int x = b.let(b.add(Op::Add, real, {b.parameter(real, Cell::of(2.0)), b.real(1)}));
    return b.add(Op::Multiply, real, {b.use(x), b.use(x)});
  }, Cell::of(9.0));
}

void loops(Table& table) {
  const auto reduce = [](allot::lang::Reduction reduction, Type of) {
    return [=](Builder& b) {
      const int loop = b.loop(Scope::Rollouts);
      return b.add(Op::Reduce, of, {b.add(Op::Element, maybe, {}, 0, loop)}, static_cast<int>(reduction), loop);
    };
  };
  using allot::lang::Reduction;
  table.rollouts("sum", reduce(Reduction::Sum, real), Cell::of(5.0));
  table.rollouts("count", reduce(Reduction::Count, whole), Cell::of(std::int64_t{2}));
  table.rollouts("mean", reduce(Reduction::Mean, maybe), Cell::of(2.5));
  table.rollouts("min", reduce(Reduction::Min, maybe), Cell::of(1.0));
  table.rollouts("max", reduce(Reduction::Max, maybe), Cell::of(4.0));
  const auto none = [](Reduction reduction, Type of, Type body) {
    return [=](Builder& b) {
      const int loop = b.loop(Scope::Rollouts);
      const NodeId item = body.base == Base::Bool ? b.truth(true) : b.add(Op::Element, maybe, {}, 0, loop);
      return b.add(Op::Reduce, of, {item, b.truth(false)}, static_cast<int>(reduction), loop);
    };
  };
  table.rollouts("sum of none", none(Reduction::Sum, real, maybe), Cell::of(0.0));
  table.rollouts("mean of none", none(Reduction::Mean, maybe, maybe), Cell::undefined());
  table.rollouts("min of none", none(Reduction::Min, maybe, maybe), Cell::undefined());
  table.rollouts("any of none", none(Reduction::Any, truth, truth), Cell::of(false));
  table.rollouts("all of none", none(Reduction::All, truth, truth), Cell::of(true));
  // Σ position² over 3 elements of a list made by a map: 0 + 1 + 4; a function's argument is fresh for each element.
  table.rollouts("scope in a loop", [](Builder& b) {
    const int loop = b.loop(Scope::Rollouts);
    const int x = b.let(b.add(Op::ToReal, real, {b.add(Op::Position, whole, {}, -1, loop)}));
    const NodeId square = b.add(Op::Multiply, real, {b.use(x), b.use(x)});
    const NodeId scope = b.add(Op::Scope, real, {square});
    b.handler().nodes.back().owned = {x};
    const NodeId map = b.add(Op::Map, type(Base::Real, false, Scope::List), {scope}, -1, loop);
    const int over = b.loop(Scope::List, map);
    return b.add(Op::Reduce, real, {b.add(Op::Element, real, {}, -1, over)}, static_cast<int>(Reduction::Sum), over);
  }, Cell::of(5.0));
  table.rollouts("element that must be there", [](Builder& b) {
    const int loop = b.loop(Scope::Rollouts);
    return b.add(Op::Reduce, real, {b.add(Op::Element, real, {}, 0, loop)}, static_cast<int>(Reduction::Sum), loop);
  }, Cell::undefined(), FaultKind::Domain);
  table.rollouts("variance(column, 0)", [](Builder& b) {
    return b.call("variance", maybe, {b.column_node(0), b.integer(0)});
  }, Cell::of(2.25));   // (1 - 2.5)^2 = (4 - 2.5)^2
  table.rollouts("size of top 1", [](Builder& b) {
    const NodeId top = b.call("top", type(Base::Int, false, Scope::List), {b.column_node(0), b.integer(1), b.real(-1)});
    const int over = b.loop(Scope::List, top);
    return b.add(Op::Reduce, whole, {b.add(Op::Element, whole, {}, -1, over)}, static_cast<int>(Reduction::Sum), over);
  }, Cell::of(std::int64_t{2}));   // the position of the 4
  table.value("list", [](Builder& b) {
    const NodeId list = b.add(Op::ListOf, type(Base::Int, false, Scope::List), {b.integer(5), b.integer(7)});
    return b.call("size", whole, {list});
  }, Cell::of(std::int64_t{2}));
}

}  // namespace

std::vector<Case> cases() {
  Table table;
  integer_edges(table);
  reals(table);
  control(table);
  loops(table);
  return std::move(table.all);
}

void check(const Case& one, const Executable& executable) {
  Scratch scratch;
  const Answer answer = ask(executable, one.builder.program, one.memory, scratch);
  CHECK(answer.outcome.fault == one.fault);
  CHECK(answer.reports.front() == one.value);
  if (one.value.defined != 0 && std::isfinite(one.value.real()))
    CHECK(std::signbit(answer.reports.front().real()) == std::signbit(one.value.real()));
  CHECK(answer.written.front() == (one.value.defined != 0 ? 1 : 0));
  if (one.fault != FaultKind::None) CHECK(answer.outcome.fault_node >= 0);
}

}  // namespace allot::compiler::test
