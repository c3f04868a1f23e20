// Statistics of actions and draws: written as calls, read as facts with arguments, so that the engine knows before the
// run what to keep.
#include <algorithm>
#include <array>

#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

enum class Shape {
  Pairwise,  // (distance, prefixes(g.actions, K, padding))
  Unique,    // (prefixes(g.actions, K, padding)) or (actions_at(g.actions, K))
  At,        // (actions_at(g.actions, K))
  Entropy,   // (actions_at(g.actions, K), unit)
  Turn,      // (g.actions, K)
  OfRollout  // (r.actions, n)
};

struct StatisticRow {
  std::string_view name;
  Shape shape;
  Fact fact;
  std::string_view form;  // shown when it is called otherwise
};

constexpr std::array statistics{
    StatisticRow{"mean_pairwise", Shape::Pairwise, Fact::PairwiseMean,
                 "mean_pairwise(normalized_edit_distance, prefixes(g.actions, 10, padded))"},
    StatisticRow{"min_pairwise", Shape::Pairwise, Fact::PairwiseMin,
                 "min_pairwise(edit_distance, prefixes(g.actions, 10, padded))"},
    StatisticRow{"max_pairwise", Shape::Pairwise, Fact::PairwiseMax,
                 "max_pairwise(edit_distance, prefixes(g.actions, 10, padded))"},
    StatisticRow{"unique_ratio", Shape::Unique, Fact::UniquePrefixRatio,
                 "unique_ratio(prefixes(g.actions, 10, padded)) or unique_ratio(actions_at(g.actions, 10))"},
    StatisticRow{"agreement", Shape::At, Fact::Agreement, "agreement(actions_at(g.actions, 10))"},
    StatisticRow{"entropy", Shape::Entropy, Fact::ActionEntropy, "entropy(actions_at(g.actions, 10), bits)"},
    StatisticRow{"finished_fraction", Shape::Turn, Fact::FinishedFraction, "finished_fraction(g.actions, 10)"},
    StatisticRow{"repetition", Shape::OfRollout, Fact::Repetition, "repetition(r.actions, 3)"},
    StatisticRow{"loop", Shape::OfRollout, Fact::Loop, "loop(r.actions, 2)"},
};

const StatisticRow* find(std::string_view name) {
  for (const StatisticRow& row : statistics) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

bool is_statistic(std::string_view name) {
  return find(name) != nullptr;
}

std::optional<ReadArgument> Expressions::word(tree::ExprId id, const std::vector<std::string>& choices) {
  const tree::Expr& e = expr(id);
  ReadArgument argument;
  argument.kind = ReadArgument::Kind::Word;
  argument.word = e.text;
  if (e.kind == tree::ExprKind::Name && std::find(choices.begin(), choices.end(), e.text) != choices.end()) {
    return argument;
  }
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + quoted(choices[i]);
  }
  const std::string near = e.kind == tree::ExprKind::Name ? near_help(e.text, choices) : std::string();
  policy_.error("E0317", e.span, "one of the words " + list + " is expected here", "", near);
  return std::nullopt;
}

std::optional<ReadArgument> Expressions::read_argument(tree::ExprId id, BaseUnit unit, bool unit_needed,
                                                       bool current_turn, std::string_view what) {
  const tree::Expr& e = expr(id);
  const std::string unit_name(lang::name(unit));
  const std::string fix = "say a literal" + std::string(current_turn ? ", `g.turn`" : "") +
                          " or a parameter: `param at: " + unit_name + " = 10`";
  ReadArgument argument;
  if (e.kind == tree::ExprKind::Integer || (e.kind == tree::ExprKind::Unary && e.op == "-")) {
    const NodeId node = check(id);
    if (node == poison) return std::nullopt;
    const std::optional<Cell> value = builder_.value(node);
    if (value && type(node).base == Base::Int) {
      if (!type(node).unit.plain() && !(type(node).unit == of(unit))) {
        policy_.error("E0215", e.span,
                      std::string(what) + " is counted in " + unit_name + ", not in " + to_text(type(node).unit));
        return std::nullopt;
      }
      if (value->integer() < 1) {
        policy_.error("E0306", e.span, std::string(what) + " is at least 1", "", "");
        return std::nullopt;
      }
      argument.integer = value->integer();
      return argument;
    }
  }
  if (e.kind == tree::ExprKind::Name) {
    Binding* const binding = policy_.names.find(e.text);
    if (!binding) {
      unknown_name(id);
      return std::nullopt;
    }
    binding->used = true;
    if (binding->meaning == Meaning::Poison) return std::nullopt;
    if (binding->meaning == Meaning::Value && binding->node.op == Op::Parameter) {
      const Type& given = binding->node.type;
      const bool unit_fits = given.unit == of(unit) || (!unit_needed && given.unit.plain());
      if (given.base != Base::Int || !unit_fits) {
        policy_.error("E0215", e.span,
                      std::string(what) + " is counted in " + unit_name + ", not in " + describe(given),
                      quoted(e.text) + " is " + describe(given),
                      "declare it as `param " + e.text + ": " + unit_name + "`", {{binding->span, "declared here"}});
        return std::nullopt;
      }
      argument.kind = ReadArgument::Kind::Parameter;
      argument.integer = binding->node.index;
      const Parameter& parameter = policy_.program.parameters[static_cast<std::size_t>(binding->node.index)];
      if (parameter.value.integer() < 1) {
        policy_.error("E0306", e.span, std::string(what) + " is at least 1",
                      quoted(e.text) + " is " + std::to_string(parameter.value.integer()), "",
                      {{parameter.span, "declared here"}});
        return std::nullopt;
      }
      return argument;
    }
  }
  if (current_turn && e.kind == tree::ExprKind::Field && e.text == "turn") {
    const Binding* const owner = subject(e.args[0]);
    if (owner && owner->subject == Subject::Group) {
      argument.kind = ReadArgument::Kind::CurrentTurn;
      return argument;
    }
  }
  policy_.error("E0313", e.span, std::string(what) + " must be known before the run",
                current_turn ? "anything else would mean recomputing at every turn" : "not a literal or a parameter",
                fix);
  return std::nullopt;
}

// `g.actions` or `r.actions` of the right owner.
const Binding* Expressions::actions(tree::ExprId id, Subject owner) {
  const tree::Expr& e = expr(id);
  if (e.kind == tree::ExprKind::Field && e.text == "actions") {
    const Binding* const binding = subject(e.args[0]);
    if (binding && binding->subject == owner) return binding;
  }
  policy_.error(
      "E0318", e.span,
      std::string("the actions of a ") + (owner == Subject::Group ? "group" : "rollout") + " are expected here", "",
      owner == Subject::Group                   ? "write `" + policy_.variable(owner) + ".actions`"
      : policy_.names.innermost(Subject::Rollout) ? "write `" + policy_.variable(owner) + ".actions`"
                                                  : "write `r.actions`, with r from a comprehension over `g.rollouts`");
  return nullptr;
}

NodeId Expressions::statistic(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const StatisticRow& row = *find(e.text);
  const auto misshaped = [&](Span span) {
    policy_.error("E0318", span, quoted(e.text) + " is not called like this", "",
                  "write `" + std::string(row.form) + "`");
    return poison;
  };
  const auto is_call = [&](tree::ExprId arg, std::string_view name, std::size_t count) {
    const tree::Expr& a = expr(arg);
    return a.kind == tree::ExprKind::Call && a.text == name && a.args.size() == count;
  };
  if (row.shape == Shape::OfRollout || row.shape == Shape::Turn) {
    if (e.args.size() != 2) return misshaped(e.span);
    const Binding* const owner = actions(e.args[0], row.shape == Shape::Turn ? Subject::Group : Subject::Rollout);
    const std::optional<ReadArgument> length =
        row.shape == Shape::Turn ? read_argument(e.args[1], BaseUnit::Turns, true, true, "the turn of a statistic")
                                 : read_argument(e.args[1], BaseUnit::Turns, false, false, "the length of a statistic");
    if (!owner || !length) return poison;
    return fact(lang::row(row.fact), owner, id, {*length});
  }
  std::vector<ReadArgument> arguments;
  std::size_t inner_at = 0;
  bool poisoned = false;
  if (row.shape == Shape::Pairwise) {
    if (e.args.size() != 2) return misshaped(e.span);
    const auto distance = word(e.args[0], {"edit_distance", "normalized_edit_distance", "bigram_jaccard"});
    if (distance) arguments.push_back(*distance);
    poisoned = !distance;
    inner_at = 1;
  } else if (e.args.size() != (row.shape == Shape::Entropy ? 2U : 1U)) {
    return misshaped(e.span);
  }
  const tree::ExprId inner = e.args[inner_at];
  const bool prefixes = is_call(inner, "prefixes", 3);
  const bool at = is_call(inner, "actions_at", 2);
  if (expr(inner).kind == tree::ExprKind::Call && expr(inner).text == "prefixes" && expr(inner).args.size() == 2) {
    const std::string text = policy_.text(inner);
    const std::string open = text.substr(0, text.size() - 1);
    policy_.error("E0318", expr(inner).span, "`prefixes` needs to know how short ones are treated", "",
                  "write `" + open + ", padded)`, where a rollout that ended is filled up with END, or `" + open +
                      ", unpadded)`");
    return poison;
  }
  const bool fits = row.shape == Shape::Pairwise ? prefixes : row.shape == Shape::Unique ? prefixes || at : at;
  if (!fits) return misshaped(expr(inner).span);
  const Binding* const owner = actions(expr(inner).args[0], Subject::Group);
  const auto length = read_argument(expr(inner).args[1], BaseUnit::Turns, true, true,
                                    prefixes ? "a prefix length" : "the turn of a statistic");
  if (length) arguments.push_back(*length);
  if (prefixes) {
    const auto padding = word(expr(inner).args[2], {"padded", "unpadded"});
    if (padding) arguments.push_back(*padding);
    poisoned = poisoned || !padding;
  }
  if (row.shape == Shape::Entropy) {
    const auto unit = word(e.args[1], {"bits", "nats", "normalized"});
    if (unit) arguments.push_back(*unit);
    poisoned = poisoned || !unit;
  }
  if (poisoned || !owner || !length) return poison;
  const bool by_action = row.shape == Shape::Unique && at;
  return fact(lang::row(by_action ? Fact::UniqueActionRatio : row.fact), owner, id, std::move(arguments));
}

NodeId Expressions::draw(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  ReadArgument name;
  name.kind = ReadArgument::Kind::Word;
  if (e.args.empty()) {
    if (policy_.unnamed_draw && policy_.unnamed_draw->begin != e.span.begin) {
      policy_.error("E0314", e.span, "two draws without a name would give the same number", "",
                    "name them: `draw(\"keep\")`", {{*policy_.unnamed_draw, "the other one"}});
      return poison;
    }
    policy_.unnamed_draw = e.span;
  } else {
    const tree::Expr& arg = expr(e.args[0]);
    bool constant = e.args.size() == 1 && arg.kind == tree::ExprKind::String;
    for (const tree::StringPart& part : arg.parts) {
      constant = constant && part.hole == tree::none;
      name.word += part.text;
    }
    if (arg.parts.empty()) name.word = arg.text;
    if (!constant) {
      policy_.error("E0318", e.span, "`draw` takes one name in quotes", "", "write `draw(\"keep\")`");
      return poison;
    }
  }
  // Within a walk over rollouts or groups every element has a draw of its own.
  const Binding* owner = nullptr;
  for (const Binding& binding : policy_.names.all()) {
    if (binding.meaning == Meaning::Subject && binding.scope != Scope::Single &&
        policy_.names.find(binding.name) == &binding) {
      owner = &binding;
    }
  }
  return fact(lang::row(Fact::Draw), owner, id, {name});
}

}  // namespace allot::lang::checker
