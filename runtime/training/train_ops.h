// The element-wise parts of a decoder, differentiable. Includes torch: for the .cpp files of this folder alone.
// Float32 on a CPU goes through our own kernels; anything else through LibTorch's operations.
#pragma once

#include <ATen/ATen.h>

namespace allot::training {

// x / sqrt(mean(x^2) + eps) * weight over the last dimension, in float32.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// silu(gate) * up, where x = [gate | up] along the last dimension.
at::Tensor swiglu(const at::Tensor& x);

// Rotary embedding in the half-split layout, angles shaped to broadcast against one half of x.
at::Tensor rotate_by(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);

// Rows [query heads | key heads | value heads] of all positions, [B * T, (heads + 2 kv) * size], as they go into
// attention: rotated by cosine and sine ([T, size / 2]), [B, heads, T, size] and [B, kv, T, size].
struct Heads {
  at::Tensor q, k, v;
};
Heads split_heads(const at::Tensor& qkv, const at::Tensor& cosine, const at::Tensor& sine, std::int64_t batch,
                  int heads, int kv_heads);

}  // namespace allot::training
