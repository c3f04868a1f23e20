// Vectors: element by element, walked by a comprehension, reduced to one value.
#include <algorithm>
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

namespace {

std::string size_of(const Type& type) {
  const std::string rows = std::to_string(type.rows);
  return type.matrix() ? rows + " by " + std::to_string(type.columns) : rows;
}

}  // namespace

// Vectors and matrices that are to be combined element by element must run over the same things.
std::optional<Type> Expressions::common_shape(const std::vector<NodeId>& operands, Span span) {
  std::optional<Type> shape;
  for (const NodeId operand : operands) {
    const Type& given = type(operand);
    if (!given.vector()) continue;
    if (!shape) {
      shape = given;
      continue;
    }
    if (!same_shape(*shape, given)) {
      const bool matrices = shape->matrix() != given.matrix();
      const bool sizes = !matrices && shape->scope == given.scope && shape->across == given.across;
      policy_.error("E0220", span,
                    sizes      ? "what is combined element by element must have as many elements"
                    : matrices ? "a matrix and a vector do not mix element by element"
                               : "vectors of different things do not mix",
                    sizes ? "one has " + size_of(*shape) + ", the other " + size_of(given)
                          : "one is " + describe(*shape) + ", the other " + describe(given),
                    matrices ? "the product is written `m * v`" : "");
      return std::nullopt;
    }
    shape->rows = std::max(shape->rows, given.rows);
    shape->columns = std::max(shape->columns, given.columns);
  }
  return shape ? shape : Type{};
}

// A vector that is looked at in several places: a let or a column is, anything else is put into a let of `owned`.
NodeId Expressions::repeatable(NodeId vector, std::vector<std::int32_t>& owned) {
  const Op op = builder_[vector].op;
  if (op == Op::Let || (op == Op::Column && !type(vector).matrix())) return vector;
  owned.push_back(builder_.let("", vector));
  return builder_.make(Op::Let, type(vector), builder_[vector].span, {}, owned.back());
}

NodeId Expressions::in_scope(NodeId body, std::vector<std::int32_t> owned, Span span) {
  if (owned.empty() || body == poison) return body;
  Node node;
  node.op = Op::Scope;
  node.type = type(body);
  node.span = span;
  node.args = {body};
  node.owned = std::move(owned);
  return builder_.add(std::move(node));
}

// Applies `body` to single values. Where an operand is a vector it becomes a Map over it; an element that is undefined
// gives an undefined element (Guard::Elements), unless `body` itself looks at that (Guard::None).
NodeId Expressions::lift(std::vector<NodeId> operands, Span span, const Body& body, Guard guard) {
  const std::optional<Type> shape = common_shape(operands, span);
  if (!shape) return poison;
  if (!shape->vector()) return body(operands);
  // One vector is walked; the others are read at its position.
  std::vector<std::int32_t> shared;
  NodeId source = -1;
  const auto vectors = std::count_if(operands.begin(), operands.end(), [&](NodeId id) { return type(id).vector(); });
  for (NodeId& operand : operands) {
    if (!type(operand).vector()) continue;
    if (vectors > 1) operand = repeatable(operand, shared);
    const bool column = builder_[operand].op == Op::Column && !type(operand).matrix();
    if (source == -1 && !column) source = operand;
  }
  NodeId walked = source;
  for (const NodeId operand : operands) {
    const bool other = type(operand).vector() && operand != source && builder_[operand].op == Op::Let &&
                       (source == -1 || builder_[operand].index != builder_[source].index);
    // A list may have any length; what runs over rollouts or groups has theirs.
    const bool sure = type(operand).rows > 0 && type(operand).rows == (source == -1 ? 0 : type(source).rows);
    if (other && source != -1 && shape->scope == Scope::List && !sure) {
      walked = builder_.make(Op::Align, type(walked), span, {walked, builder_.copy(operand)});
    }
  }
  const int loop = builder_.loop(shape->scope, walked);
  std::vector<NodeId> elements;
  std::vector<NodeId> tests;
  std::vector<std::int32_t> owned;
  for (const NodeId operand : operands) {
    if (!type(operand).vector()) {
      elements.push_back(operand);
      continue;
    }
    NodeId element = builder_.element(operand, loop, source);
    if (element == poison) return poison;
    if (!type(element).optional || guard == Guard::None) {
      elements.push_back(element);
      continue;
    }
    NodeId tested = element;
    if (builder_.leaf(element)) {
      tested = builder_.copy(element);
    } else {
      const Type given = type(element);
      const int let = builder_.let("", element);
      owned.push_back(let);
      tested = builder_.make(Op::Let, given, span, {}, let);
      element = builder_.make(Op::Let, given, span, {}, let);
    }
    tests.push_back(builder_.make(Op::IsUndefined, plain(Base::Bool), span, {tested}));
    elements.push_back(builder_.make(Op::Assume, defined(type(element)), span, {element}));
  }
  NodeId result = body(elements);
  if (result == poison) return poison;
  if (!tests.empty()) {
    NodeId test = tests[0];
    for (std::size_t i = 1; i < tests.size(); ++i) {
      test = builder_.make(Op::Or, plain(Base::Bool), span, {test, tests[i]});
    }
    const Type maybe = optional(type(result));
    result = builder_.make(Op::If, maybe, span, {test, builder_.constant(Cell::undefined(), maybe, span), result});
  }
  result = in_scope(result, std::move(owned), span);
  if (result == poison) return poison;
  const NodeId map = builder_.make(Op::Map, shaped(type(result), *shape), span, {result}, -1, loop);
  return in_scope(map, std::move(shared), span);
}

// Ints to reals, one by one.
NodeId Expressions::to_reals(NodeId node) {
  if (node == poison || type(node).base != Base::Int) return node;
  if (!type(node).vector()) return to_real(node);
  const Span span = builder_[node].span;
  if (builder_[node].op != Op::ListOf) {
    return lift({node}, span, [&](const std::vector<NodeId>& args) { return to_real(args[0]); }, Guard::None);
  }
  std::vector<NodeId> elements = builder_[node].args;
  Type result = type(node);
  result.base = Base::Real;
  result.prob = true;
  for (NodeId& element : elements) {
    element = to_real(element);
    if (element == poison) return poison;
    result.prob = result.prob && type(element).prob;
  }
  return builder_.make(Op::ListOf, result, span, std::move(elements));
}

// where(mask, a, b): a where the mask holds, else b; undefined where the mask is.
NodeId Expressions::where(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (e.args.size() != 3) {
    policy_.error("E0110", e.span, "`where` takes a mask and two values", "", "where(mask, a, b)");
    return poison;
  }
  std::vector<NodeId> nodes;
  for (const tree::ExprId arg : e.args) nodes.push_back(check(arg));
  if (std::find(nodes.begin(), nodes.end(), poison) != nodes.end()) return poison;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (type(nodes[i]).vector() && !require_defined(nodes[i], e.args[i], tree::none)) return poison;
  }
  if (type(nodes[0]).base != Base::Bool || !type(nodes[0]).vector()) {
    policy_.error("E0203", expr(e.args[0]).span, "a mask is a vector of true and false",
                  "this is " + describe(type(nodes[0])),
                  type(nodes[0]).vector() ? "" : "for one value write `if … then … else …`");
    return poison;
  }
  return lift(
      nodes, e.span,
      [&](const std::vector<NodeId>& args) -> NodeId {
        NodeId a = args[1];
        NodeId b = args[2];
        Type result = type(a);
        if (numeric(type(a)) && numeric(type(b))) {
          const std::optional<Type> common = unify(a, b, e.args[1], e.args[2], "E0213", "stand in one `where`");
          if (!common) return poison;
          result = *common;
        } else if (type(a).base != type(b).base) {
          policy_.error("E0204", e.span, "both values of `where` must be alike");
          return poison;
        }
        result.optional = type(args[0]).optional || type(a).optional || type(b).optional;
        NodeId mask = args[0];
        if (type(mask).optional) {
          mask = builder_.make(Op::Coalesce, plain(Base::Bool), e.span,
                               {mask, builder_.constant(Cell::of(false), plain(Base::Bool), e.span)});
          result.optional = type(a).optional || type(b).optional;
        }
        return builder_.make(Op::If, result, e.span, {mask, a, b});
      },
      Guard::None);
}

// elementwise(a, b): the product element by element, of matrices too.
NodeId Expressions::elementwise(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (e.args.size() != 2) {
    policy_.error("E0110", e.span, "`elementwise` takes two vectors or two matrices", "", "elementwise(a, b)");
    return poison;
  }
  const NodeId left = check(e.args[0]);
  const NodeId right = check(e.args[1]);
  if (left == poison || right == poison) return poison;
  for (const auto& [node, arg] : {std::pair{left, e.args[0]}, std::pair{right, e.args[1]}}) {
    if (!numeric(type(node)) || !type(node).vector()) {
      policy_.error("E0201", expr(arg).span, "`elementwise` multiplies vectors or matrices of numbers",
                    "this is " + describe(type(node)));
      return poison;
    }
    if (!require_defined(node, arg, tree::none)) return poison;
  }
  return multiply(Op::Multiply, left, right, e.span);
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
      if (scope == Scope::Rollouts || scope == Scope::Trained || of_many_groups(scope)) result = count(BaseUnit::Rollouts);
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

// A vector whose elements are what `expected` says; `id` is where it is written.
NodeId Expressions::fit_elements(NodeId vector, tree::ExprId id, const Type& expected, std::string_view role) {
  const Type given = type(vector);
  const Span span = expr(id).span;
  const bool number = expected.base == Base::Real && given.base == Base::Int;
  if (given.base != expected.base && !number) {
    policy_.error("E0201", span, "an element of " + std::string(role) + " is " + describe(expected),
                  "these are " + to_text(given));
    return poison;
  }
  if (given.optional && !expected.optional) {
    policy_.error("E0118", span, "elements of this may be undefined", "",
                  "say what then: `[x ?? 0.0 for x in " + policy_.text(id) + "]`");
    return poison;
  }
  if (!number) return vector;
  return lift({vector}, span, [&](const std::vector<NodeId>& args) { return to_real(args[0]); });
}

// A number of any unit as a plain real: what only orders or weighs has no unit of its own.
NodeId Expressions::rank(NodeId node, tree::ExprId id, bool optional_too, std::string_view role) {
  if (node == poison) return poison;
  if (type(node).vector() || !numeric(type(node))) {
    policy_.error(type(node).vector() ? "E0221" : "E0204", expr(id).span, std::string(role) + " is a number",
                  "this is " + describe(type(node)));
    return poison;
  }
  if (!optional_too && !require_defined(node, id, tree::none)) return poison;
  return to_real(node);
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
                  size ? "no group is open yet" : std::string(collection->where), size ? "walk `" + owner->name + ".prompts`" : "");
  } else if (collection) {
    binding.meaning = Meaning::Subject;
    binding.subject = element_subject(collection->scope);
    binding.scope = collection->scope;
    loop = builder_.loop(collection->scope);
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
  const auto of_group = [&](Fact fact) {
    const Type whole = vector_of(plain(Base::Int), group.scope);
    const int column = builder_.column({fact, {}, group.scope, whole, group.name + ".rollouts", span});
    return builder_.make(Op::Element, plain(Base::Int), span, {}, column, group.loop);
  };
  const NodeId places = builder_.make(Op::Call, vector_of(plain(Base::Int), Scope::List), span,
                                      {of_group(Fact::FirstRollout), of_group(Fact::Started)},
                                      find_builtin(places_of_group));
  return builder_.loop(*rollouts_of(group.scope), places);
}

// A fact of the rollout at which `loop` stands.
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
  const Span variable =
      declared_at(expr(e.args[0]).span.end, expr(e.args[1]).span.begin, "for", e.text, e.span);
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
