// An arm as it stands between two iterations: weights, optimizer, engine and what is counted, as one unit.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/training/checkpoint.h"
#include "runtime/training/files.h"
#include "runtime/training/run/arm.h"

namespace allot::training {

Result<void> Arm::save() {
  const int change = engine_->saved_change();  // before its state is taken: never ahead of that
  TrainingState state;
  state.iteration = iteration_;
  state.record = nlohmann::json{{"seed", setting_.seed},
                                {"arm", tally_.name},
                                {"tally", training::save(tally_)},
                                {"pool", pool_.save()},
                                {"waiting", training::save(waiting_)},
                                {"stored", training::save(stored_)},
                                {"owed_stops", owed_stops_},
                                {"last_stops", last_stops_}}
                     .dump();
  const auto add_engine = [&](const std::filesystem::path& folder) -> Result<void> {
    std::error_code problem;
    std::filesystem::create_directory(folder / "engine", problem);
    if (problem) return Error{"cannot make the folder " + (folder / "engine").string() + ": " + problem.message(), ""};
    return engine_->save_state_in(folder / "engine");
  };
  auto written = write_checkpoint(folder_.path() / "checkpoint", *trainer_, *setting_.tokenizer, state, add_engine);
  if (written && desk_) desk_->saved(change);
  return written;
}

Result<void> Arm::load() {
  auto checkpoint = read_checkpoint(folder_.path() / "checkpoint", model_.device());
  if (!checkpoint) return checkpoint.error();
  if (auto assigned = model_.assign(checkpoint->model.tensors(), "checkpoint"); !assigned) return assigned;
  if (auto loaded = trainer_->load_optimizer_state(checkpoint->optimizer, checkpoint->optimizer_steps); !loaded)
    return loaded;
  iteration_ = static_cast<int>(checkpoint->state.iteration);
  const std::string& text = checkpoint->state.record;
  try {
    const auto record = nlohmann::json::parse(text);
    if (record.value("seed", setting_.seed) != setting_.seed || record.value("arm", tally_.name) != tally_.name)
      return Error{fmt::format("The checkpoint in {} is of arm {} of seed {}, not of {} of seed {}.", folder_.path().string(),
                               record.at("arm").get<std::string>(), record.at("seed").get<std::uint64_t>(), tally_.name, setting_.seed),
                   "put back its own checkpoint folder, or start a new run"};
    tally_ = restore_tally(record.at("tally"));
    pool_.restore(record.at("pool"));
    owed_stops_ = record.at("owed_stops");
    last_stops_ = record.at("last_stops");
    waiting_ = restore_rollouts(record.at("waiting"));
    stored_ = restore_groups(record.at("stored"));
    // An older program kept the engine's state in the record.
    return record.contains("engine") ? engine_->restore(record.at("engine").get<std::string>())
                                     : engine_->restore_from(folder_.path() / "checkpoint" / "engine");
  } catch (const nlohmann::json::exception& problem) {
    return damaged(folder_.path() / "checkpoint" / "training.json", text, problem,
                   "put back a copy of the checkpoint folder, or start a new run");
  }
}

}  // namespace allot::training
