#include "runtime/engine/swap_state.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "compiler/executable.h"
#include "runtime/engine/verdict.h"

namespace allot::engine {
namespace {

using lang::Cell;
using lang::State;
using lang::StateScope;
using lang::Type;

std::string_view per(StateScope scope) {
  switch (scope) {
    case StateScope::Group: return "group";
    case StateScope::Prompt: return "prompt";
    case StateScope::Category: return "category";
    case StateScope::Run: break;
  }
  return "run";
}

std::string declared(const State& state) {
  const bool ranged = state.low || state.high;
  const auto bound = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : std::string(); };
  return fmt::format("{}{} per {}", lang::to_text(state.type),
                     ranged ? fmt::format(" in {}..{}", bound(state.low), bound(state.high)) : "", per(state.scope));
}

// Every value of `from` is one of `to`.
bool fits(const Type& from, const Type& to) {
  Type widened = from;
  if (to.optional) widened.optional = true;
  if (to.missing) widened.missing = true;
  if (!to.prob) widened.prob = false;
  return widened == to;
}

bool fits(const State& from, const State& to) {
  const auto within = [](const std::optional<double>& inner, const std::optional<double>& outer, bool low) {
    return !outer || (inner && (low ? *inner >= *outer : *inner <= *outer));
  };
  return from.scope == to.scope && fits(from.type, to.type) && within(from.low, to.low, true) &&
         within(from.high, to.high, false);
}

}  // namespace

// The migration as a handler that remembers: so it may make a vector too.
class Migrator {
 public:
  Migrator(const lang::Migration& migration, const State& to) : program_(*migration.value) {
    State made = to;
    made.scope = StateScope::Run;
    program_.states.push_back(std::move(made));
    lang::Effect& effect = program_.handlers.front().effects.front();
    effect.kind = lang::EffectKind::Remember;
    effect.index = static_cast<std::int32_t>(program_.states.size() - 1);
    executable_ = compiler::evaluate(program_);
  }

  // The new cells, or what went wrong.
  std::optional<compiler::FaultKind> operator()(const std::vector<Cell>& old, std::vector<Cell>& made) {
    std::vector<Cell> unused = old;
    const std::vector<Cell> before = program_.states.back().initial;
    made = before;
    const std::array<compiler::StateView, 2> views{compiler::StateView{old.data(), unused.data(), 1},
                                                   compiler::StateView{before.data(), made.data(), 1}};
    const std::array<std::int64_t, lang::scope_count> sizes{};
    compiler::Frame frame;
    frame.scope_sizes = sizes.data();
    frame.states = views.data();
    frame.scratch = &scratch_;
    std::array<Cell, 1> reports{};
    std::array<std::uint8_t, 1> written{};
    compiler::Outcome outcome;
    outcome.reports = reports.data();
    outcome.report_written = written.data();
    executable_->decide(0, frame, outcome);
    if (outcome.fault != compiler::FaultKind::None) return outcome.fault;
    const State& state = program_.states.back();
    for (const Cell& cell : made) {
      if (!cell.defined || state.type.base == lang::Base::Beta) continue;
      const double value = state.type.base == lang::Base::Real ? cell.real() : static_cast<double>(cell.integer());
      if ((state.low && value < *state.low) || (state.high && value > *state.high)) return compiler::FaultKind::Domain;
    }
    return std::nullopt;
  }

 private:
  lang::Program program_;
  std::unique_ptr<compiler::Executable> executable_;
  compiler::Scratch scratch_;
};

StatePlan::StatePlan(const lang::Program& from, const lang::Program& to) : from_(from), to_(to) {
  for (std::size_t i = 0; i < to.states.size(); ++i) parts_.push_back(part_for(i));
  for (const State& state : from.states) {
    const auto again = [&](const State& each) { return each.name == state.name && each.input == state.input; };
    if (!state.input && std::none_of(to.states.begin(), to.states.end(), again)) changes_.dropped.push_back(state.name);
  }
}

StatePlan::Part StatePlan::part_for(std::size_t index) {
  const State& next = to_.states[index];
  Part part;
  if (next.input) return part;
  const auto found = std::find_if(from_.states.begin(), from_.states.end(),
                                  [&](const State& each) { return each.name == next.name && !each.input; });
  if (found == from_.states.end()) {
    changes_.started.push_back(next.name);
    return part;
  }
  const int old = static_cast<int>(found - from_.states.begin());
  if (fits(*found, next)) {
    changes_.kept.push_back(next.name);
    part.from = old;
    return part;
  }
  const auto declared_here = std::find_if(to_.migrations.begin(), to_.migrations.end(), [&](const lang::Migration& each) {
    return each.state == static_cast<std::int32_t>(index);
  });
  const bool migrates = declared_here != to_.migrations.end() && found->scope == next.scope && fits(found->type, declared_here->from);
  if (migrates) {
    changes_.migrated.push_back(next.name);
    part.from = old;
    part.migrator = std::make_shared<Migrator>(*declared_here, next);
    return part;
  }
  if (next.scope == StateScope::Group && found->scope == StateScope::Group) {
    group_lost_ = true;
    changes_.started.push_back(next.name);
    return part;
  }
  const std::string type = lang::to_text(found->type);
  std::string help = fmt::format("`migrate {} from {} = …` would carry it over", next.name, type);
  if (found->scope != next.scope) help = "state of another scope cannot be carried over: give it another name";
  if (declared_here != to_.migrations.end() && found->scope == next.scope) {
    help = fmt::format("its `migrate` takes {}, not {}", lang::to_text(declared_here->from), type);
  }
  missing_.push_back(fmt::format("`{}` is {} now and was {}: {}", next.name, declared(next), declared(*found), help));
  return part;
}

Result<StateCells> StatePlan::carry(const StateCells& cells, StateScope scope) const {
  StateCells made;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::vector<Cell> value = to_.states[i].initial;
    const Part& part = parts_[i];
    if (part.from >= 0 && to_.states[i].scope == scope) {
      const std::vector<Cell>& old = cells[static_cast<std::size_t>(part.from)];
      if (!part.migrator) {
        value = old;
      } else if (const auto fault = (*part.migrator)(old, value)) {
        return Error{fmt::format("`migrate {}` met a fault ({}) at {}", to_.states[i].name, words(*fault),
                                 lang::show(old, from_.states[static_cast<std::size_t>(part.from)].type)),
                     "say in it what becomes of such a value"};
      }
    }
    made.push_back(std::move(value));
  }
  return made;
}

Result<void> StatePlan::carry_into(StateStore& next, const StateStore::Moment& memory, const StateStore::Moment* earlier) const {
  const Error unfit{"The states that were carried over do not fit", ""};
  for (const StateScope scope : {StateScope::Prompt, StateScope::Category}) {
    const auto wanted = [scope](const State& state) { return state.scope == scope; };
    if (std::none_of(to_.states.begin(), to_.states.end(), wanted)) continue;
    const int after = earlier != nullptr ? earlier->table(scope).now() : std::numeric_limits<int>::min();
    for (const auto& [key, cells] : memory.written(scope, after)) {
      const auto carried = carry(cells, scope);
      if (!carried) return Error{carried.error().what + fmt::format(" of \"{}\".", key), carried.error().help};
      if (!next.restore_row(scope, key, *carried)) return unfit;
    }
  }
  auto run = carry(memory.run, StateScope::Run);
  if (!run) return Error{run.error().what + ".", run.error().help};
  return next.restore_run(*std::move(run)) ? Result<void>() : unfit;
}

Result<StateStore> StatePlan::carry(const StateStore& store, CarriedMemory* ahead) const {
  const StateStore::Moment memory = store.moment();
  const bool goes_on = ahead != nullptr && memory.continues(ahead->from);
  StateStore next = goes_on ? std::move(ahead->store) : StateStore(to_);
  if (goes_on) next.pass(memory.prompts.now() - ahead->from.prompts.now());
  if (auto carried = carry_into(next, memory, goes_on ? &ahead->from : nullptr); !carried) return carried.error();
  return next;
}

std::optional<CarriedMemory> StatePlan::carry_ahead(const StateStore::Moment& memory) const {
  if (!decays_alike()) return std::nullopt;
  CarriedMemory made{StateStore(to_), memory.without_rows()};
  if (!carry_into(made.store, memory, nullptr)) return std::nullopt;
  return made;
}

// A row that nobody writes decays when it is read, by the policy that reads it: in both in the same way, from the same value.
bool StatePlan::decays_alike() const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const State& next = to_.states[i];
    if (!next.keyed() || parts_[i].from < 0) continue;
    const State& old = from_.states[static_cast<std::size_t>(parts_[i].from)];
    const bool alike = !parts_[i].migrator && old.decay == next.decay && old.initial == next.initial;
    if ((old.decay || next.decay) && !alike) return false;
  }
  return true;
}

StatePlan::Carried StatePlan::carry_group(StateCells& cells) const {
  bool migrated = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    migrated = migrated || (parts_[i].migrator && to_.states[i].scope == StateScope::Group);
  }
  auto carried = cells.size() == from_.states.size() ? carry(cells, StateScope::Group) : Error{"", ""};
  const bool restarted = !carried || group_lost_;
  if (carried) {
    cells = *std::move(carried);
  } else {
    cells.clear();
    for (const State& state : to_.states) cells.push_back(state.initial);
  }
  return restarted ? Carried::Restarted : migrated ? Carried::Migrated : Carried::Kept;
}

}  // namespace allot::engine
