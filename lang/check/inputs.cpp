// Facts that the host supplies: state that no handler writes.
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

void declare_input(Policy& policy, const tree::InputDecl& decl) {
  if (!fresh(policy, decl.name, "input")) return;
  Binding binding = value_binding(decl.name, "input");
  binding.meaning = Meaning::Poison;
  std::optional<Type> type = read_type(policy, decl.type);
  const bool fits = type && !type->vector() && (numeric(*type) || type->base == Base::Bool);
  if (type && !fits) {
    policy.error("E0202", decl.type.span, "an input is a number, a count, or true or false", "not " + to_text(*type));
  }
  if (decl.scope == "group") {
    policy.error("E0406", decl.name.span, "the host knows prompts, not groups", "",
                 "write `input " + decl.name.text + ": … per prompt`, `per category` or `per run`");
  } else if (fits) {
    State state;
    state.name = decl.name.text;
    state.span = decl.name.span;
    state.type = *type;
    state.input = true;
    state.initial = {Cell::undefined()};
    state.scope = decl.scope == "run"        ? StateScope::Run
                  : decl.scope == "category" ? StateScope::Category
                                             : StateScope::Prompt;
    binding.meaning = Meaning::State;
    binding.state = static_cast<int>(policy.program.states.size());
    policy.program.states.push_back(std::move(state));
  }
  policy.names.declare(std::move(binding));
}

}  // namespace

void declare_inputs(Policy& policy) {
  for (const tree::InputDecl& input : policy.tree.inputs) declare_input(policy, input);
}

}  // namespace allot::lang::checker
