// Which handler answers at which decision point.
//
// Several of one point may stand side by side (`turn 5`, `turn 10`, `every turn`; `wave 1`, `wave`): the one with the
// number answers before the one without.
#pragma once

#include <vector>

#include "common/result.h"
#include "lang/program.h"

namespace allot::engine {

inline constexpr int no_handler = -1;

class Points {
 public:
  Points() = default;
  Points(const lang::Program& program, const std::vector<lang::Cell>& parameters);

  // Index into Program::handlers, or no_handler. `number` is the turn or the wave, ignored by the other points.
  int find(lang::Point point, int number = 0) const;
  bool numbered(int handler) const;
  int number(int handler) const;  // N of a numbered one, else 0
  // Handlers of `turn N`, ascending by N.
  std::vector<int> turn_handlers() const;
  bool has(lang::Point point) const;

 private:
  struct Entry {
    lang::Point point;
    bool numbered;
    int number;
    int handler;
  };
  std::vector<Entry> entries_;
};

// Does this host know everything the program asks, and can every `turn N` come within the run's turn limit?
Result<void> check_points(const lang::Program& program, const std::vector<lang::Cell>& parameters, int turn_limit);

}  // namespace allot::engine
