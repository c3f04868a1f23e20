#include "runtime/worlds/household/things.h"

#include <algorithm>

namespace allot::worlds::household {
namespace {

constexpr std::array<std::string_view, room_count> room_names{"kitchen", "lounge", "bedroom", "bathroom"};

constexpr std::array<std::string_view, place_count> place_names{
    "fridge", "microwave", "sink", "counter", "cabinet", "drawer", "bin",
    "table",  "sofa",      "shelf", "desk",   "bed",     "dresser", "safe"};

constexpr ReceptacleType receptacles[] = {
    {"fridge", Place::Fridge, Room::Kitchen},     {"microwave", Place::Microwave, Room::Kitchen},
    {"sink", Place::Sink, Room::Kitchen},         {"counter1", Place::Counter, Room::Kitchen},
    {"counter2", Place::Counter, Room::Bathroom}, {"cabinet1", Place::Cabinet, Room::Kitchen},
    {"cabinet2", Place::Cabinet, Room::Kitchen},  {"cabinet3", Place::Cabinet, Room::Bathroom},
    {"drawer1", Place::Drawer, Room::Kitchen},    {"drawer2", Place::Drawer, Room::Bedroom},
    {"drawer3", Place::Drawer, Room::Lounge},     {"bin", Place::Bin, Room::Kitchen},
    {"table1", Place::Table, Room::Kitchen},      {"table2", Place::Table, Room::Lounge},
    {"sofa", Place::Sofa, Room::Lounge},          {"shelf1", Place::Shelf, Room::Lounge},
    {"shelf2", Place::Shelf, Room::Bedroom},      {"desk", Place::Desk, Room::Bedroom},
    {"bed", Place::Bed, Room::Bedroom},           {"dresser", Place::Dresser, Room::Bedroom},
    {"safe", Place::Safe, Room::Bedroom},
};

constexpr ObjectType objects[] = {
    // name, sort, cleanable, heatable, coolable
    {"apple", Sort::Food, true, true, true},     {"egg", Sort::Food, true, true, true},
    {"bread", Sort::Food, false, true, true},    {"potato", Sort::Food, true, true, true},
    {"tomato", Sort::Food, true, true, true},    {"lettuce", Sort::Food, true, false, true},
    {"mug", Sort::Dish, true, true, true},       {"cup", Sort::Dish, true, true, true},
    {"plate", Sort::Dish, true, true, true},     {"pan", Sort::Dish, true, false, true},
    {"knife", Sort::Cutlery, true, false, false}, {"fork", Sort::Cutlery, true, false, false},
    {"spoon", Sort::Cutlery, true, false, false}, {"soap", Sort::Wash, true, false, false},
    {"cloth", Sort::Wash, true, false, false},   {"book", Sort::Paper, false, false, false},
    {"pen", Sort::Paper, false, false, false},   {"phone", Sort::Personal, false, false, false},
    {"keys", Sort::Personal, false, false, false}, {"watch", Sort::Personal, false, false, false},
    {"remote", Sort::Personal, false, false, false}, {"pillow", Sort::Soft, false, false, false},
    {"lamp", Sort::Lamp, false, false, false},
};

// Rows: sorts; columns: places in the order of Place.
//                            fri mic sin cou cab dra bin tab sof she dsk bed dre saf
constexpr int habits[8][place_count] = {
    /* food     */ {9, 3, 3, 6, 2, 1, 3, 5, 1, 1, 1, 1, 1, 1},
    /* dish     */ {2, 3, 7, 6, 9, 1, 1, 5, 1, 3, 2, 1, 1, 1},
    /* cutlery  */ {1, 1, 6, 5, 2, 9, 1, 5, 1, 1, 1, 1, 1, 1},
    /* wash     */ {1, 1, 7, 6, 7, 3, 3, 1, 1, 2, 1, 1, 2, 1},
    /* paper    */ {1, 1, 1, 2, 1, 6, 2, 5, 4, 9, 9, 4, 3, 2},
    /* personal */ {1, 1, 1, 3, 1, 6, 1, 5, 6, 4, 6, 5, 7, 7},
    /* soft     */ {1, 1, 1, 1, 2, 1, 1, 1, 8, 1, 1, 9, 2, 1},
    /* lamp     */ {1, 1, 1, 2, 1, 1, 1, 6, 1, 6, 9, 1, 6, 1},
};

template <typename Range>
std::optional<int> find(const Range& range, std::string_view name) {
  const auto at = std::ranges::find(range, name, [](const auto& type) { return type.name; });
  if (at == std::ranges::end(range)) return std::nullopt;
  return static_cast<int>(at - std::ranges::begin(range));
}

}  // namespace

std::string_view name(Room room) { return room_names[static_cast<std::size_t>(room)]; }
std::string_view name(Place place) { return place_names[static_cast<std::size_t>(place)]; }

bool can_close(Place place) {
  switch (place) {
    case Place::Fridge:
    case Place::Microwave:
    case Place::Cabinet:
    case Place::Drawer:
    case Place::Dresser:
    case Place::Safe: return true;
    default: return false;
  }
}

std::span<const ReceptacleType> receptacle_types() { return receptacles; }
std::span<const ObjectType> object_types() { return objects; }
bool lies_about(Sort sort) { return sort == Sort::Paper || sort == Sort::Personal; }
int lamp_type() { return static_cast<int>(std::size(objects)) - 1; }

int habit(Sort sort, Place place) { return habits[static_cast<int>(sort)][static_cast<int>(place)]; }

std::optional<int> find_receptacle_type(std::string_view name) { return find(receptacles, name); }
std::optional<int> find_object_type(std::string_view name) { return find(objects, name); }

std::optional<Room> find_room(std::string_view name) {
  const auto at = std::ranges::find(room_names, name);
  if (at == room_names.end()) return std::nullopt;
  return static_cast<Room>(at - room_names.begin());
}

}  // namespace allot::worlds::household
