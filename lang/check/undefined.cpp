// What may be undefined must be met before it is used; a test of it narrows what follows.
#include <algorithm>

#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

std::string_view stand_in(const Type& type) {
  if (type.base == Base::Bool) return "false";
  if (type.base == Base::Int) return "0";
  if (type.base == Base::Beta) return "beta(1, 1)";
  return type.prob ? "0.5" : "0.0";
}

namespace {

// "…; undefined while no rollout is scored." tells when.
std::string when_undefined(std::string_view doc) {
  const std::size_t begin = doc.find("undefined ");
  if (begin == std::string_view::npos) return {};
  const std::size_t end = doc.find('.', begin);
  return std::string(doc.substr(begin, end == std::string_view::npos ? end : end - begin));
}

std::vector<std::string> join(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::string> common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> result;
  for (const std::string& path : a) {
    if (std::find(b.begin(), b.end(), path) != b.end()) result.push_back(path);
  }
  return result;
}

}  // namespace

std::string Expressions::why_undefined(NodeId node) const {
  const Node& n = builder_[node];
  const auto at = [](const std::vector<ReadKey>& keys, std::int32_t i) {
    return keys[static_cast<std::size_t>(i)].fact;
  };
  switch (n.op) {
    case Op::Read:
      return when_undefined(row(at(builder_.handler.reads, n.index)).doc);
    case Op::Element:
      return n.index < 0 ? std::string() : when_undefined(row(at(builder_.handler.columns, n.index)).doc);
    case Op::Let:
      return why_undefined(builder_.handler.lets[static_cast<std::size_t>(n.index)].value);
    case Op::Call:
      return when_undefined(builtins()[static_cast<std::size_t>(n.index)].doc);
    case Op::Reduce:
      return "undefined of nothing";
    default:
      return {};
  }
}

bool Expressions::require_defined(NodeId node, tree::ExprId id, tree::ExprId whole) {
  if (type(node).vector() ? !type(node).missing : !type(node).optional) return true;
  undefined_here(node, id, whole);
  return false;
}

bool Expressions::require_elements(NodeId node, tree::ExprId id) {
  if (!require_defined(node, id, tree::none)) return false;
  if (!type(node).optional) return true;
  undefined_here(node, id, tree::none);
  return false;
}

void Expressions::undefined_here(NodeId node, tree::ExprId id, tree::ExprId whole) {
  const tree::Expr& e = expr(id);
  if (e.kind == tree::ExprKind::Undefined) {
    policy_.error("E0118", e.span, "`undefined` cannot be used like this", "",
                  "test it with `is undefined`, or leave a value out with `if … then … else undefined`");
    return;
  }
  const std::string text = policy_.text(id);
  const bool simple = e.kind == tree::ExprKind::Name || e.kind == tree::ExprKind::Field ||
                      e.kind == tree::ExprKind::Call || e.kind == tree::ExprKind::Index;
  const bool statistic = e.kind == tree::ExprKind::Call && is_statistic(e.text);
  // A distance of no pairs is taken for a large one, so that nothing is stopped for lack of siblings.
  const std::string_view then = statistic ? "1.0" : stand_in(type(node));
  std::string met = "(" + (simple ? text : "(" + text + ")") + " ?? " + std::string(then) + ")";
  if (whole != tree::none) {
    const Span outer = expr(whole).span;
    met = policy_.text({outer.begin, e.span.begin}) +
          (e.span.begin > outer.begin && policy_.source.text()[e.span.begin - 1] == ' ' ? " " : "") + met +
          (e.span.end < outer.end && policy_.source.text()[e.span.end] == ' ' ? " " : "") +
          policy_.text({e.span.end, outer.end});
  }
  const bool testable = !path(id).empty();
  if (type(node).missing) {
    policy_.error("E0118", e.span, "this " + std::string(type(node).matrix() ? "matrix" : "vector") + " may be undefined",
                  why_undefined(node),
                  testable ? "test `" + text + " is undefined` first" : "name it with `let` and test `is undefined` first");
    return;
  }
  policy_.error("E0118", e.span, type(node).vector() ? "elements of this may be undefined" : "this may be undefined",
                why_undefined(node),
                "say what then: " + quoted(met) +
                    (type(node).vector() ? ""
                     : testable          ? ", or test `" + text + " is undefined` first"
                                         : ", or name it with `let` and test `is undefined` first"));
}

// A name, or a fact of one: what `is undefined` can narrow. The id tells two variables of one name apart.
std::string Expressions::path(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (e.kind == tree::ExprKind::Name) {
    const Binding* const binding = policy_.names.find(e.text);
    return binding ? e.text + "#" + std::to_string(binding->id) : e.text;
  }
  if (e.kind == tree::ExprKind::Field) {
    const std::string owner = path(e.args[0]);
    return owner.empty() ? owner : owner + "." + e.text;
  }
  if (e.kind == tree::ExprKind::Index) {
    std::string owner = path(e.args[0]);
    for (std::size_t i = 1; i < e.args.size(); ++i) {
      const std::string key = path(e.args[i]);
      if (owner.empty() || key.empty()) return {};
      owner += "[" + key + "]";
    }
    return owner;
  }
  return e.kind == tree::ExprKind::Integer ? e.text : std::string();
}

NodeId Expressions::assume_if_known(NodeId node, const std::string& path) {
  if (node == poison || path.empty()) return node;
  if (type(node).vector() ? !type(node).missing : !type(node).optional) return node;
  const Known* known = nullptr;
  for (const Known& candidate : narrowed_) {
    if (candidate.path != path || (candidate.rule && in_effect_)) continue;
    if (!known || !candidate.rule) known = &candidate;
  }
  if (!known) return node;
  if (known->rule) relies_on_ = known->rule;
  Type sure = type(node);
  (sure.vector() ? sure.missing : sure.optional) = false;
  return builder_.make(Op::Assume, sure, builder_[node].span, {node});
}

std::vector<std::string> Expressions::defined_when(tree::ExprId condition, bool holds) {
  const tree::Expr& e = expr(condition);
  if (e.kind == tree::ExprKind::IsUndefined) {
    const std::string tested = path(e.args[0]);
    return e.negated == holds && !tested.empty() ? std::vector{tested} : std::vector<std::string>{};
  }
  if (e.kind == tree::ExprKind::Unary && e.op == "not") return defined_when(e.args[0], !holds);
  if (e.kind != tree::ExprKind::Binary || (e.op != "and" && e.op != "or")) return {};
  const std::vector<std::string> left = defined_when(e.args[0], holds);
  const std::vector<std::string> right = defined_when(e.args[1], holds);
  return (e.op == "and") == holds ? join(left, right) : common(left, right);
}

std::size_t Expressions::narrow(const std::vector<std::string>& paths, std::optional<Span> rule) {
  const std::size_t mark = narrowed_.size();
  for (const std::string& path : paths) narrowed_.push_back({path, rule});
  return mark;
}

NodeId Expressions::is_undefined(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const NodeId node = check(e.args[0]);
  if (node == poison) return poison;
  const bool whole = type(node).missing;
  if (!type(node).optional && !whole) {
    policy_.warning("W0502", e.span, "this is always " + std::string(e.negated ? "true" : "false"),
                    quoted(policy_.text(e.args[0])) + " is never undefined");
  }
  const auto test = [&](const std::vector<NodeId>& args) {
    const NodeId made = builder_.make(Op::IsUndefined, plain(Base::Bool), e.span, args);
    return e.negated ? builder_.make(Op::Not, plain(Base::Bool), e.span, {made}) : made;
  };
  return whole ? test({node}) : lift({node}, e.span, test, Guard::None);
}

NodeId Expressions::coalesce(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  NodeId left = check(e.args[0]);
  const bool sure = left != poison && !type(left).optional && !type(left).missing;
  NodeId right = check_unless(sure, e.args[1]);
  if (left == poison || right == poison) return poison;
  if (type(left).missing) {
    if (!type(right).vector() || !same_shape(type(left), type(right)) || type(left).base != type(right).base ||
        !(type(left).unit == type(right).unit)) {
      policy_.error("E0204", e.span, "both sides of `??` must be alike",
                    "one is " + describe(type(left)) + ", the other " + describe(type(right)));
      return poison;
    }
    Type result = type(left);
    result.missing = type(right).missing;
    result.optional = result.optional || type(right).optional;
    result.prob = result.prob && type(right).prob;
    return builder_.make(Op::Coalesce, result, e.span, {left, right});
  }
  if (!type(left).optional) {
    policy_.warning("W0502", e.span, "the part after `??` is never used",
                    quoted(policy_.text(e.args[0])) + " is never undefined");
    return left;
  }
  return lift(
      {left, right}, e.span,
      [&](const std::vector<NodeId>& args) -> NodeId {
        NodeId a = args[0];
        NodeId b = args[1];
        Type result = type(a);
        if (numeric(type(a)) && numeric(type(b))) {
          const std::optional<Type> common = unify(a, b, e.args[0], e.args[1], "E0213", "stand around `??`");
          if (!common) return poison;
          result = *common;
        } else if (type(a).base != type(b).base) {
          policy_.error("E0204", e.span, "both sides of `??` must be alike",
                        "one is " + describe(defined(type(a))) + ", the other " + describe(defined(type(b))));
          return poison;
        }
        result.optional = type(b).optional;
        return builder_.make(Op::Coalesce, result, e.span, {a, b});
      },
      Guard::None);
}

}  // namespace allot::lang::checker
