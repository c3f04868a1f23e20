#include "runtime/lsp/framing.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace allot::lsp {

namespace {

constexpr std::size_t most_bytes = 64 << 20;
constexpr std::string_view length_header = "content-length:";

std::optional<std::size_t> length_of(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!line.starts_with(length_header)) return std::nullopt;
  const std::size_t begin = line.find_first_not_of(' ', length_header.size());
  if (begin == std::string::npos) return std::nullopt;
  std::size_t length = 0;
  const auto [end, failure] = std::from_chars(line.data() + begin, line.data() + line.size(), length);
  if (failure != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return length;
}

}  // namespace

std::optional<std::string> read_message(std::istream& in) {
  std::optional<std::size_t> length;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) {
      if (const auto found = length_of(line)) length = found;
      continue;
    }
    if (!length || *length > most_bytes) return std::nullopt;
    std::string body(*length, '\0');
    in.read(body.data(), static_cast<std::streamsize>(body.size()));
    if (static_cast<std::size_t>(in.gcount()) != body.size()) return std::nullopt;
    return body;
  }
  return std::nullopt;
}

void write_message(std::ostream& out, std::string_view body) {
  out << "Content-Length: " << body.size() << "\r\n\r\n" << body << std::flush;
}

}  // namespace allot::lsp
