// The snapshot of a run on disk, as a barrier leaves it: `state.json` and, for what is remembered of prompts and
// categories, files in `state/` that are written once and never changed.
//
// A barrier adds one file with the rows that it changed, so its work and its bytes are those of the change and not of the
// memory. `state.json` comes last and names the files that belong to it, with their lengths and checksums; the rows of a
// later file replace those of an earlier one. KeyedRows::renew() sees to it that a file is of use for 64 barriers at most;
// then it goes. A checkpoint has the files under names of its own, so it keeps them for as long as it is there itself.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/snapshot.h"

namespace allot::engine {

// By one thread at a time.
class StateFiles {
 public:
  // What is in the folder before the first write() is not touched until that has succeeded.
  explicit StateFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // On disk when this returns; where it fails, the snapshot before is still there.
  Result<void> write(const Snapshot& snapshot);
  // Whether the snapshot with this head was the last that was written.
  bool holds(const HeadText& head) const { return latest_ && latest_->head.get() == &head; }
  // The same snapshot in another folder, which is there; nothing is copied where the filesystem knows hard links. On disk
  // when this returns.
  Result<void> link_to(const std::filesystem::path& folder) const;

 private:
  static constexpr std::size_t table_count = 3;  // prompts, categories, histories
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
    std::array<int, table_count> stamps{};  // the latest of its rows, by table
  };
  struct Latest {
    std::shared_ptr<const HeadText> head;
    StateRows::Moment prompts, categories;  // without rows
    Pool::Histories::Moment histories;
  };
  bool continues(const Snapshot& snapshot) const;
  std::array<int, table_count> stamps(const Snapshot& snapshot) const;
  Result<std::optional<File>> write_rows(const Snapshot& snapshot, const std::array<int, table_count>& after);
  std::string head_text(const Snapshot& snapshot, const std::vector<File>& files) const;
  void remove_others() const;

  std::filesystem::path folder_;
  int next_ = 0;  // number of the next file; 0: not looked for yet
  std::vector<File> files_;  // of the latest snapshot, in order
  std::optional<Latest> latest_;
};

// The snapshot of a folder, in either form. An error names the file that is missing or damaged.
Result<ReadSnapshot> read_state(const std::filesystem::path& folder, const StatisticsPlan& plan);

}  // namespace allot::engine
