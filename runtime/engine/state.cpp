#include "runtime/engine/state.h"

#include <cmath>

#include "runtime/math/round.h"

namespace allot::engine {

using lang::Cell;
using lang::StateScope;

StateStore::StateStore(const lang::Program& program) : states_(program.states) {
  for (const lang::State& state : states_) initial_.push_back(state.initial);
  run_ = initial_;
}

const StateCells& StateStore::prompt(std::string_view key) const {
  const auto found = prompts_.find(key);
  return found == prompts_.end() ? initial_ : found->second;
}

const StateCells& StateStore::category(std::string_view key) const {
  const auto found = categories_.find(key);
  return found == categories_.end() ? initial_ : found->second;
}

namespace {

// `value` moved towards `initial` by the factor `rate` of their distance.
Cell decayed(const Cell& value, const Cell& initial, lang::Base base, double rate) {
  if (!value.defined || !initial.defined) return value;
  const auto towards = [&](double from, double to) { return to + rate * (from - to); };
  switch (base) {
    case lang::Base::Real: return Cell::of(towards(value.real(), initial.real()));
    case lang::Base::Beta:
      return Cell::beta(towards(value.real(), initial.real()), towards(value.second, initial.second));
    case lang::Base::Int: {
      const double moved = towards(static_cast<double>(value.integer()), static_cast<double>(initial.integer()));
      return Cell::of(static_cast<std::int64_t>(math::round_even(moved)));
    }
    default: return value;
  }
}

}  // namespace

void StateStore::decay(std::size_t index, std::vector<Cell>& value) const {
  const lang::State& state = states_[index];
  for (std::size_t i = 0; i < value.size(); ++i) {
    value[i] = decayed(value[i], state.initial[i], state.type.base, *state.decay);
  }
}

void StateStore::decay() {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].decay) continue;
    if (states_[i].scope == StateScope::Run) decay(i, run_[i]);
    if (!states_[i].keyed()) continue;
    for (auto& [key, cells] : states_[i].scope == StateScope::Prompt ? prompts_ : categories_) {
      decay(i, cells[i]);
    }
  }
}

void StateStore::write_prompt(const std::string& key, std::size_t state, std::span<const Cell> value) {
  prompts_.try_emplace(key, initial_).first->second[state].assign(value.begin(), value.end());
}

void StateStore::write_category(const std::string& key, std::size_t state, std::span<const Cell> value) {
  categories_.try_emplace(key, initial_).first->second[state].assign(value.begin(), value.end());
}

void StateStore::write_run(std::size_t state, std::span<const Cell> value) {
  run_[state].assign(value.begin(), value.end());
}

void StateStore::restore(Keyed prompts, Keyed categories, StateCells run) {
  prompts_ = std::move(prompts);
  categories_ = std::move(categories);
  run_ = std::move(run);
}

}  // namespace allot::engine
