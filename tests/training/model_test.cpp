#include "runtime/training/model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/training/helpers.h"

using namespace allot::training;

namespace {

// Largest difference of our logits from those of `transformers`, on the folder of a peer's model.
void check_peer(const std::string& arguments) {
  const TemporaryFolder scratch;
  const std::string command = std::string(ALLOT_PYTHON_PROGRAM) + " " + ALLOT_SOURCE_DIR +
                              "/tests/training/make_qwen2.py " + scratch.path().string() + " " + arguments;
  REQUIRE(std::system(command.c_str()) == 0);
  const auto model = Model::read(scratch.path(), Device::Cpu);
  if (!model) FAIL(model.error().text());

  std::ifstream in(scratch.path() / "expected.txt");
  int sequences = 0;
  in >> sequences;
  REQUIRE(sequences > 0);
  for (int s = 0; s < sequences; ++s) {
    int length = 0;
    in >> length;
    std::vector<int> tokens(static_cast<std::size_t>(length));
    for (int& token : tokens) in >> token;
    const std::vector<float> ours = model->logits(tokens);
    double worst = 0, largest = 0;
    for (const float value : ours) {
      double theirs = 0;
      REQUIRE(in >> theirs);
      worst = std::max(worst, std::abs(theirs - value));
      largest = std::max(largest, std::abs(theirs));
    }
    INFO("sequence " << s << " of " << length << " tokens");
    CHECK(largest > 0.5);  // weights far from 0: agreement of two nearly constant functions would say nothing
    CHECK(worst < 1e-4);
  }
}

}  // namespace

TEST_CASE("Logits agree with transformers' Qwen2 on random weights", "[peer]") {
  // Peer: transformers.Qwen2ForCausalLM in float32, random weights, biases and norms too.
  SECTION("grouped queries, tied head") { check_peer("--heads 4 --kv-heads 2 --hidden 64 --tie"); }
  SECTION("one key-value head, own head, another rotary base") { check_peer("--heads 3 --kv-heads 1 --hidden 96 --theta 1000000"); }
}

TEST_CASE("A model is a function of its seed, and survives a round trip through its folder") {
  const TemporaryFolder scratch;
  ModelConfig config = small_config();
  SECTION("tied") { config.tie_embeddings = true; }
  SECTION("own head") { config.tie_embeddings = false; }
  const Model a = small_model(1, config), b = small_model(1, config), c = small_model(2, config);
  const std::vector<int> tokens = random_tokens(30, config.vocab_size, 5);
  CHECK(a.logits(tokens) == b.logits(tokens));
  CHECK(a.logits(tokens) != c.logits(tokens));
  REQUIRE(a.write(scratch.path()));
  const auto again = Model::read(scratch.path(), Device::Cpu);
  REQUIRE(again);
  CHECK(again->config() == config);
  CHECK(again->logits(tokens) == a.logits(tokens));
  CHECK(a.clone().logits(tokens) == a.logits(tokens));
}

TEST_CASE("A later token changes no earlier logits") {
  const Model model = small_model(4);
  const int vocabulary = model.config().vocab_size;
  std::vector<int> tokens = random_tokens(20, vocabulary, 6);
  const std::vector<float> before = model.logits(tokens);
  tokens.back() = (tokens.back() + 1) % vocabulary;
  const std::vector<float> after = model.logits(tokens);
  const std::size_t kept = 19 * static_cast<std::size_t>(vocabulary);
  for (std::size_t i = 0; i < kept; ++i) REQUIRE(before[i] == after[i]);
  CHECK(before != after);
}

TEST_CASE("Missing and misshapen tensors are named") {
  const TemporaryFolder scratch;
  const Model model = small_model(1);
  REQUIRE(model.write(scratch.path()));
  TensorMap tensors = model.tensors();
  const std::string name = "model.layers.1.self_attn.k_proj.weight";
  const auto refusal = [&] {
    REQUIRE(write_safetensors(scratch.path() / "model.safetensors", tensors));
    const auto result = Model::read(scratch.path(), Device::Cpu);
    return result ? std::string() : result.error().what;
  };
  CHECK(refusal().empty());
  tensors[name].shape = {24, 12};
  CHECK(refusal().find(name) != std::string::npos);
  tensors.erase(name);
  CHECK(refusal().find(name) != std::string::npos);
}

TEST_CASE("A device that is not there is refused") {
  CHECK(parse_device("cpu"));
  CHECK(parse_device("tpu").error().help.find("cuda") != std::string::npos);
}
