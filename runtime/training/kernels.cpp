#include "runtime/training/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/training/lanes.h"

namespace allot::training {

PackedMatrix::PackedMatrix(const float* weights, int outputs, int inputs)
    : outputs_(outputs), inputs_(inputs), data_(std::size_t(padded(outputs)) * std::size_t(inputs), 0.0f) {
  for (int o = 0; o < outputs; ++o)
    for (int i = 0; i < inputs; ++i)
      data_[(std::size_t(o / kLanes) * inputs + i) * kLanes + o % kLanes] = weights[std::size_t(o) * inputs + i];
}

namespace kernels {
namespace {

// `Rows` rows of x against one panel; the panel stays in the first cache while the rows pass.
template <int Rows>
ALLOT_INLINE void panel_rows(const float* panel, int inputs, const Lane& start, const float* x, int x_stride, float* y,
                             int y_stride, bool add) {
  Lane sums[Rows];
  for (int r = 0; r < Rows; ++r) sums[r] = start;
  for (int i = 0; i < inputs; ++i) {
    const Lane w = lane(panel + std::size_t(i) * kLanes);
    for (int r = 0; r < Rows; ++r) sums[r] += w * x[std::size_t(r) * x_stride + i];
  }
  for (int r = 0; r < Rows; ++r) {
    float* out = y + std::size_t(r) * y_stride;
    lane(out) = add ? lane(out) + sums[r] : sums[r];
  }
}

// Scores of `Queries` heads against one block of keys.
template <int Queries>
ALLOT_INLINE void score_block(const float* q, int size, const float* keys, float scale, float* scores, int stride) {
  Lane sums[Queries] = {};
  for (int d = 0; d < size; ++d) {
    const Lane k = lane(keys + std::size_t(d) * kLanes);
    for (int h = 0; h < Queries; ++h) sums[h] += k * q[h * size + d];
  }
  for (int h = 0; h < Queries; ++h) lane(scores + std::size_t(h) * stride) = sums[h] * scale;
}

// sum over positions of weight * value for kLanes columns, `Queries` heads at once.
template <int Queries>
ALLOT_INLINE void mix(const float* weights, int stride, const float* values, int value_stride, int length, Lane* sums) {
  for (int h = 0; h < Queries; ++h) sums[h] = Lane{};
  for (int t = 0; t < length; ++t) {
    const Lane v = lane(values + std::size_t(t) * value_stride);
    for (int h = 0; h < Queries; ++h) sums[h] += v * weights[std::size_t(h) * stride + t];
  }
}

// Turns scores into weights that add up to 1; what lies beyond `length` becomes 0.
ALLOT_INLINE void normalise(float* scores, int length) {
  const int end = padded(length);
  for (int t = length; t < end; ++t) scores[t] = -1e30f;
  Lane top = lane(scores);
  for (int t = kLanes; t < end; t += kLanes) top = lane(scores + t) > top ? lane(scores + t) : top;
  float max = top[0];
  for (int i = 1; i < kLanes; ++i) max = std::max(max, top[i]);
  Lane sum = {};
  for (int t = 0; t < end; t += kLanes) {
    const Lane e = exponential(lane(scores + t) - max);
    lane(scores + t) = e;
    sum += e;
  }
  const float inverse = 1.0f / sum_of(sum);
  for (int t = 0; t < end; t += kLanes) lane(scores + t) *= inverse;
}

template <int Queries>
ALLOT_INLINE void attend_heads(const float* q, int size, const float* keys, const float* values, int length,
                               float scale, float* scores, float* out) {
  const int stride = padded(length), width = padded(size);
  for (int t = 0; t < stride; t += kLanes)
    score_block<Queries>(q, size, keys + std::size_t(t) * size, scale, scores + t, stride);
  for (int h = 0; h < Queries; ++h) normalise(scores + std::size_t(h) * stride, length);
  for (int column = 0; column < width; column += kLanes) {
    Lane sums[Queries];
    mix<Queries>(scores, stride, values + column, width, length, sums);
    const int count = std::min(kLanes, size - column);
    for (int h = 0; h < Queries; ++h) std::memcpy(out + h * size + column, &sums[h], sizeof(float) * count);
  }
}

}  // namespace

ALLOT_BEST_MACHINE
void multiply(const PackedMatrix& w, const float* bias, const float* x, int x_stride, float* y, int y_stride, int rows,
              bool add) {
  const int inputs = w.inputs();
  for (int p = 0; p < w.panels(); ++p) {
    const float* panel = w.panel(p);
    const Lane start = bias ? lane(bias + p * kLanes) : Lane{};
    float* out = y + p * kLanes;
    int r = 0;
    const auto at = [&](int row) { return x + std::size_t(row) * x_stride; };
    const auto to = [&](int row) { return out + std::size_t(row) * y_stride; };
    for (; r + 8 <= rows; r += 8) panel_rows<8>(panel, inputs, start, at(r), x_stride, to(r), y_stride, add);
    for (; r + 4 <= rows; r += 4) panel_rows<4>(panel, inputs, start, at(r), x_stride, to(r), y_stride, add);
    for (; r < rows; ++r) panel_rows<1>(panel, inputs, start, at(r), x_stride, to(r), y_stride, add);
  }
}

ALLOT_BEST_MACHINE
void rms_norm(const float* x, int x_stride, const float* weight, float eps, int size, float* y, int y_stride,
              int rows) {
  for (int r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    Lane squares = {};
    float rest = 0;
    int i = 0;
    for (; i + kLanes <= size; i += kLanes) squares += lane(x + i) * lane(x + i);
    for (; i < size; ++i) rest += x[i] * x[i];
    const float scale = 1.0f / std::sqrt((sum_of(squares) + rest) / static_cast<float>(size) + eps);
    for (i = 0; i < size; ++i) y[i] = x[i] * scale * weight[i];
  }
}

ALLOT_BEST_MACHINE
void swiglu(const float* x, int x_stride, int half, float* y, int y_stride, int rows) {
  for (int r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    int i = 0;
    for (; i + kLanes <= half; i += kLanes) {
      const Lane gate = lane(x + i);
      lane(y + i) = gate / (1.0f + exponential(-gate)) * lane(x + half + i);
    }
    for (; i < half; ++i) y[i] = x[i] / (1.0f + std::exp(-x[i])) * x[half + i];
  }
}

ALLOT_BEST_MACHINE
void rotate(float* x, int heads, int size, const float* cosine, const float* sine) {
  const int half = size / 2;
  for (int h = 0; h < heads; ++h, x += size)
    for (int i = 0; i < half; ++i) {
      const float a = x[i], b = x[i + half];
      x[i] = a * cosine[i] - b * sine[i];
      x[i + half] = b * cosine[i] + a * sine[i];
    }
}

ALLOT_BEST_MACHINE
void attend(const float* q, int queries, int size, const float* keys, const float* values, int length, float* scores,
            float* out) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(size));
  int h = 0;
  const auto run = [&]<int Queries>() __attribute__((always_inline)) {
    attend_heads<Queries>(q + h * size, size, keys, values, length, scale, scores, out + h * size);
    h += Queries;
  };
  while (h + 4 <= queries) run.template operator()<4>();
  if (queries - h == 3) run.template operator()<3>();
  if (queries - h == 2) run.template operator()<2>();
  if (queries - h == 1) run.template operator()<1>();
}

ALLOT_BEST_MACHINE
SoftmaxSums exponentials(std::span<float> values, float scale) {
  SoftmaxSums sums;
  sums.max = values[0];
  for (const float v : values) sums.max = std::max(sums.max, v);
  const std::size_t whole = values.size() / kLanes * kLanes;
  const auto add = [&](float weight, float distance) {
    sums.sum += weight;
    sums.weighted += static_cast<double>(weight) * distance;
  };
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const Lane distance = (lane(values.data() + i) - sums.max) * scale;
    const Lane weight = exponential(distance);
    lane(values.data() + i) = weight;
    for (int k = 0; k < kLanes; ++k) add(weight[k], distance[k]);
  }
  for (std::size_t i = whole; i < values.size(); ++i) {
    const float distance = (values[i] - sums.max) * scale;
    values[i] = std::exp(distance);
    add(values[i], distance);
  }
  return sums;
}

}  // namespace kernels
}  // namespace allot::training
