// What the sampler needs of a model: run some tokens of some rows, keep their keys and values, give the last logits.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "runtime/training/model.h"

namespace allot::training {

// `tokens` go to positions first, first + 1, … of the row that lies in `slot`; earlier positions are cached.
struct RowWork {
  int slot = 0;
  int first = 0;
  std::span<const int> tokens;
};

// Called once a row, from any thread, with the logits after the row's last token. They may be overwritten.
using LogitSink = std::function<void(std::size_t row, std::span<float> logits)>;

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void forward(std::span<const RowWork> rows, const LogitSink& sink) = 0;
};

// Slots 0 .. slots - 1, each holding up to `capacity` positions. Weights are read anew whenever they have changed.
// `model` must outlive the decoder.
std::unique_ptr<Decoder> make_cpu_decoder(const Model& model, int slots, int capacity, int threads);
std::unique_ptr<Decoder> make_torch_decoder(const Model& model, int slots, int capacity);

}  // namespace allot::training
