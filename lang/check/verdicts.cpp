// Verdicts: four fields, each at most once, and only what the point can carry out.
#include <map>
#include <optional>
#include <string>

#include "lang/check/handlers.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

std::string choices(const PointRow& point) {
  std::vector<std::string> list;
  for (const tree::ActionKind kind : point.actions) list.push_back(quoted(words(kind)));
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : i + 1 == list.size() ? " or " : ", ") + list[i];
  return text;
}

}  // namespace

bool HandlerChecker::allowed(const tree::Action& action) {
  const auto& can = point_.actions;
  if (std::find(can.begin(), can.end(), action.kind) != can.end()) return true;
  std::string help = "at " + quoted(point_.name) + " a rule may say " + choices(point_);
  if (action.kind == tree::ActionKind::Defer) help = "a group is deferred when a wave of it has ended: `on wave of group g`";
  if (action.kind == tree::ActionKind::Branch && point_.point == Point::Turn) {
    help = "one rollout branches: `on every turn of rollout r { branch 2 }`";
  }
  policy_.error("E0304", action.span, quoted(words(action.kind)) + " cannot be said at " + quoted(point_.name), "", help);
  return false;
}

VerdictTemplate HandlerChecker::verdict(const tree::Verdict& verdict) {
  VerdictTemplate result;
  std::map<std::string, Span> set;
  for (const tree::Action& a : verdict.actions) {
    if (!allowed(a)) continue;
    std::string what(words(field(a.kind)));
    if (a.kind == tree::ActionKind::Set) what = quoted(a.target);
    // `evict where` and `readmit where` are about different prompts.
    if (a.kind == tree::ActionKind::Readmit && a.third != tree::none) what = "who is readmitted";
    const auto [it, first] = set.insert({what, a.span});
    if (!first) {
      policy_.error("E0305", a.span, "a verdict says twice " + what, "", "keep one of the two",
                    {{it->second, "the first time"}});
      continue;
    }
    action(a, result);
  }
  more_of_none(verdict);
  return result;
}

// A group that is dropped starts nothing more, and one that is deferred not before `resume`: the engine would not carry out
// the other half.
void HandlerChecker::more_of_none(const tree::Verdict& verdict) {
  using tree::ActionKind;
  const tree::Action* more = nullptr;
  const tree::Action* none = nullptr;
  for (const tree::Action& a : verdict.actions) {
    if (a.kind == ActionKind::SampleMore || a.kind == ActionKind::CompleteTo) more = &a;
    if (a.kind == ActionKind::Drop || a.kind == ActionKind::Defer) none = &a;
  }
  if (!more || !none) return;
  const bool dropped = none->kind == ActionKind::Drop;
  policy_.error("E0305", more->span,
                dropped ? "a group that is dropped starts nothing more"
                        : "a group that is deferred starts nothing before `resume`",
                "",
                dropped ? "keep one of the two"
                        : "leave it out; how many come then is said where it is resumed",
                {{none->span, dropped ? "here it is dropped" : "here it is deferred"}});
}

void HandlerChecker::action(const tree::Action& action, VerdictTemplate& into) {
  using tree::ActionKind;
  const Counts groups = point_.subject == Subject::Batch ? Counts::OneOrVector : Counts::One;
  switch (action.kind) {
    case ActionKind::Continue:
      into.rollouts = RolloutsField::Continue;
      break;
    case ActionKind::Stop:
      into.rollouts = RolloutsField::Stop;
      break;
    case ActionKind::StopWhere:
      into.rollouts = RolloutsField::StopWhere;
      into.mask = stop_where(action.amount, action.span);
      break;
    case ActionKind::SampleMore:
      into.rollouts = RolloutsField::SampleMore;
      into.amount = amount(action.amount, "N of `sample N more`", groups, Scope::Groups);
      break;
    case ActionKind::CompleteTo:
      into.rollouts = RolloutsField::CompleteTo;
      into.amount = amount(action.amount, "M of `complete to M`", groups, Scope::Groups);
      break;
    case ActionKind::Start:
      start(action, into);
      break;
    case ActionKind::Train:
      train(action, into);
      break;
    case ActionKind::Drop:
      into.group = GroupField::Drop;
      break;
    case ActionKind::Leave:
      into.slot = SlotField::Leave;
      break;
    case ActionKind::Refill:
      into.slot = SlotField::Refill;
      if (!policy_.first_refill) policy_.first_refill = action.span;
      break;
    case ActionKind::Branch:
      branch(action, into);
      break;
    case ActionKind::Defer:
      defer(action, into);
      break;
    case ActionKind::Evict:
      evict(action, into);
      break;
    case ActionKind::Readmit:
      readmit(action, into);
      break;
    case ActionKind::Take:
      take(action, into);
      break;
    case ActionKind::Set:
      set(action, into);
      break;
    case ActionKind::Replay:
      replay(action, into);
      break;
  }
}

// The answer of `size`; the engine reads `amount` and `up_to` there.
void HandlerChecker::start(const tree::Action& action, VerdictTemplate& into) {
  into.rollouts = RolloutsField::SampleMore;
  into.amount = amount(action.amount, "N of `start N each`", Counts::OneOrVector, Scope::Prompts);
  const std::optional<Cell> first = builder_.value(into.amount);
  const bool always = closed_ && builder_.handler.rules.empty();  // a rule may well start nothing now and then
  if (first && first->integer() == 0 && always) {
    policy_.error("E0306", policy_.tree[action.amount].span, "N of `start N each` is at least 1", "nothing would ever run");
  }
  if (action.second == tree::none) return;
  into.up_to = amount(action.second, "M of `up to M`", Counts::OneOrVector, Scope::Prompts);
  const std::optional<Cell> most = builder_.value(into.up_to);
  if (!first || !most || most->integer() >= first->integer()) return;
  policy_.error("E0216", policy_.tree[action.second].span, "M of `up to M` is less than N of `start N each`",
                "it counts those that are started first",
                "write `start " + std::to_string(most->integer()) + " each`, or a larger M",
                {{policy_.tree[action.amount].span, "so many are started first"}});
}

NodeId HandlerChecker::amount(tree::ExprId id, std::string_view role, Counts counts, Scope over) {
  NodeId node = expressions_.check(id);
  if (node == poison) return poison;
  Type wanted = count(BaseUnit::Rollouts);
  const Type given = builder_.type(node);
  if ((counts != Counts::One && given.vector()) || counts == Counts::Vector) {
    const std::string one = over == Scope::Prompts ? "prompt" : over == Scope::Anchors ? "anchor" : "group";
    if (given.scope != over) {
      policy_.error("E0220", policy_.tree[id].span,
                    std::string(role) + " is " + (counts == Counts::Vector ? "" : "one number, or ") + "one for each " + one +
                        " of the batch",
                    "this is " + describe(given),
                    "write `[… for x in " + tree_.variable.text + "." + one + "s]`");
      return poison;
    }
    const bool rollouts = given.unit.plain() || given.unit == wanted.unit;
    if (given.base != Base::Int || given.optional || !rollouts) {
      const std::string text = policy_.text(id);
      policy_.error(given.optional ? "E0118" : rollouts ? "E0201" : "E0215", policy_.tree[id].span,
                    std::string(role) + " is a count of rollouts for each " + one,
                    given.optional ? "elements of this may be undefined" : "this is " + describe(element_of(given)),
                    given.optional ? "say what then: `(" + text + " ?? 0)`"
                    : rollouts && numeric(given) ? "round them: `(floor(" + text + "))`"
                                                 : "");
      return poison;
    }
    return node;
  }
  node = expressions_.fit(node, id, wanted, role);
  if (const std::optional<Cell> value = builder_.value(node); value && value->integer() < 0) {
    policy_.error("E0306", policy_.tree[id].span, std::string(role) + " is not negative");
    return poison;
  }
  return node;
}

// `train SUBSET`: indices of samples, or a mask over the rollouts, where an undefined element is left out.
void HandlerChecker::train(const tree::Action& action, VerdictTemplate& into) {
  into.group = GroupField::Train;
  if (action.target == "group") into.normalize = Normalize::Group;
  if (action.target == "subset") into.normalize = Normalize::Subset;
  if (action.amount == tree::none) return;
  NodeId node = expressions_.check(action.amount);
  if (node == poison) return;
  const Type given = builder_.type(node);
  const Span span = policy_.tree[action.amount].span;
  if (given.base == Base::Bool && given.scope == Scope::Rollouts) {
    if (given.optional) {
      const NodeId source = builder_[node].op == Op::Column ? -1 : node;
      const int loop = builder_.loop(Scope::Rollouts, source);
      const NodeId element = builder_.element(node, loop, source);
      const NodeId no = builder_.constant(Cell::of(false), plain(Base::Bool), span);
      const NodeId body = builder_.make(Op::Coalesce, plain(Base::Bool), span, {element, no});
      node = builder_.make(Op::Map, vector_of(plain(Base::Bool), Scope::Rollouts), span, {body}, -1, loop);
    }
    into.subset = node;
    return;
  }
  if (given.base == Base::Int && given.scope == Scope::List && !given.optional) {
    const std::vector<tree::ExprId>& written = policy_.tree[action.amount].args;
    if (builder_[node].op == Op::ListOf && builder_[node].args.size() == written.size()) {
      for (std::size_t i = 0; i < written.size(); ++i) {
        const std::optional<Cell> value = builder_.value(builder_[node].args[i]);
        if (!value || value->defined == 0 || value->integer() >= 0) continue;
        policy_.error("E0216", policy_.tree[written[i]].span, "a sample of the group is 0 or more", "there is none before the first");
        return;
      }
    }
    into.subset = node;
    return;
  }
  policy_.error("E0201", span, "what is trained on is a list of samples, or a mask over the rollouts",
                "this is " + describe(given), "for example `train top(" + tree_.variable.text + ".rewards, 4)` or `train " + tree_.variable.text + ".rewards > 0`");
}

NodeId HandlerChecker::stop_where(tree::ExprId condition, Span span) {
  const int loop = expressions_.open_scope(Scope::Rollouts, "r", span);
  const NodeId body = expressions_.condition(condition);
  policy_.names.leave();
  if (body == poison) return poison;
  return builder_.make(Op::Map, vector_of(plain(Base::Bool), Scope::Rollouts), span, {body}, -1, loop);
}

}  // namespace allot::lang::checker
