// What an engine carries over the end of a process.
#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/snapshot.h"

namespace allot::engine {

std::string LiveEngine::save_state() const {
  const std::shared_lock lock(mutex_);
  return *snapshot_;
}

std::string LiveEngine::make_snapshot() const {
  Snapshot snapshot;
  snapshot.policy_hash = swaps_.current ? swaps_.current->hash() : "";
  snapshot.versions = saved_versions();
  snapshot.iteration = iteration_;
  snapshot.next_group = next_group_;
  snapshot.prompts = store_.prompts();
  snapshot.categories = store_.categories();
  snapshot.run_state = store_.run();
  snapshot.histories = pool_.histories();
  snapshot.epoch = pool_.epoch();
  snapshot.passed = pool_.passed();
  for (const auto& [number, group] : groups_) {
    if (group->deferred) snapshot.waiting.push_back(group.get());
  }
  for (const auto& [number, group] : stored_) snapshot.stored.push_back(group.get());
  snapshot.accounts = ledger_.accounts();
  snapshot.conservation = ledger_.conservation();
  snapshot.ledger_begun = ledger_.begun();
  snapshot.holdout_observed = trust_.observed();
  snapshot.holdout_flat = trust_.flat();
  snapshot.paused = trust_.paused();
  snapshot.run = run_;
  return write(snapshot);
}

Result<void> LiveEngine::restore(const std::string& state) {
  const Event event(*this);
  auto read = read_snapshot(state, {});
  if (!read) return read.error();
  if (auto restored = restore_versions(read->policy_hash, read->versions, read->iteration + 1, state); !restored) return restored;
  iteration_ = read->iteration;
  next_group_ = read->next_group;
  groups_.clear();
  stored_.clear();
  in_iteration_ = false;
  const std::size_t waiting = read->waiting.size();
  deferred_ = static_cast<int>(waiting);
  for (std::size_t i = 0; i < read->groups.size(); ++i) {
    const int number = read->groups[i]->log.group;
    read->groups[i]->deferred = i < waiting;
    read->groups[i]->closed = i >= waiting;
    read->groups[i]->active = read->groups[i]->placed = false;
    if (version_) read->groups[i]->kept = KeptStatistics::rebuild(version_->plan, read->groups[i]->log);
    if (i < waiting) read->groups[i]->version = version_;
    (i < waiting ? groups_ : stored_).add(number, std::move(read->groups[i]));
  }
  store_.restore(std::move(read->prompts), std::move(read->categories), std::move(read->run_state));
  pool_.restore(std::move(read->histories), read->epoch, read->passed);
  if (policy_) supply(policy_->program(), settings_.inputs, store_);  // the host's word of today
  ledger_.restore(read->accounts, read->conservation, read->ledger_begun);
  trust_.restore(read->holdout_observed, read->holdout_flat, read->paused);
  run_ = read->run;
  snapshot_ = std::make_shared<const std::string>(state);
  swaps_.saved = read->versions.number;
  publish();
  return {};
}

}  // namespace allot::engine
