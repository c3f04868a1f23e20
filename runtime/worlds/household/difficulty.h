// How hard the household world is. Every number that may be turned to calibrate it is here and nowhere else.
#pragma once

namespace allot::worlds::household {

// One level of difficulty; a task is drawn wholly from one level.
struct Level {
  int min_receptacles = 6;  // receptacles in the house, both ends included, 4..18; more of them: a longer search
  int max_receptacles = 8;
  double closed = 0.3;      // chance that a receptacle beyond the needed ones can be closed (and then it is), 0..1
  int min_distractors = 1;  // objects that are not asked for, 0..7
  int max_distractors = 2;
  double hidden = 0.3;      // chance that what is asked for lies in a closed receptacle, 0..1
  double surprise = 0.0;    // chance that it lies where one would look last instead of first, 0..1
  int min_turns = 8;        // turns of the expert, both ends included; a house outside is drawn again, up to 500 times
  int max_turns = 13;
};

// A mixture of three levels. Most things have their place and are searched from room to room: near ones are found by
// all who look, far ones by nobody within the turn limit. Papers and personal things lie about: they are searched in an
// order of one's own, and who finds them in time is luck.
struct Difficulty {
  double scattered_share = 0.7;  // share of tasks about things that lie about, of the kinds that know such things, 0..1
  double far_share = 0.25;       // share of far tasks among the others, 0..1
  Level near{};
  Level far{.min_receptacles = 15,
            .max_receptacles = 18,
            .closed = 0.9,
            .min_distractors = 1,
            .max_distractors = 3,
            .hidden = 1.0,
            .surprise = 0.5,
            .min_turns = 31,
            .max_turns = 60};
  Level scattered{.min_receptacles = 7,
                  .max_receptacles = 10,
                  .closed = 0.5,
                  .min_distractors = 1,
                  .max_distractors = 3,
                  .hidden = 0.6,
                  .surprise = 0.0,
                  .min_turns = 8,
                  .max_turns = 26};
};

}  // namespace allot::worlds::household
