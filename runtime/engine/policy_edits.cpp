#include "runtime/engine/policy_edits.h"

#include <algorithm>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "runtime/engine/active_policy.h"
#include "runtime/engine/policy.h"
#include "runtime/engine/versions_folder.h"
#include "runtime/math/checksum.h"
#include "runtime/package/library.h"

namespace allot::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits_of_hash = 64;  // beside the texts lie states, as state-3.json

// Each name is looked for from where its file lies now: the run may be resumed from another folder.
std::vector<std::string> edited_imports(const PolicyText& kept, const fs::path& file) {
  const auto library = package::environment_library();
  std::map<std::string, std::string> places{{kept.file, file.string()}};
  std::vector<std::string> edits;
  for (const PolicyText::Used& used : kept.used) {
    const auto place = places.find(used.importing);
    const auto found = library->find(used.name, place == places.end() ? used.importing : place->second);
    if (!found) {
      edits.push_back(fmt::format("{} cannot be read any more ({})", used.file.path, found.error().what));
      continue;
    }
    places[used.file.path] = found->path;
    if (found->text != used.file.text) edits.push_back(found->path + " changed since");
  }
  return edits;
}

}  // namespace

Result<std::string> policy_hash(const fs::path& file) {
  const auto text = read_policy_text(file);
  if (!text) return text.error();
  const auto policy = load_policy(*text, {});
  return policy ? (*policy)->program().hash : math::sha256_hex(text->text);
}

std::vector<PolicyText> kept_texts(const fs::path& run) {
  std::vector<PolicyText> kept;
  std::error_code failure;
  for (fs::directory_iterator file(run / "versions", failure), end; !failure && file != end; file.increment(failure)) {
    const std::string name = file->path().stem().string();
    if (name.size() != digits_of_hash) continue;
    if (auto text = kept_text(run, name)) kept.push_back(*std::move(text));
  }
  return kept;
}

bool is_kept(const fs::path& file, const std::vector<PolicyText>& kept) {
  const auto now = read_policy_text(file);
  if (!now) return false;
  return std::any_of(kept.begin(), kept.end(), [&](const PolicyText& each) { return each.text == now->text; });
}

std::vector<std::string> edits_since_active(const fs::path& run, const fs::path& file, OwnText own) {
  const auto active = active_version(run);
  const auto now = read_policy_text(file);
  if (!active || !now) return {};
  const auto kept = kept_text(run, active->hash);
  if (!kept) return {};
  if (kept->text == now->text) return edited_imports(*kept, file);
  if (own == OwnText::Followed) return {};
  return {fmt::format("{} says something else than the active version {} ({})", file.string(), active->number,
                      active->hash.substr(0, 12))};
}

}  // namespace allot::engine
