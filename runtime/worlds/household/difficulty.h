// How hard the household world is. Every number that may be turned to calibrate it is here and nowhere else.
#pragma once

namespace allot::worlds::household {

// One level of difficulty; a task is drawn wholly from one level.
struct Level {
  int min_receptacles = 6;  // receptacles in the house, both ends included, 4..14; more of them: a longer search
  int max_receptacles = 8;
  double closed = 0.2;      // chance that a receptacle beyond the needed ones can be closed (and then it is), 0..1
  int min_distractors = 1;  // objects that are not asked for, 0..7
  int max_distractors = 2;
  double hidden = 0.2;      // chance that what is asked for lies in a closed receptacle, 0..1
  double surprise = 0.0;    // chance that it lies where one would look last instead of first, 0..1
  int min_turns = 8;        // turns of the expert, both ends included; a house outside is drawn again, up to 200 times
  int max_turns = 14;
};

// A mixture of an easy and a hard level, so that groups which all succeed and groups which all fail both appear.
struct Difficulty {
  double hard_share = 0.5;  // share of hard tasks, 0..1
  Level easy{};
  Level hard{.min_receptacles = 9,
             .max_receptacles = 12,
             .closed = 0.5,
             .min_distractors = 2,
             .max_distractors = 4,
             .hidden = 0.7,
             .surprise = 0.3,
             .min_turns = 15,
             .max_turns = 25};
};

}  // namespace allot::worlds::household
