#include "lang/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "lang/limits.h"
#include "lang/unicode.h"

namespace allot::lang {
namespace {

// A long line is shown around the caret only; one line of 10 MB must not be echoed.
constexpr int shown_before = 80;
constexpr int shown_after = 80;

std::string_view word_for(Severity severity) {
  return severity == Severity::Error ? "error" : "warning";
}

// One code point as it may be shown on a terminal, and the columns it takes there.
struct Glyph {
  std::string text;
  int width = 1;
};

Glyph glyph_of(std::string_view line, std::size_t offset, const CodePoint& point) {
  if (point.value < 0) {
    auto text = fmt::format("<{:02X}>", static_cast<unsigned char>(line[offset]));
    const int width = static_cast<int>(text.size());
    return {std::move(text), width};
  }
  if (point.value == '\t') return {"\t", 1};
  if (deceptive(point.value)) {
    auto text = fmt::format("<{}>", notation(point.value));
    const int width = static_cast<int>(text.size());
    return {std::move(text), width};
  }
  return {std::string(line.substr(offset, static_cast<std::size_t>(point.bytes))), display_width(point.value)};
}

// A line and what stands under it: blanks (tabs kept) up to the place, then marks.
struct Excerpt {
  std::string line;
  std::string blanks;
  std::string marks;
};

bool begins_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// The byte offset `count` code points before `at`, or 0.
std::size_t back(std::string_view line, std::size_t at, int count) {
  for (; at > 0 && count > 0; --count) {
    --at;
    while (at > 0 && !begins_code_point(line[at])) --at;
  }
  return at;
}

// The marks stand under the bytes from..to of the line.
Excerpt excerpt(std::string_view line, std::size_t from, std::size_t to, char mark) {
  Excerpt shown;
  std::size_t at = back(line, from, shown_before);
  if (at > 0) {
    shown.line = "...";
    shown.blanks = "   ";
  }
  for (int after = 0; at < line.size() && after < shown_after;) {
    const auto point = code_point_at(line, at);
    const auto glyph = glyph_of(line, at, point);
    shown.line += glyph.text;
    const auto width = static_cast<std::size_t>(glyph.width);
    if (at < from)
      shown.blanks += glyph.text == "\t" ? "\t" : std::string(width, ' ');
    else if (at < to)
      shown.marks += std::string(width, mark);
    if (at >= from) ++after;
    at += static_cast<std::size_t>(point.bytes);
  }
  if (at < line.size()) shown.line += "...";
  if (shown.marks.empty()) shown.marks = std::string(1, mark);
  return shown;
}

// The part of a span that lies on its first line.
Excerpt excerpt(const Source& source, Span span, char mark) {
  const auto line = source.line_at(span.begin);
  const auto line_begin = static_cast<std::size_t>(line.data() - source.text().data());
  const auto from = std::min<std::size_t>(span.begin - std::min<std::size_t>(span.begin, line_begin), line.size());
  const auto to = std::clamp<std::size_t>(span.end - std::min<std::size_t>(span.end, line_begin), from, line.size());
  return excerpt(line, from, to, mark);
}

std::string trimmed_right(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
  return text;
}

std::string marked_row(const Excerpt& shown, std::string_view words) {
  return trimmed_right(fmt::format("     | {}{} {}", shown.blanks, shown.marks, words)) + "\n";
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += indent;
  }
  return result;
}

nlohmann::json json_of(const Diagnostic& diagnostic, const Source& source) {
  const auto begin = source.place(diagnostic.span.begin);
  const auto end = source.place(diagnostic.span.end);
  auto contexts = nlohmann::json::array();
  for (const auto& context : diagnostic.contexts) {
    const auto place = source.place(context.span.begin);
    nlohmann::json json{{"line", place.line}, {"column", place.column}, {"words", context.words}};
    if (source.file_count() > 1) json["file"] = source.name(context.span.begin);
    contexts.push_back(std::move(json));
  }
  return {{"severity", word_for(diagnostic.severity)},
          {"code", diagnostic.code},
          {"message", diagnostic.message},
          {"file", source.name(diagnostic.span.begin)},
          {"line", begin.line},
          {"column", begin.column},
          {"end_line", end.line},
          {"end_column", end.column},
          {"label", diagnostic.label},
          {"help", diagnostic.help},
          {"contexts", std::move(contexts)}};
}

// Edits to turn one word into the other: insert, delete, replace, or swap of neighbours (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> rows(3, std::vector<int>(b.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

// Names and quoted expressions may be as long as the file: a word is cut, and so is the whole.
std::string shortened(const std::string& text) {
  constexpr std::size_t whole = 2000;
  std::string result;
  std::size_t word = 0;
  for (const char c : text) {
    if (begins_code_point(c)) {
      word = c == ' ' || c == '\n' || c == '`' ? 0 : word + 1;
      if (word == limits.shown_name) result += "...";
      if (result.size() > whole) return result + "...";
    }
    if (word < limits.shown_name) result += c;
  }
  return result;
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  const bool error = diagnostic.severity == Severity::Error;
  if (error) ++errors_;
  if (all_.size() >= limits.kept_errors) {
    ++(error ? errors_dropped_ : warnings_dropped_);
    return;
  }
  for (std::string* const text : {&diagnostic.message, &diagnostic.label, &diagnostic.help}) *text = shortened(*text);
  all_.push_back(std::move(diagnostic));
}

void Diagnostics::sort() {
  std::stable_sort(all_.begin(), all_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.span.begin, a.code) < std::tie(b.span.begin, b.code);
  });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.span.begin == b.span.begin && a.code == b.code;
  };
  all_.erase(std::unique(all_.begin(), all_.end(), same), all_.end());
  errors_ = errors_dropped_ + static_cast<int>(
      std::count_if(all_.begin(), all_.end(), [](const Diagnostic& d) { return d.severity == Severity::Error; }));
}

std::string render(const Diagnostic& diagnostic, const Source& source) {
  const auto place = source.place(diagnostic.span.begin);
  auto text = fmt::format("{}[{}]: {}\n", word_for(diagnostic.severity), diagnostic.code, diagnostic.message);
  text += fmt::format("  --> {}:{}:{}\n", source.name(diagnostic.span.begin), place.line, place.column);
  const auto shown = excerpt(source, diagnostic.span, '^');
  text += trimmed_right(fmt::format("{:>4} | {}", place.line, shown.line)) + "\n";
  text += marked_row(shown, indented(diagnostic.label, "     | "));
  int line_shown = place.line;
  std::string_view file_shown = source.name(diagnostic.span.begin);
  for (const auto& context : diagnostic.contexts) {
    const auto other = source.place(context.span.begin);
    const auto there = excerpt(source, context.span, '-');
    if (const std::string& file = source.name(context.span.begin); file != file_shown) {
      text += fmt::format("  --> {}:{}:{}\n", file, other.line, other.column);
      file_shown = file;
      line_shown = 0;
    }
    if (other.line != line_shown) text += trimmed_right(fmt::format("{:>4} | {}", other.line, there.line)) + "\n";
    text += marked_row(there, context.words);
    line_shown = other.line;
  }
  if (!diagnostic.help.empty()) text += fmt::format("   help: {}\n", indented(diagnostic.help, "         "));
  return text;
}

int hidden(const Diagnostics& diagnostics) {
  return std::max(0, static_cast<int>(diagnostics.all().size()) - limits.errors) + diagnostics.left_out();
}

std::string render_all(const Diagnostics& diagnostics, const Source& source) {
  std::string text;
  int shown = 0;
  for (const auto& diagnostic : diagnostics.all()) {
    if (shown++ == limits.errors) break;
    text += render(diagnostic, source);
  }
  const auto left = hidden(diagnostics);
  if (left > 0) text += fmt::format("and {} more\n", left);
  return text;
}

std::string render_json(const Diagnostics& diagnostics, const Source& source) {
  auto all = nlohmann::json::array();
  for (const auto& diagnostic : diagnostics.all()) {
    if (all.size() == static_cast<std::size_t>(limits.errors)) break;
    all.push_back(json_of(diagnostic, source));
  }
  if (const int left = hidden(diagnostics); left > 0) {
    const auto& first_hidden = diagnostics.all()[static_cast<std::size_t>(limits.errors)];
    const Diagnostic rest{.severity = first_hidden.severity,
                          .span = first_hidden.span,
                          .message = fmt::format("and {} more", left)};
    all.push_back(json_of(rest, source));
  }
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t end = name.find('_'); end != std::string_view::npos; end = name.find('_')) {
    words.push_back(name.substr(0, end));
    name.remove_prefix(end + 1);
  }
  words.push_back(name);
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

std::string near_match(std::string_view name, const std::vector<std::string>& candidates) {
  // A third of the letters may differ, and always fewer than three in four-letter words: `at` is not `is`.
  if (name.empty() || name.size() > 64) return {};
  const int allowed = std::min(3, static_cast<int>(name.size()) / 3);
  std::string best;
  int best_distance = allowed + 1;
  for (const auto& candidate : candidates) {
    if (candidate == name || candidate.empty()) continue;
    const auto longer = std::max(candidate.size(), name.size()), shorter = std::min(candidate.size(), name.size());
    if (static_cast<int>(longer - shorter) >= best_distance) continue;
    const int distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty() || name.find('_') == std::string_view::npos) return best;
  // `mean_reward` for `reward_mean`.
  const auto same = [&](const std::string& candidate) { return candidate != name && words_of(candidate) == words_of(name); };
  const auto it = std::find_if(candidates.begin(), candidates.end(), same);
  return it == candidates.end() ? std::string() : *it;
}

}  // namespace allot::lang
