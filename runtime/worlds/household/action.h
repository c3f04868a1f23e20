// The actions of the household world and their text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace allot::worlds::household {

enum class Verb { Go, Open, Close, Take, Put, Clean, Heat, Cool, Use, Look };

// `object`, `receptacle` and `room` are indices into the tables of things.h; -1 where the verb has none.
struct Action {
  Verb verb = Verb::Look;
  int object = -1;
  int receptacle = -1;
  int room = -1;
  friend bool operator==(const Action&, const Action&) = default;
};

// go R | go ROOM | open R | close R | take O | put O R | clean O | heat O | cool O | use lamp | look
// Words are separated by spaces; anything else is none of these and gives nothing.
std::optional<Action> parse(std::string_view text);

// The canonical text: parse(text(a)) == a. One to three words.
std::string text(const Action& action);

}  // namespace allot::worlds::household
