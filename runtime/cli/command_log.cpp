// allot log: what was decided in a run, told from its journal; filtered, followed, exported, or asked by SQL.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "lang/diagnostics.h"
#include "lang/unicode.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"
#include "runtime/cli/parquet.h"
#include "runtime/cli/row_table.h"
#include "runtime/cli/rows_sql.h"
#include "runtime/cli/run_folder.h"
#include "runtime/engine/active_policy.h"
#include "runtime/engine/journal_tail.h"
#include "runtime/engine/story.h"
#include "runtime/engine/swap.h"

namespace allot::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr auto between_looks = std::chrono::milliseconds(200);

struct LogOptions {
  std::string run;
  bool continues = false;
  bool json = false;
  bool follow = false;
  std::string iterations, kind, version, rule;
  std::optional<std::string> prompt;  // "" is one too
  int group = -1;
  std::string jsonl, parquet, sql;

  engine::StoryFormat format() const { return json ? engine::StoryFormat::Json : engine::StoryFormat::Words; }
};

// "7" or "3..9".
Result<std::pair<int, int>> read_range(const std::string& text) {
  const auto number = [](std::string_view digits) -> std::optional<int> {
    int value = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool good = failure == std::errc() && end == digits.data() + digits.size() && value >= 0;
    return good ? std::optional(value) : std::nullopt;
  };
  const std::size_t dots = text.find("..");
  const auto first = number(std::string_view(text).substr(0, dots));
  const auto last = dots == std::string::npos ? first : number(std::string_view(text).substr(dots + 2));
  if (first && last && *first <= *last) return std::pair(*first, *last);
  return Error{fmt::format("'{}' is no iteration and no range of them", text), "--iteration 7, or --iteration 3..9"};
}

Result<engine::RowFilter> filter_of(const LogOptions& options) {
  engine::RowFilter filter;
  if (!options.iterations.empty()) {
    auto range = read_range(options.iterations);
    if (!range) return range.error();
    filter.iterations = *range;
  }
  const auto said = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  if (options.group >= 0) filter.group = options.group;
  filter.prompt = options.prompt;
  filter.kind = said(options.kind);
  filter.version = said(engine::is_version_number(options.version) ? options.version.substr(1) : options.version);
  filter.rule = said(options.rule);
  return filter;
}

// Rows that are accepted, in order; what is damaged is told on stderr.
Result<void> for_rows(const fs::path& folder, const engine::RowFilter& filter, const engine::RowMaker::Use& use) {
  bool none = true;
  std::set<std::string> kinds;
  auto problems = engine::read_rows(folder, [&](const engine::RecordRow& row) {
    kinds.insert(row.kind);
    if (!filter.accepts(row)) return;
    none = false;
    use(row);
  });
  if (!problems) return problems.error();
  if (none && !kinds.empty()) {
    const bool kind = filter.kind && !kinds.contains(*filter.kind);
    fmt::print(stderr, "note: no record of the run is so{}\n",
               kind ? fmt::format("; its records are of the kinds {}", fmt::join(kinds, ", ")) : "");
  }
  fmt::print(stderr, "{}", lang::shown(engine::tell_problems(*problems)));
  return {};
}

// A person who asks for a kind wants to see it, also where the story leaves it out.
std::string told(const engine::RecordRow& row, const LogOptions& options) {
  std::string line = engine::tell_row(row, options.format(), options.continues);
  if (line.empty() && !options.json && row.kind == "version" && !options.kind.empty()) line = engine::version_line(row);
  if (line.empty() && !options.kind.empty()) line = row.record.dump() + "\n";
  return options.json ? line : lang::shown(line);
}

// The journal is written at barriers.
void tell_unwritten_version(const fs::path& folder) {
  const auto active = engine::version_since_barrier(folder);
  if (!active) return;
  fmt::print(stderr, "note: version {} ({}) is active since the last barrier; the journal tells of it from the next one on\n",
             active->number, lang::shown_in_line(engine::policy_words(active->hash, active->parameters)));
}

Result<void> tell(const fs::path& folder, const engine::RowFilter& filter, const LogOptions& options) {
  auto done = for_rows(folder, filter, [&](const engine::RecordRow& row) { fmt::print("{}", told(row, options)); });
  if (done && (options.kind.empty() || options.kind == "swap")) tell_unwritten_version(folder);
  return done;
}

// An iteration that was told of and comes once more: what follows takes the place of that.
std::string again_line(int iteration, const LogOptions& options) {
  if (options.json) return Json{{"k", "again"}, {"it", iteration}}.dump() + "\n";
  return fmt::format("{:>4}  iteration {} runs again after a resume\n", iteration, iteration);
}

// Until somebody ends it.
Result<void> follow(const fs::path& folder, const engine::RowFilter& filter, const LogOptions& options) {
  engine::RowMaker rows([&](const engine::RecordRow& row) {
    if (filter.accepts(row)) fmt::print("{}", told(row, options));
  });
  engine::JournalTail tail(folder / "journal");
  int latest = -1;  // of the iterations that were begun
  const auto use = [&](const Json& record) {
    if (record.at("k") == "begin") {
      const int iteration = record.at("it").get<int>();
      if (iteration <= latest && filter.has_iteration(iteration)) fmt::print("{}", again_line(iteration, options));
      latest = std::max(latest, iteration);
    }
    rows.reader().read(record);
  };
  while (true) {
    auto damaged = tail.poll(use);
    if (!damaged) return damaged.error();
    for (const std::string& each : *damaged) fmt::print(stderr, "warning: {}\n", each);
    if (std::fflush(stdout) != 0) output_failed();
    std::this_thread::sleep_for(between_looks);
  }
}

Result<void> export_jsonl(const fs::path& folder, const engine::RowFilter& filter, const std::string& file) {
  if (file == "-") return for_rows(folder, filter, [](const engine::RecordRow& row) { fmt::print("{}\n", row_json(row)); });
  std::ofstream out(file, std::ios::binary);
  auto done = for_rows(folder, filter, [&](const engine::RecordRow& row) { out << row_json(row) << '\n'; });
  out.flush();
  if (done && !out) return Error{"Cannot write " + file + ".", "look at the folder's permissions and at the room on the disk"};
  return done;
}

Result<void> export_parquet(const fs::path& folder, const engine::RowFilter& filter, const std::string& file) {
  auto writer = ParquetWriter::open(file, row_columns());
  if (!writer) return writer.error();
  auto done = for_rows(folder, filter, [&](const engine::RecordRow& row) { writer->add(row_values(row)); });
  return done ? writer->finish() : done;
}

std::string cell_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? lang::shown_in_line(value.get<std::string>()) : value.dump();
}

void print_table(const RowDatabase::Answer& answer) {
  std::vector<std::size_t> widths;
  for (const std::string& name : answer.columns) widths.push_back(name.size());
  for (const Json& row : answer.rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], cell_text(row[i]).size());
  }
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) text += fmt::format("{:<{}}  ", cell(i), widths[i]);
    fmt::print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
  };
  line([&](std::size_t i) { return answer.columns[i]; });
  for (const Json& row : answer.rows) line([&](std::size_t i) { return cell_text(row[i]); });
}

Result<void> ask(const fs::path& folder, const engine::RowFilter& filter, const LogOptions& options) {
  auto database = RowDatabase::open();
  if (!database) return database.error();
  std::optional<Error> failed;
  auto read = for_rows(folder, filter, [&](const engine::RecordRow& row) {
    if (auto added = database->add(row); !added && !failed) failed = added.error();
  });
  if (!read) return read;
  if (failed) return *failed;
  auto answer = database->ask(options.sql);
  if (!answer) return answer.error();
  if (!options.json) return print_table(*answer), Result<void>();
  for (const Json& row : answer->rows) {
    Json named = Json::object();
    for (std::size_t i = 0; i < answer->columns.size(); ++i) named[answer->columns[i]] = row[i];
    fmt::print("{}\n", named.dump());
  }
  return {};
}

Exit log(const LogOptions& options) {
  if (options.json) say_lines();
  const auto folder = journal_folder(options.run);
  if (!folder) return complain(folder.error()), Exit::Misuse;
  const auto filter = filter_of(options);
  if (!filter) return complain(filter.error()), Exit::Misuse;
  Result<void> done;
  if (!options.jsonl.empty() || !options.parquet.empty()) {
    if (!options.jsonl.empty()) done = export_jsonl(*folder, *filter, options.jsonl);
    if (done && !options.parquet.empty()) done = export_parquet(*folder, *filter, options.parquet);
  } else if (!options.sql.empty()) {
    done = ask(*folder, *filter, options);
  } else {
    done = options.follow ? follow(*folder, *filter, options) : tell(*folder, *filter, options);
  }
  if (!done) return complain(done.error()), Exit::Misuse;
  return Exit::Good;
}

// An empty word is a shell variable that was not set, not a wish for everything.
CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? std::string("nothing is given") : std::string(); }, "");
}

}  // namespace

void add_log(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<LogOptions>();
  CLI::App* command = app.add_subcommand("log", "Tell what was decided in a run");
  command->add_option("RUN", options->run, "a run folder, or the folder of one of its arms")->required();
  command->add_flag("--all", options->continues, "also the answers that changed nothing");
  command->add_flag("--json", options->json, "one JSON object a line");
  command->add_option("--iteration", options->iterations, "of this iteration, or of a range: 3..9")->check(not_empty());
  command->add_option("--group", options->group, "of this group")->check(CLI::NonNegativeNumber);
  command->add_option_function<std::string>(
      "--prompt", [options](const std::string& prompt) { options->prompt = prompt; }, "of groups of this prompt");
  command->add_option("--kind", options->kind,
                      "of this kind: decision, open, start, close, defer, take_up, replay, evict, swap, loss, note, end, …")
      ->check(CLI::Validator(
          [](std::string& text) {
            const auto& kinds = engine::row_kinds();
            if (std::find(kinds.begin(), kinds.end(), text) != kinds.end()) return std::string();
            const std::string near = lang::near_match(text, kinds);
            return fmt::format("no record is of the kind '{}'; {}", text,
                               near.empty() ? fmt::format("there are {}", fmt::join(kinds, ", ")) : fmt::format("did you mean {}?", near));
          },
          ""));
  command->add_option("--version", options->version, "of this version of the policy: its number (3, or v3), or eight or more digits of its hash")
      ->check(CLI::Validator(
          [](std::string& text) {
            const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            const bool hash = text.size() >= 8 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
            return digits || hash || engine::is_version_number(text) ? std::string() : fmt::format("'{}' is neither a number nor eight digits of a hash", text);
          },
          ""));
  command->add_option("--rule", options->rule, "by this rule: its line, or FILE:LINE")->check(not_empty());
  auto* follow = command->add_flag("--follow", options->follow, "go on with what is written from now on, until Ctrl-C");
  auto* jsonl = command->add_option("--jsonl", options->jsonl, "write every record to this file, one JSON object a line; - is stdout");
  auto* parquet = command->add_option("--parquet", options->parquet, "write every record to this file as a Parquet table; - is stdout");
  auto* sql = command->add_option("--sql", options->sql, "ask the records by one SELECT of SQLite")->check(not_empty());
  for (CLI::Option* other : {jsonl, parquet, sql}) follow->excludes(other);
  sql->excludes(jsonl)->excludes(parquet);
  command->footer(
      "Columns of the exports and of SQL's table `records`: kind, iteration, group_id, sample, turn, prompt, point, version\n"
      "(number), policy (hash), rule, verdict, carried, reason, fault, fate, changed, reads (JSON), record (JSON). SQL has\n"
      "`metrics` (iteration, name, value) too, and the views `decisions` and `groups` (iteration, group_id, prompt, fate, rule,\n"
      "reason, flat, rollouts, trained, turns, tokens).\n"
      "examples:\n  allot log runs/household-1\n  allot log runs/household-1 --json --iteration 3..9 --rule 12\n"
      "  allot log runs/household-1 --follow\n"
      "  allot log runs/household-1 --sql \"select rule, count(*) from decisions group by rule\"\n"
      "  allot log runs/household-1 --parquet decisions.parquet --kind decision\n"
      "With --json a log that breaks off ends with a line {\"error\": …, \"help\": …}, as no record is.\n"
      "exit status: 0 told, 2 a folder that is no run, a question that cannot be answered, or a log that breaks off");
  command->callback([options, &exit] { exit = log(*options); });
}

}  // namespace allot::cli
