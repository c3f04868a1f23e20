#include "runtime/lsp/positions.h"

#include <algorithm>

#include "lang/unicode.h"

namespace allot::lsp {

namespace {

constexpr std::uint32_t stride = 64;

// A code point counts where its first byte stands; those of four bytes take two units.
std::uint32_t units_of(char byte) {
  const auto bits = static_cast<unsigned char>(byte);
  return (bits & 0xC0) == 0x80 ? 0 : bits >= 0xF0 ? 2 : 1;
}

int units(const lang::CodePoint& point) {
  return point.value > 0xFFFF ? 2 : 1;
}

std::uint32_t begin_of(const lang::Source& source, std::string_view line) {
  return static_cast<std::uint32_t>(line.data() - source.text().data());
}

}  // namespace

Positions::Positions(const lang::Source& source) : source_(&source) {
  for (int line = 1; line <= source.line_count(); ++line) begins_.push_back(begin_of(source, source.line(line)));
  std::uint32_t units = 0;
  for (std::size_t at = 0; at < source.text().size(); ++at) {
    if (at % stride == 0) units_.push_back(units);
    units += units_of(source.text()[at]);
  }
  units_.push_back(units);
}

std::uint32_t Positions::units_before(std::uint32_t offset) const {
  std::uint32_t units = units_[offset / stride];
  for (std::uint32_t at = offset / stride * stride; at < offset; ++at) units += units_of(source_->text()[at]);
  return units;
}

Position Positions::of(std::uint32_t offset) const {
  const auto line = static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), offset) - begins_.begin());
  const std::uint32_t begin = begins_[static_cast<std::size_t>(line - 1)];
  const auto size = static_cast<std::uint32_t>(source_->line(line).size());
  return {line - 1, static_cast<int>(units_before(std::min(offset, begin + size)) - units_before(begin))};
}

std::uint32_t offset_of(const lang::Source& source, Position position) {
  if (position.line >= source.line_count()) return static_cast<std::uint32_t>(source.text().size());
  const std::string_view text = source.line(std::max(0, position.line) + 1);
  std::size_t at = 0;
  for (int left = position.character; at < text.size() && left > 0;) {
    const lang::CodePoint point = lang::code_point_at(text, at);
    left -= units(point);
    at += static_cast<std::size_t>(point.bytes);
  }
  return begin_of(source, text) + static_cast<std::uint32_t>(std::min(at, text.size()));
}

}  // namespace allot::lsp
