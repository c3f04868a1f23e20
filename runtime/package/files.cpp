#include "runtime/package/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "runtime/package/limits.h"
#include "runtime/package/names.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

Error cannot(std::string_view what, const fs::path& path) {
  return Error{fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)), ""};
}

bool is_own(std::string_view path) { return path == listing_file || path == signature_file; }

std::size_t most_bytes(std::string_view path) {
  if (path == listing_file) return limits.listing_bytes;
  if (path == signature_file) return limits.signature_bytes;
  return path == project_file ? limits.text_bytes : limits.file_bytes;
}

class FolderReader {
 public:
  FolderReader(fs::path folder, bool strict) : folder_(std::move(folder)), strict_(strict) {}

  Result<Files> run() {
    if (auto done = read("", 1); !done) return done.error();
    return std::move(files_);
  }

 private:
  Result<void> read(const std::string& below, std::size_t depth) {
    std::error_code failure;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator entry(folder_ / below, failure), end; !failure && entry != end; entry.increment(failure)) {
      entries.push_back(*entry);
    }
    if (failure) return Error{fmt::format("cannot list {}: {}", (folder_ / below).string(), failure.message()), ""};
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) {
      const std::string name = entry.path().filename().string();
      if (auto taken = take(entry, below.empty() ? name : below + "/" + name, name, depth); !taken) return taken.error();
    }
    return {};
  }

  Result<void> take(const fs::directory_entry& entry, const std::string& path, const std::string& name, std::size_t depth) {
    std::error_code failure;
    const fs::file_status status = entry.symlink_status(failure);
    if (fs::is_directory(status)) {
      const bool hidden = name.front() == '.' && !strict_;
      const bool another = !strict_ && fs::exists(entry.path() / project_file, failure);
      if (hidden || another || depth > limits.path_depth) return {};
      return read(path, depth + 1);
    }
    const bool wanted = strict_ || belongs(path) || is_own(path);
    if (!wanted || (name.front() == '.' && !strict_)) return {};
    if (fs::is_symlink(status)) {
      return Error{fmt::format("{} is a link, and a package holds files alone", entry.path().string()),
                   "put the file itself there"};
    }
    if (!fs::is_regular_file(status)) return Error{fmt::format("{} is no file", entry.path().string()), ""};
    if (files_.size() > limits.files + 2) return Error{fmt::format("{} holds more than {} files", folder_.string(), limits.files), ""};
    auto text = read_file(entry.path(), most_bytes(path));
    if (!text) return text.error();
    total_ += text->size();
    if (total_ > limits.package_bytes + limits.listing_bytes + limits.signature_bytes) {
      return Error{fmt::format("{} holds more than {} bytes", folder_.string(), limits.package_bytes), ""};
    }
    files_.emplace(path, *std::move(text));
    return {};
  }

  fs::path folder_;
  bool strict_;
  Files files_;
  std::size_t total_ = 0;
};

}  // namespace

Result<std::string> read_file(const fs::path& file, std::size_t most) {
  const int in = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (in < 0) {
    if (errno == ELOOP) return Error{fmt::format("{} is a link", file.string()), "name the file itself"};
    return cannot("read", file);
  }
  struct stat status {};
  const bool regular = ::fstat(in, &status) == 0 && S_ISREG(status.st_mode);
  std::string text(regular ? most + 1 : 0, '\0');
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < text.size() && (got = ::read(in, text.data() + size, text.size() - size)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    size += static_cast<std::size_t>(got);
  }
  const Error problem = cannot("read", file);
  ::close(in);
  if (!regular) return Error{fmt::format("{} is no file", file.string()), ""};
  if (got < 0) return problem;
  if (size > most) return Error{fmt::format("{} is larger than {} bytes", file.string(), most), ""};
  text.resize(size);
  return text;
}

Result<void> check_files(const Files& files) {
  const std::size_t count = files.size() - files.count(std::string(listing_file)) - files.count(std::string(signature_file));
  if (count > limits.files) return Error{fmt::format("it holds {} files, more than {}", count, limits.files), ""};
  std::size_t total = 0;
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : files) {
    if (const std::string problem = path_problem(path); !problem.empty()) {
      return Error{fmt::format("the name {} {}", shown(path), problem), ""};
    }
    if (!belongs(path) && !is_own(path)) {
      return Error{fmt::format("it holds {}, and a package holds policies, .md, README, LICENSE and NOTICE files alone",
                               path), ""};
    }
    if (bytes.size() > most_bytes(path)) return Error{fmt::format("{} is larger than {} bytes", path, most_bytes(path)), ""};
    total += is_own(path) ? 0 : bytes.size();
    paths.push_back(path);
  }
  if (total > limits.package_bytes) return Error{fmt::format("it holds more than {} bytes", limits.package_bytes), ""};
  if (const std::string problem = collision(paths); !problem.empty()) return Error{problem, ""};
  if (!files.contains(std::string(project_file))) return Error{"it holds no allot.toml, so it is no package", ""};
  return {};
}

Result<Files> read_folder(const fs::path& folder) { return FolderReader(folder, false).run(); }

Result<Files> read_whole_folder(const fs::path& folder) { return FolderReader(folder, true).run(); }

}  // namespace allot::package
