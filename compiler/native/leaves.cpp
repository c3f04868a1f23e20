#include "compiler/native/lowering.h"

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

Operand Lowering::column(std::int32_t index, Base base) {
  llvm::Value* const record = at(columns_, static_cast<std::uint64_t>(index) * sizeof(Column));
  return {ir_.CreateLoad(ir_.getPtrTy(), record),
          ir_.CreateLoad(ir_.getInt64Ty(), at(record, offsetof(Column, size))), ir_.getTrue(), base, true};
}

Operand Lowering::element(NodeId id) {
  const Node& self = node(id);
  const Cursor& cursor = cursors_[static_cast<std::size_t>(self.loop)];
  llvm::Value* const position = ir_.CreateLoad(ir_.getInt64Ty(), cursor.position);
  llvm::Value* cells = nullptr;
  if (self.index < 0) {
    cells = ir_.CreateLoad(ir_.getPtrTy(), cursor.cells);  // the loop ends where they end
  } else {
    const Operand vector = column(self.index, self.type.base);
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
    return checked(id, load_cell(at(cells, position, sizeof(Cell)), self.type.base));
  };
  if (self.args.empty()) return read(ir_.getInt64(0));
  const Operand key = emit(self.args[0]);
  return branch(key.defined, self.type, [&] { return read(key.bits); }, [&] { return undefined(self.type); });
}

Operand Lowering::emit(NodeId id) {
  const Node& self = node(id);
  if (++emitted_ > budget_) return undefined(self.type);
  switch (self.op) {
    case Op::Constant: {
      if (self.cell.defined == 0) return undefined(self.type);
      Operand fixed{nullptr, nullptr, ir_.getTrue(), self.type.base, false};
      if (self.type.base == Base::Bool) fixed.bits = ir_.getInt1(self.cell.truth());
      else if (self.type.base == Base::Real || self.type.base == Base::Beta)
        fixed.bits = llvm::ConstantFP::get(ir_.getDoubleTy(), self.cell.real());
      else fixed.bits = ir_.getInt64(self.cell.bits);
      if (self.type.base == Base::Beta) fixed.second = llvm::ConstantFP::get(ir_.getDoubleTy(), self.cell.second);
      return fixed;
    }
    case Op::Parameter:
      return load_cell(at(parameters_, static_cast<std::uint64_t>(self.index) * sizeof(Cell)), self.type.base);
    case Op::Read:
      return checked(id, load_cell(at(reads_, static_cast<std::uint64_t>(self.index) * sizeof(Cell)), self.type.base));
    case Op::Column: return column(self.index, self.type.base);
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
  }
  return undefined(self.type);
}

}  // namespace allot::compiler::native
