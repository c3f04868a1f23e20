#include "runtime/engine/versions_folder.h"

#include <fstream>
#include <mutex>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/disk.h"
#include "runtime/engine/snapshot.h"

namespace allot::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path text_file(const fs::path& run, const std::string& hash) { return run / "versions" / (hash + ".json"); }
fs::path state_file(const fs::path& run, int number, const std::string& at) {
  return run / "versions" / fmt::format("state-{}{}{}.json", number, at.empty() ? "" : "-", at);
}

// Decisions go on meanwhile: who asked for the swap waits for the disk, or the thread behind the barrier.
Result<void> put(const fs::path& file, const std::string& text) {
  static std::mutex one_at_a_time;  // swaps are prepared side by side, and may bring the same text
  const std::lock_guard lock(one_at_a_time);
  if (auto made = make_folders(file.parent_path()); !made) return made;
  return replace_file(file, text);
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
  // Named by its content; one that a loss of power left empty, as older programs did not sync, is written anew.
  if (kept_text(run, policy->program().hash)) return {};
  Json json = to_json(policy->origin()->text);
  json["name"] = policy->program().name;
  return put(text_file(run, policy->program().hash), seal(dump(json)) + "\n");
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

Result<void> keep_state(const fs::path& run, int number, const std::string& at, const std::string& snapshot) {
  return put(state_file(run, number, at), snapshot);
}

void keep_state(const fs::path& run, StateThen& state) {
  if (state.on_disk) return;
  if (const auto kept = keep_state(run, state.version, state.at, write(*state.snapshot))) {
    state.on_disk = true;
  } else {
    state.problem = kept.error().what;
    state.failed = true;
  }
}

std::vector<std::shared_ptr<StateThen>> unkept(const std::vector<Replaced>& replaced) {
  std::vector<std::shared_ptr<StateThen>> states;
  for (const Replaced& each : replaced) {
    if (each.state && !each.state->on_disk) states.push_back(each.state);
  }
  return states;
}

Result<std::string> kept_state(const fs::path& run, int number, const std::string& at) {
  return get(state_file(run, number, at), fmt::format("The state as of version {}", number));
}

}  // namespace allot::engine
