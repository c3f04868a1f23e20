#include "compiler/native/lowering.h"

#include <algorithm>
#include <iterator>

#include "compiler/builtins/table.h"

namespace allot::compiler::native {

using lang::Base;

Lowering::Lowering(llvm::Module& module, const Request& request, const lang::Handler& handler)
    : module_(module), context_(module.getContext()), request_(request), handler_(handler), ir_(context_),
      budget_(std::min<std::size_t>(20'000 + 4 * handler.nodes.size(), 40'000)) {}

void Lowering::begin(const std::string& name) {
  llvm::Type* const pointer = ir_.getPtrTy();
  function_ = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), {pointer, pointer}, false),
                                     llvm::Function::ExternalLinkage, name, module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->setUWTableKind(llvm::UWTableKind::Default);
  entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
  enter(entry_);
  frame_ = function_->getArg(0);
  outcome_ = function_->getArg(1);
  const auto pointer_at = [&](std::uint64_t offset) { return ir_.CreateLoad(pointer, at(frame_, offset)); };
  parameters_ = pointer_at(offsetof(Frame, parameters));
  reads_ = pointer_at(offsetof(Frame, reads));
  columns_ = pointer_at(offsetof(Frame, columns));
  sizes_ = pointer_at(offsetof(Frame, scope_sizes));
  states_ = pointer_at(offsetof(Frame, states));
  scratch_ = pointer_at(offsetof(Frame, scratch));
  arguments_ = slot(llvm::ArrayType::get(ir_.getInt64Ty(), most_arguments * sizeof(Value) / 8));
  result_ = slot(llvm::ArrayType::get(ir_.getInt64Ty(), sizeof(Value) / 8));
  lets_.assign(handler_.lets.size(), {});
  cursors_.assign(handler_.loops.size(), {});
  llvm::BasicBlock* const body = block("body");
  ir_.CreateBr(body);
  enter(body);
}

llvm::Value* Lowering::at(llvm::Value* base, std::uint64_t offset) {
  return offset == 0 ? base : ir_.CreateConstGEP1_64(ir_.getInt8Ty(), base, offset);
}

llvm::Value* Lowering::at(llvm::Value* base, llvm::Value* index, std::uint64_t stride) {
  return ir_.CreateGEP(ir_.getInt8Ty(), base, ir_.CreateMul(index, ir_.getInt64(stride)));
}

// In the entry block, where the optimiser looks for what may become a register.
llvm::AllocaInst* Lowering::slot(llvm::Type* type, llvm::Value* initial) {
  llvm::IRBuilder<> entry(context_);
  if (entry_->getTerminator() != nullptr) entry.SetInsertPoint(entry_->getTerminator());
  else entry.SetInsertPoint(entry_);
  llvm::AllocaInst* const made = entry.CreateAlloca(type);
  if (initial != nullptr) entry.CreateStore(initial, made);
  return made;
}

llvm::Type* Lowering::type_of(Base base) {
  if (base == Base::Real || base == Base::Beta) return ir_.getDoubleTy();
  return base == Base::Bool ? ir_.getInt1Ty() : static_cast<llvm::Type*>(ir_.getInt64Ty());
}

llvm::Value* Lowering::zero_of(Base base) { return llvm::Constant::getNullValue(type_of(base)); }

Operand Lowering::undefined(const lang::Type& type) {
  Operand none{zero_of(type.base), nullptr, ir_.getFalse(), type.base, type.vector()};
  none.bound = 0;
  if (type.vector()) {
    none.bits = llvm::ConstantPointerNull::get(ir_.getPtrTy());
    none.second = ir_.getInt64(0);
    if (type.matrix()) none.width = ir_.getInt64(1);
  } else if (type.base == Base::Beta) {
    none.second = zero_of(Base::Real);
  }
  return none;
}

Operand Lowering::load_cell(llvm::Value* cell, Base base) {
  Operand loaded{nullptr, nullptr, nullptr, base, false};
  if (base == Base::Bool) loaded.bits = ir_.CreateICmpNE(ir_.CreateLoad(ir_.getInt64Ty(), cell), ir_.getInt64(0));
  else loaded.bits = ir_.CreateLoad(type_of(base), cell);
  if (base == Base::Beta) loaded.second = ir_.CreateLoad(ir_.getDoubleTy(), at(cell, offsetof(Cell, second)));
  llvm::Value* const defined = ir_.CreateLoad(ir_.getInt64Ty(), at(cell, offsetof(Cell, defined)));
  loaded.defined = ir_.CreateICmpNE(defined, ir_.getInt64(0));
  return loaded;
}

// An undefined cell is all zero, so that cells can be compared byte by byte.
void Lowering::store_cell(const Operand& operand, llvm::Value* cell) {
  llvm::Value* bits = operand.bits;
  if (operand.base == Base::Bool) bits = ir_.CreateZExt(bits, ir_.getInt64Ty());
  llvm::Value* second = operand.base == Base::Beta ? operand.second : zero_of(Base::Real);
  bits = ir_.CreateSelect(operand.defined, bits, llvm::Constant::getNullValue(bits->getType()));
  second = ir_.CreateSelect(operand.defined, second, zero_of(Base::Real));
  ir_.CreateStore(bits, cell);
  ir_.CreateStore(second, at(cell, offsetof(Cell, second)));
  ir_.CreateStore(ir_.CreateZExt(operand.defined, ir_.getInt64Ty()), at(cell, offsetof(Cell, defined)));
}

llvm::BasicBlock* Lowering::block(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }

// One of two values, of which only the chosen one is computed.
Operand Lowering::branch(llvm::Value* condition, const lang::Type& type, const Make& then, const Make& otherwise) {
  if (const auto* const fixed = llvm::dyn_cast<llvm::ConstantInt>(condition))
    return fixed->isOne() ? then() : otherwise();
  llvm::BasicBlock* const yes = block("yes");
  llvm::BasicBlock* const no = block("no");
  llvm::BasicBlock* const join = block("join");
  ir_.CreateCondBr(condition, yes, no);
  const Lets before = known_;
  enter(yes);
  const Operand first = then();
  llvm::BasicBlock* const first_end = ir_.GetInsertBlock();
  ir_.CreateBr(join);
  const Lets after_first = std::exchange(known_, before);
  enter(no);
  const Operand second = otherwise();
  llvm::BasicBlock* const second_end = ir_.GetInsertBlock();
  ir_.CreateBr(join);
  Lets both;
  std::set_intersection(after_first.begin(), after_first.end(), known_.begin(), known_.end(),
                        std::inserter(both, both.end()));
  known_ = std::move(both);
  enter(join);
  const auto merge = [&](llvm::Value* a, llvm::Value* b) -> llvm::Value* {
    if (a == b) return a;
    llvm::PHINode* const phi = ir_.CreatePHI(a->getType(), 2);
    phi->addIncoming(a, first_end);
    phi->addIncoming(b, second_end);
    return phi;
  };
  Operand merged{merge(first.bits, second.bits), nullptr, merge(first.defined, second.defined), type.base,
                 type.vector()};
  merged.bound = std::max(first.bound, second.bound);
  if (first.second != nullptr && second.second != nullptr) merged.second = merge(first.second, second.second);
  if (first.width != nullptr && second.width != nullptr) merged.width = merge(first.width, second.width);
  return merged;
}

FaultTarget Lowering::open_target(const char* name, Tells tells) {
  FaultTarget target;
  target.block = block(name);
  if (tells == Tells::Nothing) return target;
  target.kind = llvm::PHINode::Create(ir_.getInt32Ty(), 4, "kind", target.block);
  target.node = llvm::PHINode::Create(ir_.getInt32Ty(), 4, "node", target.block);
  return target;
}

bool Lowering::close_target(FaultTarget& target) {
  if (target.block->hasNPredecessorsOrMore(1)) return true;
  target.block->eraseFromParent();
  target = {};
  return false;
}

void Lowering::fail_if(llvm::Value* condition, FaultKind kind, lang::NodeId id) {
  fail_if(condition, ir_.getInt32(static_cast<std::uint32_t>(kind)), id);
}

void Lowering::fail_if(llvm::Value* condition, llvm::Value* kind, lang::NodeId id) {
  if (const auto* const fixed = llvm::dyn_cast<llvm::ConstantInt>(condition); fixed != nullptr && fixed->isZero())
    return;
  llvm::BasicBlock* const well = block("well");
  if (target_.kind != nullptr) {
    target_.kind->addIncoming(kind, ir_.GetInsertBlock());
    target_.node->addIncoming(ir_.getInt32(static_cast<std::uint32_t>(id)), ir_.GetInsertBlock());
  }
  ir_.CreateCondBr(condition, target_.block, well);
  enter(well);
}

}  // namespace allot::compiler::native
