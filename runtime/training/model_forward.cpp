#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "runtime/training/model_impl.h"
#include "runtime/training/train_ops.h"

namespace allot::training {
namespace {

at::Tensor product(const Model::Impl& model, const at::Tensor& x, const at::Tensor& weight) {
  return at::linear(x.to(model.compute), weight.to(model.compute));
}

// Attention of every query head over the causal past, [B * T, heads * size].
at::Tensor attend(const Model::Impl& model, const at::Tensor& qkv, std::int64_t batch, std::int64_t length) {
  const ModelConfig& c = model.config;
  const Heads heads = split_heads(qkv, model.cosine.narrow(0, 0, length), model.sine.narrow(0, 0, length), batch,
                                  c.heads, c.kv_heads);
  const auto repeated = [&](const at::Tensor& x) {
    if (c.heads == c.kv_heads) return x;
    return x.unsqueeze(2)
        .expand({batch, c.kv_heads, c.heads / c.kv_heads, length, c.head_size()})
        .reshape({batch, c.heads, length, c.head_size()});
  };
  const at::Tensor out = at::scaled_dot_product_attention(heads.q, repeated(heads.k), repeated(heads.v), {}, 0.0,
                                                          /*is_causal=*/true);
  return out.transpose(1, 2).reshape({batch * length, c.hidden_size});
}

}  // namespace

at::Tensor hidden_states(const Model::Impl& model, const at::Tensor& tokens, const at::Tensor& selected) {
  const ModelConfig& c = model.config;
  const std::int64_t batch = tokens.size(0), length = tokens.size(1);
  at::Tensor x = at::embedding(model.embedding, tokens.reshape({-1}));  // [B*T, d], float32 between the blocks
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerWeights& w = model.layers[i];
    const at::Tensor normed = rms_norm(x, w.input_norm, c.rms_norm_eps);
    const at::Tensor qkv =
        at::linear(normed.to(model.compute), w.qkv.to(model.compute), w.qkv_bias.to(model.compute));
    at::Tensor attended = attend(model, qkv, batch, length);
    if (i + 1 == model.layers.size() && selected.defined()) {
      // After the last attention nobody looks across positions: the rest is needed at the selected ones alone.
      attended = attended.index_select(0, selected);
      x = x.index_select(0, selected);
    }
    x = x + product(model, attended, w.output).to(at::kFloat);
    const at::Tensor gated = swiglu(product(model, rms_norm(x, w.post_norm, c.rms_norm_eps), w.gate_up));
    x = x + product(model, gated, w.down).to(at::kFloat);
  }
  return rms_norm(x, model.final_norm, c.rms_norm_eps);
}

at::Tensor head_logits(const Model::Impl& model, const at::Tensor& hidden) {
  return product(model, hidden, model.head).to(at::kFloat);
}

std::vector<float> Model::logits(std::span<const int> tokens) const {
  const c10::InferenceMode no_grad;
  at::Tensor ids = at::empty({1, static_cast<std::int64_t>(tokens.size())}, at::kLong);
  for (std::size_t i = 0; i < tokens.size(); ++i) ids.data_ptr<std::int64_t>()[i] = tokens[i];
  const at::Tensor out =
      head_logits(*impl_, hidden_states(*impl_, ids.to(impl_->torch_device()), {})).to(at::kCPU).contiguous();
  return {out.data_ptr<float>(), out.data_ptr<float>() + out.numel()};
}

}  // namespace allot::training
