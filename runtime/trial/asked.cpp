#include "runtime/trial/asked.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace allot::trial {

using lang::Base;
using lang::Cell;
using lang::Fact;
using lang::Scope;

namespace {

// The name under which a record gives a fact: its own, or that of the vector of which it is an element; `draw_tie` for
// `draw("tie")`.
std::vector<std::string> names_of(const lang::ReadKey& key, const std::string& kind) {
  const Fact fact = key.fact;
  if (fact == Fact::Draw) return {"draw_" + (key.arguments.empty() ? "" : key.arguments.front().word)};
  std::vector<std::string> names{std::string(lang::row(fact).name)};
  if (fact == Fact::RawReward) names.emplace_back(lang::row(Fact::Reward).name);  // the same where nothing else is said
  for (const lang::FactRow& row : lang::fact_rows()) {
    const bool of_kind = (kind == "micro_batch") == (row.subject == lang::Subject::MicroBatch);
    if (row.type.vector() && of_kind && lang::element_of(row.fact) == fact) names.emplace_back(row.name);
  }
  return names;
}

const Value* find(const std::map<std::string, Value>& fields, const std::vector<std::string>& names, bool list) {
  for (const std::string& name : names) {
    const auto it = fields.find(name);
    if (it != fields.end() && (it->second.kind == Value::Kind::List) == list) return &it->second;
  }
  return nullptr;
}

Cell left_out(Fact fact, const lang::Type& type) {
  if (type.optional) return Cell::undefined();
  switch (type.base) {
    case Base::Real: return Cell::of(0.0);
    case Base::Bool: return Cell::of(fact == Fact::RolloutAlive);
    default: return Cell::of(std::int64_t{0});
  }
}

std::int64_t place_in(std::vector<std::string>& known, const std::string& name) {
  const auto it = std::find(known.begin(), known.end(), name);
  if (it != known.end()) return it - known.begin();
  known.push_back(name);
  return static_cast<std::int64_t>(known.size()) - 1;
}

}  // namespace

// How many entries the lists have, and which prompts there are.
Result<void> Asked::measure(const Fields& fields) {
  for (const auto& [name, value] : fields) {
    const bool counted = name == "prompts" && value.kind == Value::Kind::Int;
    if (value.kind != Value::Kind::List && !counted) continue;
    const std::size_t size = counted ? static_cast<std::size_t>(std::clamp<std::int64_t>(value.integer, 0, 65'536))
                                     : value.items.size();
    if (first_.empty()) {
      first_ = name;
      length_ = size;
    }
    if (size == length_) continue;
    return Error{fmt::format("`{}` has {} entries, `{}` has {}.", first_, length_, name, size),
                 "write one entry for each in every list"};
  }
  const auto named = fields.find("prompts");
  for (std::size_t i = 0; i < std::max<std::size_t>(length_, 1); ++i) {
    const bool list = named != fields.end() && named->second.kind == Value::Kind::List;
    if (list && named->second.items[i].kind != Value::Kind::String) {
      return Error{"`prompts` is a list of texts, or how many prompts there are.", "for example `prompts: 4`"};
    }
    entries_.push_back(place_in(prompts_, list ? named->second.items[i].text : length_ > 1 ? fmt::format("p{}", i + 1) : "p"));
  }
  categories_.emplace_back();
  return {};
}

Result<Cell> Asked::cell(const Value& value, const lang::Type& type, const std::string& name) {
  const auto wrong = [&] {
    return Error{fmt::format("`{}` is {}.", name, lang::to_text(type)), "give a value of that type"};
  };
  if (value.kind == Value::Kind::Undefined) {
    if (!type.optional) return wrong();
    return Cell::undefined();
  }
  if (type.base == Base::Prompt || type.base == Base::Category) {
    if (value.kind != Value::Kind::String) return wrong();
    return Cell::of(place_in(type.base == Base::Prompt ? prompts_ : categories_, value.text));
  }
  const bool number = value.kind == Value::Kind::Int || value.kind == Value::Kind::Real;
  const bool fits = type.base == Base::Bool  ? value.kind == Value::Kind::Bool
                    : type.base == Base::Int ? value.kind == Value::Kind::Int
                                             : number;
  if (!fits) return wrong();
  return value.cell(type.base);
}

Result<void> Asked::read(const lang::ReadKey& key, const Fields& fields, const engine::RunFacts& run) {
  const lang::FactRow& row = lang::row(key.fact);
  const std::string name = key.fact == Fact::Draw ? names_of(key, "").front() : std::string(row.name);
  const std::vector<std::string> names = key.fact == Fact::RawReward ? names_of(key, "") : std::vector{name};
  if (const Value* const given = find(fields, names, false); given && !name.empty()) {
    auto made = cell(*given, key.type, name);
    if (!made) return made.error();
    reads_.push_back(*made);
    return {};
  }
  const bool common = row.subject == lang::Subject::Batch || row.subject == lang::Subject::Run;
  Cell value = common ? engine::batch_fact(key, static_cast<int>(entries_.size()), run) : left_out(key.fact, key.type);
  const bool counts = key.fact == Fact::PoolSize || key.fact == Fact::PoolKnown || key.fact == Fact::MicroSize;
  if (counts) value = Cell::of(static_cast<std::int64_t>(length_));
  if (key.fact == Fact::PoolSlots) value = Cell::of(static_cast<std::int64_t>(run.slots));
  if (!value.defined && !key.type.optional) value = left_out(key.fact, key.type);
  reads_.push_back(value);
  return {};
}

bool Asked::drawable(const Fields& fields, std::size_t position) const {
  for (const char* const name : {"evicted", "deferred"}) {
    const Value* const list = find(fields, {name}, true);
    if (list && list->items[position].kind == Value::Kind::Bool && list->items[position].integer != 0) return false;
  }
  return true;
}

// The entries of the record that a scope holds.
std::vector<std::size_t> Asked::positions(Scope scope, const Fields& fields) const {
  std::vector<std::size_t> all(length_);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (scope == Scope::Prompts && all.empty()) all.push_back(0);  // a batch has a prompt
  if (scope == Scope::Pool) std::erase_if(all, [&](std::size_t position) { return !drawable(fields, position); });
  return all;
}

// `gram: [[1, 0], [0, 1]]`, as many rows and columns as the record has entries; zeros where it is left out.
Result<void> Asked::matrix(const lang::ReadKey& key, const Value* rows) {
  std::vector<Cell>& cells = columns_.back();
  const std::string name(lang::row(key.fact).name);
  widths_.back() = std::max<std::int64_t>(1, static_cast<std::int64_t>(length_));
  cells.assign(length_ * length_, Cell::of(0.0));
  for (std::size_t i = 0; rows != nullptr && i < length_; ++i) {
    if (rows->items[i].items.size() != length_) {
      return Error{fmt::format("Row {} of `{}` has {} numbers, not {}.", i, name, rows->items[i].items.size(), length_),
                   "a matrix has a row and a column for each entry"};
    }
    for (std::size_t j = 0; j < length_; ++j) cells[i * length_ + j] = rows->items[i].items[j].cell(Base::Real);
  }
  return {};
}

Result<void> Asked::column(const lang::ReadKey& key, const Record& record, const engine::RunFacts& run) {
  const Fields& fields = record.fields;
  std::vector<Cell>& cells = columns_.emplace_back();
  lang::Type element = key.type;
  element.scope = Scope::Single;
  const Value* const list = find(fields, names_of(key, record.kind), true);
  widths_.push_back(1);
  if (key.type.matrix()) return matrix(key, list);
  for (const std::size_t position : positions(key.scope, fields)) {
    if (!list) {
      cells.push_back(key.fact == Fact::PromptKey ? Cell::of(entries_[position])
                      : key.fact == Fact::Sample  ? Cell::of(static_cast<std::int64_t>(position))
                      : key.fact == Fact::Draw    ? engine::batch_fact(key, static_cast<int>(length_), run)
                                                  : left_out(key.fact, element));
      continue;
    }
    auto made = cell(list->items[position], element, std::string(lang::row(key.fact).name));
    if (!made) return made.error();
    cells.push_back(*made);
  }
  return {};
}

Result<Asked> Asked::fill(const lang::Program& program, const lang::Handler& handler, const Record& record,
                          const std::vector<std::pair<std::size_t, std::vector<Cell>>>& states, const engine::StateStore& store,
                          const engine::RunFacts& run) {
  Asked asked;
  asked.parameters_ = run.parameters;
  asked.barrier_ = handler.point == lang::Point::Update || handler.point == lang::Point::Epoch;
  if (auto measured = asked.measure(record.fields); !measured) return measured.error();
  for (const lang::ReadKey& key : handler.reads) {
    if (auto read = asked.read(key, record.fields, run); !read) return read.error();
  }
  for (const lang::ReadKey& key : handler.columns) {
    if (auto column = asked.column(key, record, run); !column) return column.error();
  }
  for (int scope = 0; scope < lang::scope_count; ++scope) {
    asked.sizes_[static_cast<std::size_t>(scope)] =
        static_cast<std::int64_t>(asked.positions(static_cast<Scope>(scope), record.fields).size());
  }
  for (std::size_t i = 0; i < program.states.size(); ++i) {
    std::vector<Cell> value = store.initial()[i];
    for (const auto& [state, given] : states) value = state == i ? given : value;
    const lang::StateScope scope = program.states[i].scope;
    const std::size_t size = scope == lang::StateScope::Prompt     ? asked.prompts_.size()
                             : scope == lang::StateScope::Category ? asked.categories_.size()
                                                                   : 1;
    std::vector<Cell>& all = asked.states_.emplace_back();
    const auto one = static_cast<std::size_t>(program.states[i].type.cells());
    if (value.size() != one && value.size() != size * one) {
      return Error{fmt::format("`{}` is given for {} prompts; the record has {}.", program.states[i].name,
                               value.size() / one, size),
                   "give one value, or one for each prompt of the record"};
    }
    for (std::size_t k = 0; all.size() < size * one; ++k) all.push_back(value[k % value.size()]);
    asked.state_cells_.push_back(program.states[i].type.cells());
  }
  return asked;
}

compiler::Frame Asked::frame() {
  column_views_.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    column_views_.push_back({columns_[i].data(), static_cast<std::int64_t>(columns_[i].size()), widths_[i]});
  }
  after_ = states_;
  state_views_.clear();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    state_views_.push_back({states_[i].data(), barrier_ ? states_[i].data() : after_[i].data(),
                            static_cast<std::int64_t>(states_[i].size()) / state_cells_[i]});
  }
  return {parameters_->data(), reads_.data(), column_views_.data(), sizes_.data(), state_views_.data(), &scratch_};
}

}  // namespace allot::trial
