// What a policy remembers over iterations: cells per prompt, per category and for the run. (State per group lives with its group.)
//
// It is written at the barriers only. Between them every reader sees the snapshot of the iteration's start, so the
// order in which groups finish leaves no trace.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/program.h"

namespace allot::engine {

// By index into Program::states, each with the Type::cells() of its type; those of other scopes stay unused.
using StateCells = std::vector<std::vector<lang::Cell>>;

class StateStore {
 public:
  StateStore() = default;
  explicit StateStore(const lang::Program& program);

  const StateCells& initial() const { return initial_; }
  // What is known of a prompt: the initial values where it was never written.
  const StateCells& prompt(std::string_view key) const;
  const StateCells& category(std::string_view key) const;
  const StateCells& run() const { return run_; }

  // The barrier, in this order: every kept value moves towards its initial one, then the handler's writes follow.
  void decay();
  void write_prompt(const std::string& key, std::size_t state, std::span<const lang::Cell> value);
  void write_category(const std::string& key, std::size_t state, std::span<const lang::Cell> value);
  void write_run(std::size_t state, std::span<const lang::Cell> value);

  using Keyed = std::map<std::string, StateCells, std::less<>>;
  const Keyed& prompts() const { return prompts_; }
  const Keyed& categories() const { return categories_; }
  void restore(Keyed prompts, Keyed categories, StateCells run);

 private:
  void decay(std::size_t state, std::vector<lang::Cell>& value) const;

  std::vector<lang::State> states_;
  StateCells initial_;
  StateCells run_;
  Keyed prompts_;
  Keyed categories_;
};

}  // namespace allot::engine
