#include "lang/scanner.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/items.h"
#include "lang/limits.h"
#include "lang/text_check.h"
#include "lang/unicode.h"
#include "lang/words.h"

namespace allot::lang {
namespace {

// What is open at a place: a bracket, a string, or a hole in it.
struct Frame {
  char open = 0;  // ( [ { " or h for a hole
  std::uint32_t at = 0;
  int levels = 0;    // unary operators and ifs that the next operand stands under
  int prefixes = 0;  // those of them that end with the next operand
};

char closing(char open) {
  return open == '(' ? ')' : open == '[' ? ']' : '}';
}

class Scanner {
 public:
  Scanner(const Source& source, std::size_t file, Diagnostics& diagnostics, bool items)
      : text_(source.text().substr(0, source.file(file).end)),
        diagnostics_(diagnostics),
        cut_(items),
        at_(source.file(file).begin) {
    frames_.push_back({});
  }

  Scan run() {
    if (!cut_) begin_item(0, "");
    while (at_ < text_.size() && !full_) step();
    if (frames_.size() > 1) unclosed(std::nullopt);
    finish_item();
    return std::move(scan_);
  }

 private:
  // ---- characters

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::uint32_t here() const { return static_cast<std::uint32_t>(at_); }
  bool in_text() const { return frames_.back().open == '"'; }

  void step() {
    const char c = peek();
    if (c == '\n' || c == '\r') return line_end();
    if (in_text()) return string_text(c);
    if (c == ' ' || c == '\t') {
      ++at_;
      return;
    }
    if (c == '#') return comment();
    if (is_name_start(c)) return word();
    if (is_digit(c)) return number();
    if (static_cast<unsigned char>(c) >= 0x80) return foreign();
    symbol(c);
  }

  void line_end() {
    if (in_string()) unterminated();
    ++at_;
    fresh_line_ = true;
  }

  void comment() {
    const auto begin = here();
    while (at_ < text_.size() && peek() != '\n' && peek() != '\r') ++at_;
    const Comment comment{{begin, here()}, text_.substr(begin, 2) == "##", fresh_line_};
    scan_.comments.push_back(comment);
    if (!comment.doc || !comment.own_line) return;
    auto words = text_.substr(begin + 2, here() - begin - 2);
    if (words.starts_with(' ')) words.remove_prefix(1);
    if (!doc_.empty()) doc_ += '\n';
    doc_ += words;
  }

  void string_text(char c) {
    if (c == '"') {
      const auto length = at_ - frames_.back().at - 1;
      if (length > limits.string_bytes && strings_ == 1) {
        report("E0025", {frames_.back().at, frames_.back().at + 1},
               fmt::format("this string has {} bytes, more than {}", length, limits.string_bytes), "", "");
      }
      pop();
      ++at_;
      return token_done(Previous::Operand);
    }
    if (c == '\\' && peek(1) != '\n' && peek(1) != '\r') {
      at_ += 2;
      return;
    }
    if (c == '{' && peek(1) == '{') {
      at_ += 2;
      return;
    }
    if (c == '{') {
      push('h');
      return;
    }
    ++at_;
  }

  void number() {
    token_begins("");
    while (is_name_char(peek())) ++at_;
    token_done(Previous::Operand);
  }

  void symbol(char c) {
    switch (c) {
      case '"':
        token_begins("");
        frames_.push_back({'"', here()});
        ++strings_;
        ++at_;
        return;
      case '(':
      case '[':
      case '{':
        token_begins("");
        push(c);
        return;
      case ')':
      case ']':
      case '}':
        return close(c);
      case '-':
        token_begins("");
        if (peek(1) == '>')
          ++at_;
        else if (previous_ != Previous::Operand)
          deeper(1);
        ++at_;
        return token_done(Previous::Operator);
      case ',':
        end_levels();
        break;
      default:
        break;
    }
    token_begins("");
    ++at_;
    token_done(c == '.' ? Previous::Dot : c == '%' || c == '?' ? previous_ : Previous::Operator);
  }

  // A character outside ASCII where only ASCII may stand.
  void foreign() {
    const auto begin = here();
    const auto point = code_point_at(text_, at_);
    at_ += static_cast<std::size_t>(point.bytes);
    if (!deceptive(point.value)) {
      const auto alike = look_alike(point.value);
      const auto what = alike.letter ? "names are ASCII, and this is" : "only strings and comments may hold this:";
      report("E0023", {begin, here()}, fmt::format("{} {}", what, alike.name), "",
             alike.ascii.empty() ? "names are made of a-z, A-Z, 0-9 and _"
                                 : fmt::format("write `{}`", alike.ascii == " " ? "a plain space" : alike.ascii));
    }
    const auto end = here();
    at_ = begin;
    token_begins("");
    at_ = end;
    current_.broken = true;
    // The rest of the name, so that one slip gives one message.
    while (at_ < text_.size() && (is_name_char(peek()) || static_cast<unsigned char>(peek()) >= 0x80)) ++at_;
    token_done(Previous::Operand);
  }

  // ---- words

  void word() {
    const auto begin = here();
    const auto name = word_at(text_, at_);
    const auto end = at_ + name.size();
    token_begins(name);
    at_ = end;
    if (previous_ == Previous::Dot) return token_done(Previous::Operand);
    if (ends_expression(name)) end_levels();
    if (name == "not" || name == "if") {
      at_ = begin;
      deeper(name == "not");
      at_ = end;
    }
    token_done(joins_operands(name) ? Previous::Operator : Previous::Operand);
  }

  // ---- items

  // Called at the first byte of every token outside strings; `name` is the word, or empty for anything else.
  void token_begins(std::string_view name) {
    const Surroundings around{current_.word, open_item_, frames_.size() == 1, fresh_line_, in_string(), previous_};
    if (cut_ && begins_item(text_, at_, name, around)) {
      if (frames_.size() > 1) unclosed(here());
      finish_item();
      begin_item(here(), name.empty() ? text_.substr(at_, 1) : name);
    }
    fresh_line_ = false;
    doc_.clear();
  }

  void token_done(Previous previous) {
    if (!in_text()) {
      previous_ = previous;
      if (previous == Previous::Operand) end_prefixes();
    }
    last_end_ = here();
  }

  bool in_string() const { return strings_ > 0; }  // in its text or in a hole of it

  void begin_item(std::uint32_t at, std::string_view word) {
    current_ = {{at, at}, std::string(word), doc_, false};
    open_item_ = true;
    previous_ = Previous::None;
    too_deep_ = cut_string_ = stray_ = false;
  }

  void finish_item() {
    if (!open_item_) return;
    current_.span.end = std::max(last_end_, current_.span.begin);
    if (!full_ && scan_.items.size() == static_cast<std::size_t>(limits.items)) {
      const auto most = fmt::format("more than {} declarations, handlers and tests", limits.items);
      report("E0024", {current_.span.begin, current_.span.begin + 1}, most, "", "");
      full_ = true;
    }
    if (!full_) scan_.items.push_back(std::move(current_));
    open_item_ = false;
  }

  // ---- nesting

  void push(char open) {
    deeper(0);
    frames_.push_back({open, here()});
    ++depth_;
    ++at_;
    previous_ = Previous::None;
    last_end_ = here();
  }

  void pop() {
    const bool string = frames_.back().open == '"';
    depth_ -= frames_.back().levels + (string ? 0 : 1);
    if (string) --strings_;
    frames_.pop_back();
  }

  // One level more at this place, `prefix` where it lasts for one operand only, or (0 levels yet) a bracket to come.
  void deeper(int prefix) {
    if (depth_ + 1 > limits.depth && !too_deep_) {
      report("E0007", {here(), here() + 1}, fmt::format("nested more than {} deep", limits.depth),
             fmt::format("level {}", limits.depth + 1), "name the inner parts with `let`");
      too_deep_ = true;
    }
    const bool bracket = peek() == '(' || peek() == '[' || peek() == '{';
    if (bracket) return;
    ++frames_.back().levels;
    frames_.back().prefixes += prefix;
    ++depth_;
  }

  void end_prefixes() {
    auto& frame = frames_.back();
    depth_ -= frame.prefixes;
    frame.levels -= frame.prefixes;
    frame.prefixes = 0;
  }

  void end_levels() {
    depth_ -= frames_.back().levels;
    frames_.back().levels = frames_.back().prefixes = 0;
  }

  void close(char c) {
    token_begins("");
    // A `}` ends what was left open inside it; any other bracket that does not fit is a stray.
    if (c == '}') {
      auto brace = frames_.size();
      while (brace > 1 && frames_[brace - 1].open != '{' && frames_[brace - 1].open != 'h' &&
             frames_[brace - 1].open != '"') {
        --brace;
      }
      const bool found = brace > 1 && frames_[brace - 1].open != '"';
      if (found && brace < frames_.size()) {
        never_closed(frames_[brace], std::nullopt);
        while (frames_.size() > brace) pop();
      }
    }
    const char open = frames_.back().open == 'h' ? '{' : frames_.back().open;
    if (frames_.size() == 1 || closing(open) != c) {
      if (!stray_) report("E0004", {here(), here() + 1}, fmt::format("`{}` closes nothing", c), "", "remove it");
      stray_ = true;
      ++at_;
      return token_done(Previous::Operand);
    }
    pop();
    ++at_;
    if (in_text())
      last_end_ = here();
    else
      token_done(Previous::Operand);
  }

  void never_closed(const Frame& frame, std::optional<std::uint32_t> next_item) {
    Diagnostic diagnostic{.code = "E0003",
                          .span = {frame.at, frame.at + 1},
                          .message = fmt::format("`{}` is never closed", frame.open == 'h' ? '{' : frame.open)};
    if (next_item) {
      const auto word = word_at(text_, *next_item);
      diagnostic.contexts.push_back(
          {{*next_item, *next_item + static_cast<std::uint32_t>(word.size())}, "the next item begins here"});
    }
    diagnostic.help = fmt::format("add `{}`", closing(frame.open == 'h' ? '{' : frame.open));
    report(std::move(diagnostic));
  }

  void unclosed(std::optional<std::uint32_t> next_item) {
    if (in_string()) unterminated();
    // An endless string may have swallowed the bracket that is missing now.
    if (frames_.size() > 1 && !cut_string_) never_closed(frames_[1], next_item);
    while (frames_.size() > 1) pop();
  }

  // The outermost open string ends with its line, holes and all.
  void unterminated() {
    const auto string = std::find_if(frames_.begin(), frames_.end(), [](const Frame& f) { return f.open == '"'; });
    const auto index = static_cast<std::size_t>(string - frames_.begin());
    if (index + 1 < frames_.size()) {
      const auto at = frames_[index + 1].at;
      report("E0005", {at, at + 1}, "this hole has no `}` on its line", "the hole begins here",
             "add `}`; a brace in a message is written `{{`");
    } else {
      report("E0005", {string->at, string->at + 1}, "this string has no end on its line", "it begins here",
             "add `\"`, or write a line break as \\n");
    }
    while (frames_.size() > index) pop();
    last_end_ = here();
    previous_ = Previous::Operand;
    cut_string_ = true;
  }

  // ---- reports

  void report(Diagnostic diagnostic) {
    current_.broken = true;
    if (too_deep_) return;  // what else is wrong with such an item is not worth a second message
    diagnostics_.add(std::move(diagnostic));
  }
  void report(std::string code, Span span, std::string message, std::string label, std::string help) {
    report(Diagnostic{.code = std::move(code),
                      .span = span,
                      .message = std::move(message),
                      .label = std::move(label),
                      .help = std::move(help)});
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  bool cut_;
  std::size_t at_;
  Scan scan_;
  std::uint32_t last_end_ = 0;
  std::vector<Frame> frames_;
  int depth_ = 0;    // brackets, holes, unary operators and ifs around this place
  int strings_ = 0;  // open ones
  Previous previous_ = Previous::None;
  bool fresh_line_ = true;
  bool too_deep_ = false;
  bool cut_string_ = false;  // a string of this item ended with its line
  bool stray_ = false;       // a bracket of this item closes nothing
  bool full_ = false;
  bool open_item_ = false;
  Item current_;
  std::string doc_;
};

std::optional<Scan> run(const Source& source, std::size_t file, Diagnostics& diagnostics, bool items) {
  if (!check_text(source, file, diagnostics)) return std::nullopt;
  return Scanner(source, file, diagnostics, items).run();
}

}  // namespace

std::optional<Scan> scan(const Source& source, Diagnostics& diagnostics, std::size_t file) {
  return run(source, file, diagnostics, true);
}

std::optional<Scan> scan_expression(const Source& source, Diagnostics& diagnostics) {
  return run(source, 0, diagnostics, false);
}

}  // namespace allot::lang
