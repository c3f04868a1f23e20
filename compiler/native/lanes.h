// One handler for several rows side by side: straight-line LLVM IR over vectors, without a jump.
//
// Nothing in a rule has an effect, so both sides of every branch are computed and the value is chosen. What may fault
// does not stop: `fault` marks the lanes in which the evaluator would, or might, and such rows are asked again by
// themselves. So a mark too many costs time, never a wrong answer. Three things keep marks and their tests few:
//   - `bound`: no value is larger in size, so most sums of counts cannot overflow and need no test;
//   - `doubtful`: a real that is not finite stays so under + − × and as a numerator, and so does a division by zero, so
//     it is tested at the end;
//   - there are two functions of one handler (compiler/kernel.h): the hasty one notes only that some lane, needed or not,
//     would have been marked, and looks at its notes once, after the last row.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/batch.h"
#include "compiler/native/abi.h"

namespace allot::compiler::native {

struct Lane {
  llvm::Value* bits = nullptr;      // <n x double>, <n x i64>, <n x i1> by base
  llvm::Value* defined = nullptr;   // <n x i1>; nullptr: everywhere
  llvm::Value* fault = nullptr;     // <n x i1>; nullptr: nowhere
  lang::Base base = lang::Base::Real;
  llvm::Value* real = nullptr;      // of a whole number, where it is at hand: the same number as <n x double>
  double bound = std::numeric_limits<double>::infinity();
  bool doubtful = false;
};

// Whether the handler can be written so.
bool can_vectorise(const Request& request, const lang::Handler& handler, const BatchShape& shape);

class Lanes {
 public:
  Lanes(llvm::Module& module, const Request& request, const lang::Handler& handler, const BatchShape& shape,
        unsigned lanes, bool converts_i64, bool hasty);

  // A KernelFunction (compiler/kernel.h).
  llvm::Function* kernel(const std::string& name);

 private:
  using Mask = llvm::Value*;

  // lanes.cpp
  const lang::Node& node(lang::NodeId id) const { return handler_.nodes[static_cast<std::size_t>(id)]; }
  llvm::Value* part(llvm::Value* records, std::int32_t index, std::size_t size);
  llvm::Value* pointer_at(llvm::IRBuilder<>& ir, llvm::Value* base, std::uint64_t offset);
  llvm::Value* splat(llvm::Value* value) { return ir_.CreateVectorSplat(lanes_, value); }
  llvm::Type* wide(llvm::Type* type) { return llvm::FixedVectorType::get(type, lanes_); }
  llvm::Value* constant(double value) { return splat(llvm::ConstantFP::get(ir_.getDoubleTy(), value)); }
  llvm::Value* constant(std::int64_t value) { return splat(ir_.getInt64(static_cast<std::uint64_t>(value))); }
  Lane fixed(const lang::Type& type, llvm::Value* cell);
  enum class Table { Reads, States };
  Lane column(Table table, std::int32_t index, const lang::Type& type);
  Lane loaded(const ColumnShape& shape, llvm::Value* values, const lang::Type& type);
  llvm::Value* next_of(llvm::Value* values, llvm::Type* element, unsigned align);
  llvm::Value* row_of(llvm::Value* values, llvm::Type* element);
  void rules();
  llvm::Value* over(Mask where, llvm::Value* value, llvm::Value* otherwise);
  Lane number(Lane lane);
  void write(llvm::Value* code, const std::vector<Lane>& numbers);
  void trace(llvm::Value* value);

  // Masks, where nullptr is the one that a Lane leaves out.
  Mask both(Mask a, Mask b);         // of defined
  Mask either(Mask a, Mask b);       // of faults
  Mask only(Mask where, Mask fault); // a fault counts in these lanes; nullptr: everywhere
  Mask unless(Mask where, Mask fault);   // a fault counts in the others; nullptr: everywhere
  Mask choose(Mask condition, Mask a, Mask b, bool otherwise);
  Mask marked(Mask fault);           // the fault that a lane keeps: none where only haste looks at it

  // lane_values.cpp
  Lane emit(lang::NodeId id);
  Lane must_exist(Lane lane, const lang::Type& type);
  void settle(Lane& lane);
  llvm::Value* not_finite(llvm::Value* value);
  llvm::Value* to_real(const Lane& lane);
  Lane constant(lang::NodeId id);
  Lane state(lang::NodeId id);
  Lane let(lang::NodeId id);
  Lane unary(lang::NodeId id);
  Lane arithmetic(lang::NodeId id);
  void whole(lang::Op op, const Lane& left, const Lane& right, Lane& result);
  void real(lang::Op op, Lane& left, Lane& right, Lane& result);
  Lane comparison(lang::NodeId id);
  Lane logical(lang::NodeId id);
  Lane choose(lang::NodeId id);
  Lane coalesce(lang::NodeId id);
  Lane call(lang::NodeId id);
  llvm::Value* extreme(bool smallest, lang::Base base, llvm::Value* a, llvm::Value* b);

  llvm::Module& module_;
  const Request& request_;
  const lang::Handler& handler_;
  const BatchShape& shape_;
  unsigned lanes_;
  bool converts_i64_;
  bool hasty_;
  llvm::IRBuilder<> ir_;          // in the loop
  llvm::IRBuilder<> before_;      // before it: what is the same for all rows
  llvm::Value* row_ = nullptr;
  llvm::Value* parameters_ = nullptr;
  llvm::Value* reads_ = nullptr;
  llvm::Value* states_ = nullptr;
  llvm::Value* rules_ = nullptr;
  llvm::Value* numbers_ = nullptr;
  std::vector<std::optional<Lane>> lets_;
  std::map<std::tuple<Table, std::int32_t, bool>, Lane> columns_;   // by index and whether it is optional
  std::vector<llvm::Value*> streams_;      // where this row stands in memory
  Mask again_ = nullptr;          // rows that must be asked again; hasty: lanes so far in which anything might fault
  Mask never_ = nullptr;          // hasty: what is the same for all rows and must not be
  // Hasty: integers whose sign tells that some real was not finite. Several, so that tests need not wait for each other.
  std::vector<llvm::Value*> traces_;
  std::set<llvm::Value*> traced_;
};

}  // namespace allot::compiler::native
