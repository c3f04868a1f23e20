#include "compiler/native/lowering.h"

namespace allot::compiler::native {

using lang::Effect;
using lang::EffectKind;

void Lowering::effects(const std::vector<Effect>& all) {
  for (const Effect& one : all) effect(one);
}

// One that faults is left out; the first fault of all is told.
void Lowering::effect(const Effect& one) {
  const FaultTarget outer = target_;
  target_ = open_target("effect_fault", Tells::Place);
  FaultTarget fault = target_;
  llvm::BasicBlock* const next = block("next_effect");
  const Lets before = known_;
  switch (one.kind) {
    case EffectKind::Remember: remember(one); break;
    case EffectKind::Report: report(one); break;
    case EffectKind::Warn: warn(one); break;
    case EffectKind::ForEach: {
      llvm::Value* const size = enter_loop(one.loop);
      walk(one.loop, size, [&](llvm::BasicBlock*) {
        forget(one.owned);
        effects(one.body);
      });
    }
  }
  ir_.CreateBr(next);
  if (close_target(fault)) {
    known_ = before;
    llvm::BasicBlock* const note = block("first_fault");
    enter(fault.block);
    llvm::Value* const kind = at(outcome_, offsetof(Outcome, fault));
    llvm::Value* const earlier = ir_.CreateLoad(ir_.getInt32Ty(), kind);
    ir_.CreateCondBr(ir_.CreateICmpEQ(earlier, ir_.getInt32(0)), note, next);
    enter(note);
    ir_.CreateStore(fault.kind, kind);
    ir_.CreateStore(fault.node, at(outcome_, offsetof(Outcome, fault_node)));
    ir_.CreateBr(next);
  }
  enter(next);
  target_ = outer;
}

void Lowering::remember(const Effect& one) {
  llvm::Value* position = ir_.getInt64(0);
  if (one.key >= 0) {
    const Operand key = emit(one.key);
    fail_if(ir_.CreateNot(key.defined), FaultKind::Domain, one.key);
    position = key.bits;
  }
  const Operand value = emit(one.value);
  const bool optional = request_.program->states[static_cast<std::size_t>(one.index)].type.optional;
  if (!optional) fail_if(ir_.CreateNot(value.defined), FaultKind::Domain, one.value);
  llvm::Value* const view = at(states_, static_cast<std::uint64_t>(one.index) * sizeof(StateView));
  llvm::Value* const size = ir_.CreateLoad(ir_.getInt64Ty(), at(view, offsetof(StateView, size)));
  fail_if(ir_.CreateICmpUGE(position, size), FaultKind::IndexOutOfRange, one.value);
  llvm::Type* const pointer = ir_.getPtrTy();
  llvm::Type* const i64 = ir_.getInt64Ty();
  llvm::Value* const after = ir_.CreateLoad(pointer, at(view, offsetof(StateView, after)));
  if (!value.vector) return store_cell(value, at(after, position, sizeof(Cell)));
  const auto cells = static_cast<std::uint64_t>(request_.program->states[static_cast<std::size_t>(one.index)].type.cells());
  const auto function = runtime("allot_remember", ir_.getInt32Ty(), {pointer, i64, pointer, i64});
  llvm::Value* const fault = ir_.CreateCall(
      function, {value.bits, value.second, at(after, position, cells * sizeof(Cell)), ir_.getInt64(cells)});
  fail_if(ir_.CreateICmpNE(fault, ir_.getInt32(0)), fault, one.value);
}

void Lowering::report(const Effect& one) {
  const Operand value = emit(one.value);
  if (value.vector) return;
  const auto index = static_cast<std::uint64_t>(one.index);
  llvm::Type* const pointer = ir_.getPtrTy();
  llvm::Value* const reports = ir_.CreateLoad(pointer, at(outcome_, offsetof(Outcome, reports)));
  llvm::Value* const written = ir_.CreateLoad(pointer, at(outcome_, offsetof(Outcome, report_written)));
  llvm::BasicBlock* const store = block("report");
  llvm::BasicBlock* const mark = block("mark_report");
  llvm::BasicBlock* const end = block("reported");
  ir_.CreateCondBr(ir_.CreateAnd(value.defined, ir_.CreateIsNotNull(reports)), store, end);
  enter(store);
  store_cell(value, at(reports, index * sizeof(Cell)));
  ir_.CreateCondBr(ir_.CreateIsNotNull(written), mark, end);
  enter(mark);
  ir_.CreateStore(ir_.getInt8(1), at(written, index));
  ir_.CreateBr(end);
  enter(end);
}

void Lowering::warn(const Effect& one) {
  const Operand condition = emit(one.value);
  llvm::Value* const warned = ir_.CreateLoad(ir_.getPtrTy(), at(outcome_, offsetof(Outcome, warned)));
  llvm::BasicBlock* const mark = block("warn");
  llvm::BasicBlock* const end = block("warned");
  ir_.CreateCondBr(ir_.CreateAnd(holds(condition), ir_.CreateIsNotNull(warned)), mark, end);
  enter(mark);
  ir_.CreateStore(ir_.getInt8(1), at(warned, static_cast<std::uint64_t>(one.index)));
  ir_.CreateBr(end);
  enter(end);
}

}  // namespace allot::compiler::native
