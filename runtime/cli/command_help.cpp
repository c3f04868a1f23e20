// allot help: the page behind a diagnostic's code, and what a name of the language means.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lang/codes.h"
#include "lang/diagnostics.h"
#include "lang/reference/reference.h"
#include "lang/reference/textmate.h"
#include "runtime/cli/command.h"

namespace allot::cli {

namespace {

Exit list_codes() {
  for (const lang::Code* code : lang::all_codes()) fmt::print("{}  {}\n", code->code, code->title);
  return Exit::Good;
}

using Json = nlohmann::ordered_json;

Json to_json(const lang::Code& code) {
  return {{"code", code.code},
          {"title", code.title},
          {"explanation", code.explanation},
          {"wrong", code.wrong},
          {"right", code.right}};
}

// `g.hits` is asked for as `hits` is, of groups alone where the letter is one that the reference uses.
std::vector<const lang::reference::Entry*> named(const std::string& word, bool after_dot) {
  const std::size_t dot = word.rfind('.');
  if (dot == std::string::npos || dot + 1 == word.size()) return lang::reference::find(word, after_dot);
  if (!after_dot) return {};
  auto found = lang::reference::find(word.substr(dot + 1), true);
  const bool exact = std::any_of(found.begin(), found.end(),
                                 [&](const lang::reference::Entry* entry) { return entry->signature.starts_with(word); });
  if (exact) std::erase_if(found, [&](const lang::reference::Entry* entry) { return !entry->signature.starts_with(word); });
  return found;
}

// All codes, one code, or the entries of a name.
Exit help_json(const std::string& word) {
  Json all = Json::array();
  for (const lang::Code* code : lang::all_codes()) {
    if (word.empty() || code == lang::find_code(word)) all.push_back(to_json(*code));
  }
  for (const bool after_dot : {false, true}) {
    for (const lang::reference::Entry* entry : named(word, after_dot)) {
      all.push_back({{"name", entry->name},
                     {"kind", lang::reference::name(entry->kind)},
                     {"signature", entry->signature},
                     {"doc", entry->doc}});
    }
  }
  fmt::print("{}\n", all.dump(2));
  return all.empty() ? Exit::Misuse : Exit::Good;
}

// What a name of the language means; false where there is none.
bool explain_name(const std::string& word) {
  bool found = false;
  for (const bool after_dot : {false, true}) {
    for (const lang::reference::Entry* entry : named(word, after_dot)) {
      fmt::print("{}{}  ({})\n    {}\n", found ? "\n" : "", entry->signature, lang::reference::name(entry->kind),
                 entry->doc);
      found = true;
    }
  }
  return found;
}

std::vector<std::string> known_names() {
  std::vector<std::string> known;
  for (const lang::Code* code : lang::all_codes()) known.emplace_back(code->code);
  for (const lang::reference::Entry& entry : lang::reference::entries()) known.push_back(entry.name);
  return known;
}

Exit help(const std::string& word) {
  if (word.empty()) return list_codes();
  if (const lang::Code* code = lang::find_code(word)) {
    const std::string page = lang::page(*code);
    fmt::print("{}{}", page, page.ends_with('\n') ? "" : "\n");
    return Exit::Good;
  }
  if (explain_name(word)) return Exit::Good;
  const std::string near = lang::near_match(word, known_names());
  complain({fmt::format("there is no code and no name '{}'", word),
            near.empty() ? "`allot help` lists all codes; `allot --help` lists the commands"
                         : fmt::format("did you mean {}? `allot help` lists all codes", near)});
  return Exit::Misuse;
}

}  // namespace

void add_help(CLI::App& app, Exit& exit) {
  auto word = std::make_shared<std::string>();
  auto reference = std::make_shared<bool>(false);
  auto textmate = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("help", "Explain the code of a diagnostic, or a name of the language");
  command->add_option("CODE", *word,
                      "a code such as E0118, or a name such as hit_rate; without one all codes are listed");
  command->add_flag("--reference", *reference, "all functions, facts, words and codes as one Markdown page");
  command->add_flag("--textmate", *textmate, "the language's colours for editors, as a TextMate grammar");
  command->add_flag("--json", *json, "one JSON array: a code, or a name of the language, an element");
  command->footer("examples:\n  allot help E0118\n  allot help mean_pairwise");
  command->callback([word, reference, textmate, json, &exit] {
    if (*reference) fmt::print("{}", lang::reference::markdown());
    if (*textmate) fmt::print("{}", lang::reference::textmate_grammar());
    exit = *reference || *textmate ? Exit::Good : *json ? help_json(*word) : help(*word);
  });
}

}  // namespace allot::cli
