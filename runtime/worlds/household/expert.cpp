#include "runtime/worlds/household/expert.h"

#include "runtime/worlds/household/draws.h"

namespace allot::worlds::household {
namespace {

const Receptacle& receptacle_at(const House& house, int index) {
  return house.receptacles[static_cast<std::size_t>(index)];
}

Action visit(const House& house, int target) {
  const int type = receptacle_at(house, target).type;
  if (house.at != target) return {.verb = Verb::Go, .receptacle = type};
  return {.verb = Verb::Open, .receptacle = type};
}

bool ready(const House& house, int target) { return house.at == target && receptacle_at(house, target).open; }

// Things with a place of their own are searched from room to room, in the order one was told of the receptacles; what
// lies about, in an order that is drawn for each house.
std::uint64_t search_rank(const House& house, int receptacle) {
  const auto index = static_cast<std::uint64_t>(receptacle);
  const Sort sort = object_types()[static_cast<std::size_t>(house.goal.object)].sort;
  return lies_about(sort) ? mix(house.whim ^ mix(index)) : index;
}

int next_to_search(const House& house) {
  int first = -1;
  for (int i = 0; i < static_cast<int>(house.receptacles.size()); ++i) {
    if (receptacle_at(house, i).seen) continue;
    if (i == house.at) return i;  // one step from seeing it
    if (first < 0 || search_rank(house, i) < search_rank(house, first)) first = i;
  }
  return first;
}

// Where a known object of `type` lies that is still to be fetched; -1: one has seen none.
int known_place(const House& house, int type) {
  int found = -1;
  for (const Object& object : house.objects) {
    if (object.type != type || object.where == held || !receptacle_at(house, object.where).seen) continue;
    if (house.delivered(object)) continue;
    if (object.where == house.at) return object.where;
    if (found < 0) found = object.where;
  }
  return found;
}

// The place of `wanted` with the fewest actions before something can be put there.
int nearest(const House& house, Place wanted) {
  int best = -1;
  int best_cost = 0;
  for (int i = 0; i < static_cast<int>(house.receptacles.size()); ++i) {
    if (house.place(i) != wanted) continue;
    const int cost = (house.at == i ? 0 : 1) + (receptacle_at(house, i).open ? 0 : 1);
    if (best < 0 || cost < best_cost) {
      best = i;
      best_cost = cost;
    }
  }
  return best;
}

struct Treatment {
  Verb verb;
  Place place;
};

std::optional<Treatment> missing_treatment(const House& house, const Object& object) {
  switch (house.goal.kind) {
    case Kind::Clean:
      if (!object.clean) return Treatment{Verb::Clean, Place::Sink};
      break;
    case Kind::Heat:
      if (object.heat != Heat::Hot) return Treatment{Verb::Heat, Place::Microwave};
      break;
    case Kind::Cool:
      if (object.heat != Heat::Cold) return Treatment{Verb::Cool, Place::Fridge};
      break;
    default: break;
  }
  return std::nullopt;
}

Action search(const House& house) {
  const int target = next_to_search(house);
  return target < 0 ? Action{} : visit(house, target);
}

Action put_away(const House& house, const Object& object) {
  int target = house.at;
  for (int i = 0; target < 0 && i < static_cast<int>(house.receptacles.size()); ++i) {
    if (receptacle_at(house, i).open) target = i;
  }
  if (target < 0) target = 0;
  if (!ready(house, target)) return visit(house, target);
  return {.verb = Verb::Put, .object = object.type, .receptacle = receptacle_at(house, target).type};
}

Action examine(const House& house) {
  const int lamp = known_place(house, lamp_type());
  if (lamp < 0) return search(house);
  return ready(house, lamp) ? Action{.verb = Verb::Use, .object = lamp_type()} : visit(house, lamp);
}

Action deliver(const House& house, const Object& object) {
  if (house.goal.kind == Kind::Examine) return examine(house);
  if (const auto treatment = missing_treatment(house, object)) {
    const int appliance = nearest(house, treatment->place);
    if (house.at != appliance) return visit(house, appliance);
    return {.verb = treatment->verb, .object = object.type};
  }
  const int target = nearest(house, house.goal.place);
  if (!ready(house, target)) return visit(house, target);
  return {.verb = Verb::Put, .object = object.type, .receptacle = receptacle_at(house, target).type};
}

}  // namespace

Action expert(const House& house) {
  const int carried = house.held_object();
  if (carried >= 0) {
    const Object& object = house.objects[static_cast<std::size_t>(carried)];
    return object.type == house.goal.object ? deliver(house, object) : put_away(house, object);
  }
  const int source = known_place(house, house.goal.object);
  if (source < 0) return search(house);
  if (!ready(house, source)) return visit(house, source);
  return {.verb = Verb::Take, .object = house.goal.object};
}

}  // namespace allot::worlds::household
