#include "runtime/training/run/kept_options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/engine/disk.h"
#include "runtime/math/checksum.h"
#include "runtime/training/files.h"
#include "runtime/training/run/kept_policy.h"

namespace allot::training {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* settings_name = "settings.json";

// A place is the same from whichever folder it is named.
std::string place_of(const fs::path& path) {
  std::error_code ignored;
  return path.empty() ? "" : fs::weakly_canonical(path, ignored).string();
}

// What it says with all that it names, not where it lies. A followed file may be gone by a resume, and is not compared.
Result<std::string> policy_said(const RunOptions& o) {
  if (o.policy.empty() || (o.resume && follows_policy(o))) return std::string();
  auto hash = engine::policy_hash(o.policy);
  if (!hash) return hash.error();
  return "sha256 " + *hash;
}

Result<std::string> inputs_said(const RunOptions& o) {
  if (o.inputs.empty()) return std::string();
  auto text = read_file(o.inputs);
  if (!text) return text.error();
  return "sha256 " + math::sha256_hex(*text);
}

// Everything that changes a number, by the option that sets it.
Result<Json> settings_of(const RunOptions& o) {
  auto policy = policy_said(o);
  if (!policy) return policy.error();
  auto inputs = inputs_said(o);
  if (!inputs) return inputs.error();
  Json sets = Json::object();
  for (const auto& [name, value] : o.parameters) sets[name] = value;
  return Json{{"--world", o.world},
              {"--games", place_of(o.games)},
              {"--world-command", o.world_command},
              {"--turns", o.turn_limit},
              {"--policy", *policy},
              {"--set", std::move(sets)},
              {"--inputs", *inputs},
              {"--arms", o.arms},
              {"--seeds", o.seeds},
              {"--gate-turn", o.gate_turn},
              {"--shadow", o.shadow},
              {"--holdout", o.holdout},
              {"--pause-below", o.pause_below ? Json(*o.pause_below) : Json()},
              {"--on-fault", o.stop_on_fault ? "stop" : "default"},
              {"--slots", o.slots},
              {"--group-size", o.group_size},
              {"--tokens-per-turn", o.tokens_per_turn},
              {"--temperature", o.temperature},
              {"--top-p", o.top_p},
              {"--advantage", name(o.advantage.estimator)},
              {"--ddof", o.advantage.ddof},
              {"--advantage-eps", o.advantage.eps},
              {"--loss", name(o.update.loss.kind)},
              {"--aggregate", name(o.update.loss.aggregate)},
              {"--clip-low", o.update.loss.clip_low},
              {"--clip-high", o.update.loss.clip_high},
              {"--dual-clip", o.update.loss.dual_clip},
              {"--learning-rate", o.optimizer.learning_rate},
              {"--weight-decay", o.optimizer.weight_decay},
              {"--max-gradient-norm", o.optimizer.max_gradient_norm},
              {"--micro-tokens", o.update.micro_tokens},
              {"--demonstrations", o.demonstrations},
              {"--warm-up", o.warm_up_steps},
              {"--warm-up-batch", o.warm_up_batch},
              {"--warm-up-rate", o.warm_up_rate},
              {"--held-out", o.held_out},
              {"--model", place_of(o.model)},
              {"--hidden", o.shape.hidden_size},
              {"--intermediate", o.shape.intermediate_size},
              {"--layers", o.shape.layers},
              {"--heads", o.shape.heads},
              {"--kv-heads", o.shape.kv_heads},
              {"--max-positions", o.shape.max_positions},
              {"--device", o.device}};
}

std::string shown(const Json& value) {
  if (value.is_null() || value == "") return "not given";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// One line an option that differs.
std::string differences(const Json& kept, const Json& now) {
  std::string text;
  for (const auto& [option, value] : now.items()) {
    const Json before = kept.value(option, Json());
    if (before != value) text += fmt::format("\n  {}: the run has {}, now it is {}", option, shown(before), shown(value));
  }
  return text;
}

Result<Json> read_settings(const fs::path& file) {
  auto text = read_file(file);
  if (!text) return text.error();
  try {
    Json kept = Json::parse(*text);
    (void)kept.at("--world");  // throws where this is no object, or another program's
    return kept;
  } catch (const Json::exception& problem) {
    return damaged(file, *text, problem, "without it nobody can tell whether the options are those of the run: start a new run");
  }
}

Result<void> check_resumed(const RunOptions& options, const fs::path& run) {
  std::error_code ignored;
  if (!fs::is_directory(run, ignored))
    return Error{"there is no run to resume at " + run.string(), "without --resume a new run begins there"};
  if (!fs::exists(run / settings_name, ignored))
    return Error{fmt::format("{} cannot be resumed: it has no {}", run.string(), settings_name),
                 "give the folder that `allot train` named at its end, or start a new run"};
  auto kept = read_settings(run / settings_name);
  if (!kept) return kept.error();
  auto now = settings_of(options);
  if (!now) return now.error();
  // Through text and back, as the kept ones went: infinity is null there.
  Json given = Json::parse(now->dump());
  // A policy that the run was swapped to is one of its own, and what it names may be edited too: the run goes on under what
  // its folder keeps.
  if (follows_policy(options) || engine::is_kept(options.policy, kept_policies(run))) given["--policy"] = (*kept)["--policy"];
  if (const auto text = differences(*kept, given); !text.empty())
    return Error{"the run at " + run.string() + " was made with other options:" + text,
                 "resume with the options of the run (--iterations may grow), or choose another --run"};
  return {};
}

// Settings and the lock alone are what a run leaves that was refused before it began; such a folder is free.
Result<void> check_free(const fs::path& run) {
  std::error_code error;
  if (!fs::exists(run, error)) return {};
  if (!fs::is_directory(run, error))
    return Error{run.string() + " is a file, no folder for a run", "choose another --run"};
  bool settings = false;
  std::string other;
  for (const auto& entry : fs::directory_iterator(run, error)) {
    const std::string name = entry.path().filename().string();
    settings = settings || name == settings_name;
    if (name != settings_name && name != run_lock_name) other = name;
  }
  if (error) return Error{"cannot list " + run.string() + ": " + error.message(), "check its permissions"};
  if (other.empty()) return {};
  if (settings)
    return Error{"the folder " + run.string() + " already holds a run",
                 "choose another --run, or continue that run with --resume"};
  return Error{fmt::format("the folder {} is not empty and is no run: it holds {}", run.string(), other),
               "choose a --run that does not exist yet, or an empty folder"};
}

}  // namespace

bool follows_policy(const RunOptions& options) { return !options.watch.empty() && place_of(options.watch) == place_of(options.policy); }

Result<void> claim_run(const RunOptions& options, const fs::path& run) {
  if (options.resume) return check_resumed(options, run);
  if (auto free = check_free(run); !free) return free;
  auto settings = settings_of(options);
  if (!settings) return settings.error();
  if (auto made = engine::make_folders(run); !made)
    return Error{made.error().what, "choose another --run, or check the permissions above it"};
  return engine::replace_file(run / settings_name, settings->dump(2) + "\n");
}

}  // namespace allot::training
