#include "runtime/engine/kept_statistics.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "runtime/statistics/signals.h"

namespace allot::engine {
namespace {

using lang::Fact;
using statistics::Padding;
using statistics::Scale;

bool is_pairwise(Fact fact) {
  return fact == Fact::PairwiseMean || fact == Fact::PairwiseMin || fact == Fact::PairwiseMax;
}

bool of_single_turns(Fact fact) {
  switch (fact) {
    case Fact::FirstEntropy:
    case Fact::LastEntropy:
    case Fact::TurnTokens:
    case Fact::TurnLogProbs:
    case Fact::TurnEntropies: return true;
    default: return false;
  }
}

constexpr std::string_view jaccard = "bigram_jaccard";
constexpr std::string_view normalized = "normalized_edit_distance";

// Arguments of a pairwise fact: distance word, prefix length, padding word.
const std::string& distance_word(const lang::ReadKey& key) { return key.arguments.at(0).word; }
Padding padding(const lang::ReadKey& key, std::size_t index) {
  const bool unpadded = key.arguments.size() > index && key.arguments[index].word == "unpadded";
  return unpadded ? Padding::Unpadded : Padding::Padded;
}

std::int64_t number(const lang::ReadArgument& argument, const std::vector<lang::Cell>& parameters, int turn) {
  return argument.kind == lang::ReadArgument::Kind::CurrentTurn ? turn : lang::value(argument, parameters);
}

int length(const lang::ReadKey& key, std::size_t index, const std::vector<lang::Cell>& parameters, int turn) {
  const std::int64_t value = number(key.arguments.at(index), parameters, turn);
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<int>::max()));
}

bool of_observations(const lang::ReadKey& key) { return key.fact == Fact::Loop || key.fact == Fact::TurnStates; }

void plan_key(StatisticsPlan& plan, const lang::ReadKey& key, const std::vector<lang::Cell>& parameters) {
  plan.observations = plan.observations || of_observations(key);
  plan.turn_numbers = plan.turn_numbers || of_single_turns(key.fact);
  if (!is_pairwise(key.fact) || distance_word(key) == jaccard) return;
  const int longest = length(key, 1, parameters, std::numeric_limits<int>::max());
  plan.longest_edit_prefix = std::max(plan.longest_edit_prefix.value_or(0), longest);
}

// The rollouts that take part, as the leaf library wants them.
std::vector<statistics::RolloutActions> actions_of(const GroupLog& log) {
  std::vector<statistics::RolloutActions> group;
  group.reserve(log.rollouts.size());
  for (const RolloutLog& rollout : log.rollouts) {
    if (!rollout.left_out()) group.push_back({rollout.actions, !rollout.live()});
  }
  return group;
}

std::optional<double> pick(Fact fact, const std::optional<statistics::PairSummary>& summary) {
  if (!summary) return std::nullopt;
  if (fact == Fact::PairwiseMin) return summary->min;
  return fact == Fact::PairwiseMax ? summary->max : summary->mean;
}

statistics::EntropyUnit entropy_unit(const lang::ReadKey& key) {
  const std::string word = key.arguments.size() > 1 ? key.arguments[1].word : "nats";
  if (word == "bits") return statistics::EntropyUnit::Bits;
  return word == "normalized" ? statistics::EntropyUnit::Normalized : statistics::EntropyUnit::Nats;
}

}  // namespace

StatisticsPlan StatisticsPlan::of(const lang::Program& program, const std::vector<lang::Cell>& parameters) {
  StatisticsPlan plan;
  for (const lang::Handler& handler : program.handlers) {
    for (const lang::ReadKey& key : handler.reads) plan_key(plan, key, parameters);
    for (const lang::ReadKey& key : handler.columns) plan_key(plan, key, parameters);
    const auto reads_them = [](const auto& keys) { return std::any_of(keys.begin(), keys.end(), of_observations); };
    const bool sees_replayed = handler.point == lang::Point::Replay || handler.point == lang::Point::Shape;
    if (sees_replayed && (reads_them(handler.reads) || reads_them(handler.columns))) plan.replayed_observations = true;
  }
  return plan;
}

KeptStatistics::KeptStatistics(const StatisticsPlan& plan) {
  if (plan.longest_edit_prefix) edit_.emplace(*plan.longest_edit_prefix);
}

KeptStatistics KeptStatistics::rebuild(const StatisticsPlan& plan, const GroupLog& log) {
  KeptStatistics kept(plan);
  if (!kept.edit_) return kept;
  for (std::size_t i = 0; i < log.rollouts.size(); ++i) {
    const RolloutLog& rollout = log.rollouts[i];
    const int sample = kept.edit_->add_rollout();
    for (const Symbol action : rollout.actions) kept.edit_->append(sample, action);
    if (rollout.left_out()) {
      kept.edit_->leave_out(sample);
    } else if (!rollout.live()) {
      kept.edit_->end(sample);
    }
  }
  return kept;
}

void KeptStatistics::cover(const StatisticsPlan& plan, const GroupLog& log) {
  if (plan.longest_edit_prefix.value_or(-1) > (edit_ ? edit_->longest() : -1)) *this = rebuild(plan, log);
}

void KeptStatistics::started() {
  if (edit_) edit_->add_rollout();
}

void KeptStatistics::took_turn(const GroupLog& log, int sample) {
  if (!edit_) return;
  const RolloutLog& rollout = log.rollouts[static_cast<std::size_t>(sample)];
  edit_->append(sample, rollout.actions.back());
  if (rollout.last_turn) edit_->end(sample);
}

void KeptStatistics::ended(int sample) {
  if (edit_) edit_->end(sample);
}

void KeptStatistics::left_out(int sample) {
  if (edit_) edit_->leave_out(sample);
}

std::optional<double> KeptStatistics::group_fact(const lang::ReadKey& key, const std::vector<lang::Cell>& parameters,
                                                 const GroupLog& log, int turn) const {
  if (key.arguments.empty()) return std::nullopt;  // no statistic of actions
  if (is_pairwise(key.fact)) {
    const int prefix = length(key, 1, parameters, turn);
    if (distance_word(key) == jaccard) {
      return pick(key.fact, statistics::bigram_jaccard(actions_of(log), prefix, padding(key, 2)));
    }
    const Scale scale = distance_word(key) == normalized ? Scale::Normalized : Scale::Raw;
    return edit_ ? pick(key.fact, edit_->at(prefix, padding(key, 2), scale)) : std::nullopt;
  }
  const std::vector<statistics::RolloutActions> group = actions_of(log);
  const int at = length(key, 0, parameters, turn);
  switch (key.fact) {
    case Fact::UniquePrefixRatio: return statistics::unique_prefix_ratio(group, at);
    case Fact::UniqueActionRatio: return statistics::unique_action_ratio(group, at);
    case Fact::Agreement: return statistics::agreement(group, at);
    case Fact::ActionEntropy: return statistics::action_entropy(group, at, entropy_unit(key));
    case Fact::FinishedFraction: return statistics::finished_fraction(group, at);
    default: return std::nullopt;
  }
}

double rollout_repetition(const RolloutLog& rollout, int n) { return statistics::repetition(rollout.actions, n); }

bool rollout_loops(const RolloutLog& rollout, int k) {
  std::vector<statistics::Exchange> turns;
  turns.reserve(rollout.actions.size());
  for (std::size_t i = 0; i < rollout.actions.size() && i < rollout.observations.size(); ++i) {
    turns.push_back({rollout.actions[i], rollout.observations[i]});
  }
  return statistics::loops(turns, k);
}

}  // namespace allot::engine
