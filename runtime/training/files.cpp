#include "runtime/training/files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace allot::training {

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

}  // namespace allot::training
