// A small deterministic driver over the engine, which a test may kill at any moment.
//
//   run_driver FOLDER ITERATIONS CHECKPOINT_EVERY SLEEP_MICROSECONDS
//
// It resumes from FOLDER/checkpoint.json where that is there: its own numbers and the name of the folder with the engine's
// state, in one file that is replaced as a whole and last. "began N", "ended N" (end_iteration returned: the iteration is acknowledged) and "checkpoint N"
// go to stdout as they happen, "done" at the end. An error goes to stderr, with status 1.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/engine.h"
#include "runtime/engine/journal.h"
#include "runtime/math/random.h"

namespace {

using namespace allot;
using namespace allot::engine;
namespace fs = std::filesystem;

constexpr int prompt_count = 40;
constexpr std::uint64_t seed = 7;

const char* const policy = R"(
policy survivor
hit when reward >= 1
budget 4000 rollouts per run
budget 2000 tokens per iteration, carry over
refill at most 3 rounds then train_partial
state belief: beta per prompt = beta(1, 1) decay 0.95
state seen: groups per run = 0
on select of pool p { take 2 * p.slots by draw("order") - (q.reward_mean ?? 0) }
on size of batch b { start 2 each, up to 4 }
on turn 2 of group g {
  when (mean_pairwise(normalized_edit_distance, prefixes(g.actions, 2, padded)) ?? 1) < 0.2 then stop, drop, refill because "close"
  otherwise continue
}
on wave 1 of group g {
  let rate = g.hit_rate ?? 0
  when rate >= 1.0 then stop, drop, refill, evict until epoch + 1
  when rate <= 0 and draw("wait") < 0.5 then stop, drop, refill because "rate {rate}"
  otherwise defer at most 2 iterations, refill
}
on resume of group g by -(g.reward_std ?? 0), g.age { complete to 4 }
on finish of group g {
  when g.flat then drop because "flat, {belief[g.prompt]}"
  otherwise train
}
on update of batch b {
  for each g in b.ended { remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses) }
  remember seen = seen + b.size
  report seen = seen
}
)";

[[noreturn]] void fail(const Error& error) {
  fmt::print(stderr, "run_driver: {}\n", error.text());
  std::exit(1);
}

template <typename T>
T demand(Result<T> result) {
  if (!result) fail(result.error());
  return *std::move(result);
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

struct Live {
  RolloutRef ref;
  std::uint64_t key = 0;
  int turns = 0;
  int done = 0;
  bool held = false;
};

// The host: its own part of a checkpoint is where it stands among its prompts.
class Host {
 public:
  Host(std::unique_ptr<Engine> engine, int sleep) : engine_(std::move(engine)), sleep_(sleep) {}

  void iterate(int iteration) {
    std::vector<PoolPrompt> pool;
    std::vector<std::string> order;
    for (int i = 0; i < prompt_count; ++i) {
      pool.push_back({fmt::format("p{}", i), i % 2 == 0 ? "even" : "odd"});
      order.push_back(fmt::format("p{}", (next_ + i) % prompt_count));
    }
    if (auto set = engine_->set_pool(pool); !set) fail(set.error());
    closed_ = false;
    take(demand(engine_->begin_iteration(iteration, order)));
    for (std::uint64_t event = 0; !closed_; ++event) step(iteration, event);
    const IterationReport report = demand(engine_->end_iteration());
    next_ = (next_ + static_cast<int>(report.trained.size())) % prompt_count;
  }

  void save(const fs::path& file, int iteration) const {
    const fs::path all = file.parent_path() / "checkpoints", own = all / fmt::format("{}", iteration);
    fs::remove_all(own);  // of a process that was killed before it was done
    fs::create_directories(own);
    if (auto saved = engine_->save_state_in(own); !saved) fail(saved.error());
    const nlohmann::json checkpoint{{"iteration", iteration}, {"next", next_}, {"engine", own.filename().string()}};
    if (auto written = replace_file(file, checkpoint.dump()); !written) fail(written.error());
    for (const auto& entry : fs::directory_iterator(all)) {
      if (entry.path() != own) fs::remove_all(entry.path());
    }
  }

  // The iteration to go on with.
  int restore(const fs::path& file) {
    std::ifstream stream(file);
    const auto checkpoint = nlohmann::json::parse(stream);
    next_ = checkpoint.at("next").get<int>();
    const fs::path own = file.parent_path() / "checkpoints" / checkpoint.at("engine").get<std::string>();
    if (auto restored = engine_->restore_from(own); !restored) fail(restored.error());
    return checkpoint.at("iteration").get<int>() + 1;
  }

 private:
  void take(const Orders& orders) {
    for (const RolloutRef& ref : orders.stop) std::erase_if(live_, [&](const Live& live) { return live.ref == ref; });
    const auto hold = [&](const std::vector<RolloutRef>& refs, bool held) {
      for (Live& live : live_) {
        if (std::find(refs.begin(), refs.end(), live.ref) != refs.end()) live.held = held;
      }
    };
    hold(orders.hold, true);
    hold(orders.release, false);
    for (const Start& start : orders.start) {
      for (int sample = start.first; sample < start.first + start.count; ++sample) {
        const std::uint64_t key = math::combine(math::hash_text(start.prompt), static_cast<std::uint64_t>(sample));
        live_.push_back({{start.group, sample}, key, 1 + static_cast<int>(math::below(4, key, 1, 0)), 0, false});
      }
    }
    closed_ = closed_ || orders.batch_closed;
  }

  // One event of a rollout that may move, chosen by the iteration and the number of the event.
  void step(int iteration, std::uint64_t event) {
    if (sleep_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(sleep_));
    std::vector<std::size_t> movable;
    for (std::size_t i = 0; i < live_.size(); ++i) {
      if (!live_[i].held) movable.push_back(i);
    }
    if (movable.empty()) fail({"nobody can move", ""});
    const std::size_t at = movable[math::below(movable.size(), seed, static_cast<std::uint64_t>(iteration), event)];
    Live& live = live_[at];
    if (live.done < live.turns) {
      ++live.done;
      Turn turn;
      turn.action = fmt::format("a{}", math::below(3, live.key, 2, static_cast<std::uint64_t>(live.done)));
      turn.tokens = 4 + static_cast<int>(math::below(10, live.key, 3, static_cast<std::uint64_t>(live.done)));
      turn.last = live.done == live.turns;
      return take(demand(engine_->turn(live.ref, turn)));
    }
    const RolloutRef ref = live.ref;
    Ending ending;
    if (math::below(9, live.key, 4, 0) == 0) {
      ending.status = Status::Timeout;
    } else {
      ending.reward = static_cast<double>(math::below(2, live.key, 5, 0));
    }
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
    take(demand(engine_->ended(ref, ending)));
  }

  std::unique_ptr<Engine> engine_;
  int sleep_ = 0;
  int next_ = 0;
  std::vector<Live> live_;
  bool closed_ = false;
};

}  // namespace

int main(int count, char** words) {
  if (count != 5) fail({"run_driver FOLDER ITERATIONS CHECKPOINT_EVERY SLEEP_MICROSECONDS", ""});
  const fs::path folder = words[1];
  const int iterations = std::atoi(words[2]), every = std::atoi(words[3]);
  std::error_code failure;
  fs::create_directories(folder, failure);
  const fs::path policy_file = folder / "policy.allot";
  if (!fs::exists(policy_file, failure)) {
    if (auto written = replace_file(policy_file, policy); !written) fail(written.error());
  }
  Settings settings;
  settings.policy = policy_file;
  settings.run_folder = folder;
  settings.seed = seed;
  settings.slots = 3;
  settings.group_size = 4;
  settings.turn_limit = 8;
  settings.native = false;
  settings.host.defers = true;
  Host host(demand(Engine::create(settings)), std::atoi(words[4]));
  const fs::path checkpoint = folder / "checkpoint.json";
  int iteration = 0;
  if (fs::exists(checkpoint, failure)) {
    iteration = host.restore(checkpoint);
  } else {
    host.save(checkpoint, -1);  // who is killed before the next one begins anew from this
  }
  for (; iteration < iterations; ++iteration) {
    say(fmt::format("began {}", iteration));
    host.iterate(iteration);
    say(fmt::format("ended {}", iteration));
    if ((iteration + 1) % every != 0 && iteration + 1 != iterations) continue;
    host.save(checkpoint, iteration);
    say(fmt::format("checkpoint {}", iteration));
  }
  say("done");
  return 0;
}
