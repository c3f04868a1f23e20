// One token drawn from logits.
#pragma once

#include <span>

namespace allot::training {

struct Draw {
  int token = 0;
  // Nats, under softmax(logits / temperature): the distribution that is trained on, before top-p cuts it.
  float logprob = 0;
  float entropy = 0;  // of that same distribution, nats
};

// Draws by the inverse of the cumulated probabilities at `uniform` in [0, 1), tokens in order of their id.
//   temperature >= 0; 0 takes the likeliest token (the lower id among equals) and reports figures at temperature 1
//   top_p in (0, 1]; below 1 only the fewest likeliest tokens that together reach it may be drawn
// `logits` is overwritten.
Draw draw_token(std::span<float> logits, double temperature, double top_p, double uniform);

}  // namespace allot::training
