#include "runtime/training/train_ops.h"

namespace allot::training {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return at::rms_norm(x, {x.size(-1)}, weight, eps);
}

at::Tensor swiglu(const at::Tensor& x) {
  const std::int64_t half = x.size(-1) / 2;
  return at::silu(x.narrow(-1, 0, half)) * x.narrow(-1, half, half);
}

at::Tensor rotate_by(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  return at::cat({a * cosine - b * sine, b * cosine + a * sine}, -1);
}

at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  return rotate_by(x, cosine.unsqueeze(1), sine.unsqueeze(1));
}

}  // namespace allot::training
