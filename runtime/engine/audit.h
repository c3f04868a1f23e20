// What goes into the journal, in the engine's words. Without a run folder it does nothing. Several threads may tell it of
// groups and of swaps; who tells of the iteration is alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/engine/background.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/journal_chain.h"
#include "runtime/engine/judge.h"
#include "runtime/engine/live_group.h"
#include "runtime/engine/same_answers.h"
#include "runtime/engine/token_loss.h"

namespace allot::engine {

// What became of a verdict.
enum class Carried { Out, Shadow, HeldOut, Late };
std::string_view name(Carried carried);

class Audit {
 public:
  Audit();
  ~Audit();
  Audit(Audit&&) noexcept;
  Audit& operator=(Audit&&) noexcept;

  // Opens a new segment in `settings.run_folder` and writes what is needed to read the rest by itself.
  static Result<Audit> open(const Settings& settings, const Policy* policy);
  // The same records, each given to `use` as the text of a JSON object instead of written.
  static Audit to(std::function<void(std::string)> use, const Settings& settings, const Policy* policy);
  // In the child of a fork, whose parent goes on with the journal. Nothing is freed: to end the thread behind it, which the
  // child does not have, would wait for ever.
  void abandon();
  bool on() const { return impl_ != nullptr; }
  bool keeps_events() const { return keeps_events_; }  // what the host tells is journaled too

  // ---- what the host tells. `now`: the engine's clock, where the policy has a budget of seconds.
  void pool(int iteration, const std::vector<PoolPrompt>& prompts);
  void begun(const std::vector<std::string>& prompts, std::optional<double> now);
  void turn(RolloutRef rollout, const Turn& turn, bool with_observation, std::optional<double> now);
  void ended(RolloutRef rollout, const Ending& ending, std::optional<double> now);
  void shape_group(const MicroBatch& group);
  void shape(const MicroBatch& batch);
  void swapped();

  // ---- what the engine makes of it

  // The text of one JSON object with `k` and `it`.
  void append(std::string record);
  // A policy that may answer from here on, under this number; the one in the record `run` has 0.
  // `policy`: policy_record_text().
  void version(int iteration, int number, std::string_view policy);
  // The run goes on from the state that stands on `from`; an error where this journal does not hold that end. `state`: the
  // snapshot that was restored, where no barrier wrote it.
  Result<void> resumed(int iteration, const std::optional<JournalMark>& from, std::string_view state);
  // Iterations after `last` and before `next` that had ended here, and that the state from which the run goes on does not
  // have: none once one has begun.
  std::vector<int> missing_between(int last, int next) const;
  // What whoever runs this process is to be told of its disk and of how it resumed, once. Another process would be told
  // something else, so the journal, which is compared, has no note of it.
  std::vector<std::string> take_untold();
  void begin(int iteration, std::size_t prompts);
  void opened(const LiveGroup& group);
  void started(int iteration, int group, int first, int count);
  // `about` has no group for a batch or the pool, and no sample for a group.
  void decided(const Judge& judge, const Decision& decision, int iteration, RolloutRef about, int turn,
               Carried carried);
  // The same for an answer that changes nothing; its frame is written down before.
  void same(const Judge& judge, const Decision& decision, const FrameText& frame, int iteration, RolloutRef about, int turn,
            Carried carried);
  void closed(const LiveGroup& group, const GroupResult& result, int iteration);
  void deferred(const LiveGroup& group, int iteration);
  void taken_up(const LiveGroup& group, int iteration);
  void replayed(int iteration, int group, int age);
  // `until`: an epoch, 0 where the prompt is back, PromptHistory::for_good.
  void evicted(int iteration, std::string_view prompt, std::int64_t until);
  void note(int iteration, std::string_view text);
  // What `on loss of token` answered in this iteration; `version` is that of the batch.
  void losses(int iteration, int version, const LossTally& tally);
  void end(const IterationReport& report);
  // The last end; none before the first, without a run folder, and where the state that was restored names none.
  const std::optional<JournalMark>& mark() const { return mark_; }
  // In a replay, where the journal that is played names it; empty for none.
  void stands_on(const std::string& sum);
  // A name for that place among all timelines of the run.
  std::string place() const;
  // Everything so far is written when this returns, and on disk soon after (JournalWriter::barrier); `beside` is done behind
  // the caller's back, once there is a run folder.
  Result<void> barrier(Background::Task beside);
  // What is done there is done when this returns, and the last end is written.
  Result<void> settle();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::optional<JournalMark> mark_;
  bool keeps_events_ = false;  // here, since it is asked at every turn
};

}  // namespace allot::engine
