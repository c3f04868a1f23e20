#include "runtime/engine/active_policy.h"

#include <fmt/format.h>

#include "runtime/engine/disk.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/swap_files.h"
#include "runtime/engine/versions_folder.h"

namespace allot::engine {
namespace {

std::optional<ActiveVersion> announced_version(const std::filesystem::path& run) {
  const auto text = read_whole(SwapFiles(run).alive());
  const auto beat = text ? beat_from(*text) : std::nullopt;
  if (!beat || beat->policy.empty()) return std::nullopt;
  return ActiveVersion{beat->version, beat->policy, beat->parameters};
}

// None before the first barrier.
Result<std::optional<ActiveVersion>> written_version(const std::filesystem::path& run) {
  const auto text = read_whole(run / "state.json");
  if (!text) return std::optional<ActiveVersion>();
  auto read = read_saved_version(*text);
  if (!read) return read.error();
  return std::optional(*std::move(read));
}

}  // namespace

Result<ActiveVersion> active_version(const std::filesystem::path& run) {
  auto written = written_version(run);
  if (!written) return written.error();
  auto announced = announced_version(run);
  // Of two with the same number they are the same; a host that announces nothing may have gone on with the run.
  if (announced && (!*written || announced->number > (*written)->number)) return *std::move(announced);
  if (*written && !(*written)->hash.empty()) return **std::move(written);
  return Error{fmt::format("{} does not tell which policy is active: it has no state.json, or no policy.", run.string()),
               "name the policy to compare with: --against FILE"};
}

Result<std::shared_ptr<Policy>> active_policy(const std::filesystem::path& run) {
  const auto active = active_version(run);
  if (!active) return active.error();
  auto text = kept_text(run, active->hash);
  if (!text) return text.error();
  return load_policy(*text, active->parameters);
}

std::optional<ActiveVersion> version_since_barrier(const std::filesystem::path& run) {
  const auto written = written_version(run);
  if (!written) return std::nullopt;
  auto announced = announced_version(run);
  const int known = *written ? (*written)->number : 0;
  if (announced && announced->number > known) return announced;
  return std::nullopt;
}

}  // namespace allot::engine
