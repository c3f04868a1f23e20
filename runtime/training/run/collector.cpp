#include "runtime/training/run/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <set>

#include "runtime/math/random.h"

namespace allot::training {

using engine::Orders;
using engine::RolloutRef;
using engine::Status;

std::vector<int> observation_tokens(const Tokenizer& tokenizer, const std::string& observation) {
  auto tokens = tokenizer.encode(observation);
  tokens.push_back(tokenizer.newline());
  return tokens;
}

// A rollout under way: its record, its session and its row of the sampler.
struct Collector::Live {
  Rollout record;
  std::unique_ptr<worlds::Session> session;
  int row = -1;
  std::string observation;       // what it saw last
  std::vector<int> action;       // tokens of the action being written
  double action_logprob = 0;
  double action_entropy = 0;
  bool held = false;
  bool goes_on = false;          // its next action is to begin
};

// An action that was written, and what the world said to it.
struct Answered {
  int row = 0;
  std::string text;
  Result<worlds::Reply> reply;
};

class Collector::Iteration {
 public:
  Iteration(Collector& owner, Sampler& sampler, engine::Engine& engine, const HostGate& gate, int number)
      : owner_(owner), sampler_(sampler), engine_(engine), gate_(gate), number_(number) {}

  Result<Collected> run(const std::vector<const worlds::Task*>& tasks, const std::atomic<bool>* interrupt,
                        KeptRollouts* waiting);

 private:
  using Clock = std::chrono::steady_clock;
  // What the host's own gate knows of a group.
  struct HostNote {
    bool asked = false;
    bool stopped = false;
    std::vector<int> rows;
  };

  Result<void> take(Result<Orders> orders);
  Result<void> start_waiting();
  Result<void> start(const engine::Start& order, int sample);
  Answered act(int row);
  Result<void> report(const std::vector<int>& ended);
  Result<void> after_turn(const Answered& answered);
  Result<void> next_turn(int row);
  Result<void> end(int row, Status status, std::optional<double> reward, std::string cause = {});
  Result<void> ask_host(int group);
  void retire(int row, Status status);
  void close(const engine::GroupResult& group);
  void part_from_waiting(KeptRollouts* waiting);
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  std::uint64_t key(const std::string& prompt, int sample) const;

  Collector& owner_;
  Sampler& sampler_;
  engine::Engine& engine_;
  const HostGate& gate_;
  int number_;
  Clock::time_point begin_ = Clock::now();
  std::deque<engine::Start> waiting_;
  std::map<int, Live> live_;                       // by row
  std::map<std::pair<int, int>, int> rows_;        // (group, sample) to row
  std::map<int, HostNote> host_;                   // by group
  Collected collected_;
  int next_row_ = 0;
  bool closed_ = false;
};

Collector::Collector(worlds::World& world, const Tokenizer& tokenizer, CollectOptions options)
    : world_(world), tokenizer_(tokenizer), options_(options) {
  for (const auto split : {worlds::Split::Training, worlds::Split::HeldOut})
    for (const auto& task : world.tasks(split)) tasks_[task.id] = &task;
}

Result<std::unique_ptr<worlds::Session>> Collector::session() {
  if (!idle_.empty()) {
    auto session = std::move(idle_.back());
    idle_.pop_back();
    return session;
  }
  ++open_;
  return world_.open();
}

Result<Collected> Collector::collect(Sampler& sampler, engine::Engine& engine, int iteration,
                                     const std::vector<const worlds::Task*>& tasks, const HostGate& gate,
                                     const std::atomic<bool>* interrupt, KeptRollouts* waiting) {
  Iteration work(*this, sampler, engine, gate, iteration);
  auto collected = work.run(tasks, interrupt, waiting);
  sampler.clear();
  // Other arms have collectors of their own, and a world may have few sessions.
  idle_.clear();
  open_ = 0;
  return collected;
}

Result<Collected> Collector::Iteration::run(const std::vector<const worlds::Task*>& tasks,
                                            const std::atomic<bool>* interrupt, KeptRollouts* waiting) {
  std::vector<std::string> prompts;
  for (const auto* task : tasks) prompts.push_back(task->id);
  if (auto done = take(engine_.begin_iteration(number_, prompts)); !done) return done.error();
  while (!closed_) {
    if (interrupt != nullptr && interrupt->load()) return Error{"interrupted", ""};
    if (auto done = start_waiting(); !done) return done.error();
    std::vector<int> ended;
    for (const auto& token : sampler_.step()) {
      auto& live = live_.at(token.id);
      live.action.push_back(token.token);
      live.action_logprob += token.logprob;
      live.action_entropy += token.entropy;
      live.record.tokens.push_back(token.token);
      live.record.trained.push_back(1);
      live.record.logprobs.push_back(token.logprob);
      if (token.action_ended) ended.push_back(token.id);
    }
    if (ended.empty() && live_.empty() && waiting_.empty() && !closed_)
      return Error{"the engine waits for rollouts that nobody runs", "this is a fault of the program: please report it"};
    if (auto done = report(ended); !done) return done.error();
  }
  part_from_waiting(waiting);
  std::sort(collected_.rollouts.begin(), collected_.rollouts.end(), [](const Rollout& a, const Rollout& b) {
    return std::pair(a.ref.group, a.ref.sample) < std::pair(b.ref.group, b.ref.sample);
  });
  collected_.seconds = seconds();
  return std::move(collected_);
}

// A group that ended has all its rollouts, those of earlier iterations too; one that waits takes its own along.
void Collector::Iteration::part_from_waiting(KeptRollouts* waiting) {
  if (waiting == nullptr) return;
  std::set<int> over;
  for (const auto& group : collected_.groups) {
    over.insert(group.group);
    const auto earlier = waiting->find(group.group);
    if (earlier == waiting->end()) continue;
    for (auto& rollout : earlier->second) collected_.rollouts.push_back(std::move(rollout));
    waiting->erase(earlier);
  }
  const auto ended = std::stable_partition(collected_.rollouts.begin(), collected_.rollouts.end(),
                                           [&](const Rollout& rollout) { return over.count(rollout.ref.group) > 0; });
  for (auto at = ended; at != collected_.rollouts.end(); ++at) (*waiting)[at->ref.group].push_back(std::move(*at));
  collected_.rollouts.erase(ended, collected_.rollouts.end());
}

std::uint64_t Collector::Iteration::key(const std::string& prompt, int sample) const {
  const std::uint64_t run = math::combine(owner_.options_.seed, static_cast<std::uint64_t>(number_));
  return math::combine(math::combine(run, math::hash_text(prompt)), static_cast<std::uint64_t>(sample));
}

// Carries out the orders, in the order that keeps places free for what starts.
Result<void> Collector::Iteration::take(Result<Orders> result) {
  if (!result) return result.error();
  const Orders& orders = *result;
  for (const auto& ref : orders.stop)
    if (const auto found = rows_.find({ref.group, ref.sample}); found != rows_.end()) retire(found->second, Status::Stopped);
  for (const auto& ref : orders.hold)
    if (const auto found = rows_.find({ref.group, ref.sample}); found != rows_.end()) live_.at(found->second).held = true;
  for (const auto& group : orders.closed) close(group);
  for (const auto& order : orders.start) waiting_.push_back(order);
  closed_ = closed_ || orders.batch_closed;
  for (const auto& ref : orders.release) {
    const auto found = rows_.find({ref.group, ref.sample});
    if (found == rows_.end()) continue;
    auto& live = live_.at(found->second);
    if (!live.held) continue;
    live.held = false;
    if (auto done = next_turn(found->second); !done) return done;
  }
  return {};
}

// A request starts whole or waits: siblings that wait for each other at a turn must all be there.
Result<void> Collector::Iteration::start_waiting() {
  while (!waiting_.empty()) {
    const auto order = waiting_.front();
    const int places = owner_.world_.max_sessions() - owner_.open_ + static_cast<int>(owner_.idle_.size());
    if (sampler_.free_rows() < order.count || places < order.count) {
      if (live_.empty())
        return Error{fmt::format("a group of {} rollouts does not fit: {} rows and {} sessions are free", order.count,
                                 sampler_.free_rows(), places),
                     "raise --slots, --group-size or the number of worlds, or start smaller groups"};
      return {};
    }
    waiting_.pop_front();
    for (int i = 0; i < order.count; ++i)
      if (auto done = start(order, order.first + i); !done) return done;
  }
  return {};
}

Result<void> Collector::Iteration::start(const engine::Start& order, int sample) {
  const int row = next_row_++;
  Live live;
  live.row = row;
  live.record.ref = {order.group, sample};
  live.record.iteration = number_;
  live.record.prompt = order.prompt;
  live.record.seconds_start = seconds();
  rows_[{order.group, sample}] = row;
  host_[order.group].rows.push_back(row);
  auto session = owner_.session();
  if (!session) return session.error();
  live.session = *std::move(session);
  const auto reply = live.session->reset(*owner_.tasks_.at(order.prompt));
  auto& placed = live_.emplace(row, std::move(live)).first->second;
  if (!reply) return end(row, Status::Error, std::nullopt, reply.error().what);
  placed.observation = reply->observation;
  std::vector<int> tokens = observation_tokens(owner_.tokenizer_, reply->observation);
  tokens.insert(tokens.begin(), owner_.tokenizer_.bos());
  placed.record.tokens = tokens;
  placed.record.trained.assign(tokens.size(), 0);
  placed.record.logprobs.assign(tokens.size(), 0.0F);
  if (auto added = sampler_.add(row, key(order.prompt, sample), tokens); !added) return added.error();
  return sampler_.begin_action(row, owner_.options_.tokens_per_turn);
}

Answered Collector::Iteration::act(int row) {
  auto& live = live_.at(row);
  auto words = live.action;
  if (!words.empty() && words.back() == owner_.tokenizer_.newline()) words.pop_back();
  std::string text = owner_.tokenizer_.decode(words);
  auto reply = live.session->act(text);
  return {row, std::move(text), std::move(reply)};
}

// All worlds first, then all turns to the engine, then all next actions: each finds its own data in the cache. The
// order of events is that of the rows either way. A rollout that a sibling's turn has stopped takes no turn of its own.
Result<void> Collector::Iteration::report(const std::vector<int>& ended) {
  std::vector<Answered> answers;
  answers.reserve(ended.size());
  for (const int row : ended)
    if (live_.count(row) > 0) answers.push_back(act(row));
  for (const auto& answered : answers)
    if (live_.count(answered.row) > 0)
      if (auto done = after_turn(answered); !done) return done;
  for (const auto& answered : answers)
    if (const auto found = live_.find(answered.row); found != live_.end() && found->second.goes_on)
      if (auto done = next_turn(answered.row); !done) return done;
  return {};
}

Result<void> Collector::Iteration::after_turn(const Answered& answered) {
  const auto& [row, text, reply] = answered;
  auto& live = live_.at(row);
  live.record.turns.push_back({live.observation, text, "invalid", false, static_cast<int>(live.action.size())});
  live.record.generated += static_cast<int>(live.action.size());
  if (!reply) return end(row, Status::Error, std::nullopt, reply.error().what);
  auto& turn = live.record.turns.back();
  turn.action = reply->action;
  turn.valid = reply->valid;
  const auto context = observation_tokens(owner_.tokenizer_, reply->observation);
  const bool cut = static_cast<int>(live.record.turns.size()) >= owner_.options_.turn_limit ||
                   sampler_.room(row) < static_cast<int>(context.size()) + owner_.options_.tokens_per_turn + 1;
  engine::Turn event;
  event.action = reply->action;
  event.observation = reply->observation;
  event.valid = reply->valid;
  event.tokens = static_cast<int>(live.action.size());
  event.logprob = live.action_logprob;
  event.entropy = live.action_entropy;
  event.last = reply->done || cut;
  const RolloutRef ref = live.record.ref;
  live.observation = reply->observation;
  if (auto done = take(engine_.turn(ref, event)); !done) return done;
  if (live_.count(row) == 0) return {};  // stopped by its own turn
  if (reply->done) return end(row, Status::Completed, reply->reward);
  if (cut) {
    const auto score = live_.at(row).session->score();
    return score ? end(row, Status::Truncated, *score) : end(row, Status::Error, std::nullopt, score.error().what);
  }
  if (auto done = ask_host(ref.group); !done) return done;
  const auto found = live_.find(row);
  if (found != live_.end() && !found->second.held) found->second.goes_on = true;
  return {};
}

// The world's answer becomes context and the next action begins.
Result<void> Collector::Iteration::next_turn(int row) {
  auto& live = live_.at(row);
  live.goes_on = false;
  auto context = observation_tokens(owner_.tokenizer_, live.observation);
  if (live.action.empty() || live.action.back() != owner_.tokenizer_.newline())
    context.insert(context.begin(), owner_.tokenizer_.newline());
  live.record.tokens.insert(live.record.tokens.end(), context.begin(), context.end());
  live.record.trained.resize(live.record.tokens.size(), 0);
  live.record.logprobs.resize(live.record.tokens.size(), 0.0F);
  live.action.clear();
  live.action_logprob = 0;
  live.action_entropy = 0;
  if (auto extended = sampler_.extend(row, context); !extended) return extended.error();
  return sampler_.begin_action(row, owner_.options_.tokens_per_turn);
}

Result<void> Collector::Iteration::end(int row, Status status, std::optional<double> reward, std::string cause) {
  auto& live = live_.at(row);
  const RolloutRef ref = live.record.ref;
  live.record.reward = reward;
  live.record.cause = cause;
  // A session whose world failed is not used again.
  if (status == Status::Error) {
    live.session.reset();
    --owner_.open_;
  }
  retire(row, status);
  engine::Ending ending;
  ending.status = status;
  ending.reward = reward;
  ending.cause = std::move(cause);
  return take(engine_.ended(ref, ending));
}

void Collector::Iteration::retire(int row, Status status) {
  auto& live = live_.at(row);
  sampler_.remove(row);
  live.record.status = status;
  live.record.seconds_end = seconds();
  if (live.session) owner_.idle_.push_back(std::move(live.session));
  rows_.erase({live.record.ref.group, live.record.ref.sample});
  collected_.rollouts.push_back(std::move(live.record));
  live_.erase(row);
}

// The host's gate stops a group by aborting its rollouts: unscored, and not trained on.
Result<void> Collector::Iteration::ask_host(int group) {
  auto& note = host_[group];
  if (!gate_.stop || note.asked) return {};
  std::vector<int> alive;
  for (const int row : note.rows)
    if (const auto found = live_.find(row); found != live_.end()) {
      if (static_cast<int>(found->second.record.turns.size()) < gate_.turn) return {};
      alive.push_back(row);
    }
  if (alive.empty()) return {};
  note.asked = true;
  note.stopped = gate_.stop(live_.at(alive.front()).record.prompt, group);
  if (!note.stopped) return {};
  for (const int row : alive)
    if (live_.count(row) > 0)
      if (auto done = end(row, Status::Aborted, std::nullopt, gate_.reason); !done) return done;
  return {};
}

void Collector::Iteration::close(const engine::GroupResult& group) {
  collected_.groups.push_back(group);
  const auto& note = host_[group.group];
  if (!note.stopped) return;
  auto& result = collected_.groups.back();
  result.fate = engine::Fate::Dropped;
  result.subset.clear();
  result.reason = gate_.reason;
  result.gate = {true, true, false, true};
}

}  // namespace allot::training
