#include "runtime/training/run/run_folder.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/engine/disk.h"
#include "runtime/training/files.h"

namespace allot::training {
namespace {

using Json = nlohmann::ordered_json;

Error cannot_write(const std::filesystem::path& path) {
  return {"cannot write " + path.string(), "check the permissions and the free space of the run folder"};
}

Json turn_json(const RolloutTurn& turn, std::size_t index) {
  return {{"i", index},         {"obs", turn.observation},  {"action", turn.action}, {"raw", turn.raw},
          {"valid", turn.valid}, {"n_gen_tokens", turn.tokens}};
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json rollout_json(const Rollout& rollout, const engine::GroupResult* group, int iteration, int planned,
                  const PolicyStamp& policy, const std::string& run) {
  const auto sample = static_cast<std::size_t>(rollout.ref.sample);
  const bool told = group != nullptr && sample < group->rewards.size();
  const std::optional<double> trained_on = told ? group->rewards[sample] : rollout.reward;
  const bool trained = group != nullptr && group->fate == engine::Fate::Trained;
  Json turns = Json::array();
  for (std::size_t i = 0; i < rollout.turns.size(); ++i) turns.push_back(turn_json(rollout.turns[i], i));
  Json line = {{"schema", "rollout/1"},
               {"run_id", run},
               {"group_id", "g-" + std::to_string(rollout.ref.group)},
               {"prompt_id", rollout.prompt},
               {"sample_id", rollout.ref.sample},
               {"step", iteration},
               {"policy_version", {rollout.iteration, rollout.iteration}},
               {"planned", planned},
               {"status", std::string(engine::name(rollout.status))},
               {"rewards", {{"world", or_null(rollout.reward)}}},
               {"reward", or_null(trained_on)},
               {"n_gen_tokens", rollout.generated},
               {"n_turns", rollout.turns.size()},
               {"t_start", rollout.seconds_start},
               {"t_end", rollout.seconds_end},
               {"kept", trained}};
  if (group != nullptr && !group->reason.empty()) line["drop_reason"] = group->reason;
  if (rollout.status == engine::Status::Stopped && group != nullptr && !group->rule.empty() && !policy.name.empty())
    line["stop_rule"] = group->rule + " @" + (group->policy.empty() ? policy.hash : group->policy).substr(0, 12);
  if (!rollout.cause.empty()) line["finish_reason"] = rollout.cause;
  line["turns"] = std::move(turns);
  line["source"] = {{"format", "native"}, {"file", "rollouts.jsonl"}, {"line", nullptr}};
  line["extra"] = Json::object();
  return line;
}

// Keeps the lines whose `field` is below `first`; written beside the file and moved into its place.
Result<void> keep_before(const std::filesystem::path& path, const char* field, int first) {
  std::ifstream in(path);
  const std::filesystem::path beside = path.string() + ".new";
  std::ofstream out(beside);
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.value(field, first) < first) out << line << '\n';
  }
  out.close();
  if (!out) return cannot_write(path);
  return engine::put_in_place(beside, path);
}

}  // namespace

Result<void> check_resumable(const std::filesystem::path& arm) {
  std::error_code ignored;
  if (std::filesystem::exists(arm / "checkpoint", ignored)) return {};
  std::ifstream metrics(arm / "metrics.jsonl");
  int told = 0;
  for (std::string line; std::getline(metrics, line);) ++told;
  if (told == 0) return {};
  return Error{(arm / "checkpoint").string() + " is missing, but " + (arm / "metrics.jsonl").string() + " tells of " +
                   std::to_string(told) + (told == 1 ? " iteration" : " iterations"),
               "put the checkpoint folder back, or start a new run: this arm cannot go on where it was"};
}

RunFolder::RunFolder(std::filesystem::path path, std::ofstream metrics, std::ofstream rollouts,
                     TensorBoardWriter board)
    : path_(std::move(path)), metrics_(std::move(metrics)), rollouts_(std::move(rollouts)), board_(std::move(board)) {}

Result<RunFolder> RunFolder::open(const std::filesystem::path& path, bool resume) {
  if (!resume && std::filesystem::exists(path / "metrics.jsonl"))
    return Error{"the folder " + path.string() + " already holds a run",
                 "choose another --run, or continue that run with --resume"};
  if (auto made = engine::make_folders(path); !made) return made.error();
  std::ofstream metrics(path / "metrics.jsonl", std::ios::app);
  std::ofstream rollouts(path / "rollouts.jsonl", std::ios::app);
  if (!metrics || !rollouts) return cannot_write(path);
  auto board = TensorBoardWriter::open(path / "tensorboard", 0);
  if (!board) return board.error();
  return RunFolder(path, std::move(metrics), std::move(rollouts), *std::move(board));
}

Result<void> RunFolder::forget_from(int first) {
  metrics_.close();
  rollouts_.close();
  if (auto kept = keep_before(path_ / "metrics.jsonl", "iteration", first); !kept) return kept;
  if (auto kept = keep_before(path_ / "rollouts.jsonl", "step", first); !kept) return kept;
  metrics_.open(path_ / "metrics.jsonl", std::ios::app);
  rollouts_.open(path_ / "rollouts.jsonl", std::ios::app);
  if (!metrics_ || !rollouts_) return cannot_write(path_);
  return {};
}

Result<void> RunFolder::keep_policy(const std::filesystem::path& file, const PolicyStamp& stamp) {
  const auto copy = path_ / "policy.allot";
  std::error_code ignored;
  if (!std::filesystem::equivalent(file, copy, ignored)) {
    const auto text = read_file(file);
    if (!text) return text.error();
    if (auto written = engine::replace_file(copy, *text); !written) return written;
  }
  const Json json = {{"name", stamp.name}, {"sha256", stamp.hash}, {"file", file.filename().string()}};
  return engine::replace_file(path_ / "policy.json", json.dump(2) + "\n");
}

std::string RunFolder::kept_policy() const {
  std::ifstream in(path_ / "policy.json");
  const Json kept = Json::parse(in, nullptr, false);
  return kept.is_object() ? kept.value("sha256", std::string()) : std::string();
}

Result<void> RunFolder::metrics(int iteration, const std::map<std::string, double>& values, double seconds) {
  Json line = {{"iteration", iteration}, {"seconds", seconds}};
  for (const auto& [name, value] : values) {
    line[name] = value;
    board_.scalar(name, iteration, value, seconds);
  }
  metrics_ << line.dump() << '\n';
  board_.flush();
  if (!metrics_.flush()) return cannot_write(path_ / "metrics.jsonl");
  return {};
}

Result<void> RunFolder::rollouts(int iteration, const Collected& collected, int planned, const PolicyStamp& policy) {
  std::map<int, const engine::GroupResult*> groups;
  for (const auto& group : collected.groups) groups[group.group] = &group;
  const std::string run = path_.filename().string();
  for (const auto& rollout : collected.rollouts) {
    const auto found = groups.find(rollout.ref.group);
    const auto* group = found == groups.end() ? nullptr : found->second;
    rollouts_ << rollout_json(rollout, group, iteration, planned, policy, run).dump() << '\n';
  }
  if (!rollouts_.flush()) return cannot_write(path_ / "rollouts.jsonl");
  return {};
}

}  // namespace allot::training
