#include "runtime/training/run/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace allot::training {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string clock_text(double seconds) {
  const int whole = static_cast<int>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string title, int total, std::string unit, bool quiet)
    : title_(std::move(title)), unit_(std::move(unit)), total_(std::max(total, 1)), quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), drawn_(start_) {
  if (!quiet_) draw();
}

Progress::~Progress() {
  if (!quiet_) clear();
}

void Progress::advance(const std::string& note) {
  done_ = std::min(done_ + 1, total_);
  note_ = note;
  // Without a terminal nobody watches the bar move; a line every ten seconds keeps a log readable.
  const double wait = terminal_ ? 0.1 : 10.0;
  if (!quiet_ && (done_ == total_ || seconds_between(drawn_, Clock::now()) >= wait)) draw();
}

void Progress::line(const std::string& text) {
  if (quiet_) return;
  clear();
  fmt::print(stderr, "{}\n", text);
  if (terminal_) draw();
}

void Progress::clear() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void Progress::draw() {
  drawn_ = Clock::now();
  const double spent = seconds_between(start_, drawn_);
  const double rate = spent > 0 ? done_ / spent : 0;
  const std::string left = done_ > 0 ? clock_text((total_ - done_) / rate) + " left" : "…";
  const std::string tail = fmt::format("{}/{} {}  {:.2f}/s  {}  {}", done_, total_, unit_, rate, left, note_);
  if (!terminal_) {
    if (done_ > 0) fmt::print(stderr, "{}: {}\n", title_, tail);
    return;
  }
  constexpr int width = 24;
  const int filled = width * done_ / total_;
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\033[K{} {} {}", title_, bar, tail);
  std::fflush(stderr);
}

}  // namespace allot::training
