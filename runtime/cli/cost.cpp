#include "runtime/cli/cost.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "common/stack.h"
#include "compiler/outcome.h"
#include "lang/builtins.h"

namespace allot::cli {

namespace {

constexpr std::array<std::string_view, 5> symbols{"n", "g", "p", "t", "u"};

// Counts saturate: a bound that is too large to print is still a bound.
std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

class Counter {
 public:
  explicit Counter(const lang::Handler& handler) : handler_(handler), owned_(handler.lets.size(), false) {
    for (const lang::Node& node : handler.nodes) mark(node.owned);
    for (const lang::Effect& effect : handler.effects) mark(effect);
  }

  Polynomial total() {
    Polynomial sum = cost(handler_.keys);
    for (const lang::Rule& rule : handler_.rules) {
      sum += cost(rule.condition);
      for (const compiler::OperandPlace& place : compiler::operand_places) sum += cost(rule.verdict.*place.node);
      sum += cost(rule.because);
    }
    for (const lang::Effect& effect : handler_.effects) sum += cost(effect);
    for (std::size_t i = 0; i < handler_.lets.size(); ++i) {
      if (!owned_[i]) sum += cost(handler_.lets[i].value);
    }
    return sum;
  }

 private:
  void mark(const std::vector<std::int32_t>& lets) {
    for (const std::int32_t index : lets) owned_[static_cast<std::size_t>(index)] = true;
  }

  void mark(const lang::Effect& effect) {
    mark(effect.owned);
    for (const lang::Effect& inner : effect.body) mark(inner);
  }

  const lang::Node& node(lang::NodeId id) const { return handler_.nodes[static_cast<std::size_t>(id)]; }

  Polynomial cost(const std::vector<lang::MessagePart>& message) {
    Polynomial sum;
    for (const lang::MessagePart& part : message) sum += cost(part.hole);
    return sum;
  }

  Polynomial cost_of_lets(const std::vector<std::int32_t>& indices) {
    Polynomial sum;
    for (const std::int32_t index : indices) {
      sum += cost(handler_.lets[static_cast<std::size_t>(index)].value);
    }
    return sum;
  }

  Polynomial cost(const lang::Effect& effect) {
    Polynomial once = cost(effect.key);
    once += cost(effect.value);
    once += cost(effect.because);
    if (effect.kind != lang::EffectKind::ForEach) return once;
    once += cost_of_lets(effect.owned);
    for (const lang::Effect& inner : effect.body) once += cost(inner);
    return turns_of(effect.loop) * once;
  }

  Polynomial turns_of(std::int32_t loop) {
    const lang::Loop& walked = handler_.loops[static_cast<std::size_t>(loop)];
    return walked.source < 0 ? Polynomial::variable(walked.scope) : length(walked.source);
  }

  // A handler that this thread's stack has no room for costs more than can be told.
  static Polynomial too_deep() { return Polynomial(std::numeric_limits<std::int64_t>::max()); }

  // The most elements a vector-valued node can have.
  Polynomial length(lang::NodeId id) {
    if (stack_ends()) return too_deep();
    const lang::Node& vector = node(id);
    if (vector.type.matrix() && vector.type.scope != lang::Scope::List) {
      return Polynomial::variable(vector.type.scope) * Polynomial::variable(vector.type.across);
    }
    if (vector.type.scope != lang::Scope::List && vector.type.vector()) return Polynomial::variable(vector.type.scope);
    const bool group = vector.op == lang::Op::Call &&
                       lang::builtins()[static_cast<std::size_t>(vector.index)].name == lang::places_of_group;
    if (group) return Polynomial::variable(lang::Scope::Rollouts);
    if (vector.op == lang::Op::ListOf) return Polynomial(static_cast<std::int64_t>(vector.args.size()));
    if (vector.op == lang::Op::Map || vector.op == lang::Op::Allot) return turns_of(vector.loop);
    if (vector.op == lang::Op::Let) return length(handler_.lets[static_cast<std::size_t>(vector.index)].value);
    for (const lang::NodeId argument : vector.args) {
      if (node(argument).type.vector()) return length(argument);
    }
    return Polynomial(1);
  }

  Polynomial cost(lang::NodeId id) {
    if (id < 0) return {};
    if (stack_ends()) return too_deep();
    const lang::Node& here = node(id);
    if (here.op == lang::Op::Allot) return cost_of_allotment(here);
    Polynomial sum(1);
    Polynomial arguments;
    for (const lang::NodeId argument : here.args) {
      arguments += cost(argument);
      // A function walks the vectors it is given.
      if (here.op != lang::Op::Call || !node(argument).type.vector()) continue;
      const lang::Type& given = node(argument).type;
      // … and a matrix once for each of its rows.
      arguments += given.matrix() ? length(argument) * Polynomial::variable(given.scope) : length(argument);
    }
    const bool loop = here.op == lang::Op::Reduce || here.op == lang::Op::Map;
    sum += loop ? turns_of(here.loop) * arguments : arguments;
    if (loop) {
      const lang::NodeId source = handler_.loops[static_cast<std::size_t>(here.loop)].source;
      sum += cost(source);
    }
    sum += cost_of_lets(here.owned);
    return sum;
  }

  // Each item has its bounds computed once. Greed asks the utility twice an item and once a unit; where every count is
  // tried it is asked for each, and each is compared with each way to spend the rest.
  Polynomial cost_of_allotment(const lang::Node& here) {
    const lang::Allotment& how = handler_.allotments[static_cast<std::size_t>(here.index)];
    const Polynomial items = turns_of(here.loop);
    Polynomial sum = cost(here.args[0]);
    sum += cost(handler_.loops[static_cast<std::size_t>(here.loop)].source);
    Polynomial bounds = cost(here.args[1]);
    bounds += cost(here.args[2]);
    sum += items * bounds;
    Polynomial asked = items;
    if (how.solver == lang::Solver::Greedy) {
      asked = Polynomial(2) * items;
      asked += Polynomial::units();
    }
    if (how.solver == lang::Solver::Exact) {
      asked = items * Polynomial(how.span + 1);
      sum += asked * Polynomial::units();
    }
    sum += asked * cost(here.args[3]);
    return sum;
  }

  const lang::Handler& handler_;
  std::vector<bool> owned_;
};

}  // namespace

Polynomial Polynomial::variable(lang::Scope scope) {
  Polynomial one;
  switch (scope) {
    case lang::Scope::Rollouts:
    case lang::Scope::Trained:
      one.terms_[{1, 0, 0, 0}] = 1;
      break;
    case lang::Scope::Groups:
    case lang::Scope::Stored:
    case lang::Scope::Anchors:
    case lang::Scope::Ended:
      one.terms_[{0, 1, 0, 0}] = 1;
      break;
    case lang::Scope::Pool:
    case lang::Scope::Known:
    case lang::Scope::Prompts:
      one.terms_[{0, 0, 1, 0}] = 1;
      break;
    case lang::Scope::AllTurns:
      one.terms_[{1, 0, 0, 1}] = 1;
      break;
    case lang::Scope::GroupRollouts:
    case lang::Scope::EndedRollouts:
    case lang::Scope::StoredRollouts:
      one.terms_[{1, 1, 0, 0}] = 1;
      break;
    case lang::Scope::Turns:
      one.terms_[{0, 0, 0, 1}] = 1;
      break;
    case lang::Scope::Single:
    case lang::Scope::List:
      one.terms_[{}] = 1;
      break;
  }
  return one;
}

Polynomial Polynomial::units() {
  Polynomial one;
  one.terms_[{0, 0, 0, 0, 1}] = 1;
  return one;
}

Polynomial& Polynomial::operator+=(const Polynomial& other) {
  for (const auto& [powers, factor] : other.terms_) terms_[powers] = add(terms_[powers], factor);
  return *this;
}

Polynomial operator*(const Polynomial& left, const Polynomial& right) {
  Polynomial product;
  for (const auto& [a, x] : left.terms_) {
    for (const auto& [b, y] : right.terms_) {
      Powers powers{};
      for (std::size_t i = 0; i < powers.size(); ++i) powers[i] = static_cast<std::int8_t>(a[i] + b[i]);
      product.terms_[powers] = add(product.terms_[powers], multiply(x, y));
    }
  }
  return product;
}

std::int64_t Polynomial::at(const Sizes& sizes) const {
  std::int64_t sum = 0;
  for (const auto& [powers, factor] : terms_) {
    std::int64_t product = factor;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      for (int power = 0; power < powers[i]; ++power) product = multiply(product, sizes[i]);
    }
    sum = add(sum, product);
  }
  return sum;
}

std::string Polynomial::text() const {
  std::vector<std::pair<Powers, std::int64_t>> terms;
  for (const auto& [powers, factor] : terms_) {
    if (factor != 0) terms.emplace_back(powers, factor);
  }
  const auto degree = [](const auto& term) { return std::accumulate(term.first.begin(), term.first.end(), 0); };
  std::stable_sort(terms.begin(), terms.end(), [&](const auto& a, const auto& b) { return degree(a) > degree(b); });
  std::string text;
  for (const auto& [powers, factor] : terms) {
    if (!text.empty()) text += " + ";
    std::string product;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (powers[i] == 0) continue;
      if (!product.empty()) product += ' ';
      product += symbols[i];
      if (powers[i] > 1) product += fmt::format("^{}", powers[i]);
    }
    if (product.empty()) {
      text += std::to_string(factor);
    } else {
      text += factor == 1 ? product : fmt::format("{} {}", factor, product);
    }
  }
  return text.empty() ? "0" : text;
}

Polynomial worst_cost(const lang::Handler& handler) {
  return Counter(handler).total();
}

}  // namespace allot::cli
