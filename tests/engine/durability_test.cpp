// What outlives a loss of power: the order in which the system is asked to sync files and folders and to name files. This
// program has fsync() and its like itself, so that whatever the engine asks of them is written down before it is done.
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/disk.h"
#include "runtime/engine/swap_desk.h"
#include "tests/engine/desk.h"
#include "tests/engine/swapping.h"

namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) names.insert(entry.path().filename().string());
  return names;
}

// What is asked of the disk below a folder, by whatever thread, in order: "sync state.json.new", "name state.json", "sync .".
class Recording {
 public:
  explicit Recording(const fs::path& root) : root_(fs::canonical(root)) {
    const std::lock_guard lock(mutex_);
    active_ = this;
  }
  ~Recording() {
    const std::lock_guard lock(mutex_);
    active_ = nullptr;
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // Names in `state/` as of the last call.
  std::set<std::string> rows() const {
    const std::lock_guard lock(mutex_);
    return rows_;
  }

  static void tell(std::string_view what, const fs::path& of) {
    const std::lock_guard lock(mutex_);
    if (active_ == nullptr) return;
    const fs::path inside = of.lexically_relative(active_->root_);
    if (inside.empty() || *inside.begin() == "..") return;
    active_->calls_.push_back(fmt::format("{} {}", what, inside.string()));
    active_->rows_ = names_in(active_->root_ / "state");
  }

  static inline std::atomic<int> sync_fails_with = 0;  // an errno

 private:
  static inline std::mutex mutex_;
  static inline Recording* active_ = nullptr;
  fs::path root_;
  std::vector<std::string> calls_;
  std::set<std::string> rows_;
};

int sync_by(long call, int file) {
  std::error_code none;
  Recording::tell("sync", fs::read_symlink(fmt::format("/proc/self/fd/{}", file), none));
  if (const int number = Recording::sync_fails_with; number != 0) {
    errno = number;
    return -1;
  }
  return static_cast<int>(::syscall(call, file));
}

int rename_by(int from_folder, const char* from, int to_folder, const char* to, unsigned int flags) {
  const int done = flags == 0 ? ::renameat(from_folder, from, to_folder, to)
                              : static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  const int number = errno;
  std::error_code none;
  if (done == 0) Recording::tell("name", fs::canonical(fs::path(to).parent_path(), none) / fs::path(to).filename());
  errno = number;
  return done;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int fsync(int file) { return sync_by(SYS_fsync, file); }
__attribute__((visibility("default"))) int fdatasync(int file) { return sync_by(SYS_fdatasync, file); }
__attribute__((visibility("default"))) int rename(const char* from, const char* to) noexcept {
  return rename_by(AT_FDCWD, from, AT_FDCWD, to, 0);
}
__attribute__((visibility("default"))) int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                                                     unsigned int flags) noexcept {
  return rename_by(from_folder, from, to_folder, to, flags);
}

}  // extern "C"

using namespace allot;
using namespace allot::engine;
using bench::Driver;
using bench::MadeFolder;
using bench::prompts;
using bench::settings;
using Calls = std::vector<std::string>;

namespace {

// As long as it is there, no sync succeeds.
struct Failing {
  explicit Failing(int number) { Recording::sync_fails_with = number; }
  ~Failing() { Recording::sync_fails_with = 0; }
};

std::unique_ptr<LiveEngine> remembering(const fs::path& run) {
  Settings made = settings(2, 2);
  made.run_folder = run;
  return swapping::engine_of(swapping::with_beta, made);
}

std::set<std::string> named(const fs::path& state) {
  std::set<std::string> names;
  const auto json = nlohmann::json::parse(bench::read_file(state));
  for (const auto& file : json.at("files")) names.insert(file.at(0).get<std::string>());
  return names;
}

}  // namespace

TEST_CASE("a file is synced, then it takes its name, then the folder is synced") {
  const MadeFolder folder;
  const Recording recording(folder.path);
  REQUIRE(replace_file(folder.path / "one", "text"));
  CHECK(recording.calls() == Calls{"sync one.new", "name one", "sync ."});
  REQUIRE(replace_file(folder.path / "two", "text", Durability::Atomic));
  CHECK(recording.calls().size() == 4);  // its name alone
  bench::write_file(folder.path / "draft", "three");
  REQUIRE(put_in_place(folder.path / "draft", folder.path / "three"));
  const Calls all = recording.calls();
  CHECK(Calls(all.begin() + 4, all.end()) == Calls{"sync draft", "name three", "sync ."});
  CHECK(bench::read_file(folder.path / "three") == "three");
}

TEST_CASE("a folder that is made is on disk with those above it; one that takes the place of another is before and after") {
  const MadeFolder folder;
  const Recording recording(folder.path);
  REQUIRE(make_folders(folder.path / "a" / "b"));
  CHECK(recording.calls() == Calls{"sync .", "sync a"});
  REQUIRE(make_folders(folder.path / "a" / "b"));
  CHECK(recording.calls().size() == 2);
  bench::write_file(folder.path / "a" / "old", "old");
  fs::create_directory(folder.path / "new");
  bench::write_file(folder.path / "new" / "file", "new");
  REQUIRE(replace_folder(folder.path / "new", folder.path / "a"));
  const Calls all = recording.calls();
  CHECK(Calls(all.begin() + 2, all.end()) == Calls{"sync new", "name a", "sync ."});
  CHECK(names_in(folder.path) == std::set<std::string>{"a"});
  CHECK(names_in(folder.path / "a") == std::set<std::string>{"file"});
}

// The lines of an iteration, what it changed, what names that; and only then goes what nobody names any more.
TEST_CASE("behind a barrier everything is on disk before what stands on it takes its name") {
  const MadeFolder folder, checkpoint;
  auto engine = remembering(folder.path);
  Driver driver(*engine, swapping::by_digit);
  driver.run(0, prompts(2));
  {
    const Recording recording(checkpoint.path);
    REQUIRE(engine->save_state_in(checkpoint.path));  // waits for the first barrier too
    CHECK(recording.calls() == Calls{"sync .", "sync state", "sync state.json.new", "name state.json", "sync ."});
  }
  const auto before = named(folder.path / "state.json");
  const Recording recording(folder.path);
  driver.run(1, prompts(2));
  engine.reset();
  CHECK(recording.calls() == Calls{"sync journal/000001.jsonl", "sync state/000002.jsonl", "sync state", "sync state.json.new",
                                   "name state.json", "sync ."});
  CHECK(before == std::set<std::string>{"000001.jsonl"});
  CHECK(named(folder.path / "state.json") == std::set<std::string>{"000002.jsonl"});  // all rows are the barrier's
  CHECK(recording.rows() == std::set<std::string>{"000001.jsonl", "000002.jsonl"});   // until the new one was on disk
  CHECK(names_in(folder.path / "state") == std::set<std::string>{"000002.jsonl"});
}

TEST_CASE("a swap that is answered is on disk: its text, its request and its answer") {
  const MadeFolder folder;
  auto engine = desk::engine_in(folder.path);
  const auto served = SwapDesk::open(*engine, folder.path, {});
  REQUIRE(served);
  const Recording recording(folder.path);
  const auto report = ask_for_swap(folder.path, desk::request_of(desk::gate(1)), 10);
  if (!report) FAIL(report.error().text());
  REQUIRE(report->outcome == SwapOutcome::Active);
  const auto calls = [&] {
    Calls all;
    for (const std::string& call : recording.calls()) all.push_back(std::regex_replace(call, std::regex("[0-9]{20}-[0-9]+"), "ID"));
    return all;
  };
  const auto has = [&](const std::string& call) {
    const Calls all = calls();
    return std::find(all.begin(), all.end(), call) != all.end();
  };
  REQUIRE(desk::comes_true([&] { return has("sync swap/answers"); }));
  const Calls all = calls();
  // That each comes after the one before it.
  const auto in_order = [&](const Calls& wanted) {
    auto from = all.begin();
    for (const std::string& call : wanted) {
      from = std::find(from, all.end(), call);
      INFO(call);
      REQUIRE(from != all.end());
      ++from;
    }
  };
  const std::string text = "versions/" + report->to + ".json";
  in_order({"sync swap/requests/ID.json.new", "name swap/requests/ID.json", "sync swap/requests", "sync swap/answers/ID.json.new",
            "name swap/answers/ID.json", "sync swap/answers"});
  in_order({"sync " + text + ".new", "name " + text, "sync versions", "sync swap/answers/ID.json.new"});
  CHECK_FALSE(has("sync swap/alive.json.new"));  // written anew each second
}

TEST_CASE("a filesystem that knows no sync is told of once, and the run goes on") {
  for (const int number : {EINVAL, EROFS}) {
    const MadeFolder folder;
    const Failing failing(number);
    auto engine = remembering(folder.path);
    Driver driver(*engine, swapping::by_digit);
    CHECK(driver.run(0, prompts(2)).message.find("knows no sync") != std::string::npos);
    CHECK(driver.run(1, prompts(2)).message.find("knows no sync") == std::string::npos);
    engine.reset();
    CHECK(fs::exists(folder.path / "state.json"));
    for (const auto& note : swapping::records(folder.path, "note")) {  // which the journal of another machine would not have
      CHECK(note.at("text").get<std::string>().find("knows no sync") == std::string::npos);
    }
  }
}

TEST_CASE("what could not be synced takes no name") {
  const MadeFolder folder;
  REQUIRE(replace_file(folder.path / "state.json", "old"));
  const Failing failing(EIO);
  const auto failed = replace_file(folder.path / "state.json", "new");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().what.find("Input/output error") != std::string::npos);
  CHECK(bench::read_file(folder.path / "state.json") == "old");
  CHECK(names_in(folder.path) == std::set<std::string>{"state.json"});
}

TEST_CASE("a folder that its filesystem does not sync is told of and no loss, one that could not be written is") {
  const MadeFolder folder;
  for (const int number : {EBADF, EISDIR, EACCES}) {
    const Failing failing(number);
    CHECK(sync_folder(folder.path));
    CHECK(sync_refusal(folder.path).find("knows no sync") != std::string::npos);
    CHECK_FALSE(replace_file(folder.path / "state.json", "new"));  // of a file it is a loss
  }
  for (const int number : {EIO, ENOSPC, EDQUOT}) {
    const Failing failing(number);
    CHECK_FALSE(sync_folder(folder.path));
  }
}
