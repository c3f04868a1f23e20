#include "runtime/training/checkpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "runtime/engine/disk.h"
#include "runtime/math/checksum.h"
#include "runtime/training/files.h"

namespace allot::training {
namespace {

using nlohmann::json;

constexpr std::array summed = {"config.json", "model.safetensors", "tokenizer.json", "optimizer.safetensors"};

Result<std::string> sum_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::uint32_t sum = 0;
  std::vector<char> part(1 << 20);
  while (stream.read(part.data(), static_cast<std::streamsize>(part.size())) || stream.gcount() > 0)
    sum = math::crc32c({part.data(), static_cast<std::size_t>(stream.gcount())}, sum);
  if (!stream.eof()) return Error{"cannot read " + file.string(), "check that the checkpoint is whole"};
  return fmt::format("{:08x}", sum);
}

// A bit that flipped in a weight would be a weight like any other. Earlier versions wrote no sums.
Result<void> check_sums(const std::filesystem::path& folder, const json& root) {
  if (!root.contains("sums")) return {};
  for (const auto& [name, sum] : root.at("sums").items()) {
    const auto found = sum_of(folder / name);
    if (!found) return found.error();
    if (*found != sum.get<std::string>())
      return Error{(folder / name).string() + " is damaged: it is not what was written with this checkpoint",
                   "put back a copy of the checkpoint folder, or start a new run"};
  }
  return {};
}

// Of processes that were killed while they wrote one. The run is this process's alone.
void remove_remains(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::string prefix = folder.filename().string() + ".tmp-";
  std::vector<std::filesystem::path> remains;
  for (const auto& entry : std::filesystem::directory_iterator(folder.parent_path(), ignored))
    if (entry.path().filename().string().starts_with(prefix)) remains.push_back(entry.path());
  for (const auto& path : remains) std::filesystem::remove_all(path, ignored);
}

Result<void> write_parts(const std::filesystem::path& folder, const Trainer& trainer, const Tokenizer& tokenizer,
                         const TrainingState& state) {
  if (auto written = trainer.model().write(folder); !written) return written;
  if (auto written = tokenizer.write(folder); !written) return written;
  if (auto written = write_safetensors(folder / "optimizer.safetensors", trainer.optimizer_state()); !written)
    return written;
  json sums;
  for (const char* const name : summed) {
    auto sum = sum_of(folder / name);
    if (!sum) return sum.error();
    sums[name] = *std::move(sum);
  }
  const json root = {{"format", 1},
                     {"sums", std::move(sums)},
                     {"iteration", state.iteration},
                     {"optimizer_steps", trainer.steps()},
                     {"counters", state.counters},
                     {"record", state.record}};
  return engine::replace_file(folder / "training.json", root.dump(2) + "\n");
}

}  // namespace

Result<void> write_checkpoint(const std::filesystem::path& folder, const Trainer& trainer, const Tokenizer& tokenizer,
                              const TrainingState& state, const AddToCheckpoint& add) {
  const std::filesystem::path temporary = folder.string() + ".tmp-" + std::to_string(::getpid());
  std::error_code problem;
  remove_remains(folder);
  std::filesystem::create_directories(temporary, problem);
  if (problem)
    return Error{"cannot make the folder " + temporary.string() + ": " + problem.message(),
                 "check that the place exists, may be written to and has space"};
  auto written = write_parts(temporary, trainer, tokenizer, state);
  if (written && add) written = add(temporary);
  if (written) written = engine::replace_folder(temporary, folder);
  if (!written) std::filesystem::remove_all(temporary, problem);
  return written;
}

Result<ModelFolder> read_model_folder(const std::filesystem::path& folder, Device device) {
  if (!std::filesystem::is_directory(folder))
    return Error{"there is no checkpoint folder " + folder.string(), "check the path, or start without one"};
  auto model = Model::read(folder, device);
  if (!model) return model.error();
  auto tokenizer = Tokenizer::read(folder);
  if (!tokenizer) return tokenizer.error();
  if (tokenizer->size() > model->config().vocab_size)
    return Error{folder.string() + ": tokenizer.json has " + std::to_string(tokenizer->size()) +
                     " tokens, the model only " + std::to_string(model->config().vocab_size),
                 "tokenizer.json and model.safetensors must be of one checkpoint"};
  return ModelFolder{*std::move(model), *std::move(tokenizer)};
}

Result<Checkpoint> read_checkpoint(const std::filesystem::path& folder, Device device) {
  auto base = read_model_folder(folder, device);
  if (!base) return base.error();
  auto optimizer = read_safetensors(folder / "optimizer.safetensors");
  if (!optimizer) return optimizer.error();
  const auto text = read_file(folder / "training.json");
  if (!text) return text.error();
  try {
    const json root = json::parse(*text);
    if (auto whole = check_sums(folder, root); !whole) return whole.error();
    TrainingState state{root.at("iteration").get<std::int64_t>(),
                        root.at("counters").get<std::map<std::string, std::uint64_t>>(),
                        root.at("record").get<std::string>()};
    return Checkpoint{std::move(base->model), std::move(base->tokenizer), *std::move(optimizer),
                      root.at("optimizer_steps").get<std::int64_t>(), std::move(state)};
  } catch (const json::exception& problem) {
    return damaged(folder / "training.json", *text, problem, "put back a copy of the checkpoint folder, or start a new run");
  }
}

}  // namespace allot::training
