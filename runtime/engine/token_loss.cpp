#include "runtime/engine/token_loss.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "runtime/engine/verdict.h"

namespace allot::engine {
namespace {

using lang::Cell;
using lang::Fact;

Cell cell_of(Fact fact, const LossTokens& tokens, std::size_t token, std::int64_t iteration, std::int64_t epoch) {
  switch (fact) {
    case Fact::TokenLogProb: return Cell::of(tokens.logprob[token]);
    case Fact::TokenOldLogProb: return Cell::of(tokens.old_logprob[token]);
    case Fact::TokenReference:
      return tokens.reference.empty() ? Cell::undefined() : Cell::of(tokens.reference[token]);
    case Fact::TokenAdvantage: return Cell::of(tokens.advantage[token]);
    case Fact::Iteration: return Cell::of(iteration);
    case Fact::Epoch: return Cell::of(epoch);
    default: return Cell::undefined();
  }
}

// The first fault of all stays the first.
void merge(LossTally& all, const LossTally& more) {
  all.asked += more.asked;
  for (std::size_t i = 0; i < more.rules.size(); ++i) all.rules[i] += more.rules[i];
  all.none += more.none;
  if (all.faults == 0) all.first_fault = more.first_fault;
  all.faults += more.faults;
}

}  // namespace

TokenLoss::TokenLoss(std::shared_ptr<const Policy> policy, int handler, const StateStore& store, std::int64_t iteration,
                     std::int64_t epoch, Heard heard)
    : policy_(std::move(policy)), handler_(handler), iteration_(iteration), epoch_(epoch), states_(store.initial()),
      heard_(std::move(heard)) {
  const auto& states = policy_->program().states;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].scope == lang::StateScope::Run) states_[i] = store.run()[i];
  }
  tally_.handler = handler;
  tally_.rules.resize(policy_->program().handlers[static_cast<std::size_t>(handler)].rules.size());
}

TokenLosses TokenLoss::ask(const LossTokens& tokens) const {
  const lang::Program& program = policy_->program();
  const lang::Handler& handler = program.handlers[static_cast<std::size_t>(handler_)];
  std::vector<compiler::StateView> states;
  for (const std::vector<Cell>& cells : states_) states.push_back({cells.data(), nullptr, 1});
  const std::array<std::int64_t, lang::scope_count> sizes{};
  std::vector<Cell> reads(handler.reads.size());
  std::vector<Cell> holes(static_cast<std::size_t>(handler.hole_count));
  compiler::Scratch scratch;
  const compiler::Frame frame{policy_->parameters().data(), reads.data(), nullptr, sizes.data(), states.data(), &scratch};
  TokenLosses losses;
  const std::size_t count = tokens.logprob.size();
  losses.loss.resize(count);
  losses.slope.resize(count);
  losses.own.resize(count, 1);
  LossTally tally;
  tally.handler = handler_;
  tally.asked = static_cast<std::int64_t>(count);
  tally.rules.resize(handler.rules.size());
  for (std::size_t token = 0; token < count; ++token) {
    for (std::size_t i = 0; i < reads.size(); ++i) {
      reads[i] = cell_of(handler.reads[i].fact, tokens, token, iteration_, epoch_);
    }
    compiler::Outcome outcome;
    outcome.holes = holes.data();
    policy_->executable().decide(handler_, frame, outcome);
    if (outcome.fault != compiler::FaultKind::None) {
      if (++tally.faults == 1) tally.first_fault = fault_words(outcome);
    } else if (outcome.rule < 0 || !outcome.loss.defined || !outcome.slope.defined) {
      ++tally.none;
    } else {
      ++tally.rules[static_cast<std::size_t>(outcome.rule)];
      losses.loss[token] = outcome.loss.real();
      losses.slope[token] = outcome.slope.real();
      losses.own[token] = 0;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    merge(tally_, tally);
  }
  if (heard_ && count > 0) heard_(tally);
  return losses;
}

bool TokenLoss::add(const LossTally& elsewhere) const {
  const std::lock_guard lock(mutex_);
  if (elsewhere.handler != handler_ || elsewhere.rules.size() != tally_.rules.size()) return false;
  merge(tally_, elsewhere);
  return true;
}

std::string TokenLoss::fault_words(const compiler::Outcome& outcome) const {
  const lang::Program& program = policy_->program();
  const lang::Handler& handler = program.handlers[static_cast<std::size_t>(handler_)];
  return fmt::format("{} in `on {}` [{}]", words(outcome.fault), handler.text, place_of(program, handler, outcome.fault_node));
}

LossTally TokenLoss::tally() const {
  const std::lock_guard lock(mutex_);
  return tally_;
}

}  // namespace allot::engine
