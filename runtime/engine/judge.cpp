#include "runtime/engine/judge.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace allot::engine {

using lang::Cell;

std::int64_t JudgeCounts::decisions() const { return std::accumulate(asked.begin(), asked.end(), std::int64_t{0}); }

void JudgeCounts::add(const JudgeCounts& other) {
  const auto add_to = [](std::vector<std::int64_t>& all, const std::vector<std::int64_t>& more) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += more[i];
  };
  add_to(asked, other.asked);
  for (std::size_t handler = 0; handler < rules.size(); ++handler) add_to(rules[handler], other.rules[handler]);
  add_to(warned, other.warned);
  reports.insert(reports.end(), other.reports.begin(), other.reports.end());
  faults += other.faults;
  hit_faults += other.hit_faults;
}

Judge::Judge(std::shared_ptr<Policy> policy, int version) : policy_(std::move(policy)), version_(version) {
  warned_before_.assign(policy_->program().warnings.size(), 0);
  reset_counts();
}

void Judge::reset_counts() {
  const lang::Program& program = policy_->program();
  counts_ = {};
  counts_.asked.assign(program.handlers.size(), 0);
  for (const lang::Handler& handler : program.handlers) counts_.rules.emplace_back(handler.rules.size(), 0);
  counts_.warned.assign(program.warnings.size(), 0);
}

Fault Judge::describe(const lang::Handler& handler) const {
  Fault fault;
  fault.kind = answer_.outcome.fault;
  fault.where = place_of(policy_->program(), handler, answer_.outcome.fault_node);
  std::string read;
  for (std::size_t i = 0; i < handler.reads.size(); ++i) {
    const lang::ReadKey& key = handler.reads[i];
    const bool prompt = key.type.base == lang::Base::Prompt;
    read += fmt::format("{}{} = {}", read.empty() ? "" : ", ", key.text,
                        prompt ? "(prompt)" : lang::show(question_.reads()[i], key.type));
  }
  fault.text = fmt::format("{}: {} in `on {}`; {}", fault.where, words(fault.kind), handler.text,
                           read.empty() ? "nothing was read" : "it had read " + read);
  return fault;
}

Decision Judge::decide(int index, const std::vector<std::string>& prompts) {
  const lang::Program& program = policy_->program();
  const lang::Handler& handler = program.handlers[static_cast<std::size_t>(index)];
  answer_.prepare(program, handler);
  policy_->executable().decide(index, question_.frame(), answer_.outcome);
  Decision decision;
  decision.handler = index;
  decision.verdict = resolve(program, handler, answer_, prompts);
  if (answer_.outcome.fault != compiler::FaultKind::None) decision.fault = describe(handler);
  return decision;
}

void Judge::count(const Decision& decision) {
  const auto handler = static_cast<std::size_t>(decision.handler);
  ++counts_.asked[handler];
  if (decision.verdict.rule >= 0) ++counts_.rules[handler][static_cast<std::size_t>(decision.verdict.rule)];
  counts_.faults += decision.fault.has_value();
}

Decision Judge::consider(int index, const LiveGroup& group, int sample, int turn, const RunFacts& run, const StateStore& store) {
  const lang::Handler& handler = policy_->program().handlers[static_cast<std::size_t>(index)];
  question_.fill(handler, group.facts(turn), run, store, group.state, sample);
  return decide(index, {group.log.prompt});
}

void Judge::keep(const Decision& decision, LiveGroup& group, int turn) {
  count(decision);
  keep_group_state(group);
  const lang::Handler& handler = policy_->program().handlers[static_cast<std::size_t>(decision.handler)];
  keep_effects(handler, group.log.slot, group.log.round, turn);
}

Decision Judge::ask(int index, LiveGroup& group, int turn, const RunFacts& run, const StateStore& store,
                    Effects effects) {
  Decision decision = consider(index, group, -1, turn, run, store);
  effects == Effects::Keep ? keep(decision, group, turn) : count(decision);
  return decision;
}

void Judge::keep_group_state(LiveGroup& group) {
  const lang::Program& program = policy_->program();
  for (std::size_t i = 0; i < program.states.size(); ++i) {
    if (program.states[i].scope == lang::StateScope::Group) group.state[i] = question_.states_after()[i];
  }
}

Decision Judge::ask_rollout(int index, LiveGroup& group, int sample, int turn, const RunFacts& run,
                            const StateStore& store) {
  Decision decision = consider(index, group, sample, turn, run, store);
  keep(decision, group, turn);
  return decision;
}

std::vector<double> Judge::keys(int index, LiveGroup& group, const RunFacts& run, const StateStore& store) {
  const lang::Program& program = policy_->program();
  const lang::Handler& handler = program.handlers[static_cast<std::size_t>(index)];
  question_.fill(handler, group.facts(current_turn(group.log)), run, store, group.state);
  answer_.prepare(program, handler);
  policy_->executable().decide(index, question_.frame(), answer_.outcome);
  std::vector<double> keys;
  for (std::int64_t i = 0; i < answer_.outcome.keys.size; ++i) keys.push_back(answer_.outcome.keys.cells[i].real());
  return keys;
}

Decision Judge::ask_batch(int index, const BatchFacts& batch, const RunFacts& run, const StateStore& store) {
  const lang::Handler& handler = policy_->program().handlers[static_cast<std::size_t>(index)];
  question_.fill(handler, batch, run, store, false);
  Decision decision = decide(index, batch.distinct);
  count(decision);
  keep_effects(handler, 0, 0, 0);
  return decision;
}

Decision Judge::ask_micro(int index, const MicroFacts& micro, const BatchFacts& batch, const RunFacts& run,
                          const StateStore& store) {
  const lang::Handler& handler = policy_->program().handlers[static_cast<std::size_t>(index)];
  question_.fill(handler, micro, batch, run, store);
  Decision decision = decide(index, batch.distinct);
  count(decision);
  keep_effects(handler, 0, 0, 0);
  return decision;
}

Decision Judge::ask_barrier(int index, const BatchFacts& batch, const RunFacts& run, StateStore& store) {
  const lang::Program& program = policy_->program();
  const lang::Handler& handler = program.handlers[static_cast<std::size_t>(index)];
  question_.fill(handler, batch, run, store, true);
  Decision decision = decide(index, batch.distinct);
  count(decision);
  for (std::size_t i = 0; i < program.states.size(); ++i) {
    const std::vector<Cell>& before = question_.states_before()[i];
    const std::vector<Cell>& written = question_.states_after()[i];
    const auto size = static_cast<std::size_t>(program.states[i].type.cells());
    const auto value = [&](std::size_t at) { return std::span(written).subspan(at * size, size); };
    const auto changed = [&](std::size_t at) {
      return !std::equal(value(at).begin(), value(at).end(), before.begin() + static_cast<std::ptrdiff_t>(at * size));
    };
    switch (program.states[i].scope) {
      case lang::StateScope::Group: break;
      case lang::StateScope::Run: store.write_run(i, written); break;
      // Of a large pool few prompts are remembered anew.
      case lang::StateScope::Prompt:
        for (std::size_t p = 0; p < batch.distinct.size(); ++p) {
          if (changed(p)) store.write_prompt(batch.distinct[p], i, value(p));
        }
        break;
      case lang::StateScope::Category:
        for (std::size_t c = 0; c * size < written.size(); ++c) {
          if (changed(c)) store.write_category(c < batch.categories.size() ? batch.categories[c] : "", i, value(c));
        }
        break;
    }
  }
  keep_effects(handler, 0, 0, 0);
  return decision;
}

std::optional<bool> Judge::hit(const LiveGroup& group, int sample, const RunFacts& run) {
  const lang::Program& program = policy_->program();
  if (!program.hit || !group.log.rollouts[static_cast<std::size_t>(sample)].scored()) return std::nullopt;
  question_.fill_hit(*program.hit, group.facts(0), sample, run);
  const Cell met = policy_->executable().hit(question_.frame());
  if (met.defined) return met.truth();
  ++counts_.hit_faults;
  return std::nullopt;
}

namespace {

// The first effect of a kind that writes to `index`, loops included.
const lang::Effect* find_effect(const std::vector<lang::Effect>& effects, lang::EffectKind kind, int index) {
  for (const lang::Effect& effect : effects) {
    if (effect.kind == kind && effect.index == index) return &effect;
    if (const lang::Effect* inner = find_effect(effect.body, kind, index)) return inner;
  }
  return nullptr;
}

// Counts and truths are reported as numbers.
double as_number(const Cell& value, lang::Base base) {
  if (base == lang::Base::Real) return value.real();
  return static_cast<double>(value.integer());
}

// Values of holes are known for rules only; a warning shows where they would stand.
std::string warning_text(const lang::Program& program, const lang::Effect& effect) {
  std::string text;
  for (const lang::MessagePart& part : effect.because) text += part.hole < 0 ? part.text : "…";
  const std::string where = program.source ? place_of(program, effect.span) : "";
  return where + ": " + (text.empty() ? "the condition of `warn` held" : text);
}

}  // namespace

void Judge::keep_effects(const lang::Handler& handler, int slot, int round, int turn) {
  const lang::Program& program = policy_->program();
  for (std::size_t i = 0; i < program.reports.size(); ++i) {
    const Cell value = answer_.reports()[i];
    const auto* effect = find_effect(handler.effects, lang::EffectKind::Report, static_cast<int>(i));
    if (answer_.report_written()[i] == 0 || !value.defined || effect == nullptr) continue;
    const lang::Base base = handler.nodes[static_cast<std::size_t>(effect->value)].type.base;
    counts_.reports.push_back({static_cast<int>(i), slot, round, turn, as_number(value, base)});
  }
  for (std::size_t i = 0; i < program.warnings.size(); ++i) {
    if (answer_.warned()[i] == 0) continue;
    ++counts_.warned[i];
    if (warned_before_[i] != 0) continue;
    warned_before_[i] = 1;
    const auto* effect = find_effect(handler.effects, lang::EffectKind::Warn, static_cast<int>(i));
    if (effect != nullptr) warnings_.push_back(warning_text(program, *effect));
  }
}

std::vector<std::string> Judge::take_warnings() { return std::exchange(warnings_, {}); }

}  // namespace allot::engine
