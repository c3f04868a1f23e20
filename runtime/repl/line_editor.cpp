#include "runtime/repl/line_editor.h"

#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <set>

namespace allot::repl {

namespace {

constexpr int kept_lines = 1000;

struct End {
  void operator()(EditLine* editor) const { el_end(editor); }
  void operator()(History* history) const { history_end(history); }
};

std::string common_start(const std::vector<std::string>& words) {
  std::string start = words.front();
  for (const std::string& word : words) {
    std::size_t length = 0;
    while (length < start.size() && length < word.size() && start[length] == word[length]) ++length;
    start.resize(length);
  }
  return start;
}

}  // namespace

struct LineEditor::Terminal {
  std::unique_ptr<History, End> history;
  std::unique_ptr<EditLine, End> editor;
  std::filesystem::path file;
  Complete complete;
  bool more = false;
  bool given_up = false;  // by Ctrl-C

  static Terminal& of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Terminal*>(data);
  }

  static char* prompt(EditLine* editor) {
    static char first[] = "allot> ", next[] = "   ... ";
    return of(editor).more ? next : first;
  }

  // Bound to Ctrl-C: what was typed is given up, and the next line begins.
  static unsigned char on_interrupt(EditLine* editor, int) {
    of(editor).given_up = true;
    std::printf("^C");
    return CC_NEWLINE;
  }

  // Bound to Tab: what all candidates begin with is put in; several are listed.
  static unsigned char on_tab(EditLine* editor, int) {
    const LineInfo* const line = el_line(editor);
    const std::string_view before(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    const std::vector<std::string> found = of(editor).complete(before);
    if (found.empty()) return CC_REFRESH_BEEP;
    std::size_t typed = 0;
    const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (typed < before.size() && is_letter(before[before.size() - 1 - typed])) ++typed;
    const std::string rest = common_start(found).substr(std::min(typed, common_start(found).size()));
    if (!rest.empty()) return el_insertstr(editor, rest.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    if (found.size() == 1) return CC_NORM;
    std::printf("\n");
    for (const std::string& word : found) std::printf("%s  ", word.c_str());
    std::printf("\n");
    return CC_REDISPLAY;
  }
};

LineEditor::LineEditor(Complete complete, std::filesystem::path history) {
  if (isatty(STDIN_FILENO) == 0) return;
  terminal_ = std::make_unique<Terminal>();
  Terminal& terminal = *terminal_;
  terminal.complete = std::move(complete);
  terminal.file = std::move(history);
  terminal.history.reset(history_init());
  terminal.editor.reset(el_init("allot", stdin, stdout, stderr));
  if (!terminal.history || !terminal.editor) {
    terminal_.reset();
    return;
  }
  HistEvent event;
  ::history(terminal.history.get(), &event, H_SETSIZE, kept_lines);
  ::history(terminal.history.get(), &event, H_SETUNIQUE, 1);
  if (!terminal.file.empty()) ::history(terminal.history.get(), &event, H_LOAD, terminal.file.c_str());
  EditLine* const editor = terminal.editor.get();
  el_set(editor, EL_CLIENTDATA, &terminal);
  el_set(editor, EL_PROMPT, &Terminal::prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 1);
  el_set(editor, EL_HIST, ::history, terminal.history.get());
  el_set(editor, EL_ADDFN, "allot-complete", "complete a name", &Terminal::on_tab);
  el_set(editor, EL_BIND, "^I", "allot-complete", nullptr);
  // While a line is edited Ctrl-C is a key like any other; while a value is worked out it ends the program as ever.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_ADDFN, "allot-give-up", "give the line up", &Terminal::on_interrupt);
  el_set(editor, EL_BIND, "^C", "allot-give-up", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
}

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::read(bool more) {
  if (!terminal_) {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  terminal_->more = more;
  terminal_->given_up = false;
  int count = 0;
  const char* const line = el_gets(terminal_->editor.get(), &count);
  if (terminal_->given_up) return std::string();
  if (line == nullptr || count <= 0) return std::nullopt;
  std::string text(line, static_cast<std::size_t>(count));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

bool LineEditor::given_up() const { return terminal_ && terminal_->given_up; }

void LineEditor::remember(const std::string& text) {
  if (!terminal_ || text.find_first_not_of(" \t\n") == std::string::npos) return;
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');  // one line of history each
  HistEvent event;
  ::history(terminal_->history.get(), &event, H_ENTER, line.c_str());
  if (terminal_->file.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(terminal_->file.parent_path(), ignored);
  ::history(terminal_->history.get(), &event, H_SAVE, terminal_->file.c_str());
}

std::filesystem::path history_file() {
  if (const char* const state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0') {
    return std::filesystem::path(state) / "allot" / "history";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".local" / "state" / "allot" / "history";
}

}  // namespace allot::repl
