// AdamW over the leaves of a model (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
// Includes torch: for the .cpp files of this folder alone.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstdint>
#include <vector>

#include "runtime/training/update.h"

namespace allot::training {

class AdamW {
 public:
  AdamW(std::vector<at::Tensor> parameters, const OptimizerOptions& options);

  void clear_gradients();
  // One gradient a parameter; an undefined one adds nothing.
  void add_gradients(const std::vector<at::Tensor>& gradients);
  // Scales all gradients so that their joint 2-norm is at most `limit` (<= 0: no limit); returns the norm before.
  double clip_gradients(double limit);
  void step(double learning_rate);

  const std::vector<at::Tensor>& first_moments() const { return first_; }
  const std::vector<at::Tensor>& second_moments() const { return second_; }
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  std::vector<at::Tensor> parameters_, first_, second_;
  OptimizerOptions options_;
  std::int64_t steps_ = 0;
};

}  // namespace allot::training
