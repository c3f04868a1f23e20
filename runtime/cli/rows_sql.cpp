#include "runtime/cli/rows_sql.h"

#include <sqlite3.h>

#include <fmt/format.h>

#include "runtime/cli/row_table.h"

namespace allot::cli {

using Json = nlohmann::ordered_json;

void RowDatabase::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void RowDatabase::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Error RowDatabase::failed(const std::string& what) const {
  return Error{fmt::format("{}: {}.", what, sqlite3_errmsg(database_.get())),
               "tables: records, metrics; views: decisions, groups; `allot log --help` names the columns"};
}

Result<RowDatabase::Statement> RowDatabase::prepare(const std::string& text) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(database_.get(), text.c_str(), static_cast<int>(text.size()), &statement, &rest) != SQLITE_OK) {
    return failed("SQL");
  }
  Statement prepared(statement);
  const std::string left = rest;
  if (!prepared || left.find_first_not_of(" \t\n;") != std::string::npos) {
    return Error{"SQL: one statement is needed, no more and no less.", "--sql 'select …'"};
  }
  return prepared;
}

Result<void> RowDatabase::run(const std::string& text) {
  if (sqlite3_exec(database_.get(), text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failed("SQL");
  return {};
}

Result<RowDatabase> RowDatabase::open() {
  RowDatabase made;
  sqlite3* database = nullptr;
  const int opened = sqlite3_open(":memory:", &database);
  made.database_.reset(database);
  if (opened != SQLITE_OK) return Error{"SQLite cannot make a database in memory.", ""};
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);  // a question reaches no file
  std::string columns, places;
  for (const TableColumn& column : row_columns()) {
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", column.name, column.type == ColumnType::Integer ? "integer" : "text");
    places += places.empty() ? "?" : ", ?";
  }
  auto ready = made.run(fmt::format("create table records ({}); create table metrics (iteration integer, name text, value real);"
                                    "create view decisions as select * from records where kind = 'decision';"
                                    "create view groups as select iteration, group_id, prompt, fate, rule, reason,"
                                    " json_extract(record, '$.flat') as flat, json_array_length(record, '$.status') as rollouts,"
                                    " json_array_length(record, '$.subset') as trained,"
                                    " (select sum(value) from json_each(record, '$.turns')) as turns,"
                                    " (select sum(value) from json_each(record, '$.tokens')) as tokens"
                                    " from records where kind = 'close'; begin",
                                    columns));
  if (!ready) return ready.error();
  auto row = made.prepare(fmt::format("insert into records values ({})", places));
  if (!row) return row.error();
  auto metric = made.prepare("insert into metrics values (?, ?, ?)");
  if (!metric) return metric.error();
  made.insert_row_ = *std::move(row);
  made.insert_metric_ = *std::move(metric);
  return made;
}

Result<void> RowDatabase::add(const engine::RecordRow& row) {
  sqlite3_stmt* const insert = insert_row_.get();
  const std::vector<TableValue> values = row_values(row);
  sqlite3_reset(insert);
  sqlite3_clear_bindings(insert);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int place = static_cast<int>(i) + 1;
    if (const auto* number = std::get_if<std::int64_t>(&values[i])) sqlite3_bind_int64(insert, place, *number);
    if (const auto* text = std::get_if<std::string>(&values[i])) {
      sqlite3_bind_text(insert, place, text->data(), static_cast<int>(text->size()), SQLITE_TRANSIENT);
    }
  }
  if (sqlite3_step(insert) != SQLITE_DONE) return failed("cannot add a record");
  if (row.kind != "end") return {};
  for (const auto& [name, value] : row.record.at("metrics").items()) {
    sqlite3_reset(insert_metric_.get());
    sqlite3_bind_int(insert_metric_.get(), 1, row.iteration);
    sqlite3_bind_text(insert_metric_.get(), 2, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
    sqlite3_bind_double(insert_metric_.get(), 3, value.is_number() ? value.get<double>() : 0.0);
    if (sqlite3_step(insert_metric_.get()) != SQLITE_DONE) return failed("cannot add a metric");
  }
  return {};
}

namespace {

Json value_at(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_NULL: return nullptr;
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
  }
}

}  // namespace

Result<RowDatabase::Answer> RowDatabase::ask(const std::string& select) {
  auto prepared = prepare(select);
  if (!prepared) return prepared.error();
  sqlite3_stmt* const statement = prepared->get();
  if (sqlite3_stmt_readonly(statement) == 0) return Error{"SQL: the records can only be read.", "--sql 'select …'"};
  Answer answer;
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) answer.columns.emplace_back(sqlite3_column_name(statement, i));
  int step = sqlite3_step(statement);
  for (; step == SQLITE_ROW; step = sqlite3_step(statement)) {
    Json row = Json::array();
    for (int i = 0; i < columns; ++i) row.push_back(value_at(statement, i));
    answer.rows.push_back(std::move(row));
  }
  if (step != SQLITE_DONE) return failed("SQL");
  return answer;
}

}  // namespace allot::cli
