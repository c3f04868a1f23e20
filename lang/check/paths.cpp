// Names, facts after a dot, state under a key.
#include <utility>

#include "lang/check/collections.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

std::string_view kind_of(Subject subject) {
  switch (subject) {
    case Subject::Run:
      return "run";
    case Subject::Batch:
      return "batch";
    case Subject::Group:
      return "group";
    case Subject::Rollout:
      return "rollout";
    case Subject::Pool:
      return "pool";
    case Subject::Prompt:
      return "prompt";
    case Subject::MicroBatch:
      return "micro-batch";
    case Subject::Anchor:
      return "anchor";
    case Subject::Token:
      return "token";
  }
  return "";
}

// What can stand after the dot beside the facts of the table.
std::vector<std::string> members(Subject subject) {
  std::vector<std::string> result;
  for (const FactRow& row : fact_rows()) {
    if (row.subject == subject && !row.name.empty()) result.emplace_back(row.name);
  }
  for (const Collection& collection : collections()) {
    if (collection.owner == subject) result.emplace_back(collection.name);
  }
  if (subject == Subject::Group || subject == Subject::Rollout) result.emplace_back("actions");
  if (subject == Subject::Group || subject == Subject::Batch) result.emplace_back("budget");
  return result;
}

bool needs_hit(Fact fact) {
  switch (fact) {
    case Fact::Hits:
    case Fact::Misses:
    case Fact::HitRate:
    case Fact::RolloutHit:
    case Fact::HistoryHits:
    case Fact::HistoryMisses:
    case Fact::HistoryHitRate:
    case Fact::LastHitRate:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string_view scope_word(StateScope scope) {
  switch (scope) {
    case StateScope::Group:
      return "group";
    case StateScope::Prompt:
      return "prompt";
    case StateScope::Category:
      return "category";
    case StateScope::Run:
      return "run";
  }
  return "";
}

Binding* Expressions::declare(Binding binding) {
  const Binding* const outer = policy_.names.find(binding.name);
  if (find_fact(Subject::Run, binding.name) || binding.name == "budget") {
    policy_.error("E0103", binding.span, quoted(binding.name) + " is the name of a fact of the run", "",
                  "choose another name");
  } else if (outer && !outer->implied) {
    policy_.warning("W0104", binding.span, quoted(binding.name) + " hides " + with_article(outer->kind) + " of the same name",
                    "from here on", "", {{outer->span, "the " + outer->kind + " that is hidden"}});
  } else {
    warn_of_builtin_name(policy_, binding.name, binding.span, binding.kind);
  }
  return policy_.names.declare(std::move(binding));
}

NodeId Expressions::use(Binding& binding, Span span) {
  binding.used = true;
  if (binding.relies_on) {
    if (in_effect_) {
      policy_.error("E0118", span, quoted(binding.name) + " may be undefined here",
                    "effects run whichever rule answered", "meet it where it is declared with `??`",
                    {{*binding.relies_on, "it relies on this rule not having answered"}});
      return poison;
    }
    relies_on_ = binding.relies_on;
  }
  Node node = binding.node;
  node.span = span;
  return builder_.add(std::move(node));
}

void Expressions::unknown_name(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (!policy_.first_time("E0101", e.text)) return;
  if (policy_.names.functions.contains(e.text) || find_builtin(e.text) >= 0 || is_statistic(e.text) ||
      reduction_named(e.text)) {
    policy_.error("E0109", e.span, quoted(e.text) + " is a function, not a value", "", "call it: `" + e.text + "(…)`");
    return;
  }
  std::vector<std::string> names = policy_.names.visible();
  names.insert(names.end(), {"iteration", "epoch"});
  if (where_.hit) {
    const std::vector<std::string> facts = members(Subject::Rollout);
    names.insert(names.end(), facts.begin(), facts.end());
  }
  std::string help = near_help(e.text, names);
  if (help.empty() && (find_fact(Subject::Group, e.text) || find_fact(Subject::Rollout, e.text))) {
    help = "facts are read from their subject: `g." + e.text + "`";
  }
  policy_.error("E0101", e.span, quoted(e.text) + " is not declared", "", help);
}

NodeId Expressions::name(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (Binding* const binding = policy_.names.find(e.text)) {
    switch (binding->meaning) {
      case Meaning::Poison:
        binding->used = true;
        return poison;
      case Meaning::State:
        return state(*binding, id, tree::none);
      case Meaning::Subject:
        if (binding->subject == Subject::Prompt) return fact(row(Fact::PromptKey), binding, id);
        policy_.error("E0109", e.span,
                      quoted(e.text) + " is a " + std::string(kind_of(binding->subject)) + ", not a value", "",
                      "read a fact of it: `" + e.text + "." + members(binding->subject)[1] + "`");
        return poison;
      case Meaning::Value:
        // What walks a list within a constant is as constant as the list.
        if (where_.constant && binding->kind != "variable") {
          policy_.error("E0404", e.span, "this must be known from the text alone", "", "write a literal");
          return poison;
        }
        return assume_if_known(use(*binding, e.span), path(id));
    }
  }
  if (const FactRow* const row = find_fact(Subject::Run, e.text)) return fact(*row, nullptr, id);
  if (where_.hit) {
    if (const FactRow* const row = find_fact(Subject::Rollout, e.text)) return hit_fact(*row, id);
  }
  if (e.text == "budget") {
    policy_.error("E0109", e.span, "`budget` is not a value", "",
                  "read `budget.left`, `budget.spent` or `budget.total`");
    return poison;
  }
  unknown_name(id);
  return poison;
}

// `hit` reads what the environment gave where there is such a thing, and is asked of scored rollouts only.
NodeId Expressions::hit_fact(const FactRow& row, tree::ExprId id) {
  const Span span = expr(id).span;
  if (row.fact == Fact::RolloutHit) {
    policy_.error("E0107", span, "the `hit` condition cannot read `hit`");
    return poison;
  }
  const auto read = [&](Fact fact) {
    const FactRow& r = lang::row(fact);
    const int key = builder_.read({fact, {}, Scope::Single, r.type, std::string(r.name), span});
    return builder_.make(Op::Read, r.type, span, {}, key);
  };
  if (row.fact != Fact::Reward && row.fact != Fact::RawReward) return read(row.fact);
  const NodeId reward = builder_.make(Op::Coalesce, row.type, span, {read(Fact::RawReward), read(Fact::Reward)});
  return builder_.make(Op::Assume, defined(row.type), span, {reward});
}

Binding* Expressions::subject(tree::ExprId id) {
  if (expr(id).kind != tree::ExprKind::Name) return nullptr;
  Binding* const binding = policy_.names.find(expr(id).text);
  return binding && binding->meaning == Meaning::Subject ? binding : nullptr;
}

bool Expressions::refuse_fact(const FactRow& row, tree::ExprId id) {
  const tree::Expr& e = expr(id);
  Span span = e.span;
  if (e.kind == tree::ExprKind::Field) span.begin = span.end - static_cast<std::uint32_t>(e.text.size());
  if (!known_at(row, where_.point)) {
    // Once a handler for each fact: its variable tells one handler from another.
    const tree::Expr* root = &e;
    while (root->kind == tree::ExprKind::Field) root = &expr(root->args[0]);
    const Binding* const owner = policy_.names.find(root->text);
    const std::string handler = std::to_string(owner ? owner->id : -1);
    if (!policy_.first_time("E0301", std::string(row.name) + " " + handler)) return true;
    const std::string point = quoted(lang::name(where_.point));
    const bool shape = known_at(row, Point::Shape) && !known_at(row, Point::Finish);
    const bool empty = row.fact == Fact::EmptySlots;
    policy_.error("E0301", span, quoted(row.name) + " is not known at " + point,
                  shape   ? (row.fact == Fact::Embeddings ? "embeddings" : "advantages") + std::string(" exist at `shape`")
                  : empty ? "slots are counted as empty at `replay`"
                  : where_.point == Point::Loss ? "a loss reads its token, parameters and state of the run"
                          : "rewards exist from `result` on",
                  shape || empty || where_.point == Point::Loss ? ""
                  : where_.point == Point::Size   ? "at `size` a rule may read prompts, budget and state"
                  : where_.point == Point::Select ? "at `select` a rule may read the history of prompts and state"
                  : "at " + point + " a rule may read actions, observations, tokens, log-probabilities, entropy");
    return true;
  }
  if (needs_hit(row.fact) && policy_.tree.hit == tree::none) {
    if (policy_.unread || !policy_.first_time("E0312", "hit")) return true;
    policy_.error("E0312", span, quoted(row.name) + " needs to know what a hit is", "no `hit` condition is declared",
                  "add  hit when reward >= 1.0");
    return true;
  }
  return false;
}

NodeId Expressions::fact(const FactRow& row, const Binding* owner, tree::ExprId id,
                         std::vector<ReadArgument> arguments) {
  const Span span = expr(id).span;
  if (where_.constant) {
    const std::string what = quoted(policy_.text(id));
    policy_.error("E0404", span,
                  where_.eval ? what + " is known in a run only" : "this must be known from the text alone", "",
                  where_.eval ? "`allot eval` has no run: write a number in its place" : "write a literal");
    return poison;
  }
  if (refuse_fact(row, id)) return poison;
  Fact wanted = row.fact;
  Scope scope = owner ? owner->scope : Scope::Single;
  Type type = row.type;
  if (type.vector()) {  // the rewards of a group are a column of its rollouts' rewards
    if (scope != Scope::Single) return vector_of_each(row, *owner, id);
    wanted = element_of(wanted);
    scope = type.scope;
    const int column = builder_.column({wanted, {}, scope, type, policy_.text(id), span});
    return builder_.make(Op::Column, type, span, {}, column);
  }
  if (scope == Scope::Single) {
    // A handler of `score` is asked because a reward has come.
    const bool arrived = where_.point == Point::Score && (wanted == Fact::Reward || wanted == Fact::RawReward);
    if (arrived) {
      const int read = builder_.read({wanted, {}, scope, type, policy_.text(id), span});
      return builder_.make(Op::Assume, defined(type), span, {builder_.make(Op::Read, type, span, {}, read)});
    }
    const int read = builder_.read({wanted, std::move(arguments), scope, type, policy_.text(id), span});
    return assume_if_known(builder_.make(Op::Read, type, span, {}, read), path(id));
  }
  if (scope == Scope::Trained && wanted == Fact::Advantage) type = defined(type);
  const int column =
      builder_.column({wanted, std::move(arguments), scope, vector_of(type, scope), policy_.text(id), span});
  if (of_many_groups(scope)) return assume_if_known(at_place(column, type, owner->loop, span), path(id));
  return assume_if_known(builder_.make(Op::Element, type, span, {}, column, owner->loop), path(id));
}

// `g.rewards` of a group that is walked: those of its own rollouts, a list.
NodeId Expressions::vector_of_each(const FactRow& row, const Binding& owner, tree::ExprId id) {
  const Span span = expr(id).span;
  if (row.type.scope != Scope::Rollouts || row.type.matrix() || !rollouts_of(owner.scope)) {
    const bool turns = row.type.scope == Scope::Turns;
    policy_.error("E0302", span,
                  quoted(policy_.text(id)) + " is " + (row.type.matrix() ? "a matrix" : "a vector") + " for each " +
                      std::string(kind_of(owner.subject)),
                  "there are many of them here",
                  turns ? "read it in a handler of one rollout: `on every turn of rollout r`"
                        : "read it in a handler of one group");
    return poison;
  }
  const Scope scope = *rollouts_of(owner.scope);
  const Type element = lang::row(element_of(row.fact)).type;
  const int loop = loop_over_rollouts(owner, span);
  const int column = builder_.column({element_of(row.fact), {}, scope, vector_of(element, scope), policy_.text(id), span});
  return builder_.make(Op::Map, vector_of(element, Scope::List), span, {at_place(column, element, loop, span)}, -1, loop);
}

// budget.left, b.budget.tokens.left: `word` is left, spent or total.
NodeId Expressions::budget(tree::ExprId id, const std::string& word, std::string unit) {
  const Span span = expr(id).span;
  const Fact fact = word == "left" ? Fact::BudgetLeft : word == "spent" ? Fact::BudgetSpent : Fact::BudgetTotal;
  if (word != "left" && word != "spent" && word != "total") {
    policy_.error("E0105", span, "a budget has no " + quoted(word), "",
                  near_help(word, {"left", "spent", "total", "rollouts", "tokens", "calls", "seconds"}));
    return poison;
  }
  if (where_.eval) {
    policy_.error("E0404", span, quoted(policy_.text(id)) + " is known in a run only", "",
                  "`allot eval` has no run: write a number in its place");
    return poison;
  }
  const std::vector<Budget>& budgets = policy_.program.budgets;
  if (unit.empty()) {
    if (budgets.size() != 1) {
      policy_.error("E0316", span, budgets.empty() ? "no budget is declared" : "which budget is meant?", "",
                    budgets.empty()
                        ? "add  budget 400_000_000 tokens per run"
                        : "name the unit: `budget." + std::string(lang::name(budgets[0].unit)) + "." + word + "`");
      return poison;
    }
    unit = lang::name(budgets[0].unit);
  }
  for (const Budget& candidate : budgets) {
    if (lang::name(candidate.unit) != unit) continue;
    ReadArgument argument;
    argument.kind = ReadArgument::Kind::Word;
    argument.word = unit;
    const Type type = count(candidate.unit);
    const int read = builder_.read({fact, {argument}, Scope::Single, type, policy_.text(id), span});
    return builder_.make(Op::Read, type, span, {}, read);
  }
  policy_.error("E0316", span, "no budget in " + unit + " is declared", "", "add  budget 1_000 " + unit + " per run");
  return poison;
}

NodeId Expressions::field(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const tree::Expr& owner = expr(e.args[0]);
  const auto is_budget = [&](tree::ExprId part) {
    const tree::Expr& p = expr(part);
    if (p.kind == tree::ExprKind::Name) return p.text == "budget" && !policy_.names.find(p.text);
    return p.kind == tree::ExprKind::Field && p.text == "budget" && subject(p.args[0]) != nullptr;
  };
  if (is_budget(e.args[0])) return budget(id, e.text, {});
  if (owner.kind == tree::ExprKind::Field && is_budget(owner.args[0])) return budget(id, e.text, owner.text);

  if (const Binding* const binding = subject(e.args[0])) {
    if (const FactRow* const row = find_fact(binding->subject, e.text)) return fact(*row, binding, id);
    const std::vector<std::string> known = members(binding->subject);
    const bool member = std::find(known.begin(), known.end(), e.text) != known.end();
    Span span = e.span;
    span.begin = span.end - static_cast<std::uint32_t>(e.text.size());
    if (member) {
      policy_.error("E0109", span, quoted(policy_.text(id)) + " is not a value", "",
                    e.text == "actions"
                        ? "read a statistic of it: `unique_ratio(prefixes(" + policy_.text(id) + ", 10, padded))`"
                    : e.text == "budget" ? "read `budget.left`, `budget.spent` or `budget.total`"
                                         : "walk it: `sum(x.tokens for x in " + policy_.text(id) + ")`");
    } else {
      policy_.error("E0105", span, "a " + std::string(kind_of(binding->subject)) + " has no " + quoted(e.text), "",
                    near_help(e.text, known));
    }
    return poison;
  }
  const NodeId node = check(e.args[0]);
  if (node == poison) return poison;
  if (type(node).base == Base::Beta && !type(node).vector()) {
    if (!require_defined(node, e.args[0], id)) return poison;
    for (const std::string_view part : {"mean", "variance", "sd", "learnability"}) {
      if (e.text == part) return apply(find_builtin("beta_" + e.text), {node}, {e.args[0]}, e.span);
    }
    policy_.error("E0105", e.span, "a beta has no " + quoted(e.text), "",
                  near_help(e.text, {"mean", "variance", "sd", "learnability"}));
    return poison;
  }
  policy_.error("E0105", e.span, describe(type(node)) + " has no " + quoted(e.text));
  return poison;
}

NodeId Expressions::index(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const tree::Expr& owner = expr(e.args[0]);
  Binding* const binding = owner.kind == tree::ExprKind::Name ? policy_.names.find(owner.text) : nullptr;
  if (binding && binding->meaning == Meaning::State) {
    const State& declared = policy_.program.states[static_cast<std::size_t>(binding->state)];
    if (!declared.type.vector() || declared.keyed()) {
      if (e.args.size() == 2) return state(*binding, id, e.args[1]);
      const std::string per(scope_word(declared.scope));
      policy_.error("E0319", expr(e.args[2]).span, "state per " + per + " is read under one " + per, "",
                    "an element of it is `" + binding->name + "[g." + per + "][0, 1]`");
      return poison;
    }
  }
  if (binding && binding->meaning == Meaning::Poison) return poison;
  const NodeId node = check(e.args[0]);
  if (node == poison) return poison;
  if (type(node).vector()) return element_at(node, id);
  policy_.error("E0204", e.span, describe(type(node)) + " has no elements");
  return poison;
}

// v[i], m[i, j]: positions from 0. What is known to lie outside is an error, else a fault at run time.
NodeId Expressions::element_at(NodeId vector, tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const Type given = type(vector);
  if (!require_defined(vector, e.args[0], id)) return poison;
  const std::size_t wanted = given.matrix() ? 3 : 2;
  if (e.args.size() != wanted) {
    policy_.error("E0221", e.span,
                  given.matrix() ? "an element of a matrix has a row and a column" : "an element of a vector has one position",
                  "", given.matrix() ? "write `m[i, j]`" : "write `v[i]`");
    return poison;
  }
  std::vector<NodeId> args{vector};
  for (std::size_t i = 1; i < wanted; ++i) {
    const NodeId position = check_as(e.args[i], plain(Base::Int), "a position");
    if (position == poison) return poison;
    const int size = i == 1 ? given.rows : given.columns;
    const std::optional<Cell> known = builder_.value(position);
    if (known && (known->integer() < 0 || (size > 0 && known->integer() >= size))) {
      policy_.error("E0216", expr(e.args[i]).span, "there is no such element",
                    size > 0 ? "positions run from 0 to " + std::to_string(size - 1) : "positions are counted from 0");
      return poison;
    }
    args.push_back(position);
  }
  return assume_if_known(builder_.make(Op::At, element_of(given), e.span, std::move(args)), path(id));
}

NodeId Expressions::state(Binding& binding, tree::ExprId id, tree::ExprId key) {
  binding.used = true;
  const Span span = expr(id).span;
  const State& declared = policy_.program.states[static_cast<std::size_t>(binding.state)];
  if (where_.constant || where_.hit) {
    policy_.error("E0404", span, "state cannot be read here", "",
                  where_.hit ? "a hit is told from the rollout alone" : "write a literal");
    return poison;
  }
  const std::string per(scope_word(declared.scope));
  if (declared.keyed() != (key != tree::none)) {
    policy_.error("E0319", span, quoted(binding.name) + " is state per " + per,
                  key == tree::none ? "whose?" : "there is one alone",
                  key == tree::none ? "say whose: `" + binding.name + "[g." + per + "]`"
                                    : "write `" + binding.name + "`",
                  {{binding.span, "declared here"}});
    return poison;
  }
  if (declared.scope == StateScope::Group && where_.subject != Subject::Group && where_.subject != Subject::Rollout) {
    policy_.error("E0311", span, quoted(binding.name) + " is state per group",
                  "a " + std::string(kind_of(where_.subject)) + " has many groups",
                  "read it in a handler of a group, or keep it per prompt", {{binding.span, "declared here"}});
    return poison;
  }
  std::vector<NodeId> args;
  if (key != tree::none) {
    const NodeId found = check(key);
    if (found == poison) return poison;
    const Base wanted = declared.scope == StateScope::Category ? Base::Category : Base::Prompt;
    if (type(found).base != wanted || type(found).vector()) {
      policy_.error("E0201", expr(key).span, "the key of state per " + per + " is a " + per,
                    "this is " + describe(type(found)), "say `" + binding.name + "[g." + per + "]`");
      return poison;
    }
    args.push_back(found);
  }
  const NodeId node = builder_.make(Op::State, declared.type, span, std::move(args), binding.state);
  return assume_if_known(node, path(id));
}

}  // namespace allot::lang::checker
