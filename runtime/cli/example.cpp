#include "runtime/cli/example.h"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <utility>

#include "runtime/engine/engine.h"

namespace allot::cli {

namespace {

using engine::Orders;
using engine::RolloutRef;

struct Kind {
  std::string_view prompt;
  std::string_view description;
  bool alike;
  bool rewarded;  // every other rollout
};

constexpr Kind kinds[] = {
    {"alike", "all rollouts take the same actions, none is rewarded", true, false},
    {"wandering", "rollouts differ, none is rewarded", false, false},
    {"mixed", "rollouts differ, half are rewarded", false, true},
};
constexpr int most_rollouts = 1000;   // of one group, so that an example takes no time to speak of
constexpr int most_events = 100'000;  // a policy that asks for ever more rollouts ends here

// Prompts that refill a slot are of the mixed kind.
const Kind& kind_of(std::string_view prompt) {
  for (const Kind& kind : kinds) {
    if (kind.prompt == prompt) return kind;
  }
  return kinds[2];
}

std::string action(const Kind& kind, int sample, int turn) {
  constexpr std::string_view places[] = {"desk", "shelf", "drawer", "lamp", "bed", "sink", "table", "door"};
  const int place = kind.alike ? turn : turn * (sample + 3) + sample;
  return fmt::format("go {}", places[place % 8]);
}

class Driver {
 public:
  Driver(std::unique_ptr<engine::Engine> engine, int slots) : engine_(std::move(engine)), slots_(slots) {}

  Result<std::vector<ExampleGroup>> run() {
    std::vector<std::string> prompts;
    for (const Kind& kind : kinds) prompts.emplace_back(kind.prompt);
    for (int i = 0; i < 64 * slots_; ++i) prompts.push_back(fmt::format("fresh {}", i + 1));
    if (auto done = obey(engine_->begin_iteration(0, prompts)); !done) return done.error();
    for (int events = 0; !closed_ && events < most_events; ++events) {
      const std::optional<std::size_t> next = next_rollout();
      if (!next) return Error{"the example came to a halt: no rollout may go on and the batch is not closed", ""};
      if (auto done = advance(*next); !done) return done.error();
    }
    if (!closed_) return Error{fmt::format("the example did not end within {} turns", most_events), ""};
    if (auto report = engine_->end_iteration(); !report) return report.error();
    std::vector<ExampleGroup> ordered;  // as in `kinds`, whichever closed first
    for (const Kind& kind : kinds) {
      for (const ExampleGroup& example : examples_) {
        if (example.description == kind.description) ordered.push_back(example);
      }
    }
    return ordered;
  }

 private:
  struct Rollout {
    RolloutRef ref;
    int turns = 0;
    bool held = false;
    bool live = true;
  };
  struct Group {
    std::string prompt;
    int started = 0;
    int turns = 0;
  };

  // The rollout that is least far, so that the rollouts of a group keep step as in a batch.
  std::optional<std::size_t> next_rollout() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < rollouts_.size(); ++i) {
      const bool ready = rollouts_[i].live && !rollouts_[i].held;
      if (ready && (!best || rollouts_[i].turns < rollouts_[*best].turns)) best = i;
    }
    return best;
  }

  Result<void> advance(std::size_t index) {
    Rollout& rollout = rollouts_[index];
    Group& group = groups_[rollout.ref.group];
    const Kind& kind = kind_of(group.prompt);
    if (rollout.turns == example_turns) {
      rollout.live = false;
      engine::Ending ending;
      ending.reward = kind.rewarded && rollout.ref.sample % 2 == 0 ? 1.0 : 0.0;
      return obey(engine_->ended(rollout.ref, ending));
    }
    engine::Turn turn;
    turn.action = action(kind, rollout.ref.sample, rollout.turns);
    turn.observation = "you are there";
    turn.tokens = 4;
    turn.calls = 1;
    ++rollout.turns;
    ++group.turns;
    return obey(engine_->turn(rollout.ref, turn));
  }

  Rollout* find(RolloutRef ref) {
    for (Rollout& rollout : rollouts_) {
      if (rollout.ref == ref) return &rollout;
    }
    return nullptr;
  }

  Result<void> obey(const Result<Orders>& orders) {
    if (!orders) return orders.error();
    for (const engine::Start& start : orders->start) {
      groups_[start.group].prompt = start.prompt;
      groups_[start.group].started += start.count;
      if (groups_[start.group].started > most_rollouts) {
        return Error{fmt::format("the policy starts more than {} rollouts in one group", most_rollouts),
                     "an example stays small; `allot test` can decide on larger groups"};
      }
      for (int i = 0; i < start.count; ++i) rollouts_.push_back({{start.group, start.first + i}});
    }
    for (const RolloutRef ref : orders->stop) {
      if (Rollout* rollout = find(ref)) rollout->live = false;
    }
    for (const RolloutRef ref : orders->hold) {
      if (Rollout* rollout = find(ref)) rollout->held = true;
    }
    for (const RolloutRef ref : orders->release) {
      if (Rollout* rollout = find(ref)) rollout->held = false;
    }
    for (const engine::GroupResult& group : orders->closed) note(group);
    closed_ = closed_ || orders->batch_closed;
    return {};
  }

  void note(const engine::GroupResult& result) {
    constexpr std::string_view fates[] = {"trained", "dropped", "surplus", "cancelled"};
    const Group& group = groups_[result.group];
    if (group.prompt.starts_with("fresh")) return;
    ExampleGroup example;
    example.description = kind_of(group.prompt).description;
    example.fate = fates[static_cast<std::size_t>(result.fate)];
    example.trained_on = result.fate == engine::Fate::Trained ? static_cast<int>(result.subset.size()) : 0;
    example.started = group.started;
    example.turns = group.turns;
    example.reason = result.reason;
    example.rule = result.rule;
    examples_.push_back(std::move(example));
  }

  std::unique_ptr<engine::Engine> engine_;
  int slots_;
  std::vector<Rollout> rollouts_;
  std::map<int, Group> groups_;
  std::vector<ExampleGroup> examples_;
  bool closed_ = false;
};

}  // namespace

Result<std::vector<ExampleGroup>> decide_examples(const std::filesystem::path& path,
                                                  const std::map<std::string, std::string>& parameters) {
  engine::Settings settings;
  settings.policy = path;
  settings.parameters = parameters;
  settings.slots = static_cast<int>(std::size(kinds));
  settings.group_size = example_rollouts;
  settings.turn_limit = example_turns;
  settings.native = false;
  // One iteration of rollouts without a model: nothing has to be kept or learnt.
  settings.host = {.defers = true, .shapes = true, .replays = true, .branches = false, .scores = true};
  auto engine = engine::Engine::create(settings);
  if (!engine) return engine.error();
  return Driver(*std::move(engine), settings.slots).run();
}

}  // namespace allot::cli
