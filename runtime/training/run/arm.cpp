#include "runtime/training/run/arm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "runtime/engine/versions_folder.h"
#include "runtime/math/random.h"
#include "runtime/training/run/sequences.h"

namespace allot::training {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr int most_rounds = 16;  // fills of a batch that prompts are drawn for; what is not opened goes back

CollectOptions collect_options(const ArmSetting& setting) {
  const auto& options = *setting.options;
  return {setting.seed, setting.turn_limit, options.tokens_per_turn, options.group_size};
}

SamplerOptions sampler_options(const ArmSetting& setting) {
  const auto& options = *setting.options;
  SamplerOptions sampler;
  sampler.seed = setting.seed;
  sampler.temperature = options.temperature;
  sampler.top_p = options.top_p;
  sampler.end_token = setting.tokenizer->newline();
  sampler.rows = options.slots * options.group_size;
  sampler.max_context = options.shape.max_positions;
  sampler.threads = options.threads;
  return sampler;
}

// An engine without a policy and without a folder: for outcomes and for the evaluation.
Result<std::unique_ptr<engine::Engine>> plain_engine(const ArmSetting& setting, int slots, int group_size) {
  auto settings = engine_settings(setting, ArmKind::None);
  settings.slots = slots;
  settings.group_size = group_size;
  return engine::Engine::create(settings);
}

// Hash of what the run began with, where its folder keeps the text: files may say something else by now, which claim_run()
// lets pass.
std::string policy_at_start(const RunFolder& folder) {
  const std::string hash = folder.kept_policy();
  return !hash.empty() && engine::kept_text(folder.path(), hash) ? hash : std::string();
}

double mean_reward(const Collected& collected) {
  double total = 0;
  int count = 0;
  for (const auto& rollout : collected.rollouts)
    if (rollout.reward) {
      total += *rollout.reward;
      ++count;
    }
  return count > 0 ? total / count : 0;
}

}  // namespace

Result<ArmKind> parse_arm(const std::string& name) {
  if (name == "none") return ArmKind::None;
  if (name == "policy") return ArmKind::Policy;
  if (name == "random") return ArmKind::Random;
  if (name == "oracle") return ArmKind::Oracle;
  return Error{"there is no arm `" + name + "`", "arms are none, policy, random, oracle"};
}

Arm::Arm(ArmKind kind, const ArmSetting& setting, Model model, RunFolder folder)
    : kind_(kind), setting_(setting), model_(std::move(model)), folder_(std::move(folder)),
      collector_(*setting.world, *setting.tokenizer, collect_options(setting)),
      pool_(setting.world->tasks(worlds::Split::Training).size(), setting.seed) {
  const auto tasks = setting.world->tasks(worlds::Split::Training);
  for (std::size_t i = 0; i < tasks.size(); ++i) task_index_[tasks[i].id] = i;
}

Result<std::unique_ptr<Arm>> Arm::make(ArmKind kind, const std::string& name, const ArmSetting& setting,
                                       const Model& weights, const std::filesystem::path& path, bool resume) {
  if (resume)
    if (auto whole = check_resumable(path); !whole) return whole.error();
  auto folder = RunFolder::open(path, resume);
  if (!folder) return folder.error();
  std::unique_ptr<Arm> arm(new Arm(kind, setting, weights.clone(), *std::move(folder)));
  arm->tally_.name = name;
  arm->trainer_ = std::make_unique<Trainer>(arm->model_, setting.options->optimizer);
  auto sampler = Sampler::make(arm->model_, sampler_options(setting));
  if (!sampler) return sampler.error();
  arm->sampler_ = std::make_unique<Sampler>(*std::move(sampler));
  if (auto started = arm->start_engine(resume); !started) return started.error();
  // From the first moment on there is a checkpoint, so that one that is missing was lost.
  const bool kept = resume && std::filesystem::exists(path / "checkpoint");
  if (auto done = kept ? arm->load() : arm->save(); !done) return done.error();
  if (resume)
    if (auto done = arm->folder_.forget_from(arm->iteration_); !done) return done.error();
  if (auto opened = arm->open_desk(); !opened) return opened.error();
  return arm;
}

engine::Settings engine_settings(const ArmSetting& setting, ArmKind kind) {
  const auto& options = *setting.options;
  engine::Settings settings;
  settings.seed = setting.seed;
  settings.slots = options.slots;
  settings.group_size = options.group_size;
  settings.turn_limit = setting.turn_limit;
  settings.tokens_per_turn = options.tokens_per_turn;
  settings.keep_events = options.keep_events;
  if (kind == ArmKind::Policy) {
    settings.policy = options.policy;
    settings.parameters = options.parameters;
    settings.input_file = options.inputs;
    settings.shadow = options.shadow;
    settings.holdout = options.holdout;
    settings.pause_below = options.pause_below;
    settings.stop_on_fault = options.stop_on_fault;
    settings.native = options.native;
    settings.host = {.defers = true, .shapes = true, .replays = true, .branches = false, .losses = true, .scores = true};
  }
  return settings;
}

Result<void> Arm::start_engine(bool resumes) {
  auto settings = engine_settings(setting_, kind_);
  settings.run_folder = folder_.path();
  if (kind_ == ArmKind::Policy && resumes) settings.kept_policy = policy_at_start(folder_);
  auto engine = engine::Engine::create(settings);
  if (!engine) return engine.error();
  engine_ = *std::move(engine);
  std::vector<engine::PoolPrompt> pool;
  for (const auto& task : setting_.world->tasks(worlds::Split::Training)) pool.push_back({task.id, task.kind});
  if (auto set = engine_->set_pool(std::move(pool)); !set) return set;
  stamp_ = {engine_->policy_name(), engine_->policy_hash()};
  if (!settings.kept_policy.empty()) return {};
  return kind_ == ArmKind::Policy ? folder_.keep_policy(setting_.options->policy, stamp_) : Result<void>{};
}

// From here on the policy can be swapped by other processes.
Result<void> Arm::open_desk() {
  if (kind_ != ArmKind::Policy) return {};
  auto desk = engine::SwapDesk::open(*engine_, folder_.path(), setting_.options->watch);
  if (!desk) return desk.error();
  desk_ = *std::move(desk);
  return {};
}

std::vector<std::string> Arm::take_messages() { return desk_ ? desk_->take_messages() : std::vector<std::string>(); }

std::vector<const worlds::Task*> Arm::draw() {
  const auto tasks = setting_.world->tasks(worlds::Split::Training);
  std::vector<const worlds::Task*> drawn;
  for (const std::size_t index : pool_.draw(static_cast<std::size_t>(setting_.options->slots) * most_rounds))
    drawn.push_back(&tasks[index]);
  return drawn;
}

Result<std::string> Arm::iterate(int stops) {
  const auto tasks = draw();
  if (kind_ == ArmKind::Oracle) {
    auto flat = flat_prompts(tasks);
    if (!flat) return flat.error();
    oracle_flat_ = *std::move(flat);
  }
  const HostGate gate = host_gate(tasks, stops);
  auto collected = collector_.collect(*sampler_, *engine_, iteration_, tasks, gate, setting_.interrupt, &waiting_);
  if (!collected) return collected.error();
  if (auto learnt = learn_outcomes(*collected); !learnt) return learnt.error();

  const auto begin = Clock::now();
  const auto plan = engine_->preview();
  if (plan.aborted) return Error{plan.message, "raise the number of rounds in `refill at most`, or choose easier prompts"};
  auto learned = update(*collected, plan);
  if (!learned) return learned.error();
  keep_for_replay(*collected, plan);
  auto report = engine_->end_iteration();
  if (!report) return report.error();
  std::vector<std::size_t> unused;
  for (const auto& prompt : engine_->unused_prompts()) unused.push_back(task_index_.at(prompt));
  pool_.give_back(unused);
  tally_.seconds += seconds_since(begin);
  tally_.add(*collected);
  tally_.engine_seconds = engine_->seconds_spent();
  tally_.updates += learned->stepped;
  tally_.skipped += !learned->stepped;
  tally_.short_of_budget += report->metrics.at("budget/starts_cut") + report->metrics.at("budget/stopped") > 0;

  last_stops_ = 0;
  int dropped = 0;
  for (const auto& group : collected->groups) {
    last_stops_ += group.gate.carried_out;
    dropped += group.fate == engine::Fate::Dropped;
  }
  owed_stops_ = kind_ == ArmKind::Random ? std::max(0, owed_stops_ + stops - last_stops_) : 0;

  auto metrics = report->metrics;
  metrics["reward/mean"] = mean_reward(*collected);
  metrics["loss"] = learned->loss;
  metrics["entropy"] = learned->entropy;
  metrics["clip_fraction"] = learned->clip_fraction;
  metrics["gradient_norm"] = learned->gradient_norm;
  metrics["trained_tokens"] = static_cast<double>(learned->trained_tokens);
  metrics["seconds/rollout"] = collected->seconds;
  metrics["seconds/update"] = learned->seconds;
  metrics["groups/stopped"] = last_stops_;
  metrics["groups/dropped"] = dropped;
  if (auto kept = folder_.metrics(iteration_, metrics, tally_.seconds); !kept) return kept.error();
  if (auto kept = folder_.rollouts(iteration_, *collected, setting_.options->group_size, stamp_); !kept)
    return kept.error();
  ++iteration_;
  if (auto saved = save(); !saved) return saved.error();
  std::string said = report->message;
  for (const auto& line : take_messages()) said += (said.empty() ? "" : "; ") + line;
  const std::string tail = said.empty() ? "" : " (" + said + ")";
  return fmt::format("{} {:.1f}s reward {:.2f}{}{}", tally_.name, collected->seconds + learned->seconds,
                     mean_reward(*collected), last_stops_ > 0 ? fmt::format(" stopped {}", last_stops_) : "", tail);
}

HostGate Arm::host_gate(const std::vector<const worlds::Task*>& tasks, int stops) {
  HostGate gate;
  gate.turn = setting_.options->gate_turn;
  if (kind_ == ArmKind::Oracle) {
    gate.reason = "will be flat";
    gate.stop = [this](const std::string& prompt, int) { return oracle_flat_.count(prompt) > 0; };
  }
  if (kind_ == ArmKind::Random) {
    // A random order of the first fill's prompts; the first ones to be asked are those early in it.
    std::vector<std::pair<double, std::string>> order;
    const auto fill = std::min(tasks.size(), static_cast<std::size_t>(setting_.options->slots));
    for (std::size_t i = 0; i < fill; ++i) {
      const auto key = math::combine(setting_.seed, math::hash_text("random arm"));
      order.emplace_back(math::uniform(key, static_cast<std::uint64_t>(iteration_), i), tasks[i]->id);
    }
    std::sort(order.begin(), order.end());
    std::set<std::string> chosen;
    const auto wanted = static_cast<std::size_t>(std::max(0, stops + owed_stops_));
    for (std::size_t i = 0; i < std::min(wanted, order.size()); ++i) chosen.insert(order[i].second);
    gate.reason = "stopped at random";
    gate.stop = [chosen](const std::string& prompt, int) { return chosen.count(prompt) > 0; };
  }
  return gate;
}

// The same rollouts without a gate. Draws depend on (seed, iteration, prompt, sample): the weights being the same, a
// stopped rollout goes on as it would have.
Result<Collected> Arm::off_clock(const std::vector<const worlds::Task*>& tasks) {
  auto engine = plain_engine(setting_, static_cast<int>(tasks.size()), setting_.options->group_size);
  if (!engine) return engine.error();
  return collector_.collect(*sampler_, **engine, iteration_, tasks, {}, setting_.interrupt);
}

Result<std::set<std::string>> Arm::flat_prompts(const std::vector<const worlds::Task*>& tasks) {
  const auto fill = std::min(tasks.size(), static_cast<std::size_t>(setting_.options->slots));
  auto collected = off_clock({tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(fill)});
  if (!collected) return collected.error();
  std::set<std::string> flat;
  for (const auto& group : collected->groups)
    if (outcome(collected->rollouts, group.group).flat) flat.insert(group.prompt);
  return flat;
}

Result<void> Arm::learn_outcomes(const Collected& collected) {
  const auto tasks = setting_.world->tasks(worlds::Split::Training);
  std::vector<const worlds::Task*> stopped;
  for (const auto& group : collected.groups)
    if (group.gate.carried_out) stopped.push_back(&tasks[task_index_.at(group.prompt)]);
  std::map<std::string, Outcome> learnt;
  if (!stopped.empty()) {
    auto completed = off_clock(stopped);
    if (!completed) return completed.error();
    for (const auto& group : completed->groups) learnt[group.prompt] = outcome(completed->rollouts, group.group);
  }
  for (const auto& group : collected.groups)
    add_outcome(tally_, group,
                group.gate.carried_out ? learnt[group.prompt] : outcome(collected.rollouts, group.group));
  return {};
}

Result<UpdateReport> Arm::update(const Collected& collected, const engine::IterationReport& plan) {
  if (plan.skip_update) return UpdateReport{};
  std::vector<int> trained = plan.trained;
  const auto dropped_by_host = [&](int id) {
    return std::any_of(collected.groups.begin(), collected.groups.end(), [&](const engine::GroupResult& group) {
      return group.group == id && group.fate != engine::Fate::Trained;
    });
  };
  trained.erase(std::remove_if(trained.begin(), trained.end(), dropped_by_host), trained.end());
  // A replayed group is trained on as it was: its rollouts keep the log-probabilities they were sampled with.
  Collected all = collected;
  for (const int id : plan.replayed) {
    const auto stored = stored_.find(id);
    // A checkpoint of an older program may name groups of an update that was skipped, of which nothing was kept.
    if (stored == stored_.end()) continue;
    all.groups.push_back(stored->second.result);
    all.rollouts.insert(all.rollouts.end(), stored->second.rollouts.begin(), stored->second.rollouts.end());
    trained.push_back(id);
  }
  auto batch = training_batch(all, trained, setting_.options->advantage);
  if (batch.sequences.empty()) return UpdateReport{};
  auto options = setting_.options->update;
  options.temperature = setting_.options->temperature;
  if (auto shaped = shape(batch, *engine_, *trainer_, options); !shaped) return shaped.error();
  if (const auto loss = engine_->token_loss()) options.token_loss = loss_of(loss);
  return trainer_->update(batch.sequences, options);
}

// For as long as the policy's `max_age` says.
void Arm::keep_for_replay(const Collected& collected, const engine::IterationReport& plan) {
  const int age = engine_->replay_age();
  std::erase_if(stored_, [&](const auto& each) { return iteration_ - each.second.iteration >= age; });
  if (age == 0) return;
  for (const int id : plan.trained) {
    const auto is = [id](const auto& group) { return group.group == id; };
    const auto result = std::find_if(collected.groups.begin(), collected.groups.end(), is);
    if (result == collected.groups.end()) continue;
    StoredGroup stored{iteration_, *result, {}};
    for (const auto& rollout : collected.rollouts)
      if (rollout.ref.group == id) stored.rollouts.push_back(rollout);
    stored_.emplace(id, std::move(stored));
  }
}

Result<void> Arm::evaluate() {
  const auto all = setting_.world->tasks(worlds::Split::HeldOut);
  const auto count = setting_.options->held_out > 0
                         ? std::min(all.size(), static_cast<std::size_t>(setting_.options->held_out))
                         : all.size();
  std::vector<const worlds::Task*> tasks;
  for (std::size_t i = 0; i < count; ++i) tasks.push_back(&all[i]);
  auto engine = plain_engine(setting_, static_cast<int>(count), 1);
  if (!engine) return engine.error();
  // Iteration numbers of training start at 0; this one keeps the evaluation's draws apart and equal for all arms.
  constexpr int evaluation = 1'000'000;
  auto collected = collector_.collect(*sampler_, **engine, evaluation, tasks, {}, setting_.interrupt);
  if (!collected) return collected.error();
  std::map<std::string, double> solved;
  for (const auto& rollout : collected->rollouts) solved[rollout.prompt] = rollout.reward.value_or(0) > 0 ? 1 : 0;
  tally_.held_out.clear();
  for (const auto* task : tasks) tally_.held_out.push_back(solved[task->id]);
  return {};
}

}  // namespace allot::training
