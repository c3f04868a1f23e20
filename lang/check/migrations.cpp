// What a swap to this version makes of the state of the version before.
#include <algorithm>
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

void check_migrations(Policy& policy) {
  for (const tree::MigrateDecl& decl : policy.tree.migrations) {
    Migration migration;
    std::vector<std::string> states;
    for (std::size_t i = 0; i < policy.program.states.size(); ++i) {
      if (policy.program.states[i].input) continue;
      states.push_back(policy.program.states[i].name);
      if (states.back() == decl.state.text) migration.state = static_cast<std::int32_t>(i);
    }
    if (migration.state == -1) {
      const Binding* const other = policy.names.find(decl.state.text);
      if (other && other->meaning == Meaning::Poison) continue;
      policy.error("E0101", decl.state.span, "there is no state " + quoted(decl.state.text), "",
                   near_help(decl.state.text, states));
      continue;
    }
    const auto same = [&](const Migration& each) { return each.state == migration.state; };
    if (const auto it = std::find_if(policy.program.migrations.begin(), policy.program.migrations.end(), same);
        it != policy.program.migrations.end()) {
      policy.error("E0102", decl.state.span, quoted(decl.state.text) + " is migrated twice", "", "",
                   {{it->span, "the first time"}});
      continue;
    }
    const std::optional<Type> from = read_type(policy, decl.from);
    if (!from) continue;
    const Type& to = policy.program.states[static_cast<std::size_t>(migration.state)].type;
    auto value = std::make_shared<Program>();
    Policy inner{
        policy.source, policy.tree, *value, policy.diagnostics, {}, policy.unread, 0, false, {}, {}, {}, {}, 0};
    inner.names.functions = policy.names.functions;
    inner.names.function_used = policy.names.function_used;
    inner.broken_functions = policy.broken_functions;
    Binding old = value_binding({"old", decl.from.span}, "variable");
    old.node.op = Op::State;
    old.node.type = *from;
    old.node.index = 0;
    inner.names.declare(std::move(old));
    Builder builder(inner);
    Where where;
    where.constant = true;
    Expressions expressions(inner, builder, where);
    const NodeId made = expressions.check_as(decl.value, to, "what becomes of " + quoted(decl.state.text));
    policy.names.function_used = inner.names.function_used;
    if (made == poison) continue;
    value->name = policy.program.name;
    value->source = policy.program.source;
    State& before = value->states.emplace_back();
    before.name = "old";
    before.type = *from;
    before.scope = StateScope::Run;
    before.initial.assign(static_cast<std::size_t>(from->cells()), Cell::undefined());
    before.span = decl.from.span;
    value->reports = {"value"};
    Handler handler = std::move(builder.handler);
    handler.point = Point::Eval;
    handler.subject = Subject::Run;
    handler.text = "migrate " + decl.state.text;
    handler.span = decl.state.span;
    Effect effect;
    effect.kind = EffectKind::Report;
    effect.index = 0;
    effect.value = made;
    effect.span = decl.state.span;
    handler.effects.push_back(std::move(effect));
    value->handlers.push_back(std::move(handler));
    migration.from = *from;
    migration.value = std::move(value);
    migration.span = decl.state.span;
    policy.program.migrations.push_back(std::move(migration));
  }
}

}  // namespace allot::lang::checker
