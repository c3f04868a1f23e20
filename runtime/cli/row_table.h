// The rows of a journal as a table: the columns that SQL and Parquet have.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/engine/record_rows.h"

namespace allot::cli {

enum class ColumnType { Integer, Text };

struct TableColumn {
  const char* name;
  ColumnType type;
};
using TableValue = std::variant<std::monostate, std::int64_t, std::string>;

const std::vector<TableColumn>& row_columns();
// One a column; what does not apply to the row is empty.
std::vector<TableValue> row_values(const engine::RecordRow& row);
// The same as one JSON object, in which `reads` and `record` are JSON and not text.
std::string row_json(const engine::RecordRow& row);

}  // namespace allot::cli
