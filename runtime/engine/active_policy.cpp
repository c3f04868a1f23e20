#include "runtime/engine/active_policy.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/engine/disk.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/swap_files.h"
#include "runtime/engine/versions_folder.h"

namespace allot::engine {
namespace {

struct ToldVersion {
  ActiveVersion version;
  int segment = 0;  // of the journal, by then; 0: not told
};

std::optional<ToldVersion> announced_version(const std::filesystem::path& run) {
  const auto text = read_whole(SwapFiles(run).alive());
  const auto beat = text ? beat_from(*text) : std::nullopt;
  if (!beat || beat->policy.empty()) return std::nullopt;
  return ToldVersion{{beat->version, beat->policy, beat->parameters}, beat->segment};
}

// None before the first barrier.
Result<std::optional<ToldVersion>> written_version(const std::filesystem::path& run) {
  const auto text = read_whole(run / "state.json");
  if (!text) return std::optional<ToldVersion>();
  auto read = read_saved_version(*text);
  if (!read) return read.error();
  const auto mark = read_saved_mark(*text);
  return std::optional(ToldVersion{*std::move(read), mark ? mark->segment : 0});
}

// A host that announces nothing may have gone on with the run from its last barrier: it has its own segment of the journal.
// Else, of two with the same number they are the same.
bool is_later(const ToldVersion& announced, const std::optional<ToldVersion>& written) {
  if (!written) return true;
  const bool past = announced.segment > 0 && written->segment > announced.segment;
  return !past && announced.version.number > written->version.number;
}

}  // namespace

Result<ActiveVersion> active_version(const std::filesystem::path& run) {
  auto written = written_version(run);
  if (!written) return written.error();
  auto announced = announced_version(run);
  if (announced && is_later(*announced, *written)) return std::move(announced->version);
  if (*written && !(*written)->version.hash.empty()) return std::move((*written)->version);
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
  const bool begun = *written || (announced && announced->version.number > 0);  // version 0 was no swap
  if (announced && begun && is_later(*announced, *written)) return std::move(announced->version);
  return std::nullopt;
}

}  // namespace allot::engine
