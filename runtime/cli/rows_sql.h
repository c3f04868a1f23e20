// The rows of a journal in an SQLite database in memory, and questions to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/engine/record_rows.h"

struct sqlite3;
struct sqlite3_stmt;

namespace allot::cli {

// Tables: `records` with the columns of row_columns(); `metrics` (iteration, name, value); views `decisions` and `groups`
// (those that ended).
class RowDatabase {
 public:
  static Result<RowDatabase> open();
  Result<void> add(const engine::RecordRow& row);

  struct Answer {
    std::vector<std::string> columns;
    std::vector<nlohmann::ordered_json> rows;  // arrays, a value a column
  };
  // One statement that only reads.
  Result<Answer> ask(const std::string& select);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;
  Result<Statement> prepare(const std::string& text);
  Result<void> run(const std::string& text);
  Error failed(const std::string& what) const;

  std::unique_ptr<sqlite3, Close> database_;
  Statement insert_row_, insert_metric_;
};

}  // namespace allot::cli
