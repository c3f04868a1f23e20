#include "runtime/remote/client.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "runtime/remote/waits.h"

namespace allot::remote {

using engine::RolloutRef;
using Seconds = Line::Seconds;

namespace {

Error under_way() {
  return {"A call of this client waits in the same thread, below the handler of a signal.",
          "note the signal in the handler and ask when the call is over; close() ends it"};
}

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

Error Client::closed() {
  return {"This client is closed: what it drove has ended.", "connect() again"};
}

Error Client::restarted() {
  return {"Another engine answers than before: the run was restarted.",
          "restore() the state of your last checkpoint and begin its next iteration"};
}

std::optional<Error> Client::refusal(const CallLock::Hold& hold) const {
  if (hold.nested()) return under_way();
  if (closed_) return closed();
  after_fork();
  return std::nullopt;
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
    for (int i = 0; i < start.count; ++i) {
      void_.erase({start.group, start.first + i});
      // What is to stop had this number at an engine that is gone.
      std::erase(mail_.stop, RolloutRef{start.group, start.first + i});
    }
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
