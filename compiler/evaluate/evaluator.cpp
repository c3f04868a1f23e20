// The evaluator: rules, operands, holes and effects of a handler, over the values of walk.h.
#include <algorithm>
#include <new>

#include "compiler/depth.h"
#include "compiler/evaluate/walk.h"
#include "compiler/outcome.h"

namespace allot::compiler {
namespace {

using lang::Effect;
using lang::EffectKind;
using lang::Handler;
using lang::NodeId;
using lang::Rule;

Workspace* workspace_for(const Handler& handler) noexcept {
  thread_local Workspace workspace;
  try {
    if (workspace.memos.size() < handler.lets.size()) workspace.memos.resize(handler.lets.size());
    if (workspace.cursors.size() < handler.loops.size()) workspace.cursors.resize(handler.loops.size());
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  ++workspace.serial;
  return &workspace;
}

void note(Outcome& outcome, const Walk& walk) noexcept {
  if (outcome.fault != FaultKind::None) return;
  outcome.fault = walk.fault();
  outcome.fault_node = walk.fault_node();
}

bool holds(Walk& walk, NodeId condition, bool& answer) noexcept {
  Value value;
  if (!walk.value(condition, value)) return false;
  answer = value.cell.defined != 0 && value.cell.truth();
  return true;
}

template <typename Field>
Field* field_at(Outcome& outcome, std::size_t offset) noexcept {
  return offset == 0 ? nullptr : reinterpret_cast<Field*>(reinterpret_cast<char*>(&outcome) + offset);
}

// One operand of a verdict: a cell, or a vector.
bool operand(Walk& walk, NodeId id, Cell* cell, Column* column) noexcept {
  if (id < 0) return true;
  Value value;
  if (!walk.value(id, value)) return false;
  if (value.vector) {
    if (column != nullptr) *column = value.cell.defined != 0 ? value.column : Column{};
  } else if (cell != nullptr) {
    *cell = value.cell;
  }
  return true;
}

bool operands(Walk& walk, const lang::VerdictTemplate& verdict, Outcome& outcome) noexcept {
  return std::all_of(std::begin(operand_places), std::end(operand_places), [&](const OperandPlace& place) {
    return operand(walk, verdict.*place.node, field_at<Cell>(outcome, place.cell),
                   field_at<Column>(outcome, place.column));
  });
}

void holes(Walk& walk, const Rule& rule, Outcome& outcome) noexcept {
  if (outcome.holes == nullptr) return;
  std::size_t next = 0;
  for (const lang::MessagePart& part : rule.because) {
    if (part.hole < 0) continue;
    Value value;
    outcome.holes[next++] = walk.value(part.hole, value) && !value.vector ? value.cell : Cell::undefined();
  }
}

bool rules(Walk& walk, const Handler& handler, Outcome& outcome) noexcept {
  if (!operand(walk, handler.keys, nullptr, &outcome.keys)) return false;
  for (std::size_t i = 0; i < handler.rules.size(); ++i) {
    const Rule& rule = handler.rules[i];
    bool answers = true;
    if (rule.condition >= 0 && !holds(walk, rule.condition, answers)) return false;
    if (!answers) continue;
    if (!operands(walk, rule.verdict, outcome)) return false;
    outcome.rule = static_cast<std::int32_t>(i);
    holes(walk, rule, outcome);
    return true;
  }
  return true;
}

class Effects {
 public:
  Effects(Walk& walk, const lang::Program& program, const Frame& frame, Outcome& outcome)
      : walk_(walk), program_(program), frame_(frame), outcome_(outcome) {}

  void run(const std::vector<Effect>& effects) noexcept {
    for (const Effect& effect : effects) {
      if (!run(effect)) note(outcome_, walk_);
    }
  }

 private:
  bool run(const Effect& effect) noexcept {
    switch (effect.kind) {
      case EffectKind::Remember: return remember(effect);
      case EffectKind::Report: return report(effect);
      case EffectKind::Warn: return warn(effect);
      case EffectKind::ForEach: return for_each(effect);
    }
    return true;
  }

  bool remember(const Effect& effect) noexcept {
    std::int64_t position = 0;
    if (effect.key >= 0) {
      Value key;
      if (!walk_.value(effect.key, key)) return false;
      if (key.cell.defined == 0) return walk_.fail(FaultKind::Domain, effect.key);
      position = key.cell.integer();
    }
    Value value;
    if (!walk_.value(effect.value, value)) return false;
    const auto index = static_cast<std::size_t>(effect.index);
    if (value.cell.defined == 0 && !program_.states[index].type.optional)
      return walk_.fail(FaultKind::Domain, effect.value);
    const StateView& view = frame_.states[index];
    if (position < 0 || position >= view.size) return walk_.fail(FaultKind::IndexOutOfRange, effect.value);
    if (value.vector) return remember(effect, value.column, view, position, program_.states[index].type.cells());
    view.after[position] = value.cell;
    return true;
  }

  // A vector is remembered whole or not at all.
  bool remember(const Effect& effect, const Column& column, const StateView& view, std::int64_t position,
                std::int64_t size) noexcept {
    const bool whole = column.size == size && std::all_of(column.cells, column.cells + size,
                                                          [](const Cell& cell) { return cell.defined != 0; });
    if (!whole) return walk_.fail(FaultKind::Domain, effect.value);
    std::copy_n(column.cells, size, view.after + position * size);
    return true;
  }

  bool report(const Effect& effect) noexcept {
    Value value;
    if (!walk_.value(effect.value, value)) return false;
    if (value.cell.defined == 0 || value.vector || outcome_.reports == nullptr) return true;
    outcome_.reports[effect.index] = value.cell;
    if (outcome_.report_written != nullptr) outcome_.report_written[effect.index] = 1;
    return true;
  }

  bool warn(const Effect& effect) noexcept {
    bool warns = false;
    if (!holds(walk_, effect.value, warns)) return false;
    if (warns && outcome_.warned != nullptr) outcome_.warned[effect.index] = 1;
    return true;
  }

  bool for_each(const Effect& effect) noexcept {
    std::int64_t size = 0;
    if (!walk_.enter(effect.loop, size)) return false;
    for (std::int64_t i = 0; i < size; ++i) {
      walk_.move(effect.loop, i);
      walk_.forget(effect.owned);
      run(effect.body);
    }
    return true;
  }

  Walk& walk_;
  const lang::Program& program_;
  const Frame& frame_;
  Outcome& outcome_;
};

class Evaluator final : public Executable {
 public:
  explicit Evaluator(const lang::Program& program) : program_(program), functions_(implementations()) {
    for (const Handler& handler : program.handlers) walkable_.push_back(depth(handler) <= max_depth);
    hit_walkable_ = program.hit && depth(*program.hit) <= max_depth;
  }

  void decide(int handler, const Frame& frame, Outcome& outcome) const noexcept override {
    const auto index = static_cast<std::size_t>(handler);
    const Handler& asked = program_.handlers[index];
    clear(outcome, program_, asked);
    frame.scratch->reset();
    Workspace* const workspace = workspace_for(asked);
    if (!walkable_[index] || workspace == nullptr) {
      outcome.fault = FaultKind::OutOfMemory;
      return;
    }
    Walk walk(asked, functions_, frame, *workspace);
    if (rules(walk, asked, outcome)) {
      Effects(walk, program_, frame, outcome).run(asked.effects);
      return;
    }
    clear(outcome, program_, asked);
    note(outcome, walk);
  }

  Cell hit(const Frame& frame) const noexcept override {
    if (!hit_walkable_) return Cell::undefined();
    const Handler& asked = *program_.hit;
    if (asked.effects.empty()) return Cell::undefined();
    frame.scratch->reset();
    Workspace* const workspace = workspace_for(asked);
    if (workspace == nullptr) return Cell::undefined();
    Walk walk(asked, functions_, frame, *workspace);
    Value value;
    return walk.value(asked.effects.front().value, value) ? value.cell : Cell::undefined();
  }

 private:
  const lang::Program& program_;
  std::span<const Function> functions_;
  std::vector<bool> walkable_;
  bool hit_walkable_ = false;
};

}  // namespace

std::unique_ptr<Executable> evaluate(const lang::Program& program) { return std::make_unique<Evaluator>(program); }

}  // namespace allot::compiler
