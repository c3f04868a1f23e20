#include "runtime/engine/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "runtime/math/checksum.h"

namespace allot::engine {

std::optional<std::string> read_whole(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

Error cannot(std::string_view what, const std::filesystem::path& file) {
  const int number = errno;
  const char* help = number == ENOSPC ? "free some space; the run can be resumed from its last checkpoint" : "";
  return Error{fmt::format("Cannot {} {}: {}.", what, file.string(), std::strerror(number)), help};
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);  // not every filesystem can; the file itself is on disk
  ::close(file);
}

Result<void> sync_file(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot("open", file);
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
  const auto done = synced ? Result<void>() : Result<void>(cannot("write", file));
  ::close(descriptor);
  return done;
}

Result<void> replace_file(const std::filesystem::path& file, std::string_view text, Durability durability) {
  std::filesystem::path draft = file;
  draft += ".new";
  const int out = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (out < 0) return cannot("open", draft);
  const bool on_disk = durability == Durability::OnDisk;
  const bool good = write_all(out, text) && (!on_disk || ::fsync(out) == 0 || errno == EINVAL);
  if (!good) {
    const Error error = cannot("write", draft);
    ::close(out);
    ::unlink(draft.c_str());
    return error;
  }
  if (::close(out) != 0) return cannot("write", draft);
  if (::rename(draft.c_str(), file.c_str()) != 0) return cannot("replace", file);
  if (on_disk) sync_folder(file.parent_path());
  return {};
}

Result<GrowingFile> GrowingFile::open(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return cannot("open", file);
  return GrowingFile(file, descriptor);
}

GrowingFile::GrowingFile(GrowingFile&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)), buffer_(std::move(other.buffer_)),
      bytes_(other.bytes_), checksum_(other.checksum_), problem_(other.problem_) {}

GrowingFile::~GrowingFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void GrowingFile::append(std::string_view text) {
  constexpr std::size_t enough = std::size_t{1} << 18;
  buffer_ += text;
  if (buffer_.size() >= enough) flush();
}

void GrowingFile::flush() {
  checksum_ = math::crc32c(buffer_, checksum_);
  bytes_ += buffer_.size();
  if (problem_ == 0 && !write_all(descriptor_, buffer_)) problem_ = errno;
  buffer_.clear();
}

Result<void> GrowingFile::finish() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0 && problem_ == 0) problem_ = errno;
  if (problem_ == 0) return {};
  errno = problem_;
  const Error error = cannot("write", file_);
  ::unlink(file_.c_str());
  return error;
}

}  // namespace allot::engine
