#include "compiler/native/lowering.h"

#include <cmath>

#include "common/stack.h"

namespace allot::compiler::native {

using lang::Base;
using lang::Node;
using lang::NodeId;
using lang::Op;

// What the type says is there must be there; from here on that is known.
Operand Lowering::checked(NodeId id, Operand loaded) {
  if (node(id).type.optional) return loaded;
  fail_if(ir_.CreateNot(loaded.defined), FaultKind::Domain, id);
  loaded.defined = ir_.getTrue();
  return loaded;
}

Operand Lowering::column(std::int32_t index, const lang::Type& type) {
  llvm::Value* const record = at(columns_, static_cast<std::uint64_t>(index) * sizeof(Column));
  Operand made{ir_.CreateLoad(ir_.getPtrTy(), record),
               ir_.CreateLoad(ir_.getInt64Ty(), at(record, offsetof(Column, size))), ir_.getTrue(), type.base, true};
  if (type.matrix()) made.width = ir_.CreateLoad(ir_.getInt64Ty(), at(record, offsetof(Column, width)));
  return made;
}

// The cells of a state whose size is known, so that what is remembered later does not change what was read.
Operand Lowering::copied(NodeId id, llvm::Value* cells) {
  const lang::Type& type = node(id).type;
  llvm::Value* const size = ir_.getInt64(static_cast<std::uint64_t>(type.cells()));
  llvm::Value* const memory = take(size, id);
  ir_.CreateMemCpy(memory, llvm::MaybeAlign(8), cells, llvm::MaybeAlign(8),
                   static_cast<std::uint64_t>(type.cells()) * sizeof(Cell));
  Operand made{memory, size, ir_.getTrue(), type.base, true};
  if (type.matrix()) made.width = ir_.getInt64(static_cast<std::uint64_t>(type.columns));
  return made;
}

Operand Lowering::at(NodeId id) {
  const Node& self = node(id);
  const Operand vector = emit(self.args[0]);
  const Operand row = emit(self.args[1]);
  const bool matrix = self.args.size() > 2;
  const Operand column = matrix ? emit(self.args[2]) : Operand{ir_.getInt64(0), nullptr, ir_.getTrue(), Base::Int, false};
  const auto found = [&] {
    llvm::Value* position = row.bits;
    llvm::Value* outside = nullptr;  // unsigned: a negative position is large
    if (matrix) {
      outside = ir_.CreateOr(ir_.CreateICmpUGE(row.bits, ir_.CreateUDiv(vector.second, vector.width)),
                             ir_.CreateICmpUGE(column.bits, vector.width));
      position = ir_.CreateAdd(ir_.CreateMul(row.bits, vector.width), column.bits);
    } else {
      outside = ir_.CreateICmpUGE(row.bits, vector.second);
    }
    fail_if(outside, FaultKind::IndexOutOfRange, id);
    return checked(id, load_cell(at(vector.bits, position, sizeof(Cell)), self.type.base));
  };
  llvm::Value* const all = ir_.CreateAnd(vector.defined, ir_.CreateAnd(row.defined, column.defined));
  return branch(all, self.type, found, [&] { return undefined(self.type); });
}

Operand Lowering::align(NodeId id) {
  const Node& self = node(id);
  Operand first = emit(self.args[0]);
  const Operand second = emit(self.args[1]);
  first.defined = ir_.CreateAnd(first.defined, second.defined);
  llvm::Value* other = ir_.CreateICmpNE(first.second, second.second);
  if (first.width != nullptr) other = ir_.CreateOr(other, ir_.CreateICmpNE(first.width, second.width));
  fail_if(ir_.CreateAnd(first.defined, other), FaultKind::Domain, id);
  return first;
}

Operand Lowering::element(NodeId id) {
  const Node& self = node(id);
  const Cursor& cursor = cursors_[static_cast<std::size_t>(self.loop)];
  llvm::Value* const position = ir_.CreateLoad(ir_.getInt64Ty(), cursor.position);
  llvm::Value* cells = nullptr;
  if (self.index < 0) {
    cells = ir_.CreateLoad(ir_.getPtrTy(), cursor.cells);  // the loop ends where they end
  } else {
    const Operand vector = column(self.index, self.type);
    fail_if(ir_.CreateICmpSGE(position, vector.second), FaultKind::IndexOutOfRange, id);
    cells = vector.bits;
  }
  return checked(id, load_cell(at(cells, position, sizeof(Cell)), self.type.base));
}

Operand Lowering::state(NodeId id) {
  const Node& self = node(id);
  llvm::Value* const view = at(states_, static_cast<std::uint64_t>(self.index) * sizeof(StateView));
  const auto read = [&](llvm::Value* position) {
    llvm::Value* const size = ir_.CreateLoad(ir_.getInt64Ty(), at(view, offsetof(StateView, size)));
    fail_if(ir_.CreateICmpUGE(position, size), FaultKind::IndexOutOfRange, id);  // unsigned: a negative one is large
    llvm::Value* const cells = ir_.CreateLoad(ir_.getPtrTy(), at(view, offsetof(StateView, before)));
    if (self.type.vector())
      return copied(id, at(cells, position, static_cast<std::uint64_t>(self.type.cells()) * sizeof(Cell)));
    return checked(id, load_cell(at(cells, position, sizeof(Cell)), self.type.base));
  };
  if (self.args.empty()) return read(ir_.getInt64(0));
  const Operand key = emit(self.args[0]);
  return branch(key.defined, self.type, [&] { return read(key.bits); }, [&] { return undefined(self.type); });
}

Operand Lowering::emit(NodeId id) {
  Operand value = emit_doubtful(id);
  settle(value, id);
  return value;
}

Operand Lowering::emit_doubtful(NodeId id) {
  const Node& self = node(id);
  if (stack_ends()) emitted_ = budget_;  // a tree that this thread has no stack for is too large as well
  if (++emitted_ > budget_) return undefined(self.type);
  switch (self.op) {
    case Op::Constant: {
      if (self.cell.defined == 0) return undefined(self.type);
      Operand fixed{nullptr, nullptr, ir_.getTrue(), self.type.base, false};
      if (self.type.base == Base::Bool) fixed.bits = ir_.getInt1(self.cell.truth());
      else if (self.type.base == Base::Real || self.type.base == Base::Beta)
        fixed.bits = llvm::ConstantFP::get(ir_.getDoubleTy(), self.cell.real());
      else fixed.bits = ir_.getInt64(self.cell.bits);
      if (self.type.base == Base::Real) fixed.bound = std::abs(self.cell.real());
      if (self.type.base == Base::Beta) fixed.second = llvm::ConstantFP::get(ir_.getDoubleTy(), self.cell.second);
      return fixed;
    }
    case Op::Parameter: {
      Operand value = load_cell(at(parameters_, static_cast<std::uint64_t>(self.index) * sizeof(Cell)), self.type.base);
      if (!self.type.optional) value.defined = ir_.getTrue();   // lang::bind gives every parameter a value
      return value;
    }
    case Op::Read:
      return checked(id, load_cell(at(reads_, static_cast<std::uint64_t>(self.index) * sizeof(Cell)), self.type.base));
    case Op::Column: return column(self.index, self.type);
    case Op::Element: return element(id);
    case Op::Position:
      return {ir_.CreateLoad(ir_.getInt64Ty(), cursors_[static_cast<std::size_t>(self.loop)].position), nullptr,
              ir_.getTrue(), self.type.base, false};
    case Op::State: return state(id);
    case Op::Let: return let(id);
    case Op::Scope: forget(self.owned); return emit(self.args[0]);
    case Op::Not: case Op::Negate: case Op::ToReal: case Op::IsUndefined: return unary(id);
    case Op::Add: case Op::Subtract: case Op::Multiply: case Op::Divide: case Op::Modulo: return arithmetic(id);
    case Op::Less: case Op::LessEqual: case Op::Greater: case Op::GreaterEqual: case Op::Equal: case Op::NotEqual:
      return comparison(id);
    case Op::And: case Op::Or: return logical(id);
    case Op::If: return choose(id);
    case Op::Coalesce: return coalesce(id);
    case Op::Assume: {
      Operand value = emit(self.args[0]);
      fail_if(ir_.CreateNot(value.defined), FaultKind::Domain, id);
      value.defined = ir_.getTrue();
      return value;
    }
    case Op::Call: return call(id);
    case Op::Reduce: return reduce(id);
    case Op::Allot: return allot(id);
    case Op::Map: return map(id);
    case Op::ListOf: return list(id);
    case Op::At: return at(id);
    case Op::Align: return align(id);
  }
  return undefined(self.type);
}

}  // namespace allot::compiler::native
