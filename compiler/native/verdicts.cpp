#include "compiler/native/lowering.h"
#include "compiler/outcome.h"

namespace allot::compiler::native {

using lang::NodeId;

llvm::Value* Lowering::holds(const Operand& operand) { return ir_.CreateAnd(operand.defined, operand.bits); }

void Lowering::handler(const std::string& name) {
  begin(name);
  llvm::BasicBlock* const after = block("effects");
  llvm::BasicBlock* const end = block("end");
  target_ = open_target("fault", Tells::Nothing);
  FaultTarget fault = target_;
  const Operand keys = handler_.keys < 0 ? Operand{} : emit(handler_.keys);
  Lets always = known_;
  for (std::size_t i = 0; i < handler_.rules.size(); ++i) {
    const NodeId condition = handler_.rules[i].condition;
    llvm::BasicBlock* const answers = block("answers");
    llvm::BasicBlock* const next = block("next_rule");
    ir_.CreateCondBr(condition < 0 ? ir_.getTrue() : holds(emit(condition)), answers, next);
    if (i == 0) always = known_;
    const Lets before = known_;
    enter(answers);
    answer(i);
    target_ = fault;
    ir_.CreateBr(after);
    known_ = before;
    enter(next);
  }
  ir_.CreateBr(after);
  if (close_target(fault)) {
    enter(fault.block);
    llvm::Value* const request = ir_.getInt32(static_cast<std::uint32_t>(asks_evaluator));
    ir_.CreateStore(request, at(outcome_, offsetof(Outcome, fault_node)));
    ir_.CreateBr(end);
  }
  enter(after);
  if (keys.bits != nullptr) store_column(keys, offsetof(Outcome, keys));
  known_ = always;
  effects(handler_.effects);
  ir_.CreateBr(end);
  enter(end);
  ir_.CreateRetVoid();
}

void Lowering::expression(const std::string& name) {
  begin(name);
  target_ = open_target("fault", Tells::Nothing);
  FaultTarget fault = target_;
  store_cell(emit(handler_.effects.front().value), outcome_);
  ir_.CreateRetVoid();
  if (!close_target(fault)) return;
  enter(fault.block);
  store_cell(undefined(lang::Type{}), outcome_);
  ir_.CreateRetVoid();
}

// A vector of the outcome; an undefined one has no elements.
void Lowering::store_column(const Operand& operand, std::uint64_t offset) {
  llvm::Value* const column = at(outcome_, offset);
  llvm::Value* const none = llvm::ConstantPointerNull::get(ir_.getPtrTy());
  ir_.CreateStore(ir_.CreateSelect(operand.defined, operand.bits, none), column);
  ir_.CreateStore(ir_.CreateSelect(operand.defined, operand.second, ir_.getInt64(0)),
                  at(column, offsetof(Column, size)));
}

// All operands first: a fault in one of them leaves the outcome as it was.
void Lowering::answer(std::size_t index) {
  const lang::Rule& rule = handler_.rules[index];
  std::vector<Operand> operands;
  for (const OperandPlace& place : operand_places) {
    const NodeId id = rule.verdict.*place.node;
    operands.push_back(id < 0 ? Operand{} : emit(id));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    if (operand.bits == nullptr) continue;
    if (operand.vector) {
      if (operand_places[i].column != 0) store_column(operand, operand_places[i].column);
    } else if (operand_places[i].cell != 0) {
      store_cell(operand, at(outcome_, operand_places[i].cell));
    }
  }
  ir_.CreateStore(ir_.getInt32(static_cast<std::uint32_t>(index)), at(outcome_, offsetof(Outcome, rule)));
  holes(rule);
}

// A fault in one is the rule's: the evaluator decides anew, and says which hole stays undefined. Going on from here would
// take other scratch than it does.
void Lowering::holes(const lang::Rule& rule) {
  std::uint64_t next = 0;
  llvm::Value* array = nullptr;
  llvm::BasicBlock* const skip = block("no_holes");
  for (const lang::MessagePart& part : rule.because) {
    if (part.hole < 0) continue;
    if (array == nullptr) {
      array = ir_.CreateLoad(ir_.getPtrTy(), at(outcome_, offsetof(Outcome, holes)));
      llvm::BasicBlock* const some = block("holes");
      ir_.CreateCondBr(ir_.CreateIsNull(array), skip, some);
      enter(some);
    }
    const Operand value = emit(part.hole);
    if (!value.vector) store_cell(value, at(array, next * sizeof(Cell)));
    ++next;
  }
  ir_.CreateBr(skip);
  enter(skip);
}

}  // namespace allot::compiler::native
