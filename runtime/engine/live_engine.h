// The engine itself. Events come in, are logged, fire decision points, and verdicts go out as orders.
//
// The parts: Batch (places and prompts), LiveGroup (log and travelling verdict), Judge (asks the policy), Ledger
// (budget), StateStore (memory over iterations), Trust (holdout and shadow), Audit (journal).
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/audit.h"
#include "runtime/engine/batch.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/judge.h"
#include "runtime/engine/ledger.h"
#include "runtime/engine/live_group.h"
#include "runtime/engine/points.h"
#include "runtime/engine/state.h"
#include "runtime/engine/tallies.h"
#include "runtime/engine/trust.h"

namespace allot::engine {

class LiveEngine final : public Engine {
 public:
  // `policy` may be null: every point has its default.
  static Result<std::unique_ptr<LiveEngine>> create(const Settings& settings, std::shared_ptr<Policy> policy);

  Result<Orders> begin_iteration(int iteration, const std::vector<std::string>& prompts) override;
  Result<Orders> turn(RolloutRef rollout, const Turn& turn) override;
  Result<Orders> ended(RolloutRef rollout, const Ending& ending) override;
  Result<IterationReport> end_iteration() override;
  std::vector<std::string> unused_prompts() const override;
  IterationReport preview() const override;
  std::string save_state() const override;
  Result<void> restore(const std::string& state) override;
  double seconds_spent() const override;
  std::string policy_name() const override;
  std::string policy_hash() const override;

  // For tests of what must hold after every event.
  const Ledger& ledger() const { return ledger_; }

 private:
  LiveEngine(const Settings& settings, std::shared_ptr<Policy> policy);

  // ---- events (live_engine.cpp)
  LiveGroup* running(RolloutRef ref);
  void record_ending(LiveGroup& group, int sample, const Ending& ending);
  Result<Orders> finish_event(Orders orders);
  void charge_seconds();

  // ---- decision points (deciding.cpp)
  void pass_turn_points(LiveGroup& group, Orders& orders);
  bool asks_turn(const LiveGroup& group, int turn) const;
  void hold_or_release(LiveGroup& group, Orders& orders);
  void ask_result(LiveGroup& group, Orders& orders);
  void settle(LiveGroup& group, Orders& orders);
  int ask_wave(LiveGroup& group, Orders& orders);
  void ask_late(LiveGroup& group);
  void ask_finish(LiveGroup& group);
  // The verdict to carry out: the policy's, or none in shadow and for a held-out stop.
  std::optional<Verdict> consult(int handler, LiveGroup& group, int turn);
  void keep_fields(LiveGroup& group, const Verdict& verdict);
  void note_fault(const Decision& decision);

  // ---- carrying out (carrying_out.cpp)
  std::optional<int> carry_out(LiveGroup& group, const Verdict& verdict, Orders& orders);
  void stop_rollout(LiveGroup& group, int sample, Orders& orders);
  void stop_live(LiveGroup& group, Orders& orders);
  int start_more(LiveGroup& group, std::int64_t wanted, Orders& orders);
  void close(LiveGroup& group, Orders& orders);
  void decide_fate(LiveGroup& group);
  GroupResult result_of(const LiveGroup& group) const;

  // ---- the batch (filling.cpp)
  struct Size { int first = 0; int planned = 0; int cap = 0; };
  std::vector<Size> sizes_for(const std::vector<std::string>& prompts);
  void first_fill(Orders& orders);
  void open_group(int slot, int round, const std::string& prompt, const Size& size, int count, Orders& orders);
  void refill(int slot, Orders& orders);

  // ---- the barrier (barrier.cpp)
  std::vector<const LiveGroup*> in_order() const;
  void update_state();
  IterationReport summarize() const;
  std::map<std::string, double> metrics(const IterationReport& report) const;
  std::optional<Error> never_asked();
  void warn_without_hits();
  void warn_shaped_gate();
  void add_messages(IterationReport& report);
  std::string make_snapshot() const;

  RunFacts run_facts() const;
  bool shadow() const { return settings_.shadow || trust_.paused(); }

  Settings settings_;
  std::shared_ptr<Policy> policy_;
  std::optional<Judge> judge_;
  Points points_;
  StatisticsPlan plan_;
  Ledger ledger_;
  StateStore store_;
  Trust trust_;
  Audit audit_;
  Tallies tallies_;      // of this iteration
  RunTallies run_;       // of the whole run
  Batch batch_;
  std::vector<std::unique_ptr<LiveGroup>> groups_;  // of this iteration, by group − first_group_
  int first_group_ = 0;
  int next_group_ = 0;
  int iteration_ = -1;
  bool in_iteration_ = false;
  bool closed_told_ = false;
  std::optional<Error> fatal_;
  std::vector<std::string> messages_;
  std::string snapshot_;
  std::vector<std::string> unused_;
  std::chrono::steady_clock::time_point last_event_;
  double spent_seconds_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace allot::engine
