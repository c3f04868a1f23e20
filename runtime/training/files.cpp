#include "runtime/training/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace allot::training {
namespace {

Error write_failed(const std::filesystem::path& path, int code) {
  return Error{"cannot write " + path.string() + ": " + std::strerror(code),
               code == ENOSPC ? "free some space on this disk or choose another folder; what was there before is intact"
                              : "check that the folder exists and may be written to"};
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int close() {
    const int result = value_ < 0 ? 0 : ::close(value_);
    value_ = -1;
    return result;
  }

 private:
  int value_;
};

Result<void> write_all(const std::filesystem::path& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) return write_failed(path, errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return write_failed(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0 || file.close() != 0) return write_failed(path, errno);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(path, ignored))
    return Error{"cannot read " + path.string() + ": " + std::strerror(errno ? errno : EISDIR),
                 "check the path; a checkpoint folder holds config.json, model.safetensors and tokenizer.json"};
  std::string bytes(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    return Error{"reading " + path.string() + " ended before its end", "the disk may be failing; try again"};
  return bytes;
}

Error damaged(const std::filesystem::path& path, std::string_view text, const std::exception& problem, std::string help) {
  if (const auto* syntax = dynamic_cast<const nlohmann::json::parse_error*>(&problem)) {
    if (syntax->byte > text.size())
      return Error{path.string() + " is cut short: it ends in the middle, after " + std::to_string(text.size()) + " bytes",
                   std::move(help)};
    return Error{path.string() + " is damaged at byte " + std::to_string(syntax->byte) + ": from there on it is no JSON",
                 std::move(help)};
  }
  // The library's own number of the error, in brackets, tells a reader nothing.
  std::string what = problem.what();
  if (const auto end = what.find("] "); what.starts_with('[') && end != std::string::npos) what.erase(0, end + 2);
  return Error{path.string() + " lacks something or holds it in another form: " + what, std::move(help)};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
  std::error_code ignored;
  if (auto written = write_all(temporary, bytes); !written) {
    std::filesystem::remove(temporary, ignored);
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    std::filesystem::remove(temporary, ignored);
    return write_failed(path, code);
  }
  return {};
}

Result<void> replace_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  // A folder with files in it cannot be renamed over: exchange the two names, then drop what was there.
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) return write_failed(to, errno);
  std::error_code ignored;
  std::filesystem::remove_all(from, ignored);
  return {};
}

}  // namespace allot::training
