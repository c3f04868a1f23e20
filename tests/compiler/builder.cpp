#include "tests/compiler/builder.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "compiler/outcome.h"
#include "lang/builtins.h"

namespace allot::compiler::test {

NodeId Builder::call(const char* name, Type of, std::vector<NodeId> args) {
  return add(Op::Call, of, std::move(args), lang::find_builtin(name));
}

bool operator==(const Answer& a, const Answer& b) {
  const auto cell = [](const Answer& answer, std::size_t offset) {
    return reinterpret_cast<const char*>(&answer.outcome) + offset;
  };
  const bool operands = std::all_of(std::begin(operand_places), std::end(operand_places), [&](const OperandPlace& place) {
    return place.cell == 0 || std::memcmp(cell(a, place.cell), cell(b, place.cell), sizeof(Cell)) == 0;
  });
  return operands && a.outcome.fault == b.outcome.fault && a.outcome.fault_node == b.outcome.fault_node &&
         a.outcome.rule == b.outcome.rule && a.hit == b.hit && a.holes == b.holes && a.reports == b.reports &&
         a.written == b.written && a.warned == b.warned && a.vectors == b.vectors && a.states == b.states;
}

Question::Question(const Program& program, const Handler& handler, Memory& memory, Scratch& scratch) {
  for (std::size_t i = 0; i < memory.columns.size(); ++i) {
    const auto size = static_cast<std::int64_t>(memory.columns[i].size());
    std::int64_t width = 1;   // a matrix of a frame is square
    if (handler.columns[i].type.matrix()) while (width * width < size) ++width;
    columns.push_back({memory.columns[i].data(), size, width});
  }
  for (std::size_t i = 0; i < memory.before.size(); ++i) {
    Cell* const after = memory.shared ? memory.before[i].data() : memory.after[i].data();
    const auto size = static_cast<std::int64_t>(memory.before[i].size()) / program.states[i].type.cells();
    states.push_back({memory.before[i].data(), after, size});
  }
  frame = {memory.parameters.data(), memory.reads.data(), columns.data(), memory.sizes.data(), states.data(), &scratch};
}

namespace {

// A frame of one is a frame of the other.
bool reads_alike(const Handler& a, const Handler& b) {
  const auto alike = [](const lang::ReadKey& x, const lang::ReadKey& y) { return x.type == y.type && x.scope == y.scope; };
  return std::equal(a.reads.begin(), a.reads.end(), b.reads.begin(), b.reads.end(), alike) &&
         std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(), alike);
}

}  // namespace

Answer ask(const Executable& executable, const Program& program, Memory memory, Scratch& scratch, int handler) {
  const Handler& asked = program.handlers[static_cast<std::size_t>(handler)];
  Answer answer;
  // Filled with what no engine may leave behind.
  const Cell stale{0x5a5a, 1.5, 1};
  answer.holes.assign(static_cast<std::size_t>(asked.hole_count), stale);
  answer.reports.assign(program.reports.size(), stale);
  answer.written.assign(program.reports.size(), 7);
  answer.warned.assign(program.warnings.size(), 7);
  answer.outcome.holes = answer.holes.data();
  answer.outcome.reports = answer.reports.data();
  answer.outcome.report_written = answer.written.data();
  answer.outcome.warned = answer.warned.data();
  answer.outcome.rule = 77;
  const Question question(program, asked, memory, scratch);
  executable.decide(handler, question.frame, answer.outcome);
  const Outcome& outcome = answer.outcome;
  const std::array<Column, 11> vectors{outcome.amounts,    outcome.up_tos,     outcome.mask,   outcome.subset,
                                       outcome.untils,     outcome.readmitted, outcome.scores, outcome.advantages,
                                       outcome.weights,    outcome.baselines,  outcome.keys};
  for (std::size_t i = 0; i < vectors.size(); ++i) answer.vectors[i].assign(vectors[i].cells, vectors[i].cells + vectors[i].size);
  answer.states = memory.shared ? memory.before : memory.after;
  if (program.hit && reads_alike(asked, *program.hit)) answer.hit = executable.hit(question.frame);
  return answer;
}

const char* name(Op op) {
  static const char* const names[] = {"Constant", "Parameter", "Read", "Column", "Element", "Position", "State", "Let",
                                      "Scope", "Not", "Negate", "Add", "Subtract", "Multiply", "Divide", "Modulo",
                                      "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "And", "Or",
                                      "If", "Coalesce", "IsUndefined", "Assume", "ToReal", "Call", "Reduce", "Allot",
                                      "Map", "ListOf", "At", "Align"};
  return names[static_cast<int>(op)];
}

namespace {

Cell zero(const Type& of) {
  if (of.base == Base::Beta) return Cell::beta(1, 1);
  return of.base == Base::Real ? Cell::of(0.0) : Cell::of(std::int64_t{0});
}

std::string list(const std::vector<Cell>& cells) {
  std::string all = "[";
  for (const Cell& cell : cells) all.append(all.size() > 1 ? ", " : "").append(text(cell));
  return all + "]";
}

void describe(std::string& all, const std::vector<lang::Effect>& effects, const std::string& indent) {
  for (const lang::Effect& effect : effects) {
    all += indent + "effect kind " + std::to_string(static_cast<int>(effect.kind)) + " index " +
           std::to_string(effect.index) + " key " + std::to_string(effect.key) + " value " +
           std::to_string(effect.value) + " loop " + std::to_string(effect.loop) + "\n";
    describe(all, effect.body, indent + "  ");
  }
}

}  // namespace

namespace {

void collect(const std::vector<lang::Effect>& effects, const Handler& handler, std::vector<NodeId>& roots) {
  for (const lang::Effect& effect : effects) {
    roots.insert(roots.end(), {effect.key, effect.value});
    if (effect.loop >= 0) roots.push_back(handler.loops[static_cast<std::size_t>(effect.loop)].source);
    collect(effect.body, handler, roots);
  }
}

}  // namespace

std::vector<bool> reachable(const Handler& handler) {
  std::vector<NodeId> open{handler.keys};
  for (const lang::Rule& rule : handler.rules) {
    open.push_back(rule.condition);
    for (const OperandPlace& place : operand_places) open.push_back(rule.verdict.*place.node);
    for (const lang::MessagePart& part : rule.because) open.push_back(part.hole);
  }
  collect(handler.effects, handler, open);
  std::vector<bool> seen(handler.nodes.size());
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id < 0 || seen[static_cast<std::size_t>(id)]) continue;
    seen[static_cast<std::size_t>(id)] = true;
    const Node& node = handler.nodes[static_cast<std::size_t>(id)];
    open.insert(open.end(), node.args.begin(), node.args.end());
    if (node.op == Op::Let) open.push_back(handler.lets[static_cast<std::size_t>(node.index)].value);
    if (node.loop >= 0) open.push_back(handler.loops[static_cast<std::size_t>(node.loop)].source);
  }
  return seen;
}

Memory blank(const Program& program, std::int64_t size) {
  Memory memory;
  memory.sizes.fill(size);
  const Handler& handler = program.handlers.front();
  for (const lang::Parameter& parameter : program.parameters) memory.parameters.push_back(parameter.value);
  for (const lang::ReadKey& read : handler.reads) memory.reads.push_back(zero(read.type));
  for (const lang::ReadKey& column : handler.columns)
    memory.columns.emplace_back(static_cast<std::size_t>(column.type.matrix() ? size * size : size), zero(column.type));
  for (const lang::State& state : program.states) {
    const std::int64_t values = state.keyed() ? size : 1;
    memory.before.emplace_back(static_cast<std::size_t>(values * state.type.cells()), zero(state.type));
  }
  memory.after = memory.before;
  return memory;
}

Cell value_of(const Executable& executable, const Program& program, FaultKind* fault) {
  Scratch scratch;
  const Answer answer = ask(executable, program, blank(program, 4), scratch);
  if (fault != nullptr) *fault = answer.outcome.fault;
  return answer.reports.front();
}

std::string text(const Cell& cell) {
  if (cell.defined == 0) return "undefined";
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "%lld/%.17g", static_cast<long long>(cell.bits), cell.real());
  std::string all = buffer;
  if (cell.second != 0) all += ";" + std::to_string(cell.second);
  return all;
}

std::string text(const Answer& answer) {
  std::string all = "rule " + std::to_string(answer.outcome.rule) + " fault " +
                    std::to_string(static_cast<int>(answer.outcome.fault)) + " at " +
                    std::to_string(answer.outcome.fault_node) + " amount " + text(answer.outcome.amount) + " up to " +
                    text(answer.outcome.up_to) + " holes " + list(answer.holes) + " reports " + list(answer.reports);
  for (const auto& vector : answer.vectors) all += " v" + list(vector);
  for (const auto& state : answer.states) all += " s" + list(state);
  all += " warned ";
  for (const auto warned : answer.warned) all += std::to_string(warned);
  return all + "\n";
}

std::string text(const Program& program) {
  const Handler& handler = program.handlers.front();
  const std::vector<bool> asked = reachable(handler);
  std::string all;
  for (std::size_t id = 0; id < handler.nodes.size(); ++id) {
    if (!asked[id]) continue;
    const Node& node = handler.nodes[id];
    all += "%" + std::to_string(id) + " = " + name(node.op) + " base " +
           std::to_string(static_cast<int>(node.type.base)) + (node.type.optional ? "?" : "") +
           (node.type.matrix() ? " matrix" : node.type.vector() ? " vector" : "") + " (";
    for (const NodeId arg : node.args) all += " %" + std::to_string(arg);
    all += " )";
    if (node.index >= 0) all += " index " + std::to_string(node.index);
    if (node.loop >= 0) all += " loop " + std::to_string(node.loop);
    if (node.op == Op::Constant) all += " " + text(node.cell);
    for (const auto owned : node.owned) all += " owns " + std::to_string(owned);
    all += "\n";
  }
  for (std::size_t i = 0; i < handler.lets.size(); ++i)
    if (asked[static_cast<std::size_t>(handler.lets[i].value)]) all += "let " + std::to_string(i) + " = %" + std::to_string(handler.lets[i].value) + "\n";
  for (std::size_t i = 0; i < handler.loops.size(); ++i)
    all += "loop " + std::to_string(i) + " scope " + std::to_string(static_cast<int>(handler.loops[i].scope)) +
           " source " + std::to_string(handler.loops[i].source) + "\n";
  for (const lang::Rule& rule : handler.rules) {
    all += "rule when %" + std::to_string(rule.condition);
    for (std::size_t i = 0; i < std::size(operand_names); ++i) {
      const NodeId operand = rule.verdict.*operand_places[i].node;
      if (operand >= 0) all.append(" ").append(operand_names[i]).append(" %").append(std::to_string(operand));
    }
    all += " holes";
    for (const lang::MessagePart& part : rule.because) all += " %" + std::to_string(part.hole);
    all += "\n";
  }
  describe(all, handler.effects, "");
  return all;
}

std::string text(const Memory& memory) {
  std::string all = "parameters " + list(memory.parameters) + "\nreads " + list(memory.reads) + "\n";
  for (const auto& column : memory.columns) all += "column " + list(column) + "\n";
  for (const auto& state : memory.before) all += "state " + list(state) + "\n";
  for (const auto size : memory.sizes) all += std::to_string(size) + " ";
  return all + (memory.shared ? "shared\n" : "\n");
}

}  // namespace allot::compiler::test
