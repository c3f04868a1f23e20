// An allotment: the solver of the runtime asks, and the code of the utility stands in the loop that answers.
#include "compiler/native/lowering.h"

namespace allot::compiler::native {

using lang::Base;
using lang::Node;
using lang::NodeId;

// An operand that must be there, or a Domain fault of `whole`.
Operand Lowering::present(NodeId id, NodeId whole) {
  Operand value = emit(id);
  fail_if(ir_.CreateNot(value.defined), FaultKind::Domain, whole);
  return value;
}

// Code inside a loop, after which only what was known before it is known.
void Lowering::inside_loop(const std::function<void()>& body) {
  const Lets before = known_;
  ++loop_depth_;
  body();
  --loop_depth_;
  known_ = before;
}

Operand Lowering::allot(NodeId id) {
  const Node& self = node(id);
  const lang::Allotment& how = handler_.allotments[static_cast<std::size_t>(self.index)];
  llvm::Type* const pointer = ir_.getPtrTy();
  llvm::Type* const i64 = ir_.getInt64Ty();
  llvm::Type* const i32 = ir_.getInt32Ty();
  const auto checked = [&](llvm::Value* fault) { fail_if(ir_.CreateICmpNE(fault, ir_.getInt32(0)), fault, id); };

  const Operand budget = present(self.args[0], id);
  llvm::Value* const size = enter_loop(self.loop);
  const auto open = runtime("allot_open", pointer, {pointer, i32, i64, i64});
  llvm::Value* const solver = ir_.CreateCall(
      open, {scratch_, ir_.getInt32(static_cast<std::uint32_t>(how.solver)), budget.bits, size});
  fail_if(ir_.CreateIsNull(solver), FaultKind::OutOfMemory, id);

  Cursor& item = cursors_[static_cast<std::size_t>(self.loop)];
  walk(self.loop, size, [&](llvm::BasicBlock*) {
    const Operand low = present(self.args[1], id);
    const Operand high = present(self.args[2], id);
    const auto bounds = runtime("allot_bounds", i32, {pointer, i64, i64, i64});
    checked(ir_.CreateCall(bounds, {solver, ir_.CreateLoad(i64, item.position), low.bits, high.bits}));
  });
  checked(ir_.CreateCall(runtime("allot_begin", i32, {pointer, pointer}), {solver, scratch_}));

  Cursor& count = cursors_[static_cast<std::size_t>(how.counts)];
  if (count.position == nullptr) count.position = slot(i64, ir_.getInt64(0));
  llvm::BasicBlock* const head = block("ask");
  llvm::BasicBlock* const inside = block("utility");
  llvm::BasicBlock* const done = block("allotted");
  ir_.CreateBr(head);
  enter(head);
  const auto ask = runtime("allot_ask", i32, {pointer, pointer, pointer});
  llvm::Value* const asks = ir_.CreateCall(ask, {solver, item.position, count.position});
  ir_.CreateCondBr(ir_.CreateICmpNE(asks, ir_.getInt32(0)), inside, done);
  enter(inside);
  inside_loop([&] {
    const Operand utility = present(self.args[3], id);
    const auto tell = runtime("allot_tell", i32, {pointer, ir_.getDoubleTy()});
    checked(ir_.CreateCall(tell, {solver, to_real(utility)}));
  });
  ir_.CreateBr(head);
  enter(done);
  llvm::Value* const cells = ir_.CreateCall(runtime("allot_counts", pointer, {pointer}), {solver});
  return {cells, size, ir_.getTrue(), Base::Int, true};
}

}  // namespace allot::compiler::native
