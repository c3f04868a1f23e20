// Functions of the file, put in place of their calls.
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

NodeId Expressions::refined(NodeId node, tree::ExprId id, const tree::TypeName& name, const std::string& role) {
  if (node == poison || !numeric(type(node))) return node;
  const std::optional<Range> range = read_range(policy_, name, type(node));
  return range ? refine(node, id, range->low, range->high, role) : node;
}

// Whether elements may be undefined that the function does not expect so. A function that only reduces a vector loses
// nothing by taking it as it is, while a number in place of what is missing would count as one.
bool Expressions::elements_unmet(NodeId node, const Type& wanted, tree::ExprId id, const tree::Param& param) {
  const Type& given = type(node);
  if (!given.vector() || !wanted.vector() || given.missing || !given.optional || wanted.optional) return false;
  if (!same_shape(given, wanted)) return false;  // `fit` says so, as it says of another type
  if (given.base != wanted.base && !(numeric(given) && wanted.base == Base::Real)) return false;
  const tree::TypeName& written = param.type;
  std::string help;
  if (!written.arguments.empty()) {
    const std::uint32_t middle = written.arguments[0].span.begin + static_cast<std::uint32_t>(written.arguments[0].name.size());
    help = "let the function take such: `" + policy_.text(Span{param.name.span.begin, middle}) + "?" +
           policy_.text(Span{middle, written.span.end}) + "`, or say ";
  }
  policy_.error("E0118", expr(id).span, "elements of this may be undefined", why_undefined(node),
                (help.empty() ? "say " : help) + "what then: `" + as_operand(id) + " ?? " + std::string(stand_in(given)) + "`",
                {{{param.name.span.begin, written.span.end}, "here they may not"}});
  return true;
}

// The function's body in place of the call. Arguments are computed when needed, at most once; a cheap one is repeated.
NodeId Expressions::inline_function(int index, tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const tree::FunctionDecl& function = policy_.tree.functions[static_cast<std::size_t>(index)];
  policy_.names.function_used[static_cast<std::size_t>(index)] = 1;
  std::vector<std::string> names;
  for (const tree::Param& param : function.params) names.push_back(param.name.text);
  const std::optional<std::vector<tree::ExprId>> ids = arrange(e, names, {});
  if (!ids || policy_.broken_functions[static_cast<std::size_t>(index)]) {
    for (const tree::ExprId arg : e.args) check(arg);
    return poison;
  }
  std::vector<std::int32_t> owned;
  std::vector<Binding> bindings;
  bool poisoned = false;
  for (std::size_t i = 0; i < ids->size(); ++i) {
    const tree::Param& param = function.params[i];
    std::optional<Type> wanted = read_type(policy_, param.type);
    if (!wanted) return poison;
    const std::string role = quoted(param.name.text) + " of " + quoted(function.name.text);
    NodeId node = check((*ids)[i]);
    if (node != poison) adopt_shape(*wanted, type(node));
    if (node != poison && elements_unmet(node, *wanted, (*ids)[i], param)) node = poison;
    if (node != poison) node = fit(node, (*ids)[i], *wanted, role);
    node = refined(node, (*ids)[i], param.type, role);
    if (node == poison) {
      poisoned = true;
      continue;
    }
    const Type declared = wanted->vector() ? type(node) : *wanted;
    Binding binding;
    binding.kind = "argument";
    binding.name = param.name.text;
    binding.span = param.name.span;
    binding.used = true;
    if (builder_.leaf(node)) {
      binding.node = builder_[node];
    } else {
      owned.push_back(builder_.let(param.name.text, node));
      binding.node.op = Op::Let;
      binding.node.index = owned.back();
    }
    binding.node.type = declared;
    bindings.push_back(std::move(binding));
  }
  if (poisoned) return poison;
  std::optional<Type> result = read_type(policy_, function.result);
  if (!result) return poison;
  policy_.names.enter(true, function.imported);
  for (Binding& binding : bindings) policy_.names.declare(std::move(binding));
  NodeId body = check(function.body);
  if (body != poison) adopt_shape(*result, type(body));
  body = body == poison ? poison : fit(body, function.body, *result, "the result of " + quoted(function.name.text));
  policy_.names.leave();
  body = refined(body, function.body, function.result, "the result of " + quoted(function.name.text));
  if (body == poison) return poison;
  Type shown = *result;
  if (shown.vector()) shown = type(body);
  if (owned.empty()) {
    // A bare number that is the whole body takes the unit of the result.
    if (const Node& node = builder_[body]; node.op == Op::Constant && !(node.type.unit == shown.unit)) {
      Type with_unit = node.type;
      with_unit.unit = shown.unit;
      return builder_.constant(node.cell, with_unit, node.span);
    }
    if (!(type(body) == shown) && builder_[body].op != Op::Constant) builder_.retype(body, shown);
    return body;
  }
  Node scope;
  scope.op = Op::Scope;
  scope.type = shown;
  scope.span = e.span;
  scope.args = {body};
  scope.owned = std::move(owned);
  return builder_.add(std::move(scope));
}

}  // namespace allot::lang::checker
