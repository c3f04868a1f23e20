// Lines from a terminal, with history and completion (libedit). Where stdin is no terminal, plain lines without a prompt.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot::repl {

class LineEditor {
 public:
  using Complete = std::function<std::vector<std::string>(std::string_view before)>;

  // The history is read from `history` and kept there; an empty path keeps none.
  LineEditor(Complete complete, std::filesystem::path history);
  ~LineEditor();

  // Without its line end; nothing at the end of input (Ctrl-D). `more`: the line goes on what was begun.
  std::optional<std::string> read(bool more);
  // Whether the last line was given up with Ctrl-C; it is empty then, and what it went on is to be forgotten too.
  bool given_up() const;
  void remember(const std::string& text);

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;  // none: no terminal
};

// $XDG_STATE_HOME/allot/history, else ~/.local/state/allot/history; empty where neither is known.
std::filesystem::path history_file();

}  // namespace allot::repl
