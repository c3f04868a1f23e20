// What a test asks a handler of a pool, a batch, a rollout or a micro-batch: the facts of a record as the frame of one
// question. Facts that the record leaves out are alive, unscored, zero, or undefined where they may be. Of a group:
// asked_group.h.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "common/result.h"
#include "compiler/executable.h"
#include "runtime/engine/facts.h"
#include "runtime/engine/state.h"
#include "runtime/trial/record.h"

namespace allot::trial {

class Asked {
 public:
  // An error where a list of the record has another length than the others, or a value does not fit its fact.
  static Result<Asked> fill(const lang::Program& program, const lang::Handler& handler, const Record& record,
                            const std::vector<std::pair<std::size_t, std::vector<lang::Cell>>>& states,
                            const engine::StateStore& store, const engine::RunFacts& run);

  compiler::Frame frame();
  const std::vector<std::string>& prompts() const { return prompts_; }
  const std::vector<lang::Cell>& reads() const { return reads_; }

 private:
  using Fields = std::map<std::string, Value>;

  Result<void> measure(const Fields& fields);
  Result<lang::Cell> cell(const Value& value, const lang::Type& type, const std::string& name);
  Result<void> read(const lang::ReadKey& key, const Fields& fields, const engine::RunFacts& run);
  Result<void> column(const lang::ReadKey& key, const Record& record, const engine::RunFacts& run);
  Result<void> matrix(const lang::ReadKey& key, const Value* rows);
  bool drawable(const Fields& fields, std::size_t position) const;
  std::vector<std::size_t> positions(lang::Scope scope, const Fields& fields) const;

  std::size_t length_ = 0;             // entries of the record's lists
  std::string first_;                  // the list that said so
  std::vector<std::string> prompts_, categories_;
  std::vector<std::int64_t> entries_;  // the prompt of each entry, as a position in `prompts_`
  std::vector<lang::Cell> reads_;
  std::vector<std::vector<lang::Cell>> columns_, states_, after_;
  std::vector<std::int64_t> widths_;       // of the columns that are matrices, else 1
  std::vector<std::int64_t> state_cells_;  // Type::cells() of each state
  std::vector<compiler::Column> column_views_;
  std::vector<compiler::StateView> state_views_;
  std::array<std::int64_t, lang::scope_count> sizes_{};
  const std::vector<lang::Cell>* parameters_ = nullptr;
  bool barrier_ = false;
  compiler::Scratch scratch_;
};

}  // namespace allot::trial
