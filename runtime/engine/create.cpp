#include "runtime/engine/live_engine.h"
#include "runtime/engine/versions_folder.h"

namespace allot::engine {
namespace {

Result<std::shared_ptr<Policy>> policy_of(const Settings& settings) {
  if (settings.kept_policy.empty()) return load_policy(settings.policy, settings.parameters);
  const auto text = kept_text(settings.run_folder, settings.kept_policy);
  if (!text) return text.error();
  return load_policy(*text, settings.parameters);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::create(const Settings& settings) {
  std::shared_ptr<Policy> policy;
  if (!settings.policy.empty() || !settings.kept_policy.empty()) {
    auto loaded = policy_of(settings);
    if (!loaded) return loaded.error();
    policy = *std::move(loaded);
#ifdef ALLOT_HAS_NATIVE
    if (settings.native) {
      policy->compile_in_background([](const lang::Program& program) { return compiler::compile(program); });
    }
#endif
  }
  auto engine = LiveEngine::create(settings, std::move(policy));
  if (!engine) return engine.error();
  return std::unique_ptr<Engine>(*std::move(engine));
}

}  // namespace allot::engine
