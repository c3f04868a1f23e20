// The inventory of the household world: which rooms, receptacles and objects exist, and where people keep what.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace allot::worlds::household {

enum class Room : int { Kitchen, Lounge, Bedroom, Bathroom };
inline constexpr int room_count = 4;

enum class Place : int {
  Fridge, Microwave, Sink, Counter, Cabinet, Drawer, Bin, Table, Sofa, Shelf, Desk, Bed, Dresser, Safe
};
inline constexpr int place_count = 14;

// What an object is like decides where it is kept and what can be done with it.
enum class Sort : int { Food, Dish, Cutlery, Wash, Paper, Personal, Soft, Lamp };

// A receptacle that a house can have: "drawer2" stands in the bedroom in every house that has it.
struct ReceptacleType {
  std::string_view name;
  Place place;
  Room room;
};

struct ObjectType {
  std::string_view name;
  Sort sort;
  bool cleanable = false;
  bool heatable = false;
  bool coolable = false;
};

std::string_view name(Room room);
std::string_view name(Place place);
bool can_close(Place place);
std::span<const ReceptacleType> receptacle_types();
std::span<const ObjectType> object_types();  // the lamp is the last one
int lamp_type();
bool lies_about(Sort sort);  // such things have no place of their own

// How often people keep such a thing there, 1..9; the expert searches, and houses are furnished, by these weights.
int habit(Sort sort, Place place);

std::optional<int> find_receptacle_type(std::string_view name);
std::optional<int> find_object_type(std::string_view name);
std::optional<Room> find_room(std::string_view name);

}  // namespace allot::worlds::household
