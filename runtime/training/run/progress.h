// A progress bar with rate and time left, on a terminal; one plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <string>

namespace allot::training {

class Progress {
 public:
  // `total` units named `unit`. Quiet progress shows nothing.
  Progress(std::string title, int total, std::string unit, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(const std::string& note = {});
  // Prints a whole line above the bar.
  void line(const std::string& text);

 private:
  void draw();
  void clear();

  std::string title_;
  std::string unit_;
  std::string note_;
  int total_;
  int done_ = 0;
  bool quiet_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace allot::training
