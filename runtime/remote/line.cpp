#include "runtime/remote/line.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "runtime/remote/waits.h"

namespace allot::remote {
namespace {

constexpr std::uint64_t seen_at_least = 64;  // texts that may come before the server is told that they did

Error too_long(Ask ask, std::size_t bytes, std::size_t most) {
  return {fmt::format("The call `{}` takes {} bytes, and at most {} travel over the socket.", name(ask), bytes, most),
          "send less with it, or call it in the process that holds the engine"};
}

Line::Clock::duration ticks(Line::Seconds seconds) {
  return std::chrono::duration_cast<Line::Clock::duration>(seconds);
}

}  // namespace

Line::Line(std::filesystem::path path, const Settings& settings)
    : path_(std::move(path)), settings_(settings), id_(fresh_id()), pause_(settings.retry_first) {}

void Line::poll_until(Clock::time_point until) const {
  pollfd waits{socket_.number(), static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT)), 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  const auto part = std::clamp(left, std::chrono::milliseconds(0), slice);
  if (::poll(&waits, 1, static_cast<int>(part.count())) <= 0) settings_.between();
}

void Line::back_off() {
  retry_at_ = Clock::now() + ticks(pause_);
  pause_ = std::min(pause_ * 2, settings_.retry_most);
}

void Line::forgive() {
  retry_at_ = {};
  pause_ = settings_.retry_first;
}

void Line::drop(const std::string& why) {
  problem_ = why;
  socket_.close();
  in_ = FrameReader();
  out_.clear();
  stalled_ = false;
}

void Line::begin_anew() {
  drop("");
  id_ = fresh_id();
  engine_.clear();
  queue_.clear();
  queue_bytes_ = 0;
  numbers_ = seen_ = seen_told_ = awaited_ = 0;
  answer_.reset();
  refused_.reset();
  absent_ = false;
  forgive();
}

bool Line::connect(Clock::time_point until) {
  if (socket_) return true;
  if (Clock::now() < retry_at_) return false;
  refused_.reset();
  auto opened = connect_to(path_);
  absent_ = !opened;
  if (!opened) {
    problem_ = opened.error().what;
    back_off();
    return false;
  }
  socket_ = *std::move(opened);
  const std::string before = engine_;
  try {
    if (greet(until)) {
      // What ended the connection before may end this one too: until this engine has said something, the next waits.
      if (engine_ == before) {
        back_off();
      } else {
        forgive();
      }
      return true;
    }
  } catch (...) {  // a connection without a greeting is none
    drop(fmt::format("{}: the wait for the engine was ended", path_.string()));
    throw;
  }
  back_off();
  return false;
}

bool Line::greet(Clock::time_point until) {
  out_ = frame(to_text(Greeting{protocol, id_, seen_}));
  until = std::min(until, Clock::now() + ticks(settings_.greeting));
  while (true) {
    if (!pump()) return false;
    if (in_.has_next()) break;
    if (Clock::now() >= until) {
      drop(fmt::format("{}: the engine does not answer", path_.string()));
      return false;
    }
    poll_until(until);
  }
  try {
    const Welcome welcome = read_welcome(*in_.next());
    if (welcome.refused) {
      refused_ = welcome.refused;
      drop(welcome.refused->text());
      return false;
    }
    const bool other = !engine_.empty() && engine_ != welcome.engine;
    engine_ = welcome.engine;
    if (other) {
      queue_.clear();
      queue_bytes_ = 0;
      seen_ = seen_told_ = 0;
      restarted_();
    }
    resend(welcome.last);
  } catch (const std::exception&) {
    drop(fmt::format("{}: what answers there is no engine", path_.string()));
    return false;
  }
  return true;
}

void Line::resend(std::uint64_t last) {
  for (const Asked& asked : queue_) {
    if (asked.number > last) out_ += asked.frame;
  }
}

// Writes and reads what can be without waiting. False: the connection is gone.
bool Line::pump() {
  while (!out_.empty()) {
    const ssize_t count = ::send(socket_.number(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (count < 0) {
      drop(fmt::format("{}: {}", path_.string(), std::strerror(errno)));
      return false;
    }
    out_.erase(0, static_cast<std::size_t>(count));
  }
  std::array<char, 16 << 10> bytes;
  while (true) {
    const ssize_t count = ::recv(socket_.number(), bytes.data(), bytes.size(), 0);
    if (count > 0) {
      in_.add(bytes.data(), static_cast<std::size_t>(count));
      if (static_cast<std::size_t>(count) < bytes.size()) return true;
      continue;
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (in_.has_next()) return true;  // what came before the end counts; the end is seen again
    drop(fmt::format("{}: the engine has closed the connection", path_.string()));
    return false;
  }
}

void Line::hear(Answer answer) {
  stalled_ = false;
  forgive();
  if (answer.serial <= seen_) return;
  seen_ = answer.serial;
  while (answer.number > 0 && !queue_.empty() && queue_.front().number <= answer.number) {
    queue_bytes_ -= queue_.front().frame.size();
    queue_.pop_front();
  }
  use_(answer);
  if (answer.number > 0 && answer.number == awaited_) answer_ = std::move(answer);
}

// Reads all that has come. An engine never sends what cannot be read; if something does, it is no engine.
void Line::look() {
  if (!socket_ && !connect(Clock::now() + ticks(settings_.greeting))) return;
  if (!pump()) return;
  try {
    while (const auto text = in_.next()) hear(read_answer(*text));
  } catch (const std::exception&) {
    return drop(fmt::format("{}: what answers there is no engine", path_.string()));
  }
  if (in_.broken()) return drop(fmt::format("{}: what answers there is no engine", path_.string()));
  if (seen_ - seen_told_ < seen_at_least) return;
  seen_told_ = seen_;
  out_ += frame(fmt::format("{{\"seen\":{}}}", seen_));
}

// A decision is tried once more over a new connection; what cannot be done without an engine waits for one, to the end of
// its time also where the next try would come after it.
bool Line::reconnect(Clock::time_point until, bool keep, int tries) {
  if (keep) return tries == 0 && connect(until);
  while (true) {
    const bool due = Clock::now() >= retry_at_;
    if (connect(until)) return true;
    if ((due && refused_) || Clock::now() >= until) return false;
    std::this_thread::sleep_until(std::min({retry_at_, until, Clock::now() + slice}));
    settings_.between();
  }
}

void Line::meet(Seconds wait) {
  look();
  if (socket_) look();  // the end of a connection comes behind what was said before it
  if (socket_) return;
  if (absent_) retry_at_ = {};  // that costs nothing; one that hangs is asked when its time comes
  connect(Clock::now() + ticks(wait));
}

std::optional<Answer> Line::ask(Ask ask, const std::function<void(engine::JsonText&)>& put, Seconds wait, bool keep) {
  const Clock::time_point until = Clock::now() + ticks(wait);
  const std::string before = engine_;
  const auto restarted = [&] { return !before.empty() && engine_ != before; };
  unanswered_ = false;
  const auto put_last = [&]() -> std::optional<Error> {
    engine::JsonText text;
    begin_request(text, numbers_ + 1, seen_, ask);
    put(text);
    const std::size_t bytes = text.end_object().text().size();
    if (bytes > settings_.longest) return too_long(ask, bytes, settings_.longest);
    seen_told_ = seen_;
    queue_.push_back({++numbers_, frame(text.text())});
    queue_bytes_ += queue_.back().frame.size();
    return std::nullopt;
  };
  try {
    if (!socket_) connect(until);
  } catch (...) {
    if (keep) (void)put_last();
    throw;
  }
  if (restarted()) return std::nullopt;  // what was to be asked is of another engine
  if (const auto impossible = put_last()) {
    Answer answer;
    answer.error = impossible;
    return answer;
  }
  const std::uint64_t number = numbers_;
  bool sent = static_cast<bool>(socket_);
  if (sent) out_ += queue_.back().frame;
  awaited_ = number;
  answer_.reset();
  const auto end = [&] {
    awaited_ = 0;
    unanswered_ = sent && !answer_;
    if (answer_ || keep || sent || queue_.empty() || queue_.back().number != number) return;
    queue_bytes_ -= queue_.back().frame.size();
    queue_.pop_back();
  };
  try {
    await(until, keep, sent, restarted);
  } catch (...) {
    end();
    throw;
  }
  end();
  return std::exchange(answer_, std::nullopt);
}

void Line::await(Clock::time_point until, bool keep, bool& sent, const std::function<bool()>& restarted) {
  bool patient = !keep || !stalled_ || Clock::now() >= retry_at_;
  for (int tries = 0; !answer_;) {
    if (!socket_) {
      if (!reconnect(until, keep, tries++) || restarted()) return;
      sent = true;
    }
    look();
    if (answer_ || !socket_) continue;
    patient = patient || !stalled_;
    if (!patient) return;
    if (Clock::now() >= until) {
      problem_ = fmt::format("{}: the engine does not answer", path_.string());
      stalled_ = true;
      return back_off();
    }
    poll_until(until);
  }
}

void Line::close(Seconds wait) {
  const Clock::time_point until = Clock::now() + ticks(wait);
  while (socket_ && !stalled_ && !queue_.empty() && Clock::now() < until) {
    look();
    if (socket_ && !queue_.empty()) poll_until(until);
  }
  if (!socket_) return;
  out_ += frame("{\"bye\":true}");
  while (socket_ && !out_.empty() && Clock::now() < until && pump())
    poll_until(Clock::now() + std::chrono::milliseconds(10));
  drop("");
}

}  // namespace allot::remote
