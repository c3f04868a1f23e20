#include "runtime/training/run/kept_policy.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "runtime/engine/disk.h"
#include "runtime/engine/versions_folder.h"
#include "runtime/training/files.h"

namespace allot::training {
namespace {

namespace fs = std::filesystem;

// Folders of the arms `policy`, one a seed.
std::vector<fs::path> policy_arms(const fs::path& run) {
  std::vector<fs::path> arms;
  std::error_code failure;
  for (fs::directory_iterator seed(run, failure), end; !failure && seed != end; seed.increment(failure)) {
    fs::path arm = seed->path() / "policy";
    if (std::error_code ignored; fs::is_directory(arm, ignored)) arms.push_back(std::move(arm));
  }
  std::sort(arms.begin(), arms.end());
  return arms;
}

}  // namespace

std::vector<engine::PolicyText> kept_policies(const fs::path& run) {
  std::vector<engine::PolicyText> kept;
  for (const fs::path& arm : policy_arms(run)) {
    for (engine::PolicyText& text : engine::kept_texts(arm)) kept.push_back(std::move(text));
  }
  return kept;
}

std::vector<std::string> policy_edits(const fs::path& run, const fs::path& file, engine::OwnText own) {
  std::vector<std::string> edits;
  for (const fs::path& arm : policy_arms(run)) {
    for (std::string& edit : engine::edits_since_active(arm, file, own)) {
      if (std::find(edits.begin(), edits.end(), edit) == edits.end()) edits.push_back(std::move(edit));
    }
  }
  return edits;
}

bool has_begun(const fs::path& arm) {
  std::error_code ignored;
  return fs::exists(arm / "policy.json", ignored);
}

Result<void> begin_as_others(const fs::path& run, const fs::path& arm) {
  if (has_begun(arm)) return {};
  for (const fs::path& other : policy_arms(run)) {
    const auto stamp = read_file(other / "policy.json");
    const auto kept = stamp ? nlohmann::json::parse(*stamp, nullptr, false) : nlohmann::json();
    const std::string hash = kept.is_object() ? kept.value("sha256", std::string()) : std::string();
    if (hash.empty() || !engine::kept_text(other, hash)) continue;
    if (auto made = engine::make_folders(arm / "versions"); !made) return made;
    const fs::path text = fs::path("versions") / (hash + ".json");
    for (const fs::path& name : {text, fs::path("policy.allot"), fs::path("policy.json")}) {
      const auto bytes = read_file(other / name);
      if (!bytes) return bytes.error();
      if (auto written = engine::replace_file(arm / name, *bytes); !written) return written;
    }
    return {};
  }
  return {};
}

}  // namespace allot::training
