// Packages out of git repositories.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <system_error>

#include "runtime/package/exchange/child.h"
#include "runtime/package/exchange/sources.h"
#include "runtime/package/limits.h"
#include "runtime/package/names.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

class Git {
 public:
  Git(fs::path folder, std::string allowed, std::chrono::seconds patience)
      : folder_(std::move(folder)), allowed_(std::move(allowed)), patience_(patience), end_(Clock::now() + patience) {}

  Result<std::string> operator()(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"git", "-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false", "-c",
                                 "fetch.recurseSubmodules=false", "-c", "transfer.fsckObjects=true", "-c", "gc.auto=0",
                                 "-c", "protocol.ext.allow=never", "-c", "core.fsmonitor=false"};
    // Plain http stays on this machine: by no proxy, and to nobody that the server names.
    if (allowed_ == "http") all.insert(all.end(), {"-c", "http.proxy=", "-c", "http.followRedirects=false"});
    all.insert(all.end(), {"--git-dir", folder_.string()});
    all.insert(all.end(), words.begin(), words.end());
    ChildLimits bounds;
    bounds.seconds = static_cast<int>(std::max<std::int64_t>(1, seconds_left()));
    const auto answer = run_child(
        all, {{"GIT_ALLOW_PROTOCOL", allowed_}, {"GIT_TERMINAL_PROMPT", "0"}, {"GIT_NO_REPLACE_OBJECTS", "1"}, {"LC_ALL", "C"}}, bounds);
    if (!answer && is_late()) {
      return Error{fmt::format("git {}: no end within {} seconds", words.front(), patience_.count()),
                   "look whether the server answers, or clone it yourself and add the folder"};
    }
    if (!answer) {
      stopped_ = true;
      return answer.error();
    }
    if (answer->status == 127) return Error{"git cannot be started", "install git, or use another source"};
    if (answer->status != 0) {
      std::string why = answer->err;
      while (!why.empty() && why.back() == '\n') why.pop_back();
      return Error{fmt::format("git {}: {}", words.front(), why.empty() ? "it failed" : why), ""};
    }
    return answer->out;
  }

  // Nothing more is worth trying: it is late, or git was stopped, as by Ctrl-C.
  bool is_over() const { return stopped_ || is_late(); }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_late() const { return seconds_left() <= 0; }
  std::int64_t seconds_left() const { return std::chrono::duration_cast<std::chrono::seconds>(end_ - Clock::now()).count(); }

  fs::path folder_;
  std::string allowed_;
  std::chrono::seconds patience_;
  Clock::time_point end_;  // for all calls together
  mutable bool stopped_ = false;
};

// What git may speak for this address; empty where nothing.
std::string protocols(const std::string& address) {
  if (address.starts_with("https://")) return "https";
  if (address.starts_with("http://")) return is_open_http(address) ? "" : "http";
  if (address.starts_with("ssh://")) return "ssh";
  if (address.starts_with("file:///") || address.starts_with("/")) return "file";
  const std::size_t colon = address.find(':');
  const bool scp = colon != std::string::npos && colon > 0 && address.find("::") == std::string::npos &&
                   address.find('/') > colon && address.find("://") == std::string::npos;
  return scp ? "ssh" : "";
}

struct Blob {
  std::string object, path;
};

// `MODE TYPE OBJECT SIZE\tPATH` and a NUL, an entry. Those that belong to the package in the repository's root.
Result<std::vector<Blob>> wanted_blobs(std::string_view tree) {
  struct Entry {
    std::string mode, object, path;
    std::size_t size = 0;
  };
  std::vector<Entry> entries;
  std::set<std::string> others;  // folders that hold a package of their own
  while (!tree.empty()) {
    const std::string_view line = tree.substr(0, tree.find('\0'));
    tree.remove_prefix(std::min(line.size() + 1, tree.size()));
    const std::size_t tab = line.find('\t');
    std::vector<std::string> words;
    for (std::string_view head = line.substr(0, tab); !head.empty();) {
      head.remove_prefix(std::min(head.find_first_not_of(' '), head.size()));
      const std::size_t end = std::min(head.find(' '), head.size());
      if (end > 0) words.emplace_back(head.substr(0, end));
      head.remove_prefix(end);
    }
    if (tab == std::string_view::npos || words.size() != 4) return Error{"git ls-tree: its answer is not understood", ""};
    Entry entry{words[0], words[2], std::string(line.substr(tab + 1)), 0};
    if (words[1] == "blob") entry.size = std::strtoull(words[3].c_str(), nullptr, 10);
    const std::size_t slash = entry.path.rfind('/');
    if (slash != std::string::npos && entry.path.substr(slash + 1) == project_file) others.insert(entry.path.substr(0, slash + 1));
    entries.push_back(std::move(entry));
  }
  std::vector<Blob> blobs;
  std::size_t total = 0;
  for (const Entry& entry : entries) {
    const bool own = entry.path == listing_file || entry.path == signature_file;
    const bool hidden = entry.path.starts_with(".") || entry.path.find("/.") != std::string::npos;
    const bool elsewhere = std::any_of(others.begin(), others.end(), [&](const std::string& each) { return entry.path.starts_with(each); });
    if ((!belongs(entry.path) && !own) || hidden || elsewhere) continue;
    if (entry.mode == "120000") {
      return Error{fmt::format("{} is a symbolic link, and a package holds files alone", shown(entry.path)), ""};
    }
    if (entry.mode != "100644" && entry.mode != "100755") continue;
    if (const std::string problem = path_problem(entry.path); !problem.empty()) {
      return Error{fmt::format("the name {} {}", shown(entry.path), problem), ""};
    }
    total += entry.size;
    if (entry.size > limits.file_bytes) return Error{fmt::format("{} is larger than {} bytes", entry.path, limits.file_bytes), ""};
    if (total > limits.package_bytes) return Error{fmt::format("it holds more than {} bytes", limits.package_bytes), ""};
    blobs.push_back({entry.object, entry.path});
    if (blobs.size() > limits.files + 2) return Error{fmt::format("it holds more than {} files", limits.files), ""};
  }
  return blobs;
}

std::string first_line(std::string text) { return text.substr(0, text.find('\n')); }

// The commit that `revision` means there.
Result<std::string> fetch_commit(const Git& git, const std::string& address, const std::string& revision) {
  const std::string wanted = revision.empty() ? "HEAD" : revision;
  auto got = git({"fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", address, wanted});
  std::string name = "FETCH_HEAD";
  if (!got && (revision.empty() || git.is_over())) return got.error();
  if (!got) {  // a server that gives no single commit, or a shortened one
    const auto all = git({"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--", address, "+refs/*:refs/fetched/*"});
    if (!all) return git.is_over() ? all.error() : got.error();
    name = revision;
  }
  const auto commit = git({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  if (!commit) return Error{fmt::format("the repository {} has no revision {}", address, wanted), "name a tag, a branch or a commit"};
  return first_line(*commit);
}

}  // namespace

Result<std::pair<Files, std::string>> read_git(const std::string& address, const std::string& revision, std::chrono::seconds patience) {
  const std::string allowed = protocols(address);
  if (allowed.empty()) {
    return Error{fmt::format("git is not asked for {}", shown(address)),
                 is_open_http(address) ? "plain http can be changed on its way: use https, or ssh"
                                       : "addresses are https://…, ssh://…, user@host:… or a whole path, /…"};
  }
  auto work = WorkFolder::make();
  if (!work) return work.error();
  const Git git(work->path() / "store", allowed, patience);
  if (const auto made = git({"init", "--quiet", "--bare", "--template="}); !made) return made.error();
  const auto commit = fetch_commit(git, address, revision);
  if (!commit) return commit.error();
  const auto tree = git({"ls-tree", "-r", "-z", "-l", "--full-tree", *commit});
  if (!tree) return tree.error();
  const auto blobs = wanted_blobs(*tree);
  if (!blobs) return Error{fmt::format("the package in {} is refused: {}", address, blobs.error().what), blobs.error().help};
  Files files;
  for (const Blob& blob : *blobs) {
    auto bytes = git({"cat-file", "blob", blob.object});
    if (!bytes) return bytes.error();
    files.emplace(blob.path, *std::move(bytes));
  }
  return std::pair{std::move(files), *commit};
}

}  // namespace allot::package
