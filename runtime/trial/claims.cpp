#include "runtime/trial/claims.h"

#include <cmath>

#include <fmt/format.h>

#include "runtime/trial/expected.h"

namespace allot::trial {
namespace {

using lang::tree::Expr;
using lang::tree::ExprId;
using lang::tree::ExprKind;
using lang::tree::File;
using Kind = Value::Kind;

bool is_number(const Value& value) { return value.kind == Kind::Int || value.kind == Kind::Real; }
double number(const Value& value) { return value.kind == Kind::Int ? static_cast<double>(value.integer) : value.real; }

// Whole numbers exactly, others to 1e-9: decimal fractions are rounded where they are read, computed ones where they are
// computed.
bool equal(const Value& a, const Value& b) {
  if (a.kind == Kind::Int && b.kind == Kind::Int) return a.integer == b.integer;
  if (is_number(a) && is_number(b)) return near(number(a), number(b));
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::Bool: return a.integer == b.integer;
    case Kind::String: return a.text == b.text;
    case Kind::Beta: return near(a.real, b.real) && near(a.second, b.second);
    case Kind::List: break;
    default: return true;
  }
  if (a.items.size() != b.items.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i])) return false;
  }
  return true;
}

class Judge {
 public:
  Judge(const File& tree, const Look& look) : tree_(tree), look_(look) {}

  Result<bool> truth(ExprId id) {
    const Expr& e = tree_[id];
    if (e.kind == ExprKind::Compare) return compare(e);
    if (e.kind == ExprKind::IsUndefined) {
      auto inner = value(e.args[0]);
      if (!inner) return inner.error();
      return (inner->kind == Kind::Undefined) != e.negated;
    }
    if (e.kind == ExprKind::Unary && e.op == "not") {
      auto inner = truth(e.args[0]);
      return inner ? Result<bool>(!*inner) : inner;
    }
    if (e.kind == ExprKind::Binary && (e.op == "and" || e.op == "or")) {
      auto left = truth(e.args[0]);
      if (!left || *left == (e.op == "or")) return left;
      return truth(e.args[1]);
    }
    auto whole = value(id);
    if (!whole) return whole.error();
    if (whole->kind != Kind::Bool) return Error{"a claim is true or false, not " + show(*whole), "compare it with something"};
    return whole->integer != 0;
  }

  std::string seen() const { return seen_; }

 private:
  Result<bool> compare(const Expr& e) {
    auto left = value(e.args[0]);
    for (std::size_t i = 0; i < e.ops.size(); ++i) {
      auto right = value(e.args[i + 1]);
      if (!left) return left.error();
      if (!right) return right.error();
      auto holds = compare(e.ops[i], *left, *right);
      if (!holds || !*holds) return holds;
      left = std::move(right);
    }
    return true;
  }

  static Result<bool> compare(const std::string& op, const Value& a, const Value& b) {
    if (op == "==") return equal(a, b);
    if (op == "!=") return !equal(a, b);
    if (!is_number(a) || !is_number(b)) return Error{show(a) + " and " + show(b) + " have no order", ""};
    const double x = number(a), y = number(b);
    return op == "<" ? x < y : op == "<=" ? x <= y : op == ">" ? x > y : x >= y;
  }

  // A sum of what is looked at, or one such thing.
  Result<Value> value(ExprId id) {
    const Expr& e = tree_[id];
    const bool negated = e.kind == ExprKind::Unary && e.op == "-";
    const bool joined = e.kind == ExprKind::Binary && (e.op == "+" || e.op == "-" || e.op == "*" || e.op == "/");
    if (!negated && !joined) return one_value(id);
    auto left = negated ? Result<Value>(Value::of(Kind::Int, 0)) : value(e.args[0]);
    auto right = value(e.args[negated ? 0 : 1]);
    if (!left) return left;
    if (!right) return right;
    if (!is_number(*left) || !is_number(*right)) return literal(tree_, id, allowance_);  // `[0] * 3`
    return calculate(e.op.front(), *left, *right);
  }

  static Result<Value> calculate(char op, const Value& a, const Value& b) {
    const double x = number(a), y = number(b);
    const double result = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
    if (!std::isfinite(result)) return Error{fmt::format("{} {} {} is no number", show(a), op, show(b)), ""};
    constexpr double exact = 9'007'199'254'740'992.0;  // 2^53: whole numbers up to here are exact
    const bool whole = op != '/' && a.kind == Kind::Int && b.kind == Kind::Int && std::abs(result) <= exact;
    return whole ? Value::of(Kind::Int, static_cast<std::int64_t>(result)) : Value::of(Kind::Real, 0, result);
  }

  Result<Value> one_value(ExprId id) {
    const Expr& e = tree_[id];
    std::optional<Place> asked = path(id);
    if (!asked && e.kind == ExprKind::Index) return element(e);
    if (!asked) return literal(tree_, id, allowance_);
    if (e.kind == ExprKind::Index) {
      auto key = literal(tree_, e.args[1], allowance_);
      if (!key) return key.error();
      if (key->kind != Kind::String) return element(e);
      asked->key = key->text;
      asked->keyed = true;
    }
    auto found = look_(*asked);
    if (!found) return found;
    const std::string text = asked->name + (asked->field.empty() ? "" : "." + asked->field) +
                             (asked->keyed ? "[\"" + asked->key + "\"]" : "");
    seen_ += (seen_.empty() ? "" : ", ") + text + " = " + show(*found);
    return found;
  }

  // `next["a"][1]` of a vector, `moves["a"][1, 0]` of a matrix.
  Result<Value> element(const Expr& e) {
    auto list = value(e.args[0]);
    for (std::size_t i = 1; list && i < e.args.size(); ++i) {
      auto place = literal(tree_, e.args[i], allowance_);
      if (!place) return place.error();
      const auto at = static_cast<std::size_t>(place->integer);
      if (list->kind != Kind::List || place->kind != Kind::Int || place->integer < 0 || at >= list->items.size()) {
        return Error{show(*list) + " has no element " + show(*place), ""};
      }
      list = Value(list->items[at]);
    }
    return list;
  }

  // A dotted name: `sara.belief`, `a.started`, with a key `belief["a"]`.
  std::optional<Place> path(ExprId id) const {
    const Expr* e = &tree_[id];
    if (e->kind == ExprKind::Index) e = &tree_[e->args[0]];
    std::string text;
    for (; e->kind == ExprKind::Field; e = &tree_[e->args[0]]) text = "." + e->text + text;
    if (e->kind != ExprKind::Name) return std::nullopt;
    text = e->text + text;
    const std::size_t dot = text.rfind('.');
    Place asked;
    asked.name = text.substr(0, dot);
    if (dot != std::string::npos) asked.field = text.substr(dot + 1);
    return asked;
  }

  const File& tree_;
  const Look& look_;
  Allowance allowance_;
  std::string seen_;
};

}  // namespace

std::string show(const Value& value) {
  switch (value.kind) {
    case Kind::Undefined: return "undefined";
    case Kind::Bool: return value.integer != 0 ? "true" : "false";
    case Kind::Int: return std::to_string(value.integer);
    case Kind::Real: return fmt::format("{}", value.real);
    case Kind::Beta: return fmt::format("beta({}, {})", value.real, value.second);
    case Kind::String: return "\"" + value.text + "\"";
    case Kind::List: break;
  }
  std::string text;
  for (const Value& item : value.items) text += (text.empty() ? "" : ", ") + show(item);
  return "[" + text + "]";
}

Result<Claim> judge(const lang::tree::File& tree, ExprId condition, const Look& look) {
  Judge judge(tree, look);
  auto truth = judge.truth(condition);
  if (!truth) return truth.error();
  return Claim{*truth, judge.seen()};
}

}  // namespace allot::trial
