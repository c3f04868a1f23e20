#include <array>

#include "compiler/evaluate/walk.h"

namespace allot::compiler {

using lang::Node;
using lang::NodeId;
using lang::Op;

bool Walk::let(NodeId id, Value& out) noexcept {
  const auto index = static_cast<std::size_t>(node(id).index);
  Memo& memo = workspace_.memos[index];
  if (memo.serial != workspace_.serial) {
    if (!value(handler_.lets[index].value, out)) return false;
    memo = {workspace_.serial, out};
  }
  out = memo.value;
  return true;
}

bool Walk::logical(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  if (!value(self.args[0], out)) return false;
  const bool decided = out.cell.defined == 0 || out.cell.truth() == (self.op == Op::Or);
  return decided || value(self.args[1], out);
}

bool Walk::choose(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  Value condition;
  if (!value(self.args[0], condition)) return false;
  if (condition.cell.defined != 0) return value(self.args[condition.cell.truth() ? 1 : 2], out);
  out.cell = Cell::undefined();
  out.column = {};
  return true;
}

bool Walk::coalesce(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  if (!value(self.args[0], out)) return false;
  return out.cell.defined != 0 || value(self.args[1], out);
}

bool Walk::assume(NodeId id, Value& out) noexcept {
  if (!value(node(id).args[0], out)) return false;
  return out.cell.defined != 0 || fail(FaultKind::Domain, id);
}

// Rows of lang/builtins.h have at most `most_arguments` arguments (asserted by a test).
bool Walk::call(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  std::array<Value, most_arguments> arguments;
  for (std::size_t i = 0; i < self.args.size(); ++i) {
    if (!value(self.args[i], arguments[i])) return false;
  }
  const lang::Builtin& row = lang::builtins()[static_cast<std::size_t>(self.index)];
  for (std::size_t i = self.args.size(); i < row.arguments.size(); ++i) arguments[i] = fallback(row.arguments[i]);
  const Function function = functions_[static_cast<std::size_t>(self.index)];
  out.column = {};
  const FaultKind fault =
      compiler::call(function, arguments.data(), row.arguments.size(), out, *frame_.scratch);
  return fault == FaultKind::None || fail(fault, id);
}

}  // namespace allot::compiler
