// Decoding with LibTorch's own operations, on whatever device the model lies on.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <vector>

#include "runtime/training/decoder.h"
#include "runtime/training/model_impl.h"
#include "runtime/training/train_ops.h"

namespace allot::training {
namespace {

// Rows of one call, padded on the right to the longest.
struct Padded {
  at::Tensor tokens;     // [R, T] int64
  at::Tensor positions;  // [R, T] int64; padding is sent to a position of the cache that nobody attends to
  at::Tensor slots;      // [R] int64
  at::Tensor ends;       // [R] int64, flat index of each row's last token
  std::int64_t past = 0;  // positions that are looked at
};

class TorchDecoder final : public Decoder {
 public:
  TorchDecoder(const Model& model, int slots, int capacity) : model_(model.impl()), capacity_(capacity) {
    const c10::InferenceMode no_grad;
    const ModelConfig& c = model_.config;
    const auto options = at::TensorOptions(model_.compute).device(model_.torch_device());
    for (int layer = 0; layer < c.layers; ++layer) {
      keys_.push_back(at::zeros({slots, capacity + 1, c.kv_heads, c.head_size()}, options));
      values_.push_back(at::zeros({slots, capacity + 1, c.kv_heads, c.head_size()}, options));
    }
  }

  void forward(std::span<const RowWork> rows, const LogitSink& sink) override {
    // Rows with one new token and rows with many would pad each other: two passes.
    std::vector<std::size_t> one, many;
    for (std::size_t i = 0; i < rows.size(); ++i) (rows[i].tokens.size() == 1 ? one : many).push_back(i);
    for (const auto& part : {many, one})
      if (!part.empty()) run(rows, part, sink);
  }

 private:
  void run(std::span<const RowWork> rows, const std::vector<std::size_t>& part, const LogitSink& sink) {
    const c10::InferenceMode no_grad;
    const at::Tensor logits = head_logits(model_, hidden(pad(rows, part))).to(at::kCPU).contiguous();
    const auto vocabulary = static_cast<std::size_t>(logits.size(1));
    for (std::size_t i = 0; i < part.size(); ++i)
      sink(part[i], {logits.data_ptr<float>() + i * vocabulary, vocabulary});
  }

  Padded pad(std::span<const RowWork> rows, const std::vector<std::size_t>& part) const {
    std::size_t longest = 0;
    for (const std::size_t i : part) longest = std::max(longest, rows[i].tokens.size());
    const auto count = static_cast<std::int64_t>(part.size()), width = static_cast<std::int64_t>(longest);
    Padded p{at::zeros({count, width}, at::kLong), at::full({count, width}, capacity_, at::kLong),
             at::empty({count}, at::kLong), at::empty({count}, at::kLong)};
    auto tokens = p.tokens.accessor<std::int64_t, 2>(), positions = p.positions.accessor<std::int64_t, 2>();
    for (std::int64_t r = 0; r < count; ++r) {
      const RowWork& row = rows[part[static_cast<std::size_t>(r)]];
      const auto size = static_cast<std::int64_t>(row.tokens.size());
      for (std::int64_t t = 0; t < size; ++t) {
        tokens[r][t] = row.tokens[static_cast<std::size_t>(t)];
        positions[r][t] = row.first + t;
      }
      p.slots[r] = row.slot;
      p.ends[r] = r * width + size - 1;
      p.past = std::max(p.past, row.first + size);
    }
    const at::Device device = model_.torch_device();
    for (at::Tensor* tensor : {&p.tokens, &p.positions, &p.slots, &p.ends}) *tensor = tensor->to(device);
    return p;
  }

  at::Tensor product(const at::Tensor& x, const at::Tensor& weight) const {
    return at::linear(x.to(model_.compute), weight.to(model_.compute));
  }

  // [R, d] after the final norm, at each row's last token.
  at::Tensor hidden(const Padded& p) {
    const ModelConfig& c = model_.config;
    at::Tensor x = at::embedding(model_.embedding, p.tokens);
    const at::Tensor mask =
        (at::arange(p.past, p.positions.options()).view({1, 1, 1, p.past}) <= p.positions.unsqueeze(1).unsqueeze(3));
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      const LayerWeights& w = model_.layers[i];
      const at::Tensor normed = rms_norm(x, w.input_norm, c.rms_norm_eps);
      const at::Tensor qkv = product(normed, w.qkv) + w.qkv_bias.to(model_.compute);
      x = x + product(attend(i, qkv, p, mask), w.output).to(at::kFloat);
      const at::Tensor gated = swiglu(product(rms_norm(x, w.post_norm, c.rms_norm_eps), w.gate_up));
      x = x + product(gated, w.down).to(at::kFloat);
    }
    return rms_norm(x.reshape({-1, c.hidden_size}).index_select(0, p.ends), model_.final_norm, c.rms_norm_eps);
  }

  at::Tensor attend(std::size_t layer, const at::Tensor& qkv, const Padded& p, const at::Tensor& mask) {
    const ModelConfig& c = model_.config;
    const std::int64_t rows = qkv.size(0), width = qkv.size(1), size = c.head_size();
    const at::Tensor split = qkv.view({rows, width, c.heads + 2 * c.kv_heads, size});
    // Padding has no angle of its own; any will do.
    const at::Tensor angle = p.positions.clamp_max(model_.cosine.size(0) - 1).reshape({-1});
    const at::Tensor turned =
        rotate_by(split.narrow(2, 0, c.heads + c.kv_heads),
                  model_.cosine.index_select(0, angle).view({rows, width, 1, -1}),
                  model_.sine.index_select(0, angle).view({rows, width, 1, -1})).to(model_.compute);
    const at::Tensor where = p.slots.unsqueeze(1).expand({rows, width});
    keys_[layer].index_put_({where, p.positions}, turned.narrow(2, c.heads, c.kv_heads));
    values_[layer].index_put_({where, p.positions}, split.narrow(2, c.heads + c.kv_heads, c.kv_heads));
    const auto seen = [&](const at::Tensor& cache) {
      return cache.narrow(1, 0, p.past).index_select(0, p.slots).transpose(1, 2)
          .repeat_interleave(c.heads / c.kv_heads, 1);
    };
    const at::Tensor out = at::scaled_dot_product_attention(turned.narrow(2, 0, c.heads).transpose(1, 2),
                                                            seen(keys_[layer]), seen(values_[layer]), mask);
    return out.transpose(1, 2).reshape({rows, width, c.hidden_size});
  }

  const Model::Impl& model_;
  std::int64_t capacity_;
  std::vector<at::Tensor> keys_, values_;  // a layer: [slots, capacity + 1, kv heads, size]
};

}  // namespace

std::unique_ptr<Decoder> make_torch_decoder(const Model& model, int slots, int capacity) {
  return std::make_unique<TorchDecoder>(model, slots, capacity);
}

}  // namespace allot::training
