#include "runtime/engine/abilities.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace allot::engine {

Result<Abilities> abilities_from(const std::vector<std::string>& words) {
  constexpr std::array<std::pair<std::string_view, bool Abilities::*>, 5> known = {{{"defers", &Abilities::defers},
                                                                                    {"scores", &Abilities::scores},
                                                                                    {"shapes", &Abilities::shapes},
                                                                                    {"replays", &Abilities::replays},
                                                                                    {"losses", &Abilities::losses}}};
  Abilities abilities;
  for (const std::string& word : words) {
    bool found = false;
    for (const auto& [name, ability] : known) {
      if (word != name) continue;
      abilities.*ability = found = true;
    }
    if (!found) {
      return Error{fmt::format("`{}` is nothing that a host can do.", word), "say defers, scores, shapes, replays or losses"};
    }
  }
  return abilities;
}

}  // namespace allot::engine
