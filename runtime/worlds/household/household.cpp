#include "runtime/worlds/household/household.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>
#include <utility>

#include "runtime/worlds/household/draws.h"
#include "runtime/worlds/household/expert.h"
#include "runtime/worlds/household/task_maker.h"

namespace allot::worlds::household {
namespace {

std::optional<Kind> find_kind(std::string_view word) {
  for (int kind = 0; kind < kind_count; ++kind) {
    if (name(static_cast<Kind>(kind)) == word) return static_cast<Kind>(kind);
  }
  return std::nullopt;
}

class HouseholdSession final : public Session {
 public:
  explicit HouseholdSession(const Difficulty& difficulty) : difficulty_(difficulty) {}

  Result<Reply> reset(const Task& task) override {
    const auto kind = find_kind(task.kind);
    if (!kind) {
      return Error{"The household world has no kind of task `" + task.kind + "` (task `" + task.id + "`).",
                   "kinds are put, examine, clean, heat, cool and puttwo"};
    }
    house_ = make_house(*kind, task.seed, difficulty_).house;
    started_ = true;
    done_ = false;
    return Reply{.observation = introduction(house_), .action = {}, .reward = std::nullopt};
  }

  Result<Reply> act(std::string_view line) override {
    if (!started_) return Error{"The household world was given an action before a task.", {}};
    if (done_) return Error{"The household world was given an action after the rollout had ended.", {}};
    const auto action = parse(line);
    if (!action) {
      return Reply{.observation = "not understood", .action = "invalid", .valid = false, .reward = std::nullopt};
    }
    std::string observation = apply(house_, *action);
    done_ = house_.solved();
    if (done_) observation += " task done";
    return Reply{.observation = std::move(observation),
                 .action = text(*action),
                 .done = done_,
                 .reward = done_ ? std::optional(1.0) : std::nullopt};
  }

  Result<std::optional<double>> score() override {
    if (!started_) return std::optional<double>{};
    return std::optional(done_ ? 1.0 : 0.0);
  }

  std::optional<std::string> expert_action() override {
    if (!started_ || done_) return std::nullopt;
    return text(expert(house_));
  }

 private:
  Difficulty difficulty_;
  House house_;
  bool started_ = false;
  bool done_ = false;
};

// Draws tasks of one split until there are `count`, skipping every house whose fingerprint is taken.
Result<std::vector<Task>> draw_tasks(const Options& options, int count, std::uint64_t stream, std::string_view prefix,
                                     std::unordered_set<std::string>& taken) {
  Draws seeds(options.seed, stream);
  std::vector<Task> tasks;
  tasks.reserve(static_cast<std::size_t>(count));
  int misses = 0;
  while (static_cast<int>(tasks.size()) < count) {
    const auto kind = static_cast<Kind>(tasks.size() % kind_count);
    const std::uint64_t seed = seeds.bits();
    if (!taken.insert(fingerprint(make_house(kind, seed, options.difficulty).house)).second) {
      if (++misses <= 20 * count + 1000) continue;
      return Error{"The household world has not enough different tasks of kind `" + std::string(name(kind)) + "` for " +
                       std::to_string(count) + " " + std::string(prefix) + " ones.",
                   "ask for fewer tasks, or allow more receptacles in runtime/worlds/household/difficulty.h"};
    }
    std::string number = std::to_string(tasks.size());
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
    tasks.push_back({.id = std::string(prefix) + "-" + std::string(name(kind)) + "-" + number,
                     .kind = std::string(name(kind)),
                     .seed = seed});
  }
  return tasks;
}

class HouseholdWorld final : public World {
 public:
  HouseholdWorld(const Options& options, std::vector<Task> training, std::vector<Task> held_out)
      : options_(options), training_(std::move(training)), held_out_(std::move(held_out)) {}

  std::string name() const override { return "household"; }
  std::span<const Task> tasks(Split split) const override {
    return split == Split::Training ? training_ : held_out_;
  }
  Result<std::unique_ptr<Session>> open() override {
    return std::unique_ptr<Session>(std::make_unique<HouseholdSession>(options_.difficulty));
  }
  int turn_limit() const override { return options_.turn_limit; }

  std::vector<std::string> vocabulary() const override {
    std::set<std::string> words{"task", "put",  "two",  "in",    "examine", "under",   "clean",   "then",       "it",
                                "heat", "cool", ".",    "has",   "is",      "empty",   "closed",  "you",        "take",
                                "lamp", "on",   "have", "nothing", "happens", "not",   "understood", "done",    "go",
                                "open", "close", "use", "look",  "invalid"};
    for (const ReceptacleType& type : receptacle_types()) words.emplace(type.name);
    for (const ObjectType& type : object_types()) words.emplace(type.name);
    for (int place = 0; place < place_count; ++place) words.emplace(household::name(static_cast<Place>(place)));
    for (int room = 0; room < room_count; ++room) words.emplace(household::name(static_cast<Room>(room)));
    return {words.begin(), words.end()};
  }

 private:
  Options options_;
  std::vector<Task> training_;
  std::vector<Task> held_out_;
};

bool share(double value) { return value >= 0 && value <= 1; }

std::optional<Error> check(const Level& level, std::string_view which) {
  const auto range = [](int low, int high, int floor, int ceiling) {
    return floor <= low && low <= high && high <= ceiling;
  };
  if (range(level.min_receptacles, level.max_receptacles, 4, 18) && share(level.closed) && share(level.hidden) &&
      range(level.min_distractors, level.max_distractors, 0, 7) && share(level.surprise) &&
      range(level.min_turns, level.max_turns, 1, 60)) {
    return std::nullopt;
  }
  return Error{"A number of the household world's " + std::string(which) + " level is out of range.",
               "the ranges stand beside the numbers in runtime/worlds/household/difficulty.h"};
}

}  // namespace

Result<std::unique_ptr<World>> make_household(const Options& options) {
  if (options.training_tasks < 1 || options.held_out_tasks < 1 || options.turn_limit < 1 ||
      !share(options.difficulty.far_share) || !share(options.difficulty.scattered_share)) {
    return Error{"The household world needs at least one task of each split, one turn, and shares in 0..1.", {}};
  }
  if (auto error = check(options.difficulty.near, "near")) return *std::move(error);
  if (auto error = check(options.difficulty.far, "far")) return *std::move(error);
  if (auto error = check(options.difficulty.scattered, "scattered")) return *std::move(error);
  std::unordered_set<std::string> taken;
  auto held_out = draw_tasks(options, options.held_out_tasks, 1, "held", taken);
  if (!held_out) return held_out.error();
  auto training = draw_tasks(options, options.training_tasks, 2, "train", taken);
  if (!training) return training.error();
  return std::unique_ptr<World>(
      std::make_unique<HouseholdWorld>(options, *std::move(training), *std::move(held_out)));
}

}  // namespace allot::worlds::household
