// What the host told the engine in one iteration, in columns, for one record of the journal: with these events a run
// can be played again.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runtime/engine/engine.h"
#include "runtime/engine/json_text.h"

namespace allot::engine {

class EventLog {
 public:
  // `now`: the engine's clock, where the policy has a budget of seconds.
  void begin(const std::vector<std::string>& prompts, std::optional<double> now);
  // The observation is left out where nobody asked for it.
  void turn(RolloutRef rollout, const Turn& turn, bool with_observation, std::optional<double> now);
  void ended(RolloutRef rollout, const Ending& ending, std::optional<double> now);
  void shape_group(const MicroBatch& group);
  void shape(const MicroBatch& batch);
  // Another policy took its place, or a canary came or went; the record `swap` says which.
  void swapped();
  bool begun() const { return begun_; }

  // The events as members of a record.
  void put(JsonText& text) const;
  void clear();

 private:
  void add(char kind, RolloutRef rollout, std::optional<double> now);
  void put_shape(const MicroBatch& batch);
  int text_index(const std::string& text);

  bool begun_ = false;
  std::vector<std::string> prompts_;
  std::string kinds_;            // one letter an event
  std::vector<int> groups_, samples_, tokens_, calls_, actions_, observations_;
  std::vector<double> logprobs_, entropies_, times_;
  bool calls_told_ = false, numbers_told_ = false;
  std::unordered_map<std::string, int> indices_;
  std::vector<std::string> texts_;
  std::string endings_, shapes_;  // JSON, with commas between
};

struct LoggedEvent {
  enum class Kind { Turn, Ended, ShapeGroup, Shape, Swap };
  Kind kind = Kind::Turn;
  RolloutRef rollout;
  Turn turn;
  Ending ending;
  MicroBatch batch;
  std::optional<double> now;
};

struct LoggedIteration {
  std::vector<std::string> prompts;
  std::optional<double> begun;        // the clock at begin_iteration
  std::vector<LoggedEvent> events;
};

// What EventLog::put() wrote. Throws nlohmann's exceptions where `record` has another form.
LoggedIteration read_events(const nlohmann::ordered_json& record);

// JSON knows no NaN and no infinity: they are words. What is no number throws std::exception.
void put_number(JsonText& text, std::optional<double> number);
std::optional<double> read_number(const nlohmann::ordered_json& json);
void put_numbers(JsonText& text, const std::vector<double>& numbers);
std::vector<double> read_numbers(const nlohmann::ordered_json& json);

// A pool as a record of its own, and back.
void put_pool(JsonText& text, const std::vector<PoolPrompt>& prompts);
std::vector<PoolPrompt> read_pool(const nlohmann::ordered_json& record);

}  // namespace allot::engine
