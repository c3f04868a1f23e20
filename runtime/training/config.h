// The shape of a decoder of the Qwen2 architecture, as `config.json` tells it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/result.h"

namespace allot::training {

// Sizes of a decoder. All counts are > 0; `hidden_size` divides by `heads`, `heads` by `kv_heads`; the size of one
// head is even (rotary pairs).
struct ModelConfig {
  int vocab_size = 0;
  int hidden_size = 96;
  int intermediate_size = 288;
  int layers = 3;
  int heads = 3;
  int kv_heads = 1;
  int max_positions = 1024;  // the longest sequence, prompt included
  double rope_theta = 10000.0;
  double rms_norm_eps = 1e-6;
  double initializer_range = 0.02;  // standard deviation of fresh weights
  bool tie_embeddings = true;       // the output head is the embedding matrix

  int head_size() const { return hidden_size / heads; }
  std::int64_t parameter_count() const;
  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

// Says which size does not fit, and what would.
Result<void> validate(const ModelConfig& config);

// Reads and writes `folder/config.json`. Another architecture than qwen2, a sliding window or a scaled rotary
// embedding is refused by name: running it as plain Qwen2 would give wrong logits without a word.
Result<ModelConfig> read_config(const std::filesystem::path& folder);
Result<void> write_config(const std::filesystem::path& folder, const ModelConfig& config);

}  // namespace allot::training
