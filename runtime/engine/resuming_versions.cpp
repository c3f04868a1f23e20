// The versions of a run over the end of a process: their texts lie in the run folder.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/policy_record.h"
#include "runtime/engine/swap_record.h"
#include "runtime/engine/versions_folder.h"

namespace allot::engine {

SavedVersions LiveEngine::saved_versions() const {
  SavedVersions saved;
  if (!swaps_.current) return saved;
  saved.number = swaps_.current->number;
  saved.next_number = swaps_.next_number;
  saved.since_barrier = swaps_.since_barrier;
  saved.parameters = swaps_.current->policy->given();
  if (swaps_.canary) saved.canary = {swaps_.canary->number, swaps_.canary->hash(), swaps_.canary->policy->given(), swaps_.share};
  saved.carried_out = swaps_.carried_out;
  for (const Replaced& replaced : swaps_.before) {
    if (!replaced.origin) continue;
    saved.before.push_back({replaced.number, replaced.hash, replaced.origin->parameters, replaced.at});
  }
  return saved;
}

void LiveEngine::keep_origin(const Version& version) {
  const auto& origin = version.policy->origin();
  std::vector<Swaps::Known>& known = swaps_.known;
  const auto same = [&](const Swaps::Known& each) { return each.hash == version.hash(); };
  if (!settings_.run_folder.empty() || !origin || std::any_of(known.begin(), known.end(), same)) return;
  known.push_back({version.hash(), origin});
  if (known.size() > Swaps::most_replaced) known.erase(known.begin() + 1);
}

Result<PolicyText> LiveEngine::text_of(const std::string& hash) const {
  if (!settings_.run_folder.empty()) return kept_text(settings_.run_folder, hash);
  for (const Swaps::Known& each : swaps_.known) {
    if (each.hash == hash) return each.origin->text;
  }
  return Error{fmt::format("The text of the policy {} is not known: an engine without a run folder knows only those it had itself.",
                           hash.substr(0, 12)),
               "restore it in an engine that is made from that policy, or give the run a folder"};
}

Result<std::shared_ptr<Version>> LiveEngine::kept_version(int number, const std::string& hash,
                                                          const std::map<std::string, std::string>& parameters) const {
  if (elsewhere_) {
    auto policy = elsewhere_->policy(number, hash);
    if (!policy) return policy.error();
    return std::make_shared<Version>(number, *std::move(policy));
  }
  for (const auto& version : {swaps_.current, swaps_.canary}) {
    const bool same = version && version->hash() == hash && version->policy->given() == parameters;
    if (same) return std::make_shared<Version>(number, version->policy);
  }
  auto text = text_of(hash);
  if (!text) return text.error();
  auto policy = load_policy(*text, parameters);
  if (!policy) return policy.error();
  if ((*policy)->program().hash != hash) {
    return Error{fmt::format("The kept text of the policy {} is another one.", hash.substr(0, 12)), "put the file back"};
  }
  if (auto fits = fits_run(**policy, {}); !fits) return fits.error();
  if (settings_.native) compile_natively(**policy);
  return std::make_shared<Version>(number, *std::move(policy));
}

// What waits for a barrier was accepted, and the iteration whose end it waits for is only run again.
void LiveEngine::go_on_waiting(int next_iteration) {
  if (!swaps_.waiting) return;
  swaps_.waiting->prepared.ahead = nullptr;  // of memory that is gone
  SwapReport& report = swaps_.waiting->report;
  report.iteration = next_iteration;
  report.reason = fmt::format("it takes over at the end of iteration {}: the run went back to its beginning", next_iteration);
  record(report);
}

// The version that was active, whatever the run began with. `text`: all of the state, where no barrier wrote it.
namespace {

// A swap between two iterations is told with the one that follows, so of a process that was killed before its end nobody
// has heard of it; the state stands on it all the same.
SwapReport standing_swap(const Swaps& swaps, int iteration) {
  SwapReport report;
  report.outcome = SwapOutcome::Active;
  report.iteration = iteration;
  report.by = "swap";
  if (!swaps.before.empty()) report.from = swaps.before.back().hash;
  report.to = swaps.current->hash();
  report.version = report.change = swaps.current->number;
  report.parameters = swaps.current->policy->given();
  return report;
}

}  // namespace

Result<void> LiveEngine::restore_versions(const SnapshotHead& read, std::string_view text) {
  const std::string& hash = read.policy_hash;
  const SavedVersions& saved = read.versions;
  const int next_iteration = read.iteration + 1;
  const std::string own = swaps_.current ? swaps_.current->hash() : "";
  const bool swapped = saved.number != 0 || (swaps_.current && swaps_.current->number != 0);
  if (!swapped && hash != own) {
    const auto named = [](const std::string& text) { return text.empty() ? "no policy" : text.substr(0, 12); };
    return Error{fmt::format("The saved state belongs to another policy: it was written under {}, this run has {}.",
                             named(hash), named(own)),
                 "resume with the same policy file, or start a new run"};
  }
  std::shared_ptr<Version> current = swaps_.current, canary;
  if (swapped) {
    auto kept = kept_version(saved.number, hash, saved.parameters);
    if (!kept) return Error{"The run was swapped to another policy, which cannot be restored: " + kept.error().what, kept.error().help};
    current = *std::move(kept);
  }
  if (saved.canary) {
    auto kept = kept_version(saved.canary->number, saved.canary->hash, saved.canary->parameters);
    if (!kept) return Error{"The canary of the run cannot be restored: " + kept.error().what, kept.error().help};
    canary = *std::move(kept);
  }
  auto resumed = audit_.resumed(next_iteration, read.journal, saved.since_barrier ? text : std::string_view());
  if (!resumed) return resumed;
  swaps_.since_barrier = saved.since_barrier;
  swaps_.before.clear();
  for (const SavedVersions::Before& before : saved.before) {
    auto kept = elsewhere_ ? Result<PolicyText>(PolicyText{}) : text_of(before.hash);
    if (!kept) continue;
    auto origin = std::make_shared<const Origin>(Origin{*std::move(kept), before.parameters});
    swaps_.before.push_back({before.number, before.at, before.hash, std::move(origin), nullptr});
  }
  swaps_.next_number = std::max(swaps_.next_number, saved.next_number);
  swaps_.carried_out = saved.carried_out;
  swaps_.current = std::move(current);
  swaps_.canary = std::move(canary);
  if (swaps_.canary) {
    swaps_.share = saved.canary->share;
    swaps_.by_iteration = ranks(swaps_.canary->program()) || ranks(swaps_.current->program());
    audit_.version(next_iteration, swaps_.canary->number, policy_record_text(*swaps_.canary->policy));
  }
  if (!swaps_.current) return {};
  if (swapped) audit_.version(next_iteration, swaps_.current->number, policy_record_text(*swaps_.current->policy));
  if (saved.since_barrier) audit_.append(swap_told_again(standing_swap(swaps_, next_iteration)));
  enter(swaps_.current);
  ledger_ = Ledger(policy_->program(), policy_->parameters(), settings_.tokens_per_turn, !settings_.shadow);
  store_ = StateStore(policy_->program());
  go_on_waiting(next_iteration);
  return {};
}

}  // namespace allot::engine
