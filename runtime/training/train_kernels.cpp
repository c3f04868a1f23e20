#include "runtime/training/train_kernels.h"

#include <cmath>

#include "runtime/training/lanes.h"

namespace allot::training::kernels {
namespace {

// Turns one head by its angles; the way back turns by the opposite ones (`direction` -1).
ALLOT_INLINE void turn(const float* in, float* out, const HeadSplit& s, float direction) {
  const int half = s.size / 2;
  for (int i = 0; i < half; ++i) {
    const float a = in[i], b = in[i + half], sine = direction * s.sine[i];
    out[i] = a * s.cosine[i] - b * sine;
    out[i + half] = b * s.cosine[i] + a * sine;
  }
}

ALLOT_INLINE void copy(const float* in, float* out, int count) {
  for (int i = 0; i < count; ++i) out[i] = in[i];
}

}  // namespace

ALLOT_BEST_MACHINE
void rms_forward(const float* x, const float* weight, float eps, int rows, int size, float* y, float* inverse) {
  for (int r = 0; r < rows; ++r, x += size, y += size) {
    Lane squares = {};
    float rest = 0;
    int i = 0;
    for (; i + kLanes <= size; i += kLanes) squares += lane(x + i) * lane(x + i);
    for (; i < size; ++i) rest += x[i] * x[i];
    inverse[r] = 1.0f / std::sqrt((sum_of(squares) + rest) / static_cast<float>(size) + eps);
    for (i = 0; i < size; ++i) y[i] = x[i] * inverse[r] * weight[i];
  }
}

ALLOT_BEST_MACHINE
void rms_backward(const float* x, const float* weight, const float* inverse, const float* dy, int rows, int size,
                  float* dx, float* dweight) {
  for (int r = 0; r < rows; ++r, x += size, dy += size, dx += size) {
    Lane products = {};
    float rest = 0;
    int i = 0;
    for (; i + kLanes <= size; i += kLanes) products += lane(dy + i) * lane(weight + i) * lane(x + i);
    for (; i < size; ++i) rest += dy[i] * weight[i] * x[i];
    const float scale = inverse[r];
    const float pull = (sum_of(products) + rest) * scale * scale * scale / static_cast<float>(size);
    for (i = 0; i < size; ++i) {
      dx[i] = dy[i] * weight[i] * scale - x[i] * pull;
      dweight[i] += dy[i] * x[i] * scale;
    }
  }
}

ALLOT_BEST_MACHINE
void swiglu_forward(const float* x, int rows, int half, float* y) {
  for (int r = 0; r < rows; ++r, x += 2 * half, y += half) {
    int i = 0;
    for (; i + kLanes <= half; i += kLanes) {
      const Lane gate = lane(x + i);
      lane(y + i) = gate / (1.0f + exponential(-gate)) * lane(x + half + i);
    }
    for (; i < half; ++i) y[i] = x[i] / (1.0f + std::exp(-x[i])) * x[half + i];
  }
}

ALLOT_BEST_MACHINE
void swiglu_backward(const float* x, const float* dy, int rows, int half, float* dx) {
  for (int r = 0; r < rows; ++r, x += 2 * half, dx += 2 * half, dy += half) {
    int i = 0;
    for (; i + kLanes <= half; i += kLanes) {
      const Lane gate = lane(x + i), up = lane(x + half + i), d = lane(dy + i);
      const Lane s = 1.0f / (1.0f + exponential(-gate));
      lane(dx + i) = d * up * s * (1.0f + gate * (1.0f - s));
      lane(dx + half + i) = d * gate * s;
    }
    for (; i < half; ++i) {
      const float s = 1.0f / (1.0f + std::exp(-x[i]));
      dx[i] = dy[i] * x[half + i] * s * (1.0f + x[i] * (1.0f - s));
      dx[half + i] = dy[i] * x[i] * s;
    }
  }
}

ALLOT_BEST_MACHINE
void split_forward(const HeadSplit& s, const float* row, float* q, float* k, float* v, long head_stride) {
  for (int h = 0; h < s.heads; ++h, row += s.size) turn(row, q + h * head_stride, s, 1.0f);
  for (int h = 0; h < s.kv_heads; ++h, row += s.size) turn(row, k + h * head_stride, s, 1.0f);
  for (int h = 0; h < s.kv_heads; ++h, row += s.size) copy(row, v + h * head_stride, s.size);
}

ALLOT_BEST_MACHINE
void split_backward(const HeadSplit& s, const float* dq, const float* dk, const float* dv, long head_stride,
                    float* row) {
  for (int h = 0; h < s.heads; ++h, row += s.size) turn(dq + h * head_stride, row, s, -1.0f);
  for (int h = 0; h < s.kv_heads; ++h, row += s.size) turn(dk + h * head_stride, row, s, -1.0f);
  for (int h = 0; h < s.kv_heads; ++h, row += s.size) copy(dv + h * head_stride, row, s.size);
}

}  // namespace allot::training::kernels
