#include "runtime/cli/parquet.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include <fmt/format.h>

#include "runtime/cli/output.h"

namespace allot::cli {

namespace {

constexpr std::string_view magic = "PAR1";
constexpr std::size_t rows_a_group = 1 << 16;

// Numbers of parquet.thrift.
constexpr std::int32_t type_int64 = 2, type_byte_array = 6;
constexpr std::int32_t optional = 1;
constexpr std::int32_t utf8 = 0;
constexpr std::int32_t encoding_plain = 0, encoding_rle = 3;
constexpr std::int32_t data_page = 0;

std::int32_t physical(ColumnType type) { return type == ColumnType::Integer ? type_int64 : type_byte_array; }

void put_varint(std::string& text, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  text += static_cast<char>(value);
}

template <typename T>
void put_little(std::string& text, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) text += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}

// Thrift's compact protocol, as far as Parquet's headers need it. A field is named by its number.
class Thrift {
 public:
  Thrift& integer(int field, std::int32_t value) { return begin(field, 5).number(value); }
  Thrift& integer(int field, std::int64_t value) { return begin(field, 6).number(value); }
  Thrift& text(int field, std::string_view value) { return begin(field, 8).put_text(value); }
  Thrift& integers(int field, const std::vector<std::int32_t>& values) {
    begin_list(field, 5, values.size());
    for (const std::int32_t value : values) number(value);
    return *this;
  }
  Thrift& texts(int field, const std::vector<std::string_view>& values) {
    begin_list(field, 8, values.size());
    for (const std::string_view value : values) put_text(value);
    return *this;
  }
  Thrift& structure(int field, const Thrift& value) { return begin(field, 12).add(value); }
  Thrift& structures(int field, const std::vector<Thrift>& values) {
    begin_list(field, 12, values.size());
    for (const Thrift& value : values) add(value);
    return *this;
  }
  std::string bytes() const { return bytes_ + '\0'; }

 private:
  Thrift& begin(int field, int type) {
    bytes_ += static_cast<char>((field - last_) << 4 | type);  // fields come in order and less than 16 apart
    last_ = field;
    return *this;
  }
  void begin_list(int field, int type, std::size_t size) {
    begin(field, 9);
    if (size < 15) {
      bytes_ += static_cast<char>(size << 4 | static_cast<std::size_t>(type));
    } else {
      bytes_ += static_cast<char>(0xF0 | type);
      put_varint(bytes_, size);
    }
  }
  Thrift& number(std::int64_t value) {
    put_varint(bytes_, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
    return *this;
  }
  Thrift& put_text(std::string_view value) {
    put_varint(bytes_, value.size());
    bytes_ += value;
    return *this;
  }
  Thrift& add(const Thrift& value) {
    bytes_ += value.bytes();
    return *this;
  }

  std::string bytes_;
  int last_ = 0;
};

// Which values are there: runs of equal levels, 0 or 1 (the RLE half of Parquet's hybrid), after their length.
std::string definition_levels(const std::vector<bool>& defined) {
  std::string runs;
  for (std::size_t i = 0; i < defined.size();) {
    std::size_t end = i;
    while (end < defined.size() && defined[end] == defined[i]) ++end;
    put_varint(runs, (end - i) << 1);
    runs += static_cast<char>(defined[i]);
    i = end;
  }
  std::string levels;
  put_little(levels, static_cast<std::uint32_t>(runs.size()));
  return levels + runs;
}

}  // namespace

Result<ParquetWriter> ParquetWriter::open(const std::filesystem::path& file, std::vector<TableColumn> columns) {
  ParquetWriter writer;
  writer.path_ = file;
  if (file == "-") {
    if (::isatty(STDOUT_FILENO) == 1) return Error{"A Parquet table is no text for a terminal.", "name a file, or redirect: > records.parquet"};
  } else {
    writer.file_.open(file, std::ios::binary);
    if (!writer.file_) return Error{fmt::format("Cannot write {}: {}.", file.string(), std::strerror(errno)), ""};
  }
  writer.out() << magic;
  writer.written_ = static_cast<std::int64_t>(magic.size());
  writer.columns_ = std::move(columns);
  writer.chunks_.resize(writer.columns_.size());
  return writer;
}

std::ostream& ParquetWriter::out() { return path_ == "-" ? std::cout : file_; }

void ParquetWriter::add(const std::vector<TableValue>& row) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    Chunk& chunk = chunks_[i];
    chunk.defined.push_back(row[i].index() != 0);
    if (const auto* number = std::get_if<std::int64_t>(&row[i])) put_little(chunk.values, *number);
    if (const auto* text = std::get_if<std::string>(&row[i])) {
      put_little(chunk.values, static_cast<std::uint32_t>(text->size()));
      chunk.values += *text;
    }
  }
  if (chunks_.front().defined.size() == rows_a_group) write_group();
}

ParquetWriter::WrittenChunk ParquetWriter::write_chunk(const Chunk& chunk) {
  const std::string levels = definition_levels(chunk.defined);
  const auto size = static_cast<std::int32_t>(levels.size() + chunk.values.size());
  Thrift data;
  data.integer(1, static_cast<std::int32_t>(chunk.defined.size())).integer(2, encoding_plain);
  data.integer(3, encoding_rle).integer(4, encoding_rle);
  Thrift header;
  header.integer(1, data_page).integer(2, size).integer(3, size).structure(5, data);
  const std::string bytes = header.bytes();
  out() << bytes << levels << chunk.values;
  const WrittenChunk written{written_, static_cast<std::int64_t>(bytes.size()) + size};
  written_ += written.bytes;
  return written;
}

void ParquetWriter::write_group() {
  WrittenGroup group;
  group.rows = static_cast<std::int64_t>(chunks_.front().defined.size());
  for (Chunk& chunk : chunks_) {
    group.chunks.push_back(write_chunk(chunk));
    chunk = {};
  }
  groups_.push_back(std::move(group));
}

std::string ParquetWriter::footer() const {
  std::vector<Thrift> schema(1);
  schema.front().text(4, "records").integer(5, static_cast<std::int32_t>(columns_.size()));
  for (const TableColumn& column : columns_) {
    Thrift element;
    element.integer(1, physical(column.type)).integer(3, optional).text(4, column.name);
    if (column.type == ColumnType::Text) element.integer(6, utf8);
    schema.push_back(element);
  }
  std::int64_t rows = 0;
  std::vector<Thrift> groups;
  for (const WrittenGroup& group : groups_) {
    rows += group.rows;
    std::int64_t bytes = 0;
    std::vector<Thrift> chunks;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const WrittenChunk& written = group.chunks[i];
      bytes += written.bytes;
      Thrift about;
      about.integer(1, physical(columns_[i].type)).integers(2, {encoding_plain, encoding_rle}).texts(3, {columns_[i].name});
      about.integer(4, std::int32_t{0}).integer(5, group.rows).integer(6, written.bytes).integer(7, written.bytes);
      about.integer(9, written.offset);
      Thrift chunk;
      chunks.push_back(chunk.integer(2, written.offset).structure(3, about));
    }
    Thrift told;
    groups.push_back(told.structures(1, chunks).integer(2, bytes).integer(3, group.rows));
  }
  Thrift file;
  file.integer(1, std::int32_t{1}).structures(2, schema).integer(3, rows).structures(4, groups).text(6, "allot");
  return file.bytes();
}

Result<void> ParquetWriter::finish() {
  if (!chunks_.front().defined.empty()) write_group();
  const std::string end = footer();
  std::string size;
  put_little(size, static_cast<std::uint32_t>(end.size()));
  out() << end << size << magic;
  out().flush();
  if (path_ == "-" && !out()) output_failed();
  if (!out()) return Error{fmt::format("Cannot write {}: {}.", path_.string(), std::strerror(errno)), ""};
  return {};
}

}  // namespace allot::cli
