#include "runtime/training/config.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace allot::training;

namespace {

struct Scratch {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("allot-cfg-" + std::to_string(::getpid()));
  Scratch() { std::filesystem::create_directories(folder); }
  ~Scratch() { std::filesystem::remove_all(folder); }
};

}  // namespace

TEST_CASE("config.json is written and read") {
  const Scratch scratch;
  ModelConfig c;
  c.vocab_size = 321, c.heads = 6, c.kv_heads = 2, c.hidden_size = 96, c.rope_theta = 5e5, c.tie_embeddings = false;
  REQUIRE(write_config(scratch.folder, c));
  const auto again = read_config(scratch.folder);
  REQUIRE(again);
  CHECK(*again == c);
}

TEST_CASE("What would compute something else is refused by name") {
  const Scratch scratch;
  ModelConfig c;
  c.vocab_size = 10;
  REQUIRE(write_config(scratch.folder, c));
  std::ifstream in(scratch.folder / "config.json");
  const nlohmann::json good = nlohmann::json::parse(in);
  const auto refusal = [&](const char* key, nlohmann::json value) {
    nlohmann::json changed = good;
    changed[key] = std::move(value);
    std::ofstream(scratch.folder / "config.json") << changed.dump();
    const auto result = read_config(scratch.folder);
    return result ? std::string() : result.error().what;
  };
  CHECK(refusal("model_type", "llama").find("llama") != std::string::npos);
  CHECK(refusal("hidden_act", "gelu").find("gelu") != std::string::npos);
  CHECK(refusal("use_sliding_window", true).find("sliding") != std::string::npos);
  CHECK(refusal("rope_parameters", {{"rope_type", "yarn"}}).find("yarn") != std::string::npos);
  CHECK(refusal("num_attention_heads", 5).find("divide") != std::string::npos);
  CHECK(refusal("num_key_value_heads", 2).find("key-value") != std::string::npos);
  CHECK(refusal("hidden_size", 9).find("odd") != std::string::npos);
  CHECK(refusal("num_hidden_layers", 0).find("num_hidden_layers") != std::string::npos);
  CHECK_FALSE(refusal("hidden_size", "many").empty());
}
