// What a policy remembers, carried from one version to another: by name and type, or through `migrate`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/engine/state.h"
#include "runtime/engine/swap.h"

namespace allot::engine {

class Migrator;

// Memory in the form of another policy, made before that takes over.
struct CarriedMemory {
  StateStore store;
  StateStore::Moment from;  // without rows: of which memory, and when
};

class StatePlan {
 public:
  // Both programs must outlive the plan.
  StatePlan(const lang::Program& from, const lang::Program& to);

  const StateChanges& changes() const { return changes_; }
  // What would be lost of state that outlives a group, a sentence each; empty where the swap may be made.
  const std::vector<std::string>& missing() const { return missing_; }

  // Everything but inputs, which the host supplies anew. An error names the prompt at which a `migrate` faulted. `ahead`
  // is taken up: of the same memory only what was written since is carried over.
  Result<StateStore> carry(const StateStore& store, CarriedMemory* ahead = nullptr) const;
  // While the memory goes on. None where a `migrate` faults, or where what nobody writes would have another value in the
  // new form once barriers have passed.
  std::optional<CarriedMemory> carry_ahead(const StateStore::Moment& memory) const;
  // Of one group. What cannot be carried begins anew.
  enum class Carried { Kept, Migrated, Restarted };
  Carried carry_group(StateCells& cells) const;

 private:
  struct Part {
    int from = -1;  // index of the old state; −1: none
    std::shared_ptr<Migrator> migrator;  // where its `migrate` is needed
  };
  Part part_for(std::size_t index);
  Result<StateCells> carry(const StateCells& cells, lang::StateScope scope) const;
  // What was written since `earlier`; all of it without one.
  Result<void> carry_into(StateStore& next, const StateStore::Moment& memory, const StateStore::Moment* earlier) const;
  bool decays_alike() const;

  const lang::Program& from_;
  const lang::Program& to_;
  std::vector<Part> parts_;  // by state of `to`
  StateChanges changes_;
  std::vector<std::string> missing_;
  bool group_lost_ = false;
};

}  // namespace allot::engine
