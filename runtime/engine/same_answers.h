// Answers that change nothing: there are many, so they stand in the journal in columns, by version, handler and rule.
//
// The rows of one group are in the order of its events; those of different groups as they came.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/events.h"
#include "runtime/engine/judge.h"

namespace allot::engine {

// The frame of a question as the handler found it, as JSON: sizes, reads, columns and states, one behind the other.
struct FrameText {
  std::string text;
  std::array<std::size_t, 4> ends{};
};
FrameText frame_of(const Judge& judge, int handler);

class SameAnswers {
 public:
  struct Key {
    int version = 0;
    int handler = 0;
    int rule = -1;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  void add(const Key& key, const FrameText& frame, int iteration, RolloutRef about, int turn, std::string_view carried);
  // Gives each of its records to `use`, and has none any more.
  void take(const std::function<void(std::string)>& use);
  void clear() { rows_.clear(); }  // of an iteration that is given up

 private:
  struct Rows {
    int iteration = 0;
    std::vector<int> groups, samples, turns;
    std::vector<std::string_view> carried;
    std::array<std::string, 4> frames;  // sizes, reads, columns, states: JSON, with commas between
  };
  std::map<Key, Rows> rows_;
};

}  // namespace allot::engine
