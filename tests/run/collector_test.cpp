// The collector against a tiny world and a real sampler: what leaves the batch, what is reported, what comes back.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>

#include "runtime/training/model.h"
#include "runtime/training/run/collector.h"

using namespace allot;
using namespace allot::training;
using worlds::Reply;
using worlds::Split;
using worlds::Task;

namespace {

// Ends after `task.seed` turns with reward 1 for even samples of the world's own counting; `dies` breaks in turn 2.
class ScriptedSession : public worlds::Session {
 public:
  Result<Reply> reset(const Task& task) override {
    task_ = task;
    turns_ = 0;
    return Reply{"start here", "", true, false, std::nullopt};
  }
  Result<Reply> act(std::string_view) override {
    ++turns_;
    if (task_.kind == "dies" && turns_ == 2) return Error{"exited with signal 9 in turn 2", ""};
    const bool done = turns_ >= static_cast<int>(task_.seed);
    return Reply{"go on", "walk", true, done, done ? std::optional<double>(1) : std::nullopt};
  }
  Result<std::optional<double>> score() override { return std::optional<double>(0); }
  std::optional<std::string> expert_action() override { return std::nullopt; }

 private:
  Task task_;
  int turns_ = 0;
};

class ScriptedWorld : public worlds::World {
 public:
  explicit ScriptedWorld(std::vector<Task> tasks, int sessions) : tasks_(std::move(tasks)), sessions_(sessions) {}
  std::string name() const override { return "scripted"; }
  std::span<const Task> tasks(Split) const override { return tasks_; }
  Result<std::unique_ptr<worlds::Session>> open() override { return std::unique_ptr<worlds::Session>(new ScriptedSession); }
  int max_sessions() const override { return sessions_; }
  int turn_limit() const override { return 6; }
  std::vector<std::string> vocabulary() const override { return {"start", "here", "go", "on", "walk"}; }

 private:
  std::vector<Task> tasks_;
  int sessions_;
};

ModelConfig tiny(int vocabulary) {
  ModelConfig config;
  config.vocab_size = vocabulary;
  config.hidden_size = 16;
  config.intermediate_size = 32;
  config.layers = 1;
  config.heads = 2;
  config.kv_heads = 1;
  config.max_positions = 128;
  return config;
}

// Everything a collection needs, around one scripted world.
class Stage {
 public:
  Stage(std::vector<Task> tasks, int slots, int group_size, int sessions = 64)
      : world_(std::move(tasks), sessions), tokenizer_(Tokenizer::from_words(world_.vocabulary())),
        model_(*Model::fresh(tiny(tokenizer_.size()), 1, Device::Cpu)),
        sampler_(*Sampler::make(model_, sampler_options(slots * group_size))),
        collector_(world_, tokenizer_, {5, 6, 3, group_size}), slots_(slots), group_size_(group_size) {}

  Collected collect(const HostGate& gate = {}) {
    engine::Settings settings;
    settings.slots = slots_;
    settings.group_size = group_size_;
    settings.turn_limit = 6;
    settings.tokens_per_turn = 3;
    auto engine = engine::Engine::create(settings);
    REQUIRE(engine);
    std::vector<const Task*> tasks;
    for (const auto& task : world_.tasks(Split::Training)) tasks.push_back(&task);
    auto collected = collector_.collect(sampler_, **engine, 0, tasks, gate);
    if (!collected) FAIL(collected.error().text());
    return *std::move(collected);
  }
  Sampler& sampler() { return sampler_; }

 private:
  SamplerOptions sampler_options(int rows) const {
    SamplerOptions options;
    options.end_token = tokenizer_.newline();
    options.rows = rows;
    options.max_context = 128;
    options.threads = 1;
    return options;
  }

  ScriptedWorld world_;
  Tokenizer tokenizer_;
  Model model_;
  Sampler sampler_;
  Collector collector_;
  int slots_;
  int group_size_;
};

std::map<std::string, int> turns_by_prompt(const Collected& collected) {
  std::map<std::string, int> turns;
  for (const auto& rollout : collected.rollouts) turns[rollout.prompt] += static_cast<int>(rollout.turns.size());
  return turns;
}

}  // namespace

TEST_CASE("every rollout runs to its end, and its tokens say who wrote them") {
  Stage stage({{"short", "", 2}, {"long", "", 5}}, 2, 3);
  const auto collected = stage.collect();
  REQUIRE(collected.rollouts.size() == 6);
  REQUIRE(collected.groups.size() == 2);
  const auto turns = turns_by_prompt(collected);
  CHECK(turns.at("short") == 3 * 2);
  CHECK(turns.at("long") == 3 * 5);
  for (const auto& rollout : collected.rollouts) {
    CHECK(rollout.status == engine::Status::Completed);
    CHECK(rollout.reward == 1.0);
    REQUIRE(rollout.trained.size() == rollout.tokens.size());
    REQUIRE(rollout.logprobs.size() == rollout.tokens.size());
    int written = 0;
    for (std::size_t i = 0; i < rollout.tokens.size(); ++i) {
      written += rollout.trained[i];
      CHECK((rollout.trained[i] == 1 ? rollout.logprobs[i] < 0 : rollout.logprobs[i] == 0));
    }
    CHECK(written == rollout.generated);
  }
}

TEST_CASE("the turn limit ends a rollout as truncated with the world's score") {
  Stage stage({{"endless", "", 100}}, 1, 2);
  for (const auto& rollout : stage.collect().rollouts) {
    CHECK(rollout.status == engine::Status::Truncated);
    CHECK(rollout.turns.size() == 6);
    CHECK(rollout.reward == 0.0);
  }
}

TEST_CASE("a world that dies in mid-turn ends its rollouts as errors, unscored, and the run goes on") {
  Stage stage({{"bad", "dies", 4}, {"good", "", 3}}, 2, 2);
  const auto collected = stage.collect();
  REQUIRE(collected.rollouts.size() == 4);
  for (const auto& rollout : collected.rollouts) {
    const bool bad = rollout.prompt == "bad";
    CHECK(rollout.status == (bad ? engine::Status::Error : engine::Status::Completed));
    CHECK(rollout.reward.has_value() == !bad);
    if (bad) CHECK(rollout.cause == "exited with signal 9 in turn 2");
  }
}

TEST_CASE("a stopped group leaves the batch and saves its turns, its siblings in the batch do not notice") {
  const std::vector<Task> tasks = {{"a", "", 6}, {"b", "", 6}};
  Stage stage(tasks, 2, 3);
  const auto whole = stage.collect();
  const auto before = stage.sampler().computed_tokens();
  HostGate gate;
  gate.turn = 2;
  gate.stop = [](const std::string& prompt, int) { return prompt == "a"; };
  gate.reason = "test";
  const auto cut = stage.collect(gate);
  CHECK(stage.sampler().computed_tokens() - before < before);
  const auto turns = turns_by_prompt(cut);
  CHECK(turns.at("a") < 3 * 6);
  CHECK(turns.at("b") == 3 * 6);
  for (const auto& group : cut.groups)
    CHECK(group.fate == (group.prompt == "a" ? engine::Fate::Dropped : engine::Fate::Trained));
  // The same draws whoever shares the batch: the outcome of a stopped group can be learnt afterwards.
  for (std::size_t i = 0; i < whole.rollouts.size(); ++i) {
    if (cut.rollouts[i].prompt == "b") CHECK(cut.rollouts[i].tokens == whole.rollouts[i].tokens);
    if (cut.rollouts[i].prompt == "a") {
      const auto& part = cut.rollouts[i].tokens;
      const auto& all = whole.rollouts[i].tokens;
      REQUIRE(part.size() <= all.size());
      CHECK(std::equal(part.begin(), part.end(), all.begin()));
    }
  }
}

TEST_CASE("groups wait for sessions and still all run") {
  Stage stage({{"a", "", 2}, {"b", "", 3}, {"c", "", 2}}, 3, 2, 2);
  CHECK(stage.collect().rollouts.size() == 6);
}
