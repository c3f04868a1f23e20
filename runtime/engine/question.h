// One question to a policy: the frame of a handler with the memory behind it, and the answer it gets.
//
// Both are kept and refilled, so asking costs no allocation once they have grown.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/executable.h"
#include "runtime/engine/facts.h"
#include "runtime/engine/state.h"

namespace allot::engine {

// What a handler of a batch or of the pool looks at. Prompts are positions in `distinct`, categories in `categories`.
struct BatchFacts {
  std::vector<GroupFacts> groups;           // open (at `update`: trained on), in slot order
  std::vector<GroupFacts> ended;            // every one that ended in this iteration, in order of slot and round
  std::vector<GroupFacts> stored;           // of the replay buffer, the oldest first
  std::vector<std::int64_t> prompts;        // of the batch, in slot order
  std::vector<std::string> distinct;        // each prompt once; of a pool all of them, in pool order
  std::vector<PromptFacts> known;           // of `distinct`, by position; empty: nothing is known of them
  std::vector<std::int64_t> pool;           // of those, the ones that may be drawn
  std::vector<std::string> categories;      // each once; empty: there are none
  bool of_pool = false;

  // The position of a prompt; it is added where it is new.
  std::int64_t place(const std::string& prompt);
  std::int64_t category_place(std::string_view category);

  std::unordered_map<std::string, std::int64_t> places = {};  // of the first of `distinct`, as place() has met them
};

class Question {
 public:
  // A handler of a group or, with a sample, of one of its rollouts.
  void fill(const lang::Handler& handler, const GroupFacts& group, const RunFacts& run, const StateStore& store,
            const StateCells& group_state, int sample = -1);
  // A handler of a micro-batch. Its prompts and categories are those of `batch`.
  void fill(const lang::Handler& handler, const MicroFacts& micro, const BatchFacts& batch, const RunFacts& run,
            const StateStore& store);
  // A batch's handler, or the pool's. At a barrier a state of prompts, categories or of the run shows what was written
  // before in the same handler.
  void fill(const lang::Handler& handler, const BatchFacts& batch, const RunFacts& run, const StateStore& store,
            bool barrier);
  // The `hit` condition over one rollout. `reward` there is the environment's own where there is one.
  void fill_hit(const lang::Handler& hit, const GroupFacts& group, int sample, const RunFacts& run);

  // Puts a value in place of a single fact that the handler reads, where it does (tests of policies).
  void replace(const lang::Handler& handler, lang::Fact fact, lang::Cell value);

  // The same for a fact over rollouts; cells beyond the column's end are left out.
  void replace_column(const lang::Handler& handler, lang::Fact fact, const std::vector<lang::Cell>& cells);
  // The same for a matrix over rollouts, row by row, and for facts of turns, of which there are then so many.
  void replace_matrix(const lang::Handler& handler, lang::Fact fact, std::vector<lang::Cell> cells, std::int64_t width);
  void replace_turns(const lang::Handler& handler, lang::Fact fact, std::vector<lang::Cell> cells);

  compiler::Frame frame();
  const std::vector<lang::Cell>& reads() const { return reads_; }
  const std::vector<std::vector<lang::Cell>>& columns() const { return columns_; }
  // What the handler found, whatever it wrote since.
  const std::vector<std::vector<lang::Cell>>& states_before() const { return barrier_ ? after_ : before_; }
  const std::array<std::int64_t, lang::scope_count>& sizes() const { return sizes_; }
  // By state; what the handler wrote. Prompt states of a batch have the cells of each distinct prompt in turn.
  const std::vector<std::vector<lang::Cell>>& states_after() const { return barrier_ ? before_ : after_; }

 private:
  // Whom a question is about; what does not apply is null.
  struct About {
    const GroupFacts* group = nullptr;
    int sample = -1;
    const BatchFacts* batch = nullptr;
    const MicroFacts* micro = nullptr;
  };
  void fill_columns(const lang::Handler& handler, const RunFacts& run, const About& about);
  void fill_column(std::vector<lang::Cell>& column, const lang::ReadKey& key, const RunFacts& run, const About& about);
  void fill_matrix(std::size_t index, const lang::ReadKey& key, const About& about);
  void link_columns();
  void fill_states(const BatchFacts& batch, const RunFacts& run, const StateStore& store);
  void link(const RunFacts& run, bool barrier);

  std::vector<lang::Cell> reads_;
  std::vector<std::vector<lang::Cell>> columns_;
  std::vector<std::int64_t> widths_;  // of columns that are matrices, else 1
  std::vector<compiler::Column> column_views_;
  std::array<std::int64_t, lang::scope_count> sizes_{};
  std::vector<std::vector<lang::Cell>> before_, after_;
  std::vector<compiler::StateView> state_views_;
  const lang::Cell* parameters_ = nullptr;
  bool barrier_ = false;
  compiler::Scratch scratch_;
};

class Answer {
 public:
  void prepare(const lang::Program& program, const lang::Handler& handler);
  compiler::Outcome outcome;
  const std::vector<lang::Cell>& holes() const { return holes_; }
  const std::vector<lang::Cell>& reports() const { return reports_; }
  const std::vector<std::uint8_t>& report_written() const { return report_written_; }
  const std::vector<std::uint8_t>& warned() const { return warned_; }

 private:
  std::vector<lang::Cell> holes_, reports_;
  std::vector<std::uint8_t> report_written_, warned_;
};

}  // namespace allot::engine
