#include "runtime/training/run/pool.h"

#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "runtime/math/random.h"

namespace allot::training {

PromptPool::PromptPool(std::size_t size, std::uint64_t seed) : size_(size), seed_(seed) { shuffle(); }

// Fisher–Yates; the draw of a place depends on seed, epoch and place alone.
void PromptPool::shuffle() {
  order_.resize(size_);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t i = size_; i > 1; --i)
    std::swap(order_[i - 1], order_[math::below(i, seed_, epoch_, i)]);
  next_ = 0;
}

std::vector<std::size_t> PromptPool::draw(std::size_t count) {
  std::vector<std::size_t> drawn;
  while (drawn.size() < count && size_ > 0) {
    if (!returned_.empty()) {
      drawn.push_back(returned_.front());
      returned_.pop_front();
      continue;
    }
    if (next_ == order_.size()) {
      ++epoch_;
      shuffle();
    }
    drawn.push_back(order_[next_++]);
  }
  return drawn;
}

void PromptPool::give_back(const std::vector<std::size_t>& tasks) {
  returned_.insert(returned_.begin(), tasks.begin(), tasks.end());
}

nlohmann::json PromptPool::save() const {
  return {{"epoch", epoch_}, {"next", next_}, {"returned", std::vector<std::size_t>(returned_.begin(), returned_.end())}};
}

void PromptPool::restore(const nlohmann::json& saved) {
  epoch_ = saved.at("epoch");
  shuffle();
  next_ = saved.at("next");
  const auto returned = saved.at("returned").get<std::vector<std::size_t>>();
  returned_.assign(returned.begin(), returned.end());
}

}  // namespace allot::training
