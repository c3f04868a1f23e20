#include "lang/grammar/climb.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lang/limits.h"

namespace allot::lang::grammar {
namespace {

enum Level { Or = 1, And, Not, Comparison, Coalesce, Sum, Product };

Level level(std::string_view op) {
  if (op == "or") return Or;
  if (op == "and") return And;
  if (op == "??") return Coalesce;
  if (op == "+" || op == "-") return Sum;
  if (op == "*" || op == "/" || op == "mod") return Product;
  return Comparison;
}

// Comparisons of one chain run in one direction.
char direction(std::string_view op) {
  return op[0];
}  // '<' '>' '=' '!'

class Climber {
 public:
  Climber(const Chain& chain, State& state) : chain_(chain), state_(state) {}

  tree::ExprId run() { return binary(Or); }

 private:
  const Link* next() const { return at_ < chain_.size() ? &chain_[at_] : nullptr; }

  // A chain of operators of one level and everything tighter; all of them associate to the left.
  tree::ExprId binary(int least) {
    if (least == Not) return inverted();
    if (least == Comparison) return comparison();
    if (least > Product) return negated();
    auto left = binary(least + 1);
    while (next() != nullptr && next()->kind == Link::Kind::Infix && level(next()->symbol.op) == least) {
      const auto op = chain_[at_++].symbol.op;
      const auto right = binary(least + 1);
      left = node(tree::ExprKind::Binary, op, {left, right});
    }
    return left;
  }

  tree::ExprId inverted() {
    if (next()->kind != Link::Kind::Prefix || next()->symbol.op != "not") return binary(Comparison);
    const auto symbol = chain_[at_++].symbol;
    return prefixed(symbol, inverted());
  }

  tree::ExprId negated() {
    const auto& link = chain_[at_++];
    if (link.kind == Link::Kind::Operand) return operand(link.operand);
    if (link.symbol.op == "not") return prefixed(link.symbol, inverted());  // after an operator: a + not b
    if (const auto least = least_int(link.symbol)) return *least;
    return prefixed(link.symbol, negated());
  }

  // -9223372036854775808 is an int although its digits alone are none.
  std::optional<tree::ExprId> least_int(const Symbol& minus) {
    const auto* link = next();
    if (link->kind != Link::Kind::Operand) return std::nullopt;
    auto literal = state_.at(link->operand);
    if (literal.kind != tree::ExprKind::Integer || literal.text != least_int_digits) return std::nullopt;
    ++at_;
    literal.text = fmt::format("-{}", literal.text);
    literal.span.begin = minus.span.begin;
    return state_.add(std::move(literal));
  }

  tree::ExprId operand(tree::ExprId id) {
    const auto& expr = state_.at(id);
    if (expr.kind == tree::ExprKind::Integer && expr.text == least_int_digits) {
      state_.refuse("E0009", expr.span, fmt::format("{} does not fit an int", expr.text),
                    fmt::format("an int lies in -{}..9223372036854775807", least_int_digits));
    }
    return id;
  }

  tree::ExprId comparison() {
    auto left = binary(Coalesce);
    const auto* first = next();
    if (first == nullptr) return left;
    if (first->kind == Link::Kind::Test) return test(left);
    if (first->kind != Link::Kind::Infix || level(first->symbol.op) != Comparison) return left;
    tree::Expr compare;
    compare.kind = tree::ExprKind::Compare;
    compare.args.push_back(left);
    while (next() != nullptr && next()->kind == Link::Kind::Infix && level(next()->symbol.op) == Comparison) {
      const auto symbol = chain_[at_++].symbol;
      compare.args.push_back(binary(Coalesce));
      check_direction(compare, symbol);
      compare.ops.push_back(symbol.op);
    }
    refuse_test();
    compare.span = around(compare.args);
    return state_.add(std::move(compare));
  }

  tree::ExprId test(tree::ExprId left) {
    const auto symbol = chain_[at_++].symbol;
    tree::Expr expr;
    expr.kind = tree::ExprKind::IsUndefined;
    expr.negated = symbol.op == "is not undefined";
    expr.args = {left};
    expr.span = {state_.at(left).span.begin, symbol.span.end};
    refuse_test();
    if (next() != nullptr && next()->kind == Link::Kind::Infix && level(next()->symbol.op) == Comparison) {
      state_.refuse("E0012", next()->symbol.span, "`is undefined` cannot be part of a comparison",
                    "put it in brackets");
    }
    return state_.add(std::move(expr));
  }

  void refuse_test() const {
    if (next() == nullptr || next()->kind != Link::Kind::Test) return;
    state_.refuse("E0012", next()->symbol.span, fmt::format("`{}` cannot follow a comparison", next()->symbol.op),
                  "put the comparison or the test in brackets");
  }

  // `compare` has the value after `symbol` already.
  void check_direction(const tree::Expr& compare, const Symbol& symbol) const {
    if (compare.ops.empty()) return;
    const auto& before = compare.ops.back();
    const char d = direction(symbol.op);
    if (d == direction(before) && d != '!') return;
    const auto part = [&](std::size_t from, std::size_t to) {
      return state_.text({state_.at(compare.args[from]).span.begin, state_.at(compare.args[to]).span.end});
    };
    const auto truth = [&](std::size_t i) { return state_.at(compare.args[i]).kind == tree::ExprKind::Bool; };
    const std::size_t last = compare.args.size() - 1;
    const auto help =
        truth(last)           ? fmt::format("put the comparison in brackets: `({}) {} {}`", part(0, last - 1), symbol.op, part(last, last))
        : last == 2 && truth(0) ? fmt::format("put the comparison in brackets: `{} {} ({})`", part(0, 0), before, part(1, 2))
                              : fmt::format("a chain runs in one direction, as in 0 < m < 1; write `{} and {}`, or put one "
                                            "comparison in brackets",
                                            part(0, last - 1), part(last - 1, last));
    state_.refuse("E0012", symbol.span, fmt::format("`{}` after `{}` in one comparison", symbol.op, before), help);
  }

  tree::ExprId prefixed(const Symbol& symbol, tree::ExprId of) {
    tree::Expr expr;
    expr.kind = tree::ExprKind::Unary;
    expr.op = symbol.op;
    expr.args = {of};
    expr.span = {symbol.span.begin, state_.at(of).span.end};
    return state_.add(std::move(expr));
  }

  tree::ExprId node(tree::ExprKind kind, std::string op, std::vector<tree::ExprId> args) {
    tree::Expr expr;
    expr.kind = kind;
    expr.op = std::move(op);
    expr.span = around(args);
    expr.args = std::move(args);
    return state_.add(std::move(expr));
  }

  Span around(const std::vector<tree::ExprId>& args) const {
    return {state_.at(args.front()).span.begin, state_.at(args.back()).span.end};
  }

  const Chain& chain_;
  State& state_;
  std::size_t at_ = 0;
};

}  // namespace

tree::ExprId climb(const Chain& chain, State& state) {
  const auto operands =
      std::count_if(chain.begin(), chain.end(), [](const Link& link) { return link.kind == Link::Kind::Operand; });
  if (operands > limits.chain_terms) {
    state.refuse("E0008", state.at(chain.front().operand == tree::none ? 0 : chain.front().operand).span,
                 fmt::format("a chain of {} terms, more than {}", operands, limits.chain_terms),
                 "name the parts with `let`");
  }
  return Climber(chain, state).run();
}

}  // namespace allot::lang::grammar
