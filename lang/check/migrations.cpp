// What a swap to this version makes of the state of the version before.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

namespace {

// The state that is migrated; -1 after an error.
std::int32_t migrated_state(Policy& policy, const tree::MigrateDecl& decl) {
  std::int32_t state = -1;
  std::vector<std::string> states;
  for (std::size_t i = 0; i < policy.program.states.size(); ++i) {
    if (policy.program.states[i].input) continue;
    states.push_back(policy.program.states[i].name);
    if (states.back() == decl.state.text) state = static_cast<std::int32_t>(i);
  }
  if (state == -1) {
    const Binding* const other = policy.names.find(decl.state.text);
    if (other && other->meaning == Meaning::Poison) return -1;
    policy.error("E0101", decl.state.span, "there is no state " + quoted(decl.state.text), "",
                 near_help(decl.state.text, states));
    return -1;
  }
  const auto same = [&](const Migration& each) { return each.state == state; };
  if (const auto it = std::find_if(policy.program.migrations.begin(), policy.program.migrations.end(), same);
      it != policy.program.migrations.end()) {
    policy.error("E0102", decl.state.span, quoted(decl.state.text) + " is migrated twice", "", "",
                 {{it->span, "the first time"}});
    return -1;
  }
  return state;
}

// The one handler of a program of a migration: it reports the new value.
Handler reporting(Handler handler, NodeId value, const tree::Name& state) {
  handler.point = Point::Eval;
  handler.subject = Subject::Run;
  handler.text = "migrate " + state.text;
  handler.span = state.span;
  Effect effect;
  effect.kind = EffectKind::Report;
  effect.index = 0;
  effect.value = value;
  effect.span = state.span;
  handler.effects.push_back(std::move(effect));
  return handler;
}

// A program whose one state is `old`, and which reports what becomes of it; null after an error.
std::shared_ptr<const Program> migration_program(Policy& policy, const tree::MigrateDecl& decl, const Type& from,
                                                 const Type& to) {
  auto value = std::make_shared<Program>();
  Policy inner{
      policy.source, policy.tree, *value, policy.diagnostics, {}, policy.unread, 0, false, {}, {}, {}, {}, 0};
  inner.names.functions = policy.names.functions;
  inner.names.function_used = policy.names.function_used;
  inner.broken_functions = policy.broken_functions;
  Binding old = value_binding({"old", decl.from.span}, "variable");
  old.node.op = Op::State;
  old.node.type = from;
  old.node.index = 0;
  inner.names.declare(std::move(old));
  Builder builder(inner);
  Where where;
  where.constant = true;
  Expressions expressions(inner, builder, where);
  const NodeId made = expressions.check_as(decl.value, to, "what becomes of " + quoted(decl.state.text));
  policy.names.function_used = inner.names.function_used;
  if (made == poison) return nullptr;
  value->name = policy.program.name;
  value->source = policy.program.source;
  State& before = value->states.emplace_back();
  before.name = "old";
  before.type = from;
  before.scope = StateScope::Run;
  before.initial.assign(static_cast<std::size_t>(from.cells()), Cell::undefined());
  before.span = decl.from.span;
  value->reports = {"value"};
  value->handlers.push_back(reporting(std::move(builder.handler), made, decl.state));
  return value;
}

}  // namespace

void check_migrations(Policy& policy) {
  for (const tree::MigrateDecl& decl : policy.tree.migrations) {
    Migration migration;
    migration.state = migrated_state(policy, decl);
    if (migration.state == -1) continue;
    const std::optional<Type> from = read_type(policy, decl.from);
    if (!from) continue;
    const Type& to = policy.program.states[static_cast<std::size_t>(migration.state)].type;
    migration.from = *from;
    migration.value = migration_program(policy, decl, *from, to);
    if (!migration.value) continue;
    migration.span = decl.state.span;
    policy.program.migrations.push_back(std::move(migration));
  }
}

}  // namespace allot::lang::checker
