// allot new: a policy to begin with.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "lang/words.h"
#include "runtime/cli/command.h"
#include "runtime/cli/new_policy.h"
#include "runtime/engine/journal.h"

namespace allot::cli {

namespace {

Exit make(const std::string& name) {
  const bool is_name = !name.empty() && lang::is_name_start(name.front()) &&
                       std::all_of(name.begin(), name.end(), lang::is_name_char) && !lang::is_reserved(name);
  if (!is_name) {
    complain({fmt::format("'{}' cannot name a policy", name), "a name is made of a-z, A-Z, 0-9 and _: early_stop"});
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
  CLI::App* command = app.add_subcommand("new", "Write a policy with tests to begin with: NAME.allot in this folder");
  command->add_option("NAME", *name, "the policy's name")->required();
  command->footer(
      "example:\n  allot new early_stop && allot test early_stop.allot\n"
      "exit status: 0 written, 2 a name that is none, or a file that is there already");
  command->callback([name, &exit] { exit = make(*name); });
}

}  // namespace allot::cli
