// What the benches of swaps share: policies of any length, and a client that drives one slot of an engine.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/live_engine.h"

namespace allot::engine::bench {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool watched = true;  // by a sanitizer, whose own memory and time say nothing of the engine's
#else
inline constexpr bool watched = false;
#endif

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin);
Clock::duration seconds(double count);

// The value behind `name` among the words of the command.
double option(const std::vector<std::string>& words, const std::string& name, double otherwise);
double resident_mib();
int mappings();  // of this process
[[noreturn]] void fail(const std::string& what);
double median(std::vector<double> values);

// `lines` lines of functions and rules; `variant` makes the text another one.
std::string policy_text(int lines, int variant);
PolicyText text_of(const std::string& text);
std::vector<std::string> prompts(int count);  // "p0", "p1", …
Settings settings_of(int slots, const std::filesystem::path& run = {});
std::unique_ptr<LiveEngine> engine_of(const Settings& settings, std::shared_ptr<Policy> policy);
std::unique_ptr<LiveEngine> engine_of(const std::string& text, int slots, const std::filesystem::path& run = {});

// Drives one slot: two rollouts of `turns` turns, again and again with the groups that it is refilled with.
class SlotClient {
 public:
  SlotClient(LiveEngine& engine, int group) : engine_(engine), group_(group) {}

  // One event; the seconds it took.
  double step();

  static constexpr int turns = 16;
  static constexpr int events = 2 * turns + 2;  // of one group

 private:
  Turn turn() const;

  LiveEngine& engine_;
  int group_;
  int next_ = -1;
  int sample_ = 0;
  int turn_ = 0;
};

// ---- the benches (swap_load.cpp); each gives the exit status

int load(const std::vector<std::string>& words);
int sharing(const std::vector<std::string>& words);

}  // namespace allot::engine::bench
