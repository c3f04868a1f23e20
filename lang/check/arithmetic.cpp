// Numbers meet: bases, units, prob, and the comparisons.
#include <utility>

#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {

// Literals alone: such a number takes the unit it meets.
bool Expressions::bare(tree::ExprId id) const {
  const tree::Expr& e = expr(id);
  switch (e.kind) {
    case tree::ExprKind::Integer:
    case tree::ExprKind::Real:
    case tree::ExprKind::Percent:
      return e.unit.empty();
    case tree::ExprKind::Unary:
      return e.op == "-" && bare(e.args[0]);
    case tree::ExprKind::Binary:
      return e.op != "and" && e.op != "or" && bare(e.args[0]) && bare(e.args[1]);
    case tree::ExprKind::Call: {
      if (find_builtin(e.text) < 0 || e.args.empty() || policy_.names.functions.contains(e.text)) return false;
      for (const tree::ExprId arg : e.args) {
        if (!bare(arg)) return false;
      }
      return true;
    }
    case tree::ExprKind::If:
      return bare(e.args[1]) && bare(e.args[2]);
    case tree::ExprKind::List: {
      for (const tree::ExprId arg : e.args) {
        if (!bare(arg)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

NodeId Expressions::to_real(NodeId id) {
  if (id == poison || type(id).base != Base::Int) return id;
  Type real = type(id);
  real.base = Base::Real;
  const Span span = builder_[id].span;
  if (const std::optional<Cell> value = builder_.value(id); value && value->defined != 0) {
    const double number = static_cast<double>(value->integer());
    real.prob = real.unit.plain() && number >= 0 && number <= 1;
    return builder_.constant(Cell::of(number), real, span);
  }
  if (!real.optional) return builder_.make(Op::ToReal, real, span, {id});
  // An undefined int stays undefined.
  if (!builder_.leaf(id)) {
    const int let = builder_.let("", id);
    id = builder_.make(Op::Let, type(id), span, {}, let);
    Node scope;
    scope.op = Op::Scope;
    scope.type = real;
    scope.span = span;
    scope.owned = {let};
    scope.args = {to_real(id)};
    return builder_.add(std::move(scope));
  }
  const NodeId test = builder_.make(Op::IsUndefined, plain(Base::Bool), span, {builder_.copy(id)});
  const NodeId known = builder_.make(Op::Assume, defined(type(id)), span, {id});
  return builder_.make(Op::If, real, span,
                       {test, builder_.constant(Cell::undefined(), real, span),
                        builder_.make(Op::ToReal, defined(real), span, {known})});
}

std::optional<Type> Expressions::unify(NodeId& a, NodeId& b, tree::ExprId left, tree::ExprId right,
                                       std::string_view code, std::string_view words) {
  const Type x = type(a);
  const Type y = type(b);
  Type result = x;
  if (!(x.unit == y.unit)) {
    if (x.unit.plain() && bare(left)) {
      result.unit = y.unit;
    } else if (!(y.unit.plain() && bare(right))) {
      units_clash(code, words, x, y, left, right);
      return std::nullopt;
    }
  }
  if (x.base != y.base) {
    a = to_real(a);
    b = to_real(b);
    if (a == poison || b == poison) return std::nullopt;
    result.base = Base::Real;
  }
  result.prob = type(a).prob && type(b).prob;
  return result;
}

namespace {

// `rollout` of what counts rollouts and nothing else, as people write it after 1; empty for any other unit.
std::string singular(const Unit& unit) {
  const std::string plural = to_text(unit);
  return plural.find(' ') == std::string::npos && plural.ends_with('s') ? plural.substr(0, plural.size() - 1) : "";
}

}  // namespace

// `x ?? 0 / y` is read as `x ?? (0 / y)`, and mostly not meant so.
std::string Expressions::brackets_for(std::string_view words, tree::ExprId left, tree::ExprId right) const {
  const tree::Expr& e = expr(right);
  if (words != "stand around `??`" || e.kind != tree::ExprKind::Binary || !bare(e.args[0])) return {};
  const Span rest{expr(e.args[0]).span.end, e.span.end};
  return "`??` comes last: write `(" + policy_.text(left) + " ?? " + policy_.text(e.args[0]) + ") " + policy_.text(rest) + "`";
}

// A fact met a name or a number of another unit: the fact of the same subject that counts what the other one does.
std::string Expressions::another_fact(std::string_view code, tree::ExprId left, tree::ExprId right, const Type& a,
                                      const Type& b) {
  const auto literal = [&](tree::ExprId id) {
    const tree::ExprKind kind = expr(id).kind;
    return kind == tree::ExprKind::Name || kind == tree::ExprKind::Integer || kind == tree::ExprKind::Real;
  };
  const bool first = literal(right);
  if (!first && !literal(left)) return {};
  const tree::Expr& fact = expr(first ? left : right);
  const Unit& wanted = first ? b.unit : a.unit;
  const Binding* const owner = fact.kind == tree::ExprKind::Field ? subject(fact.args[0]) : nullptr;
  if (!owner || wanted.plain()) return {};
  for (const FactRow& row : fact_rows()) {
    const bool counts = row.subject == owner->subject && !row.name.empty() && row.type.unit == wanted;
    if (!counts || row.type.vector() || row.type.optional || !known_at(row, where_.point)) continue;
    const std::string other = owner->name + "." + std::string(row.name);
    const Span before{expr(left).span.begin, fact.span.begin};
    const Span after{fact.span.end, expr(right).span.end};
    return std::string(code == "E0214" ? "compare" : "say") + " `" +
           (first ? other + " " + policy_.text(after) : policy_.text(before) + " " + other) + "`";
  }
  return {};
}

// What brings two counts together: so many of the one for each of the other.
std::string Expressions::one_for_each(tree::ExprId left, tree::ExprId right, const Type& a, const Type& b) const {
  const bool plain = a.unit.plain() || b.unit.plain();
  const tree::ExprId counted = a.unit.plain() ? right : b.unit.plain() ? left : right;
  const std::string unit = singular(a.unit.plain() ? b.unit : plain ? a.unit : b.unit);
  const std::string other = singular(a.unit);
  if (unit.empty() || (!plain && other.empty())) {
    return plain ? "a unit follows a literal or stands in a declaration: `8 rollouts`, `param n: rollouts`" : "";
  }
  const tree::Expr& e = expr(counted);
  const bool sum = e.kind == tree::ExprKind::Binary && e.op != "*" && e.op != "/";
  const bool open = sum || e.kind == tree::ExprKind::If || e.kind == tree::ExprKind::Allot;
  const std::string count = (open ? "(" : "") + policy_.text(counted) + (open ? ")" : "");
  if (plain) return "`" + count + " / 1 " + unit + "` is a plain number";
  return "say how many " + other + "s count as one of the " + unit + "s: `" + count + " * (1 " + other + " / 1 " + unit + ")`";
}

// Both sides, where each was declared, and the smallest change that makes them meet.
void Expressions::units_clash(std::string_view code, std::string_view words, const Type& a, const Type& b,
                              tree::ExprId left, tree::ExprId right) {
  const auto side = [&](tree::ExprId id, const Type& type) {
    const tree::Expr& e = expr(id);
    const Binding* const binding = e.kind == tree::ExprKind::Name ? policy_.names.find(e.text) : nullptr;
    if (!binding) return "this is " + describe(defined(type));
    return quoted(e.text) + " is " + describe(defined(type)) + " (declared at " + policy_.place(binding->span) + ")";
  };
  std::string help = another_fact(code, left, right, a, b);
  const auto declare = [&](tree::ExprId id, const Type& wanted) {
    const Binding* const parameter = expr(id).kind == tree::ExprKind::Name ? policy_.names.find(expr(id).text) : nullptr;
    if (!parameter || parameter->kind != "parameter") return;
    const std::string name = expr(id).text;
    help += help.empty() ? "" : ", or ";
    if (!wanted.unit.plain() && singular(wanted.unit).empty()) {  // no declaration can say it
      help += "give `" + name + "` the unit where it stands: `" + name + ones(wanted.unit) + "`";
      return;
    }
    const std::string declared = wanted.unit.plain() ? to_text(defined(wanted)) : to_text(wanted.unit);
    help += "give `" + name + "` in " + declared + ": `param " + name + ": " + declared + " = …`";
  };
  if (help.empty()) help = brackets_for(words, left, right);
  declare(right, a);
  if (help.empty()) declare(left, b);
  if (help.empty()) help = one_for_each(left, right, a, b);
  policy_.error(std::string(code), expr(left).span,
                code == "E0214"
                    ? describe(defined(a)) + " cannot be compared with " + describe(defined(b))
                    : describe(defined(a)) + " and " + describe(defined(b)) + " cannot " + std::string(words),
                side(left, a), help, {{expr(right).span, side(right, b)}});
}

namespace {

Op operation(const std::string& op) {
  if (op == "+") return Op::Add;
  if (op == "-") return Op::Subtract;
  if (op == "*") return Op::Multiply;
  if (op == "/") return Op::Divide;
  return Op::Modulo;
}

std::string_view verb(const std::string& op) {
  if (op == "+") return "be added";
  if (op == "-") return "be subtracted";
  return "stand around `mod`";
}

Op comparison(const std::string& op) {
  if (op == "<") return Op::Less;
  if (op == "<=") return Op::LessEqual;
  if (op == ">") return Op::Greater;
  if (op == ">=") return Op::GreaterEqual;
  return op == "==" ? Op::Equal : Op::NotEqual;
}

}  // namespace

NodeId Expressions::arithmetic(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const NodeId left = check(e.args[0]);
  const NodeId right = check(e.args[1]);
  if (left == poison || right == poison) return poison;
  for (const auto& [node, arg] : {std::pair{left, e.args[0]}, std::pair{right, e.args[1]}}) {
    if (!numeric(type(node))) {
      policy_.error("E0204", expr(arg).span, quoted(e.op) + " needs numbers", "this is " + describe(type(node)));
      return poison;
    }
    if (!require_defined(node, arg, id)) return poison;
  }
  const Op op = operation(e.op);
  if (op == Op::Multiply && type(left).vector() && type(right).vector() &&
      (type(left).matrix() || type(right).matrix())) {
    return matrix_product(left, right, id);
  }
  if (op == Op::Multiply || op == Op::Divide) return multiply(op, left, right, e.span);
  return lift({left, right}, e.span, [&](const std::vector<NodeId>& args) -> NodeId {
    NodeId a = args[0];
    NodeId b = args[1];
    const std::optional<Type> common = unify(a, b, e.args[0], e.args[1], "E0213", verb(e.op));
    if (!common) return poison;
    Type result = *common;
    const std::optional<Cell> first = builder_.value(a);
    const bool one = first && result.base == Base::Real && first->real() == 1;
    result.prob = op == Op::Subtract && one && type(b).prob;  // 1 - p
    return builder_.make(op, result, e.span, {a, b});
  });
}

NodeId Expressions::multiply(Op op, NodeId left, NodeId right, Span span) {
  return lift({left, right}, span, [&](const std::vector<NodeId>& args) -> NodeId {
    NodeId a = args[0];
    NodeId b = args[1];
    if (op == Op::Divide || type(a).base != type(b).base) {
      a = to_real(a);
      b = to_real(b);
      if (a == poison || b == poison) return poison;
    }
    Type result = type(a);
    result.unit = product(type(a).unit, type(b).unit, op == Op::Divide ? -1 : 1);
    result.prob = op == Op::Multiply && type(a).prob && type(b).prob;
    return builder_.make(op, result, span, {a, b});
  });
}

// `*` between matrices, and between a matrix and a vector, is the product of linear algebra.
NodeId Expressions::matrix_product(NodeId left, NodeId right, tree::ExprId id) {
  const tree::Expr& e = expr(id);
  if (!type(left).matrix()) {
    policy_.error("E0220", e.span, "a vector times a matrix has no meaning here", "the matrix comes first",
                  "write `transpose(m) * v` for the row v times m");
    return poison;
  }
  return apply(find_builtin("matmul"), {left, right}, e.args, e.span);
}

NodeId Expressions::compare_pair(const std::string& op, NodeId a, NodeId b, tree::ExprId left, tree::ExprId right,
                                 Span span, tree::ExprId whole) {
  if (!require_defined(a, left, whole)) return poison;
  if (!require_defined(b, right, whole)) return poison;
  const bool ordered = op != "==" && op != "!=";
  const bool numbers = numeric(type(a)) && numeric(type(b));
  const bool same = type(a).base == type(b).base && (type(a).base == Base::Bool || type(a).base == Base::Prompt || type(a).base == Base::Category);
  if (!numbers && (ordered || !same)) {
    policy_.error("E0204", span,
                  describe(type(a)) + " and " + describe(type(b)) + " cannot be compared with " + quoted(op), "",
                  same ? "use `==` or `!=`" : "");
    return poison;
  }
  return lift({a, b}, span, [&](const std::vector<NodeId>& args) -> NodeId {
    NodeId x = args[0];
    NodeId y = args[1];
    if (numbers && !unify(x, y, left, right, "E0214", "be compared")) return poison;
    return builder_.make(comparison(op), plain(Base::Bool), span, {x, y});
  });
}

NodeId Expressions::compare(tree::ExprId id) {
  const tree::Expr& e = expr(id);
  const auto text = [&](std::size_t i) { return expr(e.args[i]).kind == tree::ExprKind::String; };
  if (e.args.size() == 2 && text(0) && text(1)) {
    const bool equal = policy_.text(e.args[0]) == policy_.text(e.args[1]);
    return builder_.constant(Cell::of(equal == (e.ops[0] == "==")), plain(Base::Bool), e.span);
  }
  std::vector<NodeId> nodes;
  bool poisoned = false;
  for (const tree::ExprId arg : e.args) {
    nodes.push_back(check(arg));
    poisoned = poisoned || nodes.back() == poison;
  }
  if (poisoned) return poison;
  // A value in the middle of a chain is computed once.
  std::vector<std::int32_t> owned;
  std::vector<int> lets(nodes.size(), -1);
  for (std::size_t i = 1; i + 1 < nodes.size(); ++i) {
    if (builder_.leaf(nodes[i])) continue;
    lets[i] = builder_.let("", nodes[i]);
    owned.push_back(lets[i]);
  }
  const auto operand = [&](std::size_t i) {
    if (lets[i] >= 0) return builder_.make(Op::Let, type(nodes[i]), builder_[nodes[i]].span, {}, lets[i]);
    return i > 0 && i + 1 < nodes.size() ? builder_.copy(nodes[i]) : nodes[i];
  };
  NodeId result = poison;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const Span span{expr(e.args[i]).span.begin, expr(e.args[i + 1]).span.end};
    const NodeId pair = compare_pair(e.ops[i], operand(i), operand(i + 1), e.args[i], e.args[i + 1], span, id);
    if (pair == poison) return poison;
    result = i == 0 ? pair : lift({result, pair}, e.span, [&](const std::vector<NodeId>& args) {
      return builder_.make(Op::And, plain(Base::Bool), e.span, args);
    });
  }
  if (owned.empty() || result == poison) return result;
  Node scope;
  scope.op = Op::Scope;
  scope.type = type(result);
  scope.span = e.span;
  scope.args = {result};
  scope.owned = std::move(owned);
  return builder_.add(std::move(scope));
}

}  // namespace allot::lang::checker
