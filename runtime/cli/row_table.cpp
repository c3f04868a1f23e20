#include "runtime/cli/row_table.h"

namespace allot::cli {

namespace {

TableValue number(int value) { return value < 0 ? TableValue() : TableValue(std::int64_t{value}); }
TableValue text(const std::string& value) { return value.empty() ? TableValue() : TableValue(value); }

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

const std::vector<TableColumn>& row_columns() {
  using enum ColumnType;
  // `group` is a word of SQL.
  static const std::vector<TableColumn> columns = {
      {"kind", Text},   {"iteration", Integer}, {"group_id", Integer}, {"sample", Integer}, {"turn", Integer},
      {"prompt", Text}, {"point", Text},        {"version", Integer},  {"policy", Text},    {"rule", Text},
      {"verdict", Text}, {"carried", Text},     {"reason", Text},      {"fault", Text},     {"fate", Text},
      {"changed", Integer}, {"reads", Text},    {"record", Text}};
  return columns;
}

std::vector<TableValue> row_values(const engine::RecordRow& row) {
  const bool decision = row.kind == "decision";
  return {text(row.kind),
          number(row.iteration),
          number(row.group),
          number(row.sample),
          number(row.turn),
          text(row.prompt),
          text(row.point),
          number(row.version),
          text(row.policy),
          text(row.rule),
          text(row.verdict),
          text(row.carried),
          text(row.reason),
          text(row.fault),
          text(row.fate),
          decision ? number(row.changed) : TableValue(),
          decision ? TableValue(dump(row.reads)) : TableValue(),
          dump(row.record)};
}

std::string row_json(const engine::RecordRow& row) {
  nlohmann::ordered_json json;
  const std::vector<TableValue> values = row_values(row);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string name = row_columns()[i].name;
    if (name == "reads" || name == "record") continue;
    if (const auto* whole = std::get_if<std::int64_t>(&values[i])) json[name] = *whole;
    if (const auto* words = std::get_if<std::string>(&values[i])) json[name] = *words;
  }
  if (row.kind == "decision") json["reads"] = row.reads;
  json["record"] = row.record;
  return dump(json);
}

}  // namespace allot::cli
