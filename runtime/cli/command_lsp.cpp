// allot lsp: what editors ask.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>

#include "runtime/cli/command.h"
#include "runtime/lsp/server.h"

namespace allot::cli {

void add_lsp(CLI::App& app, Exit& exit) {
  CLI::App* command = app.add_subcommand("lsp", "Serve an editor: the language server protocol on stdin and stdout");
  command->add_flag("--stdio")->description("what is done in any case; editors like to say it");
  command->footer(
      "An editor starts it by itself; editors/ holds what VS Code and others need for that.\n"
      "example:\n  allot lsp\nexit status: 0 after shutdown and exit, 1 where the stream ended before");
  command->callback([&exit] { exit = lsp::Server(std::cout).run(std::cin) == 0 ? Exit::Good : Exit::Failed; });
}

}  // namespace allot::cli
