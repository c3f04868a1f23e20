#include "runtime/engine/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "runtime/engine/swap_files.h"

namespace allot::engine {

RunLock::~RunLock() {
  if (file_ >= 0) ::close(file_);
}

RunLock::RunLock(RunLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

Result<RunLock> RunLock::take(const std::filesystem::path& run, const std::string& name) {
  std::error_code ignored;
  std::filesystem::create_directories(run, ignored);
  const std::filesystem::path path = run / name;
  RunLock lock;
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

}  // namespace allot::engine
