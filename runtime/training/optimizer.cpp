#include "runtime/training/optimizer.h"

#include <cmath>

namespace allot::training {

AdamW::AdamW(std::vector<at::Tensor> parameters, const OptimizerOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const at::Tensor& p : parameters_) {
    first_.push_back(at::zeros_like(p));
    second_.push_back(at::zeros_like(p));
  }
}

void AdamW::clear_gradients() {
  for (at::Tensor& p : parameters_) p.mutable_grad() = at::Tensor();
}

void AdamW::add_gradients(const std::vector<at::Tensor>& gradients) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    at::Tensor& sum = parameters_[i].mutable_grad();
    if (sum.defined())
      sum.add_(gradients[i]);
    else
      sum = gradients[i].contiguous().clone();
  }
}

double AdamW::clip_gradients(double limit) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> norms;
  for (const at::Tensor& p : parameters_)
    if (p.grad().defined()) norms.push_back(p.grad().norm().to(at::kDouble));
  if (norms.empty()) return 0;
  const double norm = at::stack(norms).norm().item<double>();
  if (limit > 0 && norm > limit)
    for (at::Tensor& p : parameters_)
      if (p.grad().defined()) p.mutable_grad().mul_(limit / (norm + 1e-6));
  return norm;
}

void AdamW::step(double learning_rate) {
  const at::NoGradGuard no_grad;
  ++steps_;
  const double correction1 = 1 - std::pow(options_.beta1, static_cast<double>(steps_));
  const double correction2 = 1 - std::pow(options_.beta2, static_cast<double>(steps_));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& p = parameters_[i];
    const at::Tensor& gradient = p.grad();
    if (!gradient.defined()) continue;
    // Norm weights and biases are vectors: decay is for matrices.
    if (options_.weight_decay > 0 && p.dim() > 1) p.mul_(1 - learning_rate * options_.weight_decay);
    first_[i].mul_(options_.beta1).add_(gradient, 1 - options_.beta1);
    second_[i].mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    p.addcdiv_(first_[i], (second_[i] / correction2).sqrt_().add_(options_.epsilon), -learning_rate / correction1);
  }
}

}  // namespace allot::training
