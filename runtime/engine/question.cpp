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

std::int64_t rollouts_in(const std::vector<GroupFacts>& groups) {
  std::int64_t count = 0;
  for (const GroupFacts& group : groups) count += static_cast<std::int64_t>(group.log->rollouts.size());
  return count;
}

}  // namespace

std::int64_t BatchFacts::place(const std::string& prompt) {
  for (std::size_t i = places.size(); i < distinct.size(); ++i) places.emplace(distinct[i], static_cast<std::int64_t>(i));
  const auto [known, is_new] = places.emplace(prompt, static_cast<std::int64_t>(distinct.size()));
  if (is_new) distinct.push_back(prompt);
  return known->second;
}

std::int64_t BatchFacts::category_place(std::string_view category) {
  const auto known = std::find(categories.begin(), categories.end(), category);
  const auto position = known - categories.begin();
  if (known == categories.end()) categories.emplace_back(category);
  return position;
}

void Question::fill(const lang::Handler& handler, const GroupFacts& group, const RunFacts& run,
                    const StateStore& store, const StateCells& group_state, int sample) {
  sizes_.fill(0);
  size_of(sizes_, Scope::Rollouts) = static_cast<std::int64_t>(group.log->rollouts.size());
  for (const RolloutLog& rollout : group.log->rollouts) size_of(sizes_, Scope::AllTurns) += rollout.turns();
  if (sample >= 0) {
    const RolloutLog& rollout = group.log->rollouts[static_cast<std::size_t>(sample)];
    size_of(sizes_, Scope::Turns) = static_cast<std::int64_t>(rollout.each_turn.size());
  }
  reads_.clear();
  for (const lang::ReadKey& key : handler.reads) {
    reads_.push_back(sample >= 0 ? rollout_fact(key, group, sample, run) : group_fact(key, group, run));
  }
  fill_columns(handler, run, {&group, sample, nullptr, nullptr});
  before_.clear();
  for (std::size_t i = 0; i < run.program->states.size(); ++i) {
    switch (run.program->states[i].scope) {
      case StateScope::Group: before_.push_back(group_state[i]); break;
      case StateScope::Prompt: store.read_prompt(group.log->prompt, i, before_.emplace_back()); break;
      case StateScope::Category: store.read_category(group.log->category, i, before_.emplace_back()); break;
      case StateScope::Run: before_.push_back(store.run()[i]); break;
    }
  }
  link(run, false);
}

// Keyed state has the cells of each prompt or category of the question in turn.
void Question::fill_states(const BatchFacts& batch, const RunFacts& run, const StateStore& store) {
  before_.clear();
  for (std::size_t i = 0; i < run.program->states.size(); ++i) {
    std::vector<Cell>& cells = before_.emplace_back();
    const auto add = [&](const std::vector<Cell>& value) { cells.insert(cells.end(), value.begin(), value.end()); };
    switch (run.program->states[i].scope) {
      case StateScope::Group: add(store.initial()[i]); break;
      case StateScope::Run: add(store.run()[i]); break;
      case StateScope::Prompt:
        for (const std::string& prompt : batch.distinct) store.read_prompt(prompt, i, cells);
        break;
      case StateScope::Category:
        for (const std::string& category : batch.categories) store.read_category(category, i, cells);
        if (batch.categories.empty()) store.read_category("", i, cells);
        break;
    }
  }
}

void Question::fill(const lang::Handler& handler, const MicroFacts& micro, const BatchFacts& batch, const RunFacts& run,
                    const StateStore& store) {
  sizes_.fill(0);
  const auto size = static_cast<std::int64_t>(micro.members.size());
  size_of(sizes_, Scope::Trained) = size;
  reads_.clear();
  for (const lang::ReadKey& key : handler.reads) reads_.push_back(batch_fact(key, static_cast<int>(size), run));
  fill_columns(handler, run, {nullptr, -1, nullptr, &micro});
  fill_states(batch, run, store);
  link(run, false);
}

void Question::fill(const lang::Handler& handler, const BatchFacts& batch, const RunFacts& run,
                    const StateStore& store, bool barrier) {
  sizes_.fill(0);
  size_of(sizes_, Scope::Groups) = static_cast<std::int64_t>(batch.groups.size());
  size_of(sizes_, Scope::Ended) = static_cast<std::int64_t>(batch.ended.size());
  size_of(sizes_, Scope::Stored) = static_cast<std::int64_t>(batch.stored.size());
  size_of(sizes_, Scope::Prompts) = static_cast<std::int64_t>(batch.prompts.size());
  size_of(sizes_, Scope::Pool) = static_cast<std::int64_t>(batch.pool.size());
  size_of(sizes_, Scope::GroupRollouts) = rollouts_in(batch.groups);
  size_of(sizes_, Scope::EndedRollouts) = rollouts_in(batch.ended);
  size_of(sizes_, Scope::StoredRollouts) = rollouts_in(batch.stored);
  if (batch.of_pool) size_of(sizes_, Scope::Known) = static_cast<std::int64_t>(batch.distinct.size());
  const std::size_t size = barrier              ? batch.ended.size()
                           : batch.groups.empty() ? batch.prompts.size()
                                                  : batch.groups.size();
  reads_.clear();
  for (const lang::ReadKey& key : handler.reads) reads_.push_back(batch_fact(key, static_cast<int>(size), run));
  fill_columns(handler, run, {nullptr, -1, &batch, nullptr});
  fill_states(batch, run, store);
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

void Question::fill_columns(const lang::Handler& handler, const RunFacts& run, const About& about) {
  columns_.resize(handler.columns.size());
  widths_.assign(columns_.size(), 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].clear();
    if (handler.columns[i].type.matrix()) {
      fill_matrix(i, handler.columns[i], about);
    } else {
      fill_column(columns_[i], handler.columns[i], run, about);
    }
  }
}

// Where the host gave none, it is all zeros: square, or one column wide.
void Question::fill_matrix(std::size_t index, const lang::ReadKey& key, const About& about) {
  const std::vector<double>* const given = about.micro != nullptr ? about.micro->gram
                                           : about.group != nullptr ? about.group->embeddings
                                                                    : nullptr;
  const auto rows = static_cast<std::size_t>(size_of(sizes_, key.scope));
  const bool known = given != nullptr && rows > 0 && !given->empty() && given->size() % rows == 0;
  const std::size_t width = known ? given->size() / rows : key.type.across == key.scope ? rows : 1;
  widths_[index] = std::max<std::int64_t>(1, static_cast<std::int64_t>(width));
  std::vector<Cell>& cells = columns_[index];
  cells.assign(rows * width, Cell::of(0.0));
  for (std::size_t i = 0; known && i < cells.size(); ++i) cells[i] = Cell::of((*given)[i]);
}

namespace {

// Of a prompt that nobody described there is its position alone.
Cell prompt_cell(const lang::ReadKey& key, const BatchFacts& batch, std::int64_t position, const RunFacts& run) {
  if (key.fact == lang::Fact::PromptKey) return Cell::of(position);
  const lang::Subject subject = lang::row(key.fact).subject;
  if (subject == lang::Subject::Batch || (subject == lang::Subject::Run && key.fact != lang::Fact::Draw)) {
    return batch_fact(key, static_cast<int>(batch.prompts.size()), run);
  }
  if (!batch.known.empty()) return prompt_fact(key, batch.known[static_cast<std::size_t>(position)], run);
  static const PromptHistory unseen;
  PromptFacts unknown;
  unknown.key = &batch.distinct[static_cast<std::size_t>(position)];
  unknown.history = &unseen;
  unknown.position = position;
  return prompt_fact(key, unknown, run);
}

}  // namespace

void Question::fill_column(std::vector<Cell>& column, const lang::ReadKey& key, const RunFacts& run,
                           const About& about) {
  const auto groups = [&](const std::vector<GroupFacts>& all) {
    std::int64_t rollouts = 0;
    for (const GroupFacts& each : all) {
      column.push_back(key.fact == lang::Fact::FirstRollout ? Cell::of(rollouts) : group_fact(key, each, run));
      rollouts += static_cast<std::int64_t>(each.log->rollouts.size());
    }
  };
  const auto rollouts_of = [&](const std::vector<GroupFacts>& all) {
    for (const GroupFacts& each : all) {
      const int count = static_cast<int>(each.log->rollouts.size());
      for (int sample = 0; sample < count; ++sample) column.push_back(rollout_fact(key, each, sample, run));
    }
  };
  switch (key.scope) {
    case Scope::Rollouts: {
      const int count = about.group != nullptr ? static_cast<int>(about.group->log->rollouts.size()) : 0;
      for (int sample = 0; sample < count; ++sample) column.push_back(rollout_fact(key, *about.group, sample, run));
      break;
    }
    case Scope::Turns: {
      if (about.group == nullptr || about.sample < 0) break;
      const RolloutLog& rollout = about.group->log->rollouts[static_cast<std::size_t>(about.sample)];
      for (std::size_t turn = 0; turn < rollout.each_turn.size(); ++turn) column.push_back(turn_fact(key, rollout, turn));
      break;
    }
    case Scope::AllTurns:
      if (about.group != nullptr) column = turns_column(key, *about.group->log);
      break;
    case Scope::Trained:
      if (about.micro == nullptr) break;
      for (const MicroFacts::Member& member : about.micro->members) column.push_back(member_fact(key, member, run));
      break;
    default: break;
  }
  if (about.batch == nullptr) return;
  const BatchFacts& batch = *about.batch;
  switch (key.scope) {
    case Scope::Groups: groups(batch.groups); break;
    case Scope::Ended: groups(batch.ended); break;
    case Scope::Stored: groups(batch.stored); break;
    case Scope::GroupRollouts: rollouts_of(batch.groups); break;
    case Scope::EndedRollouts: rollouts_of(batch.ended); break;
    case Scope::StoredRollouts: rollouts_of(batch.stored); break;
    case Scope::Prompts:
      for (const std::int64_t prompt : batch.prompts) column.push_back(prompt_cell(key, batch, prompt, run));
      break;
    case Scope::Pool:
      for (const std::int64_t prompt : batch.pool) column.push_back(prompt_cell(key, batch, prompt, run));
      break;
    case Scope::Known:
      for (std::size_t i = 0; i < batch.distinct.size(); ++i) {
        column.push_back(prompt_cell(key, batch, static_cast<std::int64_t>(i), run));
      }
      break;
    default: break;
  }
}

void Question::link(const RunFacts& run, bool barrier) {
  barrier_ = barrier;
  parameters_ = run.parameters->data();
  widths_.resize(columns_.size(), 1);
  link_columns();
  after_ = before_;
  state_views_.clear();
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const std::int64_t size = static_cast<std::int64_t>(before_[i].size()) / run.program->states[i].type.cells();
    state_views_.push_back({before_[i].data(), barrier ? before_[i].data() : after_[i].data(), size});
  }
}

void Question::link_columns() {
  column_views_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    column_views_.push_back({columns_[i].data(), static_cast<std::int64_t>(columns_[i].size()), widths_[i]});
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

void Question::replace_matrix(const lang::Handler& handler, lang::Fact fact, std::vector<Cell> cells, std::int64_t width) {
  for (std::size_t i = 0; i < handler.columns.size(); ++i) {
    if (handler.columns[i].fact != fact) continue;
    columns_[i] = cells;
    widths_[i] = width;
  }
  link_columns();
}

void Question::replace_turns(const lang::Handler& handler, lang::Fact fact, std::vector<Cell> cells) {
  size_of(sizes_, Scope::AllTurns) = static_cast<std::int64_t>(cells.size());
  for (std::size_t i = 0; i < handler.columns.size(); ++i) {
    if (handler.columns[i].fact == fact) columns_[i] = cells;
  }
  link_columns();
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
