#include "runtime/cli/policy_file.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "lang/limits.h"
#include "runtime/cli/output.h"
#include "runtime/math/checksum.h"
#include "runtime/package/library.h"

namespace allot::cli {

namespace fs = std::filesystem;

namespace {

// One byte beyond the limit is enough for the checker to say that there is too much, even of /dev/zero.
Result<std::string> read_text(const fs::path& path) {
  const bool standard_input = path == "-";
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  const std::unique_ptr<std::FILE, Close> file(standard_input ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return Error{fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)), ""};
  std::string text(lang::limits.source_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    return Error{fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)), ""};
  }
  return text;
}

bool coloured() { return isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace

Result<std::vector<fs::path>> find_policies(const std::vector<std::string>& named) {
  std::vector<fs::path> found;
  for (const std::string& name : named) {
    std::error_code failure;
    if (!fs::is_directory(name, failure)) {
      found.emplace_back(name);
      continue;
    }
    std::vector<fs::path> below;
    for (fs::recursive_directory_iterator entry(name, fs::directory_options::skip_permission_denied, failure), end;
         !failure && entry != end; entry.increment(failure)) {
      // Installed packages and the like: what is in there is somebody else's.
      if (entry->path().filename().string().starts_with('.') && entry->is_directory(failure)) {
        entry.disable_recursion_pending();
        continue;
      }
      if (entry->path().extension() == ".allot" && entry->is_regular_file(failure)) below.push_back(entry->path());
    }
    if (failure) return Error{fmt::format("cannot list {}: {}", name, failure.message()), ""};
    if (below.empty()) return Error{fmt::format("the folder {} holds no .allot file", name), ""};
    std::sort(below.begin(), below.end());
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

namespace {

PolicyFile from_text(const fs::path& path, std::string text) {
  PolicyFile file;
  file.source = std::make_shared<const lang::Source>(path == "-" ? "<stdin>" : path.string(), std::move(text));
  return file;
}

}  // namespace

Result<PolicyFile> read_source(const fs::path& path) {
  Result<std::string> text = read_text(path);
  if (!text) return text.error();
  return from_text(path, *std::move(text));
}

Result<PolicyFile> read_policy(const fs::path& path) {
  Result<std::string> text = read_text(path);
  if (!text) return text.error();
  const std::string own_hash = math::sha256_hex(*text);
  PolicyFile file = from_text(path, *std::move(text));
  file.program = lang::check(file.source, file.diagnostics, package::environment_library());
  if (file.program) {
    file.program->hash = file.source->file_count() == 1 ? own_hash : math::sha256_hex(lang::hashed_text(*file.source));
  }
  file.diagnostics.sort();
  return file;
}

Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == setting.size()) {
      return Error{fmt::format("--set wants NAME=VALUE, not '{}'", setting), "for example --set threshold=0.2"};
    }
    if (!values.emplace(setting.substr(0, equals), setting.substr(equals + 1)).second) {
      return Error{fmt::format("--set gives '{}' twice", setting.substr(0, equals)), ""};
    }
  }
  return values;
}

namespace {

void keep_diagnostics_of(const PolicyFile& file) {
  if (!file.program) keep_diagnostics(nlohmann::ordered_json::parse(lang::render_json(file.diagnostics, *file.source)));
}

}  // namespace

void keep_diagnostics_of(const fs::path& policy) {
  if (const auto file = read_policy(policy)) keep_diagnostics_of(*file);
}

void show_diagnostics(const PolicyFile& file) {
  int shown = 0;
  for (const lang::Diagnostic& diagnostic : file.diagnostics.all()) {
    if (shown++ == lang::limits.errors) break;
    const std::string text = lang::render(diagnostic, *file.source);
    const std::size_t head = coloured() ? std::min(text.find(':'), text.size()) : 0;
    const bool error = diagnostic.severity == lang::Severity::Error;
    if (head > 0) fmt::print(stderr, "\x1b[1;{}m{}\x1b[0m", error ? 31 : 33, text.substr(0, head));
    fmt::print(stderr, "{}{}", text.substr(head), text.ends_with('\n') ? "" : "\n");
  }
  if (const int more = lang::hidden(file.diagnostics); more > 0) fmt::print(stderr, "and {} more\n", more);
  keep_diagnostics_of(file);
}

std::string where(const lang::Source& source, std::uint32_t offset) {
  return source.file_count() > 1 ? source.where(offset) : fmt::format("line {}", source.place(offset).line);
}

}  // namespace allot::cli
