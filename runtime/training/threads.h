// A few threads that share one piece of work at a time.
#pragma once

#include <functional>
#include <memory>

namespace allot::training {

// `run(work)` calls work(0) .. work(size() - 1), one call a thread (the caller is one of them), and returns when all
// are done. `work` must not throw.
class ThreadTeam {
 public:
  explicit ThreadTeam(int size);  // 0: as many as the hardware has
  ~ThreadTeam();
  ThreadTeam(ThreadTeam&&) noexcept;
  ThreadTeam& operator=(ThreadTeam&&) noexcept;

  int size() const;
  void run(const std::function<void(int)>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace allot::training
