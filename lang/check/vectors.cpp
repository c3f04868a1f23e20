// Vectors and matrices, combined element by element.
#include <algorithm>
#include <utility>

#include "lang/check/collections.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
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

// What is walked: `source`, which has to be as long as every other list that is read at its position.
NodeId Expressions::aligned(const std::vector<NodeId>& operands, NodeId source, Scope scope, Span span) {
  NodeId walked = source;
  for (const NodeId operand : operands) {
    const bool other = type(operand).vector() && operand != source && builder_[operand].op == Op::Let &&
                       (source == -1 || builder_[operand].index != builder_[source].index);
    // A list may have any length; what runs over rollouts or groups has theirs.
    const bool sure = type(operand).rows > 0 && type(operand).rows == (source == -1 ? 0 : type(source).rows);
    if (other && source != -1 && scope == Scope::List && !sure) {
      walked = builder_.make(Op::Align, type(walked), span, {walked, builder_.copy(operand)});
    }
  }
  return walked;
}

// An element to compute with as if it were defined; whether it is not comes to `tests`.
NodeId Expressions::assumed(NodeId element, Span span, std::vector<NodeId>& tests, std::vector<std::int32_t>& owned) {
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
  return builder_.make(Op::Assume, defined(type(element)), span, {element});
}

// The result, or undefined where one of the tests holds.
NodeId Expressions::unless_any(const std::vector<NodeId>& tests, NodeId result, Span span) {
  if (tests.empty()) return result;
  NodeId test = tests[0];
  for (std::size_t i = 1; i < tests.size(); ++i) {
    test = builder_.make(Op::Or, plain(Base::Bool), span, {test, tests[i]});
  }
  const Type maybe = optional(type(result));
  return builder_.make(Op::If, maybe, span, {test, builder_.constant(Cell::undefined(), maybe, span), result});
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
  const int loop = builder_.loop(shape->scope, aligned(operands, source, shape->scope, span));
  std::vector<NodeId> elements;
  std::vector<NodeId> tests;
  std::vector<std::int32_t> owned;
  for (const NodeId operand : operands) {
    if (!type(operand).vector()) {
      elements.push_back(operand);
      continue;
    }
    const NodeId element = builder_.element(operand, loop, source);
    if (element == poison) return poison;
    const bool guarded = type(element).optional && guard == Guard::Elements;
    elements.push_back(guarded ? assumed(element, span, tests, owned) : element);
  }
  NodeId result = body(elements);
  if (result == poison) return poison;
  result = in_scope(unless_any(tests, result, span), std::move(owned), span);
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

}  // namespace allot::lang::checker
