// What an engine carries over the end of a process.
#include <utility>

#include <fmt/format.h>

#include "runtime/engine/disk.h"
#include "runtime/engine/live_engine.h"

namespace allot::engine {

Result<void> Engine::save_state_in(const std::filesystem::path& folder) {
  return replace_file(folder / "state.json", save_state());
}

Result<void> Engine::restore_from(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "state.json";
  const auto text = read_whole(file);
  if (!text) return Error{fmt::format("There is no state to go on from: {} cannot be read.", file.string()), ""};
  return restore(*text);
}

std::string LiveEngine::save_state() const {
  const Snapshot taken = [this] {
    const std::lock_guard lock(mutex_);
    return snapshot();
  }();
  return write(taken);
}

Result<void> LiveEngine::save_state_in(const std::filesystem::path& folder) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  std::unique_lock lock(mutex_);
  if (auto settled = audit_.settle(); !settled) return settled;
  if (files_ && files_->holds(*head_)) return files_->link_to(folder);
  const Snapshot taken = snapshot();  // before the first barrier, or swapped since the last
  lock.unlock();
  return replace_file(folder / "state.json", write(taken));
}

HeadText LiveEngine::make_head() const {
  SnapshotHead head;
  head.policy_hash = swaps_.current ? swaps_.current->hash() : "";
  head.versions = saved_versions();
  head.iteration = iteration_;
  head.next_group = next_group_;
  head.run_state = store_.run();
  head.epoch = pool_.epoch();
  head.passed = pool_.passed();
  for (const auto& [number, group] : groups_) {
    if (!group->deferred) continue;
    head.waiting.push_back(group.get());
    if (swaps_.canary && group->version == swaps_.canary) head.of_canary.insert(number);
  }
  for (const auto& [number, group] : stored_) head.stored.push_back(group.get());
  head.accounts = ledger_.every_account();
  head.conservation = ledger_.conservation();
  head.ledger_begun = ledger_.begun();
  head.overruns = ledger_.overruns();
  head.holdout_observed = trust_.observed();
  head.holdout_flat = trust_.flat();
  head.paused = trust_.paused();
  head.run = run_;
  head.journal = audit_.mark();
  return write(head);
}

// Memory changes at barriers and at swaps between two iterations, and a new head comes with both.
Snapshot LiveEngine::snapshot() const { return {head_, store_.moment(), pool_.histories(), pool_.epoch()}; }

Result<void> LiveEngine::restore(const std::string& state) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  auto read = read_snapshot(state, {});
  if (!read) return read.error();
  const Event event(*this);
  return go_on_from(*std::move(read), state);
}

Result<void> LiveEngine::restore_from(const std::filesystem::path& folder) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  auto read = read_state(folder, {});
  if (!read) return read.error();
  // Saved between two barriers: then it is one text, which the journal repeats.
  if (read->versions.since_barrier) return Engine::restore_from(folder);
  const Event event(*this);
  return go_on_from(*std::move(read), "");
}

Result<void> LiveEngine::go_on_from(ReadSnapshot read, std::string_view text) {
  if (auto restored = restore_versions(read, text); !restored) return restored;
  iteration_ = read.iteration;
  next_group_ = read.next_group;
  groups_.clear();
  stored_.clear();
  in_iteration_ = unrestored_ = false;
  token_loss_.reset();
  const std::size_t waiting = read.waiting.size();
  deferred_ = static_cast<int>(waiting);
  for (std::size_t i = 0; i < read.groups.size(); ++i) {
    LiveGroup& group = *read.groups[i];
    const int number = group.log.group;
    group.deferred = i < waiting;
    group.closed = i >= waiting;
    group.active = group.placed = false;
    const std::shared_ptr<Version>& version = read.of_canary.contains(number) && swaps_.canary ? swaps_.canary : version_;
    if (version) group.kept = KeptStatistics::rebuild(version->plan, group.log);
    if (i < waiting) group.version = version;
    (i < waiting ? groups_ : stored_).add(number, std::move(read.groups[i]));
  }
  if (!read.give_memory(store_)) {
    return Error{"The saved state of the engine does not fit its policy: it has other states.", "resume from an earlier checkpoint"};
  }
  pool_.restore(std::move(read.histories), read.epoch, read.passed);
  if (policy_) supply(policy_->program(), settings_.inputs, store_);  // the host's word of today
  ledger_.restore(read.accounts, read.conservation, read.ledger_begun, read.overruns);
  trust_.restore(read.holdout_observed, read.holdout_flat, read.paused);
  run_ = read.run;
  head_ = std::make_shared<const HeadText>(make_head());
  swaps_.saved = read.versions.next_number - 1;
  kept_change_ = swaps_.saved;
  publish();
  return {};
}

}  // namespace allot::engine
