#include "runtime/remote/frames.h"

namespace allot::remote {
namespace {

constexpr std::size_t prefix = 4;

}  // namespace

std::string frame(std::string_view text) {
  std::string framed;
  framed.reserve(prefix + text.size());
  for (std::size_t i = 0; i < prefix; ++i) framed += static_cast<char>(text.size() >> (8 * i) & 0xff);
  framed += text;
  return framed;
}

std::optional<std::uint32_t> FrameReader::length() const {
  if (buffer_.size() - at_ < prefix) return std::nullopt;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < prefix; ++i) {
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(buffer_[at_ + i])) << (8 * i);
  }
  return length;
}

bool FrameReader::broken() const {
  const auto bytes = length();
  return bytes && (*bytes == 0 || *bytes > limit_);
}

bool FrameReader::has_next() const {
  const auto bytes = length();
  return bytes && !broken() && buffer_.size() - at_ >= prefix + *bytes;
}

std::optional<std::string_view> FrameReader::next() {
  if (at_ > 0 && (at_ == buffer_.size() || at_ > buffer_.size() / 2)) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  if (!has_next()) return std::nullopt;
  const std::size_t bytes = *length();
  const std::string_view text = std::string_view(buffer_).substr(at_ + prefix, bytes);
  at_ += prefix + bytes;
  return text;
}

}  // namespace allot::remote
