#include "tests/compiler/parts.h"

#include "compiler/outcome.h"
#include "lang/builtins.h"
#include "tests/compiler/builder.h"

namespace allot::compiler::test {
namespace {

constexpr const char* reductions[] = {"Sum", "Count", "Mean", "Min", "Max", "Any", "All"};
constexpr const char* effect_kinds[] = {"Remember", "Report", "Warn", "ForEach"};
constexpr const char* solvers[] = {"Greedy", "Exact", "Proportional"};
constexpr const char* state_scopes[] = {"group", "prompt", "category", "run"};
constexpr const char* scopes[] = {"Single", "Rollouts", "Groups",   "Ended",   "Prompts", "List",   "Pool",
                                  "Known",  "Turns",    "AllTurns", "Trained", "Stored",  "Anchors",
                                  "GroupRollouts", "EndedRollouts", "StoredRollouts"};
constexpr const char* bases[] = {"Bool", "Int", "Real", "String", "Beta", "Prompt", "Category"};
static_assert(std::size(scopes) == lang::scope_count);

template <std::size_t size>
std::string of(const char* kind, const char* const (&names)[size], int index) {
  return std::string(kind) + " " + names[index];
}

class Parts {
 public:
  explicit Parts(const Program& program) : program_(program) {}

  std::set<std::string> run() {
    add(program_.handlers.front());
    if (program_.hit) {
      found_.insert("hit");
      add(*program_.hit);
    }
    return std::move(found_);
  }

 private:
  void add(const Handler& handler) {
    const std::vector<bool> asked = reachable(handler);
    for (std::size_t id = 0; id < handler.nodes.size(); ++id) {
      if (asked[id]) add(handler, handler.nodes[id]);
    }
    if (handler.keys >= 0) found_.insert("operand keys");
    for (const lang::Rule& rule : handler.rules) {
      found_.insert(rule.condition >= 0 ? "rule when" : "rule otherwise");
      for (std::size_t i = 0; i < std::size(operand_names); ++i) {
        const NodeId operand = rule.verdict.*operand_places[i].node;
        if (operand < 0) continue;
        const bool vector = handler.nodes[static_cast<std::size_t>(operand)].type.vector();
        found_.insert(std::string("operand ") + operand_names[i] + (vector ? " of each" : ""));
      }
      for (const lang::MessagePart& part : rule.because) {
        if (part.hole >= 0) found_.insert("hole");
      }
    }
    add(handler, handler.effects);
  }

  void add(const Handler& handler, const std::vector<lang::Effect>& effects) {
    for (const lang::Effect& effect : effects) {
      found_.insert(of("effect", effect_kinds, static_cast<int>(effect.kind)));
      if (effect.kind == lang::EffectKind::Remember) add("remember", effect.index);
      if (effect.loop >= 0) over(handler, effect.loop);
      add(handler, effect.body);
    }
  }

  void add(const Handler& handler, const Node& node) {
    found_.insert(std::string("op ") + name(node.op));
    found_.insert(of("base", bases, static_cast<int>(node.type.base)));
    if (node.type.optional) found_.insert("optional");
    if (node.type.matrix())
      found_.insert("matrix");
    else if (node.type.vector())
      found_.insert("vector");
    if (node.loop >= 0 && node.op != Op::Element && node.op != Op::Position) over(handler, node.loop);
    if (node.op == Op::Reduce) found_.insert(of("reduction", reductions, node.index));
    if ((node.op == Op::Reduce || node.op == Op::Map) && node.args.size() > 1) found_.insert("where");
    if (node.op == Op::State) add("state", node.index);
    if (node.op == Op::Allot) {
      const auto solver = handler.allotments[static_cast<std::size_t>(node.index)].solver;
      found_.insert(of("solver", solvers, static_cast<int>(solver)));
    }
    if (node.op == Op::Call)
      found_.insert("call " + std::string(lang::builtins()[static_cast<std::size_t>(node.index)].name));
  }

  void add(const char* what, std::int32_t index) {
    const lang::State& state = program_.states[static_cast<std::size_t>(index)];
    found_.insert(of((std::string(what) + " per").c_str(), state_scopes, static_cast<int>(state.scope)));
    if (state.type.matrix())
      found_.insert(std::string(what) + " of a matrix");
    else if (state.type.vector())
      found_.insert(std::string(what) + " of a vector");
  }

  void over(const Handler& handler, std::int32_t loop) {
    found_.insert(of("over", scopes, static_cast<int>(handler.loops[static_cast<std::size_t>(loop)].scope)));
  }

  const Program& program_;
  std::set<std::string> found_;
};

}  // namespace

std::set<std::string> parts_of(const Program& program) {
  return Parts(program).run();
}

std::set<std::string> all_parts() {
  std::set<std::string> all{"hit", "hole", "where", "optional", "vector", "matrix", "rule when", "rule otherwise"};
  for (int op = 0; op <= static_cast<int>(Op::Align); ++op) all.insert(std::string("op ") + name(static_cast<Op>(op)));
  for (const char* const each : reductions) all.insert(std::string("reduction ") + each);
  for (const char* const each : effect_kinds) all.insert(std::string("effect ") + each);
  for (const char* const each : solvers) all.insert(std::string("solver ") + each);
  for (const char* const each : bases) {
    if (each != std::string("String")) all.insert(std::string("base ") + each);  // texts are no values of a handler
  }
  for (const char* const each : scopes) {
    if (each != std::string("Single")) all.insert(std::string("over ") + each);
  }
  for (const std::string what : {"state", "remember"}) {
    for (const char* const each : state_scopes) all.insert(what + " per " + each);
    all.insert({what + " of a vector", what + " of a matrix"});
  }
  // Which fields may be a vector, or must be one: compiler/outcome.h.
  all.insert("operand keys");
  for (std::size_t i = 0; i < std::size(operand_names); ++i) {
    if (operand_places[i].cell != 0) all.insert(std::string("operand ") + operand_names[i]);
    if (operand_places[i].column != 0) all.insert(std::string("operand ") + operand_names[i] + " of each");
  }
  for (const lang::Builtin& row : lang::builtins()) all.insert("call " + std::string(row.name));
  return all;
}

}  // namespace allot::compiler::test
