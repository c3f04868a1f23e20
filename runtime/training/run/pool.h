// The prompts that may be drawn: a fresh counter-based permutation of the tasks every epoch, and, before it, the
// prompts that were drawn but not opened.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace allot::training {

class PromptPool {
 public:
  // `size` tasks, named by index.
  PromptPool(std::size_t size, std::uint64_t seed);

  std::vector<std::size_t> draw(std::size_t count);
  // Back to the front, in the order given: the next draw starts with them.
  void give_back(const std::vector<std::size_t>& tasks);
  std::uint64_t epoch() const { return epoch_; }

  nlohmann::json save() const;
  void restore(const nlohmann::json& saved);

 private:
  void shuffle();

  std::size_t size_;
  std::uint64_t seed_;
  std::uint64_t epoch_ = 0;
  std::size_t next_ = 0;                 // into order_
  std::vector<std::size_t> order_;
  std::deque<std::size_t> returned_;
};

}  // namespace allot::training
