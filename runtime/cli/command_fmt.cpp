// allot fmt: the one layout of policies.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "lang/format/format.h"
#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"
#include "runtime/engine/journal.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct FormatOptions {
  std::vector<std::string> files;
  bool check = false;
  bool diff = false;
  bool json = false;
};

// What becomes of one file; an error says that it could not be read or written.
Result<Json> format_file(const std::filesystem::path& path, const FormatOptions& options) {
  Result<PolicyFile> file = read_source(path);
  if (!file) return file.error();
  const auto formatted = lang::format::format(*file->source, file->diagnostics);
  Json told = {{"file", file->source->name()}, {"formatted", formatted.has_value()}};
  if (!formatted) {
    file->diagnostics.sort();
    show_diagnostics(*file);
    told["diagnostics"] = Json::parse(lang::render_json(file->diagnostics, *file->source));
    return told;
  }
  const std::string before(file->source->text());
  const bool changed = *formatted != before;
  told["changed"] = changed;
  if (options.diff) {
    told["diff"] = lang::format::difference(file->source->name(), before, *formatted);
    if (!options.json) fmt::print("{}", told["diff"].get<std::string>());
  }
  if (path == "-" && !options.check && !options.diff) {
    if (options.json) {
      told["text"] = *formatted;
    } else {
      fmt::print("{}", *formatted);
    }
  }
  if (!changed || path == "-" || options.check || options.diff) return told;
  // What a link points to is laid out; the link stays one.
  std::error_code unknown;
  const auto target = std::filesystem::canonical(path, unknown);
  if (auto written = engine::replace_file(unknown ? path : target, *formatted, engine::Durability::Atomic); !written)
    return written.error();
  return told;
}

Exit format(const FormatOptions& options) {
  const auto files = find_policies(options.files);
  if (!files) return complain(files.error()), Exit::Misuse;
  Exit exit = Exit::Good;
  Json all = Json::array();
  for (const auto& path : *files) {
    const auto told = format_file(path, options);
    if (!told) {
      complain(told.error());
      all.push_back({{"file", path.string()}, {"formatted", false}, {"unreadable", told.error().what}});
      exit = Exit::Misuse;
      continue;
    }
    const bool changed = told->value("changed", false);
    const bool fine = told->at("formatted").get<bool>() && !(options.check && changed);
    if (!fine && exit == Exit::Good) exit = Exit::Failed;
    if (!options.json && !options.diff && path != "-" && changed) {
      fmt::print("{}: {}\n", path.string(), options.check ? "would change" : "formatted");
    }
    all.push_back(*told);
  }
  if (options.json) fmt::print("{}\n", all.dump(2));
  return exit;
}

}  // namespace

void add_fmt(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<FormatOptions>();
  CLI::App* command = app.add_subcommand("fmt", "Lay policies out in the one way: indentation, blanks, empty lines");
  command
      ->add_option("FILE", options->files,
                   "policy files, which are rewritten; a folder stands for every .allot file in it; - reads stdin and "
                   "writes stdout")
      ->required();
  command->add_flag("--check", options->check, "write nothing; say which files would change, and fail if one would");
  command->add_flag("--diff", options->diff, "write nothing; show what would change as a unified diff");
  command->add_flag("--json", options->json, "one JSON array: a file and what became of it an element, of stdin with the new text");
  command->footer(
      "What stands on one line stays there: lines are neither joined nor broken. Every comment is kept.\n"
      "examples:\n  allot fmt early.allot\n  allot fmt stdlib --check\n  allot fmt - < early.allot\n"
      "exit status: 0 laid out, 1 a syntax error (or, with --check, a file that would change), 2 a file that "
      "cannot be read or written");
  command->callback([options, &exit] { exit = format(*options); });
}

}  // namespace allot::cli
