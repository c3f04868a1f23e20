#include "runtime/training/model.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "runtime/training/model_impl.h"
#include "runtime/training/philox.h"

namespace allot::training {
namespace {

at::ScalarType scalar_type(DType type) {
  switch (type) {
    case DType::F64: return at::kDouble;
    case DType::F32: return at::kFloat;
    case DType::F16: return at::kHalf;
    case DType::BF16: return at::kBFloat16;
    case DType::I64: return at::kLong;
    case DType::I32: return at::kInt;
    case DType::U8: return at::kByte;
  }
  __builtin_unreachable();
}

// Standard normal values from counter-based uniforms (Box and Muller), one stream a tensor.
at::Tensor normal(at::IntArrayRef shape, double deviation, std::uint64_t seed, std::uint64_t stream) {
  at::Tensor out = at::empty(shape, at::kFloat);
  float* data = out.data_ptr<float>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const auto bits = philox(seed, stream, static_cast<std::uint64_t>(i));
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit_interval(bits[0], bits[1])));
    data[i] = static_cast<float>(deviation * radius * std::cos(6.283185307179586 * unit_interval(bits[2], bits[3])));
  }
  return out;
}

void rotary_tables(Model::Impl& model) {
  const ModelConfig& c = model.config;
  const int half = c.head_size() / 2;
  at::Tensor cosine = at::empty({c.max_positions, half}, at::kFloat), sine = at::empty_like(cosine);
  for (int position = 0; position < c.max_positions; ++position)
    for (int pair = 0; pair < half; ++pair) {
      // float32 throughout, like transformers: at position 1000 a double would already differ by 1e-4
      const float inverse = 1.0f / std::pow(static_cast<float>(c.rope_theta), 2.0f * pair / c.head_size());
      const float angle = static_cast<float>(position) * inverse;
      cosine.data_ptr<float>()[position * half + pair] = std::cos(angle);
      sine.data_ptr<float>()[position * half + pair] = std::sin(angle);
    }
  model.cosine = cosine.to(model.torch_device());
  model.sine = sine.to(model.torch_device());
}

std::unique_ptr<Model::Impl> blank(const ModelConfig& c, Device device) {
  auto model = std::make_unique<Model::Impl>();
  model->config = c;
  model->device = device;
  model->compute = device == Device::Cuda ? at::kBFloat16 : at::kFloat;
  const std::int64_t d = c.hidden_size, qkv = (c.heads + 2 * c.kv_heads) * c.head_size(), ff = c.intermediate_size;
  const auto zeros = [&](at::IntArrayRef shape) {
    return at::zeros(shape, at::TensorOptions(at::kFloat).device(model->torch_device()));
  };
  model->embedding = zeros({c.vocab_size, d});
  for (int i = 0; i < c.layers; ++i)
    model->layers.push_back({zeros({d}) + 1, zeros({qkv, d}), zeros({qkv}), zeros({d, d}), zeros({d}) + 1,
                             zeros({2 * ff, d}), zeros({d, ff})});
  model->final_norm = zeros({d}) + 1;
  model->head = c.tie_embeddings ? model->embedding : zeros({c.vocab_size, d});
  rotary_tables(*model);
  return model;
}

}  // namespace

Result<Device> parse_device(std::string_view name) {
  if (name == "cpu") return Device::Cpu;
  if (name != "cuda") return Error{"there is no device \"" + std::string(name) + "\"",
                                     "use --device cpu or --device cuda"};
  if (!at::hasCUDA())
    return Error{"--device cuda, but this LibTorch or this machine has no CUDA",
                 "use --device cpu, or install a CUDA torch"};
  return Device::Cuda;
}

void set_up_torch(int threads) {
  // cuBLAS is deterministic only with a fixed workspace, and reads this before its first call.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  at::globalContext().setDeterministicAlgorithms(true, true);
  at::set_num_threads(threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

std::vector<at::Tensor> Model::Impl::parameters() const {
  std::vector<at::Tensor> all = {embedding};
  for (const LayerWeights& w : layers)
    all.insert(all.end(), {w.input_norm, w.qkv, w.qkv_bias, w.output, w.post_norm, w.gate_up, w.down});
  all.push_back(final_norm);
  if (!config.tie_embeddings) all.push_back(head);
  return all;
}

std::vector<NamedView> Model::Impl::named(const std::vector<at::Tensor>& leaves) const {
  const std::int64_t q = config.hidden_size, kv = std::int64_t{config.kv_heads} * config.head_size();
  const std::int64_t ff = config.intermediate_size;
  std::vector<NamedView> out = {{"model.embed_tokens.weight", leaves[0]}};
  std::size_t at = 1;
  for (int i = 0; i < config.layers; ++i, at += 7) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    const at::Tensor &qkv = leaves[at + 1], &bias = leaves[at + 2], &gate_up = leaves[at + 5];
    out.push_back({layer + "input_layernorm.weight", leaves[at]});
    out.push_back({layer + "self_attn.q_proj.weight", qkv.narrow(0, 0, q)});
    out.push_back({layer + "self_attn.k_proj.weight", qkv.narrow(0, q, kv)});
    out.push_back({layer + "self_attn.v_proj.weight", qkv.narrow(0, q + kv, kv)});
    out.push_back({layer + "self_attn.q_proj.bias", bias.narrow(0, 0, q)});
    out.push_back({layer + "self_attn.k_proj.bias", bias.narrow(0, q, kv)});
    out.push_back({layer + "self_attn.v_proj.bias", bias.narrow(0, q + kv, kv)});
    out.push_back({layer + "self_attn.o_proj.weight", leaves[at + 3]});
    out.push_back({layer + "post_attention_layernorm.weight", leaves[at + 4]});
    out.push_back({layer + "mlp.gate_proj.weight", gate_up.narrow(0, 0, ff)});
    out.push_back({layer + "mlp.up_proj.weight", gate_up.narrow(0, ff, ff)});
    out.push_back({layer + "mlp.down_proj.weight", leaves[at + 6]});
  }
  out.push_back({"model.norm.weight", leaves[at++]});
  if (!config.tie_embeddings) out.push_back({"lm_head.weight", leaves[at]});
  return out;
}

RawTensor to_raw(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  RawTensor raw{DType::F32, plain.sizes().vec(), std::string(static_cast<std::size_t>(plain.nbytes()), '\0')};
  std::memcpy(raw.bytes.data(), plain.const_data_ptr(), raw.bytes.size());
  return raw;
}

at::Tensor from_raw(const RawTensor& raw) {
  at::Tensor out = at::empty(raw.shape, scalar_type(raw.type));
  std::memcpy(out.data_ptr(), raw.bytes.data(), raw.bytes.size());
  return out.to(at::kFloat);
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const ModelConfig& Model::config() const { return impl_->config; }
Device Model::device() const { return impl_->device; }

Result<Model> Model::fresh(const ModelConfig& config, std::uint64_t seed, Device device) {
  if (auto valid = validate(config); !valid) return valid.error();
  Model model(blank(config, device));
  const at::NoGradGuard no_grad;
  std::uint64_t stream = 0;
  for (const auto& [name, view] : model.impl_->named(model.impl_->parameters())) {
    ++stream;
    if (view.dim() == 2) view.copy_(normal(view.sizes(), config.initializer_range, seed, stream));
  }
  return model;
}

Result<Model> Model::read(const std::filesystem::path& folder, Device device) {
  const auto config = read_config(folder);
  if (!config) return config.error();
  const auto tensors = read_safetensors(folder / "model.safetensors");
  if (!tensors) return tensors.error();
  Model model(blank(*config, device));
  if (auto assigned = model.assign(*tensors, (folder / "model.safetensors").string()); !assigned)
    return assigned.error();
  return model;
}

Result<void> Model::write(const std::filesystem::path& folder) const {
  if (auto written = write_config(folder, config()); !written) return written;
  return write_safetensors(folder / "model.safetensors", tensors());
}

Model Model::clone() const {
  Model copy(blank(config(), device()));
  const at::NoGradGuard no_grad;
  const auto from = impl_->parameters(), to = copy.impl_->parameters();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  return copy;
}

TensorMap Model::tensors() const {
  TensorMap out;
  for (const auto& [name, view] : impl_->named(impl_->parameters())) out.emplace(name, to_raw(view));
  return out;
}

Result<void> Model::assign(const TensorMap& tensors, std::string_view source) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, view] : impl_->named(impl_->parameters())) {
    const auto found = tensors.find(name);
    if (found == tensors.end())
      return Error{std::string(source) + " has no tensor " + name,
                   "config.json and model.safetensors must be of one model"};
    if (found->second.shape != view.sizes().vec())
      return Error{std::string(source) + ": tensor " + name + " has another shape than config.json says",
                   "config.json and model.safetensors must be of one model"};
    view.copy_(from_raw(found->second));
  }
  ++impl_->version;
  return {};
}

}  // namespace allot::training
