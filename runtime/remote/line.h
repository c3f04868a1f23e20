// A client's way to the server: requests that wait for their answers, over a connection that may break.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "runtime/remote/frames.h"
#include "runtime/remote/messages.h"
#include "runtime/remote/socket.h"

namespace allot::remote {

class Line {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  struct Settings {
    Seconds greeting{1.0};      // that a connection may take
    Seconds retry_first{0.05};  // after a failure nothing is tried for so long, then twice as long, …
    Seconds retry_most{2.0};    // … up to this
    std::size_t longest = frame_limit;  // bytes of a request; one that no engine would read is an error
    std::function<void()> between = [] {};  // called again and again while a call waits; what it throws ends the wait
  };

  Line(std::filesystem::path path, const Settings& settings);

  // What comes with an answer or unasked goes to `use`; `restarted` is called where another engine answers than before.
  void listen(std::function<void(Answer&)> use, std::function<void()> restarted) {
    use_ = std::move(use);
    restarted_ = std::move(restarted);
  }

  // Sends a request, whose text `put` continues, and waits for its answer for so long. None: it did not come; the
  // request goes on waiting where `keep` says so or where the engine may have it, and is sent again after a break. So it
  // does where the wait was ended.
  std::optional<Answer> ask(Ask ask, const std::function<void(engine::JsonText&)>& put, Seconds wait, bool keep);
  // Takes what has come, without waiting, and tells the server so now and then.
  void look();
  // Looks who is there now: where the engine that was known is gone, one that has taken its place is found, also before
  // the next try would come.
  void meet(Seconds wait);
  // Waits for the answers of all that was asked, and says goodbye.
  void close(Seconds wait);
  // From here on nothing is called between.
  void wait_undisturbed() { settings_.between = [] {}; }
  // Forgets all, as the child of a fork must.
  void begin_anew();

  bool reached() const { return socket_ && !stalled_; }
  // What was asked last had no answer, and an engine may have it.
  bool unanswered() const { return unanswered_; }
  std::size_t waiting() const { return queue_.size(); }
  std::size_t waiting_bytes() const { return queue_bytes_; }
  int descriptor() const { return socket_.number(); }               // −1: there is no connection
  const std::string& problem() const { return problem_; }           // the last; empty: none so far
  const std::optional<Error>& refused() const { return refused_; }  // the last that was met speaks another version

 private:
  struct Asked {
    std::uint64_t number = 0;
    std::string frame;
  };

  void await(Clock::time_point until, bool keep, bool& sent, const std::function<bool()>& restarted);
  bool connect(Clock::time_point until);
  bool reconnect(Clock::time_point until, bool keep, int tries);
  bool greet(Clock::time_point until);
  void resend(std::uint64_t last);
  bool pump();
  void hear(Answer answer);
  void drop(const std::string& why);
  void back_off();
  void forgive();
  void poll_until(Clock::time_point until) const;

  std::filesystem::path path_;
  Settings settings_;
  std::function<void(Answer&)> use_ = [](Answer&) {};
  std::function<void()> restarted_ = [] {};
  std::string id_;
  std::string engine_;  // the server's name; empty: none so far
  Fd socket_;
  FrameReader in_;
  std::string out_;
  std::uint64_t numbers_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t seen_told_ = 0;
  std::deque<Asked> queue_;  // asked and not answered
  std::size_t queue_bytes_ = 0;
  std::uint64_t awaited_ = 0;
  std::optional<Answer> answer_;
  bool unanswered_ = false;
  bool stalled_ = false;  // connected, but nothing comes
  bool absent_ = false;   // at the last try nobody listened
  Clock::time_point retry_at_{};
  Seconds pause_;
  std::string problem_;
  std::optional<Error> refused_;
};

}  // namespace allot::remote
