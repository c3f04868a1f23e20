#include "runtime/training/checkpoint.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <optional>

#include "tests/training/helpers.h"

using namespace allot::training;

namespace {

Tokenizer words() { return Tokenizer::from_words(std::vector<std::string>{"go to drawer 1", "take the mug"}); }

std::vector<TrainSequence> batch(const Model& model, std::uint64_t seed) {
  return {random_sequence(model, 3, seed, 0.7), random_sequence(model, 2, seed + 1, -0.7)};
}

std::string file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("A run that resumes goes on with the same numbers") {
  const TemporaryFolder scratch;
  const auto folder = scratch.path() / "checkpoint";
  const Model data = small_model(1);  // rollouts do not depend on the model under training
  Model model = small_model(2);
  Trainer trainer(model, {});
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(trainer.update(batch(data, 10 * i), {}));
  REQUIRE(write_checkpoint(folder, trainer, words(), {3, {{"sampling", 42}}, R"({"policy":"x"})"}));
  for (std::uint64_t i = 3; i < 6; ++i) REQUIRE(trainer.update(batch(data, 10 * i), {}));

  auto loaded = read_checkpoint(folder, Device::Cpu);
  if (!loaded) FAIL(loaded.error().text());
  CHECK(loaded->state.iteration == 3);
  CHECK(loaded->state.counters.at("sampling") == 42);
  CHECK(loaded->state.record == R"({"policy":"x"})");
  CHECK(loaded->tokenizer.encode("take the mug") == words().encode("take the mug"));
  Trainer second(loaded->model, {});
  REQUIRE(second.load_optimizer_state(loaded->optimizer, loaded->optimizer_steps));
  for (std::uint64_t i = 3; i < 6; ++i) REQUIRE(second.update(batch(data, 10 * i), {}));
  CHECK(second.steps() == trainer.steps());
  const auto a = model.tensors(), b = loaded->model.tensors();
  for (const auto& [name, tensor] : a) {
    INFO(name);
    CHECK(tensor.bytes == b.at(name).bytes);
  }
}

TEST_CASE("A checkpoint is replaced in one move and leaves nothing beside it") {
  const TemporaryFolder scratch;
  const auto folder = scratch.path() / "checkpoint";
  Model model = small_model(2);
  Trainer trainer(model, {});
  REQUIRE(write_checkpoint(folder, trainer, words(), {1, {}, ""}));
  const std::string first = file(folder / "model.safetensors");
  REQUIRE(trainer.update(batch(model, 1), {}));
  REQUIRE(write_checkpoint(folder, trainer, words(), {2, {}, ""}));
  CHECK(file(folder / "model.safetensors") != first);
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("A write that fails leaves the old checkpoint") {
  const TemporaryFolder scratch;
  Model model = small_model(2);
  const Trainer trainer(model, {});
  // A plain file stands where a folder must be made.
  std::ofstream(scratch.path() / "file") << "x";
  const auto result = write_checkpoint(scratch.path() / "file" / "checkpoint", trainer, words(), {});
  REQUIRE_FALSE(result);
  CHECK_FALSE(result.error().help.empty());
  CHECK(file(scratch.path() / "file") == "x");
}

TEST_CASE("Missing and damaged parts are named, with what to do") {
  const TemporaryFolder scratch;
  const auto folder = scratch.path() / "checkpoint";
  CHECK(read_checkpoint(folder, Device::Cpu).error().what.find("no checkpoint folder") != std::string::npos);
  Model model = small_model(2);
  const Trainer trainer(model, {});
  for (const char* name : {"config.json", "model.safetensors", "tokenizer.json", "optimizer.safetensors", "training.json"}) {
    INFO(name);
    REQUIRE(write_checkpoint(folder, trainer, words(), {}));
    const std::string whole = file(folder / name);
    std::filesystem::remove(folder / name);
    const auto missing = read_checkpoint(folder, Device::Cpu);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().what.find(name) != std::string::npos);
    CHECK_FALSE(missing.error().help.empty());
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, whole.size() / 2, whole.size() - 2}) {
      std::ofstream(folder / name, std::ios::binary) << whole.substr(0, size);
      const auto cut = read_checkpoint(folder, Device::Cpu);
      REQUIRE_FALSE(cut);
      CHECK(cut.error().what.find(name) != std::string::npos);
      CHECK_FALSE(cut.error().help.empty());
    }
  }
}

TEST_CASE("A single byte that changed is noticed, wherever it is") {
  const TemporaryFolder scratch;
  const auto folder = scratch.path() / "checkpoint";
  Model model = small_model(2);
  const Trainer trainer(model, {});
  REQUIRE(write_checkpoint(folder, trainer, words(), {}));
  for (const char* name : {"config.json", "model.safetensors", "tokenizer.json", "optimizer.safetensors"}) {
    const std::string whole = file(folder / name);
    for (std::size_t part = 0; part < 9; ++part) {
      std::string changed = whole;
      changed[std::min(part * whole.size() / 8, whole.size() - 1)] ^= 1;
      std::ofstream(folder / name, std::ios::binary) << changed;
      INFO(name << ", part " << part);
      const auto read = read_checkpoint(folder, Device::Cpu);
      REQUIRE_FALSE(read);
      CHECK(read.error().what.find(name) != std::string::npos);
    }
    std::ofstream(folder / name, std::ios::binary) << whole;
  }
  CHECK(read_checkpoint(folder, Device::Cpu));
}

TEST_CASE("What a killed process left of a checkpoint goes with the next one") {
  const TemporaryFolder scratch;
  const auto remains = scratch.path() / "checkpoint.tmp-1";
  std::filesystem::create_directories(remains);
  std::ofstream(remains / "model.safetensors") << "half";
  std::filesystem::create_directories(scratch.path() / "warm-up.tmp-1");
  Model model = small_model(2);
  const Trainer trainer(model, {});
  REQUIRE(write_checkpoint(scratch.path() / "checkpoint", trainer, words(), {}));
  CHECK_FALSE(std::filesystem::exists(remains));
  CHECK(std::filesystem::exists(scratch.path() / "warm-up.tmp-1"));
}
