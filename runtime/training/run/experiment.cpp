#include "runtime/training/run/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lang/unicode.h"
#include "runtime/engine/disk.h"
#include "runtime/engine/policy.h"
#include "runtime/engine/run_lock.h"
#include "runtime/math/checksum.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/run/arm.h"
#include "runtime/training/run/collector.h"
#include "runtime/training/run/kept_options.h"
#include "runtime/training/run/kept_policy.h"
#include "runtime/training/run/progress.h"
#include "runtime/training/run/warm_up.h"
#include "runtime/training/run/world_choice.h"

namespace allot::training {
namespace {

// Weights that all arms of a seed start from.
struct Start {
  Model model;
  Tokenizer tokenizer;
};

std::string tasks_digest(const worlds::World& world) {
  std::string text;
  for (const auto split : {worlds::Split::Training, worlds::Split::HeldOut})
    for (const auto& task : world.tasks(split)) text += task.id + "\t" + task.kind + "\n";
  return math::sha256_hex(text);
}

std::filesystem::path default_run(const std::string& world) {
  for (int n = 1;; ++n) {
    auto path = std::filesystem::path("runs") / fmt::format("{}-{}", world, n);
    if (!std::filesystem::exists(path)) return path;
  }
}

class Experiment {
 public:
  Experiment(const RunOptions& options, const std::atomic<bool>& interrupt, Failure& failure)
      : options_(options), interrupt_(interrupt), failure_(failure) {}
  Result<ExperimentResult> run();

 private:
  Result<void> prepare();
  Result<void> check_policy();
  void tell_edits() const;
  bool file_begins() const;
  Result<void> begin_policy(std::uint64_t seed, const std::filesystem::path& arm) const;
  Result<void> check_length(const Tokenizer& tokenizer, int max_positions);
  Result<Start> start(std::uint64_t seed, const std::filesystem::path& folder);
  Result<Start> fresh_start(std::uint64_t seed, const std::filesystem::path& folder);
  Result<SeedResult> run_seed(std::uint64_t seed);
  Result<void> iterate(std::vector<std::unique_ptr<Arm>>& arms, int iteration, Progress& progress);
  int turn_limit() const {
    return options_.turn_limit > 0 ? std::min(options_.turn_limit, world_->turn_limit()) : world_->turn_limit();
  }
  void note(const std::string& text) const {
    if (!options_.quiet) fmt::print(stderr, "{}\n", text);
  }

  RunOptions options_;
  const std::atomic<bool>& interrupt_;
  Failure& failure_;
  std::unique_ptr<worlds::World> world_;
  ExperimentResult result_;
  engine::RunLock lock_;  // of the run folder
};

// All that can be refused before anything is computed, cheapest first.
Result<void> Experiment::prepare() {
  failure_ = Failure::Misuse;
  auto device = parse_device(options_.device);
  if (!device) return device.error();
  set_up_torch(options_.threads);
  auto world = choose_world(options_);
  if (!world) return world.error();
  world_ = *std::move(world);
  if (world_->tasks(worlds::Split::Training).empty())
    return Error{"the world `" + options_.world + "` has no training tasks", "check its games folder or its command"};
  if (auto checked = check_policy(); !checked) return checked.error();
  failure_ = Failure::Misuse;
  result_.run = options_.run.empty() ? default_run(options_.world) : options_.run;
  if (auto claimed = claim_run(options_, result_.run); !claimed) return claimed;
  auto lock = engine::RunLock::take(result_.run, run_lock_name);
  if (!lock) return lock.error();
  lock_ = *std::move(lock);
  if (options_.resume) tell_edits();
  failure_ = Failure::Run;
  return {};
}

Result<ExperimentResult> Experiment::run() {
  if (auto prepared = prepare(); !prepared) return prepared.error();
  result_.context.world = options_.world;
  result_.context.iterations = options_.iterations;
  result_.context.tasks_sha256 = tasks_digest(*world_);
  for (const auto seed : options_.seeds) {
    auto done = run_seed(seed);
    if (!done) return done.error();
    result_.seeds.push_back(*std::move(done));
    if (interrupt_) break;
  }
  result_.context.interrupted = interrupt_;
  return result_;
}

// A mistake in the policy is told before the warm-up costs anything. Files may be half edited or gone by the time of a
// resume, which goes on under what the run folder keeps.
Result<void> Experiment::check_policy() {
  if (std::find(options_.arms.begin(), options_.arms.end(), "policy") == options_.arms.end()) return {};
  if (options_.resume && !kept_policies(options_.run).empty()) return {};
  if (auto policy = engine::load_policy(options_.policy, {}); !policy) {
    failure_ = Failure::Run;
    return policy.error();
  }
  const ArmSetting setting{&options_, world_.get(), nullptr, options_.seeds.front(), turn_limit(), &interrupt_};
  auto engine = engine::Engine::create(engine_settings(setting, ArmKind::Policy));
  return engine ? Result<void>{} : engine.error();
}

// What a resumed run does not follow, so that nobody takes an edit for active.
void Experiment::tell_edits() const {
  const auto own = follows_policy(options_) ? engine::OwnText::Followed : engine::OwnText::Told;
  if (const auto edits = policy_edits(result_.run, options_.policy, own); !edits.empty())
    fmt::print(stderr, "allot train: {}: the run goes on under the text that its folder keeps\n  help: `allot swap {} {}` "
               "swaps to the files as they are; or put them back\n",
               lang::shown(fmt::format("{}", fmt::join(edits, "; "))), result_.run.string(), options_.policy.string());
  if (!options_.watch.empty() && !std::filesystem::exists(options_.watch))
    fmt::print(stderr, "allot train: the watched file {} is gone: the run goes on under the text that its folder keeps, and "
               "follows the file once it is there again\n",
               options_.watch.string());
}

// Whether a run could begin under what the policy's file says by now.
bool Experiment::file_begins() const {
  const ArmSetting setting{&options_, world_.get(), nullptr, options_.seeds.front(), turn_limit(), &interrupt_};
  engine::Settings settings = engine_settings(setting, ArmKind::Policy);
  settings.native = false;
  return static_cast<bool>(engine::Engine::create(settings));
}

// A seed that had not begun when the run ended takes up a file that is followed, unless that is gone or broken by now: it
// must not end a run that is hours old.
Result<void> Experiment::begin_policy(std::uint64_t seed, const std::filesystem::path& arm) const {
  if (!options_.resume) return {};
  if (follows_policy(options_)) {
    if (has_begun(arm) || file_begins()) return {};
    note(fmt::format("seed {}: nothing can begin under the watched file {}: it begins as the other seeds did", seed,
                     options_.watch.string()));
  }
  return begin_as_others(result_.run, arm);
}

// A rollout must hold at least one observation and one action.
Result<void> Experiment::check_length(const Tokenizer& tokenizer, int max_positions) {
  auto session = world_->open();
  if (!session) return session.error();
  auto reply = (*session)->reset(world_->tasks(worlds::Split::Training).front());
  if (!reply) return reply.error();
  const auto observation = static_cast<int>(observation_tokens(tokenizer, reply->observation).size());
  const int needed = 1 + observation + options_.tokens_per_turn;
  if (needed <= max_positions) return {};
  return Error{fmt::format("--max-positions {} is too short: the first observation has {} tokens and an action up to {}",
                           max_positions, observation, options_.tokens_per_turn),
               fmt::format("give at least {}, and as much again for every turn", needed)};
}

Result<Start> Experiment::start(std::uint64_t seed, const std::filesystem::path& folder) {
  const auto device = *parse_device(options_.device);
  if (!options_.model.empty()) {
    auto given = read_model_folder(options_.model, device);
    if (!given) return given.error();
    return Start{std::move(given->model), std::move(given->tokenizer)};
  }
  if (std::filesystem::exists(folder / "model.safetensors")) {
    auto kept = read_model_folder(folder, device);
    if (!kept) return kept.error();
    return Start{std::move(kept->model), std::move(kept->tokenizer)};
  }
  return fresh_start(seed, folder);
}

Result<Start> Experiment::fresh_start(std::uint64_t seed, const std::filesystem::path& folder) {
  const auto words = world_->vocabulary();
  auto tokenizer = Tokenizer::from_words(words);
  auto shape = options_.shape;
  shape.vocab_size = tokenizer.size();
  auto model = Model::fresh(shape, seed, *parse_device(options_.device));
  if (!model) return model.error();
  note(fmt::format("seed {}: a fresh model of {} parameters over {} words", seed, shape.parameter_count(),
                   tokenizer.size()));
  if (auto fits = check_length(tokenizer, shape.max_positions); !fits) {
    failure_ = Failure::Misuse;
    return fits.error();
  }
  auto shown = demonstrations(*world_, tokenizer, options_.demonstrations, turn_limit(), shape.max_positions);
  if (!shown) return shown.error();
  Trainer trainer(*model, options_.optimizer);
  auto loss = warm_up(trainer, *shown, options_, seed, options_.quiet);
  if (!loss) return loss.error();
  note(fmt::format("warm-up on {} demonstrations: {:.3f} nats per token", shown->size(), *loss));
  if (auto made = engine::make_folders(folder); !made) return made.error();
  if (auto written = tokenizer.write(folder); !written) return written.error();
  if (auto written = model->write(folder); !written) return written.error();  // last: its file says that all is there
  return Start{*std::move(model), std::move(tokenizer)};
}

// Where an arm has no budget left for `iteration` or any after it. All arms end there, so that they are compared after
// equally many iterations.
std::string used_up(const std::vector<std::unique_ptr<Arm>>& arms, int iteration) {
  for (const auto& arm : arms) {
    if (arm->next_iteration() > iteration) continue;  // a resumed run has it already
    if (std::string used = arm->used_up(); !used.empty()) return used;
  }
  return {};
}

Result<SeedResult> Experiment::run_seed(std::uint64_t seed) {
  const auto folder = result_.run / fmt::format("seed-{}", seed);
  auto begin = start(seed, folder / "warm-up");
  if (!begin) return begin.error();
  options_.shape = begin->model.config();
  const ArmSetting setting{&options_, world_.get(), &begin->tokenizer, seed, turn_limit(), &interrupt_};
  std::vector<std::unique_ptr<Arm>> arms;
  for (const auto& name : options_.arms) {
    const auto kind = parse_arm(name);
    if (!kind) return kind.error();
    if (*kind == ArmKind::Policy)
      if (auto begun = begin_policy(seed, folder / name); !begun) return begun.error();
    auto arm = Arm::make(*kind, name, setting, begin->model, folder / name, options_.resume);
    if (!arm) return arm.error();
    if ((*arm)->next_iteration() > options_.iterations)
      return Error{fmt::format("{} has {} iterations already, more than --iterations {}", (folder / name).string(),
                               (*arm)->next_iteration(), options_.iterations),
                   "--iterations may only grow"};
    if (*kind == ArmKind::Policy) result_.context.policy = (*arm)->policy_name();
    arms.push_back(*std::move(arm));
  }
  SeedResult result{seed, {}};
  {
    Progress progress(fmt::format("seed {}", seed), options_.iterations, "iterations", options_.quiet);
    for (; result.iterations < options_.iterations && !interrupt_; ++result.iterations) {
      result.used_up = used_up(arms, result.iterations);
      if (!result.used_up.empty()) break;
      if (auto done = iterate(arms, result.iterations, progress); !done && !interrupt_) return done.error();
    }
  }
  for (auto& arm : arms) {
    for (const std::string& line : arm->take_messages()) note(line);  // no iteration came to tell of them
    if (!interrupt_) {
      note(fmt::format("evaluating {} on held-out tasks", arm->tally().name));
      if (auto done = arm->evaluate(); !done && !interrupt_) return done.error();
    }
    result.arms.push_back(arm->tally());
  }
  return result;
}

// The arms alternate, so that a machine that slows down slows all of them.
Result<void> Experiment::iterate(std::vector<std::unique_ptr<Arm>>& arms, int iteration, Progress& progress) {
  std::string line = fmt::format("iteration {:3}", iteration);
  int stops = 0;
  for (auto& arm : arms) {
    if (arm->next_iteration() == iteration) {  // else a resumed run has it already
      auto told = arm->iterate(stops);
      if (!told) return told.error();
      line += "  |  " + *told;
    }
    if (arm->kind() == ArmKind::Policy) stops = arm->last_stops();
  }
  progress.line(line);
  progress.advance();
  return {};
}

}  // namespace

Result<ExperimentResult> run_experiment(const RunOptions& options, const std::atomic<bool>& interrupt, Failure& failure) {
  return Experiment(options, interrupt, failure).run();
}

}  // namespace allot::training
