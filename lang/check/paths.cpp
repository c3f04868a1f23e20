// Names, what stands after a dot, state under a key.
#include <algorithm>
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

// A fact that can be read there, as an example.
std::string fact_known(Subject subject, Point point) {
  const auto counts = [&](const FactRow& row) {
    return row.subject == subject && !row.name.empty() && !row.type.vector() && !row.type.optional &&
           numeric(row.type) && known_at(row, point);
  };
  const auto rows = fact_rows();
  const auto found = std::find_if(rows.begin(), rows.end(), counts);
  return std::string(found == rows.end() ? "…" : found->name);
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
  for (const Subject subject : {Subject::Group, Subject::Rollout, Subject::Batch}) {
    if (!help.empty() || !find_fact(subject, e.text) || !policy_.names.innermost(subject)) continue;
    help = "facts are read from their subject: `" + policy_.variable(subject) + "." + e.text + "`";
  }
  if (e.text == "seeded") help = "a seeded order has a name: `ties: seeded \"first\"`";
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
                      "read a fact of it: `" + e.text + "." + fact_known(binding->subject, where_.point) + "`");
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

Binding* Expressions::subject(tree::ExprId id) {
  if (expr(id).kind != tree::ExprKind::Name) return nullptr;
  Binding* const binding = policy_.names.find(expr(id).text);
  return binding && binding->meaning == Meaning::Subject ? binding : nullptr;
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
    Span span = policy_.inside(e.span);
    span.begin = span.end - static_cast<std::uint32_t>(e.text.size());
    if (member) {
      policy_.error("E0109", span, quoted(policy_.text(id)) + " is not a value", "",
                    e.text == "actions"
                        ? "read a statistic of it: " +
                              quoted(binding->subject == Subject::Group
                                         ? "(unique_ratio(prefixes(" + policy_.text(id) + ", 10, padded)) ?? 1.0)"
                                         : "repetition(" + policy_.text(id) + ", 2)")
                    : e.text == "budget" ? "read `budget.left`, `budget.spent` or `budget.total`"
                                         : "walk it: `count(x for x in " + policy_.text(id) + ")`");
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
                    "an element of it is `" + binding->name + "[" + policy_.owner(per) + "][0, 1]`");
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
  if (declared.scope == StateScope::Group && where_.subject != Subject::Group && where_.subject != Subject::Rollout) {
    policy_.error("E0311", span, quoted(binding.name) + " is state per group",
                  "a " + std::string(kind_of(where_.subject)) + " has many groups",
                  "read it in a handler of a group, or keep it per prompt", {{binding.span, "declared here"}});
    return poison;
  }
  if (declared.keyed() != (key != tree::none)) {
    policy_.error("E0319", span, quoted(binding.name) + " is state per " + per,
                  key == tree::none ? "whose?" : "there is one alone",
                  key == tree::none ? "say whose: `" + binding.name + "[" + policy_.owner(per) + "]`"
                                    : "write `" + binding.name + "`",
                  {{binding.span, "declared here"}});
    return poison;
  }
  std::vector<NodeId> args;
  if (key != tree::none) {
    const NodeId found = check(key);
    if (found == poison) return poison;
    const Base wanted = declared.scope == StateScope::Category ? Base::Category : Base::Prompt;
    if (type(found).base != wanted || type(found).vector()) {
      policy_.error("E0201", expr(key).span, "the key of state per " + per + " is a " + per,
                    "this is " + describe(type(found)), "say `" + binding.name + "[" + policy_.owner(per) + "]`");
      return poison;
    }
    args.push_back(found);
  }
  const NodeId node = builder_.make(Op::State, declared.type, span, std::move(args), binding.state);
  return assume_if_known(node, path(id));
}

}  // namespace allot::lang::checker
