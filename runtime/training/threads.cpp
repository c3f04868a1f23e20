#include "runtime/training/threads.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace allot::training {

struct ThreadTeam::State {
  std::atomic<std::uint64_t> round = 0;  // each increment is one piece of work
  std::atomic<int> outstanding = 0;
  std::atomic<bool> leaving = false;
  const std::function<void(int)>* work = nullptr;  // valid while outstanding > 0
  std::vector<std::jthread> threads;

  void serve(int index) {
    for (std::uint64_t seen = 0;; ++seen) {
      round.wait(seen);
      if (leaving) return;
      (*work)(index);
      if (outstanding.fetch_sub(1) == 1) outstanding.notify_one();
    }
  }
};

ThreadTeam::ThreadTeam(int size) : state_(std::make_unique<State>()) {
  const int count = size > 0 ? size : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int i = 1; i < count; ++i) state_->threads.emplace_back([state = state_.get(), i] { state->serve(i); });
}

ThreadTeam::~ThreadTeam() {
  if (!state_) return;
  state_->leaving = true;
  ++state_->round;
  state_->round.notify_all();
  state_->threads.clear();
}

ThreadTeam::ThreadTeam(ThreadTeam&&) noexcept = default;
ThreadTeam& ThreadTeam::operator=(ThreadTeam&&) noexcept = default;

int ThreadTeam::size() const { return static_cast<int>(state_->threads.size()) + 1; }

void ThreadTeam::run(const std::function<void(int)>& work) {
  state_->work = &work;
  state_->outstanding = size() - 1;
  ++state_->round;
  state_->round.notify_all();
  work(0);
  for (int left = state_->outstanding; left > 0; left = state_->outstanding) state_->outstanding.wait(left);
}

}  // namespace allot::training
