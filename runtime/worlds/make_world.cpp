#include "runtime/worlds/make_world.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace allot::worlds {
namespace {

// Levenshtein's distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, corner + 1});
    }
  }
  return row.back();
}

Error unknown(std::string_view name) {
  const auto names = world_names();
  const auto nearest = std::ranges::min_element(names, {}, [name](auto known) { return distance(name, known); });
  std::string help;
  if (distance(name, *nearest) <= std::max<std::size_t>(2, nearest->size() / 3)) {
    help.append("did you mean `").append(*nearest).append("`? ");
  }
  help.append("worlds are");
  for (const auto known : names) help.append(" ").append(known);
  return Error{"There is no world `" + std::string(name) + "`.", std::move(help)};
}

}  // namespace

std::vector<std::string_view> world_names() { return {"household", "process", "textworld"}; }

Result<std::unique_ptr<World>> make_world(std::string_view name, const WorldOptions& options) {
  if (name == "household") return household::make_household(options.household);
  if (name == "textworld") return textworld::open_textworld(options.textworld);
  if (name == "process") return process::open_process(options.process);
  return unknown(name);
}

}  // namespace allot::worlds
