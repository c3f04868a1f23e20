// An engine that another process holds, with the same methods as the engine itself.
//
// A decision never waits long: where the engine cannot be reached in time, turn() and ended() order nothing (go on,
// stop nobody), which is counted; what was reported is kept and told later, once. What cannot be had without an engine
// (begin_iteration, end_iteration, shape, save_state, swap, …) waits longer and then is an error. Threads that share a
// client wait for each other: what waits longer is asked through a client of its own where others decide meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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
  bool native = true;                            // compile the policy of token_loss() here, once for each version
};

// Of what only looks (save_state(), preview(), policy_hash(), …), of swap() and token_loss(), where no engine answered:
// an engine in this process always can, so these have no room for an error. what() is its text.
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
  // An error where there is no engine, and where the matrices are too large for the socket; whoever wants to train on
  // the advantages as they are says so.
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
  engine::ActiveVersion active() const override;
  int saved_change() const override;
  bool carried_out(const std::string&) const override { return false; }  // what is asked for here has no id
  double seconds_spent() const override;
  std::string policy_name() const override;
  std::string policy_hash() const override;

  // The loss of the policy of this iteration, made in this process; it is asked while this client lives. Throws
  // Unanswered. Each ask() tells the engine what came of it, which like turn() takes no longer than `timeout` and is
  // made up for later; it throws Unanswered where the iteration is over, or was begun anew.
  std::shared_ptr<const engine::TokenLoss> token_loss() override;

  // Waits for what comes of it, `patience` in all, while other calls of this client go on. Throws Unanswered: what the
  // engine has taken it carries out all the same, and what() says where its outcome can be asked for, or, where no
  // ticket came, that it may be carried out. A text takes along what it names, as that is found here. A policy that is
  // loaded already is refused.
  engine::SwapReport swap(const engine::SwapRequest& request) override;
  engine::SwapReport swap_outcome(int ticket) const override;
  // A place is taken when the request comes: whoever went with one would hold up all that came before.
  int announce_swap() override { return 0; }

 private:
  using Key = std::pair<int, int>;  // group, sample
  using Put = std::function<void(engine::JsonText&)>;
  using Shape = void (engine::EventLog::*)(const engine::MicroBatch&);

  Client(const std::filesystem::path& where, const ClientSettings& settings);
  // `call` with the lock held, which gives a Result.
  template <typename Call>
  std::invoke_result_t<Call> alone(const Call& call) const;
  std::optional<Error> refusal(const CallLock::Hold& hold) const;
  static Error closed();
  static Error restarted();
  struct Closed {};  // thrown to end the call that waits
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
  std::optional<Answer> settle(std::optional<Answer> answer);  // with the default, where there is none
  Result<Answer> obtain(Ask ask, const Put& put) const { return obtain(ask, put, Line::Seconds(settings_.patience)); }
  Result<Answer> obtain(Ask ask, const Put& put, Line::Seconds wait) const;
  Error unanswered(Ask ask, Error error) const;
  bool has_room();  // for another report
  void give_up_lost();
  void take_default();
  // Without it.
  Result<engine::Orders> report(engine::RolloutRef rollout, const engine::EventLog& log, bool over);
  Result<engine::Shaped> shape(const engine::MicroBatch& batch, Shape as);
  Result<Answer> demand(Ask ask, const Put& put) const;
  static Answer answered(Result<Answer> answer);  // throws Unanswered
  About about() const;
  std::optional<engine::SwapReport> outcome(int ticket, std::int64_t restarts, Line::Clock::time_point until) const;
  void tell(const std::string& loss, std::int64_t iteration, const engine::LossTally& tally);

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
  std::shared_ptr<const engine::TokenLoss> loss_;  // the last, whose policy may be that of the next
  std::string loss_number_;                        // of it, at the server
  bool warned_ = false;
  bool closed_ = false;
  bool leaves_ = false;  // closed below a call, which is to leave
};

template <typename Call>
std::invoke_result_t<Call> Client::alone(const Call& call) const {
  const CallLock::Hold hold(lock_, settings_.between);
  if (const auto refused = refusal(hold)) return *refused;
  const Leaving leaving{*this};
  try {
    return call();
  } catch (const Closed&) {
    return closed();
  }
}

}  // namespace allot::remote
