#include "runtime/training/update.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/training/sampler.h"
#include "tests/training/helpers.h"

using namespace allot::training;

namespace {

std::vector<float> all_weights(const Model& model) {
  std::vector<float> out;
  for (const auto& [name, tensor] : model.tensors()) {
    const std::size_t count = tensor.bytes.size() / sizeof(float);
    out.resize(out.size() + count);
    std::memcpy(out.data() + out.size() - count, tensor.bytes.data(), tensor.bytes.size());
  }
  return out;
}

// exp_avg after one step is (1 - beta1) times the gradient: a way to see the gradient itself.
std::vector<float> gradient(const std::vector<TrainSequence>& sequences, const UpdateOptions& options,
                            const Model* reference = nullptr) {
  Model model = small_model(12);
  OptimizerOptions o;
  o.max_gradient_norm = 0, o.beta1 = 0;
  Trainer trainer(model, o);
  const auto report = trainer.update(sequences, options, reference);
  REQUIRE(report);
  REQUIRE(report->stepped);
  std::vector<float> out;
  for (const auto& [name, tensor] : trainer.optimizer_state()) {
    if (name.rfind("exp_avg.", 0) != 0) continue;
    const std::size_t count = tensor.bytes.size() / sizeof(float);
    out.resize(out.size() + count);
    std::memcpy(out.data() + out.size() - count, tensor.bytes.data(), tensor.bytes.size());
  }
  return out;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
  }
  REQUIRE(largest > 1e-3);  // a gradient that is there
  return worst / largest;
}

// Groups of unequal sizes: 1, 2, 3 and 4 rollouts of unequal lengths.
std::vector<TrainSequence> unequal_groups() {
  const Model model = small_model(12);
  std::vector<TrainSequence> out;
  for (int group = 1; group <= 4; ++group)
    for (int sample = 0; sample < group; ++sample)
      out.push_back(random_sequence(model, 1 + (sample + group) % 5, static_cast<std::uint64_t>(10 * group + sample),
                                    sample % 2 == 0 ? 0.9 : -0.4));
  return out;
}

const std::vector<Aggregate> kModes = {Aggregate::TokenMean, Aggregate::SeqMeanTokenSum, Aggregate::SeqMeanTokenMean,
                                       Aggregate::SeqMeanTokenSumNorm, Aggregate::TrlGrpo, Aggregate::TrlDrGrpo};

}  // namespace

TEST_CASE("The split into micro-batches and the order of rollouts do not change the gradient") {
  const auto sequences = unequal_groups();
  auto reversed = sequences;
  std::reverse(reversed.begin(), reversed.end());
  const Model reference = small_model(77);
  for (const Aggregate mode : kModes) {
    INFO(name(mode));
    UpdateOptions one;
    one.loss.aggregate = mode, one.loss.kl_coefficient = 0.1, one.micro_tokens = 1 << 20;
    UpdateOptions many = one;
    many.micro_tokens = 1;
    UpdateOptions some = one;
    some.micro_tokens = 64;
    const auto whole = gradient(sequences, one, &reference);
    CHECK(distance(whole, gradient(sequences, many, &reference)) < 2e-5);
    CHECK(distance(whole, gradient(reversed, some, &reference)) < 2e-5);
  }
  for (const PolicyLoss kind : {PolicyLoss::Gspo, PolicyLoss::Cispo, PolicyLoss::SoftGate, PolicyLoss::Gmpo}) {
    UpdateOptions one;
    one.loss.kind = kind;
    UpdateOptions many = one;
    many.micro_tokens = 1;
    CHECK(distance(gradient(sequences, one), gradient(sequences, many)) < 2e-5);
  }
}

TEST_CASE("Only action tokens are trained on; the tokens after the last action are not even looked at") {
  auto sequences = unequal_groups();
  const auto before = gradient(sequences, {});
  for (TrainSequence& s : sequences) {
    // Behaviour log-probabilities of context and a longer tail must not matter.
    for (std::size_t t = 0; t < s.tokens.size(); ++t)
      if (!s.trained[t]) s.behaviour_logp[t] = -77;
    for (int i = 0; i < 5; ++i) s.tokens.push_back(3), s.trained.push_back(0), s.behaviour_logp.push_back(0);
  }
  CHECK(gradient(sequences, {}) == before);
}

TEST_CASE("A step without a dropped group equals a step of a batch that never had it (fault 11)") {
  // Against it: the same group kept with advantage 0, which still thins out the others.
  const auto sequences = unequal_groups();
  std::vector<TrainSequence> without(sequences.begin(), sequences.end() - 4), zeroed = sequences;
  for (std::size_t i = sequences.size() - 4; i < sequences.size(); ++i) zeroed[i].advantage = 0;
  const auto step = [](const std::vector<TrainSequence>& batch) {
    Model model = small_model(12);
    Trainer trainer(model, {});
    REQUIRE(trainer.update(batch, {}));
    return all_weights(model);
  };
  CHECK(step(without) == step(without));
  CHECK(step(without) != all_weights(small_model(12)));
  CHECK(distance(gradient(without, {}), gradient(zeroed, {})) > 0.05);
  // Passing over rollouts whose loss is 0 anyway leaves their tokens in the denominator: the same gradient.
  UpdateOptions skip;
  skip.skip_zero_advantage = true;
  CHECK(distance(gradient(zeroed, {}), gradient(zeroed, skip)) < 2e-5);
}

TEST_CASE("Nothing to train on leaves the weights as they are") {
  Model model = small_model(12);
  const auto before = all_weights(model);
  Trainer trainer(model, {});
  const auto empty = trainer.update({}, {});
  REQUIRE(empty);
  CHECK_FALSE(empty->stepped);
  std::vector<TrainSequence> contextual = {random_sequence(model, 2, 1, 1.0)};
  contextual[0].trained.assign(contextual[0].trained.size(), 0);
  const auto none = trainer.update(contextual, {});
  REQUIRE(none);
  CHECK_FALSE(none->stepped);
  CHECK(none->trained_tokens == 0);
  CHECK(all_weights(model) == before);
  CHECK(trainer.steps() == 0);
}

TEST_CASE("Malformed rollouts are refused before anything changes") {
  Model model = small_model(12);
  Trainer trainer(model, {});
  const auto before = all_weights(model);
  const auto refused = [&](auto change) {
    std::vector<TrainSequence> batch = {random_sequence(model, 2, 1, 1.0), random_sequence(model, 2, 2, -1.0)};
    change(batch[1]);
    const auto result = trainer.update(batch, {});
    return !result && result.error().what.find("sequence 1") != std::string::npos;
  };
  CHECK(refused([](TrainSequence& s) { s.trained.pop_back(); }));
  CHECK(refused([](TrainSequence& s) { s.behaviour_logp.clear(); }));
  CHECK(refused([](TrainSequence& s) { s.trained[0] = 1; }));
  CHECK(refused([](TrainSequence& s) { s.tokens[3] = 37; }));
  CHECK(refused([](TrainSequence& s) { s.advantage = std::nan(""); }));
  CHECK(all_weights(model) == before);
  UpdateOptions kl;
  kl.loss.kl_coefficient = 0.1;
  CHECK_FALSE(trainer.update(std::vector{random_sequence(model, 2, 1, 1.0)}, kl));
}

TEST_CASE("Gradients are clipped to the limit") {
  const auto sequences = unequal_groups();
  const auto moments = [&](double limit) {
    Model model = small_model(12);
    OptimizerOptions o;
    o.beta1 = 0, o.max_gradient_norm = limit;
    Trainer trainer(model, o);
    REQUIRE(trainer.update(sequences, {}));
    double squares = 0;
    for (const auto& [name, tensor] : trainer.optimizer_state()) {
      if (name.rfind("exp_avg.", 0) != 0) continue;
      for (std::size_t i = 0; i < tensor.bytes.size(); i += sizeof(float)) {
        float g = 0;
        std::memcpy(&g, tensor.bytes.data() + i, sizeof g);
        squares += static_cast<double>(g) * g;
      }
    }
    return std::sqrt(squares);
  };
  CHECK(moments(0) > 0.2);
  CHECK(moments(0.1) == Approx(0.1).epsilon(1e-4));
}

TEST_CASE("Warm-up learns a demonstration by heart, and GRPO raises what it rewards") {
  ModelConfig config = small_config();
  config.initializer_range = 0.05;
  Model model = small_model(5, config);
  OptimizerOptions fast;
  fast.learning_rate = 0.01;
  std::vector<TrainSequence> demonstrations = {random_sequence(model, 3, 1, 0), random_sequence(model, 3, 2, 0)};
  {
    Trainer trainer(model, fast);
    double first = 0, last = 0;
    for (int i = 0; i < 80; ++i) {
      const auto report = trainer.warm_up(demonstrations);
      REQUIRE(report);
      (i == 0 ? first : last) = report->loss;
    }
    CHECK(first == Approx(std::log(37.0)).epsilon(0.2));  // a fresh model knows nothing: about ln(vocabulary)
    CHECK(last < 0.1);
  }
  // On policy, a positive advantage must raise the tokens' probability and a negative one lower it.
  std::vector<TrainSequence> batch = {random_sequence(model, 3, 8, 1.0), random_sequence(model, 3, 9, -1.0)};
  const auto logp = [&](const TrainSequence& s) {
    const auto logits = model.logits(s.tokens);
    double total = 0;
    for (std::size_t t = 1; t < s.tokens.size(); ++t) {
      if (!s.trained[t]) continue;
      const float* row = logits.data() + (t - 1) * 37;
      double sum = 0;
      for (int v = 0; v < 37; ++v) sum += std::exp(static_cast<double>(row[v]));
      total += row[s.tokens[t]] - std::log(sum);
    }
    return total;
  };
  const double good = logp(batch[0]), bad = logp(batch[1]);
  Trainer trainer(model, {});
  const auto report = trainer.update(batch, {});
  REQUIRE(report);
  CHECK(logp(batch[0]) > good);
  CHECK(logp(batch[1]) < bad);
}

TEST_CASE("Rollouts of the sampler come back with ratio 1") {
  // Two ways to compute one thing: the sampler's own arithmetic and the training-side forward pass.
  Model model = small_model(21);
  SamplerOptions o;
  o.seed = 5, o.end_token = 4, o.rows = 6, o.max_context = 150, o.temperature = 0.9;
  auto sampler = Sampler::make(model, o);
  REQUIRE(sampler);
  std::vector<TrainSequence> batch(6);
  for (int id = 0; id < 6; ++id) {
    TrainSequence& s = batch[static_cast<std::size_t>(id)];
    s.tokens = random_tokens(5 + id, 37, static_cast<std::uint64_t>(id));
    s.trained.assign(s.tokens.size(), 0), s.behaviour_logp.assign(s.tokens.size(), 0);
    s.advantage = id % 2 ? 1 : -1;
    REQUIRE(sampler->add(id, static_cast<std::uint64_t>(id), s.tokens));
    REQUIRE(sampler->begin_action(id, 20));
  }
  for (auto step = sampler->step(); !step.empty(); step = sampler->step())
    for (const SampledToken& t : step) {
      TrainSequence& s = batch[static_cast<std::size_t>(t.id)];
      s.tokens.push_back(t.token), s.trained.push_back(1), s.behaviour_logp.push_back(t.logprob);
    }
  Trainer trainer(model, {});
  UpdateOptions options;
  options.temperature = 0.9;
  const auto report = trainer.update(batch, options);
  REQUIRE(report);
  CHECK(report->ratio == Approx(1.0).margin(1e-5));
  CHECK(report->clip_fraction == 0.0);
}

TEST_CASE("One seed gives one run") {
  const auto run = [] {
    Model model = small_model(30);
    Trainer trainer(model, {});
    const auto sequences = unequal_groups();
    for (int i = 0; i < 3; ++i) REQUIRE(trainer.update(sequences, {}));
    return all_weights(model);
  };
  CHECK(run() == run());
}

TEST_CASE("The sampler sees the weights of the last step") {
  Model model = small_model(31);
  SamplerOptions o;
  o.rows = 1, o.max_context = 100;
  auto sampler = Sampler::make(model, o);
  REQUIRE(sampler);
  const auto first_logprob = [&] {
    sampler->clear();
    REQUIRE(sampler->add(0, 1, std::vector<int>{1, 2, 3}));
    REQUIRE(sampler->begin_action(0, 1));
    return sampler->step()[0].entropy;
  };
  const float before = first_logprob();
  CHECK(first_logprob() == before);
  Trainer trainer(model, {});
  REQUIRE(trainer.warm_up(std::vector{random_sequence(model, 2, 1, 0)}));
  CHECK(first_logprob() != before);
}

TEST_CASE("The gradient of every tensor is the slope of the loss along it") {
  // Peer: differences of the loss itself. Along a tensor's own gradient g the slope is |g|^2.
  ModelConfig config = small_config();
  SECTION("grouped queries, tied head") {}
  SECTION("one key-value head, own head") { config.kv_heads = 1, config.tie_embeddings = false; }
  const Model model = small_model(40, config);
  const std::vector<TrainSequence> batch = {random_sequence(model, 4, 1, 0), random_sequence(model, 2, 2, 0)};
  OptimizerOptions plain;
  plain.beta1 = 0, plain.max_gradient_norm = 0;
  TensorMap gradients;
  {
    Model copy = model.clone();
    Trainer trainer(copy, plain);
    REQUIRE(trainer.warm_up(batch));
    gradients = trainer.optimizer_state();
  }
  const auto loss_at = [&](const std::string& name, const std::vector<float>& direction, double distance) {
    TensorMap tensors = model.tensors();
    auto* values = reinterpret_cast<float*>(tensors[name].bytes.data());
    for (std::size_t i = 0; i < direction.size(); ++i) values[i] += static_cast<float>(distance * direction[i]);
    Model moved = model.clone();
    REQUIRE(moved.assign(tensors, "the test"));
    return Trainer(moved, plain).warm_up(batch)->loss;
  };
  for (const auto& [name, tensor] : model.tensors()) {
    INFO(name);
    std::vector<float> g(tensor.bytes.size() / sizeof(float));
    std::memcpy(g.data(), gradients.at("exp_avg." + name).bytes.data(), tensor.bytes.size());
    double squares = 0;
    for (const float v : g) squares += static_cast<double>(v) * v;
    const double h = 0.005 / std::sqrt(std::max(squares, 1e-6));  // a key bias has slope 0: it shifts all scores alike
    const double slope = (loss_at(name, g, h) - loss_at(name, g, -h)) / (2 * h);
    const double rounding = 4e-6 / (2 * h);  // of a loss of about 4 in float32
    CHECK(slope == Approx(squares).epsilon(0.01).margin(rounding));
  }
}

// The trainer's own ppo, said from outside: max(-A r, -A clip(r)), whose slope is r times that of the side that is taken.
TEST_CASE("a loss that is given by value and slope trains as the same loss of the trainer's own") {
  const auto sequences = unequal_groups();
  UpdateOptions own;
  own.loss.dual_clip = std::numeric_limits<double>::infinity();
  own.micro_tokens = 64;
  UpdateOptions given = own;
  given.token_loss = [](const LossTokens& tokens) {
    GivenLoss loss;
    for (std::size_t i = 0; i < tokens.logp.size(); ++i) {
      const double advantage = tokens.advantages[i];
      const double ratio = std::exp(tokens.logp[i] - tokens.old_logp[i]);
      const double plain = -advantage * ratio;
      const double clipped = -advantage * std::clamp(ratio, 0.8, 1.2);
      loss.loss.push_back(std::max(plain, clipped));
      loss.slope.push_back(plain >= clipped ? plain : 0);
      loss.own.push_back(i % 3 == 0);  // these are left to the trainer: it has to come to the same
    }
    return loss;
  };
  CHECK(distance(gradient(sequences, own), gradient(sequences, given)) < 1e-5);
}

TEST_CASE("tokens may have advantages of their own, and the gradient is that of each") {
  const Model model = small_model(12);
  UpdateOptions options;
  options.loss.clip_low = options.loss.clip_high = 1e6;  // without clipping the loss is linear in the advantages
  const TrainSequence whole = random_sequence(model, 4, 5, 0.75);
  const auto with = [&](double early, double late) {
    TrainSequence sequence = whole;
    const std::size_t half = sequence.tokens.size() / 2;
    sequence.turn_advantages.assign(sequence.tokens.size(), early);
    std::fill(sequence.turn_advantages.begin() + static_cast<std::ptrdiff_t>(half), sequence.turn_advantages.end(), late);
    return gradient({sequence}, options);
  };
  CHECK(distance(gradient({whole}, options), with(0.75, 0.75)) == 0);
  std::vector<float> sum = with(0.5, 0);
  const std::vector<float> late = with(0, 0.25);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += late[i];
  CHECK(distance(with(0.5, 0.25), sum) < 1e-4);
  CHECK(distance(with(0.5, 0.25), with(0.25, 0.5)) > 1e-2);
}

TEST_CASE("embeddings are a row a sequence, equal for equal ones") {
  Model model = small_model(12);
  const TrainSequence one = random_sequence(model, 3, 5, 1.0);
  const TrainSequence other = random_sequence(model, 4, 6, 1.0);
  const Trainer trainer(model, {});
  const std::vector<TrainSequence> all{one, other, one};
  const std::vector<double> rows = trainer.embeddings(all, {0, 1, 2});
  const std::size_t width = rows.size() / 3;
  REQUIRE(width == static_cast<std::size_t>(model.config().hidden_size));
  const auto row = [&](std::size_t i) {
    return std::vector<double>(rows.begin() + static_cast<std::ptrdiff_t>(i * width),
                               rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  };
  CHECK(row(0) == row(2));
  CHECK(row(0) != row(1));
}
