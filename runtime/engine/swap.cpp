// A swap, from the request to the exchange: whether it may be made, and making it. What takes time is done before
// (swap_prepare.cpp), without the engine's lock; what becomes of groups follows in swap_groups.cpp.
#include "runtime/engine/swap.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/swap_record.h"
#include "runtime/engine/swap_state.h"
#include "runtime/engine/vanishing.h"

namespace allot::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t shortest_hash = 8;
constexpr std::chrono::microseconds patience{200};  // an event takes one or a few

std::string short_hash(const std::string& hash) { return hash.substr(0, 12); }

// The same text with the same values of its parameters, however they were written.
bool same_policy(const Version& a, const Version& b) {
  return a.hash() == b.hash() && a.policy->parameters() == b.policy->parameters();
}

// Whether it asks for observations of groups that another version opened, without a request that moves them.
bool looks_back(const Version& next) {
  return next.plan.replayed_observations || (next.plan.observations && next.demands.defers);
}

void add_reason(SwapReport& report, const std::string& words) {
  report.reason += (report.reason.empty() ? "" : "; ") + words;
}

// A compare-and-exchange needs what it compares with.
std::optional<Error> check_expected(const std::string& expected, const Version& active) {
  const bool number = is_version_number(expected);
  if (!number && !expected.empty() && expected.size() < std::min(shortest_hash, active.hash().size())) {
    return Error{fmt::format("\"{}\" is too short to tell one policy from another.", expected),
                 fmt::format("give at least {} digits of the hash, or a version, such as v{}", shortest_hash, active.number)};
  }
  const std::string active_number = fmt::format("v{}", active.number);
  if (number ? expected == active_number : active.hash().starts_with(expected)) return std::nullopt;
  return Error{fmt::format("The active policy is version {} ({}), not {}: somebody swapped it meanwhile.", active.number,
                           policy_words(active.hash(), active.policy->given()), number ? expected : short_hash(expected)),
               fmt::format("where that one is to be replaced, ask again and expect {}", active_number)};
}

}  // namespace

std::string policy_words(const std::string& hash, const std::map<std::string, std::string>& parameters) {
  std::string words = short_hash(hash);
  for (const auto& [name, value] : parameters) {
    words += fmt::format("{} {} = {}", name == parameters.begin()->first ? " with" : ",", name, value);
  }
  return words;
}

bool is_version_number(std::string_view text) {
  return text.size() > 1 && text.front() == 'v' && text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

std::string_view name(SwapOutcome outcome) {
  switch (outcome) {
    case SwapOutcome::Active: return "active";
    case SwapOutcome::Waiting: return "waiting";
    case SwapOutcome::Canary: return "canary";
    case SwapOutcome::Unchanged: return "unchanged";
    case SwapOutcome::Refused: return "refused";
    case SwapOutcome::Superseded: break;
  }
  return "superseded";
}

SwapReport LiveEngine::swap(const SwapRequest& request) {
  if (const auto parents = run_lock_.of_parent()) {
    SwapReport refused;
    refused.reason = parents->text();
    return refused;
  }
  const auto asked = Clock::now();
  const int ticket = mailbox_.enter(request.ticket);
  PostedSwap posted{request, prepare(request, *mailbox_.active()), {}, asked};
  posted.report.ticket = ticket;
  posted.report.by = request.back ? "rollback" : request.by;
  posted.report.now = request.now;
  posted.report.canary = request.canary;
  posted.report.back = request.back;
  if (posted.prepared) mailbox_.wait_for_later(ticket);
  mailbox_.post(posted);
  do {
    // Where nothing is decided nobody else takes it.
    if (serve_beside()) continue;
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) const Event event(*this, std::move(lock));
  } while (!mailbox_.finished(posted, patience));
  mailbox_.leave(ticket);
  if (posted.prepared && posted.prepared->left) (void)write_down(*posted.prepared->left);  // tried again at the barrier
  return std::move(posted.report);
}

int LiveEngine::announce_swap() { return mailbox_.announce(); }
int LiveEngine::active_version() const { return mailbox_.active()->number; }
ActiveVersion LiveEngine::active() const {
  const auto active = mailbox_.active();
  if (!active->policy) return {active->number, ""};
  return {active->number, active->policy->program().hash, active->policy->given()};
}
int LiveEngine::saved_change() const { return mailbox_.active()->saved; }
SwapReport LiveEngine::swap_outcome(int ticket) const { return mailbox_.outcome(ticket); }

// Between two events, by whoever has the engine alone, or (of those that concern openings) all that opens and closes groups.
void LiveEngine::take_posted(Posted which) {
  const auto goes = [&](const PostedSwap& posted) { return which == Posted::All || concerns_openings(posted); };
  for (PostedSwap* const posted : mailbox_.take(goes)) {
    carry_out(*posted);
    mailbox_.finish(*posted);
  }
}

// Whether nothing changes by it, or only what is opened from now on: turns need not wait for it.
bool LiveEngine::concerns_openings(const PostedSwap& posted) const {
  if (!posted.prepared) return true;
  const PreparedSwap& prepared = *posted.prepared;
  return in_iteration_ && deferred_ == 0 && !posted.request.now && posted.request.canary == 0 && !swaps_.canary && !swaps_.waiting &&
         prepared.version && !prepared.then && !looks_back(*prepared.version) && same_frame(*swaps_.current, *prepared.version);
}

// Beside turns; false where something is posted that needs the engine alone. Who opens or closes a group just now serves
// what it finds posted, so nobody waits for that here.
bool LiveEngine::serve_beside() {
  std::vector<std::shared_ptr<Version>> gone;  // without the locks
  {
    const std::shared_lock shared(mutex_);
    const std::unique_lock openings(openings_, std::try_to_lock);
    if (!openings) return true;
    take_posted(Posted::OfOpenings);
    gone = take_gone();
  }
  mailbox_.wake();
  return !mailbox_.waits();
}

void LiveEngine::carry_out(PostedSwap& posted) {
  SwapReport& report = posted.report;
  report.iteration = in_iteration_ ? iteration_ : iteration_ + 1;
  if (swaps_.current) report.from = swaps_.current->hash();
  if (posted.prepared) {
    if (const auto& next = posted.prepared->version) {
      report.to = next->hash();
      report.parameters = posted.request.back ? next->policy->given() : posted.request.parameters;
    }
    report = exchange(posted.request, *posted.prepared, std::move(report));
  } else {
    report.reason = posted.prepared.error().text();
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - posted.asked).count();
  record(report);
  publish();
}

void LiveEngine::publish() {
  ActivePolicy active;
  if (swaps_.current) {
    active.policy = swaps_.current->policy;
    active.number = swaps_.current->number;
  }
  active.saved = swaps_.saved;
  active.has_canary = swaps_.canary != nullptr;
  if (!swaps_.before.empty()) active.before = swaps_.before.back();
  active.prompts = offered_;
  mailbox_.publish(std::move(active));
}

// Every reason to refuse that depends on what is active at this moment.
std::optional<Error> LiveEngine::may_exchange(const SwapRequest& request, const Version& next) const {
  if (auto other = check_expected(request.expected, *swaps_.current)) return other;
  if (!request.confirmed) {
    if (const std::string why = looks_like_half(*swaps_.current->policy, *next.policy); !why.empty()) {
      return Error{why, fmt::format("where it is whole and that is meant: allot swap {} {}", settings_.run_folder.string(), request.text.file)};
    }
  }
  const StatePlan plan(swaps_.current->program(), next.program());
  // A state of then has the form of then.
  if (!plan.missing().empty() && request.back != StateOf::Then) {
    std::string what = "State would be lost:";
    for (const std::string& each : plan.missing()) what += "\n  " + each;
    return Error{what, "add what is missing, or start a new run"};
  }
  const std::string difference = frame_difference(*swaps_.current, next);
  if (request.canary > 0 && !difference.empty()) {
    return Error{"A canary shares memory and budget with the active policy, but " + difference + ".",
                 "swap without a canary; `allot plan` shows beforehand what would change"};
  }
  if (request.now && !difference.empty()) {
    return Error{"Running groups cannot change over: " + difference + ".", "swap without --now: they end under their own version"};
  }
  return lacks_observations(request, next);
}

// Of groups that were opened before it and that it is to decide about: those that wait, those that change over now, and
// those that may come to wait, or be kept for `replay`, after a swap at once. What was observed nobody can make anew.
std::optional<Error> LiveEngine::lacks_observations(const SwapRequest& request, const Version& next) const {
  const auto refuse = [](int number, std::string_view does) {
    return Error{fmt::format("The new policy asks for `loop`, but group {} {} and its observations were not kept.", number, does),
                 "swap when no such group is left, or without `loop`; under a policy that asks for `loop` of new groups "
                 "alone they are kept"};
  };
  for (const auto& [number, group] : stored_) {
    if (next.plan.replayed_observations && !group->log.observed()) return refuse(number, "is kept for `replay`");
  }
  const bool at_once = in_iteration_ && request.back != StateOf::Then && same_frame(*swaps_.current, next);
  const bool of_running = at_once && looks_back(next);
  if (!next.plan.observations || !(request.now || deferred_ > 0 || of_running)) return std::nullopt;
  for (const auto& [number, group] : groups_) {
    if (group->deferred && !group->log.observed()) return refuse(number, "waits");
    if (group->deferred || !in_iteration_) continue;
    if (group->closed) {
      const bool kept = of_running && next.plan.replayed_observations && group->fate == Fate::Trained;
      if (kept && !group->log.observed()) return refuse(number, "is to be kept for `replay`");
    } else if (request.now ? !group->log.observed() : of_running && !(observes(*group) && group->log.observed())) {
      return refuse(number, "runs");  // under its own version, which goes on without them
    }
  }
  return std::nullopt;
}

SwapReport LiveEngine::exchange(const SwapRequest& request, PreparedSwap& prepared, SwapReport report) {
  const auto refuse = [&](const Error& error) {
    report.outcome = SwapOutcome::Refused;
    report.reason = error.text();
    return report;
  };
  if (swaps_.accepted > report.ticket) {
    report.outcome = SwapOutcome::Superseded;
    report.reason = fmt::format("request {} came after it", swaps_.accepted);
    return report;
  }
  if (!prepared.version) {  // the canary is taken back
    if (!swaps_.canary) return refuse({"The canary was taken back meanwhile.", ""});
    withdraw_canary(report);
    accept(report);
    report.outcome = SwapOutcome::Active;
    report.change = swaps_.next_number++;
    remember(request.id);
    return report;
  }
  const Version& next = *prepared.version;
  if (auto error = may_exchange(request, next)) return refuse(*error);
  if (auto error = changed_meanwhile(request, prepared)) return refuse(*error);
  if (same_policy(next, *swaps_.current) && !request.back && !swaps_.canary) {
    accept(report);
    report.version = swaps_.current->number;
    report.outcome = SwapOutcome::Unchanged;
    return report;
  }
  if (in_iteration_ && (prepared.then || !same_frame(*swaps_.current, next))) {
    wait_for_barrier(request, prepared, report);
    return report;
  }
  if (request.canary > 0) {
    begin_canary(request, prepared, report);
    return report;
  }
  if (auto error = take_over(request, prepared, report)) return refuse(*error);
  if (trust_.paused()) {
    add_reason(report, fmt::format("the policy before was paused, so this one too decides in shadow up to the end of iteration {}", iteration_));
  }
  accept(report);
  report.outcome = SwapOutcome::Active;
  return report;
}

// A rollback undoes what was there when it was asked for, and nothing else.
std::optional<Error> LiveEngine::changed_meanwhile(const SwapRequest& request, const PreparedSwap& prepared) const {
  if (prepared.back_to >= 0 && (swaps_.before.empty() || swaps_.before.back().number != prepared.back_to)) {
    return Error{"The policy was swapped meanwhile.", "look at what is active (`allot log RUN`), and ask again"};
  }
  if (request.back && swaps_.canary) {
    return Error{"A canary came meanwhile.", "a rollback takes back what came last: ask again where that is wanted"};
  }
  return std::nullopt;
}

void LiveEngine::wait_for_barrier(const SwapRequest& request, PreparedSwap& prepared, SwapReport& report) {
  report.outcome = SwapOutcome::Waiting;
  const std::string why =
      prepared.then ? "the state changes with it" : frame_difference(*swaps_.current, *prepared.version);
  report.reason = fmt::format("it takes over at the end of iteration {}: {}", iteration_, why);
  accept(report);
  swaps_.waiting = {request, std::move(prepared), report};
}

void LiveEngine::begin_canary(const SwapRequest& request, PreparedSwap& prepared, SwapReport& report) {
  const Version& next = *prepared.version;
  prepared.version->become(swaps_.next_number++);
  report.version = report.change = next.number;
  remember(request.id);
  audit_.version(report.iteration, next.number, prepared.record);
  keep_origin(next);
  swaps_.by_iteration = ranks(next.program()) || ranks(swaps_.current->program());
  swaps_.share = request.canary;
  report.outcome = SwapOutcome::Canary;
  report.reason = fmt::format("it decides about {:.4g} % of the {}", 100 * request.canary,
                              swaps_.by_iteration ? "iterations, since groups are ranked" : "groups");
  if (trust_.paused()) add_reason(report, "the active policy is paused, so both decide in shadow");
  tell_of_canary(&next, report);
  accept(report);
  leave_canary(std::move(prepared.version), report);
}

void LiveEngine::withdraw_canary(SwapReport& report) {
  report.to = report.from;
  report.version = swaps_.current->number;
  tell_of_canary(nullptr, report);
  leave_canary(nullptr, report);
}

// What becomes of it as `next`, or nobody, takes its place or that of the active version.
void LiveEngine::tell_of_canary(const Version* next, SwapReport& report) const {
  if (!swaps_.canary) return;
  const bool same = next != nullptr && same_policy(*swaps_.canary, *next);
  if (same && report.canary > 0) return;  // another share of it
  add_reason(report, fmt::format("the canary {} {}", policy_words(swaps_.canary->hash(), swaps_.canary->policy->given()),
                                 same ? "becomes the active version" : "was taken back"));
}

void LiveEngine::remember(const std::string& request) {
  if (request.empty()) return;
  if (swaps_.carried_out.size() >= Swaps::most_remembered) swaps_.carried_out.erase(swaps_.carried_out.begin());
  swaps_.carried_out.push_back(request);
}

bool LiveEngine::carried_out(const std::string& request) const {
  const std::lock_guard lock(mutex_);
  return std::find(swaps_.carried_out.begin(), swaps_.carried_out.end(), request) != swaps_.carried_out.end();
}

// The request is carried out, or waits: another that waited goes.
void LiveEngine::accept(SwapReport& report) {
  swaps_.accepted = report.ticket;
  if (!swaps_.waiting) return;
  SwapReport earlier = std::move(swaps_.waiting->report);
  swaps_.waiting.reset();
  add_reason(report, fmt::format("{}, which waited for the end of the iteration, is superseded",
                                 policy_words(earlier.to, earlier.parameters)));
  earlier.outcome = SwapOutcome::Superseded;
  earlier.reason = fmt::format("request {} came after it", report.ticket);
  record(earlier);
}

// At the end of an iteration, where no group runs and memory may change its form.
void LiveEngine::take_waiting_swap() {
  if (!swaps_.waiting) return;
  Swaps::Waiting waiting = std::move(*swaps_.waiting);
  swaps_.waiting.reset();
  SwapReport report = std::move(waiting.report);
  report.iteration = iteration_ + 1;
  report.reason.clear();
  report.from = swaps_.current->hash();
  waiting.request.expected.clear();  // it was as expected when it was accepted
  auto error = may_exchange(waiting.request, *waiting.prepared.version);
  if (!error) error = changed_meanwhile(waiting.request, waiting.prepared);  // by a restore
  if (!error && same_policy(*waiting.prepared.version, *swaps_.current) && !waiting.request.back && !swaps_.canary) {
    report.version = swaps_.current->number;  // a restore brought it back
    report.outcome = SwapOutcome::Unchanged;
    return record(report);
  }
  if (!error) error = take_over(waiting.request, waiting.prepared, report);
  report.outcome = error ? SwapOutcome::Refused : SwapOutcome::Active;
  if (error) report.reason = error->text();
  record(report);
}

// Told to whoever asks for the ticket, and written to the journal.
void LiveEngine::record(const SwapReport& report) {
  mailbox_.tell(report);
  if (!audit_.on()) return;
  if (report.outcome == SwapOutcome::Active || report.outcome == SwapOutcome::Canary) audit_.swapped();
  audit_.append(swap_record(report));
}

}  // namespace allot::engine
