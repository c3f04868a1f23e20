#include "tests/compiler/shrink.h"

#include <algorithm>

#include "compiler/outcome.h"

namespace allot::compiler::test {
namespace {

using lang::Effect;
using lang::Rule;

void each_of(std::vector<Effect>& effects, const std::function<void(NodeId&)>& use) {
  for (Effect& effect : effects) {
    use(effect.key);
    use(effect.value);
    each_of(effect.body, use);
  }
}

// Every place that names a node.
void each_reference(Handler& handler, const std::function<void(NodeId&)>& use) {
  use(handler.keys);
  for (Rule& rule : handler.rules) {
    use(rule.condition);
    for (const OperandPlace& place : operand_places) use(rule.verdict.*place.node);
    for (lang::MessagePart& part : rule.because) use(part.hole);
  }
  each_of(handler.effects, use);
  for (lang::Let& let : handler.lets) use(let.value);
  for (lang::Loop& loop : handler.loops) use(loop.source);
  for (Node& node : handler.nodes)
    for (NodeId& arg : node.args) use(arg);
}

Cell plain_value(const Type& type) {
  if (type.base == Base::Beta) return Cell::beta(1, 1);
  return type.base == Base::Real ? Cell::of(1.0) : Cell::of(std::int64_t{0});
}

class Shrinking {
 public:
  Shrinking(Program program, const Differs& differs) : best_(std::move(program)), differs_(differs) {}

  Program run() {
    bool smaller = true;
    while (smaller) {
      smaller = false;
      if (best_.hit) smaller = attempt([](Program& p) { p.hit.reset(); }) || smaller;
      smaller = effects(&Handler::effects) || smaller;
      smaller = rules() || smaller;
      smaller = nodes() || smaller;
    }
    return std::move(best_);
  }

 private:
  static Handler& handler(Program& program) { return program.handlers.front(); }

  bool attempt(const std::function<void(Program&)>& change) {
    Program candidate = best_;
    change(candidate);
    if (!differs_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool effects(std::vector<Effect> Handler::* all) {
    bool smaller = false;
    for (std::size_t i = (handler(best_).*all).size(); i-- > 0;) {
      smaller = attempt([&](Program& p) {
                  (handler(p).*all).erase((handler(p).*all).begin() + static_cast<std::ptrdiff_t>(i));
                }) ||
                smaller;
      if (i >= (handler(best_).*all).size()) continue;
      for (std::size_t j = (handler(best_).*all)[i].body.size(); j-- > 0;) {
        const auto drop = [&](Program& p) {
          auto& body = (handler(p).*all)[i].body;
          body.erase(body.begin() + static_cast<std::ptrdiff_t>(j));
        };
        smaller = attempt(drop) || smaller;
      }
    }
    return smaller;
  }

  bool clear(const std::function<NodeId&(Program&)>& field) {
    return field(best_) >= 0 && attempt([&](Program& p) { field(p) = -1; });
  }

  bool rules() {
    bool smaller = clear([](Program& p) -> NodeId& { return handler(p).keys; });
    for (std::size_t i = handler(best_).rules.size(); i-- > 0;) {
      const auto drop = [&](Program& p) {
        handler(p).rules.erase(handler(p).rules.begin() + static_cast<std::ptrdiff_t>(i));
      };
      if (attempt(drop)) {
        smaller = true;
        continue;
      }
      smaller = clear([&](Program& p) -> NodeId& { return handler(p).rules[i].condition; }) || smaller;
      for (const OperandPlace& place : operand_places)
        smaller = clear([&](Program& p) -> NodeId& { return handler(p).rules[i].verdict.*place.node; }) || smaller;
      for (std::size_t part = 0; part < handler(best_).rules[i].because.size(); ++part)
        smaller = clear([&](Program& p) -> NodeId& { return handler(p).rules[i].because[part].hole; }) || smaller;
    }
    return smaller;
  }

  bool nodes() {
    bool smaller = false;
    for (auto id = static_cast<NodeId>(handler(best_).nodes.size()) - 1; id >= 0; --id) {
      if (!reachable(handler(best_))[static_cast<std::size_t>(id)]) continue;
      smaller = to_operand(id) || to_constant(id) || smaller;
    }
    return smaller;
  }

  // What uses the node uses one of its operands instead. Not where the operand lives in a loop or a scope of the node.
  bool to_operand(NodeId id) {
    const Node node = handler(best_).nodes[static_cast<std::size_t>(id)];
    if (node.loop >= 0 || !node.owned.empty()) return false;
    return std::any_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
      const Type& type = handler(best_).nodes[static_cast<std::size_t>(arg)].type;
      const bool fits = type.base == node.type.base && type.optional <= node.type.optional &&
                        type.vector() == node.type.vector() && type.matrix() == node.type.matrix();
      return fits && attempt([&](Program& p) {
               each_reference(handler(p), [&](NodeId& each) { each = each == id ? arg : each; });
             });
    });
  }

  bool to_constant(NodeId id) {
    const Node node = handler(best_).nodes[static_cast<std::size_t>(id)];
    if (node.op == Op::Constant || node.type.vector()) return false;
    return attempt([&](Program& p) {
      Node& made = handler(p).nodes[static_cast<std::size_t>(id)];
      made = Node{};
      made.type = node.type;
      made.cell = plain_value(node.type);
    });
  }

  Program best_;
  const Differs& differs_;
};

}  // namespace

Program shrink(Program program, const Differs& differs) {
  return Shrinking(std::move(program), differs).run();
}

std::size_t node_count(const Program& program) {
  const std::vector<bool> asked = reachable(program.handlers.front());
  return static_cast<std::size_t>(std::count(asked.begin(), asked.end(), true));
}

}  // namespace allot::compiler::test
