#include "runtime/package/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "lang/compose/library.h"
#include "lang/unicode.h"
#include "runtime/package/limits.h"

namespace allot::package {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// CON, PRN, AUX, NUL, COM1 … LPT9 are devices of Windows in every folder and whatever ending they have.
bool is_device(std::string_view part) {
  const std::string stem = lower(part.substr(0, part.find('.')));
  if (stem == "con" || stem == "prn" || stem == "aux" || stem == "nul") return true;
  const bool numbered = stem.size() == 4 && is_digit(stem[3]) && stem[3] != '0';
  return numbered && (stem.starts_with("com") || stem.starts_with("lpt"));
}

std::string letters_problem(std::string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    const bool good = is_letter(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.' || c == '/';
    if (good) continue;
    if (c == '\0') return "holds a NUL";
    if (c == '\\') return "holds a backslash, which parts folders on some machines";
    const lang::CodePoint point = lang::code_point_at(path, i);
    if (point.value < 0) return "is not UTF-8";
    return fmt::format("holds {}: a name is made of a-z, A-Z, 0-9, `_`, `-` and `.`, so that no two look alike",
                       lang::notation(point.value));
  }
  return {};
}

std::string part_problem(std::string_view part) {
  if (part.empty()) return "has an empty part";
  if (part == "." || part == "..") return "leads out of its folder";
  if (part.front() == '.') return "is hidden: a part of it begins with a dot";
  if (part.front() == '-') return "has a part that begins with `-`, which programs take for an option";
  if (part.back() == '.') return "has a part that ends in a dot, which some machines drop";
  if (is_device(part)) return fmt::format("is a device on some machines: {}", part);
  return {};
}

}  // namespace

std::string Version::text() const { return fmt::format("{}.{}.{}", numbers[0], numbers[1], numbers[2]); }

Result<Version> parse_version(std::string_view text) {
  const Error problem{fmt::format("`{}` is no version", shown(text)), "a version is three numbers: 1.2.0"};
  const auto parts = split(text, '.');
  if (parts.size() != 3) return problem;
  Version version;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string_view part = parts[i];
    if (part.empty() || (part.size() > 1 && part.front() == '0') || !std::all_of(part.begin(), part.end(), is_digit)) {
      return problem;
    }
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), version.numbers[i]);
    if (failure != std::errc() || version.numbers[i] >= limits.version_number) return problem;
  }
  return version;
}

bool is_package_name(std::string_view text) {
  if (text.size() > limits.name_bytes) return false;
  for (const std::string_view word : split(text, '.')) {
    if (word.empty() || !is_letter(word.front()) || is_device(word)) return false;
    if (!std::all_of(word.begin(), word.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; })) return false;
  }
  return true;
}

Result<void> check_not_standard(const std::string& name) {
  const bool whole = name == "stdlib" || name.starts_with("stdlib.");
  if (!whole && !lang::standard_file(name)) return {};
  return Error{fmt::format("no package may be called {}: that is {} the standard library, whose place it would take in every import",
                           name, whole ? "the name of" : "a policy of"),
               "choose another name, such as " + (whole ? std::string("team.gates") : "team." + name)};
}

std::string path_problem(std::string_view path) {
  if (path.empty()) return "is empty";
  if (path.front() == '/' || (path.size() > 1 && path[1] == ':')) return "is absolute";
  if (std::string problem = letters_problem(path); !problem.empty()) return problem;
  if (path.size() > limits.path_bytes) return fmt::format("is longer than {} bytes", limits.path_bytes);
  const auto parts = split(path, '/');
  for (const std::string_view part : parts) {
    if (std::string problem = part_problem(part); !problem.empty()) return problem;
  }
  if (parts.size() > limits.path_depth) return fmt::format("lies more than {} folders deep", limits.path_depth);
  return {};
}

bool belongs(std::string_view path) {
  if (path == project_file) return true;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".allot") || name.ends_with(".md")) return true;
  return name.starts_with("README") || name.starts_with("LICENSE") || name.starts_with("NOTICE");
}

std::string collision(const std::vector<std::string>& paths) {
  struct Seen {
    std::string exact;
    bool file = false;
  };
  std::map<std::string, Seen> seen;
  for (const std::string& path : paths) {
    for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
      const bool file = end == std::string::npos;
      const std::string exact = path.substr(0, end);
      const auto [it, fresh] = seen.try_emplace(lower(exact), Seen{exact, file});
      if (!fresh && it->second.exact != exact) {
        return fmt::format("{} and {} differ in case alone, which is one name on some machines", it->second.exact, exact);
      }
      if (!fresh && file && it->second.file) return fmt::format("{} is there twice", exact);
      if (!fresh && it->second.file != file) return fmt::format("{} is a file and a folder at once", exact);
      if (file) break;
    }
  }
  return {};
}

std::string shown(std::string_view name) {
  constexpr std::size_t most = 120;
  std::string text;
  for (const char c : name.substr(0, most)) {
    if (c >= 0x20 && c < 0x7F)
      text += c;
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return name.size() > most ? text + "…" : text;
}

}  // namespace allot::package
