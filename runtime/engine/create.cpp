// What a run is begun with: looked at, then kept.
#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/versions_folder.h"

namespace allot::engine {
namespace {

Result<std::shared_ptr<Policy>> policy_of(const Settings& settings) {
  if (settings.policy_text) return load_policy(*settings.policy_text, settings.parameters);
  if (settings.kept_policy.empty()) return load_policy(settings.policy, settings.parameters);
  const auto text = kept_text(settings.run_folder, settings.kept_policy);
  if (!text) return text.error();
  return load_policy(*text, settings.parameters);
}

std::optional<Error> check_settings(const Settings& settings) {
  const auto at_least_one = [](const char* name, int value) -> std::optional<Error> {
    if (value >= 1) return std::nullopt;
    return Error{fmt::format("{} is {}, but it must be 1 or more.", name, value), ""};
  };
  if (auto error = at_least_one("slots", settings.slots)) return error;
  if (auto error = at_least_one("group_size", settings.group_size)) return error;
  if (auto error = at_least_one("turn_limit", settings.turn_limit)) return error;
  if (auto error = at_least_one("tokens_per_turn", settings.tokens_per_turn)) return error;
  if (!(settings.holdout >= 0 && settings.holdout <= 1)) {
    return Error{fmt::format("holdout is {}, but it is a share from 0 to 1.", settings.holdout), ""};
  }
  if (settings.pause_below && !(*settings.pause_below >= 0 && *settings.pause_below <= 1)) {
    return Error{fmt::format("pause_below is {}, but it is a share from 0 to 1.", *settings.pause_below), ""};
  }
  return std::nullopt;
}

}  // namespace

LiveEngine::LiveEngine(const Settings& settings, std::shared_ptr<Policy> policy)
    : settings_(settings),
      trust_(settings.holdout, settings.pause_below, settings.seed),
      last_event_(now()) {
  if (!policy) return;
  swaps_.current = std::make_shared<Version>(0, std::move(policy));
  keep_origin(*swaps_.current);
  enter(swaps_.current);
  ledger_ = Ledger(policy_->program(), policy_->parameters(), settings.tokens_per_turn, !settings.shadow);
  store_ = StateStore(policy_->program());
}

Result<std::unique_ptr<LiveEngine>> LiveEngine::create(const Settings& settings, std::shared_ptr<Policy> policy) {
  if (auto error = check_settings(settings)) return *error;
  if (policy) {
    auto fits = check_points(policy->program(), policy->parameters(), settings.turn_limit, settings.host);
    if (!fits) return fits.error();
  }
  Settings complete = settings;
  if (!settings.input_file.empty()) {
    auto read = read_inputs(settings.input_file);
    if (!read) return read.error();
    complete.inputs.merge(*std::move(read));
  }
  if (policy) {
    if (auto fits = check_inputs(policy->program(), complete.inputs); !fits) return fits.error();
  }
  std::unique_ptr<LiveEngine> engine(new LiveEngine(complete, std::move(policy)));
  if (engine->policy_) supply(engine->policy_->program(), complete.inputs, engine->store_);
  if (!settings.run_folder.empty()) {
    auto lock = RunLock::take(settings.run_folder, "engine.lock");
    if (!lock) return lock.error();
    engine->run_lock_ = *std::move(lock);
    if (auto kept = keep_text(settings.run_folder, engine->policy_.get()); !kept) return kept.error();
    auto audit = Audit::open(complete, engine->policy_.get());
    if (!audit) return audit.error();
    engine->audit_ = *std::move(audit);
  }
  if (!settings.run_folder.empty()) {
    std::error_code ignored;
    engine->unrestored_ = std::filesystem::exists(settings.run_folder / "state.json", ignored);
    engine->files_ = std::make_shared<StateFiles>(settings.run_folder);
  }
  engine->head_ = std::make_shared<const HeadText>(engine->make_head());
  engine->publish();
  return engine;
}

Result<std::unique_ptr<Engine>> Engine::create(const Settings& settings) {
  std::shared_ptr<Policy> policy;
  if (!settings.policy.empty() || !settings.kept_policy.empty() || settings.policy_text) {
    auto loaded = policy_of(settings);
    if (!loaded) return loaded.error();
    policy = *std::move(loaded);
    if (settings.native) compile_natively(*policy);
  }
  auto engine = LiveEngine::create(settings, std::move(policy));
  if (!engine) return engine.error();
  return std::unique_ptr<Engine>(*std::move(engine));
}

}  // namespace allot::engine
