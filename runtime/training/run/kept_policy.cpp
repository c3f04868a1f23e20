#include "runtime/training/run/kept_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "runtime/engine/policy.h"
#include "runtime/engine/versions_folder.h"
#include "runtime/math/checksum.h"
#include "runtime/package/library.h"
#include "runtime/training/files.h"

namespace allot::training {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits_of_hash = 64;  // beside the texts lie states, as state-3.json

// Each name is looked for from where its file lies now: the run may be resumed from another folder.
std::vector<std::string> changes_since(const engine::PolicyText& kept, const fs::path& file) {
  const auto library = package::environment_library();
  std::map<std::string, std::string> places{{kept.file, file.string()}};
  std::vector<std::string> changes;
  for (const engine::PolicyText::Used& used : kept.used) {
    const auto place = places.find(used.importing);
    const auto found = library->find(used.name, place == places.end() ? used.importing : place->second);
    if (!found) {
      changes.push_back(fmt::format("{} cannot be read any more ({})", used.file.path, found.error().what));
      continue;
    }
    places[used.file.path] = found->path;
    if (found->text != used.file.text) changes.push_back(found->path + " changed since");
  }
  return changes;
}

}  // namespace

Result<std::string> policy_hash(const fs::path& file) {
  const auto text = engine::read_policy_text(file);
  if (!text) return text.error();
  const auto policy = engine::load_policy(*text, {});
  return policy ? (*policy)->program().hash : math::sha256_hex(text->text);
}

std::vector<engine::PolicyText> kept_policies(const fs::path& run) {
  std::vector<engine::PolicyText> kept;
  std::error_code failure;
  for (fs::directory_iterator seed(run, failure), end; !failure && seed != end; seed.increment(failure)) {
    const fs::path arm = seed->path() / "policy";
    std::error_code ended;
    for (fs::directory_iterator file(arm / "versions", ended); !ended && file != end; file.increment(ended)) {
      const std::string name = file->path().stem().string();
      if (name.size() != digits_of_hash) continue;
      if (auto text = engine::kept_text(arm, name)) kept.push_back(*std::move(text));
    }
  }
  return kept;
}

bool is_kept(const fs::path& file, const std::vector<engine::PolicyText>& kept) {
  const auto now = engine::read_policy_text(file);
  if (!now) return false;
  return std::any_of(kept.begin(), kept.end(), [&](const engine::PolicyText& each) { return each.text == now->text; });
}

std::vector<std::string> changed_imports(const fs::path& file, const std::vector<engine::PolicyText>& kept) {
  const auto now = engine::read_policy_text(file);
  std::optional<std::vector<std::string>> fewest;
  for (const engine::PolicyText& each : kept) {
    if (!now || each.text != now->text) continue;
    auto changes = changes_since(each, file);
    if (!fewest || changes.size() < fewest->size()) fewest = std::move(changes);
  }
  return fewest.value_or(std::vector<std::string>());
}

Result<void> begin_as_others(const fs::path& run, const fs::path& arm) {
  std::error_code failure;
  if (fs::exists(arm / "policy.json", failure)) return {};
  for (fs::directory_iterator seed(run, failure), end; !failure && seed != end; seed.increment(failure)) {
    const fs::path other = seed->path() / "policy";
    const auto stamp = read_file(other / "policy.json");
    const auto kept = stamp ? nlohmann::json::parse(*stamp, nullptr, false) : nlohmann::json();
    const std::string hash = kept.is_object() ? kept.value("sha256", std::string()) : std::string();
    if (hash.empty() || !engine::kept_text(other, hash)) continue;
    std::error_code error;
    fs::create_directories(arm / "versions", error);
    const fs::path text = fs::path("versions") / (hash + ".json");
    for (const fs::path& name : {text, fs::path("policy.allot"), fs::path("policy.json")}) {
      if (!error) fs::copy_file(other / name, arm / name, fs::copy_options::overwrite_existing, error);
    }
    if (error) return Error{"cannot write " + arm.string() + ": " + error.message(), "check the permissions and the free space"};
    return {};
  }
  return {};
}

}  // namespace allot::training
