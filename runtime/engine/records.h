// The records of a run as a reader sees them: each answer of the policy by itself, with the words of its rule, whether it
// was written alone or packed with others.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "common/result.h"
#include "runtime/engine/journal.h"

namespace allot::engine {

// A recorded value, and a list of them, as a message of the policy shows them.
std::string show_value(const nlohmann::ordered_json& value);
std::string show_values(const nlohmann::ordered_json& values);

// One answer of the policy.
struct Answered {
  int iteration = 0;
  int version = 0;    // of the policy, as the run counts them
  int group = -1;     // −1: about a batch or the pool
  int sample = -1;    // −1: about a group
  int handler = -1;
  int turn = 0;
  int rule = -1;      // −1: none held, or a fault
  std::string carried;
  nlohmann::ordered_json record;  // reads, columns, states, holes, verdict, fault
  bool changed = true;            // false: one of those that leave everything as it is
};

// A policy as the journal describes it; nothing is asked of the language.
class RecordedPolicy {
 public:
  explicit RecordedPolicy(const nlohmann::ordered_json& policy) : policy_(policy) {}

  const nlohmann::ordered_json& handler(const Answered& answered) const;
  std::string point(const Answered& answered) const;        // "on turn 2 of group g"
  std::string where(const Answered& answered) const;        // "file:line" of the rule; empty without one
  std::string source_line(const Answered& answered) const;
  std::string reason(const Answered& answered) const;       // text and values of the rule's `because`, put together
  std::string verdict(const Answered& answered) const;
  std::string hash() const { return policy_.at("hash").get<std::string>(); }

 private:
  const nlohmann::ordered_json* rule(const Answered& answered) const;
  nlohmann::ordered_json policy_;
};

// Gives each record to one of two functions.
class RecordReader {
 public:
  using UseAnswer = std::function<void(const Answered&, const RecordedPolicy&)>;
  using UseOther = std::function<void(const nlohmann::ordered_json&)>;
  RecordReader(UseAnswer answer, UseOther other) : answer_(std::move(answer)), other_(std::move(other)) {}

  void read(const nlohmann::ordered_json& record);

 private:
  void read_answer(const nlohmann::ordered_json& record, const RecordedPolicy& policy);
  void unpack(const nlohmann::ordered_json& rows, const RecordedPolicy& policy);

  UseAnswer answer_;
  UseOther other_;
  std::map<int, RecordedPolicy> policies_;  // by the number of the version; 0: what a process began with
};

// All records of a run in order. Where a run was resumed, iterations that were under way or lay after the checkpoint
// were run again: of each the telling is read on which the run stands at the journal's end.
Result<JournalProblems> read_records(const std::filesystem::path& run_folder, RecordReader& reader);

}  // namespace allot::engine
