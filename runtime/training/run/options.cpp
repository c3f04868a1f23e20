#include "runtime/training/run/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lang/diagnostics.h"
#include "runtime/engine/checked_line.h"
#include "runtime/training/run/arm.h"
#include "runtime/training/run/kept_options.h"

namespace allot::training {
namespace {

constexpr double largest = std::numeric_limits<double>::max();

// A number from `low` to `high`. CLI11's own ranges let "nan" through.
CLI::Validator number(double low, double high) {
  const std::string range = high >= largest ? fmt::format("{} or more", low) : fmt::format("a number from {} to {}", low, high);
  const auto refuse = [low, high, range](std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
    return good ? std::string{} : fmt::format("'{}' is out of range: give {}", text, range);
  };
  return CLI::Validator(refuse, "");
}

// The same without 0: rates and sizes of noise.
CLI::Validator positive(double high = largest) {
  const auto refuse = [high](std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value > 0 && value <= high;
    return good ? std::string{} : fmt::format("'{}' is out of range: give a finite number above 0", text);
  };
  return CLI::Validator(refuse, "");
}

CLI::Validator at_least(int low) { return number(low, largest); }

// "5%" becomes "0.05".
std::string take_percent(std::string& text) {
  if (text.empty() || text.back() != '%') return {};
  double value = 0;
  if (!CLI::detail::lexical_cast(text.substr(0, text.size() - 1), value)) return "'" + text + "' is not a share";
  text = fmt::format("{}", value / 100);
  return {};
}

// Numbers for two minutes on two cores: the same machinery, fewer iterations after a shorter warm-up.
void make_quick(RunOptions& options, const CLI::App& app) {
  const auto given = [&](const char* name) { return app.count(name) > 0; };
  if (!given("--iterations")) options.iterations = 20;
  if (!given("--warm-up")) options.warm_up_steps = 1500;
}

void add_world(CLI::App& app, RunOptions& o) {
  app.add_option("--world", o.world, "household (built in), textworld, or process")->capture_default_str();
  app.add_option("--games", o.games, "textworld: folder with training/ and held_out/ games");
  app.add_option("--world-command", o.world_command, "process: a program that speaks the protocol of docs/worlds.md");
  app.add_option("--worlds", o.worlds, "child processes at most")->capture_default_str()->check(at_least(1));
  app.add_option("--turns", o.turn_limit, "turns of a rollout at most; 0: the world's own limit")
      ->capture_default_str()->check(at_least(0));
}

void add_policy(CLI::App& app, RunOptions& o, std::vector<std::string>& sets) {
  app.add_option("--policy", o.policy, "the .allot file of the arm `policy`");
  app.add_option("--set", sets, "NAME=VALUE for a parameter of the policy; may be repeated");
  app.add_option("--inputs", o.inputs, "JSON file with the policy's inputs: {\"difficulty\": {\"a prompt\": 0.3}}");
  app.add_option("--arms", o.arms, "which arms run side by side: none policy random oracle")->delimiter(',');
  app.add_option("--gate-turn", o.gate_turn, "turn at which the arms random and oracle stop groups")
      ->capture_default_str()->check(at_least(1));
  app.add_flag("--shadow", o.shadow, "the policy decides and logs, and changes nothing");
  app.add_option("--holdout", o.holdout, "share of stopped groups that run to the end all the same, such as 0.05 or 5%")
      ->transform(CLI::Validator(take_percent, "SHARE"))
      ->check(number(0, 1));
  app.add_option("--pause-below", o.pause_below, "fall back to shadow when the live precision of stops is below this")
      ->check(number(0, 1));
  app.add_option("--on-fault",
                 [&o](const CLI::results_t& values) {
                   o.stop_on_fault = values.front() == "stop";
                   return true;
                 },
                 "stop: end the run at a policy's first fault; default: take the safe default and count it")
      ->check(CLI::IsMember({"stop", "default"}));
  app.add_option("--watch", o.watch, "follow this policy file: each time it is saved, the run is swapped to it");
  app.add_flag("!--no-native", o.native, "stay with the evaluator, compile nothing");
  app.add_flag("--keep-events", o.keep_events, "journal every turn too, for `allot replay --journal`");
}

void add_groups(CLI::App& app, RunOptions& o) {
  app.add_option("--iterations", o.iterations, "batches generated and trained on")
      ->capture_default_str()->check(at_least(0));
  app.add_option("--slots", o.slots, "groups of a batch")->capture_default_str()->check(number(1, 4096));
  app.add_option("--group-size", o.group_size, "rollouts of a group")->capture_default_str()->check(number(1, 1024));
  app.add_option("--tokens-per-turn", o.tokens_per_turn, "tokens of an action at most")
      ->capture_default_str()->check(at_least(1));
  app.add_option("--temperature", o.temperature, "of sampling")->capture_default_str()->check(number(0.01, 10));
  app.add_option("--top-p", o.top_p, "nucleus of sampling")->capture_default_str()->check(number(0.01, 1));
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
  app.add_option("--ddof", o.advantage.ddof, "divisor n - ddof of grpo's standard deviation")
      ->capture_default_str()->check(number(0, 1));
  app.add_option("--advantage-eps", o.advantage.eps, "added to the standard deviation")
      ->capture_default_str()->check(number(0, largest));
  app.add_option("--loss", parsed_by(parse_policy_loss, o.update.loss.kind, "--loss"),
                 "ppo, gspo, cispo, cispo_trl, soft_gate, gmpo");
  app.add_option("--aggregate", parsed_by(parse_aggregate, o.update.loss.aggregate, "--aggregate"),
                 "token-mean, seq-mean-token-sum, seq-mean-token-mean, seq-mean-token-sum-norm, dr_grpo, …");
  app.add_option("--clip-low", o.update.loss.clip_low)->capture_default_str()->check(number(0, largest));
  app.add_option("--clip-high", o.update.loss.clip_high)->capture_default_str()->check(number(0, largest));
  app.add_option("--dual-clip", o.update.loss.dual_clip, "inf: none")
      ->capture_default_str()->check(number(1, std::numeric_limits<double>::infinity()));
  app.add_option("--learning-rate", o.optimizer.learning_rate, "of the GRPO updates (AdamW)")
      ->capture_default_str()->check(positive());
  app.add_option("--weight-decay", o.optimizer.weight_decay)->capture_default_str()->check(number(0, largest));
  app.add_option("--max-gradient-norm", o.optimizer.max_gradient_norm, "0: not clipped")
      ->capture_default_str()->check(number(0, largest));
  app.add_option("--micro-tokens", o.update.micro_tokens, "padded tokens of a micro-batch")
      ->capture_default_str()->check(at_least(1));
  app.add_option("--demonstrations", o.demonstrations, "of the warm-up")->capture_default_str()->check(at_least(0));
  app.add_option("--warm-up", o.warm_up_steps, "batches of the supervised warm-up")
      ->capture_default_str()->check(at_least(0));
  app.add_option("--warm-up-batch", o.warm_up_batch)->capture_default_str()->check(at_least(1));
  app.add_option("--warm-up-rate", o.warm_up_rate)->capture_default_str()->check(positive());
  app.add_option("--held-out", o.held_out, "held-out tasks of the evaluation; 0: all")
      ->capture_default_str()->check(at_least(0));
}

void add_model(CLI::App& app, RunOptions& o) {
  app.add_option("--model", o.model, "start from this folder (config.json, model.safetensors, tokenizer.json)");
  app.add_option("--hidden", o.shape.hidden_size)->capture_default_str()->check(at_least(1));
  app.add_option("--intermediate", o.shape.intermediate_size)->capture_default_str()->check(at_least(1));
  app.add_option("--layers", o.shape.layers)->capture_default_str()->check(at_least(1));
  app.add_option("--heads", o.shape.heads)->capture_default_str()->check(at_least(1));
  app.add_option("--kv-heads", o.shape.kv_heads)->capture_default_str()->check(at_least(1));
  app.add_option("--max-positions", o.shape.max_positions, "longest rollout in tokens")
      ->capture_default_str()->check(at_least(1));
  app.add_option("--device", o.device, "cpu or cuda")->capture_default_str();
  app.add_option("--threads", o.threads, "0: all the hardware has")->capture_default_str()->check(at_least(0));
}

Result<void> settle(RunOptions& o, const std::vector<std::string>& sets, int seed_count, std::uint64_t seed) {
  for (const auto& set : sets) {
    const auto at = set.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == set.size())
      return Error{"--set " + set + " is not NAME=VALUE", "for example --set at=8"};
    if (!o.parameters.emplace(set.substr(0, at), set.substr(at + 1)).second)
      return Error{"--set gives '" + set.substr(0, at) + "' twice", "give it once"};
  }
  // The seeds of the Selective Rollout paper, then counting on.
  constexpr std::uint64_t known[] = {7, 13, 23, 42};
  o.seeds.clear();
  for (int i = 0; i < seed_count; ++i)
    o.seeds.push_back(seed > 0 ? seed + static_cast<std::uint64_t>(i) : i < 4 ? known[i] : 100 + static_cast<std::uint64_t>(i));
  for (const auto& name : o.arms) {
    if (const auto arm = parse_arm(name); !arm) return arm.error();
    if (std::count(o.arms.begin(), o.arms.end(), name) > 1)
      return Error{"--arms has `" + name + "` twice", "an arm runs once; --seeds repeats the whole run"};
  }
  const bool wants_policy = std::find(o.arms.begin(), o.arms.end(), "policy") != o.arms.end();
  if (wants_policy && o.policy.empty()) return Error{"the arm `policy` needs a policy file", "give --policy FILE"};
  // A run that is resumed goes on under what its folder keeps.
  const bool watched_is_gone = o.resume && !o.watch.empty() && !std::filesystem::exists(o.watch);
  if (wants_policy && !std::filesystem::exists(o.policy) && !(watched_is_gone && follows_policy(o)))
    return Error{"there is no policy file " + o.policy.string(), "stdlib/ holds some to start from"};
  if (wants_policy && std::filesystem::is_directory(o.policy))
    return Error{"--policy " + o.policy.string() + " is a folder", "give one .allot file"};
  if (!o.watch.empty() && !wants_policy) return Error{"--watch follows the policy of the arm `policy`, which does not run", ""};
  if (!o.watch.empty() && !std::filesystem::is_regular_file(o.watch) && !watched_is_gone)
    return Error{"there is no policy file " + o.watch.string() + " to watch", "most watch the file that --policy names"};
  if (!o.model.empty() && !std::filesystem::is_directory(o.model))
    return Error{"there is no model folder " + o.model.string(), "check --model, or start without one"};
  if (o.world == "process" && o.world_command.empty())
    return Error{"the world `process` needs a program", "give --world-command COMMAND; docs/worlds.md has the protocol"};
  if (o.resume && o.run.empty())
    return Error{"there is no run to resume: --resume continues the run in --run", "give --run FOLDER"};
  return {};
}

// The known option nearest to the first word that is none; empty where nothing is near.
std::string near_option(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end())
      return lang::near_match(word, known);
  }
  return {};
}

int refuse(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help travels as an error
  const std::string near = near_option(app, argc, argv);
  const std::string help = "`allot train --help` lists the options";
  const bool json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
  complain({error.what(), near.empty() ? help : "did you mean " + near + "? " + help}, json);
  return 2;
}

}  // namespace

void complain(const Error& error, bool json) {
  (void)std::fputs(fmt::format("allot train: {}\n", error.text()).c_str(), stderr);
  if (json) (void)std::fputs((engine::dump({{"error", error.what}, {"help", error.help}}) + "\n").c_str(), stdout);
}

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  auto& o = parsed.options;
  o.optimizer.learning_rate = 1e-4;  // of GRPO; at 1e-3 a model of this size unlearns its warm-up within ten updates
  CLI::App app{"Train with GRPO under a policy file, beside the same run without it.", "allot train"};
  app.footer("Example: allot train --policy stdlib/selective_rollout.allot --iterations 20 --set at=8");
  o.update.micro_tokens = 1024;  // a thread takes one micro-batch at a time: small ones keep all of them busy
  std::vector<std::string> sets;
  int seed_count = 1;
  std::uint64_t seed = 0;
  add_world(app, o);
  add_policy(app, o, sets);
  add_groups(app, o);
  add_learning(app, o);
  add_model(app, o);
  app.add_option("--seeds", seed_count, "runs with different seeds; the table gives means and intervals")
      ->capture_default_str()->check(number(1, 64));
  app.add_option("--seed", seed, "of the first run; 0: 7, 13, 23, 42, as in the Selective Rollout paper");
  app.add_option("--run", o.run, "run folder; default runs/<world>-<n>");
  app.add_flag("--resume", o.resume, "continue the run in --run");
  app.add_flag("--quick", o.quick, "a short run that shows the whole path");
  app.add_flag("--json", o.json, "one JSON object as the last line of standard output");
  app.add_flag("--quiet", o.quiet, "no progress and no table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = refuse(app, error, argc, argv);
    return parsed;
  }
  if (o.quick) make_quick(o, app);
  if (auto settled = settle(o, sets, seed_count, seed); !settled) {
    complain(settled.error(), o.json);
    parsed.exit_status = 2;
  }
  return parsed;
}

}  // namespace allot::training
