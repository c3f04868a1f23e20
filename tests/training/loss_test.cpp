#include "runtime/training/loss.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace allot::training;

namespace {

// 4 rows: 2 groups of 2, of unequal lengths; the shape of fault 11's try, with other numbers of tokens.
LossInputs random_inputs(std::mt19937& random, std::vector<int> lengths) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  LossInputs in;
  for (const int n : lengths) {
    std::vector<double> old_logp, new_logp, mask;
    for (int t = 0; t < 10; ++t) {
      old_logp.push_back(-1.5 + uniform(random));
      new_logp.push_back(old_logp.back() + 0.5 * uniform(random));
      mask.push_back(t < n ? 1 : 0);
    }
    in.old_logp.push_back(old_logp), in.new_logp.push_back(new_logp), in.mask.push_back(mask);
    in.advantages.push_back(2 * uniform(random));
  }
  return in;
}

const std::vector<PolicyLoss> kSmooth = {PolicyLoss::PpoClip, PolicyLoss::SoftGate, PolicyLoss::Gmpo};

double total(const LossOptions& o, const LossInputs& in) {
  double sum = 0;
  for (const auto& row : token_loss(o, in))
    for (const double v : row) sum += v;
  return sum;
}

}  // namespace

TEST_CASE("Gradients agree with differences of the loss") {
  // Peer: central differences. gspo and cispo stop gradients on purpose and are checked by their formulas below.
  std::mt19937 random(3);
  for (const PolicyLoss kind : kSmooth) {
    LossOptions o;
    o.kind = kind;
    LossInputs in = random_inputs(random, {4, 7, 1});
    const LossMatrix gradient = token_loss_gradient(o, in);
    for (std::size_t i = 0; i < in.mask.size(); ++i)
      for (std::size_t t = 0; t < 10; ++t) {
        const double h = 1e-6, at = in.new_logp[i][t];
        in.new_logp[i][t] = at + h;
        const double up = total(o, in);
        in.new_logp[i][t] = at - h;
        const double down = total(o, in);
        in.new_logp[i][t] = at;
        CHECK(gradient[i][t] == Approx((up - down) / (2 * h)).margin(1e-7));
      }
  }
}

TEST_CASE("At ratio 1 every loss pushes a token by minus its advantage") {
  // Derivation: d/dlogp of -A exp(logp - old) at 0 is -A; of -(4/tau) sigmoid(tau (r - 1)) A it is -(4/4) A; the
  // gradient of gmpo and gspo is -A spread over the tokens of the sequence, that is -A / n each times n tokens for
  // gspo's per-token form.
  std::mt19937 random(4);
  LossInputs in = random_inputs(random, {5});
  in.new_logp = in.old_logp;
  for (const PolicyLoss kind : {PolicyLoss::PpoClip, PolicyLoss::Gspo, PolicyLoss::Cispo, PolicyLoss::SoftGate}) {
    LossOptions o;
    o.kind = kind;
    CHECK(token_loss_gradient(o, in)[0][2] == Approx(-in.advantages[0]));
  }
}

TEST_CASE("Only the log-probability carries gradient in cispo") {
  // Derivation: L = -stop(clip(r)) A logp, so dL/dlogp = -clip(r) A, also where the ratio is cut.
  LossOptions o;
  o.kind = PolicyLoss::Cispo, o.clip_low = 0.2, o.clip_high = 0.28;
  const LossInputs in{{{-2.0}}, {{-1.0}}, {0.5}, {{1}}};
  CHECK(token_loss_gradient(o, in)[0][0] == Approx(-1.28 * 0.5));
  o.kind = PolicyLoss::CispoTrl, o.clip_high = 5.0;
  CHECK(token_loss_gradient(o, in)[0][0] == Approx(-std::exp(1.0) * 0.5));
}

TEST_CASE("A dropped group stands in no numerator and no denominator (fault 11)") {
  std::mt19937 random(5);
  // Groups 2 and 4 of four are dead: the runtime returns their rows to nobody. Against this stands "advantage 0".
  const LossInputs all = random_inputs(random, {10, 10, 10, 10, 10, 10, 10, 10});
  LossInputs kept, zeroed = all;
  int effective = 0, dead = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const bool dropped = (i / 2) % 2 == 1;
    (dropped ? dead : effective) += 10;
    if (dropped) {
      zeroed.advantages[i] = 0;
      continue;
    }
    kept.old_logp.push_back(all.old_logp[i]), kept.new_logp.push_back(all.new_logp[i]);
    kept.mask.push_back(all.mask[i]), kept.advantages.push_back(all.advantages[i]);
  }
  CHECK(effective == 40);
  CHECK(dead == 40);
  const LossOptions o;
  const double removed = aggregate_loss(Aggregate::TokenMean, token_loss(o, kept), kept.mask, 10);
  const double diluted = aggregate_loss(Aggregate::TokenMean, token_loss(o, zeroed), zeroed.mask, 10);
  CHECK(removed == Approx(2 * diluted));  // half of the tokens were dead

  // A row whose mask is empty counts in no denominator of verl's modes, but does in TRL's.
  LossInputs masked = zeroed;
  for (std::size_t i = 0; i < 8; ++i)
    if ((i / 2) % 2 == 1) masked.mask[i].assign(10, 0.0);
  const LossMatrix loss = token_loss(o, masked);
  for (const Aggregate mode : {Aggregate::TokenMean, Aggregate::SeqMeanTokenSum, Aggregate::SeqMeanTokenMean}) {
    const double without = aggregate_loss(mode, token_loss(o, kept), kept.mask, 10);
    CHECK(aggregate_loss(mode, loss, masked.mask, 10) == Approx(without));
  }
  CHECK(aggregate_loss(Aggregate::TrlGrpo, loss, masked.mask, 10) ==
        Approx(aggregate_loss(Aggregate::TrlGrpo, token_loss(o, kept), kept.mask, 10) / 2));
}

TEST_CASE("An empty batch has no weight, and no NaN") {
  for (const Aggregate mode : {Aggregate::TokenMean, Aggregate::SeqMeanTokenMean, Aggregate::TrlGrpo}) {
    for (const double w : sequence_weights(mode, std::vector<int>{0, 0}, 4)) CHECK(w == 0.0);
    CHECK(sequence_weights(mode, std::vector<int>{}, 4).empty());
  }
}

TEST_CASE("KL: zero at equality, k3 never negative, and a plus takes the gradient of k2") {
  std::mt19937 random(8);
  std::uniform_real_distribution<double> uniform(-5, 0);
  for (const char* name : {"k1", "k2", "k3", "abs", "low_var_kl", "k3+"}) {
    const auto kl = parse_kl(name);
    REQUIRE(kl);
    CHECK(kl_estimate(*kl, {-1.25}, {-1.25})[0] == 0.0);
  }
  const KlEstimator k3 = *parse_kl("k3"), plus = *parse_kl("k3+");
  for (int i = 0; i < 200; ++i) {
    const double a = uniform(random), b = uniform(random);
    CHECK(kl_estimate(k3, {a}, {b})[0] >= 0);
    CHECK(kl_estimate(plus, {a}, {b})[0] == Approx(kl_estimate(k3, {a}, {b})[0]).margin(1e-12));
  }
  CHECK_FALSE(parse_kl("k4"));
}

TEST_CASE("The KL controller moves by a fifth of a batch's share at most") {
  // Derivation: clip(kl / target - 1, +-0.2) n / horizon = 0.2 * 100 / 1000.
  AdaptiveKl up{0.1, 0.01, 1000}, down = up;
  up.update(10.0, 100), down.update(0.0, 100);
  CHECK(up.value == Approx(0.102));
  CHECK(down.value == Approx(0.098));
}

TEST_CASE("Names of aggregation modes and losses are the usual ones") {
  for (const char* text : {"token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm", "grpo",
                           "bnpo", "dapo", "dr_grpo", "luspo"}) {
    const auto mode = parse_aggregate(text);
    REQUIRE(mode);
    CHECK(name(*mode) == text);
  }
  CHECK(parse_aggregate("mean").error().help.find("token-mean") != std::string::npos);
  CHECK(parse_policy_loss("dpo").error().help.find("gspo") != std::string::npos);
}
