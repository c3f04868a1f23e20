#include "runtime/engine/question.h"

#include <algorithm>

#include "compiler/outcome.h"

namespace allot::engine {

using lang::Cell;
using lang::Scope;
using lang::StateScope;

namespace {

std::int64_t& size_of(std::array<std::int64_t, lang::scope_count>& sizes, Scope scope) {
  return sizes[static_cast<std::size_t>(scope)];
}

}  // namespace

void Question::fill(const lang::Handler& handler, const GroupFacts& group, const RunFacts& run,
                    const StateStore& store, const StateCells& group_state) {
  sizes_.fill(0);
  size_of(sizes_, Scope::Rollouts) = static_cast<std::int64_t>(group.log->rollouts.size());
  reads_.clear();
  for (const lang::ReadKey& key : handler.reads) reads_.push_back(group_fact(key, group, run));
  fill_columns(handler, run, nullptr, &group);
  const StateCells& prompt_state = store.prompt(group.log->prompt);
  before_.clear();
  for (std::size_t i = 0; i < run.program->states.size(); ++i) {
    const StateScope scope = run.program->states[i].scope;
    const StateCells& cells = scope == StateScope::Group    ? group_state
                              : scope == StateScope::Prompt ? prompt_state
                                                            : store.run();
    before_.push_back({cells[i]});
  }
  link(run, false);
}

void Question::fill(const lang::Handler& handler, const BatchFacts& batch, const RunFacts& run,
                    const StateStore& store, bool barrier) {
  sizes_.fill(0);
  size_of(sizes_, Scope::Groups) = static_cast<std::int64_t>(batch.groups.size());
  size_of(sizes_, Scope::Ended) = static_cast<std::int64_t>(batch.ended.size());
  size_of(sizes_, Scope::Prompts) = static_cast<std::int64_t>(batch.prompts.size());
  const int size = static_cast<int>(barrier ? batch.ended.size() : batch.prompts.size());
  reads_.clear();
  for (const lang::ReadKey& key : handler.reads) reads_.push_back(batch_fact(key, size, run));
  fill_columns(handler, run, &batch, nullptr);
  before_.clear();
  for (std::size_t i = 0; i < run.program->states.size(); ++i) {
    before_.emplace_back();
    if (run.program->states[i].scope != StateScope::Prompt) {
      before_.back().push_back(run.program->states[i].scope == StateScope::Run ? store.run()[i] : store.initial()[i]);
      continue;
    }
    for (const std::string& prompt : batch.distinct) before_.back().push_back(store.prompt(prompt)[i]);
  }
  link(run, barrier);
}

void Question::fill_hit(const lang::Handler& hit, const GroupFacts& group, int sample, const RunFacts& run) {
  sizes_.fill(0);
  columns_.clear();
  before_.clear();
  reads_.clear();
  for (const lang::ReadKey& key : hit.reads) {
    lang::ReadKey read = key;
    if (read.fact == lang::Fact::Reward) read.fact = lang::Fact::RawReward;
    reads_.push_back(rollout_fact(read, group, sample, run));
  }
  link(run, false);
}

void Question::fill_columns(const lang::Handler& handler, const RunFacts& run, const BatchFacts* batch,
                            const GroupFacts* group) {
  columns_.resize(handler.columns.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].clear();
    fill_column(columns_[i], handler.columns[i], run, batch, group);
  }
}

void Question::fill_column(std::vector<Cell>& column, const lang::ReadKey& key, const RunFacts& run,
                           const BatchFacts* batch, const GroupFacts* group) {
  if (key.scope == Scope::Rollouts && group != nullptr) {
    const int count = static_cast<int>(group->log->rollouts.size());
    for (int sample = 0; sample < count; ++sample) column.push_back(rollout_fact(key, *group, sample, run));
  }
  if (batch == nullptr) return;
  if (key.scope == Scope::Groups) {
    for (const GroupFacts& each : batch->groups) column.push_back(group_fact(key, each, run));
  } else if (key.scope == Scope::Ended) {
    for (const GroupFacts& each : batch->ended) column.push_back(group_fact(key, each, run));
  } else if (key.scope == Scope::Prompts) {
    for (const std::int64_t prompt : batch->prompts) {
      const bool itself = key.fact == lang::Fact::PromptKey;
      column.push_back(itself ? Cell::of(prompt) : batch_fact(key, static_cast<int>(batch->prompts.size()), run));
    }
  }
}

void Question::link(const RunFacts& run, bool barrier) {
  barrier_ = barrier;
  parameters_ = run.parameters->data();
  column_views_.clear();
  for (const std::vector<Cell>& column : columns_) {
    column_views_.push_back({column.data(), static_cast<std::int64_t>(column.size())});
  }
  after_ = before_;
  state_views_.clear();
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const auto size = static_cast<std::int64_t>(before_[i].size());
    state_views_.push_back({before_[i].data(), barrier ? before_[i].data() : after_[i].data(), size});
  }
}

void Question::replace(const lang::Handler& handler, lang::Fact fact, Cell value) {
  for (std::size_t i = 0; i < handler.reads.size(); ++i) {
    if (handler.reads[i].fact == fact) reads_[i] = value;
  }
}

void Question::replace_column(const lang::Handler& handler, lang::Fact fact, const std::vector<Cell>& cells) {
  for (std::size_t i = 0; i < handler.columns.size(); ++i) {
    if (handler.columns[i].fact != fact) continue;
    std::copy_n(cells.begin(), std::min(cells.size(), columns_[i].size()), columns_[i].begin());
  }
}

compiler::Frame Question::frame() {
  scratch_.reset();
  return {parameters_, reads_.data(), column_views_.data(), sizes_.data(), state_views_.data(), &scratch_};
}

void Answer::prepare(const lang::Program& program, const lang::Handler& handler) {
  holes_.assign(static_cast<std::size_t>(handler.hole_count), Cell::undefined());
  reports_.assign(program.reports.size(), Cell::undefined());
  report_written_.assign(program.reports.size(), 0);
  warned_.assign(program.warnings.size(), 0);
  outcome.holes = holes_.data();
  outcome.reports = reports_.data();
  outcome.report_written = report_written_.data();
  outcome.warned = warned_.data();
  compiler::clear(outcome, program, handler);
}

}  // namespace allot::engine
