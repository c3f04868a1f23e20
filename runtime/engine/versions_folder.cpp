#include "runtime/engine/versions_folder.h"

#include <fstream>
#include <mutex>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/journal.h"

namespace allot::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path text_file(const fs::path& run, const std::string& hash) { return run / "versions" / (hash + ".json"); }
fs::path state_file(const fs::path& run, int number) { return run / "versions" / fmt::format("state-{}.json", number); }

// Nobody waits for the disk: a swap is under way. The journal, which is on disk at the next barrier, has the text too.
Result<void> put(const fs::path& file, const std::string& text) {
  static std::mutex one_at_a_time;  // swaps are prepared side by side, and may bring the same text
  const std::lock_guard lock(one_at_a_time);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return Error{fmt::format("Cannot make the folder {}: {}.", file.parent_path().string(), error.message()), ""};
  return replace_file(file, text, Durability::Atomic);
}

Result<std::string> get(const fs::path& file, const std::string& what) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return Error{fmt::format("{} is not there: {} cannot be read.", what, file.string()), "put the file back"};
  return std::move(text).str();
}

}  // namespace

Result<void> keep_text(const fs::path& run, const Policy* policy) {
  if (run.empty() || policy == nullptr || policy->origin() == nullptr) return {};
  const fs::path file = text_file(run, policy->program().hash);
  std::error_code ignored;
  if (fs::exists(file, ignored)) return {};  // named by its content
  Json json = to_json(policy->origin()->text);
  json["name"] = policy->program().name;
  return put(file, seal(dump(json)) + "\n");
}

Result<PolicyText> kept_text(const fs::path& run, const std::string& hash) {
  const std::string what = "The text of the policy " + hash.substr(0, 12);
  const fs::path file = text_file(run, hash);
  auto text = get(file, what);
  if (!text) return text.error();
  while (text->ends_with('\n')) text->pop_back();
  const Json json = unseal(*text).value_or(Json());
  try {
    return policy_text_from(json);
  } catch (const Json::exception&) {
    return Error{fmt::format("{} is damaged: {}.", what, file.string()), "put the file back"};
  }
}

Result<void> keep_state(const fs::path& run, int number, const std::string& snapshot) {
  return put(state_file(run, number), snapshot);
}

Result<std::string> kept_state(const fs::path& run, int number) {
  return get(state_file(run, number), fmt::format("The state as of version {}", number));
}

}  // namespace allot::engine
