// The engine itself. Events come in, are logged, fire decision points, and verdicts go out as orders.
//
// The parts: Batch (places and prompts), LiveGroup (log and travelling verdict), Judge (asks the policy), Ledger
// (budget), StateStore and Pool (memory over iterations), Trust (holdout and shadow), Audit (journal).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "common/striped_mutex.h"
#include "runtime/engine/audit.h"
#include "runtime/engine/batch.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/group_table.h"
#include "runtime/engine/judge.h"
#include "runtime/engine/ledger.h"
#include "runtime/engine/points.h"
#include "runtime/engine/pool.h"
#include "runtime/engine/run_lock.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/state.h"
#include "runtime/engine/state_files.h"
#include "runtime/engine/swap_mailbox.h"
#include "runtime/engine/swaps.h"
#include "runtime/engine/tallies.h"
#include "runtime/engine/trust.h"
#include "runtime/engine/version.h"
#include "runtime/engine/versions_folder.h"

namespace allot::engine {

class LiveEngine final : public Engine {
 public:
  // `policy` may be null: every point has its default.
  static Result<std::unique_ptr<LiveEngine>> create(const Settings& settings, std::shared_ptr<Policy> policy);
  ~LiveEngine() override;

  Result<void> set_pool(std::vector<PoolPrompt> prompts) override;
  Result<Orders> begin_iteration(int iteration, const std::vector<std::string>& prompts) override;
  Result<Orders> turn(RolloutRef rollout, const Turn& turn) override;
  Result<Orders> ended(RolloutRef rollout, const Ending& ending) override;
  Result<IterationReport> end_iteration() override;
  std::vector<std::string> unused_prompts() const override;
  IterationReport preview() const override;
  Result<Shaped> shape_group(const MicroBatch& group) override;
  Result<Shaped> shape(const MicroBatch& batch) override;
  std::shared_ptr<const TokenLoss> token_loss() override;
  bool wants_gram() const override;
  bool wants_embeddings() const override;
  bool shapes_groups() const override;
  bool shapes_micro_batches() const override;
  int replay_age() const override;
  std::string save_state() const override;
  Result<void> restore(const std::string& state) override;
  Result<void> save_state_in(const std::filesystem::path& folder) override;
  Result<void> restore_from(const std::filesystem::path& folder) override;
  std::string used_up() const override;
  double seconds_spent() const override;
  std::string policy_name() const override;
  std::string policy_hash() const override;
  SwapReport swap(const SwapRequest& request) override;
  int announce_swap() override;
  SwapReport swap_outcome(int ticket) const override;
  int active_version() const override;
  ActiveVersion active() const override;
  int saved_change() const override;
  int kept_change() const override { return kept_change_; }
  bool carried_out(const std::string& request) const override;

  // For tests of what must hold after every event.
  const Ledger& ledger() const { return ledger_; }
  const Pool& pool() const { return pool_; }
  const StateStore& store() const { return store_; }
  // Of this iteration, up to its barrier, or waiting; null where there is none of this number.
  const GroupLog* group_log(int number) const {
    const LiveGroup* const group = groups_.find(number);
    return group == nullptr ? nullptr : &group->log;
  }

  // For a replay: the journal's records, from now on, as texts of JSON objects.
  void record_to(std::function<void(std::string)> use) { audit_ = Audit::to(std::move(use), settings_, policy_.get()); }

  // … where versions come from and what was remembered under them goes to, in place of the run folder; and how the host
  // used the loss of tokens in the iteration that is about to end.
  void keep_versions_with(std::shared_ptr<KeptVersions> kept) { elsewhere_ = std::move(kept); }
  // … and on which end of an iteration, by its sum, the run stands; empty before the first.
  void stands_on(const std::string& sum) { audit_.stands_on(sum); }
  void losses_were(LossTally tally) { losses_ = std::move(tally); }

  // For scenarios: what is remembered, and every answer that concerns a group, as it is given.
  StateStore& state() { return store_; }
  using Observer = std::function<void(const Decision&, const LiveGroup&, int turn)>;
  void observe(Observer observer) { observer_ = std::move(observer); }
  // How often each rule answered in this iteration, or in the one that ended last; by handler. The policy is not null.
  std::vector<std::vector<std::int64_t>> rules_fired() const { return version_->counts().rules; }

 private:
  LiveEngine(const Settings& settings, std::shared_ptr<Policy> policy);

  // ---- events (live_engine.cpp)
  LiveGroup* running(RolloutRef ref);
  bool observes(const LiveGroup& group) const;
  void take_turn(LiveGroup& group, int sample, const Turn& turn);
  void record_ending(LiveGroup& group, int sample, const Ending& ending, Judge* judge);
  Result<Orders> finish_event(Orders orders);
  double now() const;
  void charge_seconds();
  std::optional<double> event_time() const;
  bool any_runs();
  std::string budget_used_up() const;

  // ---- events beside those of other groups (passing.cpp); none: it needs the whole engine, and nothing has happened
  struct Asked {
    int count = 0;               // of handlers
    int handler = no_handler;    // one of them
    int sample = -1;
    int turn = 0;
    std::optional<int> passed;   // `turn` points up to here are behind the group then
  };
  std::optional<Orders> pass_turn(RolloutRef ref, const Turn& turn);
  std::optional<Orders> pass_ending(RolloutRef ref, const Ending& ending);
  LiveGroup* may_pass(RolloutRef ref);
  bool closes_beside() const;
  Asked asked_after(const LiveGroup& group, int sample, const Turn& turn) const;
  void add_turn_points(Asked& asked, const LiveGroup& group, int sample, bool goes_on) const;
  void gather();

  // ---- decision points (deciding.cpp)
  void ask_rollout(LiveGroup& group, int sample, std::int64_t tokens_before, Orders& orders);
  void pass_turn_points(LiveGroup& group, Orders& orders);
  bool asks_turn(const LiveGroup& group, int turn) const;
  bool holds(const LiveGroup& group, int turn) const;
  void hold_or_release(LiveGroup& group, Orders& orders);
  void ask_score(LiveGroup& group, int sample);
  void ask_result(LiveGroup& group, Orders& orders);
  void settle(LiveGroup& group, Orders& orders);
  int ask_wave(LiveGroup& group, Orders& orders);
  bool ask_batch_wave(Orders& orders);
  void ask_late(LiveGroup& group);
  void ask_finish(LiveGroup& group);
  // The verdict to carry out: the policy's, or none in shadow and for a held-out stop.
  std::optional<Verdict> consult(int handler, LiveGroup& group, int turn);
  std::optional<Verdict> consult_rollout(int handler, LiveGroup& group, int sample);
  Decision consult_batch(int handler, const BatchFacts& batch);
  void keep_fields(LiveGroup& group, const Verdict& verdict);
  void note_fault(const Judge& judge, const Decision& decision);
  void note_hit_fault(LiveGroup& group, int sample);

  void note_losses();

  // ---- carrying out (carrying_out.cpp)
  std::optional<int> carry_out(LiveGroup& group, const Verdict& verdict, Orders& orders);
  void stop_rollout(LiveGroup& group, int sample, Orders& orders);
  void stop_live(LiveGroup& group, Orders& orders);
  int start_more(LiveGroup& group, std::int64_t wanted, Orders& orders);
  void start_together(const std::vector<LiveGroup*>& groups, const std::vector<std::int64_t>& wanted, Orders& orders);
  void note_shortage();
  void begin_rollouts(LiveGroup& group, int count, Orders& orders);
  void close(LiveGroup& group, Orders& orders);
  void end_as(LiveGroup& group, Fate fate, Orders& orders);
  void free_place(LiveGroup& group, Orders& orders);
  void decide_fate(LiveGroup& group);
  GroupResult result_of(const LiveGroup& group) const;

  // ---- groups that wait (deferring.cpp)
  void defer(LiveGroup& group, Orders& orders);
  void set_deferred(LiveGroup& group, bool deferred);
  void resume(LiveGroup& group, int place, int round, Orders& orders);
  void surplus(LiveGroup& group, Orders& orders);
  void drop_expired(Orders& orders);
  bool may_wait(const LiveGroup& group) const;
  std::vector<LiveGroup*> due();

  // ---- the batch (filling.cpp)
  struct Size { int first = 0; int planned = 0; int cap = 0; };
  std::vector<Size> sizes_for(const std::vector<std::string>& prompts);
  int running() const;
  void first_fill(Orders& orders);
  void fill(const std::vector<int>& places, int round, Orders& orders);
  bool fill_round(Orders& orders);
  void open_group(int place, int round, const std::string& prompt, const Size& size, int count, Orders& orders);
  void refill(int place, Orders& orders);

  // ---- choosing prompts (selecting.cpp)
  struct Selection { std::vector<std::string> order; int count = 0; };
  Selection select(const std::vector<std::string>& prompts);
  std::vector<std::string> drawable(const std::vector<std::string>& prompts) const;
  BatchFacts pool_facts(const std::vector<std::string>& prompts) const;
  void describe(BatchFacts& batch) const;
  void count_pool(const BatchFacts& pool);

  // ---- the barrier (barrier.cpp, telling.cpp)
  std::vector<const LiveGroup*> in_order() const;
  void update_state();
  void ask_barrier(int handler, const BatchFacts& facts);
  void learn_history();
  void pass_epoch();
  std::vector<std::string> unused_of_offered() const;
  IterationReport summarize() const;
  std::map<std::string, double> metrics(const IterationReport& report) const;
  std::optional<Error> never_asked();
  void warn_without_hits();
  void warn_shaped_gate();
  void warn_without_epochs(std::int64_t until);
  void warn_nothing_to_draw(const std::vector<std::string>& prompts);
  void add_messages(IterationReport& report);
  void add_budget_ends();
  HeadText make_head() const;
  Snapshot snapshot() const;
  Result<void> go_on_from(ReadSnapshot read, std::string_view text);

  // ---- before the loss (shaping.cpp)
  void ask_replay();
  void note_replayed(const IterationReport& report);
  void keep_for_replay(const IterationReport& report);
  LiveGroup* stored_or_live(int group) const;
  void apply_turns(Shaped& shaped, const Verdict& verdict, const GroupLog& log, const std::vector<std::size_t>& samples) const;
  void apply(Shaped& shaped, const Verdict& verdict, const std::vector<std::size_t>& places,
             const std::vector<std::optional<double>>& rewards) const;

  // ---- versions of the policy (swap.cpp, swap_prepare.cpp, swap_groups.cpp)
  // Without the lock.
  Result<PreparedSwap> prepare(const SwapRequest& request, const ActivePolicy& active) const;
  Result<std::shared_ptr<Policy>> policy_for(const SwapRequest& request, const ActivePolicy& active) const;
  Result<void> write_down(StateThen& state) const;
  Result<StateStore> memory_of(const Replaced& replaced, const lang::Program& program) const;
  Result<void> fits_run(const Policy& policy, const std::vector<std::string>& prompts) const;
  bool serve_beside();
  // Under it.
  class Event;
  bool concerns_openings(const PostedSwap& posted) const;
  void carry_out(PostedSwap& posted);
  enum class Posted { All, OfOpenings };
  void take_posted(Posted which);
  void publish();
  SwapReport exchange(const SwapRequest& request, PreparedSwap& prepared, SwapReport report);
  void withdraw_canary(SwapReport& report);
  void tell_of_canary(const Version* next, SwapReport& report) const;
  void accept(SwapReport& report);
  void remember(const std::string& request);
  std::optional<Error> may_exchange(const SwapRequest& request, const Version& next) const;
  std::optional<Error> lacks_observations(const SwapRequest& request, const Version& next) const;
  std::optional<Error> changed_meanwhile(const SwapRequest& request, const PreparedSwap& prepared) const;
  void wait_for_barrier(const SwapRequest& request, PreparedSwap& prepared, SwapReport& report);
  void begin_canary(const SwapRequest& request, PreparedSwap& prepared, SwapReport& report);
  std::optional<Error> take_over(const SwapRequest& request, PreparedSwap& prepared, SwapReport& report);
  std::optional<Error> take_memory(const PreparedSwap& prepared, SwapReport& report);
  void take_waiting_swap();
  void record(const SwapReport& report);
  void adopt(LiveGroup& group, const std::shared_ptr<Version>& next, SwapReport& report);
  void enter(std::shared_ptr<Version> version);
  std::shared_ptr<Version> version_for_batch() const;
  const std::shared_ptr<Version>& version_for_group(const std::string& prompt, int place, int round) const;
  void let_go(LiveGroup& group);
  void leave_canary(std::shared_ptr<Version> next, SwapReport& report);
  void retire(std::shared_ptr<Version> version);
  void release(std::shared_ptr<Version> version);
  void release_left();
  std::map<std::string, double> counts_left() const;
  std::vector<std::shared_ptr<Version>> take_gone();
  void keep_replaced(const Version& version, const std::shared_ptr<StateThen>& state);
  void keep_states();
  void keep_origin(const Version& version);
  Result<PolicyText> text_of(const std::string& hash) const;
  Result<std::shared_ptr<Version>> kept_version(int number, const std::string& hash,
                                                const std::map<std::string, std::string>& parameters) const;
  void go_on_waiting(int next_iteration);
  Result<void> restore_versions(const SnapshotHead& read, std::string_view text);
  SavedVersions saved_versions() const;
  std::vector<Version*> versions_in_use() const;
  const lang::Program& program_of(const LiveGroup& group) const;

  RunFacts run_facts() const;
  RunFacts run_facts(const LiveGroup& group) const;
  RunFacts settled_facts() const;
  RunFacts settled_facts(const LiveGroup& group) const;
  bool shadow() const { return settings_.shadow || trust_.paused(); }

  Observer observer_;
  Settings settings_;
  // The version of the batch, and what belongs to it. What concerns one group is asked of the group's own.
  std::shared_ptr<Version> version_;
  std::shared_ptr<Policy> policy_;
  Judge* judge_ = nullptr;
  Points points_;
  Demands demands_;
  int replay_age_ = 0;
  Swaps swaps_;
  std::map<std::string, double> retired_;  // metrics of versions that went in this iteration
  std::vector<std::shared_ptr<Version>> left_;  // let go of in this iteration while somebody held them
  std::vector<std::shared_ptr<Version>> gone_;  // nobody asks them any more; freed without the lock
  Ledger ledger_;
  StateStore store_;
  Trust trust_;
  std::atomic<int> kept_change_ = 0;  // set by the thread behind, which ends with the journal
  Audit audit_;
  Tallies tallies_;      // of this iteration
  RunTallies run_;       // of the whole run
  Batch batch_;
  Pool pool_;
  std::int64_t drawable_ = 0;  // prompts that may be drawn, and those the pool knows, as of the iteration's start
  std::int64_t known_ = 0;
  // Groups of this iteration, those that wait, and those of the replay buffer; by number.
  GroupTable groups_;
  int deferred_ = 0;  // of them, how many wait
  GroupTable stored_;
  std::vector<int> replayed_;
  bool rounds_together_ = false;  // a round begins when everybody has ended
  int places_a_batch_ = 0;        // prompts opened for a batch that is wholly missing
  int next_group_ = 0;
  int iteration_ = -1;
  bool unrestored_ = false;  // the run folder holds a state that this engine was not given
  bool in_iteration_ = false;
  bool closed_told_ = false;
  std::optional<Error> fatal_;
  std::vector<std::string> messages_;
  std::string first_failure_;  // of this iteration, with its cause
  std::string first_shortage_;  // of this iteration: how the budget stood
  bool begun_used_up_ = false;  // at the begin of this iteration nothing could be started any more
  std::int64_t overruns_before_ = 0;  // this iteration
  bool observed_ = false;  // some version that was in use at the begin of this iteration asks for observations
  bool hit_fault_told_ = false;  // in this iteration: the others are counted
  std::shared_ptr<const HeadText> head_;  // of the snapshot: memory itself is what it was at the barrier
  std::shared_ptr<StateFiles> files_;     // of the run folder, for the thread behind; null without one
  // The host's order of this iteration.
  std::shared_ptr<const std::vector<std::string>> offered_ = std::make_shared<const std::vector<std::string>>();
  std::vector<std::string> unused_;
  std::shared_ptr<TokenLoss> token_loss_;  // of this iteration
  std::optional<LossTally> losses_;        // what came of it
  std::shared_ptr<KeptVersions> elsewhere_;  // null outside of replays
  double last_event_ = 0;  // by now()
  int seen_running_ = -1;  // a group that any_runs() found
  double spent_seconds_ = 0;
  SwapMailbox mailbox_;
  RunLock run_lock_;
  // Shared for an event of one group that changes nothing else, with the group's own lock; alone for all others.
  mutable StripedMutex mutex_;
  // Of those who share it: the accounts, which an event changes in the order in which the journal tells of it.
  std::mutex order_;
  // … and what opens and closes groups: the batch, the table of groups, versions, what is counted of all of them.
  std::mutex openings_;
};

// The engine for one event, alone; or, where that is enough, one group and all that opens and closes groups, while others
// take turns. Swaps that were posted are carried out before it; versions that end in it are freed after the locks, so
// that nobody else waits for that.
class LiveEngine::Event {
 public:
  explicit Event(LiveEngine& engine) : Event(engine, std::unique_lock(engine.mutex_)) {}
  Event(LiveEngine& engine, std::unique_lock<StripedMutex> alone) : engine_(engine), alone_(std::move(alone)) { take_posted(Posted::All); }
  Event(LiveEngine& engine, RolloutRef about) : engine_(engine), shared_(engine.mutex_) {
    if (LiveGroup* const group = engine.closes_beside() ? engine.groups_.find_beside(about.group) : nullptr) {
      own_ = std::unique_lock(group->own.mutex);
      openings_ = std::unique_lock(engine.openings_);
      order_ = std::unique_lock(engine.order_);
      take_posted(Posted::OfOpenings);
      if (!engine.mailbox_.waits()) return;
      unlock();
    } else {
      shared_.unlock();
    }
    alone_ = std::unique_lock(engine.mutex_);
    take_posted(Posted::All);
  }
  ~Event() {
    if (!engine_.gone_.empty()) gone_ = engine_.take_gone();
    unlock();
    if (carried_out_) engine_.mailbox_.wake();
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

 private:
  void take_posted(Posted which) {
    if (!engine_.mailbox_.waits()) return;
    engine_.take_posted(which);
    carried_out_ = true;
  }
  void unlock() {
    if (order_) order_.unlock();
    if (openings_) openings_.unlock();
    if (own_) own_.unlock();
    if (shared_) shared_.unlock();
    if (alone_) alone_.unlock();
  }

  LiveEngine& engine_;
  std::unique_lock<StripedMutex> alone_;
  std::shared_lock<StripedMutex> shared_;
  std::unique_lock<std::mutex> own_, openings_, order_;
  std::vector<std::shared_ptr<Version>> gone_;  // with this, so without the locks
  bool carried_out_ = false;
};

}  // namespace allot::engine
