#include "runtime/package/exchange/project_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace allot::package {

ProjectLock::ProjectLock(const std::filesystem::path& root, const std::function<void()>& waits)
    : folder_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (folder_ < 0 || ::flock(folder_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) waits();
  while (folder_ >= 0 && ::flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

ProjectLock::~ProjectLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace allot::package
