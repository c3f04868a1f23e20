// An engine that another process holds, with the same methods as the engine itself.
//
// A decision never waits long: where the engine cannot be reached in time, turn() and ended() order nothing (go on,
// stop nobody), which is counted; what was reported is kept and told later, once. What cannot be had without an engine
// (begin_iteration, end_iteration, shape, save_state, …) waits longer and then is an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/engine/engine.h"
#include "runtime/remote/call_lock.h"
#include "runtime/remote/line.h"

namespace allot::remote {

// Times are above 0; infinity waits for as long as it takes.
struct ClientSettings {
  double timeout = 1.0;                          // seconds that turn(), ended() and drive() may take
  double patience = 60.0;                        // … that begin_iteration(), end_iteration() and the others may take
  std::size_t most_waiting = 16 << 20;           // bytes of reports that are kept for an engine that cannot be reached
  std::function<void(const std::string&)> warn;  // told once, when the first default is taken; empty: stderr
  // Called every 50 ms while a call waits. What it throws ends the call; what was reported by it is told all the same,
  // except where it still waited for the call of another thread: then it has done nothing.
  // It may look at how the client is, and close() it, which ends the call; what else it calls of it is an error.
  std::function<void()> between = [] {};
};

// Of what only looks (save_state(), preview(), policy_hash(), …) where no engine answered: an engine in this process
// always can, so these have no room for an error. what() is its text.
class Unanswered : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ClientCounts {
  std::int64_t calls = 0;     // that waited for an answer
  std::int64_t defaults = 0;  // of these: the engine did not answer in time, and nothing was ordered
  std::int64_t lost = 0;      // reports that no engine will get
  std::int64_t restarts = 0;  // another engine answered than before
};

class Client final : public engine::Engine {
 public:
  // `where`: see socket_of(). An engine that is not there is no error, it may come later; one that speaks another
  // version of the protocol is, and so is a time that cannot be waited.
  static Result<std::unique_ptr<Client>> connect(const std::filesystem::path& where,
                                                 const ClientSettings& settings = {});
  ~Client() override;  // close()

  // Orders that somebody else's events led to, at most `wait` seconds (0 or more) from now; empty where none came.
  // Every other call gives those that came until then beside its own.
  Result<engine::Orders> orders(double wait = 0);
  // Says that this client drives these rollouts, before their first turn: orders that concern them come here. What was
  // ordered before comes at once.
  Result<engine::Orders> drive(const std::vector<engine::RolloutRef>& rollouts);
  bool reached() const;  // the last call had its answer
  ClientCounts counts() const;
  std::string problem() const;  // why the engine could not be reached the last time
  // Waits at most `timeout` for answers to what was reported, and leaves: what it still drives ends as aborted. Every
  // call from then on is an error.
  void close();

  Result<engine::Orders> begin_iteration(int iteration, const std::vector<std::string>& prompts) override;
  Result<engine::Orders> turn(engine::RolloutRef rollout, const engine::Turn& turn) override;
  Result<engine::Orders> ended(engine::RolloutRef rollout, const engine::Ending& ending) override;
  Result<engine::IterationReport> end_iteration() override;
  Result<void> set_pool(std::vector<engine::PoolPrompt> prompts) override;
  // An error where there is no engine; whoever wants to train on the advantages as they are says so. An embedding does
  // not travel.
  Result<engine::Shaped> shape_group(const engine::MicroBatch& group) override;
  Result<engine::Shaped> shape(const engine::MicroBatch& batch) override;
  Result<void> restore(const std::string& state) override;

  // What only looks throws Unanswered where there is no engine.
  std::vector<std::string> unused_prompts() const override;
  engine::IterationReport preview() const override;
  std::string save_state() const override;
  bool wants_gram() const override;
  bool wants_embeddings() const override;
  bool shapes_groups() const override;
  bool shapes_micro_batches() const override;
  int replay_age() const override;
  int active_version() const override;
  int saved_change() const override;
  bool carried_out(const std::string&) const override { return false; }
  double seconds_spent() const override;
  std::string policy_name() const override;
  std::string policy_hash() const override;

  // Not over a socket: the handler is asked where the tokens are, and a swap is asked for by its files.
  std::shared_ptr<const engine::TokenLoss> token_loss() override { return nullptr; }
  engine::SwapReport swap(const engine::SwapRequest& request) override;
  int announce_swap() override { return 0; }
  engine::SwapReport swap_outcome(int ticket) const override;

 private:
  using Key = std::pair<int, int>;  // group, sample
  using Put = std::function<void(engine::JsonText&)>;

  Client(const std::filesystem::path& where, const ClientSettings& settings);
  // `call` with the lock held, which gives a Result.
  template <typename Call>
  std::invoke_result_t<Call> alone(const Call& call) const;
  struct Leaving {
    const Client& client;
    ~Leaving();
  };
  void leave() const;
  void after_fork() const;
  void use(Answer& answer);
  void note_restart();
  engine::Orders take_mail() { return std::exchange(mail_, {}); }
  engine::Orders only_stop(engine::RolloutRef rollout);
  // With the lock held.
  std::optional<Answer> decide(Ask ask, const Put& put);
  Result<Answer> obtain(Ask ask, const Put& put) const;
  void give_up_lost();
  void take_default();
  // Without it.
  Result<engine::Orders> report(engine::RolloutRef rollout, const engine::EventLog& log, bool over);
  Result<engine::Shaped> shape(const engine::MicroBatch& batch, const engine::EventLog& log);
  Result<Answer> demand(Ask ask, const Put& put) const;
  About about() const;

  ClientSettings settings_;
  // To look is to speak over the line, so all of it changes.
  mutable CallLock lock_;
  mutable Line line_;
  mutable int process_;
  mutable engine::Orders mail_;
  mutable std::set<Key> driven_;
  mutable std::set<Key> void_;    // of an engine that is gone, or with reports that are lost: not told any more
  mutable std::set<Key> to_end_;  // lost ones of which the engine is to know that they are over
  mutable bool leads_ = false;    // began an iteration
  mutable bool restart_untold_ = false;
  mutable ClientCounts counts_;
  bool warned_ = false;
  bool closed_ = false;
  bool leaves_ = false;  // closed below a call, which is to leave
};

}  // namespace allot::remote
