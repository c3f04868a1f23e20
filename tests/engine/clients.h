// Clients of one engine on threads of their own.
#pragma once

#include <string>
#include <vector>

#include "tests/engine/bench.h"

namespace allot::engine::bench {

// Drives some rollouts, one event of each in turn. A refill comes with the order that it follows from.
class Client {
 public:
  Client(Engine& engine, int turns) : engine_(engine), turns_(turns) {}

  void take(const Orders& orders);
  void run();

  // Reports turns of rollouts that are held or were stopped all the same, as one that is told of neither.
  bool deaf = false;
  std::vector<GroupResult> closed;
  int batches_closed = 0;
  std::string failed;

 private:
  struct Live {
    RolloutRef ref;
    std::string prompt;
    int turn = 0;
    bool held = false;
  };
  void set_held(RolloutRef ref, bool held);
  Result<Orders> event(Live& live);

  Engine& engine_;
  int turns_;
  bool ended_ = false;
  std::vector<Live> live_;
};

struct Outcome {
  std::vector<GroupResult> closed;
  int batches_closed = 0;

  // By slot and round: prompt, fate, reason, size and subset; fails where a group closed twice.
  std::map<std::string, std::string> verdicts() const;
};

enum class Share {
  Groups,   // slot s is driven by thread s mod `threads`
  Rollouts  // … and so is each rollout of its own; nobody hears of others' holds and stops
};
// One iteration without its barrier.
Outcome drive(Engine& engine, int threads, int turns, const std::vector<std::string>& names, int iteration = 0,
              Share share = Share::Groups);

}  // namespace allot::engine::bench
