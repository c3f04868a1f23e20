#include "runtime/engine/group_log.h"

#include <algorithm>
#include <string_view>

namespace allot::engine {

void GroupLog::append(int sample, const Turn& turn, bool keep_observation, bool keep_numbers) {
  RolloutLog& rollout = rollouts[static_cast<std::size_t>(sample)];
  rollout.actions.push_back(actions.intern(turn.action));
  if (keep_observation) rollout.observations.push_back(observations.intern(turn.observation));
  if (keep_numbers) rollout.each_turn.push_back({turn.tokens, turn.logprob, turn.entropy});
  rollout.tokens += turn.tokens;
  rollout.calls += turn.calls;
  rollout.invalid += turn.valid ? 0 : 1;
  rollout.logprob += turn.logprob;
  rollout.entropy += turn.entropy;
  rollout.last_turn = turn.last;
}

GroupLog::Mark GroupLog::mark(int sample) const {
  const RolloutLog& rollout = rollouts[static_cast<std::size_t>(sample)];
  return {rollout.tokens, rollout.calls, rollout.invalid, rollout.logprob, rollout.entropy, rollout.actions.size(),
          rollout.observations.size(), rollout.each_turn.size(), actions.size(), observations.size()};
}

void GroupLog::go_back(int sample, const Mark& mark) {
  RolloutLog& rollout = rollouts[static_cast<std::size_t>(sample)];
  rollout.tokens = mark.tokens;
  rollout.calls = mark.calls;
  rollout.invalid = mark.invalid;
  rollout.logprob = mark.logprob;
  rollout.entropy = mark.entropy;
  rollout.actions.resize(mark.turns);
  rollout.observations.resize(mark.observations);
  rollout.each_turn.resize(mark.each_turn);
  rollout.last_turn = false;
  actions.forget_from(mark.known_actions);
  observations.forget_from(mark.known_observations);
}

bool GroupLog::observed() const {
  const auto whole = [](const RolloutLog& rollout) { return rollout.observations.size() == rollout.actions.size(); };
  return std::all_of(rollouts.begin(), rollouts.end(), whole);
}

GroupCounts GroupLog::counts() const {
  GroupCounts counts;
  counts.started = static_cast<int>(rollouts.size());
  for (const RolloutLog& rollout : rollouts) {
    counts.live += rollout.live();
    counts.outstanding += rollout.outstanding();
    counts.errors += rollout.errored();
    counts.scored += rollout.scored();
    counts.nonfinite += rollout.nonfinite;
    counts.hits += rollout.hit.value_or(false);
    counts.misses += !rollout.hit.value_or(true);
    counts.tokens += rollout.tokens;
    counts.calls += rollout.calls;
    counts.turns += rollout.turns();
  }
  return counts;
}

bool GroupLog::outstanding() const {
  return std::any_of(rollouts.begin(), rollouts.end(), [](const RolloutLog& rollout) { return rollout.outstanding(); });
}

std::optional<int> GroupLog::least_live_turns() const {
  std::optional<int> least;
  for (const RolloutLog& rollout : rollouts) {
    if (rollout.live()) least = least ? std::min(*least, rollout.turns()) : rollout.turns();
  }
  return least;
}

std::vector<double> GroupLog::scored_rewards() const {
  std::vector<double> rewards;
  for (const RolloutLog& rollout : rollouts) {
    if (rollout.reward) rewards.push_back(*rollout.reward);
  }
  return rewards;
}

bool GroupLog::flat(double tolerance) const {
  const std::vector<double> rewards = scored_rewards();
  if (rewards.size() < 2) return false;
  const auto [low, high] = std::minmax_element(rewards.begin(), rewards.end());
  return *high - *low <= tolerance;
}

std::optional<int> GroupLog::answer_class(int sample) const {
  const std::string& wanted = rollouts[static_cast<std::size_t>(sample)].answer;
  if (wanted.empty()) return std::nullopt;
  std::vector<std::string_view> known;
  for (const RolloutLog& rollout : rollouts) {
    if (rollout.answer == wanted) return static_cast<int>(known.size());
    const bool fresh = !rollout.answer.empty() && std::find(known.begin(), known.end(), rollout.answer) == known.end();
    if (fresh) known.push_back(rollout.answer);
  }
  return std::nullopt;
}

}  // namespace allot::engine
