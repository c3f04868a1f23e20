#include "tests/engine/bench.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/math/checksum.h"

namespace allot::engine::bench {

Course steady(int turns, std::optional<double> reward, const std::string& action) {
  Course course;
  course.actions.assign(static_cast<std::size_t>(turns), action);
  course.reward = reward;
  return course;
}

std::shared_ptr<Policy> policy_of(const std::string& text, const std::map<std::string, std::string>& set) {
  const auto source = std::make_shared<const lang::Source>("test.allot", text);
  lang::Diagnostics diagnostics;
  auto checked = lang::check(source, diagnostics);
  INFO(lang::render_all(diagnostics, *source));
  REQUIRE(checked);
  REQUIRE_FALSE(diagnostics.has_errors());
  checked->hash = math::sha256_hex(lang::hashed_text(*source));
  auto parameters = lang::bind(*checked, set);
  REQUIRE(parameters);
  auto program = std::make_shared<const lang::Program>(*std::move(checked));
  auto evaluator = compiler::evaluate(*program);
  return std::make_shared<Policy>(std::move(program), *std::move(parameters), std::move(evaluator));
}

std::unique_ptr<LiveEngine> engine_of(const std::string& text, const Settings& settings,
                                      const std::map<std::string, std::string>& set) {
  auto engine = LiveEngine::create(settings, text.empty() ? nullptr : policy_of(text, set));
  if (!engine) FAIL(engine.error().text());
  return *std::move(engine);
}

Settings settings(int slots, int group_size, int turn_limit) {
  Settings settings;
  settings.slots = slots;
  settings.group_size = group_size;
  settings.turn_limit = turn_limit;
  settings.host = {.defers = true, .shapes = true, .replays = true, .branches = false, .scores = true};
  return settings;
}

std::vector<std::string> prompts(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("p{}", i));
  return names;
}

std::string without_mark(const std::string& state) {
  auto json = nlohmann::ordered_json::parse(state);
  json.erase("journal");
  json.erase("crc");
  return json.dump();
}

std::map<std::string, GroupResult> Driver::by_place() const {
  std::map<std::string, GroupResult> results;
  for (const GroupResult& result : closed) {
    results[fmt::format("{}/{}", result.slot, result.round)] = result;
  }
  return results;
}

Driver::Live* Driver::find(RolloutRef ref) {
  const auto found = std::find_if(live_.begin(), live_.end(), [&](const Live& live) { return live.ref == ref; });
  return found == live_.end() ? nullptr : &*found;
}

void Driver::take(const Orders& orders) {
  for (const RolloutRef& ref : orders.stop) {
    REQUIRE(find(ref) != nullptr);  // nobody is stopped twice
    std::erase_if(live_, [&](const Live& live) { return live.ref == ref; });
    stops.push_back(ref);
  }
  for (const RolloutRef& ref : orders.hold) find(ref)->held = true;
  holds += static_cast<int>(orders.hold.size());
  for (const RolloutRef& ref : orders.release) find(ref)->held = false;
  for (const Start& start : orders.start) {
    starts.push_back(start);
    for (int sample = start.first; sample < start.first + start.count; ++sample) {
      Live live;
      live.ref = {start.group, sample};
      live.prompt = start.prompt;
      live.course = courses_(start.prompt, sample);
      live_.push_back(std::move(live));
    }
  }
  deferred.insert(deferred.end(), orders.deferred.begin(), orders.deferred.end());
  closed.insert(closed.end(), orders.closed.begin(), orders.closed.end());
  batch_closed_ = batch_closed_ || orders.batch_closed;
  after_event();
}

void Driver::step() {
  std::vector<std::size_t> movable;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!live_[i].held) movable.push_back(i);
  }
  REQUIRE_FALSE(movable.empty());  // all held, and nobody will release them
  Live& live = live_[movable[random_() % movable.size()]];
  const int total = static_cast<int>(live.course.actions.size());
  if (live.done < total) {
    Turn turn;
    turn.action = live.course.actions[static_cast<std::size_t>(live.done)];
    turn.tokens = live.course.tokens;
    turn.calls = live.course.calls;
    turn.last = live.done + 1 == total;
    ++live.done;
    ++turns;
    auto orders = engine_.turn(live.ref, turn);
    if (!orders) FAIL(orders.error().text());
    return take(*orders);
  }
  Ending ending;
  ending.status = live.course.status;
  ending.reward = live.course.reward;
  ending.raw_reward = live.course.raw_reward;
  ending.answer = live.course.answer;
  ending.cause = live.course.cause;
  const RolloutRef ref = live.ref;
  std::erase_if(live_, [&](const Live& each) { return each.ref == ref; });
  auto orders = engine_.ended(ref, ending);
  if (!orders) FAIL(orders.error().text());
  take(*orders);
}

void Driver::generate(int iteration, const std::vector<std::string>& prompts) {
  batch_closed_ = false;
  auto orders = engine_.begin_iteration(iteration, prompts);
  if (!orders) FAIL(orders.error().text());
  take(*orders);
  while (!batch_closed_) step();
  REQUIRE(live_.empty());
}

IterationReport Driver::run(int iteration, const std::vector<std::string>& prompts) {
  generate(iteration, prompts);
  auto report = engine_.end_iteration();
  if (!report) FAIL(report.error().text());
  return *std::move(report);
}

}  // namespace allot::engine::bench
