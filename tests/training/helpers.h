// Small models and random rollouts for the tests of the trainer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "runtime/training/model.h"
#include "runtime/training/update.h"

namespace allot::training {

// 2 layers, grouped queries (4 heads on 2), sizes that are no multiple of a vector's lanes.
ModelConfig small_config();
// Weights large enough that logits differ by whole numbers: sampling is far from uniform.
Model small_model(std::uint64_t seed, ModelConfig config = small_config());

// A whole number in 0 .. limit - 1, a function of its address.
int random_below(int limit, std::uint64_t seed, std::uint64_t index);
std::vector<int> random_tokens(int count, int vocabulary, std::uint64_t seed);

// A rollout of a prompt and then turns of 1 to 3 action tokens and 2 to 5 of observation, with the model's own
// log-probabilities shifted a little, so that ratios are not 1.
TrainSequence random_sequence(const Model& model, int turns, std::uint64_t seed, double advantage);

// An empty folder of its own under the system's place for temporary files, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace allot::training
