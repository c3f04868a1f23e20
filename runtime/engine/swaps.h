// The versions of a run, and swaps on their way to it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/policy.h"
#include "runtime/engine/state.h"
#include "runtime/engine/swap.h"
#include "runtime/engine/version.h"

namespace allot::engine {

struct Snapshot;
struct CarriedMemory;

// The state as of a swap: it may be large, so it is held until the run folder has it, and without one of the latest alone.
struct StateThen {
  int version = 0;  // that was replaced
  std::string at;   // Audit::place() of the swap: a run that goes back may replace a version more than once
  std::shared_ptr<const Snapshot> snapshot;
  std::atomic<bool> on_disk = false;
  std::atomic<bool> failed = false;  // the thread behind the barrier could not write it: …
  std::string problem = {};          // … why not, until it tries again
};

// A version that was replaced, so that a rollback finds it.
struct Replaced {
  int number = 0;
  std::string at;                            // of its state; empty of older programs
  std::string hash;
  std::shared_ptr<const Origin> origin;      // null for a policy that was put together in memory
  std::shared_ptr<StateThen> state;
};

// What the preparation of a swap looks at, without the engine's lock: as of the last event that changed any of it.
struct ActivePolicy {
  std::shared_ptr<Policy> policy;            // null without one
  int number = 0;
  int saved = 0;                             // the latest change in the latest snapshot
  bool has_canary = false;
  std::optional<Replaced> before;            // the latest
  std::shared_ptr<const std::vector<std::string>> prompts;  // offered in this iteration
};

// All of a swap that takes time.
struct PreparedSwap {
  std::shared_ptr<Version> version;          // null: the canary is taken back
  std::shared_ptr<StateStore> then;          // memory that comes with it
  std::shared_ptr<CarriedMemory> ahead;      // … or that of now in its form, as of the preparation; null: it is made later
  int back_to = -1;                          // number of the replaced version that this is
  std::string record;                        // of the policy, for the journal; empty without one
  std::shared_ptr<StateThen> left;           // once it is carried out: the state as of now
};

// A part of the engine, under its lock.
struct Swaps {
  static constexpr std::size_t most_replaced = 16;

  std::shared_ptr<Version> current;  // of what is opened from now on; null without a policy
  std::shared_ptr<Version> canary;
  double share = 0;                  // of the canary
  bool by_iteration = false;         // the canary takes whole batches
  std::vector<Replaced> before;      // the latest last
  // Texts that a state may need that is restored, where no run folder keeps them: what the run began with, then the latest
  // last.
  struct Known {
    std::string hash;
    std::shared_ptr<const Origin> origin;
  };
  std::vector<Known> known;
  int next_number = 1;
  bool since_barrier = false;        // one was made that no barrier has written yet
  int saved = 0;                     // the latest change (SwapReport) in the latest snapshot
  static constexpr std::size_t most_remembered = 256;
  std::vector<std::string> carried_out;  // ids of requests, the latest last
  int accepted = 0;                  // the latest ticket that was carried out or waits
  struct Waiting {
    SwapRequest request;
    PreparedSwap prepared;
    SwapReport report;
  };
  std::optional<Waiting> waiting;    // for the end of the iteration
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
    std::string at = {};  // of its state, as Replaced has it
  };
  std::vector<Before> before;
  std::vector<std::string> carried_out;
};

}  // namespace allot::engine
