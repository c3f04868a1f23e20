// Writes a table as an Apache Parquet file: the plain form of the format, which every reader knows (columns of optional
// integers and texts, not compressed, without dictionaries; format version 1, github.com/apache/parquet-format).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/cli/row_table.h"

namespace allot::cli {

class ParquetWriter {
 public:
  // "-" is standard output. What that does not take is told by the end of the program (runtime/cli/output.h).
  static Result<ParquetWriter> open(const std::filesystem::path& file, std::vector<TableColumn> columns);
  // As many values as columns, each of its type or empty.
  void add(const std::vector<TableValue>& row);
  // Without it the file has no end, and readers refuse it.
  Result<void> finish();

 private:
  struct Chunk {
    std::string values;          // of those that are there
    std::vector<bool> defined;
  };
  struct WrittenChunk {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  struct WrittenGroup {
    std::int64_t rows = 0;
    std::vector<WrittenChunk> chunks;
  };
  void write_group();
  WrittenChunk write_chunk(const Chunk& chunk);
  std::string footer() const;
  std::ostream& out();

  std::filesystem::path path_;
  std::ofstream file_;  // not open where it is standard output
  std::int64_t written_ = 0;
  std::vector<TableColumn> columns_;
  std::vector<Chunk> chunks_;
  std::vector<WrittenGroup> groups_;
};

}  // namespace allot::cli
