#include "tests/training/helpers.h"

#include <stdlib.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "runtime/training/philox.h"

namespace allot::training {

ModelConfig small_config() {
  ModelConfig c;
  c.vocab_size = 37, c.hidden_size = 24, c.intermediate_size = 44, c.layers = 2, c.heads = 4, c.kv_heads = 2;
  c.max_positions = 160, c.initializer_range = 0.25;
  return c;
}

Model small_model(std::uint64_t seed, ModelConfig config) {
  auto model = Model::fresh(config, seed, Device::Cpu);
  if (!model) throw std::runtime_error(model.error().text());
  return *std::move(model);
}

int random_below(int limit, std::uint64_t seed, std::uint64_t index) {
  return static_cast<int>(philox(seed, 0x7e57, index)[0] % static_cast<std::uint32_t>(limit));
}

std::vector<int> random_tokens(int count, int vocabulary, std::uint64_t seed) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(random_below(vocabulary, seed, static_cast<std::uint64_t>(i)));
  return out;
}

TrainSequence random_sequence(const Model& model, int turns, std::uint64_t seed, double advantage) {
  TrainSequence s;
  const int vocabulary = model.config().vocab_size;
  const auto append = [&](int count, bool trained) {
    for (int i = 0; i < count; ++i) {
      s.tokens.push_back(random_below(vocabulary, seed, s.tokens.size()));
      s.trained.push_back(trained);
    }
  };
  append(4 + random_below(6, seed, 1000), false);
  for (int turn = 0; turn < turns; ++turn) {
    append(1 + random_below(3, seed, 2000 + static_cast<std::uint64_t>(turn)), true);
    append(2 + random_below(4, seed, 3000 + static_cast<std::uint64_t>(turn)), false);
  }
  const std::vector<float> logits = model.logits(s.tokens);
  s.behaviour_logp.assign(s.tokens.size(), 0.0f);
  for (std::size_t t = 1; t < s.tokens.size(); ++t) {
    const float* row = logits.data() + (t - 1) * static_cast<std::size_t>(vocabulary);
    double sum = 0;
    for (int v = 0; v < vocabulary; ++v) sum += std::exp(static_cast<double>(row[v]));
    const double shift = 0.3 * (unit_interval(philox(seed, 9, t)[0], 0) - 0.5);
    s.behaviour_logp[t] = static_cast<float>(row[s.tokens[t]] - std::log(sum) + shift);
  }
  s.advantage = advantage;
  return s;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "allot-training-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace allot::training
