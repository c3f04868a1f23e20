#include <algorithm>
#include <bit>

#include "compiler/native/lowering.h"

namespace allot::compiler::native {
namespace {

constexpr std::size_t fewest_copied = 16;  // what a few constants are is of use to LLVM one by one
constexpr std::size_t longest_list = 1024;  // of elements to compute: LLVM takes longer than the square of their number

}  // namespace

using lang::Base;
using lang::Node;
using lang::NodeId;
using lang::Reduction;

llvm::Value* Lowering::enter_loop(std::int32_t loop) {
  const lang::Loop& of = handler_.loops[static_cast<std::size_t>(loop)];
  Cursor& cursor = cursors_[static_cast<std::size_t>(loop)];
  llvm::Type* const i64 = ir_.getInt64Ty();
  if (cursor.position == nullptr) cursor.position = slot(i64, ir_.getInt64(0));
  if (of.source < 0)
    return ir_.CreateLoad(i64, at(sizes_, static_cast<std::uint64_t>(of.scope) * sizeof(std::int64_t)));
  const Operand source = emit(of.source);
  cursor.width = source.width;
  if (cursor.cells == nullptr) {
    cursor.cells = slot(ir_.getPtrTy(), llvm::ConstantPointerNull::get(ir_.getPtrTy()));
    cursor.size = slot(i64, ir_.getInt64(0));
  }
  llvm::Value* const size = ir_.CreateSelect(source.defined, source.second, ir_.getInt64(0));
  ir_.CreateStore(source.bits, cursor.cells);
  ir_.CreateStore(size, cursor.size);
  return size;
}

// `body` may leave the loop by a branch to the block it is given.
void Lowering::walk(std::int32_t loop, llvm::Value* size, const std::function<void(llvm::BasicBlock*)>& body) {
  const Cursor& cursor = cursors_[static_cast<std::size_t>(loop)];
  llvm::Type* const i64 = ir_.getInt64Ty();
  llvm::BasicBlock* const head = block("head");
  llvm::BasicBlock* const inside = block("inside");
  llvm::BasicBlock* const done = block("done");
  ir_.CreateStore(ir_.getInt64(0), cursor.position);
  ir_.CreateBr(head);
  enter(head);
  ir_.CreateCondBr(ir_.CreateICmpSLT(ir_.CreateLoad(i64, cursor.position), size), inside, done);
  enter(inside);
  inside_loop([&] { body(done); });
  ir_.CreateStore(ir_.CreateAdd(ir_.CreateLoad(i64, cursor.position), ir_.getInt64(1)), cursor.position);
  ir_.CreateBr(head);
  enter(done);
}

void Lowering::where(const Node& node, const std::function<void()>& body) {
  if (node.args.size() < 2) return body();
  llvm::BasicBlock* const chosen = block("chosen");
  llvm::BasicBlock* const passed = block("passed");
  ir_.CreateCondBr(holds(emit(node.args[1])), chosen, passed);
  enter(chosen);
  const Lets before = known_;
  body();
  known_ = before;
  ir_.CreateBr(passed);
  enter(passed);
}

Operand Lowering::reduce(NodeId id) {
  const Node& self = node(id);
  const auto reduction = static_cast<Reduction>(self.index);
  if (reduction == Reduction::Mean) return mean(id);
  const Base base = node(self.args[0]).type.base;
  llvm::Value* const size = enter_loop(self.loop);
  const bool extreme = reduction == Reduction::Min || reduction == Reduction::Max;
  llvm::AllocaInst* const kept = slot(reduction == Reduction::Count ? ir_.getInt64Ty() : type_of(base));
  llvm::AllocaInst* const some = slot(ir_.getInt1Ty());
  ir_.CreateStore(reduction == Reduction::All ? ir_.getTrue()
                                              : llvm::Constant::getNullValue(kept->getAllocatedType()), kept);
  ir_.CreateStore(ir_.getInt1(!extreme), some);
  walk(self.loop, size, [&](llvm::BasicBlock* done) {
    where(self, [&] {
      const Operand body = emit(self.args[0]);
      llvm::BasicBlock* const counted = block("counted");
      llvm::BasicBlock* const next = block("next");
      ir_.CreateCondBr(body.defined, counted, next);
      enter(counted);
      take_in(id, body, kept, some, done);
      ir_.CreateBr(next);
      enter(next);
    });
  });
  const Base result = reduction == Reduction::Count ? Base::Int : base;
  llvm::Value* const bits = ir_.CreateLoad(kept->getAllocatedType(), kept);
  return {bits, nullptr, ir_.CreateLoad(ir_.getInt1Ty(), some), result, false};
}

void Lowering::take_in(NodeId id, const Operand& body, llvm::AllocaInst* kept, llvm::AllocaInst* some,
                       llvm::BasicBlock* done) {
  const auto reduction = static_cast<Reduction>(node(id).index);
  llvm::Value* const so_far = ir_.CreateLoad(kept->getAllocatedType(), kept);
  switch (reduction) {
    case Reduction::Sum: {
      if (body.base == Base::Real) {
        llvm::Value* const sum = ir_.CreateFAdd(so_far, body.bits);
        fail_if(not_finite(sum), FaultKind::NotFinite, id);
        ir_.CreateStore(sum, kept);
        return;
      }
      llvm::Value* const pair = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_with_overflow, so_far, body.bits);
      fail_if(ir_.CreateExtractValue(pair, 1), FaultKind::IntegerOverflow, id);
      ir_.CreateStore(ir_.CreateExtractValue(pair, 0), kept);
      return;
    }
    case Reduction::Count: {
      llvm::Value* const one = body.base == Base::Bool ? ir_.CreateZExt(body.bits, ir_.getInt64Ty())
                                                       : static_cast<llvm::Value*>(ir_.getInt64(1));
      ir_.CreateStore(ir_.CreateAdd(so_far, one), kept);
      return;
    }
    case Reduction::Any:
    case Reduction::All: {
      llvm::BasicBlock* const more = block("more");
      ir_.CreateStore(body.bits, kept);
      if (reduction == Reduction::Any) ir_.CreateCondBr(body.bits, done, more);
      else ir_.CreateCondBr(body.bits, more, done);
      enter(more);
      return;
    }
    default: {
      llvm::Value* const better = extreme(reduction == Reduction::Min, body.base, so_far, body.bits);
      ir_.CreateStore(ir_.CreateSelect(ir_.CreateLoad(ir_.getInt1Ty(), some), better, body.bits), kept);
      ir_.CreateStore(ir_.getTrue(), some);
    }
  }
}

// The defined values as doubles side by side, then the one mean that all engines share.
Operand Lowering::mean(NodeId id) {
  const Node& self = node(id);
  llvm::Type* const i64 = ir_.getInt64Ty();
  llvm::Type* const real = ir_.getDoubleTy();
  llvm::Value* const size = enter_loop(self.loop);
  llvm::Value* const bytes = ir_.CreateAdd(ir_.CreateMul(size, ir_.getInt64(sizeof(double))), ir_.getInt64(23));
  llvm::Value* const values = take(ir_.CreateUDiv(bytes, ir_.getInt64(sizeof(Cell))), id);
  llvm::AllocaInst* const count = slot(i64);
  llvm::AllocaInst* const result = slot(real);
  ir_.CreateStore(ir_.getInt64(0), count);
  walk(self.loop, size, [&](llvm::BasicBlock*) {
    where(self, [&] {
      const Operand body = emit(self.args[0]);
      llvm::Value* const so_far = ir_.CreateLoad(i64, count);
      llvm::BasicBlock* const counted = block("counted");
      llvm::BasicBlock* const next = block("next");
      ir_.CreateCondBr(body.defined, counted, next);
      enter(counted);
      ir_.CreateStore(to_real(body), at(values, so_far, sizeof(double)));
      ir_.CreateStore(ir_.CreateAdd(so_far, ir_.getInt64(1)), count);
      ir_.CreateBr(next);
      enter(next);
    });
  });
  const auto function = runtime("allot_mean", ir_.getInt32Ty(), {ir_.getPtrTy(), i64, ir_.getPtrTy()});
  llvm::Value* const some = ir_.CreateCall(function, {values, ir_.CreateLoad(i64, count), result});
  llvm::Value* const bits = ir_.CreateLoad(real, result);
  llvm::Value* const defined = ir_.CreateICmpNE(some, ir_.getInt32(0));
  fail_if(ir_.CreateAnd(defined, not_finite(bits)), FaultKind::NotFinite, id);
  return {bits, nullptr, defined, Base::Real, false};
}

Operand Lowering::map(NodeId id) {
  const Node& self = node(id);
  llvm::Type* const i64 = ir_.getInt64Ty();
  llvm::Value* const size = enter_loop(self.loop);
  llvm::Value* const width = cursors_[static_cast<std::size_t>(self.loop)].width;
  llvm::Value* const cells = take(size, id);
  llvm::AllocaInst* const count = slot(i64);
  ir_.CreateStore(ir_.getInt64(0), count);
  walk(self.loop, size, [&](llvm::BasicBlock*) {
    where(self, [&] {
      const Operand body = emit(self.args[0]);
      llvm::Value* const so_far = ir_.CreateLoad(i64, count);
      store_cell(body, at(cells, so_far, sizeof(Cell)));
      ir_.CreateStore(ir_.CreateAdd(so_far, ir_.getInt64(1)), count);
    });
  });
  Operand made{cells, ir_.CreateLoad(i64, count), ir_.getTrue(), self.type.base, true};
  if (self.type.matrix()) made.width = width;
  return made;
}

// A table is data: thousands of stores would take LLVM longer than the square of their number.
void Lowering::copy_constants(const std::vector<NodeId>& elements, llvm::Value* cells) {
  std::vector<std::uint64_t> words;
  for (const NodeId element : elements) {
    const Cell& cell = node(element).cell;
    words.insert(words.end(), {cell.bits, std::bit_cast<std::uint64_t>(cell.second), cell.defined});
  }
  llvm::Constant* const data = llvm::ConstantDataArray::get(context_, words);
  auto* const table = new llvm::GlobalVariable(module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "table");
  table->setAlignment(llvm::Align(alignof(Cell)));
  ir_.CreateMemCpy(cells, llvm::Align(alignof(Cell)), table, llvm::Align(alignof(Cell)), words.size() * sizeof(std::uint64_t));
}

Operand Lowering::list(NodeId id) {
  const Node& self = node(id);
  llvm::Value* const size = ir_.getInt64(self.args.size());
  llvm::Value* const cells = take(size, id);
  const bool constant = std::all_of(self.args.begin(), self.args.end(), [&](NodeId arg) { return node(arg).op == lang::Op::Constant; });
  if (constant && self.args.size() >= fewest_copied) {
    copy_constants(self.args, cells);
  } else if (self.args.size() > longest_list) {
    emitted_ = budget_ + 1;  // the evaluator's
  } else {
    for (std::size_t i = 0; i < self.args.size(); ++i) store_cell(emit(self.args[i]), at(cells, i * sizeof(Cell)));
  }
  Operand made{cells, size, ir_.getTrue(), self.type.base, true};
  if (self.type.matrix()) made.width = ir_.getInt64(static_cast<std::uint64_t>(self.type.columns));
  return made;
}

}  // namespace allot::compiler::native
