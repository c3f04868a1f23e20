#include "runtime/worlds/household/task_maker.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "runtime/worlds/household/draws.h"
#include "runtime/worlds/household/expert.h"

namespace allot::worlds::household {
namespace {

constexpr int attempts = 500;
constexpr int counted_turns = 60;

// An index drawn with the given weights; nothing where all are zero.
std::optional<int> draw_weighted(Draws& draws, int count, const std::function<int(int)>& weight) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += weight(i);
  if (total <= 0) return std::nullopt;
  int left = draws.between(0, total - 1);
  for (int i = 0; i < count; ++i) {
    left -= weight(i);
    if (left < 0) return i;
  }
  return std::nullopt;
}

bool suits(const ObjectType& type, Kind kind) {
  switch (kind) {
    case Kind::Clean: return type.cleanable;
    case Kind::Heat: return type.heatable;
    case Kind::Cool: return type.coolable;
    case Kind::Examine: return type.sort == Sort::Paper || type.sort == Sort::Personal || type.sort == Sort::Cutlery;
    default: return true;
  }
}

// Whether things that lie about can be asked for: nobody cooks a phone.
bool can_be_scattered(Kind kind) {
  return std::ranges::any_of(object_types(), [kind](const ObjectType& type) { return lies_about(type.sort) && suits(type, kind); });
}

// A goal that makes sense: things go where people keep them at least now and then, never into an appliance.
Goal draw_goal(Draws& draws, Kind kind, bool scattered) {
  const auto types = object_types();
  const int object = *draw_weighted(draws, lamp_type(), [&](int i) {
    const ObjectType& type = types[static_cast<std::size_t>(i)];
    return suits(type, kind) && lies_about(type.sort) == scattered ? 1 : 0;
  });
  const Sort sort = types[static_cast<std::size_t>(object)].sort;
  const int place = *draw_weighted(draws, place_count, [&](int i) {
    const auto here = static_cast<Place>(i);
    const bool cools = here == Place::Fridge && kind == Kind::Cool;
    const bool appliance = here == Place::Sink || here == Place::Microwave || cools;
    return !appliance && habit(sort, here) >= 2 ? 1 : 0;
  });
  return {.kind = kind, .object = object, .place = static_cast<Place>(place)};
}

class Furnisher {
 public:
  Furnisher(Draws& draws, const Level& level) : draws_(draws), level_(level) {}

  House furnish(Kind kind, bool scattered) {
    house_.goal = draw_goal(draws_, kind, scattered);
    house_.whim = draws_.bits();
    place_receptacles();
    place_asked();
    place_distractors();
    return std::move(house_);
  }

 private:
  void add_receptacle(int type) {
    const bool closed = can_close(receptacle_types()[static_cast<std::size_t>(type)].place);
    house_.receptacles.push_back({.type = type, .open = !closed});
  }

  // One receptacle that is not there yet and passes `wanted`; false where there is none.
  bool add_drawn(const std::function<bool(const ReceptacleType&)>& wanted) {
    const auto types = receptacle_types();
    const auto type = draw_weighted(draws_, static_cast<int>(types.size()), [&](int i) {
      return house_.find_receptacle(i) < 0 && wanted(types[static_cast<std::size_t>(i)]) ? 1 : 0;
    });
    if (type) add_receptacle(*type);
    return type.has_value();
  }

  void place_receptacles() {
    const auto add_place = [this](Place place) {
      add_drawn([place](const ReceptacleType& type) { return type.place == place; });
    };
    const Kind kind = house_.goal.kind;
    if (kind != Kind::Examine) add_place(house_.goal.place);
    if (kind == Kind::Clean) add_place(Place::Sink);
    if (kind == Kind::Heat) add_place(Place::Microwave);
    if (kind == Kind::Cool) add_place(Place::Fridge);
    const int wanted = std::clamp(draws_.between(level_.min_receptacles, level_.max_receptacles), 4, 18);
    while (static_cast<int>(house_.receptacles.size()) < wanted) {
      const bool closed = draws_.chance(level_.closed);
      if (!add_drawn([closed](const ReceptacleType& type) { return can_close(type.place) == closed; }) &&
          !add_drawn([](const ReceptacleType&) { return true; })) {
        break;
      }
    }
    std::ranges::sort(house_.receptacles, {}, &Receptacle::type);
  }

  void add_object(int type, bool by_habit, bool must_be_closed) {
    const Sort sort = object_types()[static_cast<std::size_t>(type)].sort;
    const auto weight = [&](int i, bool closed) {
      const Place here = house_.place(i);
      const bool solves = house_.goal.kind != Kind::Examine && here == house_.goal.place && type == house_.goal.object;
      if (solves || (closed && house_.receptacles[static_cast<std::size_t>(i)].open)) return 0;
      return by_habit ? habit(sort, here) : 10 - habit(sort, here);
    };
    const int count = static_cast<int>(house_.receptacles.size());
    auto where = draw_weighted(draws_, count, [&](int i) { return weight(i, must_be_closed); });
    if (!where) where = draw_weighted(draws_, count, [&](int i) { return weight(i, false); });
    if (where) house_.objects.push_back({.type = type, .where = *where});
  }

  void place_asked() {
    const int count = house_.goal.kind == Kind::PutTwo ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      const bool surprise = draws_.chance(level_.surprise);
      const bool hidden = draws_.chance(level_.hidden);
      add_object(house_.goal.object, !surprise, hidden);
    }
    if (house_.goal.kind == Kind::Examine) add_object(lamp_type(), true, false);
  }

  // Distractors stand before what is asked for in a listing as often as after it: objects are kept in order of type.
  void place_distractors() {
    const int wanted = std::clamp(draws_.between(level_.min_distractors, level_.max_distractors), 0, 7);
    for (int i = 0; i < wanted; ++i) {
      const auto type = draw_weighted(draws_, lamp_type(), [&](int t) {
        return std::ranges::none_of(house_.objects, [t](const Object& o) { return o.type == t; }) ? 1 : 0;
      });
      if (type) add_object(*type, true, false);
    }
    std::ranges::stable_sort(house_.objects, {}, &Object::type);
  }

  Draws& draws_;
  const Level& level_;
  House house_;
};

}  // namespace

namespace {

Distance draw_distance(Kind kind, std::uint64_t seed, const Difficulty& difficulty) {
  Draws choice(seed);
  if (choice.chance(difficulty.scattered_share) && can_be_scattered(kind)) return Distance::Scattered;
  return choice.chance(difficulty.far_share) ? Distance::Far : Distance::Near;
}

const Level& level_of(Distance distance, const Difficulty& difficulty) {
  switch (distance) {
    case Distance::Near: return difficulty.near;
    case Distance::Far: return difficulty.far;
    case Distance::Scattered: break;
  }
  return difficulty.scattered;
}

}  // namespace

int expert_turns(House house, int limit) {
  for (int turn = 0; turn <= limit; ++turn) {
    if (house.solved()) return turn;
    apply(house, expert(house));
  }
  return limit + 1;
}

MadeHouse make_house(Kind kind, std::uint64_t seed, const Difficulty& difficulty) {
  MadeHouse best;
  best.distance = draw_distance(kind, seed, difficulty);
  const Level& level = level_of(best.distance, difficulty);
  int best_miss = -1;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    Draws draws(seed, static_cast<std::uint64_t>(attempt));
    House house = Furnisher(draws, level).furnish(kind, best.distance == Distance::Scattered);
    const int turns = expert_turns(house, counted_turns);
    const int miss = std::max({0, level.min_turns - turns, turns - level.max_turns});
    if (best_miss >= 0 && miss >= best_miss) continue;
    best.house = std::move(house);
    best.expert_turns = turns;
    best_miss = miss;
    if (miss == 0) break;
  }
  return best;
}

std::string fingerprint(const House& house) {
  std::string print(name(house.goal.kind));
  const auto add = [&print](int value) { print.append(" ").append(std::to_string(value)); };
  add(house.goal.object);
  if (house.goal.kind != Kind::Examine) add(static_cast<int>(house.goal.place));
  print.append(" :");
  for (const Receptacle& receptacle : house.receptacles) add(receptacle.type);
  print.append(" :");
  std::vector<int> places;
  for (const Object& object : house.objects) {
    const bool lamp = house.goal.kind == Kind::Examine && object.type == lamp_type();
    if ((object.type != house.goal.object && !lamp) || object.where == held) continue;
    places.push_back((lamp ? 1000 : 0) + house.receptacles[static_cast<std::size_t>(object.where)].type);
  }
  std::ranges::sort(places);
  std::ranges::for_each(places, add);
  return print;
}

}  // namespace allot::worlds::household
