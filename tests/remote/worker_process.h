// remote_worker as a process that can be told, asked, stopped and killed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/remote/messages.h"
#include "runtime/remote/socket.h"

namespace allot::remote::test {

class Worker {
 public:
  explicit Worker(const std::vector<std::string>& arguments);
  ~Worker();  // kills it
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;

  void tell(const std::string& line);
  std::string hear();  // its next line; empty where it has ended
  Answer ask(const std::string& line);
  void signal(int number) const;
  void kill();  // -9, and waits for its end
  bool alive() const { return process_ > 0; }

 private:
  pid_t process_ = -1;
  Fd to_, from_;
  std::string buffer_;
};

Worker client(const std::filesystem::path& path, double timeout = 1.0);
// Returns when it is ready.
Worker served(const std::filesystem::path& path);

// Lines for a client.
std::string turn_line(engine::RolloutRef rollout, const engine::Turn& turn);
std::string ended_line(engine::RolloutRef rollout, const engine::Ending& ending);

}  // namespace allot::remote::test
