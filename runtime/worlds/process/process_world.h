// Any world as a child process that speaks one JSON object a line over its stdin and stdout (docs/worlds.md).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/worlds/world.h"

namespace allot::worlds::process {

struct Options {
  std::vector<std::string> command;               // the program and its arguments; no shell
  int children = 8;                               // each serves one session at a time; started when first needed
  std::chrono::milliseconds hello_timeout{60'000};  // from the start of a child to its hello
  std::chrono::milliseconds reply_timeout{20'000};  // for every other answer
  std::size_t max_line = std::size_t{1} << 20;      // bytes
};

// Starts the first child and asks it what it is. Errors: it cannot be started, does not speak the protocol, or names no
// tasks.
//
// A child that crashes, hangs, prints rubbish or dies makes an Error of the session it serves, with the cause; the next
// reset gets a fresh child. A world that reports an error by itself loses the rollout, not the child.
Result<std::unique_ptr<World>> open_process(const Options& options);

}  // namespace allot::worlds::process
