#include "runtime/engine/file_watcher.h"

#include <sys/stat.h>

#include "lang/limits.h"
#include "runtime/engine/swap_files.h"
#include "runtime/math/checksum.h"

namespace allot::engine {

namespace {

// A text that breaks off in the middle of a line is likely one that is still being written.
constexpr int patience_with_cut_lines = 5;

}  // namespace

FileWatcher::FileWatcher(std::filesystem::path file, std::chrono::milliseconds still, std::optional<std::string> known)
    : file_(std::move(file)), still_(still), seen_(stamp()), since_(Clock::now()), settled_(!known) {
  if (known) {
    known_ = *std::move(known);
  } else if (const auto text = read_whole(file_)) {
    known_ = math::sha256_hex(*text);
  }
}

FileWatcher::Stamp FileWatcher::stamp() const {
  struct stat found{};
  if (::stat(file_.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  return {found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

std::optional<std::string> FileWatcher::look(Clock::time_point now) {
  const Stamp stamp_now = stamp();
  if (stamp_now != seen_) {
    seen_ = stamp_now;
    since_ = now;
    settled_ = false;
    return std::nullopt;
  }
  const bool nothing = seen_.size <= 0 || seen_.size > static_cast<std::int64_t>(lang::limits.source_bytes);
  if (settled_ || nothing || now - since_ < still_) return std::nullopt;
  auto text = read_whole(file_);
  if (!text || stamp() != seen_ || static_cast<std::int64_t>(text->size()) != seen_.size) return std::nullopt;
  if (!text->ends_with('\n') && now - since_ < patience_with_cut_lines * still_) return std::nullopt;
  settled_ = true;
  std::string hash = math::sha256_hex(*text);
  if (hash == known_) return std::nullopt;
  known_ = std::move(hash);
  return text;
}

}  // namespace allot::engine
