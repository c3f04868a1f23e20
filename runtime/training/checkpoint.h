// A folder from which a run goes on with the same numbers.
//
//   config.json, model.safetensors, tokenizer.json   the model, in the usual form: other tools read these
//   optimizer.safetensors                            AdamW's moments
//   training.json                                    iteration, optimiser steps, counters, the driver's own record
//   and what the driver adds
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "common/result.h"
#include "runtime/training/model.h"
#include "runtime/training/tokenizer.h"
#include "runtime/training/update.h"

namespace allot::training {

struct TrainingState {
  std::int64_t iteration = 0;
  std::map<std::string, std::uint64_t> counters;  // positions of the random streams, by name
  std::string record;                             // whatever the driver wants to find again, valid UTF-8
};

// Written to a temporary name beside `folder` and moved into its place: an interrupted or failed write leaves the old
// checkpoint as it was, and the new one is on disk when this returns. `add` puts more into the folder, on disk too, under
// whatever name it has then.
using AddToCheckpoint = std::function<Result<void>(const std::filesystem::path& folder)>;
Result<void> write_checkpoint(const std::filesystem::path& folder, const Trainer& trainer, const Tokenizer& tokenizer,
                              const TrainingState& state, const AddToCheckpoint& add = {});

struct Checkpoint {
  Model model;
  Tokenizer tokenizer;
  TensorMap optimizer;  // for Trainer::load_optimizer_state, once a trainer stands on `model`
  std::int64_t optimizer_steps = 0;
  TrainingState state;
};

// Errors name the file that is missing, cut short or does not fit the others.
Result<Checkpoint> read_checkpoint(const std::filesystem::path& folder, Device device);

// Only model and tokenizer, for a start from somebody else's folder.
struct ModelFolder {
  Model model;
  Tokenizer tokenizer;
};
Result<ModelFolder> read_model_folder(const std::filesystem::path& folder, Device device);

}  // namespace allot::training
