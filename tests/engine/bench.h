// A driver without a model: it carries out the engine's orders with rollouts whose course is written down, in an order
// of arrival that a seed chooses.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/engine/live_engine.h"

namespace allot::engine::bench {

// What a rollout will do when nobody stops it.
struct Course {
  std::vector<std::string> actions;
  Status status = Status::Completed;
  std::optional<double> reward;
  std::optional<double> raw_reward;
  int tokens = 10;   // a turn
  std::string answer;
  int calls = 0;
  std::string cause;  // of a failure
};
using Courses = std::function<Course(const std::string& prompt, int sample)>;

// `turns` times the same action, then a reward.
Course steady(int turns, std::optional<double> reward, const std::string& action = "look");

std::shared_ptr<Policy> policy_of(const std::string& text, const std::map<std::string, std::string>& set = {});
std::unique_ptr<LiveEngine> engine_of(const std::string& text, const Settings& settings = {},
                                      const std::map<std::string, std::string>& set = {});
Settings settings(int slots, int group_size, int turn_limit = 30);
std::vector<std::string> prompts(int count);   // "p0", "p1", …
// What an engine carries over, whatever journal it stands on.
std::string without_mark(const std::string& state);

class Driver {
 public:
  Driver(Engine& engine, Courses courses, std::uint64_t order_seed = 0)
      : engine_(engine), courses_(std::move(courses)), random_(order_seed) {}

  // Runs the iteration until the batch is closed, then ends it. Fails the test where nothing can move any more.
  IterationReport run(int iteration, const std::vector<std::string>& prompts);
  // The same without the barrier.
  void generate(int iteration, const std::vector<std::string>& prompts);

  std::function<void()> after_event = [] {};
  std::vector<GroupResult> closed;            // of all iterations, in order of closing
  std::vector<Start> starts;
  std::vector<RolloutRef> stops;
  std::vector<int> deferred;                  // groups, each time they are
  int holds = 0;
  int turns = 0;
  std::map<std::string, GroupResult> by_place() const;  // "iteration is not kept: slot/round"

 private:
  struct Live {
    RolloutRef ref;
    std::string prompt;
    Course course;
    int done = 0;
    bool held = false;
    bool last_reported = false;
  };
  void take(const Orders& orders);
  Live* find(RolloutRef ref);
  void step();

  Engine& engine_;
  Courses courses_;
  std::mt19937_64 random_;
  std::vector<Live> live_;
  bool batch_closed_ = false;
};

}  // namespace allot::engine::bench
