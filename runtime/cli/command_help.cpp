// allot help CODE: the page behind a diagnostic's code.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>
#include <vector>

#include "lang/codes.h"
#include "lang/diagnostics.h"
#include "runtime/cli/command.h"

namespace allot::cli {

namespace {

Exit list_codes() {
  for (const lang::Code* code : lang::all_codes()) fmt::print("{}  {}\n", code->code, code->title);
  return Exit::Good;
}

Exit help(const std::string& word) {
  if (word.empty()) return list_codes();
  if (const lang::Code* code = lang::find_code(word)) {
    const std::string page = lang::page(*code);
    fmt::print("{}{}", page, page.ends_with('\n') ? "" : "\n");
    return Exit::Good;
  }
  std::vector<std::string> known;
  for (const lang::Code* code : lang::all_codes()) known.emplace_back(code->code);
  const std::string near = lang::near_match(word, known);
  complain({fmt::format("there is no code '{}'", word),
            near.empty() ? "`allot help` lists all codes; `allot --help` lists the commands"
                         : fmt::format("did you mean {}? `allot help` lists all codes", near)});
  return Exit::Misuse;
}

}  // namespace

void add_help(CLI::App& app, Exit& exit) {
  auto word = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Explain the code of a diagnostic, with an example and its cure");
  command->add_option("CODE", *word, "a code such as E0118; without one all codes are listed");
  command->footer("example:\n  allot help E0118");
  command->callback([word, &exit] { exit = help(*word); });
}

}  // namespace allot::cli
