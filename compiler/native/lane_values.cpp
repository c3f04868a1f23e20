// Every operation of the language that has no effect and no loop, over lanes. The evaluator says what each means.
#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/native/bounds.h"
#include "compiler/native/lanes.h"

namespace allot::compiler::native {

using lang::Base;
using lang::Node;
using lang::NodeId;
using lang::Op;

namespace {

// Below it no rounding of a bound hides an overflow.
constexpr double safe_int = 0x1p62;
// Below it sums of whole numbers are the same as reals.
constexpr double exact_real = 0x1p52;

}  // namespace

Lane Lanes::emit(NodeId id) {
  const Node& self = node(id);
  switch (self.op) {
    case Op::Constant: return constant(id);
    case Op::Parameter: {
      lang::Type there = self.type;
      there.optional = false;
      return fixed(there, part(parameters_, self.index, sizeof(Cell)));
    }
    case Op::Read: return column(Table::Reads, self.index, self.type);
    case Op::State: return state(id);
    case Op::Let: return let(id);
    case Op::Scope: return emit(self.args[0]);   // a let has one value a row: there are no loops here
    case Op::Not: case Op::Negate: case Op::ToReal: case Op::IsUndefined: return unary(id);
    case Op::Add: case Op::Subtract: case Op::Multiply: case Op::Divide: case Op::Modulo: return arithmetic(id);
    case Op::Less: case Op::LessEqual: case Op::Greater: case Op::GreaterEqual: case Op::Equal: case Op::NotEqual:
      return comparison(id);
    case Op::And: case Op::Or: return logical(id);
    case Op::If: return choose(id);
    case Op::Coalesce: return coalesce(id);
    case Op::Assume: return must_exist(emit(self.args[0]), lang::Type{});
    case Op::Call: return call(id);
    default: return {};   // can_vectorise has refused it
  }
}

Lane Lanes::constant(NodeId id) {
  const Node& self = node(id);
  Lane lane;
  lane.base = self.type.base;
  if (self.cell.defined == 0) lane.defined = llvm::Constant::getNullValue(wide(ir_.getInt1Ty()));
  if (self.type.base == Base::Bool) {
    lane.bits = splat(ir_.getInt1(self.cell.truth()));
  } else if (self.type.base == Base::Real) {
    lane.bits = constant(self.cell.real());
    lane.bound = std::abs(self.cell.real());
  } else {
    lane.bits = constant(self.cell.integer());
    lane.bound = std::abs(static_cast<double>(self.cell.integer()));
    if (lane.bound < exact_real) lane.real = constant(static_cast<double>(self.cell.integer()));
  }
  return lane;
}

// What the type says is there must be there.
Lane Lanes::must_exist(Lane lane, const lang::Type& type) {
  if (type.optional || lane.defined == nullptr) return lane;
  lane.fault = either(lane.fault, marked(ir_.CreateNot(lane.defined)));
  lane.defined = nullptr;
  return lane;
}

llvm::Value* Lanes::not_finite(llvm::Value* value) {
  llvm::Value* const size = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  return ir_.CreateFCmpUGE(size, constant(infinite));   // infinite, or not a number
}

// The end of a chain: what is not finite is a fault.
void Lanes::settle(Lane& lane) {
  if (!lane.doubtful) return;
  if (hasty_) trace(lane.defined == nullptr ? lane.bits : ir_.CreateSelect(lane.defined, lane.bits, constant(0.0)));
  else lane.fault = either(lane.fault, only(lane.defined, not_finite(lane.bits)));
  lane.doubtful = false;
  lane.bound = std::numeric_limits<double>::max();
}

llvm::Value* Lanes::to_real(const Lane& lane) {
  if (lane.base == Base::Real) return lane.bits;
  if (lane.real != nullptr) return lane.real;
  if (converts_i64_ || lane.bound >= 0x1p51) return ir_.CreateSIToFP(lane.bits, wide(ir_.getDoubleTy()));
  // 1.5 · 2^52 has room for 51 bits and their sign below its own; exact.
  constexpr double magic = 0x1.8p52;
  llvm::Value* const shifted = ir_.CreateAdd(lane.bits, constant(std::bit_cast<std::int64_t>(magic)));
  return ir_.CreateFSub(ir_.CreateBitCast(shifted, wide(ir_.getDoubleTy())), constant(magic));
}

Lane Lanes::let(NodeId id) {
  const auto index = static_cast<std::size_t>(node(id).index);
  if (!lets_[index]) lets_[index] = emit(handler_.lets[index].value);
  return *lets_[index];
}

// One value, at position 0.
Lane Lanes::state(NodeId id) {
  const Node& self = node(id);
  Lane found = column(Table::States, self.index, self.type);
  if (self.args.empty()) return found;
  Lane key = emit(self.args[0]);
  Mask const elsewhere = ir_.CreateICmpNE(key.bits, constant(std::int64_t{0}));
  found.fault = either(key.fault, only(key.defined, found.fault));
  found.fault = either(found.fault, marked(only(key.defined, elsewhere)));
  found.defined = both(found.defined, key.defined);
  return found;
}

Lane Lanes::unary(NodeId id) {
  const Node& self = node(id);
  Lane of = emit(self.args[0]);
  if (self.op == Op::IsUndefined) {
    settle(of);
    Lane result;
    result.base = Base::Bool;
    result.fault = of.fault;
    result.bits = of.defined == nullptr ? splat(ir_.getFalse()) : ir_.CreateNot(of.defined);
    return result;
  }
  if (self.op == Op::Not) {
    of.bits = ir_.CreateNot(of.bits);
  } else if (self.op == Op::ToReal) {
    of.bits = to_real(of);
    of.base = Base::Real;
    of.bound *= slack;
  } else if (self.type.base == Base::Real) {
    of.bits = ir_.CreateFNeg(of.bits);
  } else {
    if (of.bound > safe_int) {
      Mask const smallest = ir_.CreateICmpEQ(of.bits, constant(std::numeric_limits<std::int64_t>::min()));
      of.fault = either(of.fault, marked(only(of.defined, smallest)));
    }
    of.bits = ir_.CreateNeg(of.bits);
    if (of.real != nullptr) of.real = ir_.CreateFSub(constant(0.0), of.real);   // no −0
  }
  return of;
}

Lane Lanes::arithmetic(NodeId id) {
  const Node& self = node(id);
  Lane left = emit(self.args[0]);
  Lane right = emit(self.args[1]);
  // A fault of one operand counts even where the other is undefined.
  if (right.defined != nullptr) settle(left);
  if (left.defined != nullptr) settle(right);
  Lane result;
  result.base = self.type.base;
  result.defined = both(left.defined, right.defined);
  result.fault = either(left.fault, right.fault);
  if (self.type.base == Base::Real) real(self.op, left, right, result);
  else whole(self.op, left, right, result);
  return result;
}

void Lanes::whole(Op op, const Lane& left, const Lane& right, Lane& result) {
  llvm::Value* const a = left.bits;
  llvm::Value* const b = right.bits;
  llvm::Value* const zero = constant(std::int64_t{0});
  if (op == Op::Modulo) {
    Mask const none = ir_.CreateICmpEQ(b, zero);
    result.fault = either(result.fault, marked(only(result.defined, none)));
    Mask const usable = ir_.CreateNot(ir_.CreateOr(none, ir_.CreateICmpEQ(b, constant(std::int64_t{-1}))));
    result.bits = ir_.CreateSRem(a, ir_.CreateSelect(usable, b, constant(std::int64_t{1})));
    result.bound = std::min(left.bound, right.bound);
    return;
  }
  if (op == Op::Multiply) {
    result.bits = ir_.CreateMul(a, b);
    result.bound = left.bound * right.bound;
    if (result.bound <= safe_int) return;
    // Factors of 32 bits are always well; others are multiplied again by themselves.
    const auto large = [&](llvm::Value* x) {
      llvm::Value* const moved = ir_.CreateAdd(x, constant(std::int64_t{1} << 31));
      return ir_.CreateICmpNE(ir_.CreateLShr(moved, constant(std::int64_t{32})), zero);
    };
    result.fault = either(result.fault, marked(only(result.defined, ir_.CreateOr(large(a), large(b)))));
    result.bound = safe_int;
    return;
  }
  const bool sum = op == Op::Add;
  result.bits = sum ? ir_.CreateAdd(a, b) : ir_.CreateSub(a, b);
  result.bound = left.bound + right.bound;
  // Vectors of int64 become reals slowly, so sums are kept as both; which one is not used goes.
  if (left.real != nullptr && right.real != nullptr && result.bound < exact_real)
    result.real = sum ? ir_.CreateFAdd(left.real, right.real) : ir_.CreateFSub(left.real, right.real);
  if (result.bound <= safe_int) return;
  // Overflow: the sign of the result is that of neither operand (of b turned round for a difference).
  llvm::Value* const first = ir_.CreateXor(a, result.bits);
  llvm::Value* const second = sum ? ir_.CreateXor(b, result.bits) : ir_.CreateXor(a, b);
  Mask const outside = ir_.CreateICmpSLT(ir_.CreateAnd(first, second), zero);
  result.fault = either(result.fault, marked(only(result.defined, outside)));
  result.bound = 0x1p63;
}

void Lanes::real(Op op, Lane& left, Lane& right, Lane& result) {
  llvm::Value* const a = to_real(left);
  llvm::Value* const b = to_real(right);
  result.doubtful = left.doubtful || right.doubtful;
  switch (op) {
    case Op::Add: result.bits = ir_.CreateFAdd(a, b); result.bound = left.bound + right.bound; break;
    case Op::Subtract: result.bits = ir_.CreateFSub(a, b); result.bound = left.bound + right.bound; break;
    case Op::Multiply: result.bits = ir_.CreateFMul(a, b); result.bound = left.bound * right.bound; break;
    default:   // a divisor that is not finite would leave no trace; one of 0 does
      settle(right);
      result.fault = either(left.fault, right.fault);
      result.doubtful = true;
      result.bits = ir_.CreateFDiv(a, b);
  }
  result.bound *= slack;
  result.doubtful = result.doubtful || !(result.bound < safe_real);
  if (result.doubtful) result.bound = infinite;
}

Lane Lanes::comparison(NodeId id) {
  const Node& self = node(id);
  Lane left = emit(self.args[0]);
  Lane right = emit(self.args[1]);
  settle(left);
  settle(right);
  Lane result;
  result.base = Base::Bool;
  result.defined = both(left.defined, right.defined);
  result.fault = either(left.fault, right.fault);
  const bool real = left.base == Base::Real || right.base == Base::Real;
  using P = llvm::CmpInst;
  const auto compare = [&](P::Predicate of_real, P::Predicate of_int) {
    if (real) return ir_.CreateFCmp(of_real, to_real(left), to_real(right));
    return ir_.CreateICmp(of_int, left.bits, right.bits);
  };
  switch (self.op) {
    case Op::Less: result.bits = compare(P::FCMP_OLT, P::ICMP_SLT); break;
    case Op::LessEqual: result.bits = compare(P::FCMP_OLE, P::ICMP_SLE); break;
    case Op::Greater: result.bits = compare(P::FCMP_OGT, P::ICMP_SGT); break;
    case Op::GreaterEqual: result.bits = compare(P::FCMP_OGE, P::ICMP_SGE); break;
    case Op::Equal: result.bits = compare(P::FCMP_OEQ, P::ICMP_EQ); break;
    default: result.bits = compare(P::FCMP_UNE, P::ICMP_NE); break;
  }
  return result;
}

// The second operand counts where the first is there and leaves it open.
Lane Lanes::logical(NodeId id) {
  const Node& self = node(id);
  const Lane first = emit(self.args[0]);
  const Lane second = emit(self.args[1]);
  const bool conjunction = self.op == Op::And;
  Mask const open = both(first.defined, conjunction ? first.bits : ir_.CreateNot(first.bits));
  Lane result;
  result.base = Base::Bool;
  result.bits = conjunction ? ir_.CreateAnd(first.bits, second.bits) : ir_.CreateOr(first.bits, second.bits);
  result.defined = choose(open, second.defined, first.defined, true);
  result.fault = either(first.fault, only(open, second.fault));
  return result;
}

Lane Lanes::choose(NodeId id) {
  const Node& self = node(id);
  const Lane condition = emit(self.args[0]);
  Lane then = emit(self.args[1]);
  Lane otherwise = emit(self.args[2]);
  settle(then);
  settle(otherwise);
  Lane result;
  result.base = self.type.base;
  result.bits = ir_.CreateSelect(condition.bits, then.bits, otherwise.bits);
  result.defined = both(condition.defined, choose(condition.bits, then.defined, otherwise.defined, true));
  result.fault = either(condition.fault,
                        only(condition.defined, choose(condition.bits, then.fault, otherwise.fault, false)));
  result.bound = std::max(then.bound, otherwise.bound);
  return result;
}

Lane Lanes::coalesce(NodeId id) {
  const Node& self = node(id);
  Lane first = emit(self.args[0]);
  if (first.defined == nullptr) return first;
  Lane second = emit(self.args[1]);
  settle(first);
  settle(second);
  Lane result;
  result.base = self.type.base;
  result.bits = ir_.CreateSelect(first.defined, first.bits, second.bits);
  if (second.defined != nullptr) result.defined = ir_.CreateOr(first.defined, second.defined);
  result.fault = either(first.fault, only(ir_.CreateNot(first.defined), second.fault));
  result.bound = std::max(first.bound, second.bound);
  return result;
}

// −0 is less than +0. No operand is NaN where the result counts.
llvm::Value* Lanes::extreme(bool smallest, Base base, llvm::Value* a, llvm::Value* b) {
  if (base != Base::Real)
    return ir_.CreateBinaryIntrinsic(smallest ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, a, b);
  llvm::Type* const whole = wide(ir_.getInt64Ty());
  llvm::Value* const negative = ir_.CreateICmpSLT(ir_.CreateBitCast(a, whole), constant(std::int64_t{0}));
  llvm::Value* const of_equals = smallest ? ir_.CreateSelect(negative, a, b) : ir_.CreateSelect(negative, b, a);
  llvm::Value* const less = ir_.CreateFCmpOLT(a, b);
  llvm::Value* const more = ir_.CreateFCmpOGT(a, b);
  return ir_.CreateSelect(smallest ? less : more, a, ir_.CreateSelect(smallest ? more : less, b, of_equals));
}

Lane Lanes::call(NodeId id) {
  const Node& self = node(id);
  const std::string_view name = request_.rows[static_cast<std::size_t>(self.index)].name;
  Lane result;
  result.base = self.type.base;
  const bool reals = result.base == Base::Real;
  std::vector<llvm::Value*> values;
  double bound = 0;
  for (const NodeId argument : self.args) {
    Lane lane = emit(argument);
    settle(lane);
    result.defined = both(result.defined, lane.defined);
    result.fault = either(result.fault, lane.fault);
    bound = std::max(bound, lane.bound);
    values.push_back(reals ? to_real(lane) : lane.bits);
  }
  result.bound = bound * (reals ? slack : 1);
  const auto fault_where = [&](Mask where) {
    result.fault = either(result.fault, marked(only(result.defined, where)));
  };
  if (name == "sqrt") {
    fault_where(ir_.CreateFCmpOLT(values[0], constant(0.0)));
    result.bits = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, values[0]);
    result.bound = std::max(1.0, result.bound);
  } else if (name == "clamp") {
    fault_where(reals ? ir_.CreateFCmpOGT(values[1], values[2]) : ir_.CreateICmpSGT(values[1], values[2]));
    result.bits = extreme(true, result.base, extreme(false, result.base, values[0], values[1]), values[2]);
  } else if (name != "abs") {
    result.bits = extreme(name == "min", result.base, values[0], values[1]);
  } else if (reals) {
    result.bits = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, values[0]);
  } else {
    fault_where(ir_.CreateICmpEQ(values[0], constant(std::numeric_limits<std::int64_t>::min())));
    llvm::Value* const negative = ir_.CreateICmpSLT(values[0], constant(std::int64_t{0}));
    result.bits = ir_.CreateSelect(negative, ir_.CreateNeg(values[0]), values[0]);
  }
  return result;
}

}  // namespace allot::compiler::native
