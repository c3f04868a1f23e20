// The arithmetic of a decoding step on a CPU, free of torch.
//
// Why by hand: a step is some hundred tiny operations over 20 to 80 rows, and what a framework spends on starting each
// of them would hide most of what a stopped rollout saves. And each token's numbers must not depend on who shares the
// batch: every kernel here treats its rows one by one in the same order of operations, so the results are equal bit
// for bit however the rows are put together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace allot::training {

constexpr int kLanes = 16;  // floats handled together; buffers are padded to a multiple of it
constexpr int padded(int n) { return (n + kLanes - 1) / kLanes * kLanes; }

// A weight matrix [outputs][inputs], stored as panels of kLanes outputs: panel, input, lane. Missing outputs are 0.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // `weights` is row-major [outputs][inputs], the layout of a linear layer.
  PackedMatrix(const float* weights, int outputs, int inputs);
  int outputs() const { return outputs_; }
  int inputs() const { return inputs_; }
  const float* panel(int index) const { return data_.data() + std::size_t(index) * std::size_t(inputs_) * kLanes; }
  int panels() const { return padded(outputs_) / kLanes; }

 private:
  int outputs_ = 0, inputs_ = 0;
  std::vector<float> data_;
};

namespace kernels {

// y[r] = x[r] W^T (+ bias) (+ y[r] where `add`); x rows `x_stride` apart, y rows `y_stride` apart, at least
// padded(W.outputs()) long. `bias` may be null, else padded(W.outputs()) floats.
void multiply(const PackedMatrix& w, const float* bias, const float* x, int x_stride, float* y, int y_stride, int rows,
              bool add);

// y = x / sqrt(mean(x^2) + eps) * weight over `size` values a row.
void rms_norm(const float* x, int x_stride, const float* weight, float eps, int size, float* y, int y_stride, int rows);

// y = silu(gate) * up for rows [gate | up] of `half` values each.
void swiglu(const float* x, int x_stride, int half, float* y, int y_stride, int rows);

// Rotates `heads` heads of `size` values in place by the angles of one position (`size / 2` cosines and sines).
void rotate(float* x, int heads, int size, const float* cosine, const float* sine);

// Attention of one token over `length` positions of one key-value head, for the `queries` query heads that share it.
//   q        queries heads of `size` values, one after another
//   keys     blocks of kLanes positions: [block][size][lane]
//   values   [position][padded(size)]
//   scores   scratch of queries * padded(length)
//   out      queries * size values
void attend(const float* q, int queries, int size, const float* keys, const float* values, int length, float* scores,
            float* out);

// In place: values -> exp((value - max) * scale). Returns max, the sum and sum(weight * (value - max) * scale).
struct SoftmaxSums {
  float max = 0;
  double sum = 0;
  double weighted = 0;
};
SoftmaxSums exponentials(std::span<float> values, float scale);

}  // namespace kernels
}  // namespace allot::training
