#include "runtime/cli/run_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace allot::cli {

namespace fs = std::filesystem;

namespace {

constexpr int depth_of_arms = 2;  // RUN/seed/arm/journal
constexpr std::size_t most_named = 5;

// What `allot train` made: a run, or the folder of one of its seeds.
bool has_arms(const fs::path& folder) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(folder, ignored);
  const auto is_run = [&](const fs::path& path) { return fs::exists(path / "settings.json", ignored); };
  return is_run(whole) || is_run(whole.parent_path());
}

bool has_journal(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "journal", ignored);
}

std::vector<fs::path> folders_with_journal(const fs::path& named) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(named, fs::directory_options::skip_permission_denied, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    if (entry.depth() >= depth_of_arms) entry.disable_recursion_pending();
    std::error_code ignored;
    if (entry->is_directory(ignored) && has_journal(entry->path())) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<fs::path> journal_folder(const fs::path& named) {
  std::error_code ignored;
  if (!fs::is_directory(named, ignored)) {
    return Error{fmt::format("there is no run folder {}", named.string()),
                 "`allot train` prints the folder of its run at the end; by default it is below runs/"};
  }
  if (has_journal(named)) return named;
  const std::vector<fs::path> found = folders_with_journal(named);
  if (found.empty() || !has_arms(named)) {
    std::string others;
    for (std::size_t i = 0; i < std::min(found.size(), most_named); ++i) others += (i == 0 ? "" : ", ") + found[i].string();
    return Error{fmt::format("{} holds no journal, so it is no folder of a run", named.string()),
                 others.empty() ? "" : fmt::format("below it are {}{}", others, found.size() > most_named ? ", …" : "")};
  }
  const auto arm = std::find_if(found.begin(), found.end(), [](const fs::path& path) { return path.filename() == "policy"; });
  const fs::path chosen = arm == found.end() ? found.front() : *arm;
  if (found.size() > 1) {
    fmt::print(stderr, "allot: this is {}; there are also:", chosen.string());
    for (const fs::path& other : found) {
      if (other != chosen) fmt::print(stderr, " {}", other.string());
    }
    fmt::print(stderr, "\n");
  }
  return chosen;
}

Result<fs::path> rollouts_of(const fs::path& folder) {
  fs::path log = folder / "rollouts.jsonl";
  std::error_code ignored;
  if (fs::exists(log, ignored)) return log;
  return Error{fmt::format("{} holds no rollouts.jsonl: `allot train` logs what was rolled out, an engine that is served or that a "
                           "trainer made itself does not", folder.string()),
               "have the trainer write its rollouts there in the schema rollout/1, or name a log of them: --on FILE"};
}

}  // namespace allot::cli
