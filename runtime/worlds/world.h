// A world answers text with text: it shows a task, takes actions, and scores the rollout at its end.
//
// Worlds know nothing of policies, groups or training. One is built in (household/); every other one is a child
// process that speaks one JSON object a line (process/, docs/worlds.md).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace allot::worlds {

enum class Split { Training, HeldOut };

// One prompt. `id` is stable over epochs and runs; `kind` is the world's own word for the sort of task.
struct Task {
  std::string id;
  std::string kind;
  std::uint64_t seed = 0;
};

// What the world says after a reset or an action.
struct Reply {
  std::string observation;
  std::string action;            // what the world understood, in canonical form; "invalid" where it understood nothing
  bool valid = true;             // false: the action could not be parsed; it still costs a turn
  bool done = false;             // the rollout ended by itself
  std::optional<double> reward;  // set once the rollout is scored; an unscored rollout has none, never 0
};

// One rollout's place in a world. A session serves one rollout at a time and may be reset for the next.
class Session {
 public:
  virtual ~Session() = default;
  // The first observation of `task`. An error means the world failed, not the model: the rollout ends as `error`.
  virtual Result<Reply> reset(const Task& task) = 0;
  virtual Result<Reply> act(std::string_view text) = 0;
  // The score of the rollout as it stands, asked when the turn limit cuts it off. None: unscored.
  virtual Result<std::optional<double>> score() = 0;
  // The next action of the world's own demonstration, where it has one; used by the supervised warm-up alone.
  virtual std::optional<std::string> expert_action() = 0;
};

class World {
 public:
  virtual ~World() = default;
  virtual std::string name() const = 0;
  // The two splits share no task.
  virtual std::span<const Task> tasks(Split split) const = 0;
  virtual Result<std::unique_ptr<Session>> open() = 0;
  // How many sessions can be open at once; open() gives an error beyond it.
  virtual int max_sessions() const { return std::numeric_limits<int>::max(); }
  virtual int turn_limit() const = 0;
  // Every word that observations and valid actions of this world can hold: the word-level tokenizer is built from it.
  virtual std::vector<std::string> vocabulary() const = 0;
};

}  // namespace allot::worlds
