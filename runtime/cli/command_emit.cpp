// allot emit: what the compiler makes of a policy.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "compiler/native/emit.h"
#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"

namespace allot::cli {

namespace {

struct EmitOptions {
  std::string file;
  bool ir = false;
  bool assembly = false;
  bool plain = false;
};

Exit emit(const EmitOptions& options) {
  if (options.ir == options.assembly) {
    complain({"say what to show: --ir or --asm", ""});
    return Exit::Misuse;
  }
  const Result<PolicyFile> file = read_policy(options.file);
  if (!file) return complain(file.error()), Exit::Misuse;
  show_diagnostics(*file);
  if (!file->program) return Exit::Failed;
  const auto listing = options.ir ? compiler::Listing::Ir : compiler::Listing::Assembly;
  const auto level = options.plain ? compiler::Optimize::None : compiler::Optimize::Full;
  const Result<std::string> text = compiler::emit(*file->program, listing, level);
  if (!text) return complain(text.error()), Exit::Misuse;
  fmt::print("{}{}", *text, text->ends_with('\n') ? "" : "\n");
  return Exit::Good;
}

}  // namespace

void add_emit(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<EmitOptions>();
  CLI::App* command = app.add_subcommand("emit", "Show what the compiler makes of a policy: LLVM IR or assembly");
  command->add_option("FILE", options->file, "a policy file; - is stdin")->required();
  command->add_flag("--ir", options->ir, "LLVM's intermediate form");
  command->add_flag("--asm", options->assembly, "assembly of this machine");
  command->add_flag("--plain", options->plain, "before it is optimised");
  command->footer(
      "examples:\n  allot emit early.allot --asm\n  allot emit early.allot --ir --plain\n"
      "exit status: 0 shown, 1 errors in the policy, 2 a file that cannot be read, or no compiler");
  command->callback([options, &exit] { exit = emit(*options); });
}

}  // namespace allot::cli
