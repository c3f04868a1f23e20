#include "runtime/training/config.h"

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/engine/disk.h"
#include "runtime/training/files.h"

namespace allot::training {
namespace {

using nlohmann::json;

Error refused(const std::string& what, const std::string& help) { return Error{"config.json: " + what, help}; }

// Newer writers nest the rotary settings; older ones keep `rope_theta` at the top.
Result<double> rope_theta(const json& root) {
  for (const char* name : {"rope_parameters", "rope_scaling"}) {
    const auto found = root.find(name);
    if (found == root.end() || !found->is_object()) continue;
    const std::string type = found->value("rope_type", found->value("type", std::string("default")));
    if (type != "default")
      return refused("rotary embedding of type \"" + type + "\" is not supported",
                     "use a model with rope_type default");
    if (found->contains("rope_theta")) return found->at("rope_theta").get<double>();
  }
  return root.value("rope_theta", 10000.0);
}

Result<ModelConfig> parse(const json& root) {
  const std::string type = root.value("model_type", std::string("(none)"));
  if (type != "qwen2") return refused("model_type is \"" + type + "\"", "only the qwen2 architecture is supported");
  if (root.value("use_sliding_window", false))
    return refused("use_sliding_window is true", "sliding-window attention is not supported");
  if (const std::string act = root.value("hidden_act", std::string("silu")); act != "silu")
    return refused("hidden_act is \"" + act + "\"", "only silu is supported");
  const auto theta = rope_theta(root);
  if (!theta) return theta.error();

  ModelConfig config;
  config.vocab_size = root.at("vocab_size").get<int>();
  config.hidden_size = root.at("hidden_size").get<int>();
  config.intermediate_size = root.at("intermediate_size").get<int>();
  config.layers = root.at("num_hidden_layers").get<int>();
  config.heads = root.at("num_attention_heads").get<int>();
  config.kv_heads = root.value("num_key_value_heads", config.heads);
  config.max_positions = root.value("max_position_embeddings", config.max_positions);
  config.rope_theta = *theta;
  config.rms_norm_eps = root.value("rms_norm_eps", config.rms_norm_eps);
  config.initializer_range = root.value("initializer_range", config.initializer_range);
  config.tie_embeddings = root.value("tie_word_embeddings", false);
  if (const auto head = root.find("head_dim"); head != root.end() && head->is_number() &&
                                               config.heads > 0 && head->get<int>() != config.head_size())
    return refused("head_dim differs from hidden_size / num_attention_heads", "such models are not supported");
  if (auto valid = validate(config); !valid) return valid.error();
  return config;
}

}  // namespace

std::int64_t ModelConfig::parameter_count() const {
  const std::int64_t d = hidden_size, kv = std::int64_t{kv_heads} * head_size(), ff = intermediate_size;
  const std::int64_t layer = 2 * d + d * d + d + 2 * (d * kv + kv) + d * d + 3 * d * ff;
  return layers * layer + d + d * vocab_size * (tie_embeddings ? 1 : 2);
}

Result<void> validate(const ModelConfig& c) {
  const struct {
    const char* name;
    double value;
  } positive[] = {{"vocab_size", double(c.vocab_size)},   {"hidden_size", double(c.hidden_size)},
                  {"intermediate_size", double(c.intermediate_size)}, {"num_hidden_layers", double(c.layers)},
                  {"num_attention_heads", double(c.heads)}, {"num_key_value_heads", double(c.kv_heads)},
                  {"max_position_embeddings", double(c.max_positions)}, {"rope_theta", c.rope_theta},
                  {"rms_norm_eps", c.rms_norm_eps}};
  for (const auto& [name, value] : positive)
    if (!(value > 0)) return refused(std::string(name) + " must be greater than 0", "check the model's sizes");
  if (c.hidden_size % c.heads != 0)
    return refused("hidden_size " + std::to_string(c.hidden_size) + " does not divide by the " +
                       std::to_string(c.heads) + " attention heads",
                   "choose a hidden size that is a multiple of the number of heads");
  if (c.heads % c.kv_heads != 0)
    return refused("the " + std::to_string(c.heads) + " attention heads do not divide by the " +
                       std::to_string(c.kv_heads) + " key-value heads",
                   "choose a number of key-value heads that divides the number of heads");
  if (c.head_size() % 2 != 0)
    return refused("the size of one head, " + std::to_string(c.head_size()) + ", is odd",
                   "rotary embedding works on pairs: choose an even head size");
  return {};
}

Result<ModelConfig> read_config(const std::filesystem::path& folder) {
  const auto text = read_file(folder / "config.json");
  if (!text) return text.error();
  try {
    return parse(json::parse(*text));
  } catch (const json::exception& problem) {
    return damaged(folder / "config.json", *text, problem, "take the file again from where the model came from");
  }
}

Result<void> write_config(const std::filesystem::path& folder, const ModelConfig& c) {
  const json root = {
      {"architectures", {"Qwen2ForCausalLM"}},
      {"model_type", "qwen2"},
      {"attention_dropout", 0.0},
      {"hidden_act", "silu"},
      {"hidden_size", c.hidden_size},
      {"initializer_range", c.initializer_range},
      {"intermediate_size", c.intermediate_size},
      {"max_position_embeddings", c.max_positions},
      {"num_attention_heads", c.heads},
      {"num_hidden_layers", c.layers},
      {"num_key_value_heads", c.kv_heads},
      {"rms_norm_eps", c.rms_norm_eps},
      {"rope_parameters", {{"rope_theta", c.rope_theta}, {"rope_type", "default"}}},
      {"rope_theta", c.rope_theta},
      {"tie_word_embeddings", c.tie_embeddings},
      {"torch_dtype", "float32"},
      {"use_cache", true},
      {"use_sliding_window", false},
      {"vocab_size", c.vocab_size},
  };
  return engine::replace_file(folder / "config.json", root.dump(2) + "\n");
}

}  // namespace allot::training
