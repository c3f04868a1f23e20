#include "runtime/training/train_ops.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "runtime/training/train_kernels.h"

namespace allot::training {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// Rows are cut into this many parts whatever the number of threads: sums over rows then have one order.
constexpr std::int64_t kParts = 16;

bool ours(const Tensor& x) { return x.is_cpu() && x.scalar_type() == at::kFloat; }

// work(part, first row, number of rows)
template <typename Work>
void in_parts(std::int64_t rows, Work work) {
  at::parallel_for(0, kParts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const std::int64_t first = rows * part / kParts, last = rows * (part + 1) / kParts;
      if (last > first) work(part, first, static_cast<int>(last - first));
    }
  });
}

struct RmsNorm : Function<RmsNorm> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight, double eps) {
    const Tensor x = input.contiguous();
    const std::int64_t size = x.size(-1), rows = x.numel() / size;
    Tensor y = at::empty_like(x), inverse = at::empty({rows}, x.options());
    in_parts(rows, [&](std::int64_t, std::int64_t first, int count) {
      kernels::rms_forward(x.const_data_ptr<float>() + first * size, weight.const_data_ptr<float>(),
                           static_cast<float>(eps), count, static_cast<int>(size), y.data_ptr<float>() + first * size,
                           inverse.data_ptr<float>() + first);
    });
    context->save_for_backward({x, weight, inverse});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &inverse = saved[2], dy = gradients[0].contiguous();
    const std::int64_t size = x.size(-1), rows = x.numel() / size;
    Tensor dx = at::empty_like(x), parts = at::zeros({kParts, size}, x.options());
    in_parts(rows, [&](std::int64_t part, std::int64_t first, int count) {
      kernels::rms_backward(x.const_data_ptr<float>() + first * size, weight.const_data_ptr<float>(),
                            inverse.const_data_ptr<float>() + first, dy.const_data_ptr<float>() + first * size, count,
                            static_cast<int>(size), dx.data_ptr<float>() + first * size,
                            parts.data_ptr<float>() + part * size);
    });
    return {dx, parts.sum(0), Variable()};
  }
};

struct Swiglu : Function<Swiglu> {
  static Tensor forward(AutogradContext* context, const Tensor& input) {
    const Tensor x = input.contiguous();
    const std::int64_t half = x.size(-1) / 2, rows = x.size(0);
    Tensor y = at::empty({rows, half}, x.options());
    in_parts(rows, [&](std::int64_t, std::int64_t first, int count) {
      kernels::swiglu_forward(x.const_data_ptr<float>() + 2 * first * half, count, static_cast<int>(half),
                              y.data_ptr<float>() + first * half);
    });
    context->save_for_backward({x});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor x = context->get_saved_variables()[0], dy = gradients[0].contiguous();
    const std::int64_t half = x.size(-1) / 2;
    Tensor dx = at::empty_like(x);
    in_parts(x.size(0), [&](std::int64_t, std::int64_t first, int count) {
      kernels::swiglu_backward(x.const_data_ptr<float>() + 2 * first * half, dy.const_data_ptr<float>() + first * half,
                               count, static_cast<int>(half), dx.data_ptr<float>() + 2 * first * half);
    });
    return {dx};
  }
};

// Where position (b, t) of a [B, heads, T, size] tensor begins.
std::int64_t place(std::int64_t row, std::int64_t length, std::int64_t heads, std::int64_t size) {
  return (row / length * heads * length + row % length) * size;
}

struct SplitHeads : Function<SplitHeads> {
  static variable_list forward(AutogradContext* context, const Tensor& input, const Tensor& cosine, const Tensor& sine,
                               std::int64_t batch, std::int64_t heads, std::int64_t kv_heads) {
    const Tensor qkv = input.contiguous();
    const std::int64_t size = 2 * cosine.size(1), length = qkv.size(0) / batch, width = qkv.size(1);
    Tensor q = at::empty({batch, heads, length, size}, qkv.options());
    Tensor k = at::empty({batch, kv_heads, length, size}, qkv.options()), v = at::empty_like(k);
    in_parts(batch * length, [&](std::int64_t, std::int64_t first, int count) {
      for (std::int64_t row = first; row < first + count; ++row) {
        const std::int64_t kv = place(row, length, kv_heads, size);
        kernels::split_forward(angles(cosine, sine, row % length, heads, kv_heads),
                               qkv.const_data_ptr<float>() + row * width,
                               q.data_ptr<float>() + place(row, length, heads, size), k.data_ptr<float>() + kv,
                               v.data_ptr<float>() + kv, length * size);
      }
    });
    context->save_for_backward({cosine, sine});
    context->saved_data["batch"] = batch;
    context->saved_data["heads"] = heads;
    context->saved_data["kv_heads"] = kv_heads;
    return {q, k, v};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor dq = gradients[0].contiguous(), dk = gradients[1].contiguous(), dv = gradients[2].contiguous();
    const std::int64_t batch = dq.size(0), heads = dq.size(1), length = dq.size(2), size = dq.size(3);
    const std::int64_t kv_heads = dk.size(1), width = (heads + 2 * kv_heads) * size;
    Tensor out = at::empty({batch * length, width}, dq.options());
    in_parts(batch * length, [&](std::int64_t, std::int64_t first, int count) {
      for (std::int64_t row = first; row < first + count; ++row) {
        const std::int64_t kv = place(row, length, kv_heads, size);
        kernels::split_backward(angles(saved[0], saved[1], row % length, heads, kv_heads),
                                dq.const_data_ptr<float>() + place(row, length, heads, size),
                                dk.const_data_ptr<float>() + kv, dv.const_data_ptr<float>() + kv, length * size,
                                out.data_ptr<float>() + row * width);
      }
    });
    return {out, Variable(), Variable(), Variable(), Variable(), Variable()};
  }

  static kernels::HeadSplit angles(const Tensor& cosine, const Tensor& sine, std::int64_t position, std::int64_t heads,
                                   std::int64_t kv_heads) {
    const std::int64_t half = cosine.size(1);
    return {static_cast<int>(heads), static_cast<int>(kv_heads), static_cast<int>(2 * half),
            cosine.const_data_ptr<float>() + position * half, sine.const_data_ptr<float>() + position * half};
  }
};

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  return ours(x) ? RmsNorm::apply(x, weight, eps) : at::rms_norm(x, {x.size(-1)}, weight, eps);
}

Tensor swiglu(const Tensor& x) {
  const std::int64_t half = x.size(-1) / 2;
  if (ours(x) && x.dim() == 2) return Swiglu::apply(x);
  return at::silu(x.narrow(-1, 0, half)) * x.narrow(-1, half, half);
}

Tensor rotate_by(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const std::int64_t half = x.size(-1) / 2;
  const Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  return at::cat({a * cosine - b * sine, b * cosine + a * sine}, -1);
}

Heads split_heads(const Tensor& qkv, const Tensor& cosine, const Tensor& sine, std::int64_t batch, int heads,
                  int kv_heads) {
  if (ours(qkv)) {
    const variable_list out = SplitHeads::apply(qkv, cosine.contiguous(), sine.contiguous(), batch,
                                                std::int64_t{heads}, std::int64_t{kv_heads});
    return {out[0], out[1], out[2]};
  }
  const std::int64_t length = qkv.size(0) / batch, size = 2 * cosine.size(1);
  const Tensor split = qkv.view({batch, length, heads + 2 * kv_heads, size});
  const Tensor turned =
      rotate_by(split.narrow(2, 0, heads + kv_heads), cosine.unsqueeze(1), sine.unsqueeze(1)).to(qkv.scalar_type());
  return {turned.narrow(2, 0, heads).transpose(1, 2), turned.narrow(2, heads, kv_heads).transpose(1, 2),
          split.narrow(2, heads + kv_heads, kv_heads).transpose(1, 2)};
}

}  // namespace allot::training
