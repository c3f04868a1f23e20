#include "runtime/remote/client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "runtime/engine/event_log.h"
#include "runtime/remote/waits.h"

namespace allot::remote {

using engine::Ending;
using engine::EventLog;
using engine::JsonText;
using engine::Orders;
using engine::RolloutRef;

namespace {

using Seconds = Line::Seconds;

void put_nothing(JsonText&) {}

Error restarted() {
  return {"Another engine answers than before: the run was restarted.",
          "restore() the state of your last checkpoint and begin its next iteration"};
}

Error closed() {
  return {"This client is closed: what it drove has ended.", "connect() again"};
}

Error under_way() {
  return {"A call of this client waits in the same thread, below the handler of a signal.",
          "note the signal in the handler and ask when the call is over; close() ends it"};
}

// Thrown to end the call that waits.
struct Closed {};

Line::Settings line_settings(const ClientSettings& settings, std::function<void()> between) {
  Line::Settings line;
  line.greeting = Seconds(settings.timeout);
  line.between = std::move(between);
  return line;
}

}  // namespace

Client::Client(const std::filesystem::path& where, const ClientSettings& settings)
    : settings_(settings),
      line_(socket_of(where), line_settings(settings,
                                            [this] {
                                              settings_.between();
                                              if (leaves_) throw Closed();
                                            })),
      process_(::getpid()) {
  line_.listen([this](Answer& answer) { use(answer); }, [this] { note_restart(); });
}

Result<std::unique_ptr<Client>> Client::connect(const std::filesystem::path& where, const ClientSettings& settings) {
  ClientSettings checked = settings;
  for (const auto& [name, seconds] :
       {std::pair("timeout", &checked.timeout), std::pair("patience", &checked.patience)}) {
    const auto wait = wait_of(name, *seconds, Zero::Refused);
    if (!wait) return wait.error();
    *seconds = *wait;
  }
  std::unique_ptr<Client> client(new Client(where, checked));
  client->line_.look();
  if (client->line_.refused()) return *client->line_.refused();
  return client;
}

Client::~Client() {
  settings_.between = [] {};  // a destructor throws nothing
  close();
}

// Below another call the line is half used: that one leaves.
void Client::close() {
  const CallLock::Hold hold(lock_, settings_.between);
  const bool first = !std::exchange(closed_, true);
  if (!hold.nested()) return leave();
  if (first) leaves_ = true;
}

void Client::leave() const {
  if (process_ == ::getpid()) line_.close(Seconds(settings_.timeout));
}

template <typename Call>
std::invoke_result_t<Call> Client::alone(const Call& call) const {
  const CallLock::Hold hold(lock_, settings_.between);
  if (hold.nested()) return under_way();
  if (closed_) return closed();
  after_fork();
  const Leaving leaving{*this};
  try {
    return call();
  } catch (const Closed&) {
    return closed();
  }
}

// However the call ended.
Client::Leaving::~Leaving() {
  if (!client.leaves_) return;
  client.line_.wait_undisturbed();
  client.leave();
}

// The connection is the parent's: two processes cannot speak over one.
void Client::after_fork() const {
  if (process_ == ::getpid()) return;
  process_ = ::getpid();
  line_.begin_anew();
  mail_ = {};
  for (std::set<Key>* const rollouts : {&driven_, &void_, &to_end_}) rollouts->clear();
  leads_ = restart_untold_ = false;
  counts_ = {};
}

void Client::use(Answer& answer) {
  for (const RolloutRef& rollout : answer.orders.stop) driven_.erase({rollout.group, rollout.sample});
  for (const engine::Start& start : answer.orders.start) {
    for (int i = 0; i < start.count; ++i) void_.erase({start.group, start.first + i});
  }
  mail_.append(std::exchange(answer.orders, {}));
}

// The other engine may give the numbers of these rollouts to others.
void Client::note_restart() {
  ++counts_.restarts;
  restart_untold_ = std::exchange(leads_, false);
  mail_ = {};
  for (const Key& rollout : driven_) mail_.stop.push_back({rollout.first, rollout.second});
  void_.merge(driven_);
  driven_.clear();
  to_end_.clear();
}

void Client::take_default() {
  ++counts_.defaults;
  if (std::exchange(warned_, true)) return;
  const std::string text = fmt::format(
      "the engine cannot be reached ({}): rollouts go on, and nothing is stopped until it answers", line_.problem());
  settings_.warn ? settings_.warn(text) : fmt::print(stderr, "allot: {}\n", text);
}

std::optional<Answer> Client::decide(Ask ask, const Put& put) {
  ++counts_.calls;
  auto answer = line_.ask(ask, put, Seconds(settings_.timeout), true);
  if (!answer) {
    take_default();
  } else if (!to_end_.empty()) {
    give_up_lost();
  }
  return answer;
}

// A rollout of which the engine does not know all cannot be decided about.
void Client::give_up_lost() {
  EventLog log;
  const Ending ending{engine::Status::Aborted, std::nullopt, std::nullopt,
                      "its reports were lost: the engine could not be reached", ""};
  for (const Key& rollout : std::exchange(to_end_, {}))
    log.ended({rollout.first, rollout.second}, ending, std::nullopt);
  (void)line_.ask(Ask::Events, [&](JsonText& text) { log.put(text); }, Seconds(settings_.timeout), true);
}

Orders Client::only_stop(RolloutRef rollout) {
  ++counts_.lost;
  driven_.erase({rollout.group, rollout.sample});
  Orders orders = take_mail();
  if (std::find(orders.stop.begin(), orders.stop.end(), rollout) == orders.stop.end()) orders.stop.push_back(rollout);
  return orders;
}

Result<Orders> Client::report(RolloutRef rollout, const EventLog& log, bool over) {
  return alone([&]() -> Result<Orders> {
    const Key key{rollout.group, rollout.sample};
    if (void_.contains(key)) return only_stop(rollout);
    if (line_.waiting_bytes() > settings_.most_waiting) line_.look();
    if (line_.waiting_bytes() > settings_.most_waiting) {
      void_.insert(key);
      to_end_.insert(key);
      return only_stop(rollout);
    }
    driven_.insert(key);
    auto answer = decide(Ask::Events, [&](JsonText& text) { log.put(text); });
    if (over) driven_.erase(key);
    if (answer && answer->error) return *answer->error;
    return take_mail();
  });
}

Result<Orders> Client::turn(RolloutRef rollout, const engine::Turn& turn) {
  // Here, since the server would end the connection over it, and all that is driven by this client with it.
  if (auto possible = engine::check_turn(rollout, turn); !possible) return possible.error();
  EventLog log;
  log.turn(rollout, turn, true, std::nullopt);
  return report(rollout, log, false);
}

Result<Orders> Client::ended(RolloutRef rollout, const Ending& ending) {
  EventLog log;
  log.ended(rollout, ending, std::nullopt);
  return report(rollout, log, true);
}

Result<Orders> Client::drive(const std::vector<RolloutRef>& rollouts) {
  return alone([&]() -> Result<Orders> {
    for (const RolloutRef& rollout : rollouts) {
      driven_.insert({rollout.group, rollout.sample});
      void_.erase({rollout.group, rollout.sample});
    }
    auto answer = decide(Ask::Drive, [&](JsonText& text) { put_rollouts(text.key("rollouts"), rollouts); });
    if (answer && answer->error) return *answer->error;
    return take_mail();
  });
}

namespace {

bool is_empty(const Orders& orders) {
  return orders.start.empty() && orders.stop.empty() && orders.hold.empty() && orders.release.empty() &&
         orders.closed.empty() && orders.deferred.empty() && !orders.batch_closed;
}

}  // namespace

// Waits without the lock, so that other threads can report meanwhile.
Result<Orders> Client::orders(double wait) {
  const auto possible = wait_of("wait", wait, Zero::Allowed);
  if (!possible) return possible.error();
  const auto until = Line::Clock::now() + std::chrono::duration_cast<Line::Clock::duration>(Seconds(*possible));
  while (true) {
    pollfd waits{-1, POLLIN, 0};
    auto come = alone([&]() -> Result<std::optional<Orders>> {
      line_.look();
      if (line_.refused()) return *line_.refused();
      if (std::exchange(restart_untold_, false)) return restarted();
      if (!is_empty(mail_) || Line::Clock::now() >= until) return std::optional(take_mail());
      waits.fd = line_.descriptor();
      return std::optional<Orders>();
    });
    if (!come) return come.error();
    if (*come) return **std::move(come);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Line::Clock::now());
    const auto part = std::clamp(left, std::chrono::milliseconds(0), slice);
    if (::poll(&waits, 1, static_cast<int>(part.count())) <= 0) settings_.between();
  }
}

// ---- what needs an engine

Result<Answer> Client::demand(Ask ask, const Put& put) const {
  return alone([&] { return obtain(ask, put); });
}

Result<Answer> Client::obtain(Ask ask, const Put& put) const {
  if (std::exchange(restart_untold_, false)) return restarted();
  const std::int64_t restarts = counts_.restarts;
  ++counts_.calls;
  auto answer = line_.ask(ask, put, Seconds(settings_.patience), false);
  if (counts_.restarts != restarts) {
    restart_untold_ = false;
    return restarted();
  }
  if (!answer) {
    if (line_.refused()) return *line_.refused();
    return Error{fmt::format("The engine cannot be reached: {}.", line_.problem()),
                 "start it with `allot serve` or Engine.serve(), and look at its messages"};
  }
  if (answer->error) return *answer->error;
  return *std::move(answer);
}

Result<Orders> Client::begin_iteration(int iteration, const std::vector<std::string>& prompts) {
  return alone([&]() -> Result<Orders> {
    auto answer = obtain(Ask::Begin, [&](JsonText& text) { text.member("it", iteration).member("prompts", prompts); });
    if (!answer) return answer.error();
    leads_ = true;
    return take_mail();
  });
}

Result<engine::IterationReport> Client::end_iteration() {
  auto answer = demand(Ask::End, put_nothing);
  if (!answer) return answer.error();
  return answer->report.value_or(engine::IterationReport{});
}

Result<void> Client::set_pool(std::vector<engine::PoolPrompt> prompts) {
  auto answer = demand(Ask::Pool, [&](JsonText& text) { engine::put_pool(text, prompts); });
  if (!answer) return answer.error();
  return {};
}

Result<void> Client::restore(const std::string& state) {
  auto answer = demand(Ask::Restore, [&](JsonText& text) { text.member("state", state); });
  if (!answer) return answer.error();
  return {};
}

Result<engine::Shaped> Client::shape(const engine::MicroBatch& batch, const EventLog& log) {
  if (!batch.embeddings.empty()) {
    return Error{"Embeddings do not travel over the socket.", "shape in the process that holds the engine"};
  }
  // The loss hangs on it: a step on advantages that nobody shaped could not be told from one that was meant.
  auto answer = demand(Ask::Events, [&](JsonText& text) { log.put(text); });
  if (!answer) return answer.error();
  if (!answer->shaped) {
    return Error{"The engine's answer has no advantages.", "install the same version of Allot in every process"};
  }
  return *std::move(answer->shaped);
}

Result<engine::Shaped> Client::shape_group(const engine::MicroBatch& group) {
  EventLog log;
  log.shape_group(group);
  return shape(group, log);
}

Result<engine::Shaped> Client::shape(const engine::MicroBatch& batch) {
  EventLog log;
  log.shape(batch);
  return shape(batch, log);
}

// ---- what only looks

namespace {

Answer answered(Result<Answer> answer) {
  if (!answer) throw Unanswered(answer.error().text());
  return *std::move(answer);
}

}  // namespace

std::vector<std::string> Client::unused_prompts() const {
  return answered(demand(Ask::Unused, put_nothing)).prompts;
}

engine::IterationReport Client::preview() const {
  return answered(demand(Ask::Preview, put_nothing)).report.value_or(engine::IterationReport{});
}

std::string Client::save_state() const {
  return answered(demand(Ask::Save, put_nothing)).state;
}

About Client::about() const {
  return answered(demand(Ask::About, put_nothing)).about.value_or(About{});
}

bool Client::wants_gram() const {
  return about().gram;
}
bool Client::wants_embeddings() const {
  return about().embeddings;
}
bool Client::shapes_groups() const {
  return about().shapes_groups;
}
bool Client::shapes_micro_batches() const {
  return about().shapes_micro_batches;
}
int Client::replay_age() const {
  return about().replay_age;
}
int Client::active_version() const {
  return about().active_version;
}
int Client::saved_change() const {
  return about().saved_change;
}
double Client::seconds_spent() const {
  return about().seconds_spent;
}
std::string Client::policy_name() const {
  return about().policy_name;
}
std::string Client::policy_hash() const {
  return about().policy_hash;
}

engine::SwapReport Client::swap(const engine::SwapRequest&) {
  return swap_outcome(0);
}

engine::SwapReport Client::swap_outcome(int ticket) const {
  engine::SwapReport report;
  report.ticket = ticket;
  report.reason = "a client cannot swap: `allot swap RUN FILE` where `allot serve` holds the engine, engine.swap(FILE) in a process of Python that does";
  return report;
}

// ---- how it is

bool Client::reached() const {
  const CallLock::Hold hold(lock_, settings_.between);
  return line_.reached();
}

ClientCounts Client::counts() const {
  const CallLock::Hold hold(lock_, settings_.between);
  return counts_;
}

std::string Client::problem() const {
  const CallLock::Hold hold(lock_, settings_.between);
  return line_.problem();
}

}  // namespace allot::remote
