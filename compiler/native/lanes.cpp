#include "compiler/native/lanes.h"

#include <algorithm>
#include <set>

#include "common/stack.h"
#include "compiler/depth.h"
#include "compiler/kernel.h"
#include "compiler/outcome.h"

namespace allot::compiler::native {

using lang::Base;
using lang::NodeId;
using lang::Op;

namespace {

constexpr std::size_t most_nodes = 20'000;
// Deeper ones are decided one by one: a level takes a good deal of the stack here, and nobody writes such rules.
constexpr int most_depth = 200;
// Bytes of a column that are fetched ahead of the row at hand. The processor's own streams end at every page.
constexpr std::uint64_t fetched_ahead = 512;
constexpr std::size_t trace_count = 4;

bool inlined(std::string_view name) {
  return name == "abs" || name == "min" || name == "max" || name == "clamp" || name == "sqrt";
}

// Whether all that rules and effects may ask for can be written without a jump.
class Look {
 public:
  Look(const Request& request, const lang::Handler& handler, const BatchShape& shape)
      : request_(request), handler_(handler), shape_(shape) {}

  bool fine(NodeId id) {
    if (id < 0) return true;
    const lang::Node& node = handler_.nodes[static_cast<std::size_t>(id)];
    if (node.type.vector() || node.type.base == Base::Beta || node.type.base == Base::String) return false;
    if (!fine(node)) return false;
    return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return fine(arg); });
  }

 private:
  bool fine(const lang::Node& node) {
    const auto index = static_cast<std::size_t>(node.index);
    const auto given = [](ColumnKind kind) { return kind != ColumnKind::None && kind != ColumnKind::Cells; };
    switch (node.op) {
      case Op::Read: return given(shape_.reads[index].kind);
      case Op::State: return index < shape_.states.size() && given(shape_.states[index].kind);
      case Op::Let: return !seen_.insert(node.index).second || fine(handler_.lets[index].value);
      case Op::Call: return inlined(request_.rows[index].name);
      case Op::Modulo: return node.type.base == Base::Int;
      case Op::Constant: case Op::Parameter: case Op::Scope: case Op::Not: case Op::Negate: case Op::Add:
      case Op::Subtract: case Op::Multiply: case Op::Divide: case Op::Less: case Op::LessEqual: case Op::Greater:
      case Op::GreaterEqual: case Op::Equal: case Op::NotEqual: case Op::And: case Op::Or: case Op::If:
      case Op::Coalesce: case Op::IsUndefined: case Op::Assume: case Op::ToReal: return true;
      default: return false;
    }
  }

  const Request& request_;
  const lang::Handler& handler_;
  const BatchShape& shape_;
  std::set<std::int32_t> seen_;
};

}  // namespace

bool can_vectorise(const Request& request, const lang::Handler& handler, const BatchShape& shape) {
  if (handler.keys >= 0 || handler.nodes.size() > most_nodes || depth(handler) > most_depth || stack_ends()) return false;
  Look look(request, handler, shape);
  for (const lang::Rule& rule : handler.rules) {
    if (!look.fine(rule.condition)) return false;
    for (const OperandPlace& place : operand_places) {
      const auto same = [&](const NumberPlace& number) { return number.node == place.node; };
      const bool number = std::any_of(std::begin(number_places), std::end(number_places), same);
      if (!number && rule.verdict.*place.node >= 0) return false;
    }
    for (const NumberPlace& place : number_places) {
      if (!look.fine(rule.verdict.*place.node)) return false;
    }
  }
  return std::all_of(handler.effects.begin(), handler.effects.end(), [&](const lang::Effect& effect) {
    const bool harmless = effect.kind == lang::EffectKind::Report || effect.kind == lang::EffectKind::Warn;
    return harmless && look.fine(effect.value);
  });
}

Lanes::Lanes(llvm::Module& module, const Request& request, const lang::Handler& handler, const BatchShape& shape,
             unsigned lanes, bool converts_i64, bool hasty)
    : module_(module), request_(request), handler_(handler), shape_(shape), lanes_(lanes), converts_i64_(converts_i64),
      hasty_(hasty), ir_(module.getContext()), before_(module.getContext()) {
  lets_.resize(handler.lets.size());
}

// One of several records of that size in a row, before the loop.
llvm::Value* Lanes::part(llvm::Value* records, std::int32_t index, std::size_t size) {
  return before_.CreateConstGEP1_64(before_.getInt8Ty(), records, static_cast<std::uint64_t>(index) * size);
}

llvm::Value* Lanes::pointer_at(llvm::IRBuilder<>& ir, llvm::Value* base, std::uint64_t offset) {
  return ir.CreateLoad(ir.getPtrTy(), ir.CreateConstGEP1_64(ir.getInt8Ty(), base, offset));
}

llvm::Function* Lanes::kernel(const std::string& name) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* const i64 = ir_.getInt64Ty();
  auto* const function =
      llvm::Function::Create(llvm::FunctionType::get(i64, {ir_.getPtrTy(), i64, i64}, false),
                             llvm::Function::ExternalLinkage, name, module_);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->setUWTableKind(llvm::UWTableKind::Default);
  auto* const entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* const loop = llvm::BasicBlock::Create(context, "rows", function);
  auto* const end = llvm::BasicBlock::Create(context, "end", function);
  llvm::Value* const frame = function->getArg(0);
  before_.SetInsertPoint(entry);
  parameters_ = pointer_at(before_, frame, offsetof(KernelFrame, parameters));
  reads_ = pointer_at(before_, frame, offsetof(KernelFrame, reads));
  states_ = pointer_at(before_, frame, offsetof(KernelFrame, states));
  rules_ = pointer_at(before_, frame, offsetof(KernelFrame, rules));
  numbers_ = pointer_at(before_, frame, offsetof(KernelFrame, numbers));
  before_.SetInsertPoint(before_.CreateBr(loop));

  ir_.SetInsertPoint(loop);
  const auto carried = [&](llvm::Value* initial) {
    llvm::PHINode* const kept = ir_.CreatePHI(initial->getType(), 2);
    kept->addIncoming(initial, entry);
    return kept;
  };
  llvm::PHINode* const row = carried(function->getArg(1));
  llvm::PHINode* const some = carried(llvm::Constant::getNullValue(wide(ir_.getInt1Ty())));
  std::vector<llvm::PHINode*> traces;
  for (std::size_t i = 0; hasty_ && i < trace_count; ++i) traces.push_back(carried(constant(std::int64_t{0})));
  traces_.assign(traces.begin(), traces.end());
  row_ = row;
  rules();
  for (llvm::Value* const stream : streams_) {
    llvm::Value* const ahead = ir_.CreateConstGEP1_64(ir_.getInt8Ty(), stream, fetched_ahead);
    // To be read, and to stay in every cache.
    ir_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                        {ahead, ir_.getInt32(0), ir_.getInt32(3), ir_.getInt32(1)});
  }
  Mask all = again_ == nullptr ? some : ir_.CreateOr(some, again_);
  llvm::Value* const next = ir_.CreateAdd(row, ir_.getInt64(lanes_));
  row->addIncoming(next, loop);
  some->addIncoming(all, loop);
  for (std::size_t i = 0; i < traces.size(); ++i) traces[i]->addIncoming(traces_[i], loop);
  ir_.CreateCondBr(ir_.CreateICmpSLT(next, function->getArg(2)), loop, end);

  ir_.SetInsertPoint(end);
  all = either(all, never_);
  for (llvm::Value* const kept : traces_) all = ir_.CreateOr(all, ir_.CreateICmpSLT(kept, constant(std::int64_t{0})));
  ir_.CreateRet(ir_.CreateZExt(ir_.CreateOrReduce(all), i64));
  return function;
}

// Rules in order: the first that holds answers. A fault counts where no rule before it has answered.
void Lanes::rules() {
  struct Answer {
    Mask holds = nullptr;   // nullptr: everywhere
    std::vector<Lane> numbers = std::vector<Lane>(number_count);
  };
  std::vector<Answer> answers;
  Mask taken = nullptr;     // nullptr: nowhere
  for (const lang::Rule& rule : handler_.rules) {
    Answer answer;
    if (rule.condition >= 0) {
      const Lane condition = emit(rule.condition);
      again_ = either(again_, unless(taken, condition.fault));
      answer.holds = both(condition.defined, condition.bits);
    }
    for (std::size_t n = 0; n < number_count; ++n) {
      const NodeId id = rule.verdict.*number_places[n].node;
      if (id < 0) continue;
      Lane value = emit(id);
      settle(value);
      again_ = either(again_, only(answer.holds, unless(taken, value.fault)));
      answer.numbers[n] = value;
    }
    answers.push_back(answer);
    if (rule.condition < 0) break;
    taken = either(taken, answer.holds);
  }
  for (const lang::Effect& effect : handler_.effects) {
    Lane value = emit(effect.value);
    settle(value);
    again_ = either(again_, value.fault);
  }
  // From the last rule to the first, each over those behind it.
  llvm::Type* const type = shape_.narrow ? ir_.getInt8Ty() : ir_.getInt32Ty();
  const auto rule_code = [&](std::int64_t index) { return splat(llvm::ConstantInt::getSigned(type, index)); };
  llvm::Value* code = rule_code(-1);
  std::vector<Lane> numbers(number_count);
  for (std::size_t i = answers.size(); i-- > 0;) {
    const Answer& answer = answers[i];
    code = over(answer.holds, rule_code(static_cast<std::int64_t>(i)), code);
    for (std::size_t n = 0; shape_.operands && n < number_count; ++n) {
      const Lane given = number(answer.numbers[n]);
      numbers[n] = number(numbers[n]);
      numbers[n].bits = over(answer.holds, given.bits, numbers[n].bits);
      numbers[n].defined = over(answer.holds, given.defined, numbers[n].defined);
    }
  }
  if (!hasty_ && again_ != nullptr) code = ir_.CreateSelect(again_, rule_code(ask_again), code);
  write(code, numbers);
}

llvm::Value* Lanes::over(Mask where, llvm::Value* value, llvm::Value* otherwise) {
  return where == nullptr ? value : ir_.CreateSelect(where, value, otherwise);
}

// As it is written: 64 bits, which are 0 where it is undefined.
Lane Lanes::number(Lane lane) {
  llvm::Type* const truth = wide(ir_.getInt1Ty());
  if (lane.bits == nullptr) {
    lane.bits = constant(std::int64_t{0});
    lane.defined = llvm::Constant::getNullValue(truth);
    return lane;
  }
  lane.bits = over(lane.defined, ir_.CreateBitCast(lane.bits, wide(ir_.getInt64Ty())), constant(std::int64_t{0}));
  if (lane.defined == nullptr) lane.defined = llvm::Constant::getAllOnesValue(truth);
  return lane;
}

void Lanes::write(llvm::Value* code, const std::vector<Lane>& numbers) {
  llvm::Type* const i8 = ir_.getInt8Ty();
  llvm::Type* const type = shape_.narrow ? i8 : ir_.getInt32Ty();
  ir_.CreateAlignedStore(code, row_of(rules_, type), llvm::MaybeAlign(shape_.narrow ? 1 : 4));
  for (std::size_t n = 0; shape_.operands && n < number_count; ++n) {
    llvm::Value* const record = part(numbers_, static_cast<std::int32_t>(n), sizeof(Numbers));
    llvm::Value* const bits = pointer_at(before_, record, offsetof(Numbers, bits));
    llvm::Value* const defined = pointer_at(before_, record, offsetof(Numbers, defined));
    const Lane given = number(numbers[n]);
    ir_.CreateAlignedStore(given.bits, row_of(bits, ir_.getInt64Ty()), llvm::MaybeAlign(8));
    ir_.CreateAlignedStore(ir_.CreateZExt(given.defined, wide(i8)), row_of(defined, i8), llvm::MaybeAlign(1));
  }
}

llvm::Value* Lanes::row_of(llvm::Value* values, llvm::Type* element) { return ir_.CreateGEP(element, values, row_); }

llvm::Value* Lanes::next_of(llvm::Value* values, llvm::Type* element, unsigned align) {
  streams_.push_back(row_of(values, element));
  return ir_.CreateAlignedLoad(wide(element), streams_.back(), llvm::MaybeAlign(align));
}

// One cell for all rows; loaded, and found to be there, once.
Lane Lanes::fixed(const lang::Type& type, llvm::Value* cell) {
  llvm::IRBuilder<>& ir = before_;
  llvm::Type* const i64 = ir.getInt64Ty();
  Lane lane;
  lane.base = type.base;
  llvm::Value* const kept =
      ir.CreateLoad(i64, ir.CreateConstGEP1_64(ir.getInt8Ty(), cell, offsetof(Cell, defined)));
  llvm::Value* defined = ir.CreateICmpNE(kept, ir.getInt64(0));
  llvm::Value* bits = type.base == Base::Real ? ir.CreateLoad(ir.getDoubleTy(), cell) : ir.CreateLoad(i64, cell);
  if (type.base == Base::Bool) bits = ir.CreateICmpNE(bits, ir.getInt64(0));
  lane.bits = ir.CreateVectorSplat(lanes_, bits);
  if (type.base == Base::Real) {
    llvm::Value* const size = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, bits);
    defined = ir.CreateAnd(defined, ir.CreateFCmpOLT(size, llvm::ConstantFP::getInfinity(ir.getDoubleTy())));
    lane.bound = std::numeric_limits<double>::max();
  } else if (type.base != Base::Bool) {
    lane.bound = 0x1p63;
  }
  if (type.optional) {
    lane.defined = ir.CreateVectorSplat(lanes_, defined);
    return lane;
  }
  Mask const missing = ir.CreateVectorSplat(lanes_, ir.CreateNot(defined));
  if (!hasty_) lane.fault = missing;
  else never_ = never_ == nullptr ? missing : ir.CreateOr(never_, missing);
  return lane;
}

Lane Lanes::loaded(const ColumnShape& shape, llvm::Value* values, const lang::Type& type) {
  Lane lane;
  lane.base = type.base;
  switch (shape.kind) {
    case ColumnKind::Real64:
    case ColumnKind::Real32: {
      const bool half = shape.kind == ColumnKind::Real32;
      lane.bits = next_of(values, half ? ir_.getFloatTy() : ir_.getDoubleTy(), half ? 4 : 8);
      if (half) lane.bits = ir_.CreateFPExt(lane.bits, wide(ir_.getDoubleTy()));
      lane.bound = half ? static_cast<double>(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
      if (hasty_ && !type.optional) trace(lane.bits);
      else lane.defined = ir_.CreateNot(not_finite(lane.bits));
      break;
    }
    case ColumnKind::Int64:
      lane.bits = next_of(values, ir_.getInt64Ty(), 8);
      lane.bound = 0x1p63;
      break;
    case ColumnKind::Int32:
      lane.bits = next_of(values, ir_.getInt32Ty(), 4);
      lane.real = ir_.CreateSIToFP(lane.bits, wide(ir_.getDoubleTy()));
      lane.bits = ir_.CreateSExt(lane.bits, wide(ir_.getInt64Ty()));
      lane.bound = 0x1p31;
      break;
    default:
      lane.bits = next_of(values, ir_.getInt8Ty(), 1);
      lane.bits = ir_.CreateICmpNE(lane.bits, llvm::Constant::getNullValue(lane.bits->getType()));
  }
  return lane;
}

Lane Lanes::column(Table table, std::int32_t index, const lang::Type& type) {
  const auto [found, fresh] = columns_.try_emplace({table, index, type.optional});
  if (!fresh) return found->second;
  const bool reads = table == Table::Reads;
  const ColumnShape& shape = (reads ? shape_.reads : shape_.states)[static_cast<std::size_t>(index)];
  llvm::Value* const facts = part(reads ? reads_ : states_, index, sizeof(Facts));
  llvm::Value* const values = pointer_at(before_, facts, offsetof(Facts, values));
  Lane lane = shape.kind == ColumnKind::Same ? fixed(type, values) : loaded(shape, values, type);
  if (shape.gaps) {
    llvm::Type* const i8 = ir_.getInt8Ty();
    llvm::Value* const there = next_of(pointer_at(before_, facts, offsetof(Facts, defined)), i8, 1);
    lane.defined = both(lane.defined, ir_.CreateICmpNE(there, llvm::Constant::getNullValue(wide(i8))));
  }
  return found->second = must_exist(lane, type);
}

// Real numbers that must be finite. One added to an exponent carries into the sign if all its bits are set, which is
// how numbers that are not finite are written, and never else.
void Lanes::trace(llvm::Value* value) {
  if (!traced_.insert(value).second) return;
  llvm::Value* const bits = ir_.CreateBitCast(value, wide(ir_.getInt64Ty()));
  llvm::Value* const changed = ir_.CreateXor(bits, ir_.CreateAdd(bits, constant(std::int64_t{1} << 52)));
  llvm::Value*& kept = traces_[traced_.size() % traces_.size()];
  kept = ir_.CreateOr(kept, changed);
}

Lanes::Mask Lanes::both(Mask a, Mask b) {
  if (a == nullptr) return b;
  return b == nullptr ? a : ir_.CreateAnd(a, b);
}

Lanes::Mask Lanes::either(Mask a, Mask b) {
  if (a == nullptr) return b;
  return b == nullptr ? a : ir_.CreateOr(a, b);
}

Lanes::Mask Lanes::only(Mask where, Mask fault) {
  if (fault == nullptr || where == nullptr) return fault;
  return ir_.CreateAnd(where, fault);
}

Lanes::Mask Lanes::unless(Mask where, Mask fault) {
  if (fault == nullptr || where == nullptr) return fault;
  return ir_.CreateAnd(fault, ir_.CreateNot(where));
}

Lanes::Mask Lanes::marked(Mask fault) {
  if (!hasty_) return fault;
  again_ = either(again_, fault);
  return nullptr;
}

Lanes::Mask Lanes::choose(Mask condition, Mask a, Mask b, bool otherwise) {
  if (a == b) return a;
  llvm::Type* const type = wide(ir_.getInt1Ty());
  llvm::Value* const left = otherwise ? llvm::Constant::getAllOnesValue(type) : llvm::Constant::getNullValue(type);
  return ir_.CreateSelect(condition, a == nullptr ? left : a, b == nullptr ? left : b);
}

}  // namespace allot::compiler::native
