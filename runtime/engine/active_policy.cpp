#include "runtime/engine/active_policy.h"

#include <fmt/format.h>

#include "runtime/engine/snapshot.h"
#include "runtime/engine/swap_files.h"
#include "runtime/engine/versions_folder.h"

namespace allot::engine {

Result<std::shared_ptr<Policy>> active_policy(const std::filesystem::path& run) {
  std::string hash;
  std::map<std::string, std::string> parameters;
  if (const auto state = read_whole(run / "state.json")) {
    auto saved = read_saved_policy(*state);
    if (!saved) return saved.error();
    hash = saved->hash;
    parameters = saved->parameters;
  } else if (const auto text = read_whole(SwapFiles(run).alive())) {
    if (const auto beat = beat_from(*text)) hash = beat->policy;
  }
  if (hash.empty()) {
    return Error{fmt::format("{} does not tell which policy is active: it has no state.json, or no policy.", run.string()),
                 "name the policy to compare with: --against FILE"};
  }
  auto text = kept_text(run, hash);
  if (!text) return text.error();
  return load_policy(*text, parameters);
}

}  // namespace allot::engine
