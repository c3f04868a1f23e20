#include "runtime/engine/asking_again.h"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "runtime/engine/answer_text.h"
#include "runtime/engine/policy_record.h"
#include "runtime/engine/verdict.h"

namespace allot::engine {

using Json = nlohmann::ordered_json;
using lang::Cell;

AskingAgain::AskingAgain(std::shared_ptr<const Policy> policy) : policy_(std::move(policy)) {}

namespace {

const Json& element(const Json& list, std::size_t at, std::size_t count) {
  if (list.size() != count) throw std::invalid_argument("the number of values is not that of the handler's reads");
  return list.at(at);
}

// A handler of a barrier sees what it wrote before.
bool at_barrier(const lang::Handler& handler) {
  return handler.point == lang::Point::Update || handler.point == lang::Point::Epoch;
}

}  // namespace

void AskingAgain::read_sizes(const lang::Handler& handler, const RecordedFrame& frame) {
  sizes_.fill(0);
  if (!frame.sizes.is_null()) {
    // A journal of an earlier version knew fewer scopes.
    const auto sizes = frame.sizes.get<std::vector<std::int64_t>>();
    std::copy_n(sizes.begin(), std::min(sizes.size(), sizes_.size()), sizes_.begin());
    return;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (handler.columns[i].type.matrix()) continue;  // such a journal is older than they are
    sizes_[static_cast<std::size_t>(handler.columns[i].scope)] = static_cast<std::int64_t>(columns_[i].size());
  }
}

// The evaluator trusts the sizes of its frame, a record may say anything. A matrix stands row by row: its rows run over the
// scope, and a square one's columns too.
std::int64_t AskingAgain::width_of(const lang::ReadKey& column, std::size_t cells) const {
  const std::int64_t rows = sizes_[static_cast<std::size_t>(column.scope)];
  const auto count = static_cast<std::int64_t>(cells);
  std::int64_t width = 1;
  if (column.type.matrix() && rows > 0) width = column.type.across == column.scope ? rows : std::max<std::int64_t>(1, count / rows);
  if (rows < 0 || count % width != 0 || count / width != rows) {
    throw std::invalid_argument(column.text + " has not the size of its scope");
  }
  return width;
}

// How many keys of a kind the question can speak of: each stands as a position in some read or column.
std::int64_t AskingAgain::keys_seen(const lang::Handler& handler, lang::Base base) const {
  std::int64_t most = 0;
  const auto see = [&](const Cell& cell) {
    if (cell.defined) most = std::max(most, cell.integer() + 1);
  };
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    if (handler.reads[i].type.base == base) see(reads_[i]);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (handler.columns[i].type.base == base) std::for_each(columns_[i].begin(), columns_[i].end(), see);
  }
  return most;
}

// … of which a state has a value each. A group has one prompt and one category.
std::int64_t AskingAgain::keys_of(const lang::Handler& handler, const lang::State& state, bool of_group) const {
  if (of_group) return 1;
  if (state.scope == lang::StateScope::Prompt) return keys_seen(handler, lang::Base::Prompt);
  if (state.scope == lang::StateScope::Category) return keys_seen(handler, lang::Base::Category);
  return 1;
}

// States that the handler does not look at are not recorded; it may still write them.
void AskingAgain::read_states(const lang::Handler& handler, const RecordedFrame& frame, bool of_group) {
  const std::vector<lang::State>& states = policy_->program().states;
  const std::vector<std::int32_t> read = states_read(handler);
  before_.assign(states.size(), {});
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::int64_t keys = std::max<std::int64_t>(1, keys_of(handler, states[i], of_group)); keys > 0; --keys) before_[i].insert(before_[i].end(), states[i].initial.begin(), states[i].initial.end());
  }
  for (std::size_t i = 0; i < read.size(); ++i) {
    const auto index = static_cast<std::size_t>(read[i]);
    before_[index].clear();
    for (const Json& value : element(frame.states, i, read.size())) {
      before_[index].push_back(read_cell(value, states[index].type));
    }
    // An empty batch has no key.
    const std::size_t cells = states[index].initial.size();
    const auto keys = static_cast<std::size_t>(keys_of(handler, states[index], of_group));
    if (before_[index].size() % cells != 0 || before_[index].size() < keys * cells) {
      throw std::invalid_argument("state " + states[index].name + " has not the size of its type");
    }
  }
  after_ = before_;
  state_views_.clear();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto size = static_cast<std::int64_t>(before_[i].size()) / states[i].type.cells();
    state_views_.push_back({before_[i].data(), at_barrier(handler) ? before_[i].data() : after_[i].data(), size});
  }
}

void AskingAgain::read_frame(const lang::Handler& handler, const RecordedFrame& frame, bool of_group) {
  reads_.clear();
  for (std::size_t i = 0; i < handler.reads.size(); ++i) {
    reads_.push_back(read_cell(element(frame.reads, i, handler.reads.size()), handler.reads[i].type));
  }
  columns_.assign(handler.columns.size(), {});
  column_views_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (const Json& value : element(frame.columns, i, columns_.size())) {
      columns_[i].push_back(read_cell(value, handler.columns[i].type));
    }
  }
  read_sizes(handler, frame);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t cells = columns_[i].size();
    column_views_.push_back({columns_[i].data(), static_cast<std::int64_t>(cells), width_of(handler.columns[i], cells)});
  }
  read_states(handler, frame, of_group);
}

Json AskingAgain::ask(int index, const RecordedFrame& frame, bool of_group) {
  const lang::Program& program = policy_->program();
  const lang::Handler& handler = program.handlers.at(static_cast<std::size_t>(index));
  read_frame(handler, frame, of_group);
  answer_.prepare(program, handler);
  scratch_.reset();
  const compiler::Frame asked{policy_->parameters().data(), reads_.data(),       column_views_.data(),
                              sizes_.data(),                state_views_.data(), &scratch_};
  policy_->executable().decide(index, asked, answer_.outcome);
  const Verdict verdict = resolve(program, handler, answer_, {});
  std::optional<FaultPlace> fault;
  if (answer_.outcome.fault != compiler::FaultKind::None) {
    fault = FaultPlace{answer_.outcome.fault, place_of(program, handler, answer_.outcome.fault_node)};
  }
  changed_nothing_ = changes_nothing(verdict) && !fault;
  JsonText text;
  text.begin_object();
  put_answer(text, handler, verdict, answer_, fault);
  return Json::parse(text.end_object().text());
}

}  // namespace allot::engine
