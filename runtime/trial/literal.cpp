// What a test may write: numbers, texts, truths, `undefined`, betas, and lists of these.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lang/diagnostics.h"
#include "runtime/trial/record.h"

namespace allot::trial {

using lang::Base;
using lang::Cell;
using lang::tree::Expr;
using lang::tree::ExprKind;
using lang::tree::File;

Value Value::of(Kind kind, std::int64_t integer, double real) {
  Value value;
  value.kind = kind;
  value.integer = integer;
  value.real = real;
  return value;
}

Cell Value::cell(Base base) const {
  switch (kind) {
    case Kind::Bool: return Cell::of(integer != 0);
    case Kind::Int: return base == Base::Real ? Cell::of(static_cast<double>(integer)) : Cell::of(integer);
    case Kind::Real: return Cell::of(real);
    case Kind::Beta: return Cell::beta(real, second);
    default: return Cell::undefined();
  }
}

std::vector<Cell> Value::cells(lang::Base base) const {
  if (kind != Kind::List) return {cell(base)};
  std::vector<Cell> all;
  for (const Value& item : items) {
    const std::vector<Cell> inner = item.cells(base);
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

namespace {

std::string digits_of(const std::string& text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  return digits;
}

Result<Value> integer_literal(const Expr& expr) {
  const std::string digits = digits_of(expr.text);
  std::int64_t integer = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Error{fmt::format("{} does not fit an int.", expr.text), ""};
  }
  return Value::of(Value::Kind::Int, integer, 0);
}

Result<Value> real_literal(const Expr& expr, double scale) {
  const std::string digits = digits_of(expr.text);
  double real = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Error{fmt::format("{} is not a real.", expr.text), ""};
  }
  return Value::of(Value::Kind::Real, 0, real * scale);
}

Error too_many() {
  return {fmt::format("The lists of a test have at most {} elements, all together.", Allowance::most),
          "test with fewer rollouts or turns"};
}

// All elements, those of inner lists too.
std::size_t elements(const Value& value) {
  std::size_t count = value.items.size();
  for (const Value& item : value.items) count += elements(item);
  return count;
}

Result<Value> repeat(const Value& list, const Value& times, Allowance& allowance) {
  if (list.kind != Value::Kind::List || times.kind != Value::Kind::Int || times.integer < 0) {
    return Error{"In a record, `*` repeats a list: `[x] * 4`.", ""};
  }
  Value result = Value::of(Value::Kind::List, 0, 0);
  const std::size_t size = elements(list);
  const auto count = static_cast<std::size_t>(times.integer);
  if (size == 0) return result;
  // By division: the product may not fit.
  if (count > allowance.left / size) return too_many();
  allowance.left -= count * size;
  for (std::int64_t i = 0; i < times.integer; ++i) {
    result.items.insert(result.items.end(), list.items.begin(), list.items.end());
  }
  return result;
}

Result<Value> list_literal(const File& tree, const Expr& expr, Value::Kind kind, Allowance& allowance) {
  Value list = Value::of(kind, 0, 0);
  for (const auto id : expr.args) {
    auto item = literal(tree, id, allowance);
    if (!item) return item.error();
    if (allowance.left == 0) return too_many();
    --allowance.left;
    list.items.push_back(*std::move(item));
  }
  return list;
}

Result<Value> beta_literal(const File& tree, const Expr& expr, Allowance& allowance) {
  auto arguments = list_literal(tree, expr, Value::Kind::List, allowance);
  if (!arguments) return arguments.error();
  if (expr.text != "beta" || arguments->items.size() != 2 || !arguments->items[0].is_number() ||
      !arguments->items[1].is_number()) {
    return Error{"A record holds values: numbers, strings, lists, `undefined` and `beta(a, b)`.", ""};
  }
  Value beta = Value::of(Value::Kind::Beta, 0, arguments->items[0].number());
  beta.second = arguments->items[1].number();
  return beta;
}

Result<Value> binary_literal(const File& tree, const Expr& expr, Allowance& allowance) {
  auto left = literal(tree, expr.args.at(0), allowance);
  if (!left) return left.error();
  auto right = literal(tree, expr.args.at(1), allowance);
  if (!right) return right.error();
  if (expr.op != "*") return Error{"A record holds values; the only operation is `[x] * n`.", ""};
  return left->kind == Value::Kind::List ? repeat(*left, *right, allowance) : repeat(*right, *left, allowance);
}

Result<Value> negated(Result<Value> value) {
  if (!value) return value;
  if (!value->is_number()) return Error{"Only a number has a sign.", ""};
  value->integer = -value->integer;
  value->real = -value->real;
  return value;
}

Value string_literal(const Expr& expr) {
  Value text = Value::of(Value::Kind::String, 0, 0);
  for (const auto& part : expr.parts) text.text += part.text;
  if (expr.parts.empty()) text.text = expr.text;
  return text;
}

}  // namespace

Result<Value> literal(const File& tree, lang::tree::ExprId id, Allowance& allowance) {
  const Expr& expr = tree[id];
  switch (expr.kind) {
    case ExprKind::Integer: return integer_literal(expr);
    case ExprKind::Real: return real_literal(expr, 1);
    case ExprKind::Percent: return real_literal(expr, 0.01);
    case ExprKind::Bool: return Value::of(Value::Kind::Bool, expr.text == "true", 0);
    case ExprKind::Undefined: return Value{};
    case ExprKind::String: return string_literal(expr);
    case ExprKind::List: return list_literal(tree, expr, Value::Kind::List, allowance);
    case ExprKind::Call: return beta_literal(tree, expr, allowance);
    case ExprKind::Binary: return binary_literal(tree, expr, allowance);
    case ExprKind::Unary:
      if (expr.op == "-") return negated(literal(tree, expr.args.at(0), allowance));
      break;
    default: break;
  }
  return Error{"A record holds values: numbers, strings, lists, `undefined` and `beta(a, b)`.", ""};
}

}  // namespace allot::trial
