// allot new: a policy to begin with.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "lang/diagnostics.h"
#include "lang/parser.h"
#include "lang/source.h"
#include "lang/words.h"
#include "runtime/cli/command.h"
#include "runtime/cli/new_policy.h"
#include "runtime/engine/journal.h"
#include "runtime/package/names.h"

namespace allot::cli {

namespace {

bool is_word(const std::string& name) {
  return !name.empty() && lang::is_name_start(name.front()) && std::all_of(name.begin(), name.end(), lang::is_name_char);
}

// Which words the language keeps for itself, the grammar knows best.
bool can_be_read(const std::string& text) {
  lang::Diagnostics diagnostics;
  return lang::parse(lang::Source("new.allot", text), diagnostics).has_value() && !diagnostics.has_errors();
}

bool is_policy_name(const std::string& name) {
  return is_word(name) && !lang::is_reserved(name) && can_be_read(new_policy(name));
}

// Why it is no name of a policy, or of the last word of a package.
std::string why_not(const std::string& name, std::string_view form) {
  return is_word(name) && !is_policy_name(name) ? fmt::format("`{}` is a reserved word of the language; choose another name", name)
                                                : std::string(form);
}

// NAME/ with a project file, a policy of the package's last word, and a page about it.
Exit make_package(const std::string& name) {
  const std::string word = name.substr(name.rfind('.') + 1);
  if (!package::is_package_name(name) || !is_policy_name(word)) {
    complain({fmt::format("'{}' cannot name a package", name), why_not(word, "a name is made of a-z, 0-9 and _, with dots between words: team.gates")});
    return Exit::Misuse;
  }
  if (const auto free = package::check_not_standard(name); !free) return complain(free.error()), Exit::Misuse;
  const std::filesystem::path folder = name;
  std::error_code failure;
  if (!std::filesystem::create_directory(folder, failure)) {
    complain({failure ? fmt::format("cannot make {}: {}", name, failure.message()) : fmt::format("{} is there already", name),
              "choose another name, or remove it first"});
    return Exit::Misuse;
  }
  const std::pair<std::string, std::string> files[] = {
      {std::string(package::project_file), fmt::format("name = \"{}\"\nversion = \"0.1.0\"\n", name)},
      {word + ".allot", new_policy(word)},
      {"README.md", fmt::format("# {0}\n\nStops groups whose rollouts all do the same thing. To use it:\n\n"
                                "    allot add {0}@0.1.0\n\n    policy mine = {1}(threshold: 0.1)\n    import {0}\n", name, word)}};
  for (const auto& [file, text] : files) {
    if (auto written = engine::replace_file(folder / file, text, engine::Durability::Atomic); !written) {
      return complain(written.error()), Exit::Misuse;
    }
    fmt::print("{}\n", (folder / file).string());
  }
  fmt::print("try  allot test {0}\n     allot pack {0}\n", name);
  return Exit::Good;
}

Exit make(const std::string& name) {
  if (!is_policy_name(name)) {
    complain({fmt::format("'{}' cannot name a policy", name), why_not(name, "a name is made of a-z, A-Z, 0-9 and _: early_stop")});
    return Exit::Misuse;
  }
  const std::filesystem::path path = name + ".allot";
  if (std::error_code ignored; std::filesystem::exists(path, ignored)) {
    complain({fmt::format("{} is there already", path.string()), "choose another name, or remove it first"});
    return Exit::Misuse;
  }
  if (auto written = engine::replace_file(path, new_policy(name), engine::Durability::Atomic); !written) {
    return complain(written.error()), Exit::Misuse;
  }
  fmt::print("{}\ntry  allot test {}\n     allot explain {}\n", path.string(), path.string(), path.string());
  return Exit::Good;
}

}  // namespace

void add_new(CLI::App& app, Exit& exit) {
  auto name = std::make_shared<std::string>();
  auto package = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("new", "Write a policy with tests to begin with: NAME.allot in this folder");
  command->add_option("NAME", *name, "the policy's name")->required();
  command->add_flag("--package", *package, "a whole package, in the new folder NAME: policy, allot.toml, README.md");
  command->footer(
      "examples:\n  allot new early_stop && allot test early_stop.allot\n  allot new gates --package && allot pack gates\n"
      "exit status: 0 written, 2 a name that is none, or a file that is there already");
  command->callback([name, package, &exit] { exit = *package ? make_package(*name) : make(*name); });
}

}  // namespace allot::cli
