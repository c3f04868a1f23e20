// How token losses become one number: as a weight for every sequence, so that any split into micro-batches adds up to
// the same gradient. Definitions: shaping.md 2.4.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace allot::training {

// verl's modes under verl's names, TRL's under theirs.
enum class Aggregate {
  TokenMean,            // "token-mean"
  SeqMeanTokenSum,      // "seq-mean-token-sum"
  SeqMeanTokenMean,     // "seq-mean-token-mean"
  SeqMeanTokenSumNorm,  // "seq-mean-token-sum-norm": divides by a length only, despite its name
  TrlGrpo,              // "grpo"
  TrlBnpo,              // "bnpo": tokens of the local batch, which here is the whole update
  TrlDapo,              // "dapo": tokens of the whole accumulated batch
  TrlDrGrpo,            // "dr_grpo"
  TrlLuspo,             // "luspo"
};

Result<Aggregate> parse_aggregate(std::string_view name);
std::string_view name(Aggregate mode);

// w_i such that the loss is sum_i w_i sum_t m_it L_it. `tokens[i]` is the number of trained tokens of sequence i, over
// ALL sequences of the update; a dropped group is not among them, so it stands in no numerator and no denominator.
// A sequence without trained tokens gets 0 (verl's sequence modes do not count it, TRL's do). `length` is the padded
// length T or the fixed scale of "seq-mean-token-sum-norm", and the longest completion of "dr_grpo"; > 0 for these.
std::vector<double> sequence_weights(Aggregate mode, std::span<const int> tokens, int length);

}  // namespace allot::training
