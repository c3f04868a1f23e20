// A driver that follows what is written: which group's rollouts take which turns and end with which score.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/live_engine.h"
#include "runtime/trial/record.h"

namespace allot::trial {

struct Part {                // one group of an iteration
  std::string prompt;
  std::vector<lang::tree::Score::Kind> kinds;   // by order of arrival
  std::vector<double> rewards;                  // of kind Reward
  std::vector<std::vector<std::string>> actions;  // by sample
};

// What became of a group.
struct Course {
  int group = -1;
  std::size_t arrived = 0;   // scores used in this iteration
  // Rollouts when the batch was closed, over the group's whole life, as its handlers count them.
  int started = 0;
  int stopped = 0;
  int scored = 0;
  std::string fate;          // "trained", …; empty while it is open
  std::optional<engine::GroupResult> result;
};

class Script {
 public:
  Script(engine::LiveEngine& engine, int tokens) : engine_(engine), tokens_(tokens) {}

  // Until the batch is closed; the barrier is left to the caller.
  Result<void> play(int iteration, const std::vector<std::string>& prompts, const std::vector<Part>& parts);
  const std::map<std::string, Course>& courses() const { return courses_; }  // of this iteration, by prompt

 private:
  struct Live {
    engine::RolloutRef ref;
    std::string prompt;
    std::size_t turns = 0;
    bool held = false;
  };
  Result<void> take(const engine::Orders& orders);
  Course& course_of(int group, const std::string& prompt);
  Result<void> step(const Part& part, Live& live);
  void count();
  Live* next(const std::string& prompt, const Part& part);

  engine::LiveEngine& engine_;
  int tokens_;
  std::vector<Live> live_;
  std::map<std::string, Course> courses_;
  bool closed_ = false;
};

}  // namespace allot::trial
