#include "runtime/remote/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "runtime/remote/peers.h"
#include "runtime/remote/switchboard.h"
#include "runtime/remote/waits.h"

namespace allot::remote {

namespace fs = std::filesystem;

class Server::Loop {
 public:
  Loop(engine::Engine& engine, Listener listener, const ServerSettings& settings)
      : path_(listener.path),
        settings_(settings),
        listener_(std::move(listener)),
        wake_(fresh_event()),
        board_(engine),
        thread_([this](const std::stop_token& stop) { work(stop); }) {}

  ~Loop() { close(); }

  void close() {
    if (!thread_.joinable()) return;
    // The child of a fork has no such thread, and the socket in the folder is its parent's.
    if (process_ != ::getpid()) return thread_.detach();
    thread_.request_stop();
    const std::uint64_t one = 1;
    (void)!::write(wake_.number(), &one, sizeof one);
    thread_.join();
    board_.finish();
    std::error_code ignored;
    fs::remove(path_, ignored);
    connections_.clear();
    listener_ = {};
  }

  const fs::path& path() const { return path_; }
  ServerCounts counts() const {
    const std::lock_guard lock(mutex_);
    return shown_;
  }

 private:
  static Fd fresh_event() { return Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }

  static constexpr int texts_a_round = 64;        // of one connection, before the others come to their turn
  static constexpr std::size_t most_away = 4096;  // clients that are remembered after they were given up

  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      wait();
      for (Connection& connection : connections_) serve(connection);
      give_up_the_missing();
      sweep();
      const std::lock_guard lock(mutex_);
      counts_.connected = std::ssize(connections_);
      shown_ = counts_;
    }
  }

  // ---- connections

  void wait() {
    std::vector<pollfd> waits{{wake_.number(), POLLIN, 0}, {listener_.socket.number(), POLLIN, 0}};
    if (turned_away_until_ > Clock::now()) waits[1].events = 0;
    bool pending = false;
    for (const Connection& connection : connections_) {
      const bool full = connection.in.has_next();  // read no more before that is done
      pending = pending || full;
      const int events = (full ? 0 : POLLIN) | (connection.unwritten() > 0 ? POLLOUT : 0);
      waits.push_back({connection.socket.number(), static_cast<short>(events), 0});
    }
    ::poll(waits.data(), waits.size(), pending ? 0 : milliseconds_to_next());
    auto ready = waits.begin() + 2;
    for (Connection& connection : connections_) {
      if ((ready++->revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !connection.read()) connection.over = true;
    }
    if (waits[1].revents != 0) accept();
  }

  int milliseconds_to_next() const {
    const auto now = Clock::now();
    auto next = now + std::chrono::hours(1);
    for (const auto& [id, peer] : peers_) {
      if (peer.away_since) next = std::min(next, *peer.away_since + seconds(settings_.grace));
    }
    for (const Connection& connection : connections_) {
      if (connection.peer == nullptr) next = std::min(next, connection.since + seconds(settings_.greeting));
    }
    if (turned_away_until_ > now) next = std::min(next, turned_away_until_);
    return static_cast<int>(
        std::chrono::ceil<std::chrono::milliseconds>(std::max(next - now, Clock::duration(0))).count());
  }

  static Clock::duration seconds(double number) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(number, longest_wait)));
  }

  void accept() {
    while (true) {
      Fd socket(::accept4(listener_.socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) {  // nobody, or no descriptor is free: then later
        if (errno != EAGAIN && errno != EINTR) turned_away_until_ = Clock::now() + std::chrono::milliseconds(100);
        return;
      }
      ++counts_.connections;
      if (!same_user(socket) || std::ssize(connections_) >= settings_.connections) {
        ++counts_.refused;
        continue;
      }
      connections_.emplace_back().socket = std::move(socket);
    }
  }

  // All that came is carried out, also of a connection that broke meanwhile.
  void serve(Connection& connection) {
    for (int i = 0; i < texts_a_round && !connection.last_words; ++i) {
      const auto text = connection.in.next();
      if (!text) break;
      hear(connection, *text);
    }
    if (connection.in.broken()) refuse(connection);
    const bool late = connection.peer == nullptr && Clock::now() > connection.since + seconds(settings_.greeting);
    if (late) refuse(connection);
    flush(connection);
  }

  void flush(Connection& connection) {
    if (!connection.over && !connection.write()) connection.over = true;
    if (connection.last_words && connection.unwritten() == 0) connection.over = true;
  }

  void refuse(Connection& connection) {
    if (!connection.over) ++counts_.refused;
    connection.end();
  }

  // ---- what is said

  void hear(Connection& connection, std::string_view text) {
    Request request;
    try {
      if (connection.peer == nullptr) return greet(connection, read_greeting(text));
      request = read_request(text);
    } catch (const std::exception&) {
      return refuse(connection);  // nothing after it can be trusted
    }
    Peer& peer = *connection.peer;
    peer.saw(request.seen);
    if (request.ask == Ask::Seen) return;
    if (request.ask == Ask::Bye) {
      return give_up(peer);
    }
    if (request.number <= peer.last) {
      ++counts_.repeated;
      return;
    }
    peer.last = request.number;
    ++counts_.requests;
    Answer answer = carry_out(peer, request);
    deliver();  // first to the others: when a client has its answer, they can know of it
    send(peer, std::move(answer));
  }

  // A client of another engine may be served on, which throws where that one does not answer.
  Answer carry_out(const Peer& peer, const Request& request) {
    try {
      return board_.carry_out(peer.number, request);
    } catch (const std::exception& problem) {
      Answer answer;
      answer.number = request.number;
      answer.error = Error{problem.what(), ""};
      return answer;
    }
  }

  void greet(Connection& connection, const Greeting& greeting) {
    Welcome welcome{instance_, 0, std::nullopt};
    if (greeting.protocol != protocol) {
      welcome.refused = Error{fmt::format("The engine at {} speaks version {} of the protocol, this client version {}.",
                                          path_.string(), protocol, greeting.protocol),
                              "install the same version of Allot in every process"};
      connection.out += frame(to_text(welcome));
      connection.last_words = true;
      ++counts_.refused;
      return;
    }
    const auto [found, fresh] = peers_.try_emplace(greeting.client);
    Peer& peer = found->second;
    if (fresh) {
      peer.id = greeting.client;
      peer.number = next_number_++;
      by_number_[peer.number] = &peer;
    }
    if (peer.connection != nullptr) {  // it gave the other one up
      peer.connection->end();
    }
    peer.connection = &connection;
    peer.away_since.reset();
    connection.peer = &peer;
    connection.in.limit(frame_limit);
    welcome.last = peer.last;
    connection.out += frame(to_text(welcome));
    peer.saw(greeting.seen);
    for (const Peer::Sent& sent : peer.unseen) connection.out += sent.frame;
  }

  void send(Peer& peer, Answer answer) {
    answer.serial = ++peer.serial;
    std::string framed = frame(text_of(answer));
    if (answer.number > 0) peer.last_answer = framed.size();
    if (peer.connection != nullptr) {
      peer.connection->out += framed;
      flush(*peer.connection);
    }
    peer.keep(answer.serial, std::move(framed));
    const std::size_t most = settings_.buffer_limit + peer.last_answer;
    if (peer.unseen_bytes > most || (peer.connection != nullptr && peer.connection->unwritten() > most))
      full_.push_back(&peer);
  }

  // A client would take one that is too long for the end of the stream, and for that again each time. Nobody asks for
  // its orders again: they go along where they fit.
  std::string text_of(const Answer& answer) const {
    std::string text = to_text(answer);
    if (text.size() <= settings_.longest_answer || answer.number == 0) return text;
    Answer instead;
    instead.serial = answer.serial;
    instead.number = answer.number;
    instead.orders = answer.orders;
    instead.error = Error{fmt::format("The engine's answer takes {} bytes, and at most {} travel over the socket.",
                                      text.size(), settings_.longest_answer),
                          "ask in the process that holds the engine"};
    text = to_text(instead);
    if (text.size() <= settings_.longest_answer) return text;
    instead.orders = {};
    return to_text(instead);
  }

  void deliver() {
    for (auto& [number, orders] : board_.take_mail()) {
      const auto found = by_number_.find(number);
      if (found == by_number_.end()) continue;
      Answer answer;
      answer.orders = std::move(orders);
      send(*found->second, std::move(answer));
    }
  }

  // ---- clients that are gone

  void give_up_the_missing() {
    for (Connection& connection : connections_) {
      Peer* const peer = connection.peer;
      if (!connection.done() || peer == nullptr) continue;
      connection.peer = nullptr;
      peer->connection = nullptr;
      peer->away_since = Clock::now();
    }
    const auto latest = Clock::now() - seconds(settings_.grace);
    for (auto& [id, peer] : peers_) {
      if (!peer.away_since || *peer.away_since > latest) continue;
      ++counts_.gone;
      give_up(peer);
    }
    while (!full_.empty()) {
      Peer& peer = *full_.back();
      full_.pop_back();
      if (peer.unseen.empty()) continue;  // given up meanwhile
      ++counts_.slow;
      give_up(peer);
    }
  }

  // It may come back, and then learns that its rollouts are over.
  void give_up(Peer& peer) {
    if (peer.connection != nullptr) {
      peer.connection->end();
      peer.connection = nullptr;
    }
    peer.away_since.reset();
    peer.unseen.clear();
    peer.unseen_bytes = 0;
    const int ended = board_.end_rollouts(peer.number);
    counts_.aborted += ended;
    deliver();
    given_up_.push_back(peer.number);
  }

  void sweep() {
    std::erase_if(connections_, [](const Connection& connection) { return connection.done(); });
    while (given_up_.size() > most_away) {
      const auto found = by_number_.find(given_up_.front());
      given_up_.pop_front();
      if (found == by_number_.end() || found->second->connection != nullptr || found->second->away_since) continue;
      const std::string id = found->second->id;
      by_number_.erase(found);
      peers_.erase(id);
    }
  }

  const pid_t process_ = ::getpid();
  fs::path path_;
  ServerSettings settings_;
  Listener listener_;
  Fd wake_;
  std::string instance_ = fresh_id();
  Switchboard board_;
  std::list<Connection> connections_;  // a peer points at its own
  std::map<std::string, Peer> peers_;  // by the name that a client gave itself
  std::map<int, Peer*> by_number_;
  int next_number_ = 0;
  std::vector<Peer*> full_;
  std::deque<int> given_up_;  // numbers of peers, in order
  Clock::time_point turned_away_until_{};
  ServerCounts counts_;  // of the thread
  mutable std::mutex mutex_;
  ServerCounts shown_;
  std::jthread thread_;  // last: it uses the others
};

Result<std::unique_ptr<Server>> Server::open(engine::Engine& engine, const fs::path& where,
                                             const ServerSettings& settings) {
  if (auto grace = wait_of("grace", settings.grace, Zero::Allowed); !grace) return grace.error();
  auto listener = listen_at(socket_of(where));
  if (!listener) return listener.error();
  return over(*std::move(listener), engine, settings);
}

std::unique_ptr<Server> Server::over(Listener listener, engine::Engine& engine, const ServerSettings& settings) {
  return std::unique_ptr<Server>(new Server(std::make_unique<Loop>(engine, std::move(listener), settings)));
}

Server::Server(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Server::~Server() = default;
void Server::close() {
  loop_->close();
}
const fs::path& Server::path() const {
  return loop_->path();
}
ServerCounts Server::counts() const {
  return loop_->counts();
}

}  // namespace allot::remote
