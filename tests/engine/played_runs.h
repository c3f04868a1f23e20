// Small runs over everything that leaves a record, for tests of what is read from a journal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

namespace allot::engine::bench {

struct PlayedRun {
  std::string name;
  std::string policy;          // its text
  bool with_pool = false;      // the host describes its prompts
  bool with_shapes = false;    // the host asks before the loss
  double seconds_an_event = 0; // by the engine's clock
  double holdout = 0;
  bool shadow = false;
};

// Each of them has another part of the language, of the engine, or of the journal.
std::vector<PlayedRun> played_runs();
// The one of this name.
PlayedRun played_run(const std::string& name);

// Gives what the events go through on their way to the engine.
using Through = std::function<std::unique_ptr<Engine>(Engine&)>;

// Plays iterations `from` .. `to` − 1 into `folder`, as a process of its own: a run that is there goes on. `order` is
// that of the arrival of events.
void play(const PlayedRun& run, const Folder& folder, int from, int to, std::uint64_t order = 0,
          const Through& through = {});

}  // namespace allot::engine::bench
