// The program `allot`: finds the command that is meant and runs it.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostics.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"

namespace allot::cli {

namespace {

constexpr std::string_view examples =
    "examples:\n"
    "  allot check stdlib/selective_rollout.allot     is the policy right?\n"
    "  allot test stdlib                              do the tests in the policies pass?\n"
    "  allot explain stdlib/selective_rollout.allot   what does it read, keep and decide?\n"
    "  allot eval 'mean([1, 0, 1, 1])'                what is this?\n"
    "  allot replay early.allot --rollouts log.jsonl  what would it have stopped?\n"
    "  allot train --policy early.allot               train a model under it\n"
    "  allot serve early.allot --run runs/first       let other processes ask it\n"
    "  allot log runs/first                           what was decided in that run?\n"
    "  allot why runs/first 12                        why was group 12 stopped?\n"
    "  allot plan tighter.allot --on runs/first       what would it decide otherwise?\n"
    "  allot swap runs/first tighter.allot            let it decide from here on\n"
    "  allot audit runs/first                         does every decision follow from what it read?\n"
    "  allot add ../gates                             use another team's package\n"
    "  allot help E0118                               what does this error mean?";

// Policies find the files that they name by ALLOT_PATH.
void look_in(const std::vector<std::string>& folders) {
  std::string path;
  for (const std::string& folder : folders) path += folder + ":";
  const char* const before = std::getenv("ALLOT_PATH");
  ::setenv("ALLOT_PATH", (path + (before == nullptr ? "" : before)).c_str(), 1);
}

void add_commands(CLI::App& app, Exit& exit) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "allot " ALLOT_VERSION);
  app.footer(std::string(examples));
  add_new(app, exit);
  app.add_option_function<std::vector<std::string>>(
         "--path", look_in, "a folder in which the files are looked for that a policy names (before those of ALLOT_PATH)")
      ->allow_extra_args(false);
  add_check(app, exit);
  add_fmt(app, exit);
  add_test(app, exit);
  add_eval(app, exit);
  add_repl(app, exit);
  add_explain(app, exit);
  add_doc(app, exit);
  add_emit(app, exit);
  add_replay(app, exit);
  add_lsp(app, exit);
  add_train(app);
  add_serve(app, exit);
  add_log(app, exit);
  add_why(app, exit);
  add_plan(app, exit);
  add_swap(app, exit);
  add_rollback(app, exit);
  add_audit(app, exit);
  add_add(app, exit);
  add_pack(app, exit);
  add_sign(app, exit);
  add_verify(app, exit);
  add_publish(app, exit);
  add_list(app, exit);
  add_diff(app, exit);
  add_help(app, exit);
  // `--path` may stand after the command too. One that takes other words itself (`eval`) gets them, and has its own `--path`.
  for (CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_allow_extras(); })) command->fallthrough();
}

const CLI::App* find_command(const CLI::App& app, std::string_view name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

Exit unknown_command(const CLI::App& app, const std::string& name) {
  const std::string near = lang::near_match(name, command_names(app));
  complain({fmt::format("there is no command '{}'", name),
            near.empty() ? "`allot --help` lists the commands" : fmt::format("did you mean `allot {}`?", near)});
  return Exit::Misuse;
}

// The option that was meant by the first word that is none; empty where nothing is near.
std::string near_option(const CLI::App& command, int count, char** words) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (int i = 2; i < count; ++i) {
    const std::string word = std::string(words[i]).substr(0, std::string_view(words[i]).find('='));
    const bool unknown = word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end();
    if (unknown) return lang::near_match(word, known);
  }
  return {};
}

Exit misuse(const CLI::App& app, const CLI::ParseError& error, int count, char** words) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    app.exit(error);  // --help and --version travel as errors
    return Exit::Good;
  }
  const CLI::App* command = count > 1 ? find_command(app, words[1]) : nullptr;
  const std::string near = command == nullptr ? "" : near_option(*command, count, words);
  const std::string teach = fmt::format("`allot {}--help` shows how it is used", command ? command->get_name() + " " : "");
  complain({error.what(), near.empty() ? teach : fmt::format("did you mean {}? {}", near, teach)});
  return Exit::Misuse;
}

// Words after `--` are no options.
bool asks_for_json(int count, char** words) {
  const auto end = std::find(words, words + count, std::string_view("--"));
  return std::find(words, end, std::string_view("--json")) != end;
}

Exit dispatch(int count, char** words) {
  CLI::App app("allot: policies that decide where rollouts go", "allot");
  Exit exit = Exit::Good;
  add_commands(app, exit);
  if (count < 2) {
    fmt::print(stderr, "{}", app.help());
    return Exit::Misuse;
  }
  const std::string first = words[1];
  if (!first.starts_with("-") && find_command(app, first) == nullptr) return unknown_command(app, first);
  if (first == "train") {  // all that follows is the trainer's, --help too, save `--path FOLDER`
    std::vector<char*> others;
    for (char** word = words + 2; *word != nullptr; ++word) {
      if (std::string_view(*word) == "--path" && word[1] != nullptr) {
        look_in({*++word});
      } else {
        others.push_back(*word);
      }
    }
    others.push_back(nullptr);
    return start_trainer(others.data());
  }
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return misuse(app, error, count, words);
  }
  return exit;
}

}  // namespace

}  // namespace allot::cli

int main(int count, char** words) {
  using namespace allot::cli;
  return static_cast<int>(run_to_end(asks_for_json(count, words), [&] { return dispatch(count, words); }));
}
