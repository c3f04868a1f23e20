#include "lang/compose/join.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lang/compose/renumber.h"

namespace allot::lang::compose {
namespace {

Type truth() {
  Type type;
  type.base = Base::Bool;
  return type;
}

std::vector<std::int32_t> merge_keys(std::vector<ReadKey>& into, const std::vector<ReadKey>& from) {
  std::vector<std::int32_t> table;
  for (const ReadKey& key : from) {
    const auto it = std::find_if(into.begin(), into.end(), [&](const ReadKey& each) {
      return each.fact == key.fact && each.scope == key.scope && each.arguments == key.arguments &&
             each.type == key.type;
    });
    table.push_back(static_cast<std::int32_t>(it - into.begin()));
    if (it == into.end()) into.push_back(key);
  }
  return table;
}

template <typename T>
void append(std::vector<T>& into, std::vector<T>& from) {
  into.insert(into.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

class Joiner {
 public:
  explicit Joiner(Handler first) : joined_(std::move(first)) {}

  Handler run(Handler second) {
    Renumber by;
    by.nodes = static_cast<NodeId>(joined_.nodes.size());
    by.loops = static_cast<std::int32_t>(joined_.loops.size());
    by.allotments = static_cast<std::int32_t>(joined_.allotments.size());
    by.lets = static_cast<std::int32_t>(joined_.lets.size());
    by.reads = merge_keys(joined_.reads, second.reads);
    by.columns = merge_keys(joined_.columns, second.columns);
    renumber(second, by);
    append(joined_.nodes, second.nodes);
    append(joined_.loops, second.loops);
    append(joined_.lets, second.lets);
    append(joined_.allotments, second.allotments);
    append(joined_.effects, second.effects);
    if (joined_.keys == -1) joined_.keys = second.keys;
    joined_.ahead_runs = joined_.ahead_runs && second.ahead_runs;
    for (const ReadArgument& number : second.numbers_too) joined_.numbers_too.push_back(number);
    for (Rule& rule : joined_.rules) rule.members = members(rule, joined_);
    for (Rule& rule : second.rules) rule.members = members(rule, second);
    pair_rules(second.rules);
    return std::move(joined_);
  }

 private:
  NodeId add(Op op, Type type, Span span, std::vector<NodeId> args, std::int32_t index = -1, std::int32_t loop = -1) {
    Node node;
    node.op = op;
    node.type = type;
    node.span = span;
    node.args = std::move(args);
    node.index = index;
    node.loop = loop;
    joined_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(joined_.nodes.size()) - 1;
  }
  const Node& at(NodeId id) const { return joined_.nodes[static_cast<std::size_t>(id)]; }

  // A condition stands in many pairs, and is computed once.
  void name_conditions(std::vector<Rule>& rules) {
    for (Rule& rule : rules) {
      if (rule.condition == -1) continue;
      const Span span = at(rule.condition).span;
      joined_.lets.push_back({"when", rule.condition});
      rule.condition =
          add(Op::Let, truth(), span, {}, static_cast<std::int32_t>(joined_.lets.size()) - 1);
    }
  }

  void pair_rules(std::vector<Rule>& second) {
    std::vector<Rule> first = std::move(joined_.rules);
    joined_.rules.clear();
    if (first.empty() || second.empty()) {
      joined_.rules = std::move(first.empty() ? second : first);
      count_holes();
      return;
    }
    name_conditions(first);
    name_conditions(second);
    const auto always = [](const std::vector<Rule>& rules) { return rules.back().condition == -1; };
    for (const Rule& a : first) {
      for (const Rule& b : second) joined_.rules.push_back(pair(a, b));
      if (!always(second)) joined_.rules.push_back(a);
    }
    if (!always(first)) joined_.rules.insert(joined_.rules.end(), second.begin(), second.end());
    count_holes();
  }

  void count_holes() {
    const auto holes = [](const std::vector<MessagePart>& parts) {
      return static_cast<int>(
          std::count_if(parts.begin(), parts.end(), [](const MessagePart& part) { return part.hole >= 0; }));
    };
    for (const Rule& rule : joined_.rules) joined_.hole_count = std::max(joined_.hole_count, holes(rule.because));
    for (const Effect& effect : joined_.effects) {
      joined_.hole_count = std::max(joined_.hole_count, holes(effect.because));
    }
  }

  Rule pair(const Rule& a, const Rule& b) {
    Rule rule = a;
    if (a.condition == -1) {
      rule.condition = b.condition;
    } else if (b.condition != -1) {
      rule.condition = add(Op::And, truth(), at(a.condition).span, {a.condition, b.condition});
    }
    rule.verdict = both(a.verdict, b.verdict, a.span);
    rule.members.insert(rule.members.end(), b.members.begin(), b.members.end());
    // Each rule counts that says anything, so that none of the two is told to have decided what it did not.
    const bool second_says = says(b.verdict) || !b.because.empty();
    if (!second_says) return rule;
    const bool first_says = says(a.verdict) || !a.because.empty();
    rule.origins = first_says ? origins(a) : std::vector<Span>();
    for (const Span origin : origins(b)) rule.origins.push_back(origin);
    if (!first_says) {
      rule.span = b.span;
      rule.line = b.line;
    }
    if (!rule.because.empty() && !b.because.empty()) rule.because.push_back({"; ", -1});
    rule.because.insert(rule.because.end(), b.because.begin(), b.because.end());
    return rule;
  }

  static std::vector<Span> origins(const Rule& rule) {
    return rule.origins.empty() ? std::vector<Span>{rule.span} : rule.origins;
  }

  static std::vector<MemberRule> members(const Rule& rule, const Handler& handler) {
    return rule.members.empty() ? std::vector<MemberRule>{{rule.span, handler.span}} : rule.members;
  }

  // Whether a verdict says anything beyond what happens anyway.
  static bool says(const VerdictTemplate& verdict) {
    return settles_rollouts(verdict) || settles_group(verdict) || verdict.normalize != Normalize::Default ||
           verdict.slot == SlotField::Refill || verdict.prompt != PromptField::Default || verdict.readmits ||
           verdict.take != Take::None || verdict.amount >= 0 || verdict.subset >= 0;
  }

  // `continue`, `train` and `leave` are what happens anyway: they leave a field open to those who come later.
  static bool settles_rollouts(const VerdictTemplate& verdict) {
    return verdict.rollouts != RolloutsField::Default && verdict.rollouts != RolloutsField::Continue;
  }
  static bool settles_group(const VerdictTemplate& verdict) {
    return verdict.group == GroupField::Drop || verdict.group == GroupField::Defer;
  }

  VerdictTemplate both(const VerdictTemplate& a, const VerdictTemplate& b, Span span) {
    switch (joined_.point) {
      case Point::Select: return selection(a, b, span);
      case Point::Replay: return a.amount >= 0 ? a : b;
      default: break;
    }
    VerdictTemplate result = a;
    // A group that is dropped, deferred or stopped is done: nobody has it started again.
    const bool done = settles_group(a) || a.rollouts == RolloutsField::Stop;
    const bool starts = b.rollouts == RolloutsField::SampleMore || b.rollouts == RolloutsField::CompleteTo;
    if (!settles_rollouts(a) && b.rollouts != RolloutsField::Default && !(done && starts)) {
      result.rollouts = b.rollouts;
      result.amount = b.amount;
      result.up_to = b.up_to;
      if (joined_.point != Point::Epoch) result.mask = b.mask;
    }
    if (!settles_group(a)) {
      if (b.group != GroupField::Default) result.group = b.group;
      if (settles_group(b)) {
        result.subset = -1;
        result.normalize = Normalize::Default;
        result.age_limit = b.age_limit;
      } else {
        result.subset = common(a.subset, b.subset, span);
        if (a.normalize == Normalize::Default) result.normalize = b.normalize;
      }
    }
    if (a.slot != SlotField::Refill && b.slot != SlotField::Default) result.slot = b.slot;
    if (a.prompt == PromptField::Default) {
      result.prompt = b.prompt;
      result.until = b.until;
      if (joined_.point == Point::Epoch) result.mask = b.mask;
    }
    if (!a.readmits) {
      result.readmits = b.readmits;
      result.readmitted = b.readmitted;
    }
    return result;
  }

  // What both would take. Of two rankings the first counts.
  VerdictTemplate selection(const VerdictTemplate& a, const VerdictTemplate& b, Span span) {
    if (a.take == Take::None) return b;
    VerdictTemplate result = a;
    if (a.take == Take::Where && b.take != Take::None && b.take != Take::Where) {
      result = b;
      result.mask = a.mask;
      return result;
    }
    if (b.mask >= 0) result.mask = a.mask < 0 ? b.mask : both_masks(a.mask, b.mask, span);
    return result;
  }

  // Two masks over one scope as the checker makes them: one loop, one condition each.
  NodeId both_masks(NodeId a, NodeId b, Span span) {
    const std::int32_t from = at(b).loop, to = at(a).loop;
    for (Node& node : joined_.nodes) {
      if (node.loop == from) node.loop = to;
    }
    const NodeId condition = add(Op::And, truth(), span, {at(a).args[0], at(b).args[0]});
    return add(Op::Map, at(a).type, span, {condition}, -1, to);
  }

  // The samples that are in both; each is a list of samples or a mask over the rollouts.
  NodeId common(NodeId a, NodeId b, Span span) {
    if (a < 0 || b < 0) return std::max(a, b);
    const std::int32_t rollouts = loop({Scope::Rollouts, -1});
    const NodeId inside = add(Op::And, truth(), span, {holds(a, rollouts, span), holds(b, rollouts, span)});
    Type mask = truth();
    mask.scope = Scope::Rollouts;
    return add(Op::Map, mask, span, {inside}, -1, rollouts);
  }

  // Whether the rollout at the position of `rollouts` is in `subset`.
  NodeId holds(NodeId subset, std::int32_t rollouts, Span span) {
    Type whole;
    whole.base = Base::Int;
    Type element = at(subset).type;
    element.scope = Scope::Single;
    const bool mask = element.base == Base::Bool;
    const std::int32_t members = loop({at(subset).type.scope, subset});
    const NodeId here = add(Op::Position, whole, span, {}, -1, rollouts);
    const NodeId member = add(Op::Element, element, span, {}, -1, members);
    const NodeId place = mask ? add(Op::Position, whole, span, {}, -1, members) : member;
    const NodeId meets = add(Op::Equal, truth(), span, {place, here});
    const NodeId body = mask ? add(Op::And, truth(), span, {meets, member}) : meets;
    return add(Op::Reduce, truth(), span, {body}, static_cast<std::int32_t>(Reduction::Any), members);
  }

  std::int32_t loop(Loop loop) {
    joined_.loops.push_back(loop);
    return static_cast<std::int32_t>(joined_.loops.size()) - 1;
  }

  Handler joined_;
};

}  // namespace

Handler join(Handler first, Handler second) { return Joiner(std::move(first)).run(std::move(second)); }

bool pipes(Point point) { return point == Point::Score || point == Point::Shape; }

}  // namespace allot::lang::compose
