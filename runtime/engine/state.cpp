#include "runtime/engine/state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>


namespace allot::engine {

using lang::Cell;
using lang::StateScope;

namespace {

// `value` moved towards `initial` by the factor `rate` of their distance.
Cell decayed(const Cell& value, const Cell& initial, lang::Base base, double rate) {
  if (!value.defined || !initial.defined) return value;
  const auto towards = [&](double from, double to) { return to + rate * (from - to); };
  switch (base) {
    case lang::Base::Real: return Cell::of(towards(value.real(), initial.real()));
    case lang::Base::Beta:
      return Cell::beta(towards(value.real(), initial.real()), towards(value.second, initial.second));
    default: return value;  // nothing else may decay
  }
}

bool same_bits(const Cell& a, const Cell& b) {
  return a.bits == b.bits && std::bit_cast<std::uint64_t>(a.second) == std::bit_cast<std::uint64_t>(b.second);
}

}  // namespace

StateLayout::StateLayout(std::vector<lang::State> states) : states_(std::move(states)) {
  std::size_t prompt = 0, category = 0;
  for (const lang::State& state : states_) {
    std::size_t& end = state.scope == StateScope::Prompt ? prompt : category;
    offsets_.push_back(state.keyed() ? end : 0);
    if (state.keyed()) end += state.initial.size();
    initial_.push_back(state.initial);
  }
}

std::size_t StateLayout::width(StateScope scope) const {
  std::size_t width = 0;
  for (const lang::State& state : states_) width += state.scope == scope ? state.initial.size() : 0;
  return width;
}

std::vector<Cell> StateLayout::row(StateScope scope, const StateCells& cells) const {
  std::vector<Cell> row;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].scope == scope) row.insert(row.end(), cells[i].begin(), cells[i].end());
  }
  return row;
}

StateCells StateLayout::cells(StateScope scope, std::span<const Cell> row, int barriers) const {
  StateCells cells = initial_;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].scope != scope) continue;
    const auto value = row.subspan(offsets_[i], cells[i].size());
    cells[i].assign(value.begin(), value.end());
    decay(i, cells[i], barriers);
  }
  return cells;
}

void StateLayout::decay(std::size_t index, std::span<Cell> value, int barriers) const {
  const lang::State& state = states_[index];
  if (!state.decay) return;
  for (std::size_t i = 0; i < value.size(); ++i) {
    for (int step = 0; step < barriers; ++step) {
      const Cell before = std::exchange(value[i], decayed(value[i], state.initial[i], state.type.base, *state.decay));
      if (same_bits(value[i], before)) break;  // nothing moves it any more
    }
  }
}

void StateLayout::decay_row(StateScope scope, std::span<Cell> row, int barriers) const {
  for (std::size_t i = 0; i < states_.size() && barriers > 0; ++i) {
    if (states_[i].scope == scope) decay(i, row.subspan(offsets_[i], states_[i].initial.size()), barriers);
  }
}

// Without a policy nothing is remembered, in rows that are as wide.
StateStore::StateStore()
    : layout_(std::make_shared<const StateLayout>(std::vector<lang::State>())), run_(layout_->initial()),
      prompts_(layout_->width(StateScope::Prompt)), categories_(layout_->width(StateScope::Category)) {}

StateStore::StateStore(const lang::Program& program)
    : layout_(std::make_shared<const StateLayout>(program.states)), run_(layout_->initial()),
      prompts_(layout_->width(StateScope::Prompt)), categories_(layout_->width(StateScope::Category)) {}

StateCells StateStore::cells(StateScope scope, std::string_view key) const {
  const StateRows& rows = table(scope);
  const auto row = rows.find(key);
  return row ? layout_->cells(scope, rows.values(*row), rows.now() - rows.stamp(*row)) : initial();
}

void StateStore::read(StateScope scope, std::string_view key, std::size_t state, std::vector<Cell>& cells) const {
  const StateRows& rows = table(scope);
  const std::vector<Cell>& initial = layout_->initial()[state];
  const std::size_t begin = cells.size();
  const auto row = rows.find(key);
  if (!row) {
    cells.insert(cells.end(), initial.begin(), initial.end());
    return;
  }
  const auto value = rows.values(*row).subspan(layout_->offset(state), initial.size());
  cells.insert(cells.end(), value.begin(), value.end());
  layout_->decay(state, std::span(cells).subspan(begin), rows.now() - rows.stamp(*row));
}

void StateStore::read_prompt(std::string_view key, std::size_t state, std::vector<Cell>& cells) const {
  read(StateScope::Prompt, key, state, cells);
}

void StateStore::read_category(std::string_view key, std::size_t state, std::vector<Cell>& cells) const {
  read(StateScope::Category, key, state, cells);
}

void StateStore::decay() {
  for (std::size_t i = 0; i < run_.size(); ++i) {
    if (layout_->states()[i].scope == StateScope::Run) layout_->decay(i, run_[i], 1);
  }
  prompts_.next_barrier();
  categories_.next_barrier();
}

std::span<Cell> StateStore::change(StateScope scope, std::size_t row) {
  StateRows& rows = scope == StateScope::Prompt ? prompts_ : categories_;
  const int behind = rows.now() - rows.stamp(row);
  const std::span<Cell> cells = rows.change(row);
  layout_->decay_row(scope, cells, behind);
  return cells;
}

void StateStore::write(StateScope scope, std::string_view key, std::size_t state, std::span<const Cell> value) {
  StateRows& rows = scope == StateScope::Prompt ? prompts_ : categories_;
  auto row = rows.find(key);
  if (!row) row = rows.add(key, layout_->row(scope, initial()));
  const std::span<Cell> cells = change(scope, *row).subspan(layout_->offset(state), initial()[state].size());
  std::copy_n(value.begin(), std::min(value.size(), cells.size()), cells.begin());
}

void StateStore::write_prompt(std::string_view key, std::size_t state, std::span<const Cell> value) {
  write(StateScope::Prompt, key, state, value);
}

void StateStore::write_category(std::string_view key, std::size_t state, std::span<const Cell> value) {
  write(StateScope::Category, key, state, value);
}

void StateStore::write_run(std::size_t state, std::span<const Cell> value) {
  run_[state].assign(value.begin(), value.end());
}

void StateStore::renew() {
  for (const StateScope scope : {StateScope::Prompt, StateScope::Category}) {
    StateRows& rows = scope == StateScope::Prompt ? prompts_ : categories_;
    rows.renew([&](std::size_t row) { (void)change(scope, row); });
  }
}

StateStore::Keyed StateStore::Moment::written(StateScope scope, int after) const {
  const StateRows::Moment& rows = table(scope);
  Keyed keyed;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.stamp(row) <= after) continue;
    keyed.emplace(rows.key(row), layout->cells(scope, rows.values(row), rows.now() - rows.stamp(row)));
  }
  return keyed;
}

bool StateStore::fits(const StateCells& cells) const {
  return std::equal(cells.begin(), cells.end(), initial().begin(), initial().end(),
                    [](const auto& a, const auto& b) { return a.size() == b.size(); });
}

bool StateStore::restore(const Keyed& prompts, const Keyed& categories, StateCells run) {
  StateRows of_prompts(layout_->width(StateScope::Prompt)), of_categories(layout_->width(StateScope::Category));
  for (const auto& [scope, from, to] : {std::tuple(StateScope::Prompt, &prompts, &of_prompts),
                                        std::tuple(StateScope::Category, &categories, &of_categories)}) {
    for (const auto& [key, cells] : *from) {
      if (!fits(cells)) return false;
      to->add(key, layout_->row(scope, cells));
    }
  }
  return restore(std::move(of_prompts), std::move(of_categories), std::move(run));
}

bool StateStore::restore_row(StateScope scope, std::string_view key, const StateCells& cells) {
  if (!fits(cells)) return false;
  StateRows& rows = scope == StateScope::Prompt ? prompts_ : categories_;
  const std::vector<Cell> values = layout_->row(scope, cells);
  if (const auto row = rows.find(key)) {
    std::copy(values.begin(), values.end(), rows.change(*row).begin());
  } else {
    rows.add(key, values);
  }
  return true;
}

bool StateStore::restore_run(StateCells run) {
  if (!fits(run)) return false;
  run_ = std::move(run);
  return true;
}

void StateStore::pass(int barriers) {
  for (int barrier = 0; barrier < barriers; ++barrier) {
    prompts_.next_barrier();
    categories_.next_barrier();
  }
}

bool StateStore::restore(StateRows prompts, StateRows categories, StateCells run) {
  if (!fits(run) || prompts.width() != prompts_.width() || categories.width() != categories_.width()) return false;
  prompts_ = std::move(prompts);
  categories_ = std::move(categories);
  run_ = std::move(run);
  return true;
}

}  // namespace allot::engine
