// Files that are written so that a reader, or a crash, finds the old text or the new one and nothing between.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace allot::engine {

// The whole file; none where it is not there.
std::optional<std::string> read_whole(const std::filesystem::path& file);

// "Cannot write FILE: No space left on device.", by errno.
Error cannot(std::string_view what, const std::filesystem::path& file);
// Writes all of `text`; errno tells why where it cannot.
bool write_all(int file, std::string_view text);
// Names in a folder are on disk too; not every filesystem can.
void sync_folder(const std::filesystem::path& folder);
// What a file holds is on disk.
Result<void> sync_file(const std::filesystem::path& file);

// OnDisk survives a loss of power; Atomic survives the end of the process, for texts that check themselves.
enum class Durability { OnDisk, Atomic };

Result<void> replace_file(const std::filesystem::path& file, std::string_view text,
                          Durability durability = Durability::OnDisk);

// A new file that is written bit by bit and never held as a whole.
class GrowingFile {
 public:
  static Result<GrowingFile> open(const std::filesystem::path& file);
  ~GrowingFile();
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&&) = delete;

  void append(std::string_view text);
  // What could not be written before is told here too.
  Result<void> finish();
  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t checksum() const { return checksum_; }  // CRC-32C of all of it

 private:
  GrowingFile(std::filesystem::path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  void flush();

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::string buffer_;
  std::uint64_t bytes_ = 0;
  std::uint32_t checksum_ = 0;
  int problem_ = 0;  // errno of the first write that failed
};

}  // namespace allot::engine
