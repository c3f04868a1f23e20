// A decoder of the Qwen2 architecture: its weights and where they lie. What runs it is the sampler and the trainer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/training/config.h"
#include "runtime/training/safetensors.h"

namespace allot::training {

enum class Device { Cpu, Cuda };

// "cpu" or "cuda"; an error where there is no such device on this machine.
Result<Device> parse_device(std::string_view name);

// How LibTorch is set up, once for the process, before any model is made: `threads` (0: all the hardware has) and
// deterministic algorithms, so that one seed gives one run for one build and thread count.
void set_up_torch(int threads);

// Weights are float32 masters on `device`; on CUDA the matrix products run in bfloat16.
class Model {
 public:
  // Fresh weights: matrices normal with `config.initializer_range`, biases 0, norms 1; a function of `seed` alone.
  static Result<Model> fresh(const ModelConfig& config, std::uint64_t seed, Device device);
  // Reads config.json and model.safetensors. A missing tensor or a wrong shape is named.
  static Result<Model> read(const std::filesystem::path& folder, Device device);
  Result<void> write(const std::filesystem::path& folder) const;

  // A deep copy, for instance as the reference of a KL term.
  Model clone() const;

  const ModelConfig& config() const;
  Device device() const;

  // Tensors under their Hugging Face names, as float32.
  TensorMap tensors() const;
  Result<void> assign(const TensorMap& tensors, std::string_view source);

  // Logits of one sequence, row-major [tokens][vocab_size]; the reference for tests and explanations, not for speed.
  std::vector<float> logits(std::span<const int> tokens) const;

  struct Impl;  // torch lives in model_impl.h
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

 private:
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::training
