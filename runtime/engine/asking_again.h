// A question of the journal, asked once more: the frame is built from the record and from nothing else.
#pragma once

#include <memory>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runtime/engine/policy.h"
#include "runtime/engine/question.h"

namespace allot::engine {

// What was in the frame, as JSON of the record.
struct RecordedFrame {
  const nlohmann::ordered_json& sizes;    // null where the journal is of a program that did not write them
  const nlohmann::ordered_json& reads;
  const nlohmann::ordered_json& columns;
  const nlohmann::ordered_json& states;
};

class AskingAgain {
 public:
  explicit AskingAgain(std::shared_ptr<const Policy> policy);

  // The answer as put_answer() writes it. `of_group`: about a group or one of its rollouts. Throws std::exception where
  // the record has not the form of that handler's frame.
  nlohmann::ordered_json ask(int handler, const RecordedFrame& frame, bool of_group);
  // Whether the last answer leaves everything as it is.
  bool changed_nothing() const { return changed_nothing_; }
  const Policy& policy() const { return *policy_; }

 private:
  using Cells = std::vector<lang::Cell>;
  void read_frame(const lang::Handler& handler, const RecordedFrame& frame, bool of_group);
  void read_states(const lang::Handler& handler, const RecordedFrame& frame, bool of_group);
  void read_sizes(const lang::Handler& handler, const RecordedFrame& frame);
  std::int64_t width_of(const lang::ReadKey& column, std::size_t cells) const;
  std::int64_t keys_seen(const lang::Handler& handler, lang::Base base) const;
  std::int64_t keys_of(const lang::Handler& handler, const lang::State& state, bool of_group) const;

  std::shared_ptr<const Policy> policy_;
  Cells reads_;
  std::vector<Cells> columns_, before_, after_;
  std::array<std::int64_t, lang::scope_count> sizes_{};
  std::vector<compiler::Column> column_views_;
  std::vector<compiler::StateView> state_views_;
  compiler::Scratch scratch_;
  Answer answer_;
  bool changed_nothing_ = false;
};

}  // namespace allot::engine
