// Arithmetic and comparisons. Floating-point instructions carry no flags: every rounding happens as written.
#include "compiler/native/bounds.h"
#include "compiler/native/lowering.h"

namespace allot::compiler::native {

using lang::Base;
using lang::Node;
using lang::NodeId;
using lang::Op;

namespace {

bool always(const llvm::Value* condition) {
  const auto* const fixed = llvm::dyn_cast<llvm::ConstantInt>(condition);
  return fixed != nullptr && fixed->isOne();
}

double size_of(const Operand& operand) { return operand.base == Base::Real ? operand.bound : 0x1p63; }

}  // namespace

llvm::Value* Lowering::to_real(const Operand& operand) {
  return operand.base == Base::Real ? operand.bits : ir_.CreateSIToFP(operand.bits, ir_.getDoubleTy());
}

llvm::Value* Lowering::not_finite(llvm::Value* value) {
  llvm::Value* const size = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  return ir_.CreateFCmpUEQ(size, llvm::ConstantFP::getInfinity(ir_.getDoubleTy()));  // equal, or not a number
}

// −0 is less than +0. No operand is NaN.
llvm::Value* Lowering::extreme(bool smallest, Base base, llvm::Value* a, llvm::Value* b) {
  if (base != Base::Real)
    return ir_.CreateBinaryIntrinsic(smallest ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, a, b);
  llvm::Value* const negative = ir_.CreateICmpSLT(ir_.CreateBitCast(a, ir_.getInt64Ty()), ir_.getInt64(0));
  llvm::Value* const of_equals = smallest ? ir_.CreateSelect(negative, a, b) : ir_.CreateSelect(negative, b, a);
  llvm::Value* const less = ir_.CreateFCmpOLT(a, b);
  llvm::Value* const more = ir_.CreateFCmpOGT(a, b);
  return ir_.CreateSelect(smallest ? less : more, a, ir_.CreateSelect(smallest ? more : less, b, of_equals));
}

Operand Lowering::unary(NodeId id) {
  const Node& self = node(id);
  const bool negated = self.op == Op::Negate && self.type.base == Base::Real;
  const Operand of = negated ? emit_doubtful(self.args[0]) : emit(self.args[0]);
  if (self.op == Op::IsUndefined) return {ir_.CreateNot(of.defined), nullptr, ir_.getTrue(), Base::Bool, false};
  Operand result{nullptr, nullptr, of.defined, self.type.base, false};
  if (self.op == Op::Not) {
    result.bits = ir_.CreateNot(of.bits);
  } else if (self.op == Op::ToReal) {
    result.bits = to_real(of);
    result.bound = size_of(of);
  } else if (self.type.base == Base::Real) {
    result.bits = ir_.CreateFNeg(of.bits);
    result.bound = of.bound;
    result.doubtful = of.doubtful;
  } else {
    llvm::Value* const smallest = ir_.CreateICmpEQ(of.bits, ir_.getInt64(1ULL << 63));
    fail_if(ir_.CreateAnd(of.defined, smallest), FaultKind::IntegerOverflow, id);
    result.bits = ir_.CreateNeg(of.bits);
  }
  return result;
}

Operand Lowering::whole(NodeId id, const Operand& left, const Operand& right) {
  llvm::Value* const defined = ir_.CreateAnd(left.defined, right.defined);
  Operand result{nullptr, nullptr, defined, Base::Int, false};
  const Op op = node(id).op;
  if (op == Op::Modulo) {
    llvm::Value* const zero = ir_.CreateICmpEQ(right.bits, ir_.getInt64(0));
    fail_if(ir_.CreateAnd(defined, zero), FaultKind::DivisionByZero, id);
    // The machine traps on a divisor of 0 (here: undefined operands) and on MIN / −1; any x mod −1 is x mod 1.
    llvm::Value* const minus_one = ir_.CreateICmpEQ(right.bits, ir_.getInt64(~0ULL));
    llvm::Value* const usable = ir_.CreateAnd(defined, ir_.CreateNot(ir_.CreateOr(zero, minus_one)));
    llvm::Value* const divisor = ir_.CreateSelect(usable, right.bits, ir_.getInt64(1));
    result.bits = ir_.CreateSRem(left.bits, divisor);
    return result;
  }
  const auto intrinsic = op == Op::Add        ? llvm::Intrinsic::sadd_with_overflow
                         : op == Op::Subtract ? llvm::Intrinsic::ssub_with_overflow
                                              : llvm::Intrinsic::smul_with_overflow;
  llvm::Value* const pair = ir_.CreateBinaryIntrinsic(intrinsic, left.bits, right.bits);
  fail_if(ir_.CreateAnd(defined, ir_.CreateExtractValue(pair, 1)), FaultKind::IntegerOverflow, id);
  result.bits = ir_.CreateExtractValue(pair, 0);
  return result;
}

void Lowering::settle(Operand& operand, NodeId id) {
  if (!operand.doubtful) return;
  fail_if(ir_.CreateAnd(operand.defined, not_finite(operand.bits)), FaultKind::NotFinite, id);
  operand.doubtful = false;
}

Operand Lowering::arithmetic(NodeId id) {
  const Node& self = node(id);
  if (self.type.base != Base::Real) {
    const Operand left = emit(self.args[0]);
    const Operand right = emit(self.args[1]);
    return whole(id, left, right);
  }
  Operand left = emit_doubtful(self.args[0]);
  if (target_.kind != nullptr) settle(left, self.args[0]);
  Operand right = emit_doubtful(self.args[1]);
  // What is not finite is a fault even where the other is undefined, and a divisor would hide it.
  const bool divides = self.op == Op::Divide || self.op == Op::Modulo;
  if (!always(right.defined) || self.op == Op::Modulo) settle(left, self.args[0]);
  if (!always(left.defined) || divides || target_.kind != nullptr) settle(right, self.args[1]);
  return real(id, left, right);
}

Operand Lowering::real(NodeId id, Operand left, Operand right) {
  const Op op = node(id).op;
  Operand result{nullptr, nullptr, ir_.CreateAnd(left.defined, right.defined), Base::Real, false};
  llvm::Value* const a = to_real(left);
  llvm::Value* const b = to_real(right);
  const double first = size_of(left), second = size_of(right);
  const bool tells = target_.kind != nullptr;
  // Where nobody asks for the kind of a fault: x / 0 is not finite.
  if (op == Op::Modulo || (op == Op::Divide && tells)) {
    llvm::Value* const zero = ir_.CreateFCmpOEQ(b, zero_of(Base::Real));
    fail_if(ir_.CreateAnd(result.defined, zero), FaultKind::DivisionByZero, id);
  }
  switch (op) {
    case Op::Add: result.bits = ir_.CreateFAdd(a, b); result.bound = first + second; break;
    case Op::Subtract: result.bits = ir_.CreateFSub(a, b); result.bound = first + second; break;
    case Op::Multiply: result.bits = ir_.CreateFMul(a, b); result.bound = first * second; break;
    case Op::Divide: result.bits = ir_.CreateFDiv(a, b); break;
    default: {
      llvm::Type* const type = ir_.getDoubleTy();
      result.bits = ir_.CreateCall(runtime("allot_remainder", type, {type, type}), {a, b});
    }
  }
  result.bound *= slack;
  result.doubtful = left.doubtful || right.doubtful || !(result.bound < safe_real);   // 0 · ∞ is no bound
  if (result.doubtful) result.bound = infinite;
  if (tells) settle(result, id);
  return result;
}

Operand Lowering::comparison(NodeId id) {
  const Node& self = node(id);
  const Operand left = emit(self.args[0]);
  const Operand right = emit(self.args[1]);
  const bool real = left.base == Base::Real || right.base == Base::Real;
  const auto pick = [&](llvm::CmpInst::Predicate of_real, llvm::CmpInst::Predicate of_int) {
    if (real) return ir_.CreateFCmp(of_real, to_real(left), to_real(right));
    return ir_.CreateICmp(of_int, left.bits, right.bits);
  };
  using P = llvm::CmpInst;
  llvm::Value* bits = nullptr;
  switch (self.op) {
    case Op::Less: bits = pick(P::FCMP_OLT, P::ICMP_SLT); break;
    case Op::LessEqual: bits = pick(P::FCMP_OLE, P::ICMP_SLE); break;
    case Op::Greater: bits = pick(P::FCMP_OGT, P::ICMP_SGT); break;
    case Op::GreaterEqual: bits = pick(P::FCMP_OGE, P::ICMP_SGE); break;
    case Op::Equal: bits = pick(P::FCMP_OEQ, P::ICMP_EQ); break;
    default: bits = pick(P::FCMP_UNE, P::ICMP_NE); break;
  }
  return {bits, nullptr, ir_.CreateAnd(left.defined, right.defined), Base::Bool, false};
}

}  // namespace allot::compiler::native
