#include "runtime/python/largest_group.h"

#include <algorithm>

namespace allot::python {
namespace {

// A literal or a parameter; what is computed is not followed.
std::optional<std::int64_t> known(const lang::Handler& handler, lang::NodeId id,
                                  const std::vector<lang::Cell>& parameters) {
  if (id < 0) return std::nullopt;
  const lang::Node& node = handler.nodes[static_cast<std::size_t>(id)];
  if (node.op == lang::Op::Assume) return known(handler, node.args.front(), parameters);
  if (node.type.vector() || node.type.base != lang::Base::Int) return std::nullopt;
  if (node.op == lang::Op::Constant) return node.cell.integer();
  if (node.op == lang::Op::Parameter) return parameters[static_cast<std::size_t>(node.index)].integer();
  return std::nullopt;
}

// A point after the first wave; what `size` itself starts is marked as SampleMore too.
bool asks_for_more(const lang::Program& program) {
  return std::any_of(program.handlers.begin(), program.handlers.end(), [](const lang::Handler& handler) {
    if (handler.point == lang::Point::Size) return false;
    return std::any_of(handler.rules.begin(), handler.rules.end(), [](const lang::Rule& rule) {
      return rule.verdict.rollouts == lang::RolloutsField::SampleMore ||
             rule.verdict.rollouts == lang::RolloutsField::CompleteTo;
    });
  });
}

}  // namespace

std::optional<std::int64_t> largest_group(const lang::Program& program, const std::vector<lang::Cell>& parameters,
                                          std::int64_t usual) {
  const bool grows = asks_for_more(program);
  std::int64_t largest = usual;
  for (const lang::Handler& handler : program.handlers) {
    if (handler.point != lang::Point::Size) continue;
    for (const lang::Rule& rule : handler.rules) {
      const lang::VerdictTemplate& verdict = rule.verdict;
      if (verdict.amount < 0) continue;  // the default stands
      // Without `up to`, what is asked for is all there is, unless another point may ask for more.
      if (verdict.up_to < 0 && grows) return std::nullopt;
      const auto bound = known(handler, verdict.up_to < 0 ? verdict.amount : verdict.up_to, parameters);
      if (!bound) return std::nullopt;
      largest = std::max(largest, *bound);
    }
  }
  return largest;
}

}  // namespace allot::python
