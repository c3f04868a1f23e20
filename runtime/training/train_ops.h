// The element-wise parts of a decoder, differentiable. Includes torch: for the .cpp files of this folder alone.
#pragma once

#include <ATen/ATen.h>

namespace allot::training {

// x / sqrt(mean(x^2) + eps) * weight over the last dimension, in float32.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// silu(gate) * up, where x = [gate | up] along the last dimension.
at::Tensor swiglu(const at::Tensor& x);

// Rotary embedding in the half-split layout, angles shaped to broadcast against one half of x.
at::Tensor rotate_by(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

// The same for x [B, T, heads, size], cosine and sine [T, size / 2].
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

}  // namespace allot::training
