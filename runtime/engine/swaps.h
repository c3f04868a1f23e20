// The versions of a run and the requests about them; a part of the engine, under its lock.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/engine/policy.h"
#include "runtime/engine/swap.h"
#include "runtime/engine/version.h"

namespace allot::engine {

// A version that was replaced, so that a rollback finds it.
struct Replaced {
  int number = 0;
  std::string hash;
  std::optional<Origin> origin;              // none for a policy that was put together in memory
  std::shared_ptr<const std::string> state;  // a snapshot as of then; in a run with a folder it lies there instead
};

struct Swaps {
  static constexpr std::size_t most_replaced = 16;

  std::shared_ptr<Version> current;  // of what is opened from now on; null without a policy
  std::shared_ptr<Version> canary;
  double share = 0;                  // of the canary
  bool by_iteration = false;         // the canary takes whole batches
  std::vector<Replaced> before;      // the latest last
  int next_number = 1;
  bool since_barrier = false;        // one was made that no barrier has written yet
  int saved = 0;                     // number of `current` in the latest snapshot

  int next_ticket = 1;
  int accepted = 0;                  // the latest ticket that was carried out or waits
  std::set<int> in_flight;           // tickets that are being prepared
  std::condition_variable resolved;  // one of them was
  struct Waiting {
    SwapRequest request;
    int back_to = -1;
    std::shared_ptr<Version> version;
    std::shared_ptr<const std::string> then;
    SwapReport report;
  };
  std::optional<Waiting> waiting;    // for the end of the iteration
  std::map<int, SwapReport> told;    // what became of those that waited, by ticket
};

// What of it a snapshot holds.
struct SavedVersions {
  int number = 0;
  int next_number = 1;
  bool since_barrier = false;  // no barrier wrote this snapshot: a swap came after it
  std::map<std::string, std::string> parameters;  // --set of the active version
  struct Canary {
    int number = 0;
    std::string hash;
    std::map<std::string, std::string> parameters;
    double share = 0;
  };
  std::optional<Canary> canary;
  struct Before {
    int number = 0;
    std::string hash;
    std::map<std::string, std::string> parameters;
  };
  std::vector<Before> before;
};

}  // namespace allot::engine
