// Parameters and state: what a policy keeps under names of its own.
#include "lang/check/declarations.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lang/check/expressions.h"
#include "lang/check/units.h"
#include "lang/limits.h"

namespace allot::lang::checker {

bool fresh(Policy& policy, const tree::Name& name, std::string_view kind) {
  if (find_fact(Subject::Run, name.text) || name.text == "budget") {
    policy.error("E0103", name.span, quoted(name.text) + " is the name of a fact of the run", "",
                 "choose another name");
    return false;
  }
  const Binding* const other = policy.names.find(name.text);
  if (!other || (other->meaning == Meaning::Poison && other->kind == "declaration")) {
    warn_of_builtin_name(policy, name.text, name.span, kind);
    return true;
  }
  policy.error("E0102", name.span, quoted(name.text) + " is declared twice", "this is the second declaration",
               "", {{other->span, "the first one"}});
  return false;
}

namespace {

void declare_parameter(Policy& policy, const tree::Param& param) {
  if (!fresh(policy, param.name, "parameter")) return;
  Binding binding = value_binding(param.name, "parameter");
  std::optional<Type> type = read_type(policy, param.type);
  const bool allowed = type && !type->vector() && !type->optional && (numeric(*type) || type->base == Base::Bool);
  if (type && !allowed) {
    policy.error("E0202", param.type.span, "a parameter is a number, a count or true or false",
                 "not " + to_text(*type));
  }
  std::optional<Cell> value;
  std::optional<Range> range;
  if (allowed) {
    if (numeric(*type)) range = read_range(policy, param.type, *type);
    if (type->prob && !range) range = Range{0, 1};
    if (type->base == Base::Real && type->unit.plain() && range && range->low >= 0 && range->high <= 1)
      type->prob = true;
    if (param.value == tree::none) {
      policy.error("E0404", param.name.span, "parameter " + quoted(param.name.text) + " needs a default", "",
                   "write `param " + param.name.text + ": " + to_text(*type) + " = …`");
    } else {
      Type wanted = *type;
      if (range) wanted.prob = false;  // its own range is checked below
      value = constant(policy, param.value, wanted, "the default of " + quoted(param.name.text));
    }
    if (value && range &&
        !within(policy, *value, *type, range->low, range->high, policy.tree[param.value].span,
                "the default of " + quoted(param.name.text))) {
      value.reset();
    }
  }
  if (!value) {
    binding.meaning = Meaning::Poison;
  } else {
    Parameter parameter;
    parameter.name = param.name.text;
    parameter.type = *type;
    parameter.value = *value;
    if (range) {
      parameter.low = range->low;
      parameter.high = range->high;
    }
    parameter.doc = param.doc;
    parameter.span = param.name.span;
    binding.node.op = Op::Parameter;
    binding.node.type = *type;
    binding.node.index = static_cast<std::int32_t>(policy.program.parameters.size());
    policy.program.parameters.push_back(std::move(parameter));
  }
  policy.names.declare(std::move(binding));
}

// State that is a vector or matrix has a small size that its type states: there is one for every prompt.
bool small(Policy& policy, const tree::StateDecl& decl, const Type& type) {
  const std::int64_t cells = type.cells();
  if (cells >= 1 && cells <= limits.state_cells && !type.optional && !type.missing) return true;
  policy.error("E0202", decl.type.span,
               cells == 0 ? "the size of state stands in its type"
               : cells > limits.state_cells
                   ? "a state holds at most " + std::to_string(limits.state_cells) + " numbers, this one " +
                         std::to_string(cells)
                   : "state that is a vector is always defined",
               "", "for example `state " + decl.name.text + ": vec<real, 3> per prompt = [0, 0, 0]`");
  return false;
}

// An expression as it is written, but without the units of its literals.
std::string without_units(const Policy& policy, tree::ExprId id) {
  std::vector<Span> units;
  std::vector<tree::ExprId> open{id};
  while (!open.empty()) {
    const tree::Expr& e = policy.tree[open.back()];
    open.pop_back();
    open.insert(open.end(), e.args.begin(), e.args.end());
    if (e.unit.empty()) continue;
    const std::string_view text = policy.source.text(e.span);
    const std::size_t number = text.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1;
    units.push_back({e.span.begin + static_cast<std::uint32_t>(number), e.span.end});
  }
  std::sort(units.begin(), units.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  Span rest = policy.inside(policy.tree[id].span);
  std::string result;
  for (const Span& unit : units) {
    result += policy.text(Span{rest.begin, unit.begin});
    rest.begin = unit.end;
    if (rest.begin < rest.end && policy.source.text()[rest.begin] == ' ') result += ' ';
  }
  return result + policy.text(rest);
}

void declare_state(Policy& policy, const tree::StateDecl& decl) {
  if (!fresh(policy, decl.name, "state")) return;
  Binding binding = value_binding(decl.name, "state");
  binding.meaning = Meaning::Poison;
  State state;
  state.name = decl.name.text;
  state.span = decl.name.span;
  std::optional<Type> type = read_type(policy, decl.type);
  bool fits = type.has_value();
  if (type && type->vector() && !small(policy, decl, *type)) {
    fits = false;
  } else if (type && !numeric(*type) && type->base != Base::Bool && type->base != Base::Beta) {
    policy.error("E0202", decl.type.span, "state is a number, a count, true or false, or a beta",
                 "not " + to_text(*type));
    fits = false;
  }
  state.scope = decl.scope == "group"      ? StateScope::Group
                : decl.scope == "run"      ? StateScope::Run
                : decl.scope == "category" ? StateScope::Category
                                           : StateScope::Prompt;
  if (fits) {
    if (numeric(*type)) {
      const std::optional<Range> range = read_range(policy, decl.type, *type);
      if (range && (!type->prob || range->low > 0 || range->high < 1)) {
        state.low = range->low;
        state.high = range->high;
      }
    }
    state.type = *type;
    std::optional<std::vector<Cell>> initial;
    if (decl.initial != tree::none) {
      initial = constants(policy, decl.initial, *type, "the initial value of " + quoted(decl.name.text));
    } else if (type->optional) {
      initial = std::vector<Cell>{Cell::undefined()};
    } else {
      policy.error("E0405", decl.name.span, "state " + quoted(decl.name.text) + " needs an initial value", "",
                   "write `state " + decl.name.text + ": " + to_text(*type) + " per " + decl.scope + " = …`");
    }
    if (decl.decay != tree::none) {
      Type rate = plain(Base::Real);
      rate.prob = true;
      if (!numeric(*type) && type->base != Base::Beta) {
        policy.error("E0405", policy.tree[decl.decay].span, "only numbers and betas decay");
      } else if (type->base == Base::Int) {
        Type kept = *type;
        kept.base = Base::Real;
        kept.unit = {};
        const std::string initial_text = decl.initial == tree::none ? "" : " = " + without_units(policy, decl.initial);
        policy.error("E0405", policy.tree[decl.decay].span, "whole numbers do not decay",
                     "each step would be rounded, and soon none moves it any more",
                     "keep a real: `state " + decl.name.text + ": " + to_text(kept) + " per " + decl.scope + initial_text +
                         " decay " + policy.text(decl.decay) + "`");
      } else if (const auto decay = constant(policy, decl.decay, rate, "the decay of " + quoted(decl.name.text))) {
        state.decay = decay->real();
      }
    }
    if (initial && state.low) {
      for (const Cell& cell : *initial) {
        if (cell.defined == 0 || within(policy, cell, *type, *state.low, *state.high, policy.tree[decl.initial].span,
                                        "the initial value of " + quoted(decl.name.text))) {
          continue;
        }
        initial.reset();
        break;
      }
    }
    if (initial) {
      state.initial = *std::move(initial);
      binding.meaning = Meaning::State;
      binding.state = static_cast<int>(policy.program.states.size());
      policy.program.states.push_back(std::move(state));
    }
  }
  policy.names.declare(std::move(binding));
}

}  // namespace

void declare_unread(Policy& policy) {
  for (const std::string& name : policy.tree.unread) {
    Binding binding = value_binding({name, {}}, "declaration");
    binding.meaning = Meaning::Poison;
    policy.names.declare(std::move(binding));
  }
}

void declare_parameters(Policy& policy) {
  for (const tree::Param& param : policy.tree.params) declare_parameter(policy, param);
}

void declare_states(Policy& policy) {
  for (const tree::StateDecl& decl : policy.tree.states) declare_state(policy, decl);
}

}  // namespace allot::lang::checker
