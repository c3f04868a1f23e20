#include "lang/check/declarations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "lang/check/expressions.h"
#include "lang/check/points.h"
#include "lang/check/units.h"
#include "lang/limits.h"

namespace allot::lang::checker {
namespace {

double number(const Cell& cell, const Type& type) {
  return type.base == Base::Int ? static_cast<double>(cell.integer()) : cell.real();
}

// True where `name` was not declared before; says so otherwise.
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

// What the host supplies is state that no handler writes.
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

std::optional<Range> read_range(Policy& policy, const tree::TypeName& name, Type type) {
  if (name.low == tree::none && !name.arguments.empty()) return read_range(policy, name.arguments[0], type);
  if (name.low == tree::none || name.high == tree::none) return std::nullopt;
  type = element_of(type);
  type.prob = false;
  type.optional = false;
  const std::optional<Cell> low = constant(policy, name.low, type, "the low end of a range");
  const std::optional<Cell> high = constant(policy, name.high, type, "the high end of a range");
  if (!low || !high) return std::nullopt;
  const Range range{number(*low, type), number(*high, type)};
  if (range.low > range.high) {
    policy.error("E0216", {policy.tree[name.low].span.begin, policy.tree[name.high].span.end},
                 "a range runs from low to high", "this one is empty");
    return std::nullopt;
  }
  return range;
}

std::optional<Cell> constant(Policy& policy, tree::ExprId id, const Type& expected, std::string_view role) {
  Builder builder(policy);
  Where where;
  where.constant = true;
  Expressions expressions(policy, builder, where);
  const NodeId node = expressions.check_as(id, expected, role);
  if (node == poison) return std::nullopt;
  const std::optional<Cell> value = builder.value(node);
  if (!value)
    policy.error("E0404", policy.tree[id].span, std::string(role) + " must be known from the text alone", "",
                 "write a literal");
  return value;
}

std::optional<std::vector<Cell>> constants(Policy& policy, tree::ExprId id, const Type& expected,
                                           std::string_view role) {
  if (!expected.vector()) {
    const std::optional<Cell> one = constant(policy, id, expected, role);
    return one ? std::optional(std::vector<Cell>{*one}) : std::nullopt;
  }
  Builder builder(policy);
  Where where;
  where.constant = true;
  Expressions expressions(policy, builder, where);
  const NodeId node = expressions.check_as(id, expected, role);
  if (node == poison) return std::nullopt;
  std::vector<Cell> cells;
  for (const NodeId element : builder[node].args) {
    if (const std::optional<Cell> value = builder.value(element)) cells.push_back(*value);
  }
  if (builder[node].op == Op::ListOf && static_cast<std::int64_t>(cells.size()) == expected.cells()) return cells;
  policy.error("E0404", policy.tree[id].span, std::string(role) + " must be known from the text alone", "",
               expected.matrix() ? "write its rows: `[[1, 0], [0, 1]]`" : "write its elements: `[1, 0]`");
  return std::nullopt;
}

bool within(Policy& policy, const Cell& value, const Type& type, double low, double high, Span span,
            const std::string& what) {
  if (number(value, type) >= low && number(value, type) <= high) return true;
  const auto text = [&](double x) {
    return type.base == Base::Int ? show(Cell::of(static_cast<std::int64_t>(x)), type) : show(Cell::of(x), type);
  };
  policy.error("E0216", span, what + " lies outside of its range", "not in " + text(low) + ".." + text(high));
  return false;
}

namespace {

// `vec<T>`, `vec<T, 3>`, `mat<real>`, `mat<real, 2, 3>`.
std::optional<Type> read_vector_type(Policy& policy, const tree::TypeName& name) {
  const bool matrix = name.name == "mat";
  const std::size_t all_sizes = matrix ? 2 : 1;
  if (name.arguments.size() != 1 || (!name.sizes.empty() && name.sizes.size() != all_sizes)) {
    policy.error("E0202", name.span, matrix ? "a matrix is `mat<real>` or `mat<real, 3, 3>`"
                                            : "a vector is `vec<real>` or `vec<real, 3>`");
    return std::nullopt;
  }
  const std::optional<Type> element = read_type(policy, name.arguments[0]);
  if (!element) return std::nullopt;
  const bool fits = !element->vector() && (!matrix || (element->base == Base::Real && !element->optional));
  if (!fits) {
    policy.error("E0202", name.arguments[0].span,
                 matrix ? "the elements of a matrix are reals that are always there" : "the elements of a vector are single values",
                 "not " + to_text(*element));
    return std::nullopt;
  }
  std::array<int, 2> sizes{};
  for (std::size_t i = 0; i < name.sizes.size(); ++i) {
    const std::string& digits = name.sizes[i];
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), sizes[i]);
    if (problem != std::errc() || sizes[i] < 1 || sizes[i] > std::numeric_limits<std::int16_t>::max()) {
      policy.error("E0216", name.span, "a size is a number from 1 to 32767", "not " + digits);
      return std::nullopt;
    }
  }
  Type type = vector_of(*element, Scope::List);
  type.rows = static_cast<std::int16_t>(sizes[0]);
  if (matrix) type = matrix_of(*element, sizes[0], sizes[1]);
  type.missing = name.optional;
  return type;
}

// What a type of other languages is called here; empty where nothing is.
std::string_view type_elsewhere(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"float", "real"},  {"double", "real"}, {"number", "real"},      {"float64", "real"}, {"integer", "int"}, {"long", "int"},
      {"int64", "int"},   {"boolean", "bool"}, {"probability", "prob"}, {"list", "vec"},     {"vector", "vec"},  {"array", "vec"},
      {"matrix", "mat"}};
  for (const auto& [other, own] : names) {
    if (other == name) return own;
  }
  return {};
}

}  // namespace

std::optional<Type> read_type(Policy& policy, const tree::TypeName& name) {
  Type type;
  if (name.name == "vec" || name.name == "mat") return read_vector_type(policy, name);
  if (const std::optional<BaseUnit> unit = unit_named(name.name)) {
    type = count(*unit);
  } else if (name.name == "bool") {
    type = plain(Base::Bool);
  } else if (name.name == "int") {
    type = plain(Base::Int);
  } else if (name.name == "real" || name.name == "prob") {
    type = plain(Base::Real);
    type.prob = name.name == "prob";
  } else if (name.name == "beta") {
    type = plain(Base::Beta);
  } else if (name.name == "prompt") {
    type = plain(Base::Prompt);
  } else {
    std::vector<std::string> names{"bool", "int", "real", "prob", "beta", "vec", "mat", "prompt"};
    for (int i = 0; i < base_unit_count; ++i) names.emplace_back(lang::name(static_cast<BaseUnit>(i)));
    const std::string_view other = type_elsewhere(name.name);
    policy.error("E0202", name.span, "there is no type " + quoted(name.name) + " here", "",
                 other.empty() ? near_help(name.name, names) : "it is called `" + std::string(other) + "` here");
    return std::nullopt;
  }
  type.optional = name.optional;
  if (name.low == tree::none) return type;
  if (!numeric(type)) {
    policy.error("E0202", name.span, "only numbers have a range");
    return std::nullopt;
  }
  const std::optional<Range> range = read_range(policy, name, type);
  if (!range) return std::nullopt;
  type.prob = type.prob || (type.base == Base::Real && type.unit.plain() && range->low >= 0 && range->high <= 1);
  return type;
}

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
  for (const tree::InputDecl& input : policy.tree.inputs) declare_input(policy, input);
}

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
    Policy inner{policy.source, policy.tree, *value, policy.diagnostics, {}, policy.unread, 0, false, {}, {}, {}, {}, 0};
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

void declare_budgets(Policy& policy) {
  std::map<BaseUnit, Span> seen;
  for (const tree::BudgetDecl& decl : policy.tree.budgets) {
    const tree::Expr& amount = policy.tree[decl.amount];
    Budget budget;
    budget.span = decl.span;
    budget.per_run = decl.period != "iteration";
    budget.carry_over = decl.carry_over;
    std::optional<BaseUnit> unit;
    Binding* const binding = amount.kind == tree::ExprKind::Name ? policy.names.find(amount.text) : nullptr;
    if (amount.kind == tree::ExprKind::Integer && !amount.unit.empty()) unit = unit_named(amount.unit);
    if (binding) binding->used = true;
    if (binding && binding->meaning == Meaning::Poison) continue;
    if (binding && binding->meaning == Meaning::Value && binding->node.type.base == Base::Int) {
      for (int i = 0; i < base_unit_count; ++i) {
        if (binding->node.type.unit == of(static_cast<BaseUnit>(i))) unit = static_cast<BaseUnit>(i);
      }
    }
    if (!unit || (*unit != BaseUnit::Rollouts && *unit != BaseUnit::Tokens && *unit != BaseUnit::Calls &&
                  *unit != BaseUnit::Seconds)) {
      policy.error("E0403", amount.span, "a budget is a number of rollouts, tokens, calls or seconds", "",
                   "for example `budget 400_000_000 tokens per run`, or a parameter of that unit");
      continue;
    }
    if (const auto it = seen.find(*unit); it != seen.end()) {
      policy.error("E0401", decl.span, "two budgets in " + std::string(name(*unit)), "", "",
                   {{it->second, "the first one"}});
      continue;
    }
    seen[*unit] = decl.span;
    Builder builder(policy);
    Expressions expressions(policy, builder, Where{});
    const std::optional<ReadArgument> argument = expressions.read_argument(decl.amount, *unit, true, false, "a budget");
    if (!argument) continue;
    budget.unit = *unit;
    budget.amount = *argument;
    policy.program.budgets.push_back(budget);
  }
}

void declare_refill(Policy& policy) {
  const std::vector<tree::RefillDecl>& decls = policy.tree.refills;
  for (std::size_t i = 1; i < decls.size(); ++i) {
    policy.error("E0401", decls[i].span, "`refill at most` is declared twice", "", "",
                 {{decls[0].span, "the first one"}});
  }
  if (decls.empty()) return;
  Builder builder(policy);
  Expressions expressions(policy, builder, Where{});
  Refill refill;
  refill.span = decls[0].span;
  // Rounds are a plain count; `Groups` only fills the place of a unit that is not asked for.
  const tree::Expr& rounds = policy.tree[decls[0].rounds];
  const std::optional<ReadArgument> argument =
      expressions.read_argument(decls[0].rounds, BaseUnit::Groups, false, false, "the number of rounds");
  if (!rounds.unit.empty()) return;
  if (argument) refill.rounds = *argument;
  refill.then = decls[0].then == "skip_update" ? RefillFallback::SkipUpdate
                : decls[0].then == "abort"     ? RefillFallback::Abort
                                               : RefillFallback::TrainPartial;
  policy.program.refill = refill;
}

void declare_hit(Policy& policy) {
  if (policy.tree.flat_within != tree::none) {
    const auto within = constant(policy, policy.tree.flat_within, plain(Base::Real), "the tolerance of `flat within`");
    if (within && within->real() < 0) {
      policy.error("E0216", policy.tree[policy.tree.flat_within].span, "a tolerance is 0 or more");
    } else if (within) {
      policy.program.flat_within = within->real();
    }
  }
  if (policy.tree.hit == tree::none) return;
  Builder builder(policy);
  Where where;
  where.hit = true;
  where.subject = Subject::Rollout;
  Expressions expressions(policy, builder, where);
  const NodeId condition = expressions.condition(policy.tree.hit);
  if (condition == poison) return;
  const Span span = policy.tree[policy.tree.hit].span;
  const Type maybe = optional(plain(Base::Bool));
  // An unscored rollout is neither hit nor miss.
  const auto read = [&](Fact fact) {
    const Type type = row(fact).type;
    const int key = builder.read({fact, {}, Scope::Single, type, std::string(row(fact).name), span});
    return builder.make(Op::Read, type, span, {}, key);
  };
  const NodeId reward =
      builder.make(Op::Coalesce, row(Fact::Reward).type, span, {read(Fact::RawReward), read(Fact::Reward)});
  const NodeId unscored = builder.make(Op::IsUndefined, plain(Base::Bool), span, {reward});
  Effect effect;
  effect.kind = EffectKind::Report;
  effect.value =
      builder.make(Op::If, maybe, span, {unscored, builder.constant(Cell::undefined(), maybe, span), condition});
  effect.span = span;
  Handler hit = std::move(builder.handler);
  hit.point = Point::Eval;
  hit.subject = Subject::Rollout;
  hit.text = "hit when " + policy.text(span);
  hit.span = policy.tree.hit_span;
  hit.effects.push_back(std::move(effect));
  policy.program.hit = std::move(hit);
}

}  // namespace allot::lang::checker
