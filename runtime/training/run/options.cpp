#include "runtime/training/run/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "runtime/training/run/arm.h"

namespace allot::training {
namespace {

// Numbers for two minutes on two cores: the same machinery, fewer iterations.
void make_quick(RunOptions& options, const CLI::App& app) {
  const auto given = [&](const char* name) { return app.count(name) > 0; };
  if (!given("--iterations")) options.iterations = 20;
}

void add_world(CLI::App& app, RunOptions& o) {
  app.add_option("--world", o.world, "household (built in), textworld, or process")->capture_default_str();
  app.add_option("--games", o.games, "textworld: folder with training/ and held_out/ games");
  app.add_option("--world-command", o.world_command, "process: a program that speaks the protocol of docs/worlds.md");
  app.add_option("--worlds", o.worlds, "child processes at most")->capture_default_str();
  app.add_option("--turns", o.turn_limit, "turns of a rollout at most; 0: the world's own limit")->capture_default_str();
}

void add_policy(CLI::App& app, RunOptions& o, std::vector<std::string>& sets) {
  app.add_option("--policy", o.policy, "the .allot file of the arm `policy`");
  app.add_option("--set", sets, "NAME=VALUE for a parameter of the policy; may be repeated");
  app.add_option("--arms", o.arms, "which arms run side by side: none policy random oracle")->delimiter(',');
  app.add_option("--gate-turn", o.gate_turn, "turn at which the arms random and oracle stop groups")->capture_default_str();
  app.add_flag("--shadow", o.shadow, "the policy decides and logs, and changes nothing");
  app.add_option("--holdout", o.holdout, "share of stopped groups that run to the end all the same, such as 0.05 or 5%")
      ->transform(CLI::Validator(
          [](std::string& text) {
            if (!text.empty() && text.back() == '%') text = std::to_string(std::stod(text) / 100);
            return std::string{};
          },
          "SHARE"))
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--pause-below", o.pause_below, "fall back to shadow when the live precision of stops is below this")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--on-fault",
                 [&o](const CLI::results_t& values) {
                   o.stop_on_fault = values.front() == "stop";
                   return values.front() == "stop" || values.front() == "default";
                 },
                 "stop: end the run at a policy's first fault; default: take the safe default and count it");
  app.add_flag("!--no-native", o.native, "stay with the evaluator, compile nothing");
}

void add_groups(CLI::App& app, RunOptions& o) {
  app.add_option("--iterations", o.iterations, "batches generated and trained on")->capture_default_str();
  app.add_option("--slots", o.slots, "groups of a batch")->capture_default_str()->check(CLI::Range(1, 4096));
  app.add_option("--group-size", o.group_size, "rollouts of a group")->capture_default_str()->check(CLI::Range(1, 1024));
  app.add_option("--tokens-per-turn", o.tokens_per_turn, "tokens of an action at most")->capture_default_str();
  app.add_option("--temperature", o.temperature, "of sampling")->capture_default_str()->check(CLI::Range(0.01, 10.0));
  app.add_option("--top-p", o.top_p, "nucleus of sampling")->capture_default_str()->check(CLI::Range(0.01, 1.0));
}

// An option whose words are read by one of our own parsers, so that its message is the one that is shown.
template <typename Parse, typename Target>
CLI::callback_t parsed_by(Parse parse, Target& target, const std::string& option) {
  return [parse, &target, option](const CLI::results_t& values) {
    auto parsed = parse(values.front());
    if (!parsed) throw CLI::ValidationError(option, parsed.error().text());
    target = *parsed;
    return true;
  };
}

void add_learning(CLI::App& app, RunOptions& o) {
  app.add_option("--advantage", parsed_by(parse_estimator, o.advantage.estimator, "--advantage"),
                 "grpo, dr_grpo, rloo, reinforce++, reinforce++-baseline, gpg, opo, batch_std");
  app.add_option("--ddof", o.advantage.ddof, "divisor n - ddof of grpo's standard deviation")->capture_default_str();
  app.add_option("--advantage-eps", o.advantage.eps, "added to the standard deviation")->capture_default_str();
  app.add_option("--loss", parsed_by(parse_policy_loss, o.update.loss.kind, "--loss"),
                 "ppo, gspo, cispo, cispo_trl, soft_gate, gmpo");
  app.add_option("--aggregate", parsed_by(parse_aggregate, o.update.loss.aggregate, "--aggregate"),
                 "token-mean, seq-mean-token-sum, seq-mean-token-mean, seq-mean-token-sum-norm, dr_grpo, …");
  app.add_option("--clip-low", o.update.loss.clip_low)->capture_default_str();
  app.add_option("--clip-high", o.update.loss.clip_high)->capture_default_str();
  app.add_option("--dual-clip", o.update.loss.dual_clip)->capture_default_str();
  app.add_option("--learning-rate", o.optimizer.learning_rate, "of the GRPO updates (AdamW)")->capture_default_str();
  app.add_option("--weight-decay", o.optimizer.weight_decay)->capture_default_str();
  app.add_option("--max-gradient-norm", o.optimizer.max_gradient_norm)->capture_default_str();
  app.add_option("--micro-tokens", o.update.micro_tokens, "padded tokens of a micro-batch")->capture_default_str();
  app.add_option("--demonstrations", o.demonstrations, "of the warm-up")->capture_default_str();
  app.add_option("--warm-up", o.warm_up_steps, "batches of the supervised warm-up")->capture_default_str();
  app.add_option("--warm-up-batch", o.warm_up_batch)->capture_default_str();
  app.add_option("--warm-up-rate", o.warm_up_rate)->capture_default_str();
  app.add_option("--held-out", o.held_out, "held-out tasks of the evaluation; 0: all")->capture_default_str();
}

void add_model(CLI::App& app, RunOptions& o) {
  app.add_option("--model", o.model, "start from this folder (config.json, model.safetensors, tokenizer.json)");
  app.add_option("--hidden", o.shape.hidden_size)->capture_default_str();
  app.add_option("--intermediate", o.shape.intermediate_size)->capture_default_str();
  app.add_option("--layers", o.shape.layers)->capture_default_str();
  app.add_option("--heads", o.shape.heads)->capture_default_str();
  app.add_option("--kv-heads", o.shape.kv_heads)->capture_default_str();
  app.add_option("--max-positions", o.shape.max_positions, "longest rollout in tokens")->capture_default_str();
  app.add_option("--device", o.device, "cpu or cuda")->capture_default_str();
  app.add_option("--threads", o.threads, "0: all the hardware has")->capture_default_str();
}

Result<void> settle(RunOptions& o, const std::vector<std::string>& sets, int seed_count, std::uint64_t seed) {
  for (const auto& set : sets) {
    const auto at = set.find('=');
    if (at == std::string::npos || at == 0) return Error{"--set " + set + " is not NAME=VALUE", "for example --set at=8"};
    o.parameters[set.substr(0, at)] = set.substr(at + 1);
  }
  // The seeds of the Selective Rollout paper, then counting on.
  constexpr std::uint64_t known[] = {7, 13, 23, 42};
  o.seeds.clear();
  for (int i = 0; i < seed_count; ++i)
    o.seeds.push_back(seed > 0 ? seed + static_cast<std::uint64_t>(i) : i < 4 ? known[i] : 100 + static_cast<std::uint64_t>(i));
  for (const auto& name : o.arms)
    if (const auto arm = parse_arm(name); !arm) return arm.error();
  const bool wants_policy = std::find(o.arms.begin(), o.arms.end(), "policy") != o.arms.end();
  if (wants_policy && o.policy.empty()) return Error{"the arm `policy` needs a policy file", "give --policy FILE"};
  if (wants_policy && !std::filesystem::exists(o.policy))
    return Error{"there is no policy file " + o.policy.string(), "stdlib/ holds some to start from"};
  return {};
}

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  auto& o = parsed.options;
  o.optimizer.learning_rate = 1e-4;  // of GRPO; at 1e-3 a model of this size unlearns its warm-up within ten updates
  CLI::App app{"Train with GRPO under a policy file, beside the same run without it.", "allot train"};
  app.footer("Example: allot train --policy stdlib/selective_rollout.allot --iterations 20 --set at=8");
  std::vector<std::string> sets;
  int seed_count = 1;
  std::uint64_t seed = 0;
  add_world(app, o);
  add_policy(app, o, sets);
  add_groups(app, o);
  add_learning(app, o);
  add_model(app, o);
  app.add_option("--seeds", seed_count, "runs with different seeds; the table gives means and intervals")
      ->capture_default_str()->check(CLI::Range(1, 64));
  app.add_option("--seed", seed, "of the first run; 0: 7, 13, 23, 42, as in the Selective Rollout paper");
  app.add_option("--run", o.run, "run folder; default runs/<world>-<n>");
  app.add_flag("--resume", o.resume, "continue the run in --run");
  app.add_flag("--quick", o.quick, "a short run that shows the whole path");
  app.add_flag("--json", o.json, "one JSON object as the last line of standard output");
  app.add_flag("--quiet", o.quiet, "no progress and no table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = app.exit(error) == 0 ? 0 : 2;
    return parsed;
  }
  if (o.quick) make_quick(o, app);
  if (auto settled = settle(o, sets, seed_count, seed); !settled) {
    fmt::print(stderr, "allot train: {}\n", settled.error().text());
    parsed.exit_status = 2;
  }
  return parsed;
}

}  // namespace allot::training
