// A stream of bytes cut into texts: each is preceded by its length in four bytes, the lowest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace allot::remote {

constexpr std::size_t frame_limit = 256 << 20;  // bytes of a text: a state of a million prompts fits

std::string frame(std::string_view text);

class FrameReader {
 public:
  explicit FrameReader(std::size_t limit = frame_limit) : limit_(limit) {}

  void add(const char* bytes, std::size_t count) { buffer_.append(bytes, count); }
  // The next whole text, valid until the next call of this object; none: it has not all come yet, or broken().
  std::optional<std::string_view> next();
  bool has_next() const;
  // A length of 0 or above the limit: the stream cannot be read any further.
  bool broken() const;
  void limit(std::size_t bytes) { limit_ = bytes; }

 private:
  std::optional<std::uint32_t> length() const;

  std::size_t limit_;
  std::string buffer_;
  std::size_t at_ = 0;
};

}  // namespace allot::remote
