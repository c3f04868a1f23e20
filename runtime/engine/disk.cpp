#include "runtime/engine/disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
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

namespace {

namespace fs = std::filesystem;

bool knows_no_sync(int number) { return number == EINVAL || number == EROFS || number == ENOSYS || number == ENOTSUP; }

// Some filesystems answer otherwise where a folder is synced, which they know by its reader alone.
bool is_loss(int number) { return number == EIO || number == ENOSPC || number == EDQUOT; }

template <typename Call>
bool carried_out(const Call& call) {
  int done = call();
  while (done != 0 && errno == EINTR) done = call();
  return done == 0 || knows_no_sync(errno);
}

// That of a bare name is the one in which the process works.
fs::path or_here(const fs::path& folder) { return folder.empty() ? fs::path(".") : folder; }

int open_folder(const fs::path& folder) { return ::open(or_here(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

}  // namespace

bool to_disk(int file) {
  return carried_out([file] { return ::fsync(file); });
}

bool data_to_disk(int file) {
  return carried_out([file] { return ::fdatasync(file); });
}

Result<void> sync_file(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot("open", file);
  const auto done = to_disk(descriptor) ? Result<void>() : Result<void>(cannot("write", file));
  ::close(descriptor);
  return done;
}

// A folder that may be written and not read is no error: its files are there all the same.
Result<void> sync_folder(const fs::path& folder) {
  const int descriptor = open_folder(folder);
  if (descriptor < 0) return {};
  const auto done = to_disk(descriptor) || !is_loss(errno) ? Result<void>() : Result<void>(cannot("write", folder));
  ::close(descriptor);
  return done;
}

std::string sync_refusal(const fs::path& folder) {
  const int descriptor = open_folder(folder);
  if (descriptor < 0) return {};
  const bool refused = ::fsync(descriptor) != 0 && !is_loss(errno);
  const int number = errno;
  ::close(descriptor);
  if (!refused) return {};
  return fmt::format("the filesystem of {} knows no sync ({}), so a loss of power may take more than the last barrier",
                     folder.string(), std::strerror(number));
}

Result<void> make_folders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  if (auto above = make_folders(folder.parent_path()); !above) return above;
  error.clear();
  fs::create_directory(folder, error);
  if (error) return Error{fmt::format("Cannot make the folder {}: {}.", folder.string(), error.message()), ""};
  return sync_folder(folder.parent_path());
}

namespace {

Result<void> take_name(const fs::path& draft, const fs::path& file, Durability durability) {
  if (::rename(draft.c_str(), file.c_str()) != 0) return cannot("replace", file);
  return durability == Durability::OnDisk ? sync_folder(file.parent_path()) : Result<void>();
}

}  // namespace

Result<void> replace_file(const fs::path& file, std::string_view text, Durability durability) {
  fs::path draft = file;
  draft += ".new";
  const int out = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (out < 0) return cannot("open", draft);
  if (!write_all(out, text) || (durability == Durability::OnDisk && !to_disk(out))) {
    const Error error = cannot("write", draft);
    ::close(out);
    ::unlink(draft.c_str());
    return error;
  }
  if (::close(out) != 0) return cannot("write", draft);
  return take_name(draft, file, durability);
}

Result<void> put_in_place(const fs::path& draft, const fs::path& file) {
  if (auto synced = sync_file(draft); !synced) return synced;
  return take_name(draft, file, Durability::OnDisk);
}

Result<void> replace_folder(const fs::path& from, const fs::path& to) {
  if (auto synced = sync_folder(from); !synced) return synced;
  const bool fresh = ::rename(from.c_str(), to.c_str()) == 0;
  // A folder with files in it cannot be renamed over: the two exchange their names, then what was there goes.
  if (!fresh && ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) return cannot("replace", to);
  if (auto synced = sync_folder(to.parent_path()); !synced || fresh) return synced;
  std::error_code ignored;
  fs::remove_all(from, ignored);
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
  if (problem_ == 0 && !to_disk(descriptor_)) problem_ = errno;
  if (::close(std::exchange(descriptor_, -1)) != 0 && problem_ == 0) problem_ = errno;
  if (problem_ == 0) return {};
  errno = problem_;
  const Error error = cannot("write", file_);
  ::unlink(file_.c_str());
  return error;
}

}  // namespace allot::engine
