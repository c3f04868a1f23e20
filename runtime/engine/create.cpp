#include "runtime/engine/live_engine.h"

namespace allot::engine {

Result<std::unique_ptr<Engine>> Engine::create(const Settings& settings) {
  std::shared_ptr<Policy> policy;
  if (!settings.policy.empty()) {
    auto loaded = load_policy(settings.policy, settings.parameters);
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
