// Which handler answers at which decision point.
//
// Several of one point may stand side by side (`turn 5`, `turn 10`, `every turn`; `wave 1`, `wave`): the one with the
// number answers before the one without.
#pragma once

#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/engine/events.h"

namespace allot::engine {

inline constexpr int no_handler = -1;

class Points {
 public:
  Points() = default;
  Points(const lang::Program& program, const std::vector<lang::Cell>& parameters);

  // Index into Program::handlers, or no_handler. `number` is the turn or the wave, ignored by the other points.
  int find(lang::Point point, int number = 0) const { return find(point, lang::Subject::Group, number); }
  int find(lang::Point point, lang::Subject subject, int number = 0) const;
  bool numbered(int handler) const;
  int number(int handler) const;  // N of a numbered one, else 0
  // Every handler of a point, in the order of the file.
  std::vector<int> handlers(lang::Point point) const;
  // … asked of one subject: a composition has several of `score` and `shape`, each of which sees what the one before set.
  std::vector<int> chain(lang::Point point, lang::Subject subject) const;
  // Whether single rollouts are asked as they run, by tokens or turns: looked at with every turn.
  bool asks_rollouts() const { return asks_rollouts_; }
  // Handlers of `turn N`, ascending by N.
  std::vector<int> turn_handlers() const;
  bool has(lang::Point point) const;
  bool has(lang::Point point, lang::Subject subject) const;

 private:
  struct Entry {
    lang::Point point;
    lang::Subject subject;
    bool numbered;
    int number;
    int handler;
    int meets;  // how many other numbers fall together with this one; -1: not all that should, so it never comes
  };
  std::vector<Entry> entries_;
  bool asks_rollouts_ = false;
};

// What of a program a host must be able to do.
struct Demands {
  bool defers = false;
  bool branches = false;
  bool shapes = false;
  bool gram = false;      // reads the Gram matrix of a micro-batch
  bool embeddings = false;   // reads those of a group's rollouts
  bool replays = false;
  bool history = false;   // looks at what is known of prompts, or sends them away: else nothing of it is kept
  static Demands of(const lang::Program& program);
};

// Does this host know everything the program asks, and can every `turn N` come within the run's turn limit?
Result<void> check_points(const lang::Program& program, const std::vector<lang::Cell>& parameters, int turn_limit,
                          const Abilities& host);
// … of one of its handlers.
Result<void> check_point(const lang::Program& program, const lang::Handler& handler, const std::vector<lang::Cell>& parameters,
                         int turn_limit, const Abilities& host);

}  // namespace allot::engine
