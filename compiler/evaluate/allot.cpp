#include "compiler/allotment.h"
#include "compiler/evaluate/walk.h"

namespace allot::compiler {

using lang::Base;
using lang::Node;
using lang::NodeId;

namespace {

double as_real(const Value& value) noexcept {
  return value.base == Base::Real ? value.cell.real() : static_cast<double>(value.cell.integer());
}

}  // namespace

// An operand that must be there: the checker has seen to it, the host may break its word.
bool Walk::present(NodeId id, NodeId whole, Value& out) noexcept {
  return value(id, out) && (out.cell.defined != 0 || fail(FaultKind::Domain, whole));
}

bool Walk::allot(NodeId id, Value& out) noexcept {
  const Node& self = node(id);
  const lang::Allotment& how = handler_.allotments[static_cast<std::size_t>(self.index)];
  Value budget;
  std::int64_t size = 0;
  if (!present(self.args[0], id, budget) || !enter(self.loop, size)) return false;
  Allotting* const solver = Allotting::open(*frame_.scratch, how.solver, budget.cell.integer(), size);
  if (solver == nullptr) return fail(FaultKind::OutOfMemory, id);
  for (std::int64_t item = 0; item < size; ++item) {
    move(self.loop, item);
    Value low, high;
    if (!present(self.args[1], id, low) || !present(self.args[2], id, high)) return false;
    const FaultKind fault = solver->bounds(item, low.cell.integer(), high.cell.integer());
    if (fault != FaultKind::None) return fail(fault, id);
  }
  if (const FaultKind fault = solver->begin(*frame_.scratch); fault != FaultKind::None) return fail(fault, id);
  for (std::int64_t item = 0, count = 0; solver->ask(item, count);) {
    move(self.loop, item);
    move(how.counts, count);
    Value utility;
    if (!present(self.args[3], id, utility)) return false;
    const FaultKind fault = solver->tell(as_real(utility));
    if (fault != FaultKind::None) return fail(fault, id);
  }
  out.cell = Cell{};
  out.column = {solver->counts(), size};
  return true;
}

}  // namespace allot::compiler
