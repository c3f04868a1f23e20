#include "runtime/worlds/household/house.h"

#include <algorithm>

namespace allot::worlds::household {
namespace {

constexpr std::string_view nothing = "nothing happens";

std::string_view receptacle_name(const House& house, int receptacle) {
  const int type = house.receptacles[static_cast<std::size_t>(receptacle)].type;
  return receptacle_types()[static_cast<std::size_t>(type)].name;
}

std::string_view object_name(const Object& object) {
  return object_types()[static_cast<std::size_t>(object.type)].name;
}

std::string sentence(std::string_view first, std::string_view second, std::string_view third = {}) {
  std::string line(first);
  line.append(" ").append(second);
  if (!third.empty()) line.append(" ").append(third);
  return line;
}

std::string contents(const House& house, int receptacle) {
  std::string line = sentence(receptacle_name(house, receptacle), "has");
  bool empty = true;
  for (const Object& object : house.objects) {
    if (object.where != receptacle) continue;
    line.append(" ").append(object_name(object));
    empty = false;
  }
  return empty ? sentence(receptacle_name(house, receptacle), "is empty") : line;
}

std::string room_contents(const House& house, Room room) {
  std::string line = sentence(name(room), "has");
  for (int i = 0; i < static_cast<int>(house.receptacles.size()); ++i) {
    if (house.room_of(i) == room) line.append(" ").append(receptacle_name(house, i));
  }
  return line;
}

bool has_room(const House& house, Room room) {
  for (int i = 0; i < static_cast<int>(house.receptacles.size()); ++i) {
    if (house.room_of(i) == room) return true;
  }
  return false;
}

// What one sees at the receptacle where one is. Seeing is remembered.
std::string view(House& house) {
  Receptacle& here = house.receptacles[static_cast<std::size_t>(house.at)];
  if (!here.open) return sentence(receptacle_name(house, house.at), "is closed");
  here.seen = true;
  return contents(house, house.at);
}

std::string go(House& house, const Action& action) {
  if (action.room >= 0) {
    const auto room = static_cast<Room>(action.room);
    if (!has_room(house, room)) return std::string(nothing);
    house.room = room;
    house.at = -1;
    return room_contents(house, room);
  }
  const int target = house.find_receptacle(action.receptacle);
  if (target < 0) return std::string(nothing);
  house.at = target;
  house.room = house.room_of(target);
  return view(house);
}

std::string set_open(House& house, const Action& action, bool open) {
  const int target = house.find_receptacle(action.receptacle);
  if (target < 0 || target != house.at || !can_close(house.place(target))) return std::string(nothing);
  Receptacle& receptacle = house.receptacles[static_cast<std::size_t>(target)];
  if (receptacle.open == open) return std::string(nothing);
  receptacle.open = open;
  return view(house);
}

bool reachable(const House& house, int receptacle) {
  return receptacle >= 0 && receptacle == house.at && house.receptacles[static_cast<std::size_t>(receptacle)].open;
}

std::string take(House& house, const Action& action) {
  if (house.held_object() >= 0 || action.object == lamp_type()) return std::string(nothing);
  for (Object& object : house.objects) {
    if (object.type != action.object || !reachable(house, object.where)) continue;
    object.where = held;
    return sentence("you take", object_name(object));
  }
  return std::string(nothing);
}

std::string put(House& house, const Action& action) {
  const int carried = house.held_object();
  const int target = house.find_receptacle(action.receptacle);
  if (carried < 0 || !reachable(house, target)) return std::string(nothing);
  Object& object = house.objects[static_cast<std::size_t>(carried)];
  if (object.type != action.object) return std::string(nothing);
  object.where = target;
  return sentence("you put", object_name(object), receptacle_name(house, target));
}

// Clean at the sink, heat at the microwave, cool at the fridge: one stands there and holds the object.
std::string treat(House& house, const Action& action) {
  const int carried = house.held_object();
  if (carried < 0 || house.at < 0) return std::string(nothing);
  Object& object = house.objects[static_cast<std::size_t>(carried)];
  const ObjectType& type = object_types()[static_cast<std::size_t>(object.type)];
  if (object.type != action.object) return std::string(nothing);
  const Place here = house.place(house.at);
  if (action.verb == Verb::Clean && type.cleanable && here == Place::Sink) {
    object.clean = true;
    return sentence("you clean", type.name);
  }
  if (action.verb == Verb::Heat && type.heatable && here == Place::Microwave) {
    object.heat = Heat::Hot;
    return sentence("you heat", type.name);
  }
  if (action.verb == Verb::Cool && type.coolable && here == Place::Fridge) {
    object.heat = Heat::Cold;
    return sentence("you cool", type.name);
  }
  return std::string(nothing);
}

std::string use_lamp(House& house) {
  const bool lamp_here = std::ranges::any_of(house.objects, [&house](const Object& object) {
    return object.type == lamp_type() && reachable(house, object.where);
  });
  if (!lamp_here) return std::string(nothing);
  const int carried = house.held_object();
  if (carried < 0) return "lamp is on";
  const Object& object = house.objects[static_cast<std::size_t>(carried)];
  if (house.goal.kind == Kind::Examine && object.type == house.goal.object) house.examined = true;
  return sentence("you examine", object_name(object));
}

std::string look(House& house) {
  std::string line = house.at >= 0 ? view(house) : room_contents(house, house.room);
  const int carried = house.held_object();
  if (carried >= 0) line.append(" you have ").append(object_name(house.objects[static_cast<std::size_t>(carried)]));
  return line;
}

std::string goal_text(const Goal& goal) {
  const std::string_view object = object_types()[static_cast<std::size_t>(goal.object)].name;
  const std::string delivery = sentence("put it in", name(goal.place));
  switch (goal.kind) {
    case Kind::Put: return sentence(sentence("put", object), "in", name(goal.place));
    case Kind::PutTwo: return sentence(sentence("put two", object), "in", name(goal.place));
    case Kind::Examine: return sentence("examine", object, "under lamp");
    case Kind::Clean: return sentence(sentence("clean", object), "then", delivery);
    case Kind::Heat: return sentence(sentence("heat", object), "then", delivery);
    case Kind::Cool: return sentence(sentence("cool", object), "then", delivery);
  }
  return {};
}

}  // namespace

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, kind_count> names{"put", "examine", "clean", "heat", "cool", "puttwo"};
  return names[static_cast<std::size_t>(kind)];
}

int House::held_object() const {
  const auto found = std::ranges::find(objects, held, &Object::where);
  return found == objects.end() ? -1 : static_cast<int>(found - objects.begin());
}

int House::find_receptacle(int type) const {
  const auto found = std::ranges::find(receptacles, type, &Receptacle::type);
  return found == receptacles.end() ? -1 : static_cast<int>(found - receptacles.begin());
}

bool House::delivered(const Object& object) const {
  if (object.type != goal.object || object.where == held || place(object.where) != goal.place) return false;
  switch (goal.kind) {
    case Kind::Clean: return object.clean;
    case Kind::Heat: return object.heat == Heat::Hot;
    case Kind::Cool: return object.heat == Heat::Cold;
    case Kind::Examine: return false;
    default: return true;
  }
}

bool House::solved() const {
  if (goal.kind == Kind::Examine) return examined;
  const auto count = std::ranges::count_if(objects, [this](const Object& object) { return delivered(object); });
  return count >= (goal.kind == Kind::PutTwo ? 2 : 1);
}

std::string apply(House& house, const Action& action) {
  switch (action.verb) {
    case Verb::Go: return go(house, action);
    case Verb::Open: return set_open(house, action, true);
    case Verb::Close: return set_open(house, action, false);
    case Verb::Take: return take(house, action);
    case Verb::Put: return put(house, action);
    case Verb::Clean:
    case Verb::Heat:
    case Verb::Cool: return treat(house, action);
    case Verb::Use: return use_lamp(house);
    case Verb::Look: return look(house);
  }
  return std::string(nothing);
}

std::string introduction(const House& house) {
  std::string line = sentence("task", goal_text(house.goal));
  for (int i = 0; i < room_count; ++i) {
    const auto room = static_cast<Room>(i);
    if (has_room(house, room)) line.append(" . ").append(room_contents(house, room));
  }
  return line;
}

}  // namespace allot::worlds::household
