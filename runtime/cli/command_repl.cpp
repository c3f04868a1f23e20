// allot repl: expressions and what they need, line by line.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "runtime/cli/command.h"
#include "runtime/repl/line_editor.h"
#include "runtime/repl/session.h"

namespace allot::cli {

namespace {

Exit repl() {
  repl::Session session;
  repl::LineEditor editor([&](std::string_view before) { return session.completions(before); }, repl::history_file());
  const bool people = isatty(STDIN_FILENO) == 1;
  if (people) fmt::print("an expression gives its value; :help shows what else there is, :quit ends\n");
  Exit exit = Exit::Good;
  while (auto text = editor.read(false)) {
    while (repl::Session::unfinished(*text)) {
      const auto more = editor.read(true);
      if (!more) break;
      if (editor.given_up()) text->clear();
      *text += "\n" + *more;
    }
    editor.remember(*text);
    const repl::Reply reply = session.line(*text);
    fmt::print(reply.failed ? stderr : stdout, "{}", reply.text);
    std::fflush(stdout);
    if (reply.failed && !people) exit = Exit::Failed;
    if (reply.quit) return exit;
  }
  if (people) fmt::print("\n");
  return exit;
}

}  // namespace

void add_repl(CLI::App& app, Exit& exit) {
  CLI::App* command = app.add_subcommand("repl", "Work out expressions line by line, about a group that is given");
  command->footer(
      "Lines are expressions, `let`, or declarations of a policy; Tab completes, the arrows walk the history.\n"
      "examples:\n  allot repl\n  printf 'let x = 3\\nx * 2\\n' | allot repl\n"
      "exit status: 0, or 1 where a line that came from no terminal had a mistake");
  command->callback([&exit] { exit = repl(); });
}

}  // namespace allot::cli
