// The tensors of a model. Includes torch: for the .cpp files of this folder alone.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/training/model.h"

namespace allot::training {

// Query, key and value share one matrix, as do gate and up: fewer, larger products. Hugging Face's names are views.
struct LayerWeights {
  at::Tensor input_norm;     // [d]
  at::Tensor qkv;            // [(heads + 2 kv) * head, d]
  at::Tensor qkv_bias;       // [(heads + 2 kv) * head]
  at::Tensor output;         // [d, d]
  at::Tensor post_norm;      // [d]
  at::Tensor gate_up;        // [2 ff, d]
  at::Tensor down;           // [d, ff]
};

struct NamedView {
  std::string name;  // Hugging Face's
  at::Tensor view;
};

struct Model::Impl {
  ModelConfig config;
  Device device = Device::Cpu;
  at::ScalarType compute = at::kFloat;
  at::Tensor embedding;  // [vocab, d]
  std::vector<LayerWeights> layers;
  at::Tensor final_norm;  // [d]
  at::Tensor head;        // [vocab, d]; the embedding itself where tied
  at::Tensor cosine;      // [max_positions, head / 2]
  at::Tensor sine;
  std::uint64_t version = 0;  // grows with every change of the weights

  at::Device torch_device() const { return device == Device::Cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU); }
  // The leaves that are trained, in a fixed order.
  std::vector<at::Tensor> parameters() const;
  // Per Hugging Face tensor, the view of `leaf` values; `leaves` are shaped and ordered like parameters().
  std::vector<NamedView> named(const std::vector<at::Tensor>& leaves) const;
};

// Tensor <-> bytes, always float32 on the outside.
RawTensor to_raw(const at::Tensor& tensor);
at::Tensor from_raw(const RawTensor& raw);

// The hidden states after the final norm, [N, d], at the flat positions `selected` of `tokens` ([B, T] int64, padded
// on the right; padding is never attended to by what stands before it). Undefined `selected`: all B*T positions.
// Differentiable where gradients are on.
at::Tensor hidden_states(const Model::Impl& model, const at::Tensor& tokens, const at::Tensor& selected);
// Float32 logits [N, vocab] of hidden states.
at::Tensor head_logits(const Model::Impl& model, const at::Tensor& hidden);

}  // namespace allot::training
