// What a policy remembers over iterations: cells per prompt, per category and for the run. (State per group lives with its group.)
//
// It is written at the barriers only. Between them every reader sees the snapshot of the iteration's start, so the
// order in which groups finish leaves no trace.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/keyed_rows.h"

namespace allot::engine {

// By index into Program::states, each with the Type::cells() of its type; those of other scopes stay unused.
using StateCells = std::vector<std::vector<lang::Cell>>;
using StateRows = KeyedRows<lang::Cell>;

// Where the states of a program stand in the rows of a table, and what becomes of them at a barrier.
class StateLayout {
 public:
  explicit StateLayout(std::vector<lang::State> states);

  const std::vector<lang::State>& states() const { return states_; }
  const StateCells& initial() const { return initial_; }
  // Cells of a row of a prompt or a category: its states one after the other.
  std::size_t width(lang::StateScope scope) const;
  std::size_t offset(std::size_t state) const { return offsets_[state]; }
  std::vector<lang::Cell> row(lang::StateScope scope, const StateCells& cells) const;
  // What was written `barriers` ago, as it is now.
  StateCells cells(lang::StateScope scope, std::span<const lang::Cell> row, int barriers) const;

  // A kept value moves towards its initial one at every barrier, in just this many steps: the bits are those of one step
  // after the other.
  void decay(std::size_t state, std::span<lang::Cell> value, int barriers) const;
  void decay_row(lang::StateScope scope, std::span<lang::Cell> row, int barriers) const;

 private:
  std::vector<lang::State> states_;
  StateCells initial_;
  std::vector<std::size_t> offsets_;  // by state, within a row of its scope
};

class StateStore {
 public:
  StateStore();
  explicit StateStore(const lang::Program& program);

  const StateCells& initial() const { return layout_->initial(); }
  const StateCells& run() const { return run_; }
  // What is known of a prompt: the initial values where it was never written.
  StateCells prompt(std::string_view key) const { return cells(lang::StateScope::Prompt, key); }
  StateCells category(std::string_view key) const { return cells(lang::StateScope::Category, key); }
  // The same of one state, added at the end of `cells`.
  void read_prompt(std::string_view key, std::size_t state, std::vector<lang::Cell>& cells) const;
  void read_category(std::string_view key, std::size_t state, std::vector<lang::Cell>& cells) const;

  // The barrier, in this order: every kept value moves towards its initial one, then the handler's writes follow, then
  // renew(). A value that nobody writes is moved when somebody reads it.
  void decay();
  void write_prompt(std::string_view key, std::size_t state, std::span<const lang::Cell> value);
  void write_category(std::string_view key, std::size_t state, std::span<const lang::Cell> value);
  void write_run(std::size_t state, std::span<const lang::Cell> value);
  void renew();

  using Keyed = std::map<std::string, StateCells, std::less<>>;
  struct Moment {
    std::shared_ptr<const StateLayout> layout;
    StateRows::Moment prompts, categories;
    StateCells run;

    const StateRows::Moment& table(lang::StateScope scope) const {
      return scope == lang::StateScope::Prompt ? prompts : categories;
    }
    // What was written later than at the barrier with the stamp `after`, as it is at this moment.
    Keyed written(lang::StateScope scope, int after = std::numeric_limits<int>::min()) const;
    // Of the same memory: rows were written since, and barriers passed, and nothing else.
    bool continues(const Moment& earlier) const {
      return prompts.continues(earlier.prompts) && categories.continues(earlier.categories);
    }
    // To ask that later.
    Moment without_rows() const { return {layout, prompts.without_rows(), categories.without_rows(), {}}; }
  };
  Moment moment() const { return {layout_, prompts_.moment(), categories_.moment(), run_}; }

  // All that was written, as it is now.
  Keyed prompts() const { return moment().written(lang::StateScope::Prompt); }
  Keyed categories() const { return moment().written(lang::StateScope::Category); }

  // False where the cells are not those of this program; then the store is of no use.
  [[nodiscard]] bool restore(const Keyed& prompts, const Keyed& categories, StateCells run);
  [[nodiscard]] bool restore(StateRows prompts, StateRows categories, StateCells run);
  [[nodiscard]] bool restore_row(lang::StateScope scope, std::string_view key, const StateCells& cells);
  [[nodiscard]] bool restore_run(StateCells run);
  // So many barriers at which nobody wrote to a prompt or a category.
  void pass(int barriers);

 private:
  const StateRows& table(lang::StateScope scope) const {
    return scope == lang::StateScope::Prompt ? prompts_ : categories_;
  }
  StateCells cells(lang::StateScope scope, std::string_view key) const;
  void read(lang::StateScope scope, std::string_view key, std::size_t state, std::vector<lang::Cell>& cells) const;
  void write(lang::StateScope scope, std::string_view key, std::size_t state, std::span<const lang::Cell> value);
  std::span<lang::Cell> change(lang::StateScope scope, std::size_t row);
  bool fits(const StateCells& cells) const;

  std::shared_ptr<const StateLayout> layout_;
  StateCells run_;
  StateRows prompts_, categories_;
};

}  // namespace allot::engine
