#include "runtime/replay/lines.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace allot::replay {

namespace {

constexpr std::size_t chunk = 1 << 16;

gzFile handle(void* file) {
  return static_cast<gzFile>(file);
}

}  // namespace

void Lines::Close::operator()(void* file) const {
  gzclose(handle(file));
}

Lines::Lines(void* file) : file_(file), buffer_(chunk, '\0') {}

Result<Lines> Lines::open(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return Error{fmt::format("{} is a folder", file.string()), ""};
  errno = 0;
  void* const opened = gzopen(file.c_str(), "rb");  // a file that is not packed is read as it is
  if (opened == nullptr) return Error{fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)), ""};
  return Lines(opened);
}

// Whether there is more.
Result<bool> Lines::fill() {
  const int read = gzread(handle(file_.get()), buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int code = Z_OK;
  const char* const words = gzerror(handle(file_.get()), &code);
  if (read < 0 || (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)) {
    return Error{fmt::format("cannot be read further: {}", words), ""};
  }
  at_ = 0;
  size_ = static_cast<std::size_t>(std::max(read, 0));
  return size_ > 0;
}

Result<bool> Lines::next(std::string& line) {
  line.clear();
  ++number_;
  while (true) {
    if (at_ == size_) {
      const auto more = fill();
      if (!more) return more.error();
      if (!*more) {
        whole_ = false;
        return !line.empty();
      }
    }
    const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(size_);
    const auto found = std::find(begin, end, '\n');
    line.append(begin, found);
    at_ = static_cast<std::size_t>(found - buffer_.begin());
    if (line.size() > most_bytes) return Error{fmt::format("the line is longer than {} MiB", most_bytes >> 20), ""};
    if (found == end) continue;
    ++at_;
    whole_ = true;
    return true;
  }
}

}  // namespace allot::replay
