#include "runtime/package/exchange/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "runtime/package/limits.h"
#include "runtime/package/names.h"

namespace allot::package {
namespace {

constexpr std::size_t block = 512;

struct Field {
  std::size_t begin;
  std::size_t size;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, owner_field{108, 8}, group_field{116, 8}, size_field{124, 12},
    time_field{136, 12}, checksum_field{148, 8}, magic_field{257, 8};
constexpr std::size_t type_at = 156;

void put(std::string& header, Field field, std::string_view text) {
  header.replace(field.begin, text.size(), text);
}

std::string checksum_of(std::string header) {
  std::fill_n(header.begin() + checksum_field.begin, checksum_field.size, ' ');
  const int sum = std::accumulate(header.begin(), header.end(), 0, [](int total, char c) { return total + static_cast<unsigned char>(c); });
  return fmt::format("{:06o}", sum) + '\0' + ' ';
}

std::string header_of(std::string_view name, std::size_t size) {
  std::string header(block, '\0');
  put(header, name_field, name);
  put(header, mode_field, "0000644");
  put(header, owner_field, "0000000");
  put(header, group_field, "0000000");
  put(header, size_field, fmt::format("{:011o}", size));
  put(header, time_field, "00000000000");
  header[type_at] = '0';
  put(header, magic_field, std::string_view("ustar\00000", 8));
  put(header, checksum_field, checksum_of(header));
  return header;
}

std::string kind_of(char type) {
  switch (type) {
    case '1': return "a hard link";
    case '2': return "a symbolic link";
    case '3':
    case '4': return "a device";
    case '5': return "a folder";
    case '6': return "a pipe";
    case 'x':
    case 'g': return "a header of pax, which can rename what follows";
    case 'L':
    case 'K': return "a long name of GNU tar";
    default: return fmt::format("an entry of the unknown kind \\x{:02x}", static_cast<unsigned char>(type));
  }
}

std::optional<std::size_t> octal(std::string_view text) {
  std::size_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + static_cast<std::size_t>(c - '0');
  }
  return value;
}

class Reader {
 public:
  explicit Reader(std::string_view tar) : rest_(tar) {}

  Result<Entries> run() {
    while (true) {
      if (rest_.size() < block) return Error{"the archive is cut off: it does not end with two empty blocks", ""};
      const std::string_view header = rest_.substr(0, block);
      if (header.find_first_not_of('\0') == std::string_view::npos) return end();
      rest_.remove_prefix(block);
      if (auto read = entry(header); !read) return read.error();
    }
  }

 private:
  Result<void> entry(std::string_view header) {
    const std::string_view field = header.substr(name_field.begin, name_field.size);
    const std::string_view name = field.substr(0, std::min(field.find_last_not_of('\0') + 1, field.size()));
    if (header.substr(checksum_field.begin, checksum_field.size) != checksum_of(std::string(header))) {
      return Error{"the archive is damaged: the checksum of a header is wrong", ""};
    }
    if (header[type_at] != '0') {
      return Error{fmt::format("{} is {}, and a bundle holds files alone", shown(name), kind_of(header[type_at])), ""};
    }
    const auto size = octal(header.substr(size_field.begin, size_field.size - 1));
    if (!size) return Error{fmt::format("the size of {} is no octal number", shown(name)), ""};
    if (*size > limits.file_bytes) {
      return Error{fmt::format("{} says that it has {} bytes, more than {}", shown(name), *size, limits.file_bytes), ""};
    }
    if (entries_.size() >= limits.files + 2) return Error{fmt::format("it holds more than {} files", limits.files), ""};
    if (const std::string problem = path_problem(name); !problem.empty()) {
      return Error{fmt::format("the name {} {}", shown(name), problem), ""};
    }
    // Owners, times, modes, a prefix, anything after the name: what is left must be what `allot pack` writes.
    if (header != header_of(name, *size)) {
      return Error{fmt::format("the header of {} is not as `allot pack` writes it", shown(name)), "pack it with `allot pack`"};
    }
    const std::size_t padded = (*size + block - 1) / block * block;
    if (rest_.size() < padded) return Error{fmt::format("the archive is cut off within {}", shown(name)), ""};
    if (rest_.substr(*size, padded - *size).find_first_not_of('\0') != std::string_view::npos) {
      return Error{fmt::format("there are bytes after the end of {}", shown(name)), ""};
    }
    entries_.emplace_back(name, rest_.substr(0, *size));
    rest_.remove_prefix(padded);
    return {};
  }

  Result<Entries> end() {
    if (rest_.size() < 2 * block) return Error{"the archive is cut off: it does not end with two empty blocks", ""};
    if (rest_.find_first_not_of('\0') != std::string_view::npos || rest_.size() > 2 * block) {
      return Error{"there are bytes after the end of the archive", ""};
    }
    return std::move(entries_);
  }

  std::string_view rest_;
  Entries entries_;
};

}  // namespace

std::string to_tar(const Entries& entries) {
  std::string tar;
  for (const auto& [name, bytes] : entries) {
    tar += header_of(name, bytes.size());
    tar += bytes;
    tar.resize((tar.size() + block - 1) / block * block, '\0');
  }
  tar.append(2 * block, '\0');
  return tar;
}

Result<Entries> from_tar(std::string_view tar) { return Reader(tar).run(); }

}  // namespace allot::package
