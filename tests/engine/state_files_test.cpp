// The snapshot on disk: a barrier writes what it changed, and what is read is what was remembered.
#include <filesystem>
#include <random>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/state_files.h"
#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::Folder;
using bench::read_file;
using bench::write_file;
using lang::Cell;
namespace fs = std::filesystem;

namespace {

const char* const policy_text = R"(
policy memory
hit when reward >= 1
state belief: beta per prompt = beta(1, 1) decay 0.99
state level: real per prompt = 0.5
state known: real per category = 0.25 decay 0.9
state seen: int per run = 0
on finish of group g { train }
on update of batch b { remember seen = seen + 1 }
)";

// What an engine remembers, without an engine.
class Memory {
 public:
  Memory() : policy_(bench::policy_of(policy_text)), store(policy_->program()) {}

  void barrier(std::size_t touched, std::size_t of) {
    store.decay();
    pool.next_barrier();
    for (std::size_t i = 0; i < touched; ++i) {
      const std::string prompt = fmt::format("prompt \"{}\"", random_() % of);
      store.write_prompt(prompt, 0, std::vector{Cell::beta(number(), number())});
      if (i % 3 == 0) store.write_prompt(prompt, 1, std::vector{Cell::of(number())});
      if (i % 5 == 0) store.write_category(fmt::format("c{}", random_() % 7), 2, std::vector{Cell::of(number())});
      pool.opened(prompt, barriers);
      pool.change(prompt).add(number());
      if (i % 7 == 0) pool.evict(prompt, pool.epoch() + 1);
    }
    if (barriers % 9 == 8) pool.next_epoch();
    store.renew();
    pool.renew();
    ++barriers;
  }
  Snapshot snapshot() const {
    SnapshotHead head;
    head.policy_hash = policy_->program().hash;
    head.iteration = barriers - 1;
    head.run_state = store.run();
    head.epoch = pool.epoch();
    head.passed = pool.passed();
    return {std::make_shared<const HeadText>(write(head)), store.moment(), pool.histories(), pool.epoch()};
  }
  StateStore fresh() const { return StateStore(policy_->program()); }

 private:
  double number() { return std::uniform_real_distribution<double>(0, 9)(random_); }
  std::shared_ptr<Policy> policy_;
  std::mt19937_64 random_{17};

 public:
  StateStore store;
  Pool pool;
  int barriers = 0;
};

// As one text, so that all of it is compared.
std::string text_of(const fs::path& folder, const Memory& memory) {
  auto read = read_state(folder, {});
  if (!read) FAIL(read.error().text());
  SnapshotHead head = *read;
  head.run_state = read->run_state;
  Pool pool;
  StateStore store = memory.fresh();
  const int epoch = read->epoch;
  const std::int64_t passed = read->passed;
  REQUIRE(read->give_memory(store));
  pool.restore(std::move(read->histories), epoch, passed);
  return write(Snapshot{std::make_shared<const HeadText>(write(head)), store.moment(), pool.histories(), epoch});
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder / "state", none)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::uintmax_t bytes_in(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files_in(folder)) bytes += fs::file_size(file);
  return bytes;
}

void make(const fs::path& folder) { fs::create_directories(folder); }

}  // namespace

TEST_CASE("what is read is what was remembered, at every barrier; a barrier writes a part, and old files go") {
  const Folder folder;
  make(folder.path());
  Memory memory;
  StateFiles files(folder.path());
  constexpr std::size_t prompts = 12'000;
  memory.barrier(4 * prompts, prompts);  // nearly all of them
  REQUIRE(files.write(memory.snapshot()));
  const std::uintmax_t whole = bytes_in(folder.path());
  CHECK(text_of(folder.path(), memory) == write(memory.snapshot()));
  for (int barrier = 0; barrier < 100; ++barrier) {
    memory.barrier(prompts / 100, prompts);
    REQUIRE(files.write(memory.snapshot()));
    // Touched are 1 %, and 1024 of 12,000 prompts are renewed.
    CHECK(fs::file_size(files_in(folder.path()).back()) < whole / 8);
    if (barrier % 45 == 8) CHECK(text_of(folder.path(), memory) == write(memory.snapshot()));
  }
  CHECK(bytes_in(folder.path()) < 2 * whole);
  CHECK(files_in(folder.path()).size() <= 65);
}

TEST_CASE("a small memory is one file, and without any there is none") {
  const Folder folder;
  make(folder.path());
  Memory memory;
  StateFiles files(folder.path());
  memory.barrier(0, 1);
  REQUIRE(files.write(memory.snapshot()));
  CHECK(files_in(folder.path()).empty());
  for (int barrier = 0; barrier < 10; ++barrier) {
    memory.barrier(5, 50);
    REQUIRE(files.write(memory.snapshot()));
    CHECK(files_in(folder.path()).size() == 1);
    CHECK(text_of(folder.path(), memory) == write(memory.snapshot()));
  }
}

TEST_CASE("another process goes on in the folder, and the snapshot before stays until it has written") {
  const Folder folder;
  make(folder.path());
  Memory memory;
  memory.barrier(3000, 5000);
  REQUIRE(StateFiles(folder.path()).write(memory.snapshot()));
  const std::string before = write(memory.snapshot());
  StateFiles next(folder.path());
  memory.barrier(50, 5000);
  // The disk is full: nothing is lost.
  fs::create_symlink("/dev/full", folder.path() / "state.json.new");
  const auto failed = next.write(memory.snapshot());
  REQUIRE_FALSE(failed);
  CHECK(failed.error().what.find("No space left") != std::string::npos);
  CHECK(text_of(folder.path(), memory) == before);
  fs::remove(folder.path() / "state.json.new");
  REQUIRE(next.write(memory.snapshot()));
  CHECK(text_of(folder.path(), memory) == write(memory.snapshot()));
  CHECK(files_in(folder.path()).size() == 1);  // what nobody names is gone
}

TEST_CASE("a file that is missing, changed or exchanged is refused by its name") {
  const Folder folder;
  make(folder.path());
  Memory memory;
  StateFiles files(folder.path());
  for (int barrier = 0; barrier < 4; ++barrier) {
    memory.barrier(barrier == 0 ? 9000 : 60, 3000);
    REQUIRE(files.write(memory.snapshot()));
  }
  const auto refused = [&](const fs::path& file) {
    const auto read = read_state(folder.path(), {});
    REQUIRE_FALSE(read);
    INFO(read.error().text());
    CHECK(read.error().what.find(file.filename().string()) != std::string::npos);
  };
  const std::vector<fs::path> all = files_in(folder.path());
  REQUIRE(all.size() >= 3);
  std::mt19937_64 random(23);
  for (const fs::path& file : all) {
    const std::string good = read_file(file);
    fs::remove(file);
    refused(file);
    write_file(file, good.substr(0, good.size() / 2));
    refused(file);
    for (int i = 0; i < 5; ++i) {
      std::string flipped = good;
      flipped[random() % good.size()] ^= 1;
      write_file(file, flipped);
      refused(file);
    }
    write_file(file, good.substr(0, good.find('\n') + 1) + good);  // every line is sound
    refused(file);
    write_file(file, good);
  }
  write_file(all[0].string() + ".aside", read_file(all[0]));
  write_file(all[0], read_file(all[1]));
  refused(all[0]);
  write_file(all[0], read_file(all[0].string() + ".aside"));
  CHECK(text_of(folder.path(), memory) == write(memory.snapshot()));
  const std::string head = read_file(folder.path() / "state.json");
  for (std::size_t at = 0; at < head.size(); at += 37) {
    std::string flipped = head;
    flipped[at] = flipped[at] == 'x' ? 'y' : 'x';
    write_file(folder.path() / "state.json", flipped);
    CHECK_FALSE(read_state(folder.path(), {}));
  }
  fs::remove(folder.path() / "state.json");
  CHECK(read_state(folder.path(), {}).error().what.find("state.json is missing") != std::string::npos);
}

TEST_CASE("a checkpoint keeps its files when the run has long left them behind") {
  const Folder folder, checkpoint;
  make(folder.path());
  make(checkpoint.path());
  Memory memory;
  StateFiles files(folder.path());
  for (int barrier = 0; barrier < 3; ++barrier) {
    memory.barrier(2000, 5000);
    REQUIRE(files.write(memory.snapshot()));
  }
  const Snapshot saved = memory.snapshot();
  REQUIRE(files.write(saved));
  CHECK(files.holds(*saved.head));
  CHECK_FALSE(files.holds(*memory.snapshot().head));
  REQUIRE(files.link_to(checkpoint.path()));
  CHECK(fs::hard_link_count(files_in(checkpoint.path()).front()) == 2);  // nothing was copied
  const std::string then = write(saved);
  for (int barrier = 0; barrier < 70; ++barrier) {
    memory.barrier(100, 5000);
    REQUIRE(files.write(memory.snapshot()));
  }
  CHECK(fs::hard_link_count(files_in(checkpoint.path()).front()) == 1);  // the run has no use for it any more
  CHECK(text_of(checkpoint.path(), memory) == then);
  fs::remove_all(folder.path());
  CHECK(text_of(checkpoint.path(), memory) == then);
}
