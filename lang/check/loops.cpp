// What walks: comprehensions, reductions to one value, and the loops of both.
#include <utility>

#include "lang/check/collections.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

std::optional<Reduction> reduction_named(std::string_view name) {
  constexpr std::pair<std::string_view, Reduction> rows[] = {
      {"sum", Reduction::Sum}, {"count", Reduction::Count}, {"mean", Reduction::Mean}, {"min", Reduction::Min},
      {"max", Reduction::Max}, {"any", Reduction::Any},     {"all", Reduction::All}};
  for (const auto& [word, reduction] : rows) {
    if (word == name) return reduction;
  }
  return std::nullopt;
}

NodeId Expressions::reduce(Reduction reduction, NodeId body, NodeId filter, int loop, Span span) {
  const Type given = type(body);
  Type result = defined(given);
  const auto keep = [&](NodeId test) {
    filter = filter == -1 ? test : builder_.make(Op::And, plain(Base::Bool), span, {filter, test});
  };
  switch (reduction) {
    case Reduction::Any:
    case Reduction::All:
      if (given.base != Base::Bool) {
        policy_.error("E0203", builder_[body].span, "`any` and `all` look at what is true or false",
                      "this is " + describe(given));
        return poison;
      }
      break;
    case Reduction::Count: {
      // True ones are counted, else defined ones: the filter says which, so that the body has nothing to say.
      if (given.base == Base::Bool) {
        keep(given.optional ? builder_.make(Op::Coalesce, plain(Base::Bool), span,
                                            {body, builder_.constant(Cell::of(false), plain(Base::Bool), span)})
                            : body);
      } else if (given.optional) {
        keep(builder_.make(Op::Not, plain(Base::Bool), span,
                           {builder_.make(Op::IsUndefined, plain(Base::Bool), span, {body})}));
      }
      body = builder_.constant(Cell::of(true), plain(Base::Bool), span);
      result = plain(Base::Int);
      const Scope scope = builder_.handler.loops[static_cast<std::size_t>(loop)].scope;
      if (scope == Scope::Rollouts || scope == Scope::Trained || of_many_groups(scope)) {
        result = count(BaseUnit::Rollouts);
      }
      if (scope == Scope::Groups || scope == Scope::Ended || scope == Scope::Stored) result = count(BaseUnit::Groups);
      if (scope == Scope::Prompts || scope == Scope::Pool || scope == Scope::Known) result = count(BaseUnit::Prompts);
      if (scope == Scope::Turns || scope == Scope::AllTurns) result = count(BaseUnit::Turns);
      const NodeId source = builder_.handler.loops[static_cast<std::size_t>(loop)].source;
      if (source != -1 && type(source).matrix()) result = plain(Base::Int);
      break;
    }
    default:
      if (!numeric(given)) {
        policy_.error("E0204", builder_[body].span, "this needs numbers", "this is " + describe(given));
        return poison;
      }
      if (reduction == Reduction::Mean) {
        body = to_real(body);
        if (body == poison) return poison;
        result.base = Base::Real;
      }
      if (reduction == Reduction::Sum) result.prob = false;
      result.optional = reduction != Reduction::Sum;
  }
  std::vector<NodeId> args{body};
  if (filter != -1) args.push_back(filter);
  return builder_.make(Op::Reduce, result, span, std::move(args), static_cast<std::int32_t>(reduction), loop);
}

NodeId Expressions::reduce_vector(Reduction reduction, NodeId vector, Span span) {
  const NodeId source = builder_[vector].op == Op::Column && !type(vector).matrix() ? -1 : vector;
  const int loop = builder_.loop(type(vector).scope, source);
  const NodeId element = builder_.element(vector, loop, source);
  return element != poison ? reduce(reduction, element, -1, loop, span) : poison;
}

int Expressions::open_scope(Scope scope, const std::string& variable, Span span) {
  policy_.names.enter(false);
  const int loop = builder_.loop(scope);
  Binding binding;
  binding.meaning = Meaning::Subject;
  binding.kind = "variable";
  binding.name = variable;
  binding.span = span;
  binding.subject = element_subject(scope);
  binding.scope = scope;
  binding.loop = loop;
  binding.used = true;
  binding.implied = true;
  policy_.names.declare(std::move(binding));
  return loop;
}

// g.rollouts, b.groups and the other collections, or any vector.
int Expressions::open_loop(tree::ExprId source, const tree::Name& variable) {
  const tree::Expr& e = expr(source);
  Binding binding;
  binding.kind = "variable";
  binding.name = variable.text;
  binding.span = variable.span;
  binding.used = true;
  int loop = -1;
  const Binding* const owner = e.kind == tree::ExprKind::Field ? subject(e.args[0]) : nullptr;
  const Collection* const collection = owner ? find_collection(owner->subject, e.text) : nullptr;
  if (collection && owner->scope != Scope::Single) {
    binding.meaning = Meaning::Subject;
    binding.subject = Subject::Rollout;
    binding.scope = *rollouts_of(owner->scope);
    loop = loop_over_rollouts(*owner, e.span);
  } else if (collection && !exists_at(*collection, where_.point)) {
    const bool size = where_.point == Point::Size && collection->owner == Subject::Batch;
    policy_.error("E0302", e.span,
                  quoted(policy_.text(source)) + " does not exist at " + quoted(lang::name(where_.point)),
                  size ? "no group is open yet" : std::string(collection->where),
                  size ? "walk `" + owner->name + ".prompts`" : "");
  } else if (collection) {
    binding.meaning = Meaning::Subject;
    binding.subject = element_subject(collection->scope);
    binding.scope = collection->scope;
    loop = builder_.loop(collection->scope);
  } else if (const Binding* const whole = subject(source); whole && first_collection(whole->subject, where_.point)) {
    policy_.error("E0109", e.span, quoted(e.text) + " is not a vector", "",
                  "walk what belongs to it: `" + e.text + "." +
                      std::string(first_collection(whole->subject, where_.point)->name) + "`");
  } else {
    const NodeId vector = check(source);
    if (vector != poison && !type(vector).vector()) {
      policy_.error("E0221", e.span, "only a vector can be walked", "this is " + describe(type(vector)));
    } else if (vector != poison && require_defined(vector, source, tree::none)) {
      loop = builder_.loop(type(vector).scope, vector);
      binding.node.op = Op::Element;
      binding.node.type = element_of(type(vector));
    }
  }
  policy_.names.enter(false);
  if (loop == -1) binding.meaning = Meaning::Poison;
  binding.loop = loop;
  binding.node.loop = loop;
  declare(std::move(binding));
  return loop;
}

// The rollouts of a group that is itself walked: their places in the columns over the rollouts of all groups.
int Expressions::loop_over_rollouts(const Binding& group, Span span) {
  const auto of_group = [&](Fact fact, const std::string& text) {
    const Type whole = vector_of(plain(Base::Int), group.scope);
    const int column = builder_.column({fact, {}, group.scope, whole, text, span});
    if (group.placed) return at_place(column, plain(Base::Int), group.loop, span);
    return builder_.make(Op::Element, plain(Base::Int), span, {}, column, group.loop);
  };
  const NodeId first = of_group(Fact::FirstRollout, group.name + ".rollouts");
  const NodeId count = of_group(Fact::Started, group.name + ".started");
  const NodeId places = builder_.make(Op::Call, vector_of(plain(Base::Int), Scope::List), span, {first, count},
                                      find_builtin(places_of_group));
  return builder_.loop(*rollouts_of(group.scope), places);
}

// A fact of what stands at the place that `loop` walks.
NodeId Expressions::at_place(int column, const Type& type, int loop, Span span) {
  const NodeId place = builder_.make(Op::Element, plain(Base::Int), span, {}, -1, loop);
  const Type whole = builder_.handler.columns[static_cast<std::size_t>(column)].type;
  return builder_.make(Op::At, type, span, {builder_.make(Op::Column, whole, span, {}, column), place});
}

Span Expressions::declared_at(std::uint32_t begin, std::uint32_t end, std::string_view after, const std::string& name,
                              Span otherwise) const {
  const std::string_view between = policy_.source.text({begin, end});
  const std::size_t word = between.find(after);
  const std::size_t at = word == std::string_view::npos ? word : between.find(name, word + after.size());
  if (at == std::string_view::npos) return otherwise;
  const std::uint32_t found = begin + static_cast<std::uint32_t>(at);
  return {found, found + static_cast<std::uint32_t>(name.size())};
}

// [body for x in source where cond], or f(…) of it. A Map without `where` keeps the scope of what it walks.
NodeId Expressions::comprehension(tree::ExprId id, std::optional<Reduction> reduction) {
  const tree::Expr& e = expr(id);
  const Span variable = declared_at(expr(e.args[0]).span.end, expr(e.args[1]).span.begin, "for", e.text, e.span);
  const int loop = open_loop(e.args[1], {e.text, variable});
  const bool filtered = e.args.size() > 2;
  const NodeId filter = filtered ? condition(e.args[2]) : -1;
  const std::size_t mark = filtered ? narrow(defined_when(e.args[2], true)) : narrow({});
  const tree::Expr& body_expr = expr(e.args[0]);
  // count(r for r in …): the variable itself is the body.
  const bool itself =
      reduction == Reduction::Count && body_expr.kind == tree::ExprKind::Name && body_expr.text == e.text;
  NodeId body =
      itself && loop != -1 ? builder_.constant(Cell::of(true), plain(Base::Bool), body_expr.span) : check(e.args[0]);
  widen(mark);
  policy_.names.leave();
  if (loop == -1 || body == poison || (filtered && filter == poison)) return poison;
  if (type(body).vector()) {
    policy_.error("E0221", body_expr.span, "an element is one value", "this is a vector");
    return poison;
  }
  if (reduction) return reduce(*reduction, body, filter, loop, e.span);
  std::vector<NodeId> args{body};
  if (filtered) args.push_back(filter);
  const Loop walked = builder_.handler.loops[static_cast<std::size_t>(loop)];
  Type result = vector_of(type(body), filtered ? Scope::List : walked.scope);
  if (!filtered && walked.source != -1) result = shaped(type(body), type(walked.source));
  return builder_.make(Op::Map, result, e.span, std::move(args), -1, loop);
}

}  // namespace allot::lang::checker
