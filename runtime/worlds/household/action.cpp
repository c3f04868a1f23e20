#include "runtime/worlds/household/action.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/worlds/household/things.h"

namespace allot::worlds::household {
namespace {

constexpr std::array<std::string_view, 10> verbs{"go",  "open",  "close", "take", "put",
                                                 "clean", "heat", "cool", "use",  "look"};

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string_view> words;
  for (auto begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(blanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return words;
}

std::optional<Action> with_receptacle(Verb verb, std::string_view word) {
  const auto receptacle = find_receptacle_type(word);
  if (!receptacle) return std::nullopt;
  return Action{.verb = verb, .receptacle = *receptacle};
}

std::optional<Action> with_object(Verb verb, std::string_view word) {
  const auto object = find_object_type(word);
  if (!object) return std::nullopt;
  return Action{.verb = verb, .object = *object};
}

std::optional<Action> go(std::string_view word) {
  if (const auto room = find_room(word)) return Action{.verb = Verb::Go, .room = static_cast<int>(*room)};
  return with_receptacle(Verb::Go, word);
}

}  // namespace

std::optional<Action> parse(std::string_view text) {
  const auto words = words_of(text);
  if (words.empty()) return std::nullopt;
  const auto found = std::ranges::find(verbs, words[0]);
  if (found == verbs.end()) return std::nullopt;
  const auto verb = static_cast<Verb>(found - verbs.begin());
  const std::size_t wanted = verb == Verb::Look ? 1 : verb == Verb::Put ? 3 : 2;
  if (words.size() != wanted) return std::nullopt;
  switch (verb) {
    case Verb::Look: return Action{};
    case Verb::Go: return go(words[1]);
    case Verb::Open:
    case Verb::Close: return with_receptacle(verb, words[1]);
    case Verb::Put: {
      const auto object = with_object(verb, words[1]);
      const auto receptacle = with_receptacle(verb, words[2]);
      if (!object || !receptacle) return std::nullopt;
      return Action{.verb = verb, .object = object->object, .receptacle = receptacle->receptacle};
    }
    case Verb::Use: return words[1] == "lamp" ? with_object(verb, words[1]) : std::nullopt;
    default: return with_object(verb, words[1]);
  }
}

std::string text(const Action& action) {
  std::string line(verbs[static_cast<std::size_t>(action.verb)]);
  const auto add = [&line](std::string_view word) { line.append(" ").append(word); };
  if (action.object >= 0) add(object_types()[static_cast<std::size_t>(action.object)].name);
  if (action.receptacle >= 0) add(receptacle_types()[static_cast<std::size_t>(action.receptacle)].name);
  if (action.room >= 0) add(name(static_cast<Room>(action.room)));
  return line;
}

}  // namespace allot::worlds::household
