#include <algorithm>

#include "compiler/native/lowering.h"

namespace allot::compiler::native {

using lang::Base;
using lang::Node;
using lang::NodeId;
using lang::Op;

Operand Lowering::load_let(std::int32_t index) {
  const Slot& own = lets_[static_cast<std::size_t>(index)];
  const lang::Type& type = node(handler_.lets[static_cast<std::size_t>(index)].value).type;
  Operand value{ir_.CreateLoad(own.bits->getAllocatedType(), own.bits), nullptr,
                ir_.CreateLoad(ir_.getInt1Ty(), own.defined), type.base, type.vector()};
  if (own.second != nullptr) value.second = ir_.CreateLoad(own.second->getAllocatedType(), own.second);
  if (own.width != nullptr) value.width = ir_.CreateLoad(own.width->getAllocatedType(), own.width);
  value.bound = own.bound;
  return value;
}

Operand Lowering::compute_let(std::int32_t index) {
  const Operand value = emit(handler_.lets[static_cast<std::size_t>(index)].value);
  Slot& own = lets_[static_cast<std::size_t>(index)];
  ir_.CreateStore(value.bits, own.bits);
  ir_.CreateStore(value.defined, own.defined);
  if (own.second != nullptr) ir_.CreateStore(value.second, own.second);
  if (own.width != nullptr) ir_.CreateStore(value.width, own.width);
  ir_.CreateStore(ir_.getTrue(), own.done);
  own.bound = std::max(own.bound, value.bound);
  return value;
}

// By need: known to be there, or never computed before, or asked at run time.
Operand Lowering::let(NodeId id) {
  const std::int32_t index = node(id).index;
  Slot& own = lets_[static_cast<std::size_t>(index)];
  if (own.bits == nullptr) {
    const lang::Type& type = node(handler_.lets[static_cast<std::size_t>(index)].value).type;
    const Operand none = undefined(type);
    if (own.done == nullptr) own.done = slot(ir_.getInt1Ty(), ir_.getFalse());
    own.bits = slot(none.bits->getType(), none.bits);
    own.defined = slot(ir_.getInt1Ty(), none.defined);
    if (none.second != nullptr) own.second = slot(none.second->getType(), none.second);
    if (none.width != nullptr) own.width = slot(none.width->getType(), none.width);
  }
  if (known_.contains(index)) return load_let(index);
  if (!possible_.contains(index) && loop_depth_ == own.depth) {
    compute_let(index);
    possible_.insert(index);
    known_.insert(index);
    return load_let(index);
  }
  llvm::BasicBlock* const compute = block("compute");
  llvm::BasicBlock* const ready = block("ready");
  ir_.CreateCondBr(ir_.CreateLoad(ir_.getInt1Ty(), own.done), ready, compute);
  const Lets before = known_;
  enter(compute);
  compute_let(index);
  ir_.CreateBr(ready);
  known_ = before;
  enter(ready);
  possible_.insert(index);
  known_.insert(index);
  return load_let(index);
}

void Lowering::forget(std::span<const std::int32_t> lets) {
  for (const std::int32_t index : lets) {
    Slot& own = lets_[static_cast<std::size_t>(index)];
    own.depth = loop_depth_;
    known_.erase(index);
    possible_.erase(index);
    if (own.done == nullptr) own.done = slot(ir_.getInt1Ty(), ir_.getFalse());
    ir_.CreateStore(ir_.getFalse(), own.done);
  }
}

Operand Lowering::logical(NodeId id) {
  const Node& self = node(id);
  const Operand first = emit(self.args[0]);
  llvm::Value* const open = self.op == Op::And ? first.bits : ir_.CreateNot(first.bits);
  return branch(ir_.CreateAnd(first.defined, open), self.type, [&] { return emit(self.args[1]); },
                [&] { return first; });
}

Operand Lowering::choose(NodeId id) {
  const Node& self = node(id);
  const Operand condition = emit(self.args[0]);
  const auto chosen = [&] {
    return branch(condition.bits, self.type, [&] { return emit(self.args[1]); }, [&] { return emit(self.args[2]); });
  };
  return branch(condition.defined, self.type, chosen, [&] { return undefined(self.type); });
}

Operand Lowering::coalesce(NodeId id) {
  const Node& self = node(id);
  Operand first = emit(self.args[0]);
  const auto present = [&] {
    Operand value = first;
    value.defined = ir_.getTrue();
    return value;
  };
  return branch(first.defined, self.type, present, [&] { return emit(self.args[1]); });
}

}  // namespace allot::compiler::native
