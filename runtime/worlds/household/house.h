// The state of one house and its rules: what an action changes and what one sees of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/worlds/household/action.h"
#include "runtime/worlds/household/things.h"

namespace allot::worlds::household {

enum class Kind : int { Put, Examine, Clean, Heat, Cool, PutTwo };
inline constexpr int kind_count = 6;
std::string_view name(Kind kind);  // "put", "examine", "clean", "heat", "cool", "puttwo"

struct Goal {
  Kind kind = Kind::Put;
  int object = -1;             // type of the object asked for
  Place place = Place::Table;  // where it has to go; not used by Examine
};

struct Receptacle {
  int type = -1;
  bool open = true;   // what cannot be closed is always open
  bool seen = false;  // one has looked inside; from then on only one's own actions change it
};

enum class Heat { None, Hot, Cold };

struct Object {
  int type = -1;
  int where = 0;  // index of a receptacle of the house, or `held`
  bool clean = false;
  Heat heat = Heat::None;
};
inline constexpr int held = -1;

// A house with somebody in it. At most one object is held at a time.
struct House {
  Goal goal;
  std::vector<Receptacle> receptacles;  // ascending by type
  std::vector<Object> objects;
  Room room = Room::Kitchen;  // where one is …
  int at = -1;                // … and at which receptacle; -1: at none
  bool examined = false;
  std::uint64_t whim = 0;     // decides in which order the expert searches for what lies about

  Place place(int receptacle) const {
    return receptacle_types()[static_cast<std::size_t>(receptacles[static_cast<std::size_t>(receptacle)].type)].place;
  }
  Room room_of(int receptacle) const {
    return receptacle_types()[static_cast<std::size_t>(receptacles[static_cast<std::size_t>(receptacle)].type)].room;
  }
  int held_object() const;                   // index into objects, -1: nothing
  int find_receptacle(int type) const;       // index into receptacles, -1: this house has none
  bool delivered(const Object& object) const;  // of the asked type, treated as asked, at the asked place
  bool solved() const;
};

// Carries out `action` and returns what one sees then: at most 14 words, "nothing happens" where it is impossible.
std::string apply(House& house, const Action& action);

// The task and where one can go; at most 40 words.
std::string introduction(const House& house);

}  // namespace allot::worlds::household
