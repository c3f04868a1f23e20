#include "lang/check/warnings.h"

#include <algorithm>
#include <utility>

#include "lang/check/range.h"
#include "lang/check/units.h"
#include "lang/cost.h"

namespace allot::lang::checker {
namespace {

bool comparison(Op op) {
  return op == Op::Less || op == Op::LessEqual || op == Op::Greater || op == Op::GreaterEqual;
}

// Both are written alike, and so have the same value, whatever it is.
bool alike(const Builder& builder, NodeId a, NodeId b) {
  const Node& x = builder[a];
  const Node& y = builder[b];
  if (x.op != y.op || x.index != y.index || x.loop >= 0 || y.loop >= 0) return false;
  if (x.op == Op::Constant && (x.cell.defined == 0 || x.type.base == Base::String || !(x.cell == y.cell))) return false;
  return std::equal(x.args.begin(), x.args.end(), y.args.begin(), y.args.end(),
                    [&](NodeId left, NodeId right) { return alike(builder, left, right); });
}

// True or false for ever, or nothing.
std::optional<bool> settled(const Builder& builder, Ranges& ranges, NodeId id) {
  const Node& node = builder[id];
  if (const std::optional<Cell> value = builder.value(id)) return value->truth();
  if (node.op == Op::Not) {
    const std::optional<bool> inner = settled(builder, ranges, node.args[0]);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (node.op == Op::And || node.op == Op::Or) {
    const bool wins = node.op == Op::Or;
    const std::optional<bool> a = settled(builder, ranges, node.args[0]);
    const std::optional<bool> b = settled(builder, ranges, node.args[1]);
    if ((a && *a == wins) || (b && *b == wins)) return wins;
    const auto denies = [&](NodeId x, NodeId y) {
      return builder[x].op == Op::Not && alike(builder, builder[x].args[0], y);
    };
    if (denies(node.args[0], node.args[1]) || denies(node.args[1], node.args[0])) return wins;
    return a && b ? std::optional(!wins) : std::nullopt;
  }
  const bool equality = node.op == Op::Equal || node.op == Op::NotEqual;
  if (!(equality || comparison(node.op)) || !numeric(builder.type(node.args[0]))) return std::nullopt;
  if (alike(builder, node.args[0], node.args[1])) {
    return node.op == Op::LessEqual || node.op == Op::GreaterEqual || node.op == Op::Equal;
  }
  Interval a = ranges.of(node.args[0]);
  Interval b = ranges.of(node.args[1]);
  if (equality) {  // of whole numbers, whose bounds are exact
    if (builder.type(node.args[0]).base != Base::Int) return std::nullopt;
    if (a.high < b.low || b.high < a.low) return node.op == Op::NotEqual;
    if (a.low == a.high && b.low == b.high && a.low == b.low) return node.op == Op::Equal;
    return std::nullopt;
  }
  if (node.op == Op::Greater || node.op == Op::GreaterEqual) std::swap(a, b);
  const bool strict = node.op == Op::Less || node.op == Op::Greater;
  if (strict ? a.high < b.low : a.high <= b.low) return true;
  if (strict ? a.low >= b.high : a.low > b.high) return false;
  return std::nullopt;
}

bool is_reward_mean(const Builder& builder, NodeId id) {
  const Node& node = builder[id];
  switch (node.op) {
    case Op::Read:
      return key_of(builder, node).fact == Fact::RewardMean;
    case Op::Assume:
    case Op::Coalesce:
      return is_reward_mean(builder, node.args[0]);
    case Op::Let:
      return is_reward_mean(builder, builder.handler.lets[static_cast<std::size_t>(node.index)].value);
    case Op::Reduce: {
      const Node& body = builder[node.args[0]];
      return node.index == static_cast<int>(Reduction::Mean) && body.op == Op::Element && body.index >= 0 &&
             (key_of(builder, body).fact == Fact::Reward || key_of(builder, body).fact == Fact::RawReward);
    }
    default:
      return false;
  }
}

struct MeanBounds {
  bool below = false;
  bool above = false;
};

void collect_bounds(const Builder& builder, NodeId id, MeanBounds& bounds) {
  const Node& node = builder[id];
  if (node.op == Op::And || node.op == Op::Or || node.op == Op::Scope || node.op == Op::Not) {
    for (const NodeId arg : node.args) collect_bounds(builder, arg, bounds);
    return;
  }
  if (!comparison(node.op)) return;
  const bool less = node.op == Op::Less || node.op == Op::LessEqual;
  if (is_reward_mean(builder, node.args[0]) && builder.value(node.args[1])) (less ? bounds.below : bounds.above) = true;
  if (is_reward_mean(builder, node.args[1]) && builder.value(node.args[0])) (less ? bounds.above : bounds.below) = true;
}

}  // namespace

void warn_of_condition(Policy& policy, const Builder& builder, Ranges& ranges, NodeId condition, Span span) {
  if (const std::optional<bool> always = settled(builder, ranges, condition)) {
    policy.warning("W0502", span, std::string("this condition is always ") + (*always ? "true" : "false"),
                   *always ? "no later rule is reached" : "this rule never answers",
                   *always ? "write `otherwise`, or leave the condition out" : "");
    return;
  }
  MeanBounds bounds;
  collect_bounds(builder, condition, bounds);
  if (bounds.below && bounds.above) {
    policy.warning("W0504", span, "a mean within a range does not show spread",
                   "a group of equal middling rewards passes as well",
                   "say `not g.flat`, or declare `hit when …` and compare `g.hit_rate`");
  }
}

void warn_of_hit(Policy& policy, const Builder& builder, Ranges& ranges, NodeId condition) {
  const Span span = policy.tree[policy.tree.hit].span;
  bool hidden = false;
  for (const tree::Expr& e : policy.tree.exprs) {
    const bool within = e.span.begin >= span.begin && e.span.end <= span.end;
    if (!within || e.kind != tree::ExprKind::Name || !find_fact(Subject::Rollout, e.text)) continue;
    const Binding* const binding = policy.names.find(e.text);
    if (!binding || binding->meaning != Meaning::Value) continue;
    hidden = true;
    if (!policy.first_time("W0104 hit", e.text)) continue;
    policy.warning("W0104", e.span, "this is the " + binding->kind + " " + quoted(e.text) + ", not that of the rollout",
                   "", "choose another name for the " + binding->kind, {{binding->span, "declared here"}});
  }
  if (hidden) return;  // with another name it says something else
  const auto& reads = builder.handler.reads;
  const bool looks = std::any_of(reads.begin(), reads.end(),
                                 [](const ReadKey& key) { return row(key.fact).subject == Subject::Rollout; });
  const std::string help = "say which reward is a hit: `reward >= 1.0`";
  if (const std::optional<bool> always = settled(builder, ranges, condition)) {
    policy.warning("W0502", span, std::string("this condition is always ") + (*always ? "true" : "false"),
                   *always ? "every scored rollout is a hit" : "no rollout is ever a hit", help);
  } else if (!looks) {
    policy.warning("W0502", span, "this is the same for every rollout", "it looks at nothing that a rollout did", help);
  }
}

namespace {

bool shaped(Fact fact) {
  switch (fact) {
    case Fact::Reward:
    case Fact::RewardMean:
    case Fact::RewardMin:
    case Fact::RewardMax:
    case Fact::RewardSum:
    case Fact::RewardVariance:
    case Fact::RewardStd:
    case Fact::Flat:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Shaped::looks(NodeId id) {
  if (id == poison) return false;
  const auto index = static_cast<std::size_t>(id);
  while (known_.size() <= index) known_.push_back(find(builder_[static_cast<NodeId>(known_.size())]));
  return known_[index];
}

bool Shaped::find(const Node& node) const {
  const auto known = [&](NodeId id) { return id != poison && known_[static_cast<std::size_t>(id)]; };
  const Handler& handler = builder_.handler;
  const bool reads = node.op == Op::Read || node.op == Op::Column || (node.op == Op::Element && node.index >= 0);
  if (reads) return shaped(key_of(builder_, node).fact);
  if (node.op == Op::Let) return known(handler.lets[static_cast<std::size_t>(node.index)].value);
  if (node.loop >= 0 && known(handler.loops[static_cast<std::size_t>(node.loop)].source)) return true;
  return std::any_of(node.args.begin(), node.args.end(), known);
}

void warn_of_shaped(Policy& policy, Shaped& shaped, NodeId condition, Span span, Point point, const std::string& handler) {
  const bool gate = point == Point::Result || point == Point::Wave || point == Point::Finish || point == Point::Resume;
  const tree::Handler* score = nullptr;
  for (const tree::Handler& each : policy.tree.handlers) {
    if (each.point == "score") score = &each;
  }
  if (!gate || !score || !shaped.looks(condition) || !policy.first_time("W0505", handler)) return;
  policy.warning("W0505", span, "this looks at rewards that are shaped already",
                 "it judges the shaping, not the task",
                 "look at what the environment gave: `g.raw_rewards`, or `g.hit_rate` with a `hit` condition",
                 {{score->point_span, "they are changed here"}});
}

void warn_of_cost(Policy& policy, const Handler& handler, int depth, Span point) {
  constexpr int bearable = 3;  // what the eigenvalues of one matrix cost
  // One loop reaches further only over what is two-dimensional itself; most handlers are done here.
  const auto wide = [](const Node& node) { return node.type.matrix() || node.type.scope == Scope::AllTurns; };
  const bool may = depth > 1 || (depth == 1 && std::any_of(handler.nodes.begin(), handler.nodes.end(), wide));
  if (!may || policy.diagnostics.has_errors()) return;
  const Polynomial cost = worst_cost(handler);
  if (cost.degree() <= bearable) return;
  policy.warning("W0506", point, "one call of this can take " + cost.text() + " evaluations",
                 std::to_string(cost.at(usual_sizes)) + " at the sizes of `allot check --max-cost`",
                 "compute the inner part once, outside of the loop, and name it with `let`");
}

void warn_of_unused(Policy& policy) {
  for (const tree::ImportDecl& import : policy.tree.imports) {
    bool used = false;
    for (const tree::Member& member : policy.tree.members) used = used || member.name.text == import.alias.text;
    for (std::size_t i = 0; i < policy.names.function_used.size(); ++i) {
      const std::string& name = policy.tree.functions[i].name.text;
      used = used || (policy.names.function_used[i] && name.starts_with(import.alias.text + "."));
    }
    if (!used) {
      policy.warning("W0501", import.alias.span, "nothing of the file " + quoted(import.alias.text) + " is used", "",
                     "remove the import");
    }
  }
  for (const Binding& binding : policy.names.all()) {
    if (binding.used || binding.meaning == Meaning::Poison) continue;
    if (binding.kind != "parameter" && binding.kind != "let" && binding.kind != "state" &&
        binding.kind != "input") {
      continue;
    }
    policy.warning("W0501", binding.span, binding.kind + " " + quoted(binding.name) + " is never used", "",
                   "remove it");
  }
  for (std::size_t i = 0; i < policy.names.function_used.size(); ++i) {
    const tree::Name& name = policy.tree.functions[i].name;
    if (!policy.names.function_used[i] && !policy.tree.functions[i].imported) {
      policy.warning("W0501", name.span, "function " + quoted(name.text) + " is never used", "", "remove it");
    }
  }
}

}  // namespace allot::lang::checker
