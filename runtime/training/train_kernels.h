// Element-wise parts of a decoder with their derivatives, for rows of float32 on a CPU; free of torch.
//
// A framework runs each of these as five to ten passes over memory, and at a few hundred columns those passes, not
// the products, take most of an update. Here each is one pass.
#pragma once

namespace allot::training::kernels {

// y = x * inverse * weight with inverse = 1 / sqrt(mean(x^2) + eps), which is kept for the way back. Rows contiguous.
void rms_forward(const float* x, const float* weight, float eps, int rows, int size, float* y, float* inverse);
// dx is written, dweight (of `size`) is added to.
void rms_backward(const float* x, const float* weight, const float* inverse, const float* dy, int rows, int size,
                  float* dx, float* dweight);

// x = [gate | up] rows of 2 * half values.
void swiglu_forward(const float* x, int rows, int half, float* y);
void swiglu_backward(const float* x, const float* dy, int rows, int half, float* dx);

// One row of one position: [query heads | key heads | value heads] of `size` values -> the same values with queries and
// keys rotated, each head put `head_stride` floats after the one before it.
struct HeadSplit {
  int heads, kv_heads, size;
  const float* cosine;  // of the position, size / 2
  const float* sine;
};
void split_forward(const HeadSplit& s, const float* row, float* q, float* k, float* v, long head_stride);
void split_backward(const HeadSplit& s, const float* dq, const float* dk, const float* dv, long head_stride,
                    float* row);

}  // namespace allot::training::kernels
