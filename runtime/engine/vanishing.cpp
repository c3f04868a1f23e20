#include "runtime/engine/vanishing.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace allot::engine {
namespace {

// Points of one kind, of which a policy may have several.
std::tuple<lang::Point, lang::Subject, bool> kind_of(const lang::Handler& handler) {
  return {handler.point, handler.subject, handler.every};
}

bool has_text_after(const std::string& whole, const std::string& beginning) {
  if (beginning.size() >= whole.size() || !whole.starts_with(beginning)) return false;
  return whole.find_first_not_of(" \t\r\n", beginning.size()) != std::string::npos;
}

}  // namespace

std::vector<std::string> vanishing_handlers(const lang::Program& from, const lang::Program& to) {
  std::vector<std::string> gone;
  std::map<std::tuple<lang::Point, lang::Subject, bool>, std::size_t> left;
  for (const lang::Handler& handler : to.handlers) ++left[kind_of(handler)];
  for (const lang::Handler& handler : from.handlers) {
    std::size_t& count = left[kind_of(handler)];
    if (count == 0) {
      gone.push_back(fmt::format("`on {}`", handler.text));
    } else {
      --count;
    }
  }
  return gone;
}

std::vector<std::string> vanishing(const lang::Program& from, const lang::Program& to) {
  std::vector<std::string> gone = vanishing_handlers(from, to);
  for (const lang::State& state : from.states) {
    const auto again = [&](const lang::State& each) { return each.name == state.name && each.input == state.input; };
    if (std::none_of(to.states.begin(), to.states.end(), again)) {
      gone.push_back(fmt::format("the {} `{}`", state.input ? "input" : "state", state.name));
    }
  }
  for (const lang::Budget& budget : from.budgets) {
    const auto again = [&](const lang::Budget& each) { return each.unit == budget.unit; };
    if (std::none_of(to.budgets.begin(), to.budgets.end(), again)) {
      gone.push_back(fmt::format("the budget of {}", lang::name(budget.unit)));
    }
  }
  if (from.refill && !to.refill) gone.emplace_back("`refill`");
  if (from.hit && !to.hit) gone.emplace_back("`hit`");
  return gone;
}

std::string looks_like_half(const Policy& active, const Policy& next) {
  const auto gone = vanishing(active.program(), next.program());
  if (!gone.empty()) {
    std::string list;
    for (std::size_t i = 0; i < gone.size(); ++i) list += (i == 0 ? "" : i + 1 < gone.size() ? ", " : " and ") + gone[i];
    return fmt::format("It may be half a file: {} of the active policy {} not in it.", list, gone.size() == 1 ? "is" : "are");
  }
  if (!active.origin() || !next.origin()) return "";
  const bool cut = has_text_after(active.origin()->text.text, next.origin()->text.text);
  return cut ? "It may be half a file: it is the beginning of the active policy's text and nothing else." : "";
}

}  // namespace allot::engine
