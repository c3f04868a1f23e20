// The commands of `allot`, one file each. Data goes to stdout, messages to stderr.
#pragma once

#include "common/result.h"

namespace CLI {
class App;
}

namespace allot::cli {

enum class Exit : int {
  Good = 0,
  Failed = 1,  // the command ran and the answer is no: errors in a policy, a failed test
  Misuse = 2   // the command could not run: a wrong option, a file that cannot be read
};

// Each adds its command to the app; when it is the one that was given, `exit` gets its status.
void add_check(CLI::App& app, Exit& exit);
void add_test(CLI::App& app, Exit& exit);
void add_eval(CLI::App& app, Exit& exit);
void add_explain(CLI::App& app, Exit& exit);
void add_replay(CLI::App& app, Exit& exit);
void add_fmt(CLI::App& app, Exit& exit);
void add_emit(CLI::App& app, Exit& exit);
void add_doc(CLI::App& app, Exit& exit);
void add_new(CLI::App& app, Exit& exit);
void add_add(CLI::App& app, Exit& exit);
void add_pack(CLI::App& app, Exit& exit);
void add_sign(CLI::App& app, Exit& exit);
void add_verify(CLI::App& app, Exit& exit);
void add_publish(CLI::App& app, Exit& exit);
void add_list(CLI::App& app, Exit& exit);
void add_diff(CLI::App& app, Exit& exit);
void add_repl(CLI::App& app, Exit& exit);
void add_lsp(CLI::App& app, Exit& exit);
void add_train(CLI::App& app);
void add_serve(CLI::App& app, Exit& exit);
void add_log(CLI::App& app, Exit& exit);
void add_why(CLI::App& app, Exit& exit);
void add_plan(CLI::App& app, Exit& exit);
void add_swap(CLI::App& app, Exit& exit);
void add_rollback(CLI::App& app, Exit& exit);
void add_audit(CLI::App& app, Exit& exit);
void add_help(CLI::App& app, Exit& exit);

// Replaces this process by the trainer, which stands beside this program and alone links LibTorch. Returns only where
// that fails. `arguments` are those after the word `train`, ended by a null pointer.
Exit start_trainer(char** arguments);

// "allot: what happened", and help where there is some, on stderr. With --json the last of them becomes the document of a
// command that fails without one of its own (runtime/cli/output.h).
void complain(const Error& error);

}  // namespace allot::cli
