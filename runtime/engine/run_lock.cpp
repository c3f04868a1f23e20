#include "runtime/engine/run_lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "runtime/engine/swap_files.h"

namespace allot::engine {
namespace {

// Of the process and its ancestors. A process number would tell the same, but takes as long to ask for as half a turn.
std::atomic<int> forks = 0;

void count_forks() {
  [[maybe_unused]] static const int once = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
}

}  // namespace

RunLock::~RunLock() {
  if (file_ >= 0) ::close(file_);
}

RunLock::RunLock(RunLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      forks_(std::exchange(other.forks_, not_taken)),
      place_(std::exchange(other.place_, std::nullopt)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(forks_, other.forks_);
  std::swap(place_, other.place_);
  return *this;
}

Result<RunLock> RunLock::take(const std::filesystem::path& run, const std::string& name) {
  (void)make_folders(run);  // where it cannot be made, whoever writes into it says so
  const std::filesystem::path path = run / name;
  count_forks();
  RunLock lock;
  lock.forks_ = forks.load(std::memory_order_relaxed);
  struct stat now{};
  if (::stat(run.c_str(), &now) == 0) lock.place_ = Place{run, now.st_dev, now.st_ino};
  lock.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock.file_ < 0) return lock;
  if (::flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return lock;
    std::array<char, 256> holder{};
    const auto size = ::pread(lock.file_, holder.data(), holder.size(), 0);
    const std::string who(holder.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    return Error{fmt::format("The run {} is in use by {}.", run.string(), who.empty() ? "another process" : who),
                 "end that first, or name another folder"};
  }
  const std::string who = fmt::format("process {} on {}", ::getpid(), host_name());
  // For people only: what matters is the lock.
  if (::ftruncate(lock.file_, 0) == 0 && ::pwrite(lock.file_, who.data(), who.size(), 0) < 0) return lock;
  return lock;
}

bool RunLock::has_moved() const {
  if (!place_) return false;
  struct stat now{};
  return ::stat(place_->path.c_str(), &now) != 0 || now.st_dev != place_->device || now.st_ino != place_->number;
}

std::optional<Error> RunLock::of_parent() const {
  if (forks_ == not_taken || forks_ == forks.load(std::memory_order_relaxed)) return std::nullopt;
  return Error{"This process was forked from the one that made this engine: the run is still its parent's.",
               "ask it from here as a client (Engine.serve() there, allot.connect() here), or make an engine of its own"};
}

}  // namespace allot::engine
