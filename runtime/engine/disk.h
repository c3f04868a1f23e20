// Files that are written so that a reader, or a crash, finds the old text or the new one and nothing between.
//
// What a resume relies on outlives a loss of power too. The order is always the same: what a file holds is synced, then
// it takes its name, then the folder in which the name stands is synced. Where a filesystem knows no sync, as some on a
// network do, nothing better can be done than to go on; sync_refusal() says so.
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
// What was written to an open file is on disk, or its filesystem knows no sync; else errno tells why not.
bool to_disk(int file);
bool data_to_disk(int file);  // without the times of the file
// The same of a file that nobody has open, and of the names in a folder.
Result<void> sync_file(const std::filesystem::path& file);
Result<void> sync_folder(const std::filesystem::path& folder);
// That the filesystem of a folder knows no sync, in words; empty where it does.
std::string sync_refusal(const std::filesystem::path& folder);

// The folder, and those above it that are missing; their names are on disk.
Result<void> make_folders(const std::filesystem::path& folder);

// OnDisk survives a loss of power; Atomic survives the end of the process, for what is written anew or is not missed.
enum class Durability { OnDisk, Atomic };

Result<void> replace_file(const std::filesystem::path& file, std::string_view text,
                          Durability durability = Durability::OnDisk);
// The same of a draft that lies beside the file and is closed.
Result<void> put_in_place(const std::filesystem::path& draft, const std::filesystem::path& file);
// A finished folder, whose files are on disk, takes in one move the place of `to`, which may be there; what was there goes.
Result<void> replace_folder(const std::filesystem::path& from, const std::filesystem::path& to);

// A new file that is written bit by bit and never held as a whole.
class GrowingFile {
 public:
  static Result<GrowingFile> open(const std::filesystem::path& file);
  ~GrowingFile();
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&&) = delete;

  void append(std::string_view text);
  // What it holds is on disk when this returns; what could not be written before is told here too.
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
