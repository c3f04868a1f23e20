// Calls out of machine code: to built-ins and to the scratch, by names that the session defines and no others.
#include "compiler/native/lowering.h"

namespace allot::compiler::native {

using lang::Base;
using lang::Node;
using lang::NodeId;

llvm::FunctionCallee Lowering::runtime(const char* name, llvm::Type* result, std::vector<llvm::Type*> arguments) {
  auto callee = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, arguments, false));
  if (auto* const function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) function->setDoesNotThrow();
  return callee;
}

llvm::Value* Lowering::take(llvm::Value* cells, NodeId id) {
  llvm::Type* const pointer = ir_.getPtrTy();
  const auto function = runtime("allot_take", pointer, {pointer, ir_.getInt64Ty()});
  llvm::Value* const memory = ir_.CreateCall(function, {scratch_, cells});
  fail_if(ir_.CreateIsNull(memory), FaultKind::OutOfMemory, id);
  return memory;
}

void Lowering::store_value(const Operand& operand, llvm::Value* value) {
  if (operand.vector) {
    const Operand present{ir_.getInt64(0), nullptr, operand.defined, Base::Int, false};
    store_cell(present, value);
    ir_.CreateStore(operand.bits, at(value, offsetof(Value, column)));
    ir_.CreateStore(operand.second, at(value, offsetof(Value, column) + offsetof(Column, size)));
    ir_.CreateStore(operand.width == nullptr ? ir_.getInt64(1) : operand.width,
                    at(value, offsetof(Value, column) + offsetof(Column, width)));
  } else {
    store_cell(operand, value);
  }
  ir_.CreateStore(ir_.getInt32(static_cast<std::uint32_t>(operand.base)), at(value, offsetof(Value, base)));
  ir_.CreateStore(ir_.getInt8(operand.vector ? 1 : 0), at(value, offsetof(Value, vector)));
}

// What takes an instruction or two is done here: abs, min, max, clamp of numbers.
std::optional<Operand> Lowering::simple_call(NodeId id, std::string_view name, const std::vector<Operand>& operands) {
  const bool bounds = name == "clamp";
  if (name != "abs" && name != "min" && name != "max" && !bounds) return std::nullopt;
  const Base base = node(id).type.base;
  Operand result{nullptr, nullptr, ir_.getTrue(), base, false};
  std::vector<llvm::Value*> values;
  for (const Operand& operand : operands) {
    result.defined = ir_.CreateAnd(result.defined, operand.defined);
    values.push_back(base == Base::Real ? to_real(operand) : operand.bits);
  }
  if (bounds) {
    llvm::Value* const crossed = base == Base::Real ? ir_.CreateFCmpOGT(values[1], values[2])
                                                    : ir_.CreateICmpSGT(values[1], values[2]);
    fail_if(ir_.CreateAnd(result.defined, crossed), FaultKind::Domain, id);
    result.bits = extreme(true, base, extreme(false, base, values[0], values[1]), values[2]);
  } else if (name != "abs") {
    result.bits = extreme(name == "min", base, values[0], values[1]);
  } else if (base == Base::Real) {
    result.bits = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, values[0]);
  } else {
    llvm::Value* const smallest = ir_.CreateICmpEQ(values[0], ir_.getInt64(1ULL << 63));
    fail_if(ir_.CreateAnd(result.defined, smallest), FaultKind::IntegerOverflow, id);
    llvm::Value* const negative = ir_.CreateICmpSLT(values[0], ir_.getInt64(0));
    result.bits = ir_.CreateSelect(negative, ir_.CreateNeg(values[0]), values[0]);
  }
  return result;
}

Operand Lowering::call(NodeId id) {
  const Node& self = node(id);
  const lang::Builtin& row = request_.rows[static_cast<std::size_t>(self.index)];
  std::vector<Operand> operands;
  for (const NodeId argument : self.args) operands.push_back(emit(argument));
  if (const std::optional<Operand> simple = simple_call(id, row.name, operands)) return *simple;
  for (std::size_t i = operands.size(); i < row.arguments.size(); ++i) {
    const lang::Argument& argument = row.arguments[i];
    const auto fixed = static_cast<std::int64_t>(argument.fallback);
    switch (argument.kind) {
      case lang::ArgumentKind::Int:
        operands.push_back({ir_.getInt64(static_cast<std::uint64_t>(fixed)), nullptr, ir_.getTrue(), Base::Int, false});
        break;
      case lang::ArgumentKind::Bool:
        operands.push_back({ir_.getInt1(argument.fallback != 0), nullptr, ir_.getTrue(), Base::Bool, false});
        break;
      default:
        operands.push_back({llvm::ConstantFP::get(ir_.getDoubleTy(), argument.fallback), nullptr, ir_.getTrue(),
                            Base::Real, false});
    }
  }
  // Stored only now: an argument may be a call itself and use the same memory.
  for (std::size_t i = 0; i < operands.size(); ++i) store_value(operands[i], at(arguments_, i * sizeof(Value)));
  store_value(undefined(self.type), result_);
  llvm::Type* const pointer = ir_.getPtrTy();
  llvm::Type* const i32 = ir_.getInt32Ty();
  const auto function = runtime("allot_call", i32, {pointer, pointer, ir_.getInt64Ty(), pointer, pointer});
  const std::string name = "allot_builtin_" + std::string(row.name);
  llvm::Value* const target = runtime(name.c_str(), i32, {pointer, pointer, pointer}).getCallee();
  llvm::Value* const fault =
      ir_.CreateCall(function, {target, arguments_, ir_.getInt64(operands.size()), result_, scratch_});
  fail_if(ir_.CreateICmpNE(fault, ir_.getInt32(0)), fault, id);
  Operand result = load_cell(result_, self.type.vector() ? Base::Int : self.type.base);
  if (!self.type.vector()) return result;
  const auto part = [&](std::uint64_t offset) {
    return ir_.CreateLoad(ir_.getInt64Ty(), at(result_, offsetof(Value, column) + offset));
  };
  Operand made{ir_.CreateLoad(pointer, at(result_, offsetof(Value, column))), part(offsetof(Column, size)),
               result.defined, self.type.base, true};
  if (self.type.matrix()) made.width = part(offsetof(Column, width));
  return made;
}

}  // namespace allot::compiler::native
