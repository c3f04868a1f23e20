// One handler on its way to LLVM IR. The evaluator (compiler/evaluate) says what each operation means; nothing of it
// is used here.
//
// A value is a few LLVM values (Operand). Where one is undefined its other parts are arbitrary, so nothing may look at
// them unless `defined` holds. Lets live in stack slots that the optimiser turns into registers; each use computes the
// let unless it is known, or found at run time, to have been computed.
//
// A fault jumps to the innermost FaultTarget. In an effect its kind and node are told. In a rule only that there is one,
// since the evaluator then decides anew (asks_evaluator). So a rule need not test every operation: a real that is not
// finite stays so under + − × and as a numerator, and is tested where it is used (`doubtful`), or not at all where it
// cannot be too large (`bound`).
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "compiler/native/abi.h"
#include "lang/program.h"

namespace allot::compiler::native {

struct Operand {
  llvm::Value* bits = nullptr;     // double, i64, i1 by base; of a vector the pointer to its cells
  llvm::Value* second = nullptr;   // of a beta the second parameter, of a vector its size
  llvm::Value* defined = nullptr;  // i1
  lang::Base base = lang::Base::Real;
  bool vector = false;
  llvm::Value* width = nullptr;    // of a matrix the number of its columns
  double bound = std::numeric_limits<double>::infinity();   // a real is no larger in size
  bool doubtful = false;           // a real that may not be finite, which is a fault
};

struct FaultTarget {
  llvm::BasicBlock* block = nullptr;
  // nullptr: nobody asks.
  llvm::PHINode* kind = nullptr;
  llvm::PHINode* node = nullptr;
};

class Lowering {
 public:
  Lowering(llvm::Module& module, const Request& request, const lang::Handler& handler);

  // void name(const Frame*, Outcome*): the outcome has been cleared before.
  void handler(const std::string& name);
  // void name(const Frame*, Cell*): the value of the first effect.
  void expression(const std::string& name);

  // More code than a policy may become: the handler is as its author wrote it, but lets used under many conditions
  // would be repeated too often.
  bool too_large() const { return emitted_ > budget_; }

 private:
  using Lets = std::set<std::int32_t>;
  using Make = std::function<Operand()>;

  // lowering.cpp: types, memory, blocks, faults
  const lang::Node& node(lang::NodeId id) const { return handler_.nodes[static_cast<std::size_t>(id)]; }
  void begin(const std::string& name);
  llvm::Value* at(llvm::Value* base, std::uint64_t offset);
  llvm::Value* at(llvm::Value* base, llvm::Value* index, std::uint64_t stride);
  llvm::AllocaInst* slot(llvm::Type* type, llvm::Value* initial = nullptr);
  llvm::Type* type_of(lang::Base base);
  llvm::Value* zero_of(lang::Base base);
  Operand undefined(const lang::Type& type);
  Operand load_cell(llvm::Value* cell, lang::Base base);
  void store_cell(const Operand& operand, llvm::Value* cell);
  llvm::BasicBlock* block(const char* name);
  void enter(llvm::BasicBlock* block) { ir_.SetInsertPoint(block); }
  Operand branch(llvm::Value* condition, const lang::Type& type, const Make& then, const Make& otherwise);
  enum class Tells { Place, Nothing };
  FaultTarget open_target(const char* name, Tells tells);
  // False where nothing can reach it; its block is then gone.
  bool close_target(FaultTarget& target);
  void fail_if(llvm::Value* condition, FaultKind kind, lang::NodeId id);
  void fail_if(llvm::Value* condition, llvm::Value* kind, lang::NodeId id);

  // leaves.cpp
  Operand emit(lang::NodeId id);
  Operand emit_doubtful(lang::NodeId id);
  Operand checked(lang::NodeId id, Operand loaded);
  Operand element(lang::NodeId id);
  Operand state(lang::NodeId id);
  Operand column(std::int32_t index, const lang::Type& type);
  Operand copied(lang::NodeId id, llvm::Value* cells);
  Operand at(lang::NodeId id);
  Operand align(lang::NodeId id);
  // scalars.cpp
  llvm::Value* to_real(const Operand& operand);
  Operand unary(lang::NodeId id);
  void settle(Operand& operand, lang::NodeId id);
  Operand arithmetic(lang::NodeId id);
  Operand real(lang::NodeId id, Operand left, Operand right);
  Operand whole(lang::NodeId id, const Operand& left, const Operand& right);
  Operand comparison(lang::NodeId id);
  llvm::Value* not_finite(llvm::Value* value);
  llvm::Value* extreme(bool smallest, lang::Base base, llvm::Value* a, llvm::Value* b);
  // control.cpp
  Operand let(lang::NodeId id);
  Operand load_let(std::int32_t index);
  Operand compute_let(std::int32_t index);
  void forget(std::span<const std::int32_t> lets);
  Operand logical(lang::NodeId id);
  Operand choose(lang::NodeId id);
  Operand coalesce(lang::NodeId id);
  // loops.cpp
  llvm::Value* enter_loop(std::int32_t loop);   // its size
  void walk(std::int32_t loop, llvm::Value* size, const std::function<void(llvm::BasicBlock* done)>& body);
  void where(const lang::Node& node, const std::function<void()>& body);
  Operand reduce(lang::NodeId id);
  void take_in(lang::NodeId id, const Operand& body, llvm::AllocaInst* kept, llvm::AllocaInst* some,
               llvm::BasicBlock* done);
  Operand mean(lang::NodeId id);
  Operand map(lang::NodeId id);
  Operand list(lang::NodeId id);
  void copy_constants(const std::vector<lang::NodeId>& elements, llvm::Value* cells);
  // allot.cpp
  Operand present(lang::NodeId id, lang::NodeId whole);
  void inside_loop(const std::function<void()>& body);
  Operand allot(lang::NodeId id);
  // calls.cpp
  llvm::FunctionCallee runtime(const char* name, llvm::Type* result, std::vector<llvm::Type*> arguments);
  llvm::Value* take(llvm::Value* cells, lang::NodeId id);
  Operand call(lang::NodeId id);
  std::optional<Operand> simple_call(lang::NodeId id, std::string_view name, const std::vector<Operand>& operands);
  void store_value(const Operand& operand, llvm::Value* value);
  // verdicts.cpp
  llvm::Value* holds(const Operand& operand);
  void rules();
  void answer(std::size_t index);
  void store_column(const Operand& operand, std::uint64_t offset);
  void holes(const lang::Rule& rule);
  // effects.cpp
  void effects(const std::vector<lang::Effect>& all);
  void effect(const lang::Effect& one);
  void remember(const lang::Effect& one);
  void report(const lang::Effect& one);
  void warn(const lang::Effect& one);

  struct Slot {
    llvm::AllocaInst* done = nullptr;
    llvm::AllocaInst* bits = nullptr;
    llvm::AllocaInst* second = nullptr;
    llvm::AllocaInst* defined = nullptr;
    llvm::AllocaInst* width = nullptr;
    double bound = 0;
    int depth = 0;   // of loops around the scope that owns it
  };
  struct Cursor {
    llvm::AllocaInst* position = nullptr;
    llvm::AllocaInst* cells = nullptr;
    llvm::AllocaInst* size = nullptr;
    llvm::Value* width = nullptr;   // of the matrix that was entered last
  };

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const Request& request_;
  const lang::Handler& handler_;
  llvm::IRBuilder<> ir_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::Value* frame_ = nullptr;
  llvm::Value* outcome_ = nullptr;
  llvm::Value* parameters_ = nullptr;
  llvm::Value* reads_ = nullptr;
  llvm::Value* columns_ = nullptr;
  llvm::Value* sizes_ = nullptr;
  llvm::Value* states_ = nullptr;
  llvm::Value* scratch_ = nullptr;
  llvm::AllocaInst* arguments_ = nullptr;   // of the call at hand: most_arguments Values
  llvm::AllocaInst* result_ = nullptr;
  std::vector<Slot> lets_;
  std::vector<Cursor> cursors_;
  Lets known_;      // computed on every path to here
  Lets possible_;   // computed on some path to here
  int loop_depth_ = 0;
  FaultTarget target_;
  std::size_t emitted_ = 0;
  std::size_t budget_ = 0;
};

}  // namespace allot::compiler::native
