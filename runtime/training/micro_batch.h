// How the sequences of an update are cut into padded tensors. Includes torch: for the .cpp files of this folder alone.
#pragma once

#include <ATen/ATen.h>

#include <span>
#include <vector>

#include "runtime/training/update.h"

namespace allot::training {

// What a sequence asks of the model: its inputs end before the last trained token; what follows that is never needed.
struct SequenceShape {
  int inputs = 0;   // tokens that go in
  int trained = 0;  // tokens that are predicted and trained on
};
SequenceShape shape_of(const TrainSequence& sequence);

// Indices into the update's sequences, alike in length, `micro_tokens` padded tokens at most (one sequence at least).
// Longest first, equal lengths in order of index. Sequences without trained tokens are left out.
std::vector<std::vector<std::size_t>> plan(std::span<const SequenceShape> shapes, int micro_tokens);

struct MicroBatch {
  at::Tensor inputs;      // [B, T] int64, padded with 0 on the right
  at::Tensor selected;    // [N] int64: flat positions whose next token is trained
  at::Tensor targets;     // [N] int64: that next token
  at::Tensor old_logp;    // [N] float
  at::Tensor advantages;  // [N] float
  at::Tensor weights;     // [N] float: of the sequence in the loss
  at::Tensor sequence;    // [N] int64: 0 .. B - 1
};
MicroBatch gather(std::span<const TrainSequence> sequences, std::span<const SequenceShape> shapes,
                  std::span<const double> weights, const std::vector<std::size_t>& members, at::Device device);

}  // namespace allot::training
