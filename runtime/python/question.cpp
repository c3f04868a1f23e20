#include "runtime/python/question.h"

#include <algorithm>

#include "lang/diagnostics.h"

namespace allot::python {

using compiler::ColumnKind;
using lang::Base;
using lang::Cell;

namespace {

bool is_key(const lang::Type& type) { return type.base == Base::Prompt || type.base == Base::Category; }

std::string words(compiler::FaultKind kind) {
  switch (kind) {
    case compiler::FaultKind::None: return "nothing went wrong";
    case compiler::FaultKind::IntegerOverflow: return "a whole number does not fit into 64 bits";
    case compiler::FaultKind::DivisionByZero: return "a division by zero";
    case compiler::FaultKind::NotFinite: return "a number that is not finite";
    case compiler::FaultKind::IndexOutOfRange: return "a position outside";
    case compiler::FaultKind::Domain: return "a value that is missing, or outside of what a function takes";
    case compiler::FaultKind::OutOfMemory: return "more memory than a handler may use";
  }
  return "a fault";
}

}  // namespace

Result<std::unique_ptr<Question>> Question::create(const std::string& text, const std::string& handler,
                                                   const std::map<std::string, std::string>& parameters,
                                                   bool compiled) {
  const auto source = std::make_shared<const lang::Source>("policy", text);
  lang::Diagnostics diagnostics;
  std::optional<lang::Program> program = lang::check(source, diagnostics);
  if (!program) return Error{lang::render_all(diagnostics, *source), ""};
  std::unique_ptr<Question> made(new Question);
  made->program_ = *std::move(program);
  made->compiled_ = compiled;
  if (Result<void> chosen = made->choose(handler); !chosen) return chosen.error();
  Result<std::vector<Cell>> bound = lang::bind(made->program_, parameters);
  if (!bound) return bound.error();
  made->parameters_ = *std::move(bound);
  if (compiled) {
    auto code = compiler::compile(made->program_);
    if (!code) return code.error();
    made->executable_ = *std::move(code);
  } else {
    made->executable_ = compiler::evaluate(made->program_);
  }
  if (Result<void> laid_out = made->lay_out(); !laid_out) return laid_out.error();
  return made;
}

Result<void> Question::choose(const std::string& handler) {
  std::vector<std::size_t> found;
  std::string all;
  for (std::size_t i = 0; i < program_.handlers.size(); ++i) {
    if (program_.handlers[i].text.starts_with(handler)) found.push_back(i);
    all += (i == 0 ? "`" : ", `") + program_.handlers[i].text + "`";
  }
  if (found.size() != 1)
    return Error{"Policy `" + program_.name + "` has " + (found.empty() ? "no handler" : "several handlers") + " `" +
                     handler + "`.",
                 all.empty() ? "it has none" : "it has " + all};
  index_ = found.front();
  return {};
}

// Every cell gets a place; keys of state are 0, since there is one group.
Result<void> Question::lay_out() {
  const lang::Handler& asked = handler();
  if (!asked.columns.empty())
    return Error{"The handler `" + asked.text + "` looks at `" + asked.columns.front().text + "`, a vector.",
                 "only single numbers can be given; run the policy in an Engine"};
  reads_.assign(asked.reads.size(), Cell::of(std::int64_t{0}));
  before_.assign(program_.states.size(), Cell::undefined());
  after_ = before_;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const lang::ReadKey& read = asked.reads[i];
    if (!is_key(read.type)) slots_.push_back({read.text, read.type, &reads_[i], i, false});
  }
  std::vector<bool> used(before_.size());
  for (const lang::Node& node : asked.nodes) {
    if (node.op == lang::Op::State) used[static_cast<std::size_t>(node.index)] = true;
  }
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const lang::State& state = program_.states[i];
    states_.push_back(used[i] ? compiler::StateView{&before_[i], &after_[i], 1} : compiler::StateView{});
    if (used[i]) slots_.push_back({state.name, state.type, &before_[i], i, true});
  }
  for (const Slot& slot : slots_) {
    const bool number = slot.type.base == Base::Int || slot.type.base == Base::Real || slot.type.base == Base::Bool;
    if (slot.type.vector() || !number)
      return Error{"The handler `" + asked.text + "` looks at `" + slot.name + "`, a " + lang::to_text(slot.type) + ".",
                   "only single numbers can be given; run the policy in an Engine"};
  }
  frame_.parameters = parameters_.data();
  frame_.reads = reads_.data();
  frame_.states = states_.data();
  frame_.scratch = &scratch_;
  return {};
}

std::string Question::fault() const {
  const lang::Span span = handler().nodes[static_cast<std::size_t>(std::max(outcome_.fault_node, 0))].span;
  const int line = program_.source->place(span.begin).line;
  return words(outcome_.fault) + " at line " + std::to_string(line) + " of the policy " + program_.name;
}

Result<std::int64_t> Question::decide(const std::vector<Column>& columns, std::int64_t count, std::int8_t* rules) {
  static const Cell first = Cell::of(std::int64_t{0});
  compiler::BatchShape shape;
  shape.reads.assign(reads_.size(), {ColumnKind::Same, false});
  shape.states.assign(states_.size(), {ColumnKind::None, false});
  std::vector<compiler::Facts> reads(reads_.size(), {&first, nullptr}), states(states_.size());
  std::string kinds;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Slot& slot = slots_[i];
    (slot.state ? shape.states : shape.reads)[slot.index] = columns[i].shape;
    (slot.state ? states : reads)[slot.index] = columns[i].facts;
    kinds += static_cast<char>('a' + static_cast<int>(columns[i].shape.kind));
  }
  std::unique_ptr<compiler::Batch>& batch = batches_[kinds];
  if (batch == nullptr) {
    auto made = compiled_ ? compiler::compile_batch(program_, static_cast<int>(index_), shape)
                          : compiler::evaluate_batch(program_, static_cast<int>(index_), shape);
    if (!made) return made.error();
    batch = *std::move(made);
  }
  compiler::BatchFrame frame{count, parameters_.data(), reads.data(), states.data(), nullptr, &scratch_};
  compiler::BatchOutcome outcome;
  outcome.rules = rules;
  return batch->decide(frame, outcome);
}

}  // namespace allot::python
