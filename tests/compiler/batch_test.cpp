// A batch is a loop over decide: the evaluator's loop says what, machine code over lanes must agree bit for bit in
// rules, numbers, faults and their places.
#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "tests/compiler/batch_harness.h"
#include "tests/compiler/parts.h"
#include "tests/compiler/scalar_program.h"

using namespace allot::compiler;
using namespace allot::compiler::test;
namespace lang = allot::lang;

namespace {

// t turns, d a distance, s hits, f misses; the policy of the benches, whose answers are known.
Program allocation() {
  Builder b;
  const Type real = type(Base::Real);
  const Type truth = type(Base::Bool);
  const NodeId t = b.read(type(Base::Int)), d = b.read(real);
  const NodeId half = b.add(Op::Multiply, real, {b.real(0.5), b.add(Op::ToReal, real, {t})});
  b.rule(b.add(Op::And, truth, {b.add(Op::GreaterEqual, truth, {t, b.integer(8)}), b.add(Op::Less, truth, {d, half})}));
  lang::VerdictTemplate verdict;
  verdict.amount = b.add(Op::Modulo, type(Base::Int), {b.integer(12), t});
  b.rule(b.add(Op::Less, truth, {d, b.real(0.25)}), verdict);
  b.rule(-1);
  b.program.name = "allocation";
  return std::move(b.program);
}

}  // namespace

TEST_CASE("a batch answers row by row") {
  const Program program = allocation();
  BatchShape shape;
  shape.reads = {{ColumnKind::Int32, false}, {ColumnKind::Real64, false}};
  shape.operands = true;
  // By hand: 9 >= 8 and 4 < 4.5; 8 >= 8 but 4 < 4 is false and 4 < 0.25 is; 0.1 < 0.25, 12 mod 5 = 2; 12 mod 0 faults;
  // a missing distance is a fault of the host, as everywhere.
  const std::vector<std::int32_t> t{9, 8, 5, 0, 5, 1, 1, 1, 1};
  const std::vector<double> d{4, 4, 0.1, 0.1, std::numeric_limits<double>::quiet_NaN(), 1, 1, 1, 0};
  const Facts facts[] = {{t.data(), nullptr}, {d.data(), nullptr}};
  const BatchFrame frame{static_cast<std::int64_t>(t.size()), nullptr, facts, nullptr, nullptr, nullptr};
  const auto machine = made(compile_batch(program, 0, shape));
  CHECK(machine->vectorised());
  const auto evaluator = made(evaluate_batch(program, 0, shape));
  for (const Batch* const batch : {evaluator.get(), machine.get()}) {
    const Told answer = told(*batch, shape, frame);
    CHECK(answer.narrow == std::vector<std::int8_t>{0, 2, 1, -1, -1, 2, 2, 2, 1});
    CHECK(answer.bits[0] == std::vector<std::uint64_t>{0, 0, 2, 0, 0, 0, 0, 0, 0});
    CHECK(answer.defined[0] == std::vector<std::uint8_t>{0, 0, 1, 0, 0, 0, 0, 0, 1});
    CHECK(answer.faults[3] == FaultKind::DivisionByZero);
    CHECK(answer.faults[4] == FaultKind::Domain);
    CHECK(answer.faulty == 2);
  }
}

TEST_CASE("rows that fault do not change those before and after them") {
  const Program program = allocation();
  BatchShape shape;
  shape.reads = {{ColumnKind::Int32, false}, {ColumnKind::Real64, false}};
  shape.operands = true;
  constexpr std::size_t rows = 100'003;   // many blocks of every kind, and a row or two that fill no vector
  std::vector<std::int32_t> t(rows);
  std::vector<double> d(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    t[i] = 1 + static_cast<std::int32_t>(i % 23);
    d[i] = 0.125 * static_cast<double>(i % 91);
  }
  // One row divides by zero, one has no distance, and two of the last do, of which one is in no vector.
  t[5000] = 0, d[5000] = 0.1;
  d[50'001] = std::numeric_limits<double>::infinity();
  d[rows - 9] = d[rows - 1] = std::numeric_limits<double>::quiet_NaN();
  const Facts facts[] = {{t.data(), nullptr}, {d.data(), nullptr}};
  const BatchFrame frame{rows, nullptr, facts, nullptr, nullptr, nullptr};
  const auto machine = made(compile_batch(program, 0, shape));
  const Told answer = told(*machine, shape, frame);
  CHECK(answer.faulty == 4);
  CHECK(answer.faults[5000] == FaultKind::DivisionByZero);
  CHECK(answer.faults[50'001] == FaultKind::Domain);
  CHECK(answer == told(*made(evaluate_batch(program, 0, shape)), shape, frame));
}

TEST_CASE("rows side by side and rows one by one agree on random programs") {
  const std::uint64_t first = seed_of("ALLOT_PROPERTY_SEED", 1), programs = seed_of("ALLOT_PROPERTY_PROGRAMS", 200);
  std::map<std::string, int> parts;
  std::set<FaultKind> faults;
  int vectorised = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = scalar_program(seed);
    for (const std::string& part : parts_of(program)) ++parts[part];
    Dice dice(seed + 1);
    const Comparison both = compare_batches(program, program, seed, 1 + dice.below(dice.once_in(8) ? 5000 : 60));
    vectorised += both.vectorised ? 1 : 0;
    faults.insert(both.evaluator.faults.begin(), both.evaluator.faults.end());
    if (!(both.evaluator == both.machine)) FAIL("seed " << seed << "\n" << text(program));
  }
  INFO(vectorised << " of " << programs << " programs over lanes");
  CHECK(static_cast<std::uint64_t>(vectorised) * 10 >= programs * 6);
  CHECK(static_cast<std::uint64_t>(vectorised) < programs);  // both ways are seen
  if (programs < 200) return;
  for (const Op op : {Op::Constant,  Op::Parameter, Op::Read,         Op::State,    Op::Let,      Op::Scope,  Op::Not,
                      Op::Negate,    Op::Add,       Op::Subtract,     Op::Multiply, Op::Divide,   Op::Modulo, Op::Less,
                      Op::LessEqual, Op::Greater,   Op::GreaterEqual, Op::Equal,    Op::NotEqual, Op::And,    Op::Or,
                      Op::If,        Op::Coalesce,  Op::IsUndefined,  Op::Assume,   Op::ToReal,   Op::Call}) {
    INFO(name(op));
    CHECK(parts[std::string("op ") + name(op)] > 0);
  }
  CHECK(faults.size() >= 5);  // none, overflow, a division by zero, not finite, domain
}

TEST_CASE("lanes of a damaged program are told apart") {
  int damaged = 0, found = 0;
  for (std::uint64_t seed = 1; damaged < 40 && seed < 1000; ++seed) {
    const Program program = scalar_program(seed);
    Program broken = program;
    bool changed = false;
    for (Node& node : broken.handlers.front().nodes) {
      if (changed || node.op != Op::Less) continue;
      node.op = Op::GreaterEqual;
      changed = true;
    }
    if (!changed) continue;
    ++damaged;
    const Comparison both = compare_batches(program, broken, seed, 60);
    if (!(both.evaluator == both.machine)) ++found;
  }
  INFO(found << " of " << damaged);
  CHECK(damaged == 40);
  CHECK(found >= 10);  // the rest sits where no rule looks
}

TEST_CASE("what looks at vectors is decided one by one, from frames") {
  Builder b;
  const int column = b.column(type(Base::Real, true, Scope::Rollouts));
  const int loop = b.loop(Scope::Rollouts);
  const NodeId each = b.add(Op::Element, type(Base::Real, true), {}, column, loop);
  const NodeId sum = b.add(Op::Reduce, type(Base::Real), {each}, static_cast<int>(lang::Reduction::Sum), loop);
  b.rule(b.add(Op::Greater, type(Base::Bool), {sum, b.real(1)}));
  b.rule(-1);
  b.program.name = "sums";
  const std::vector<Cell> low{Cell::of(0.5), Cell::undefined()}, high{Cell::of(0.5), Cell::of(0.75)};
  const Column columns[] = {{low.data(), 2}, {high.data(), 2}};
  std::array<std::int64_t, lang::scope_count> sizes{};
  sizes.fill(2);
  std::vector<Frame> frames(2);
  for (std::size_t i = 0; i < 2; ++i) {
    frames[i].columns = &columns[i];
    frames[i].scope_sizes = sizes.data();
  }
  const BatchShape shape;
  const BatchFrame frame{2, nullptr, nullptr, nullptr, frames.data(), nullptr};
  const auto machine = made(compile_batch(b.program, 0, shape));
  CHECK_FALSE(machine->vectorised());
  CHECK(told(*machine, shape, frame).narrow == std::vector<std::int8_t>{1, 0});  // 0.5 and 1.25
  CHECK(told(*made(evaluate_batch(b.program, 0, shape)), shape, frame).narrow == std::vector<std::int8_t>{1, 0});
}

TEST_CASE("a column must be one that the handler reads") {
  const Program program = allocation();
  const auto error = [&](BatchShape shape) {
    const auto batch = compile_batch(program, 0, shape);
    return batch ? std::string() : batch.error().text();
  };
  CHECK_THAT(error({}), Catch::Contains("reads 2 facts, 0 columns were described"));
  BatchShape wrong;
  wrong.reads = {{ColumnKind::Int32, false}, {ColumnKind::Int64, false}};
  CHECK_THAT(error(wrong), Catch::Contains("it is real"));
  CHECK_THAT(compile_batch(program, 3, wrong).error().text(), Catch::Contains("has no handler 3"));
}
