#include "runtime/training/update.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>

#include "runtime/training/loss_impl.h"
#include "runtime/training/micro_batch.h"
#include "runtime/training/model_impl.h"
#include "runtime/training/optimizer.h"
#include "runtime/training/threads.h"

namespace allot::training {
namespace {

Result<void> check(std::span<const TrainSequence> sequences, const ModelConfig& config, bool needs_logp) {
  const auto refuse = [](std::size_t i, const std::string& what) {
    return Error{"sequence " + std::to_string(i) + " of the update " + what, "this is a fault of the driver"};
  };
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const TrainSequence& s = sequences[i];
    if (s.trained.size() != s.tokens.size()) return refuse(i, "has a mask of another length than its tokens");
    if (needs_logp && s.behaviour_logp.size() != s.tokens.size()) return refuse(i, "lacks behaviour log-probabilities");
    if (!s.trained.empty() && s.trained[0]) return refuse(i, "trains on its first token, which nothing predicts");
    if (!std::isfinite(s.advantage)) return refuse(i, "has an advantage that is not finite");
    if (!s.turn_advantages.empty() && s.turn_advantages.size() != s.tokens.size()) return refuse(i, "lacks advantages of tokens");
    for (const double advantage : s.turn_advantages)
      if (!std::isfinite(advantage)) return refuse(i, "has an advantage that is not finite");
    if (!std::isfinite(s.weight)) return refuse(i, "has a weight that is not finite");
    if (shape_of(s).inputs > config.max_positions) return refuse(i, "is longer than the model's positions");
    if (std::any_of(s.tokens.begin(), s.tokens.end(), [&](int t) { return t < 0 || t >= config.vocab_size; }))
      return refuse(i, "has a token outside the vocabulary");
  }
  return {};
}

// log softmax(logits / temperature) of all tokens, [N, vocab].
at::Tensor log_probabilities(const Model::Impl& model, const MicroBatch& batch, double temperature) {
  const at::Tensor logits = head_logits(model, hidden_states(model, batch.inputs, batch.selected));
  return at::log_softmax(temperature == 1.0 ? logits : logits / temperature, -1);
}

at::Tensor chosen(const at::Tensor& log_probabilities, const MicroBatch& batch) {
  return log_probabilities.gather(1, batch.targets.unsqueeze(1)).squeeze(1);
}

// Figures of one micro-batch, summed over its tokens.
void measure(const LossOptions& loss, const MicroBatch& batch, const at::Tensor& all, const at::Tensor& logp,
             UpdateReport& report) {
  const at::NoGradGuard no_grad;
  const at::Tensor ratio = (logp - batch.old_logp).clamp(-20, 20).exp();
  const double low = loss.kind == PolicyLoss::CispoTrl ? 0 : 1 - loss.clip_low;
  const double high = loss.kind == PolicyLoss::CispoTrl ? loss.clip_high : 1 + loss.clip_high;
  report.entropy -= (all.exp() * all).sum().item<double>();
  report.ratio += ratio.sum().item<double>();
  report.clip_fraction += (ratio < low).logical_or(ratio > high).sum().item<double>();
}

std::vector<double> numbers(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

// The value that was given, with a gradient that is the given slope: the loss of a token is a function of its own
// log-probability alone.
at::Tensor given_loss(const std::function<GivenLoss(const LossTokens&)>& ask, const TokenBatch& tokens,
                      const at::Tensor& reference, const at::Tensor& own) {
  const std::vector<double> logp = numbers(tokens.new_logp);
  const std::vector<double> old_logp = numbers(tokens.old_logp);
  const std::vector<double> advantages = numbers(tokens.advantages);
  const std::vector<double> ref = reference.defined() ? numbers(reference) : std::vector<double>();
  const GivenLoss given = ask({logp, old_logp, ref, advantages});
  const auto tensor = [&](const auto& values) {
    at::Tensor made = at::empty({static_cast<std::int64_t>(values.size())}, at::kDouble);
    std::copy(values.begin(), values.end(), made.template data_ptr<double>());
    return made.to(tokens.new_logp.options());
  };
  const at::Tensor moving = tensor(given.slope) * tokens.new_logp;
  return at::where(tensor(given.own) != 0, own, moving + (tensor(given.loss) - moving).detach());
}

}  // namespace

struct Trainer::State {
  Model& model;
  OptimizerOptions options;
  AdamW optimizer;
  ThreadTeam team;
  // The loss of a micro-batch, already weighted, and what else it adds to the report.
  using MicroLoss = std::function<at::Tensor(const MicroBatch&, UpdateReport&)>;

  State(Model& m, const OptimizerOptions& o)
      : model(m), options(o), optimizer(m.impl().parameters(), o),
        team(m.device() == Device::Cuda ? 1 : at::get_num_threads()) {
    for (at::Tensor& p : m.impl().parameters()) p.set_requires_grad(true);
  }

  // One micro-batch's share of the gradient and of the report's sums.
  struct Part {
    std::vector<at::Tensor> gradients;
    UpdateReport report;
  };
  std::vector<Part> parts(std::span<const TrainSequence> sequences, std::span<const SequenceShape> shapes,
                          std::span<const double> weights, int micro_tokens, const MicroLoss& loss);

  UpdateReport step(std::span<const TrainSequence> sequences, std::span<const SequenceShape> shapes,
                    std::span<const double> weights, int micro_tokens, double learning_rate, const MicroLoss& loss);
};

// Each thread takes whole micro-batches through the model alone. The operations are small: threads that meet after each
// of them would wait more than they work, and the sum below has one order whatever their number.
std::vector<Trainer::State::Part> Trainer::State::parts(std::span<const TrainSequence> sequences,
                                                        std::span<const SequenceShape> shapes,
                                                        std::span<const double> weights, int micro_tokens,
                                                        const MicroLoss& loss) {
  const auto batches = plan(shapes, micro_tokens);
  const std::vector<at::Tensor> parameters = model.impl().parameters();
  std::vector<Part> out(batches.size());
  std::atomic<std::size_t> next = 0;
  const int before = at::get_num_threads();
  team.run([&](int) {
    if (model.device() == Device::Cpu) at::set_num_threads(1);
    for (std::size_t m = next++; m < batches.size(); m = next++) {
      const MicroBatch batch = gather(sequences, shapes, weights, batches[m], model.impl().torch_device());
      UpdateReport& report = out[m].report;
      report.ratio = 0;
      const at::Tensor value = loss(batch, report);
      out[m].gradients = torch::autograd::grad({value}, parameters, {}, std::nullopt, false, /*allow_unused=*/true);
      report.loss = value.item<double>();
      report.computed_tokens = batch.inputs.numel();
      report.sequences = static_cast<std::int64_t>(batches[m].size());
      report.trained_tokens = batch.targets.numel();
    }
  });
  at::set_num_threads(before);
  return out;
}

UpdateReport Trainer::State::step(std::span<const TrainSequence> sequences, std::span<const SequenceShape> shapes,
                                  std::span<const double> weights, int micro_tokens, double learning_rate,
                                  const MicroLoss& loss) {
  const auto started = std::chrono::steady_clock::now();
  UpdateReport report;
  report.ratio = 0;
  optimizer.clear_gradients();
  for (const Part& part : parts(sequences, shapes, weights, micro_tokens, loss)) {
    optimizer.add_gradients(part.gradients);
    const UpdateReport& r = part.report;
    report.loss += r.loss, report.kl += r.kl, report.entropy += r.entropy;
    report.clip_fraction += r.clip_fraction, report.ratio += r.ratio;
    report.computed_tokens += r.computed_tokens, report.sequences += r.sequences;
    report.trained_tokens += r.trained_tokens;
  }
  const std::int64_t measured = report.trained_tokens;
  for (double* sum : {&report.kl, &report.entropy, &report.clip_fraction, &report.ratio})
    *sum = measured > 0 ? *sum / static_cast<double>(measured) : 0.0;
  report.gradient_norm = optimizer.clip_gradients(options.max_gradient_norm);
  report.stepped = measured > 0 && std::isfinite(report.gradient_norm);
  if (report.stepped) {
    optimizer.step(learning_rate > 0 ? learning_rate : options.learning_rate);
    ++model.impl().version;
  }
  optimizer.clear_gradients();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return report;
}

Trainer::Trainer(Model& model, const OptimizerOptions& options) : state_(std::make_unique<State>(model, options)) {}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

Result<UpdateReport> Trainer::update(std::span<const TrainSequence> sequences, const UpdateOptions& options,
                                     const Model* reference) {
  const Model::Impl& model = state_->model.impl();
  if (auto checked = check(sequences, model.config, true); !checked) return checked.error();
  const LossOptions& loss = options.loss;
  if (loss.kl_coefficient > 0 && !reference)
    return Error{"the KL term needs a reference model", "give one, or set its coefficient to 0"};

  std::vector<SequenceShape> shapes;
  std::vector<int> counts;
  int longest = 0;
  for (const TrainSequence& s : sequences) {
    shapes.push_back(shape_of(s));
    counts.push_back(shapes.back().trained);
    longest = std::max(longest, counts.back());
  }
  auto weights = sequence_weights(loss.aggregate, counts, loss.length_scale > 0 ? loss.length_scale : longest);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= sequences[i].weight;
  if (options.skip_zero_advantage && loss.kl_coefficient == 0 && !options.token_loss)
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (sequences[i].advantage == 0 && sequences[i].turn_advantages.empty()) shapes[i].trained = 0;

  return state_->step(
      sequences, shapes, weights, options.micro_tokens, options.learning_rate,
      [&](const MicroBatch& batch, UpdateReport& report) {
        const at::Tensor all = log_probabilities(model, batch, options.temperature);
        const at::Tensor logp = chosen(all, batch);
        const TokenBatch tokens{logp, batch.old_logp, batch.advantages, batch.sequence, batch.inputs.size(0)};
        at::Tensor value = policy_token_loss(loss, tokens);
        at::Tensor ref;
        if (loss.kl_coefficient > 0) {
          const at::NoGradGuard no_grad;
          ref = chosen(log_probabilities(reference->impl(), batch, options.temperature), batch);
        }
        if (options.token_loss) value = given_loss(options.token_loss, tokens, ref, value);
        if (loss.kl_coefficient > 0) {
          const at::Tensor kl = kl_token(loss.kl, logp, ref);
          value = value + loss.kl_coefficient * kl;
          report.kl += kl.detach().sum().item<double>();
        }
        measure(loss, batch, all, logp, report);
        return (value * batch.weights).sum();
      });
}

std::vector<std::vector<std::size_t>> Trainer::micro_batches(std::span<const TrainSequence> sequences,
                                                             int micro_tokens) const {
  std::vector<SequenceShape> shapes;
  for (const TrainSequence& s : sequences) shapes.push_back(shape_of(s));
  return plan(shapes, micro_tokens);
}

std::vector<double> Trainer::gram(std::span<const TrainSequence> sequences, const std::vector<std::size_t>& members,
                                  double temperature) const {
  const at::NoGradGuard no_grad;
  const Model::Impl& model = state_->model.impl();
  std::vector<SequenceShape> shapes;
  for (const TrainSequence& s : sequences) shapes.push_back(shape_of(s));
  const std::vector<double> weights(sequences.size(), 1.0);
  const MicroBatch batch = gather(sequences, shapes, weights, members, model.torch_device());
  const at::Tensor hidden = hidden_states(model, batch.inputs, batch.selected).to(at::kDouble);
  const at::Tensor logits = head_logits(model, hidden_states(model, batch.inputs, batch.selected)).to(at::kDouble);
  const at::Tensor chances = at::softmax(logits / temperature, -1);
  const at::Tensor surprise = chances - at::one_hot(batch.targets, chances.size(1)).to(at::kDouble);
  std::vector<at::Tensor> features;
  for (std::int64_t b = 0; b < static_cast<std::int64_t>(members.size()); ++b) {
    const at::Tensor own = (batch.sequence == b).nonzero().squeeze(1);
    features.push_back(surprise.index_select(0, own).t().matmul(hidden.index_select(0, own)).flatten());
  }
  const at::Tensor all = at::stack(features);
  const at::Tensor products = all.matmul(all.t()).to(at::kCPU).contiguous();
  return {products.data_ptr<double>(), products.data_ptr<double>() + products.numel()};
}

std::vector<double> Trainer::embeddings(std::span<const TrainSequence> sequences,
                                        const std::vector<std::size_t>& members) const {
  const at::NoGradGuard no_grad;
  const Model::Impl& model = state_->model.impl();
  std::vector<SequenceShape> shapes;
  for (const TrainSequence& s : sequences) shapes.push_back(shape_of(s));
  const std::vector<double> weights(sequences.size(), 1.0);
  std::vector<at::Tensor> rows;
  for (const std::size_t i : members) {
    const MicroBatch batch = gather(sequences, shapes, weights, {i}, model.torch_device());
    rows.push_back(hidden_states(model, batch.inputs, batch.selected).to(at::kDouble).mean(0));
  }
  const at::Tensor all = at::stack(rows).to(at::kCPU).contiguous();
  return {all.data_ptr<double>(), all.data_ptr<double>() + all.numel()};
}

Result<UpdateReport> Trainer::warm_up(std::span<const TrainSequence> sequences, double learning_rate,
                                      int micro_tokens) {
  const Model::Impl& model = state_->model.impl();
  if (auto checked = check(sequences, model.config, false); !checked) return checked.error();
  std::vector<SequenceShape> shapes;
  std::vector<int> counts;
  for (const TrainSequence& s : sequences) {
    shapes.push_back(shape_of(s));
    counts.push_back(shapes.back().trained);
  }
  const auto weights = sequence_weights(Aggregate::TokenMean, counts, 1);
  return state_->step(sequences, shapes, weights, micro_tokens, learning_rate,
                      [&](const MicroBatch& batch, UpdateReport&) {
                        return -(chosen(log_probabilities(model, batch, 1.0), batch) * batch.weights).sum();
                      });
}

TensorMap Trainer::optimizer_state() const {
  TensorMap out;
  const Model::Impl& model = state_->model.impl();
  for (const auto& [name, view] : model.named(state_->optimizer.first_moments())) out["exp_avg." + name] = to_raw(view);
  for (const auto& [name, view] : model.named(state_->optimizer.second_moments()))
    out["exp_avg_sq." + name] = to_raw(view);
  return out;
}

std::int64_t Trainer::steps() const { return state_->optimizer.steps(); }

Result<void> Trainer::load_optimizer_state(const TensorMap& state, std::int64_t steps) {
  const at::NoGradGuard no_grad;
  const Model::Impl& model = state_->model.impl();
  const auto load = [&](const std::string& prefix, const std::vector<at::Tensor>& moments) -> Result<void> {
    for (const auto& [name, view] : model.named(moments)) {
      const auto found = state.find(prefix + name);
      if (found == state.end() || found->second.shape != view.sizes().vec())
        return Error{"the optimizer's state lacks " + prefix + name + ", or has it in another shape",
                     "optimizer.safetensors and model.safetensors must be of one checkpoint"};
      view.copy_(from_raw(found->second));
    }
    return {};
  };
  if (auto loaded = load("exp_avg.", state_->optimizer.first_moments()); !loaded) return loaded;
  if (auto loaded = load("exp_avg_sq.", state_->optimizer.second_moments()); !loaded) return loaded;
  state_->optimizer.set_steps(steps);
  return {};
}

const Model& Trainer::model() const { return state_->model; }

}  // namespace allot::training
