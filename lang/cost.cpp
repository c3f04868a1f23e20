#include "lang/cost.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "common/stack.h"
#include "lang/builtins.h"

namespace allot::lang {

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
  explicit Counter(const Handler& handler) : handler_(handler), owned_(handler.lets.size(), false) {
    for (const Node& node : handler.nodes) mark(node.owned);
    for (const Effect& effect : handler.effects) mark(effect);
  }

  Polynomial total() {
    Polynomial sum = cost(handler_.keys);
    for (const Rule& rule : handler_.rules) {
      sum += cost(rule.condition);
      for (const auto operand : verdict_operands) sum += cost(rule.verdict.*operand);
      sum += cost(rule.because);
    }
    for (const Effect& effect : handler_.effects) sum += cost(effect);
    for (std::size_t i = 0; i < handler_.lets.size(); ++i) {
      if (!owned_[i]) sum += cost(handler_.lets[i].value);
    }
    return sum;
  }

 private:
  void mark(const std::vector<std::int32_t>& lets) {
    for (const std::int32_t index : lets) owned_[static_cast<std::size_t>(index)] = true;
  }

  void mark(const Effect& effect) {
    mark(effect.owned);
    for (const Effect& inner : effect.body) mark(inner);
  }

  const Node& node(NodeId id) const { return handler_.nodes[static_cast<std::size_t>(id)]; }

  Polynomial cost(const std::vector<MessagePart>& message) {
    Polynomial sum;
    for (const MessagePart& part : message) sum += cost(part.hole);
    return sum;
  }

  Polynomial cost_of_lets(const std::vector<std::int32_t>& indices) {
    Polynomial sum;
    for (const std::int32_t index : indices) {
      sum += cost(handler_.lets[static_cast<std::size_t>(index)].value);
    }
    return sum;
  }

  Polynomial cost(const Effect& effect) {
    Polynomial once = cost(effect.key);
    once += cost(effect.value);
    once += cost(effect.because);
    if (effect.kind != EffectKind::ForEach) return once;
    once += cost_of_lets(effect.owned);
    for (const Effect& inner : effect.body) once += cost(inner);
    return turns_of(effect.loop) * once;
  }

  Polynomial turns_of(std::int32_t loop) {
    const Loop& walked = handler_.loops[static_cast<std::size_t>(loop)];
    return walked.source < 0 ? Polynomial::variable(walked.scope) : length(walked.source);
  }

  // A handler that this thread's stack has no room for costs more than can be told.
  static Polynomial too_deep() { return Polynomial(std::numeric_limits<std::int64_t>::max()); }

  // The most elements a vector-valued node can have.
  Polynomial length(NodeId id) {
    if (stack_ends()) return too_deep();
    const Node& vector = node(id);
    if (vector.type.matrix() && vector.type.scope != Scope::List) {
      return Polynomial::variable(vector.type.scope) * Polynomial::variable(vector.type.across);
    }
    if (vector.type.scope != Scope::List && vector.type.vector()) return Polynomial::variable(vector.type.scope);
    const bool group = vector.op == Op::Call &&
                       builtins()[static_cast<std::size_t>(vector.index)].name == places_of_group;
    if (group) return Polynomial::variable(Scope::Rollouts);
    if (vector.op == Op::ListOf) return Polynomial(static_cast<std::int64_t>(vector.args.size()));
    if (vector.op == Op::Map || vector.op == Op::Allot) return turns_of(vector.loop);
    if (vector.op == Op::Let) return length(handler_.lets[static_cast<std::size_t>(vector.index)].value);
    for (const NodeId argument : vector.args) {
      if (node(argument).type.vector()) return length(argument);
    }
    return Polynomial(1);
  }

  Polynomial cost(NodeId id) {
    if (id < 0) return {};
    if (stack_ends()) return too_deep();
    const Node& here = node(id);
    if (here.op == Op::Allot) return cost_of_allotment(here);
    Polynomial sum(1);
    Polynomial arguments;
    for (const NodeId argument : here.args) {
      arguments += cost(argument);
      // A function walks the vectors it is given.
      if (here.op != Op::Call || !node(argument).type.vector()) continue;
      const Type& given = node(argument).type;
      // … and a matrix once for each of its rows.
      arguments += given.matrix() ? length(argument) * Polynomial::variable(given.scope) : length(argument);
    }
    const bool loop = here.op == Op::Reduce || here.op == Op::Map;
    sum += loop ? turns_of(here.loop) * arguments : arguments;
    if (loop) {
      const NodeId source = handler_.loops[static_cast<std::size_t>(here.loop)].source;
      sum += cost(source);
    }
    sum += cost_of_lets(here.owned);
    return sum;
  }

  // Each item has its bounds computed once. Greed asks the utility twice an item and once a unit; where every count is
  // tried it is asked for each, and each is compared with each way to spend the rest.
  Polynomial cost_of_allotment(const Node& here) {
    const Allotment& how = handler_.allotments[static_cast<std::size_t>(here.index)];
    const Polynomial items = turns_of(here.loop);
    Polynomial sum = cost(here.args[0]);
    sum += cost(handler_.loops[static_cast<std::size_t>(here.loop)].source);
    Polynomial bounds = cost(here.args[1]);
    bounds += cost(here.args[2]);
    sum += items * bounds;
    Polynomial asked = items;
    if (how.solver == Solver::Greedy) {
      asked = Polynomial(2) * items;
      asked += Polynomial::units();
    }
    if (how.solver == Solver::Exact) {
      asked = items * Polynomial(how.span + 1);
      sum += asked * Polynomial::units();
    }
    sum += asked * cost(here.args[3]);
    return sum;
  }

  const Handler& handler_;
  std::vector<bool> owned_;
};

}  // namespace

Polynomial Polynomial::variable(Scope scope) {
  Polynomial one;
  switch (scope) {
    case Scope::Rollouts:
    case Scope::Trained:
      one.terms_[{1, 0, 0, 0}] = 1;
      break;
    case Scope::Groups:
    case Scope::Stored:
    case Scope::Anchors:
    case Scope::Ended:
      one.terms_[{0, 1, 0, 0}] = 1;
      break;
    case Scope::Pool:
    case Scope::Known:
    case Scope::Prompts:
      one.terms_[{0, 0, 1, 0}] = 1;
      break;
    case Scope::AllTurns:
      one.terms_[{1, 0, 0, 1}] = 1;
      break;
    case Scope::GroupRollouts:
    case Scope::EndedRollouts:
    case Scope::StoredRollouts:
      one.terms_[{1, 1, 0, 0}] = 1;
      break;
    case Scope::Turns:
      one.terms_[{0, 0, 0, 1}] = 1;
      break;
    case Scope::Single:
    case Scope::List:
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

int Polynomial::degree() const {
  int most = 0;
  for (const auto& [powers, factor] : terms_) {
    if (factor != 0) most = std::max(most, std::accumulate(powers.begin(), powers.end(), 0));
  }
  return most;
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

Polynomial worst_cost(const Handler& handler) {
  return Counter(handler).total();
}

}  // namespace allot::lang
