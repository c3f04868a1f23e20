#include "tests/compiler/builder.h"

#include <cstdio>
#include <cstring>

#include "lang/builtins.h"

namespace allot::compiler::test {

NodeId Builder::call(const char* name, Type of, std::vector<NodeId> args) {
  return add(Op::Call, of, std::move(args), lang::find_builtin(name));
}

bool operator==(const Answer& a, const Answer& b) {
  return a.outcome.fault == b.outcome.fault && a.outcome.fault_node == b.outcome.fault_node &&
         a.outcome.rule == b.outcome.rule && a.holes == b.holes && a.reports == b.reports && a.written == b.written &&
         std::memcmp(&a.outcome.amount, &b.outcome.amount, sizeof(Cell)) == 0 &&
         std::memcmp(&a.outcome.up_to, &b.outcome.up_to, sizeof(Cell)) == 0 &&
         std::memcmp(&a.outcome.age_limit, &b.outcome.age_limit, sizeof(Cell)) == 0 &&
         std::memcmp(&a.outcome.until, &b.outcome.until, sizeof(Cell)) == 0 &&
         std::memcmp(&a.outcome.reward, &b.outcome.reward, sizeof(Cell)) == 0 &&
         std::memcmp(&a.outcome.baseline, &b.outcome.baseline, sizeof(Cell)) == 0 && a.warned == b.warned &&
         a.vectors == b.vectors && a.states == b.states;
}

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
  std::vector<Column> columns;
  for (std::size_t i = 0; i < memory.columns.size(); ++i) {
    const auto size = static_cast<std::int64_t>(memory.columns[i].size());
    std::int64_t width = 1;   // a matrix of a frame is square
    if (asked.columns[i].type.matrix()) while (width * width < size) ++width;
    columns.push_back({memory.columns[i].data(), size, width});
  }
  std::vector<StateView> states;
  for (std::size_t i = 0; i < memory.before.size(); ++i) {
    Cell* const after = memory.shared ? memory.before[i].data() : memory.after[i].data();
    states.push_back({memory.before[i].data(), after, static_cast<std::int64_t>(memory.before[i].size()) / program.states[i].type.cells()});
  }
  const Frame frame{memory.parameters.data(), memory.reads.data(), columns.data(), memory.sizes.data(), states.data(),
                    &scratch};
  executable.decide(handler, frame, answer.outcome);
  const Outcome& outcome = answer.outcome;
  const std::array<Column, 11> vectors{outcome.amounts,    outcome.up_tos,     outcome.mask,   outcome.subset,
                                       outcome.untils,     outcome.readmitted, outcome.scores, outcome.advantages,
                                       outcome.weights,    outcome.baselines,  outcome.keys};
  for (std::size_t i = 0; i < vectors.size(); ++i) answer.vectors[i].assign(vectors[i].cells, vectors[i].cells + vectors[i].size);
  answer.states = memory.shared ? memory.before : memory.after;
  return answer;
}

namespace {

Cell zero(const Type& of) {
  if (of.base == Base::Beta) return Cell::beta(1, 1);
  return of.base == Base::Real ? Cell::of(0.0) : Cell::of(std::int64_t{0});
}

const char* name(Op op) {
  static const char* const names[] = {"Constant", "Parameter", "Read", "Column", "Element", "Position", "State", "Let",
                                      "Scope", "Not", "Negate", "Add", "Subtract", "Multiply", "Divide", "Modulo",
                                      "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "And", "Or",
                                      "If", "Coalesce", "IsUndefined", "Assume", "ToReal", "Call", "Reduce", "Allot",
                                      "Map", "ListOf", "At", "Align"};
  return names[static_cast<int>(op)];
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
  std::string all;
  for (std::size_t id = 0; id < handler.nodes.size(); ++id) {
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
    all += "let " + std::to_string(i) + " = %" + std::to_string(handler.lets[i].value) + "\n";
  for (std::size_t i = 0; i < handler.loops.size(); ++i)
    all += "loop " + std::to_string(i) + " scope " + std::to_string(static_cast<int>(handler.loops[i].scope)) +
           " source " + std::to_string(handler.loops[i].source) + "\n";
  for (const lang::Rule& rule : handler.rules) {
    all += "rule when %" + std::to_string(rule.condition) + " amount %" + std::to_string(rule.verdict.amount) +
           " up to %" + std::to_string(rule.verdict.up_to) + " mask %" + std::to_string(rule.verdict.mask) +
           " subset %" + std::to_string(rule.verdict.subset) + " holes";
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
