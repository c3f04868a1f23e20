#include "runtime/engine/pool.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace allot::engine {

std::optional<double> PromptHistory::mean() const {
  if (scored == 0) return std::nullopt;
  return reward_mean;
}

std::optional<double> PromptHistory::deviation() const {
  if (scored == 0) return std::nullopt;
  return std::sqrt(reward_squares / static_cast<double>(scored));
}

void PromptHistory::add(double reward) {
  ++scored;
  const double before = reward - reward_mean;
  const auto n = static_cast<double>(scored);
  reward_mean += std::isfinite(before) ? before / n : reward / n - reward_mean / n;  // else beyond a double
  reward_squares += before * (reward - reward_mean);
}

void Pool::assign(std::vector<PoolPrompt> prompts) {
  prompts_ = std::move(prompts);
  places_.clear();
  for (std::size_t i = 0; i < prompts_.size(); ++i) places_.emplace(prompts_[i].key, i);
}

std::vector<std::string> Pool::keys() const {
  std::vector<std::string> keys;
  for (const PoolPrompt& prompt : prompts_) keys.push_back(prompt.key);
  return keys;
}

const PromptHistory& Pool::history(std::string_view prompt) const {
  static const PromptHistory unseen;
  const auto row = histories_.find(prompt);
  return row ? histories_.values(*row).front() : unseen;
}

const PoolPrompt* Pool::find(std::string_view prompt) const {
  const auto found = places_.find(prompt);
  return found == places_.end() ? nullptr : &prompts_[found->second];
}

std::int64_t Pool::away_count() const {
  return std::count_if(away_.begin(), away_.end(), [&](const std::string& prompt) {
    return (!given() || find(prompt) != nullptr) && away(history(prompt));
  });
}

PromptHistory& Pool::change(const std::string& prompt) {
  auto row = histories_.find(prompt);
  if (!row) row = histories_.add(prompt, std::array{PromptHistory()});
  return histories_.change(*row).front();
}

void Pool::renew() {
  histories_.renew([&](std::size_t row) { (void)histories_.change(row); });
}

void Pool::opened(const std::string& prompt, int iteration) {
  PromptHistory& history = change(prompt);
  ++history.groups;
  history.last_iteration = iteration;
  history.passed_in = epoch_;
  ++passed_;
}

void Pool::evict(const std::string& prompt, std::int64_t until) {
  PromptHistory& history = change(prompt);
  history.away_until = static_cast<int>(std::clamp<std::int64_t>(until, 0, PromptHistory::for_good));
  if (away(history)) {
    away_.insert(prompt);
  } else {
    away_.erase(prompt);
  }
}

bool Pool::epoch_over() const {
  if (!given()) return false;
  const auto left_out = std::count_if(away_.begin(), away_.end(), [&](const std::string& prompt) {
    const PromptHistory& known = history(prompt);
    return find(prompt) != nullptr && known.passed_in != epoch_ && away(known);
  });
  return passed_ >= static_cast<std::int64_t>(prompts_.size()) - left_out;
}

void Pool::next_epoch() {
  ++epoch_;
  passed_ = 0;
  std::erase_if(away_, [&](const std::string& prompt) { return !away(history(prompt)); });
}

void Pool::restore(Histories histories, int epoch, std::int64_t passed) {
  histories_ = std::move(histories);
  epoch_ = epoch;
  passed_ = passed;
  away_.clear();
  for (std::size_t row = 0; row < histories_.size(); ++row) {
    if (away(histories_.values(row).front())) away_.insert(histories_.key(row));
  }
}

}  // namespace allot::engine
