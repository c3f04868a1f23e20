// Programs made by hand, node by node, and the memory that a decision needs.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/executable.h"
#include "lang/program.h"

namespace allot::compiler::test {

using lang::Base;
using lang::Handler;
using lang::Node;
using lang::NodeId;
using lang::Op;
using lang::Program;
using lang::Scope;
using lang::Type;

inline Type type(Base base, bool optional = false, Scope scope = Scope::Single) {
  Type made;
  made.base = base;
  made.optional = optional;
  made.scope = scope;
  return made;
}
inline Type element_type(Type vector) {
  vector.scope = vector.across = Scope::Single;
  vector.rows = vector.columns = 0;
  return vector;
}
// Of reals; sizes of 0 are those of the value.
inline Type matrix_type(int rows = 0, int columns = 0, Scope scope = Scope::List) {
  Type made = type(Base::Real, false, scope);
  made.across = scope;
  made.rows = static_cast<std::int16_t>(rows);
  made.columns = static_cast<std::int16_t>(columns);
  return made;
}

// One handler under construction; the program holds it alone.
class Builder {
 public:
  Builder() { program.handlers.emplace_back(); }

  Program program;
  Handler& handler() { return program.handlers.front(); }

  NodeId add(Op op, Type of, std::vector<NodeId> args = {}, int index = -1, int loop = -1) {
    Node node;
    node.op = op;
    node.type = of;
    node.args = std::move(args);
    node.index = index;
    node.loop = loop;
    handler().nodes.push_back(std::move(node));
    return static_cast<NodeId>(handler().nodes.size()) - 1;
  }
  NodeId constant(Type of, Cell cell) {
    const NodeId id = add(Op::Constant, of);
    handler().nodes.back().cell = cell;
    return id;
  }
  NodeId real(double value) { return constant(type(Base::Real), Cell::of(value)); }
  NodeId integer(std::int64_t value) { return constant(type(Base::Int), Cell::of(value)); }
  NodeId truth(bool value) { return constant(type(Base::Bool), Cell::of(value)); }
  NodeId undefined(Base base) { return constant(type(base, true), Cell::undefined()); }

  NodeId read(Type of) {
    lang::ReadKey key;
    key.type = of;
    handler().reads.push_back(key);
    return add(Op::Read, of, {}, static_cast<int>(handler().reads.size()) - 1);
  }
  int column(Type of) {
    lang::ReadKey key;
    key.type = of;
    key.scope = of.scope;
    handler().columns.push_back(key);
    return static_cast<int>(handler().columns.size()) - 1;
  }
  NodeId column_node(int index) {
    return add(Op::Column, handler().columns[static_cast<std::size_t>(index)].type, {}, index);
  }
  NodeId parameter(Type of, Cell value) {
    lang::Parameter made;
    made.name = "p" + std::to_string(program.parameters.size());
    made.type = of;
    made.value = value;
    program.parameters.push_back(made);
    return add(Op::Parameter, of, {}, static_cast<int>(program.parameters.size()) - 1);
  }
  int state(Type of, lang::StateScope scope) {
    lang::State made;
    made.name = "s" + std::to_string(program.states.size());
    made.type = of;
    made.scope = scope;
    program.states.push_back(made);
    return static_cast<int>(program.states.size()) - 1;
  }
  int let(NodeId value) {
    handler().lets.push_back({"l" + std::to_string(handler().lets.size()), value});
    return static_cast<int>(handler().lets.size()) - 1;
  }
  NodeId use(int let) {
    const NodeId value = handler().lets[static_cast<std::size_t>(let)].value;
    return add(Op::Let, handler().nodes[static_cast<std::size_t>(value)].type, {}, let);
  }
  int loop(Scope scope, NodeId source = -1) {
    handler().loops.push_back({scope, source});
    return static_cast<int>(handler().loops.size()) - 1;
  }
  NodeId call(const char* name, Type of, std::vector<NodeId> args);

  int rule(NodeId condition, lang::VerdictTemplate verdict = {}, const std::vector<NodeId>& holes = {}) {
    lang::Rule made;
    made.condition = condition;
    made.verdict = verdict;
    for (const NodeId hole : holes) made.because.push_back({"", hole});
    handler().rules.push_back(made);
    handler().hole_count = std::max(handler().hole_count, static_cast<int>(holes.size()));
    return static_cast<int>(handler().rules.size()) - 1;
  }
  // A report named "value", so that an expression can be looked at.
  void report(NodeId value) {
    lang::Effect effect;
    effect.kind = lang::EffectKind::Report;
    effect.index = static_cast<int>(program.reports.size());
    effect.value = value;
    handler().effects.push_back(effect);
    program.reports.push_back("value" + std::to_string(program.reports.size()));
  }
};

// All memory of one call. States: `size` cells each; shared: `after` is `before`.
struct Memory {
  std::vector<Cell> parameters;
  std::vector<Cell> reads;
  std::vector<std::vector<Cell>> columns;
  std::array<std::int64_t, lang::scope_count> sizes{};
  std::vector<std::vector<Cell>> before;
  std::vector<std::vector<Cell>> after;
  bool shared = false;
};

// The frame of a handler over a memory, which must outlive it.
struct Question {
  Question(const Program& program, const Handler& handler, Memory& memory, Scratch& scratch);
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  std::vector<Column> columns;
  std::vector<StateView> states;
  Frame frame;
};

// What one engine made of it.
struct Answer {
  Outcome outcome;
  Cell hit = Cell::undefined();
  std::vector<Cell> holes, reports;
  std::vector<std::uint8_t> written, warned;
  std::array<std::vector<Cell>, 11> vectors;   // amounts, up_tos, mask, subset, …
  std::vector<std::vector<Cell>> states;      // after
  friend bool operator==(const Answer& a, const Answer& b);
};

Answer ask(const Executable& executable, const Program& program, Memory memory, Scratch& scratch, int handler = 0);

// The nodes that something asks for: rules, effects, and what those need.
std::vector<bool> reachable(const Handler& handler);

// The memory with a default for every parameter, read, column and state of the first handler.
Memory blank(const Program& program, std::int64_t size);

// Value of the first report under blank memory; `fault` gets the fault.
Cell value_of(const Executable& executable, const Program& program, FaultKind* fault = nullptr);

const char* name(Op op);
// By the order of compiler/outcome.h.
inline constexpr const char* operand_names[] = {"amount", "up to",  "mask",   "subset",     "age limit", "until",
                                                "readmitted", "scores", "reward", "loss",       "slope",     "advantages",
                                                "weights",    "baseline"};

std::string text(const Answer& answer);
std::string text(const Cell& cell);
std::string text(const Program& program);   // what is reachable of the tree, one node a line
std::string text(const Memory& memory);

}  // namespace allot::compiler::test
