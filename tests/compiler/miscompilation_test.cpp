// The comparison of engines must be able to fail: machine code of a program that was damaged on purpose is told apart.
#include <catch2/catch.hpp>

#include <optional>

#include "tests/compiler/harness.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

using Damage = std::function<bool(Program&, NodeId)>;   // false: nothing to damage at that node

Node& node(Program& program, NodeId id) { return program.handlers.front().nodes[static_cast<std::size_t>(id)]; }

NodeId append(Program& program, Node made) {
  program.handlers.front().nodes.push_back(std::move(made));
  return static_cast<NodeId>(program.handlers.front().nodes.size()) - 1;
}

Node make(Op op, Type of, std::vector<NodeId> args = {}, int index = -1, int loop = -1) {
  Node made;
  made.op = op;
  made.type = of;
  made.args = std::move(args);
  made.index = index;
  made.loop = loop;
  return made;
}

NodeId integer(Program& program, std::int64_t value) {
  Node made = make(Op::Constant, type(Base::Int));
  made.cell = Cell::of(value);
  return append(program, made);
}

bool swap_comparison(Program& program, NodeId id) {
  Node& self = node(program, id);
  if (self.op != Op::Less && self.op != Op::GreaterEqual) return false;
  self.op = self.op == Op::Less ? Op::Greater : Op::LessEqual;
  return true;
}

bool drop_coalesce(Program& program, NodeId id) {
  Node& self = node(program, id);
  if (self.op != Op::Coalesce || node(program, self.args[0]).type.optional == self.type.optional) return false;
  self = make(Op::Scope, node(program, self.args[0]).type, {self.args[0]});
  return true;
}

// The sum of the elements at odd places, then of those at even ones: the same in exact arithmetic only.
bool reorder_sum(Program& program, NodeId id) {
  const Node sum = node(program, id);
  if (sum.op != Op::Reduce || sum.index != 0 || sum.type.base != Base::Real || sum.args.size() != 1) return false;
  const auto half = [&](std::int64_t parity) {
    const NodeId position = append(program, make(Op::Position, type(Base::Int), {}, -1, sum.loop));
    const NodeId rest = append(program, make(Op::Modulo, type(Base::Int), {position, integer(program, 2)}));
    const NodeId where = append(program, make(Op::Equal, type(Base::Bool), {rest, integer(program, parity)}));
    return append(program, make(Op::Reduce, sum.type, {sum.args[0], where}, sum.index, sum.loop));
  };
  const NodeId odd = half(1);
  node(program, id) = make(Op::Add, sum.type, {odd, half(0)});
  return true;
}

// A value where the product of large ints must fault.
bool drop_overflow_check(Program& program, NodeId id) {
  const Node add = node(program, id);
  if (add.op != Op::Multiply || add.type.base != Base::Int) return false;
  const NodeId large = integer(program, std::int64_t{1} << 31);
  const NodeId tests = append(program, make(Op::Greater, type(Base::Bool, add.type.optional), {add.args[0], large}));
  const NodeId checked = append(program, add);
  node(program, id) = make(Op::If, add.type, {tests, add.args[0], checked});
  return true;
}

bool swap_branches(Program& program, NodeId id) {
  Node& self = node(program, id);
  if (self.op != Op::If) return false;
  std::swap(self.args[1], self.args[2]);
  return true;
}

// Damages one node of program after program; counts those that the comparison told apart.
struct Tally {
  int damaged = 0;
  int found = 0;
};
Tally hunt(const Damage& damage, int wanted) {
  Tally tally;
  for (std::uint64_t seed = 1; tally.damaged < wanted && seed < 3000; ++seed) {
    const Program program = random_program(seed);
    Program broken = program;
    const auto count = static_cast<NodeId>(program.handlers.front().nodes.size());
    bool changed = false;
    for (NodeId id = 0; id < count && !changed; ++id) changed = damage(broken, id);
    if (!changed) continue;
    ++tally.damaged;
    const Engines engines(program, broken);
    for (std::uint64_t frame = 0; frame < 300; ++frame) {
      if (engines.difference(seed * 1000 + frame).empty()) continue;
      ++tally.found;
      break;
    }
  }
  return tally;
}

void must_be_found(const Damage& damage) {
  const Tally tally = hunt(damage, 40);
  INFO(tally.found << " of " << tally.damaged << " damaged programs were told apart");
  CHECK(tally.damaged == 40);
  CHECK(tally.found >= 4);   // the rest sits where no rule, hole or effect looks, or in a let that is not used
}

}  // namespace

TEST_CASE("a comparison turned round is found") { must_be_found(swap_comparison); }
TEST_CASE("a dropped ?? is found") { must_be_found(drop_coalesce); }
TEST_CASE("a reordered sum is found") { must_be_found(reorder_sum); }
TEST_CASE("a dropped overflow check is found") { must_be_found(drop_overflow_check); }
TEST_CASE("branches of an if exchanged are found") { must_be_found(swap_branches); }
