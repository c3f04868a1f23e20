#include "runtime/training/run/sequences.h"

#include <algorithm>
#include <map>

namespace allot::training {
namespace {

struct Member {
  const Rollout* rollout;
  bool in_subset;
};

std::vector<Member> members(const Collected& collected, const engine::GroupResult& group) {
  std::vector<Member> found;
  for (const auto& rollout : collected.rollouts) {
    if (rollout.ref.group != group.group) continue;
    const bool chosen = std::find(group.subset.begin(), group.subset.end(), rollout.ref.sample) != group.subset.end();
    if (chosen || group.normalize == engine::NormalizeOver::Group) found.push_back({&rollout, chosen});
  }
  return found;
}

TrainSequence sequence(const Rollout& rollout, double advantage) {
  return {rollout.tokens, rollout.trained, rollout.logprobs, advantage};
}

}  // namespace

std::vector<TrainSequence> sequences(const Collected& collected, const std::vector<int>& trained_groups,
                                     const AdvantageOptions& options) {
  std::map<int, const engine::GroupResult*> results;
  for (const auto& group : collected.groups) results[group.group] = &group;
  std::vector<std::vector<Member>> groups;
  for (const int id : trained_groups)
    if (const auto found = results.find(id); found != results.end()) groups.push_back(members(collected, *found->second));

  std::vector<std::vector<Reward>> rewards;
  GroupValues lengths;
  for (const auto& group : groups) {
    auto& of_group = rewards.emplace_back();
    auto& tokens = lengths.emplace_back();
    for (const auto& member : group) {
      of_group.push_back(member.rollout->reward);
      tokens.push_back(member.rollout->generated);
    }
  }
  const auto values = advantages(options, rewards, lengths);
  std::vector<TrainSequence> all;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t i = 0; i < groups[g].size(); ++i)
      if (groups[g][i].in_subset && scored(groups[g][i].rollout->reward))
        all.push_back(sequence(*groups[g][i].rollout, values[g][i]));
  return all;
}

}  // namespace allot::training
