#include "runtime/cli/page.h"

#include <fmt/core.h>

namespace allot::cli {

void Page::heading(int level, std::string text) {
  blocks_.push_back({Block::Kind::Heading, level, std::move(text), {}, {}});
}
void Page::paragraph(std::string text) {
  if (!text.empty()) blocks_.push_back({Block::Kind::Paragraph, 0, std::move(text), {}, {}});
}
void Page::code(std::string text) {
  blocks_.push_back({Block::Kind::Code, 0, std::move(text), {}, {}});
}
void Page::list(std::vector<std::string> items) {
  if (!items.empty()) blocks_.push_back({Block::Kind::List, 0, {}, std::move(items), {}});
}
void Page::table(std::vector<std::string> head, std::vector<std::vector<std::string>> rows) {
  if (!rows.empty()) blocks_.push_back({Block::Kind::Table, 0, {}, std::move(head), std::move(rows)});
}

namespace {

std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

// What means something in HTML is escaped; what stands between back quotes becomes code.
std::string html_text(std::string_view text) {
  std::string result;
  bool code = false;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '`':
        result += code ? "</code>" : "<code>";
        code = !code;
        break;
      default:
        result += c;
    }
  }
  return result + (code ? "</code>" : "");
}

// As it stands: no back quote means anything.
std::string html_code(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const std::string_view escaped = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string_view();
    result += escaped.empty() ? std::string_view(&c, 1) : escaped;
  }
  return result;
}

constexpr std::string_view style =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "pre,code{font-family:ui-monospace,monospace;background:#f4f4f4}pre{padding:.8rem;overflow-x:auto}"
    "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2rem "
    ".6rem;text-align:left;vertical-align:top}";

}  // namespace

std::string Page::markdown() const {
  std::string page;
  for (const Block& block : blocks_) {
    if (!page.empty()) page += '\n';
    switch (block.kind) {
      case Block::Kind::Heading:
        page += std::string(static_cast<std::size_t>(block.level), '#') + " " + block.text + "\n";
        break;
      case Block::Kind::Paragraph:
        page += block.text + "\n";
        break;
      case Block::Kind::Code:
        page += "```\n" + block.text + (block.text.ends_with('\n') ? "" : "\n") + "```\n";
        break;
      case Block::Kind::List:
        for (const std::string& item : block.items) page += "- " + item + "\n";
        break;
      case Block::Kind::Table:
        page += "|";
        for (const std::string& head : block.items) page += " " + markdown_cell(head) + " |";
        page += "\n|";
        for (std::size_t i = 0; i < block.items.size(); ++i) page += "---|";
        for (const auto& row : block.rows) {
          page += "\n|";
          for (const std::string& cell : row) page += " " + markdown_cell(cell) + " |";
        }
        page += "\n";
    }
  }
  return page;
}

std::string Page::html(std::string_view title) const {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<style>{}</style>\n",
      html_text(title), style);
  for (const Block& block : blocks_) {
    switch (block.kind) {
      case Block::Kind::Heading:
        page += fmt::format("<h{0}>{1}</h{0}>\n", block.level, html_text(block.text));
        break;
      case Block::Kind::Paragraph:
        page += fmt::format("<p>{}</p>\n", html_text(block.text));
        break;
      case Block::Kind::Code:
        page += fmt::format("<pre><code>{}</code></pre>\n", html_code(block.text));
        break;
      case Block::Kind::List:
        page += "<ul>\n";
        for (const std::string& item : block.items) page += fmt::format("<li>{}</li>\n", html_text(item));
        page += "</ul>\n";
        break;
      case Block::Kind::Table:
        page += "<table>\n<tr>";
        for (const std::string& head : block.items) page += fmt::format("<th>{}</th>", html_text(head));
        page += "</tr>\n";
        for (const auto& row : block.rows) {
          page += "<tr>";
          for (const std::string& cell : row) page += fmt::format("<td>{}</td>", html_text(cell));
          page += "</tr>\n";
        }
        page += "</table>\n";
    }
  }
  return page + "</html>\n";
}

}  // namespace allot::cli
