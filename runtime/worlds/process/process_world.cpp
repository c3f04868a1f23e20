#include "runtime/worlds/process/process_world.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/worlds/process/child_process.h"
#include "runtime/worlds/process/protocol.h"

namespace allot::worlds::process {
namespace {

// One child and the count of its requests.
class Conversation {
 public:
  // Starts a child and shakes hands with it.
  static Result<std::pair<std::unique_ptr<Conversation>, Hello>> start(const Options& options, bool describe) {
    auto child = ChildProcess::start(options.command, options.max_line);
    if (!child) return child.error();
    auto conversation = std::make_unique<Conversation>(*std::move(child));
    auto line = conversation->ask([describe](long id) { return hello_request(id, describe); }, options.hello_timeout);
    auto hello = line ? read_hello(*line, conversation->id_) : Result<Hello>(line.error());
    if (!hello) {
      conversation->abandon();
      return conversation->explain(hello.error());
    }
    return std::pair(std::move(conversation), *std::move(hello));
  }

  explicit Conversation(std::unique_ptr<ChildProcess> child) : child_(std::move(child)) {}
  ~Conversation() { say_goodbye(); }

  // Sends the request that `make` forms with the next id and returns the line that comes back.
  template <typename Make>
  Result<std::string> ask(Make make, std::chrono::milliseconds timeout) {
    auto sent = child_->send(make(++id_), timeout);
    if (!sent) return sent.error();
    return child_->receive(timeout);
  }

  // The cause with what the child last said on stderr as its help.
  Error explain(const Error& cause) { return Error{cause.what, child_->last_words()}; }

  // Asks a child in good order to end; it has a second between this and the destructor's kill.
  void say_goodbye() {
    if (!child_ || std::exchange(farewell_, true) || !child_->quiet()) return;
    (void)child_->send(bare_request(++id_, "close"), std::chrono::milliseconds(100));
    child_->close_input();
  }

  // No farewell for a child that is not to be trusted: the destructor kills it at once.
  void abandon() { farewell_ = true; }

  bool quiet() { return child_->quiet(); }
  long id() const { return id_; }

 private:
  std::unique_ptr<ChildProcess> child_;
  long id_ = 0;
  bool farewell_ = false;
};

// `cause` as explain() gives it, in words for a person.
std::string sentence(const std::string& world, const Error& cause, const std::string& where) {
  std::string text = "The world `" + world + "` " + cause.what + " " + where;
  if (!cause.help.empty()) text += "; its last line on stderr: `" + cause.help + "`";
  return text;
}

// The children that serve nobody at the moment, and how many sessions there are.
class Pool {
 public:
  explicit Pool(Options options) : options_(std::move(options)) {}
  ~Pool() {
    for (auto& child : idle_) child->say_goodbye();  // all are asked before the first is waited for
  }

  const Options& options() const { return options_; }

  bool enter() {
    const std::lock_guard lock(mutex_);
    if (sessions_ >= options_.children) return false;
    ++sessions_;
    return true;
  }

  void leave(std::unique_ptr<Conversation> child) {
    const std::lock_guard lock(mutex_);
    --sessions_;
    if (child) idle_.push_back(std::move(child));
  }

  void keep(std::unique_ptr<Conversation> child) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(child));
  }

  // A child in good order: an idle one, else a fresh one.
  Result<std::unique_ptr<Conversation>> take() {
    while (auto child = pop()) {
      if (child->quiet()) return child;
    }
    auto started = Conversation::start(options_, false);
    if (!started) return started.error();
    return std::move(started->first);
  }

 private:
  std::unique_ptr<Conversation> pop() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto child = std::move(idle_.back());
    idle_.pop_back();
    return child;
  }

  Options options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Conversation>> idle_;
  int sessions_ = 0;
};

class ProcessSession final : public Session {
 public:
  ProcessSession(std::shared_ptr<Pool> pool, std::string world, bool expert)
      : pool_(std::move(pool)), world_(std::move(world)), expert_(expert) {}
  ~ProcessSession() override { pool_->leave(std::move(child_)); }

  Result<Reply> reset(const Task& task) override {
    task_ = task.id;
    turn_ = 0;
    trouble_ = std::nullopt;
    done_ = false;
    if (child_ && !child_->quiet()) child_.reset();
    if (!child_) {
      auto child = pool_->take();
      if (!child) return fail(child.error(), "at its start for");
      child_ = *std::move(child);
    }
    auto line = ask([&task](long id) { return reset_request(id, task); });
    if (!line) return fail(line.error(), "at the start of");
    auto reply = read_reset(*line, child_->id());
    if (!reply) return fail(reply.error(), "at the start of");
    done_ = reply->done;
    started_ = true;
    return reply;
  }

  Result<Reply> act(std::string_view text) override {
    if (auto error = unusable()) return *std::move(error);
    if (done_) return Error{"The world `" + world_ + "` was given an action after the rollout had ended.", {}};
    ++turn_;
    auto line = ask([text](long id) { return act_request(id, text); });
    if (!line) return fail(line.error(), in_turn());
    auto reply = read_act(*line, child_->id(), text);
    if (!reply) return fail(reply.error(), in_turn());
    done_ = reply->done;
    return reply;
  }

  Result<std::optional<double>> score() override {
    if (auto error = unusable()) return *std::move(error);
    auto line = ask([](long id) { return bare_request(id, "score"); });
    if (!line) return fail(line.error(), "at the score of");
    auto reward = read_score(*line, child_->id());
    if (!reward) return fail(reward.error(), "at the score of");
    return reward;
  }

  std::optional<std::string> expert_action() override {
    if (!expert_ || done_ || unusable()) return std::nullopt;
    auto line = ask([](long id) { return bare_request(id, "expert"); });
    auto action = line ? read_expert(*line, child_->id()) : Result<std::optional<std::string>>(line.error());
    if (action) return *action;
    (void)fail(action.error(), in_turn());  // the next act() reports it
    return std::nullopt;
  }

 private:
  template <typename Make>
  Result<std::string> ask(Make make) {
    return child_->ask(make, pool_->options().reply_timeout);
  }

  std::string in_turn() const { return "in turn " + std::to_string(turn_) + " of"; }

  std::optional<Error> unusable() const {
    if (trouble_) return trouble_;
    if (!started_) return Error{"The world `" + world_ + "` was given an action before a task.", {}};
    return std::nullopt;
  }

  // Ends the rollout. The child goes with it unless the error is one that the world itself reported.
  Error fail(const Error& cause, const std::string& when) {
    const bool in_order = child_ && cause.help == reported;
    const Error explained = in_order ? Error{cause.what, {}} : child_ ? child_->explain(cause) : cause;
    if (child_ && !in_order) {
      child_->abandon();
      child_.reset();
    }
    trouble_ = Error{sentence(world_, explained, when + " task `" + task_ + "`"), {}};
    return *trouble_;
  }

  std::shared_ptr<Pool> pool_;
  std::string world_;
  bool expert_;
  std::unique_ptr<Conversation> child_;
  std::string task_;
  int turn_ = 0;
  bool started_ = false;
  bool done_ = false;
  std::optional<Error> trouble_;
};

class ProcessWorld final : public World {
 public:
  ProcessWorld(std::shared_ptr<Pool> pool, Hello hello) : pool_(std::move(pool)), hello_(std::move(hello)) {}

  std::string name() const override { return hello_.name; }
  std::span<const Task> tasks(Split split) const override {
    return split == Split::Training ? hello_.training : hello_.held_out;
  }
  Result<std::unique_ptr<Session>> open() override {
    if (!pool_->enter()) {
      return Error{"All " + std::to_string(max_sessions()) + " children of the world `" + hello_.name + "` are in use.",
                   "allow more children, or run fewer rollouts at once"};
    }
    return std::unique_ptr<Session>(std::make_unique<ProcessSession>(pool_, hello_.name, hello_.expert));
  }
  int max_sessions() const override { return pool_->options().children; }
  int turn_limit() const override { return hello_.turn_limit; }
  std::vector<std::string> vocabulary() const override { return hello_.vocabulary; }

 private:
  std::shared_ptr<Pool> pool_;
  Hello hello_;
};

}  // namespace

Result<std::unique_ptr<World>> open_process(const Options& options) {
  const std::string program = options.command.empty() ? "" : options.command.front();
  const std::string help = "docs/worlds.md describes what a world in a child process has to read and print";
  if (options.children < 1) return Error{"A world in child processes needs at least one child.", {}};
  auto started = Conversation::start(options, true);
  if (!started) return Error{sentence(program, started.error(), "at its hello"), help};
  auto& [child, hello] = *started;
  if (hello.training.empty() && hello.held_out.empty()) {
    return Error{"The world `" + hello.name + "` names no tasks in its hello.", help};
  }
  auto pool = std::make_shared<Pool>(options);
  pool->keep(std::move(child));
  return std::unique_ptr<World>(std::make_unique<ProcessWorld>(std::move(pool), std::move(hello)));
}

}  // namespace allot::worlds::process
