// Advantages, losses, KL estimators and aggregation of the trainer, behind the vectors' function names.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "runtime/training/advantage.h"
#include "runtime/training/batch_advantage.h"
#include "runtime/training/loss.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/registry.h"

namespace allot::conformance {
namespace {

using training::Groups;
using training::GroupValues;
using training::LossInputs;
using training::LossMatrix;
using training::LossOptions;
using training::Reward;

// Vectors write an unscored reward as "nan" (or null).
std::vector<Reward> rewards(const Json& list) {
  std::vector<Reward> out;
  for (const Json& value : list) out.push_back(value.is_null() ? Reward() : Reward(number(value)));
  return out;
}

std::vector<std::vector<Reward>> groups(const Json& list) {
  std::vector<std::vector<Reward>> out;
  for (const Json& group : list) out.push_back(rewards(group));
  return out;
}

LossMatrix matrix(const Json& list) {
  LossMatrix out;
  for (const Json& row : list) out.push_back(numbers(row));
  return out;
}

// The vectors list the advantages of a batch one after another.
Json joined(const GroupValues& values) {
  Json out = Json::array();
  for (const auto& group : values)
    for (const double value : group) out.push_back(value);
  return out;
}

template <typename T>
T value_of(const Result<T>& result) {
  if (!result) throw std::invalid_argument(result.error().text());
  return *result;
}

LossInputs loss_inputs(const Json& in, const char* old_name = "old_logp") {
  return {matrix(in.at(old_name)), matrix(in.at("new_logp")), numbers(in.at("advantages")), matrix(in.at("mask"))};
}

LossOptions clip_options(const Json& in, training::PolicyLoss kind) {
  LossOptions o;
  o.kind = kind;
  o.clip_low = in.value("clip_low", o.clip_low), o.clip_high = in.value("clip_high", o.clip_high);
  o.dual_clip = in.value("clip_c", std::numeric_limits<double>::infinity());
  o.tau_positive = in.value("tau_pos", o.tau_positive), o.tau_negative = in.value("tau_neg", o.tau_negative);
  return o;
}

int padded_length(const LossMatrix& mask) { return mask.empty() ? 0 : static_cast<int>(mask.front().size()); }

double sequence_mean(const LossOptions& options, const LossInputs& inputs) {
  return training::aggregate_loss(training::Aggregate::SeqMeanTokenMean, training::token_loss(options, inputs),
                                  inputs.mask, padded_length(inputs.mask));
}

void register_group_advantages(Registry& registry) {
  registry.add("grpo_advantage", [](const Json& in) -> Json {
    return training::grpo(rewards(in.at("rewards")), in.at("ddof"), in.at("eps"));
  });
  registry.add("grpo_advantage_singleton", [](const Json& in) -> Json {
    const auto rule = in.at("singleton") == "verl" ? training::Singleton::RawReward : training::Singleton::Zero;
    return training::grpo(rewards(in.at("rewards")), in.at("ddof"), in.at("eps"), rule);
  });
  registry.add("grpo_advantage_nan", [](const Json& in) -> Json {
    return training::grpo(rewards(in.at("rewards")), in.at("ddof"), in.at("eps"));
  });
  registry.add("grpo_advantage_varfloor", [](const Json& in) -> Json {
    return training::grpo_variance_floor(rewards(in.at("rewards")), in.at("eps"));
  });
  registry.add("grpo_advantage_nostd",
               [](const Json& in) -> Json { return training::dr_grpo(rewards(in.at("rewards"))); });
  registry.add("grpo_passk_advantage", [](const Json& in) -> Json {
    return training::grpo_passk(rewards(in.at("rewards")), in.at("ddof"), in.at("eps"));
  });
  registry.add("rloo_advantage", [](const Json& in) -> Json { return training::rloo(rewards(in.at("rewards"))); });
  registry.add("opo_advantage", [](const Json& in) -> Json {
    return training::opo(rewards(in.at("rewards")), numbers(in.at("lengths")));
  });
}

void register_batch_advantages(Registry& registry) {
  registry.add("grpo_advantage_batchstd", [](const Json& in) {
    return joined(training::batch_std(groups(in.at("groups")), in.at("ddof"), in.at("eps")));
  });
  registry.add("rloo_advantage_batchnorm", [](const Json& in) {
    return joined(training::rloo_batch_norm(groups(in.at("groups")), in.at("ddof"), in.at("eps")));
  });
  registry.add("gpg_advantage_verl", [](const Json& in) {
    return joined(training::gpg_verl(groups(in.at("groups")), in.at("f_norm")));
  });
  registry.add("gpg_advantage_livegroups",
               [](const Json& in) { return joined(training::gpg(groups(in.at("groups")))); });
  registry.add("reinforce_pp_advantage", [](const Json& in) -> Json {
    const auto out = training::reinforce_pp(matrix(in.at("token_rewards")), matrix(in.at("mask")), in.at("gamma"));
    return {{"returns", out.returns}, {"advantages", out.advantages}};
  });
  // One value a rollout on our side; the vector writes it on every token, padded with 0 to the longest rollout.
  registry.add("reinforce_pp_baseline_advantage", [](const Json& in) -> Json {
    const LossMatrix lengths = matrix(in.at("lengths"));
    const GroupValues values = training::reinforce_pp_baseline(groups(in.at("groups")), lengths);
    double longest = 0;
    for (const auto& group : lengths)
      for (const double n : group) longest = std::max(longest, n);
    LossMatrix out;
    for (std::size_t g = 0; g < values.size(); ++g)
      for (std::size_t i = 0; i < values[g].size(); ++i) {
        out.emplace_back(static_cast<std::size_t>(longest), 0.0);
        for (std::size_t t = 0; t < static_cast<std::size_t>(lengths[g][i]); ++t) out.back()[t] = values[g][i];
      }
    return out;
  });
}

void register_losses(Registry& registry) {
  using training::PolicyLoss;
  registry.add("ppo_clip_token_loss", [](const Json& in) -> Json {
    return training::token_loss(clip_options(in, PolicyLoss::PpoClip), loss_inputs(in));
  });
  registry.add("gspo_loss", [](const Json& in) -> Json {
    const LossInputs inputs = loss_inputs(in);
    return {{"seq_ratio", training::sequence_ratios(inputs)},
            {"loss", sequence_mean(clip_options(in, PolicyLoss::Gspo), inputs)}};
  });
  registry.add("gmpo_loss", [](const Json& in) -> Json {
    return sequence_mean(clip_options(in, PolicyLoss::Gmpo), loss_inputs(in));
  });
  registry.add("cispo_token_loss", [](const Json& in) -> Json {
    const bool trl = in.at("convention") == "trl";
    LossOptions o = clip_options(in, trl ? PolicyLoss::CispoTrl : PolicyLoss::Cispo);
    if (trl) o.clip_high = in.at("eps_max");
    return training::token_loss(o, loss_inputs(in));
  });
  registry.add("soft_adaptive_po_token_loss", [](const Json& in) -> Json {
    const LossOptions o = clip_options(in, PolicyLoss::SoftGate);
    const LossInputs inputs = loss_inputs(in);
    return {{"token_loss", training::token_loss(o, inputs)}, {"loss", sequence_mean(o, inputs)}};
  });
  registry.add("decoupled_ppo_token_loss", [](const Json& in) -> Json {
    const LossInputs inputs = loss_inputs(in, "prox_logp");
    const LossMatrix weights = training::decoupled_weights(matrix(in.at("behav_logp")), inputs.old_logp, inputs.mask,
                                                           in.at("is_cap"), in.at("is_level") == "sequence");
    LossMatrix loss = training::token_loss(clip_options(in, PolicyLoss::PpoClip), inputs);
    for (std::size_t i = 0; i < loss.size(); ++i)
      for (std::size_t t = 0; t < loss[i].size(); ++t) loss[i][t] *= weights[i][t];
    return {{"weights", weights},
            {"loss", loss},
            {"token_mean", training::aggregate_loss(training::Aggregate::TokenMean, loss, inputs.mask,
                                                    padded_length(inputs.mask))}};
  });
}

void register_aggregation_and_kl(Registry& registry) {
  registry.add("agg_loss", [](const Json& in) -> Json {
    const LossMatrix mask = matrix(in.at("mask"));
    return training::aggregate_loss(value_of(training::parse_aggregate(in.at("mode").get<std::string>())),
                                    matrix(in.at("loss")), mask, padded_length(mask));
  });
  registry.add("agg_loss_trl", [](const Json& in) -> Json {
    const LossMatrix mask = matrix(in.at("mask"));
    const Json& longest = in.at("max_completion_length");
    return training::aggregate_loss(value_of(training::parse_aggregate(in.at("mode").get<std::string>())),
                                    matrix(in.at("loss")), mask,
                                    longest.is_null() ? padded_length(mask) : longest.get<int>());
  });
  registry.add("kl_estimate", [](const Json& in) -> Json {
    training::KlEstimator kl = value_of(training::parse_kl(in.at("kind").get<std::string>()));
    kl.clamp = in.at("clamp");
    return training::kl_estimate(kl, numbers(in.at("logp")), numbers(in.at("ref_logp")));
  });
  registry.add("adaptive_kl_controller", [](const Json& in) -> Json {
    training::AdaptiveKl controller{in.at("value"), in.at("target"), in.at("horizon")};
    controller.update(in.at("current_kl"), in.at("n_steps"));
    return controller.value;
  });
}

}  // namespace

void register_estimators(Registry& registry) {
  register_group_advantages(registry);
  register_batch_advantages(registry);
  register_losses(registry);
  register_aggregation_and_kl(registry);
}

}  // namespace allot::conformance
