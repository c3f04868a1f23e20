// The statements of one handler.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "lang/check/handlers.h"
#include "lang/check/units.h"
#include "lang/check/warnings.h"
#include "lang/limits.h"

namespace allot::lang::checker {
namespace {

Where where_of(const PointRow& point) {
  Where where;
  where.point = point.point;
  where.subject = point.subject;
  return where;
}

// Whether one of these nodes, or of what they are made of however deep, is such.
template <typename Is>
bool any_within(const Builder& builder, std::vector<NodeId> open, const Is& is) {
  const Handler& handler = builder.handler;
  std::set<NodeId> seen(open.begin(), open.end());
  const auto reach = [&](NodeId id) {
    if (id != poison && seen.insert(id).second) open.push_back(id);
  };
  while (!open.empty()) {
    const Node& node = builder[open.back()];
    open.pop_back();
    if (is(node)) return true;
    for (const NodeId arg : node.args) reach(arg);
    if (node.op == Op::Let) reach(handler.lets[static_cast<std::size_t>(node.index)].value);
    if (node.loop >= 0) reach(handler.loops[static_cast<std::size_t>(node.loop)].source);
  }
  return false;
}

// Other than by overflow, which nobody counts on.
bool may_fault(const Builder& builder, const Node& node) {
  switch (node.op) {
    case Op::Call:
    case Op::Allot:
    case Op::At:
    case Op::Align:
      return true;
    case Op::Divide:
    case Op::Modulo: {
      const std::optional<Cell> by = builder.value(node.args[1]);
      if (!by || by->defined == 0) return true;
      return builder.type(node.args[1]).base == Base::Int ? by->integer() == 0 : !(std::abs(by->real()) > 0);
    }
    default:
      return false;
  }
}

// Whether anything that was made after `node` looks at the state, be it through a `let` from before: that one is computed
// where it is first used.
bool looked_at_since(const Builder& builder, NodeId node, std::int32_t state) {
  std::vector<NodeId> later(builder.handler.nodes.size() - static_cast<std::size_t>(node) - 1);
  std::iota(later.begin(), later.end(), node + 1);
  return any_within(builder, std::move(later),
                    [&](const Node& each) { return each.op == Op::State && each.index == state; });
}

}  // namespace

HandlerChecker::HandlerChecker(Policy& policy, const tree::Handler& handler, const PointRow& point,
                               std::optional<ReadArgument> number)
    : policy_(policy),
      tree_(handler),
      point_(point),
      builder_(policy),
      expressions_(policy, builder_, where_of(point)) {
  builder_.handler.point = point.point;
  builder_.handler.number = std::move(number);
  builder_.handler.ahead_runs = handler.ahead_runs;
}

Handler HandlerChecker::check() {
  policy_.names.enter(false);
  Binding subject;
  subject.meaning = Meaning::Subject;
  subject.kind = "variable";
  subject.name = tree_.variable.text;
  subject.span = tree_.variable.span;
  subject.subject = where_of(point_).subject;
  subject.used = true;
  expressions_.declare(std::move(subject));
  keys();
  std::vector<Effect> effects;
  for (const tree::Statement& s : tree_.statements) statement(s, effects, nullptr, 0);
  if (point_.point == Point::Size && builder_.handler.rules.empty()) {
    policy_.error("E0304", tree_.point_span, "`size` must say how many rollouts a prompt gets", "",
                  "write `start 8 each`");
  }
  if (point_.point == Point::Select && builder_.handler.rules.empty()) {
    policy_.error("E0304", tree_.point_span, "`select` must say which prompts are drawn", "",
                  "write `take " + tree_.variable.text + ".slots`");
  }
  policy_.names.leave();
  Handler result = std::move(builder_.handler);
  result.subject = where_of(point_).subject;
  result.every = tree_.every;
  // With `by KEYS`, up to the block: spans of expressions leave out brackets that close after them.
  Span head = tree_.point_span;
  if (!tree_.keys.empty()) head.end = static_cast<std::uint32_t>(policy_.source.text().find('{', head.end));
  result.text = policy_.text(head);
  result.span = tree_.span;
  result.effects = std::move(effects);
  warn_of_cost(policy_, result, builder_.deepest_loop(), tree_.point_span);
  return result;
}

void HandlerChecker::statement(const tree::Statement& s, std::vector<Effect>& effects, std::vector<std::int32_t>* owned,
                               int depth) {
  using tree::StatementKind;
  switch (s.kind) {
    case StatementKind::Let:
      expressions_.let(s.name, s.value, owned);
      return;
    case StatementKind::When:
    case StatementKind::Otherwise:
    case StatementKind::Bare:
      if (point_.actions.empty() || depth > 0) {
        policy_.error("E0304", s.span,
                      "nothing is decided " + (depth > 0 ? "in a walk" : "at " + quoted(point_.name)),
                      "a rule cannot stand here",
                      point_.point == Point::Epoch
                          ? "a rule of `epoch` is about all prompts: `evict where q.seen until epoch + 1`"
                          : "at a barrier write `remember`, `report`, `warn when` or `for each`");
        return;
      }
      rule(s);
      return;
    default:
      break;
  }
  if (point_.point == Point::Loss) {
    policy_.error("E0326", s.span, "a loss has no effects", "it is asked of every token, by several threads at once",
                  "at `shape` or `update` write `report` and `warn when`");
    return;
  }
  expressions_.in_effect(true);
  switch (s.kind) {
    case StatementKind::Remember:
      remember(s, effects);
      break;
    case StatementKind::Report:
      report(s, effects);
      break;
    case StatementKind::Warn:
      warn(s, effects);
      break;
    case StatementKind::ForEach:
      for_each(s, effects, depth);
      break;
    default:
      break;
  }
  expressions_.in_effect(false);
}

// The same condition as an earlier rule's: that one has answered already.
void HandlerChecker::condition_again(const tree::Statement& s) {
  const Span span = policy_.tree[s.condition].span;
  const std::string text = policy_.text(span);
  for (const auto& [earlier, where] : conditions_) {
    if (earlier != text) continue;
    policy_.warning("W0503", span, "an earlier rule has the same condition", "this rule never answers", "",
                    {{where, "the earlier one"}});
    return;
  }
  conditions_.emplace_back(text, span);
}

void HandlerChecker::rule(const tree::Statement& s) {
  using tree::StatementKind;
  const bool conditional = s.kind == StatementKind::When;
  if (closed_) {
    policy_.error("E0307", s.span, "this rule is never reached", "", "put it before the other one",
                  {{*closed_, "this one always answers"}});
  }
  Rule rule;
  rule.span = s.span;
  rule.line = policy_.source.place(s.span.begin).line;
  bool broken = false;
  std::size_t mark = expressions_.narrow({});
  if (conditional) {
    rule.condition = expressions_.condition(s.condition);
    broken = rule.condition == poison;
    if (!broken) {
      const Span span = policy_.tree[s.condition].span;
      warn_of_condition(policy_, builder_, expressions_.ranges(), rule.condition, span);
      warn_of_shaped(policy_, shaped_, rule.condition, span, point_.point, policy_.place(tree_.point_span));
    }
    condition_again(s);
    mark = expressions_.narrow(expressions_.defined_when(s.condition, true));
  } else {
    closed_ = s.span;
  }
  rule.verdict = verdict(s.verdict);
  rule.because = expressions_.message(s.verdict.because, builder_.handler.hole_count);
  expressions_.widen(mark);
  if (conditional) {
    expressions_.narrow(expressions_.defined_when(s.condition, false), policy_.tree[s.condition].span);
  }
  if (!broken) builder_.handler.rules.push_back(std::move(rule));
}

bool HandlerChecker::may_remember(const tree::Statement& s, const State& state, const Binding& binding) {
  const bool at_barrier = barrier(point_.point);
  if (state.scope == StateScope::Group) {
    if (!at_barrier && point_.subject == Subject::Group) return true;
    policy_.error("E0311", s.span, quoted(state.name) + " is state per group: its group's handlers write it", "",
                  "write it in a handler of a group, or keep it per prompt", {{binding.span, "declared here"}});
    return false;
  }
  if (at_barrier) return true;
  const std::string per(scope_word(state.scope));
  policy_.error(
      "E0310", s.span, quoted(state.name) + " is state per " + per + ": it is written at a barrier only",
      "groups finish in any order, and that must not matter",
      state.keyed() ? "write  on update of batch b { for each g in b.ended { remember " + state.name + "[g." + per +
                          "] = … } }"
                    : "write  on update of batch b { remember " + state.name + " = … }",
      {{binding.span, "declared here"}});
  return false;
}

void HandlerChecker::remember(const tree::Statement& s, std::vector<Effect>& effects) {
  const tree::Expr& target = policy_.tree[s.target];
  const bool keyed = target.kind == tree::ExprKind::Index;
  const tree::Expr& named = keyed ? policy_.tree[target.args[0]] : target;
  Binding* const binding = named.kind == tree::ExprKind::Name ? policy_.names.find(named.text) : nullptr;
  if (!binding || binding->meaning != Meaning::State) {
    if (binding && binding->meaning == Meaning::Poison) {
      binding->used = true;
    } else if (binding) {
      policy_.error("E0109", target.span, "only state can be remembered", quoted(named.text) + " is a " + binding->kind,
                    "", {{binding->span, "declared here"}});
    } else {
      std::vector<std::string> states;
      for (const State& state : policy_.program.states) states.push_back(state.name);
      policy_.error("E0101", named.span, "there is no state " + quoted(policy_.text(named.span)), "",
                    near_help(named.text, states));
    }
    expressions_.check(s.value);
    return;
  }
  binding->used = true;
  const State& state = policy_.program.states[static_cast<std::size_t>(binding->state)];
  if (state.input) {
    policy_.error("E0109", target.span, "only state can be remembered", quoted(state.name) + " is what the host supplies",
                  "keep state of your own beside it", {{binding->span, "declared here"}});
    return;
  }
  if (!may_remember(s, state, *binding)) return;
  Effect effect;
  effect.kind = EffectKind::Remember;
  effect.index = binding->state;
  effect.span = s.span;
  const std::string per(scope_word(state.scope));
  if (state.keyed() != keyed) {
    policy_.error("E0319", target.span, quoted(state.name) + " is state per " + per,
                  keyed ? "there is one alone" : "whose?",
                  keyed ? "write `remember " + state.name + " = …`"
                        : "say whose: `remember " + state.name + "[" + policy_.owner(per) + "] = …`",
                  {{binding->span, "declared here"}});
    return;
  }
  if (keyed) {
    const Base key = state.scope == StateScope::Category ? Base::Category : Base::Prompt;
    effect.key = expressions_.check_as(target.args[1], plain(key), "the key of state per " + per);
    if (effect.key == poison) return;
  }
  effect.value = expressions_.check_as(s.value, state.type, "state " + quoted(state.name));
  if (state.low) effect.value = expressions_.refine(effect.value, s.value, *state.low, *state.high, "state " + quoted(state.name));
  if (effect.value == poison) return;
  written_twice(effect, effects, quoted(policy_.text(s.target)));
  effects.push_back(std::move(effect));
}

// Effects run in order, and the second wins: unless it faults, or the first was of use before. At a barrier what stands
// after a write sees it, also the value of the next one; a group's handler sees the state as it was before all of them.
void HandlerChecker::written_twice(const Effect& effect, const std::vector<Effect>& before, const std::string& what) {
  const auto key = [&](const Effect& e) { return e.key < 0 ? std::string() : policy_.text(builder_[e.key].span); };
  const auto first = std::find_if(before.rbegin(), before.rend(), [&](const Effect& e) {
    return e.kind == effect.kind && e.index == effect.index && key(e) == key(effect);
  });
  if (first == before.rend()) return;
  const bool faults = builder_.type(effect.value).vector() ||  // remembered whole or not at all
                      any_within(builder_, {effect.value}, [&](const Node& node) { return may_fault(builder_, node); });
  if (faults) return;
  const bool seen = effect.kind == EffectKind::Remember && barrier(point_.point) &&
                    looked_at_since(builder_, first->value, effect.index);
  if (seen) return;
  policy_.warning("W0508", first->span, what + " is written twice, and this is lost", "", "keep one of the two",
                  {{effect.span, "it is written again here"}});
}

void HandlerChecker::report(const tree::Statement& s, std::vector<Effect>& effects) {
  const NodeId value = expressions_.check(s.value);
  if (value == poison) return;
  const Type& type = builder_.type(value);
  if (type.vector() || type.base == Base::Prompt || type.base == Base::Category || type.base == Base::Beta) {
    policy_.error(type.vector() ? "E0221" : "E0204", policy_.tree[s.value].span,
                  "a report is one number, or true or false", "this is " + describe(type),
                  type.vector() ? "report one figure of it: `mean(…)`" : "");
    return;
  }
  std::vector<std::string>& names = policy_.program.reports;
  auto it = std::find(names.begin(), names.end(), s.name.text);
  if (it == names.end()) it = names.insert(it, s.name.text);
  Effect effect;
  effect.kind = EffectKind::Report;
  effect.index = static_cast<std::int32_t>(it - names.begin());
  effect.value = value;
  effect.span = s.span;
  if (!type.optional) written_twice(effect, effects, quoted(s.name.text));  // an undefined one is not written
  effects.push_back(std::move(effect));
}

void HandlerChecker::warn(const tree::Statement& s, std::vector<Effect>& effects) {
  const NodeId condition = expressions_.condition(s.condition);
  const std::size_t mark = expressions_.narrow(expressions_.defined_when(s.condition, true));
  Effect effect;
  effect.kind = EffectKind::Warn;
  effect.because = expressions_.message(s.verdict.because, builder_.handler.hole_count);
  expressions_.widen(mark);
  if (condition == poison) return;
  effect.value = condition;
  effect.span = s.span;
  effect.index = static_cast<std::int32_t>(policy_.program.warnings.size());
  policy_.program.warnings.push_back("warn:" + std::to_string(policy_.source.place(s.span.begin).line));
  effects.push_back(std::move(effect));
}

void HandlerChecker::for_each(const tree::Statement& s, std::vector<Effect>& effects, int depth) {
  if (!barrier(point_.point)) {
    policy_.error("E0304", s.span, "`for each` stands at barriers only", "",
                  "for a figure over rollouts write `sum(r.tokens for r in g.rollouts)`");
    return;
  }
  if (depth >= limits.loops) {
    policy_.error("E0007", s.span, "loops nested more than " + std::to_string(limits.loops) + " deep");
    return;
  }
  Effect effect;
  effect.kind = EffectKind::ForEach;
  effect.span = s.span;
  effect.loop = expressions_.open_loop(s.value, s.name);
  for (const tree::Statement& inner : s.body) {
    expressions_.in_effect(true);
    builder_.within_loops(depth + 1);
    statement(inner, effect.body, &effect.owned, depth + 1);
  }
  builder_.within_loops(depth);
  policy_.names.leave();
  if (effect.loop != -1) effects.push_back(std::move(effect));
}

// A `let` is computed when a rule or an effect needs it, at most once for each call, or for each turn of its loop.
void Expressions::let(const tree::Name& name, tree::ExprId value, std::vector<std::int32_t>* owned) {
  const std::optional<Span> outer = std::exchange(relies_on_, std::nullopt);
  const bool effect = std::exchange(in_effect_, owned != nullptr);
  const NodeId node = check(value);
  in_effect_ = effect;
  Binding binding;
  binding.kind = "let";
  binding.name = name.text;
  binding.span = name.span;
  binding.relies_on = std::exchange(relies_on_, outer);
  if (node == poison) {
    binding.meaning = Meaning::Poison;
  } else {
    binding.node.op = Op::Let;
    binding.node.type = type(node);
    binding.node.index = builder_.let(name.text, node);
    if (owned) owned->push_back(binding.node.index);
  }
  const Binding* const other = policy_.names.find(name.text);
  if (other && other->kind == "let") {
    policy_.error("E0102", name.span, quoted(name.text) + " is declared twice", "this is the second `let`", "",
                  {{other->span, "the first one"}});
    return;
  }
  declare(std::move(binding));
}

}  // namespace allot::lang::checker
