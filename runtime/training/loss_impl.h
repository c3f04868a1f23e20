// The losses over tensors of trained tokens. Includes torch: for the .cpp files of this folder alone.
#pragma once

#include <ATen/ATen.h>

#include "runtime/training/loss.h"

namespace allot::training {

// The trained tokens of a micro-batch, one after another; no padding. Sequences are whole: those losses that form one
// ratio a sequence need all its tokens.
struct TokenBatch {
  at::Tensor new_logp;    // [N], differentiable
  at::Tensor old_logp;    // [N]
  at::Tensor advantages;  // [N]
  at::Tensor sequence;    // [N] int64, 0 .. sequences - 1
  std::int64_t sequences = 0;
};

// [N]; not yet weighted.
at::Tensor policy_token_loss(const LossOptions& options, const TokenBatch& batch);
at::Tensor kl_token(const KlEstimator& kl, const at::Tensor& logp, const at::Tensor& ref);

}  // namespace allot::training
