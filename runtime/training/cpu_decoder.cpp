// Decoding on a CPU: rows are dealt out to threads, and each thread takes its rows through the whole network alone.
// Nothing is shared but the weights, so a step has one meeting of the threads, at its end.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/training/decoder.h"
#include "runtime/training/kernels.h"
#include "runtime/training/model_impl.h"
#include "runtime/training/threads.h"

namespace allot::training {
namespace {

// Tokens that go through a layer together; their activations stay in a core's own cache.
constexpr int kBlock = 48;

std::vector<float> copy_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  std::vector<float> out(static_cast<std::size_t>(padded(static_cast<int>(plain.numel()))), 0.0f);
  std::memcpy(out.data(), plain.const_data_ptr<float>(), static_cast<std::size_t>(plain.nbytes()));
  return out;
}

PackedMatrix pack(const at::Tensor& tensor) {
  return PackedMatrix(copy_of(tensor).data(), static_cast<int>(tensor.size(0)), static_cast<int>(tensor.size(1)));
}

struct PackedLayer {
  std::vector<float> input_norm, qkv_bias, post_norm;
  PackedMatrix qkv, output, gate_up, down;
};

struct PackedModel {
  std::vector<float> embedding, final_norm, cosine, sine;
  std::vector<PackedLayer> layers;
  PackedMatrix head;

  explicit PackedModel(const Model::Impl& m)
      : embedding(copy_of(m.embedding)), final_norm(copy_of(m.final_norm)), cosine(copy_of(m.cosine)),
        sine(copy_of(m.sine)), head(pack(m.head)) {
    for (const LayerWeights& w : m.layers)
      layers.push_back({copy_of(w.input_norm), copy_of(w.qkv_bias), copy_of(w.post_norm), pack(w.qkv), pack(w.output),
                        pack(w.gate_up), pack(w.down)});
  }
};

// Keys and values of every slot, layer and key-value head, in the layouts of kernels::attend.
class Cache {
 public:
  Cache(const ModelConfig& c, int slots, int capacity)
      : size_(c.head_size()), layers_(c.layers), heads_(c.kv_heads), length_(padded(capacity)),
        keys_(std::size_t(slots) * layers_ * heads_ * length_ * size_, 0.0f),
        values_(std::size_t(slots) * layers_ * heads_ * length_ * padded(size_), 0.0f) {}

  const float* keys(int slot, int layer, int head) const { return keys_.data() + plane(slot, layer, head) * size_; }
  const float* values(int slot, int layer, int head) const {
    return values_.data() + plane(slot, layer, head) * padded(size_);
  }
  void put(int slot, int layer, int head, int position, const float* key, const float* value) {
    float* block = keys_.data() + plane(slot, layer, head) * size_ + std::size_t(position / kLanes) * kLanes * size_;
    for (int d = 0; d < size_; ++d) block[d * kLanes + position % kLanes] = key[d];
    float* row = values_.data() + (plane(slot, layer, head) + position) * padded(size_);
    std::memcpy(row, value, sizeof(float) * static_cast<std::size_t>(size_));
  }

 private:
  std::size_t plane(int slot, int layer, int head) const {
    return ((std::size_t(slot) * layers_ + layer) * heads_ + head) * length_;
  }
  int size_, layers_, heads_, length_;
  std::vector<float> keys_, values_;
};

// A token of the block that a thread has in hand.
struct TokenWork {
  int token, slot, position;
  std::size_t row;
  bool last;  // its logits are wanted
};

// One thread's buffers.
struct Scratch {
  std::vector<TokenWork> tokens;
  std::vector<float> x, normed, qkv, attended, wide, gated, scores, logits;
};

class CpuDecoder final : public Decoder {
 public:
  CpuDecoder(const Model& model, int slots, int capacity, int threads)
      : model_(model), config_(model.config()), packed_(model.impl()), version_(model.impl().version),
        cache_(config_, slots, capacity), team_(threads), scratch_(static_cast<std::size_t>(team_.size())) {
    for (Scratch& s : scratch_) {
      const auto block = [](int width) { return std::vector<float>(std::size_t(kBlock) * padded(width), 0.0f); };
      s.x = block(config_.hidden_size), s.normed = s.x, s.attended = s.x;
      s.qkv = block(qkv_width()), s.wide = block(2 * config_.intermediate_size);
      s.gated = block(config_.intermediate_size), s.logits = block(config_.vocab_size);
      s.scores.resize(std::size_t(config_.heads / config_.kv_heads) * padded(capacity));
    }
  }

  void forward(std::span<const RowWork> rows, const LogitSink& sink) override {
    if (version_ != model_.impl().version) {
      packed_ = PackedModel(model_.impl());
      version_ = model_.impl().version;
    }
    const std::vector<std::size_t> cuts = shares(rows);
    team_.run([&](int thread) {
      Scratch& s = scratch_[static_cast<std::size_t>(thread)];
      for (std::size_t row = cuts[thread]; row < cuts[thread + 1]; ++row)
        for (std::size_t i = 0; i < rows[row].tokens.size(); ++i) {
          s.tokens.push_back({rows[row].tokens[i], rows[row].slot, rows[row].first + static_cast<int>(i), row,
                              i + 1 == rows[row].tokens.size()});
          if (s.tokens.size() == kBlock) run_block(s, sink);
        }
      if (!s.tokens.empty()) run_block(s, sink);
    });
  }

 private:
  int qkv_width() const { return (config_.heads + 2 * config_.kv_heads) * config_.head_size(); }

  // Cuts the rows into one run a thread, of about equal work. A row is never shared: its tokens see each other.
  std::vector<std::size_t> shares(std::span<const RowWork> rows) const {
    const double per_token = static_cast<double>(config_.parameter_count());
    const double per_past = 2.0 * config_.layers * config_.hidden_size;
    const auto cost = [&](const RowWork& r) {
      return static_cast<double>(r.tokens.size()) * (per_token + per_past * (r.first + r.tokens.size() / 2));
    };
    const double total = std::accumulate(rows.begin(), rows.end(), 0.0,
                                         [&](double sum, const RowWork& r) { return sum + cost(r); });
    std::vector<std::size_t> cuts(static_cast<std::size_t>(team_.size()) + 1, rows.size());
    cuts[0] = 0;
    double done = 0;
    int next = 1;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      // A row goes to the thread in whose share its middle lies.
      while (next < team_.size() && done + cost(rows[row]) / 2 > total * next / team_.size()) cuts[next++] = row;
      done += cost(rows[row]);
    }
    return cuts;
  }

  void run_block(Scratch& s, const LogitSink& sink) {
    const int count = static_cast<int>(s.tokens.size()), d = config_.hidden_size, stride = padded(d);
    for (int i = 0; i < count; ++i)
      std::memcpy(&s.x[std::size_t(i) * stride], &packed_.embedding[std::size_t(s.tokens[i].token) * d],
                  sizeof(float) * static_cast<std::size_t>(d));
    for (int layer = 0; layer < config_.layers; ++layer) {
      if (layer + 1 == config_.layers) {
        run_last_layer(s, layer);
      } else {
        attention(s, layer, count);
        feed_forward(s, layer, static_cast<int>(s.tokens.size()));
      }
    }
    give_logits(s, sink);
    s.tokens.clear();
  }

  // Only tokens whose logits are wanted go past the keys and values of the last layer.
  void run_last_layer(Scratch& s, int layer) {
    attention(s, layer, static_cast<int>(s.tokens.size()));
    const int stride = padded(config_.hidden_size);
    int kept = 0;
    for (std::size_t i = 0; i < s.tokens.size(); ++i) {
      if (!s.tokens[i].last) continue;
      std::memmove(&s.x[std::size_t(kept) * stride], &s.x[i * stride],
                   sizeof(float) * static_cast<std::size_t>(stride));
      s.tokens[static_cast<std::size_t>(kept++)] = s.tokens[i];
    }
    s.tokens.resize(static_cast<std::size_t>(kept));
    feed_forward(s, layer, kept);
  }

  void attention(Scratch& s, int layer, int count) {
    const PackedLayer& w = packed_.layers[static_cast<std::size_t>(layer)];
    const int size = config_.head_size(), stride = padded(config_.hidden_size), wide = padded(qkv_width());
    const int group = config_.heads / config_.kv_heads, half = size / 2;
    kernels::rms_norm(s.x.data(), stride, w.input_norm.data(), static_cast<float>(config_.rms_norm_eps),
                      config_.hidden_size, s.normed.data(), stride, count);
    kernels::multiply(w.qkv, w.qkv_bias.data(), s.normed.data(), stride, s.qkv.data(), wide, count, false);
    for (int i = 0; i < count; ++i) {
      const TokenWork& t = s.tokens[static_cast<std::size_t>(i)];
      float* q = &s.qkv[std::size_t(i) * wide];
      float* k = q + config_.heads * size;
      const float* v = k + config_.kv_heads * size;
      kernels::rotate(q, config_.heads + config_.kv_heads, size, &packed_.cosine[std::size_t(t.position) * half],
                      &packed_.sine[std::size_t(t.position) * half]);
      for (int head = 0; head < config_.kv_heads; ++head) {
        cache_.put(t.slot, layer, head, t.position, k + head * size, v + head * size);
        kernels::attend(q + head * group * size, group, size, cache_.keys(t.slot, layer, head),
                        cache_.values(t.slot, layer, head), t.position + 1, s.scores.data(),
                        &s.attended[std::size_t(i) * stride + std::size_t(head) * group * size]);
      }
    }
    kernels::multiply(w.output, nullptr, s.attended.data(), stride, s.x.data(), stride, count, true);
  }

  void feed_forward(Scratch& s, int layer, int count) {
    const PackedLayer& w = packed_.layers[static_cast<std::size_t>(layer)];
    const int stride = padded(config_.hidden_size), half = config_.intermediate_size;
    kernels::rms_norm(s.x.data(), stride, w.post_norm.data(), static_cast<float>(config_.rms_norm_eps),
                      config_.hidden_size, s.normed.data(), stride, count);
    kernels::multiply(w.gate_up, nullptr, s.normed.data(), stride, s.wide.data(), padded(2 * half), count, false);
    kernels::swiglu(s.wide.data(), padded(2 * half), half, s.gated.data(), padded(half), count);
    kernels::multiply(w.down, nullptr, s.gated.data(), padded(half), s.x.data(), stride, count, true);
  }

  void give_logits(Scratch& s, const LogitSink& sink) {
    const int count = static_cast<int>(s.tokens.size()), stride = padded(config_.hidden_size);
    const int wide = padded(config_.vocab_size);
    kernels::rms_norm(s.x.data(), stride, packed_.final_norm.data(), static_cast<float>(config_.rms_norm_eps),
                      config_.hidden_size, s.normed.data(), stride, count);
    kernels::multiply(packed_.head, nullptr, s.normed.data(), stride, s.logits.data(), wide, count, false);
    for (int i = 0; i < count; ++i)
      sink(s.tokens[static_cast<std::size_t>(i)].row,
           {&s.logits[std::size_t(i) * wide], static_cast<std::size_t>(config_.vocab_size)});
  }

  const Model& model_;
  ModelConfig config_;
  PackedModel packed_;
  std::uint64_t version_;
  Cache cache_;
  ThreadTeam team_;
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<Decoder> make_cpu_decoder(const Model& model, int slots, int capacity, int threads) {
  return std::make_unique<CpuDecoder>(model, slots, capacity, threads);
}

}  // namespace allot::training
