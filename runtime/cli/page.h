// A page of headings, paragraphs, tables and code, written as Markdown or as HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace allot::cli {

// In texts, `code` stands between back quotes in both forms.
class Page {
 public:
  void heading(int level, std::string text);
  void paragraph(std::string text);
  void code(std::string text);  // a policy's text
  void list(std::vector<std::string> items);
  void table(std::vector<std::string> head, std::vector<std::vector<std::string>> rows);  // nothing without rows

  std::string markdown() const;
  std::string html(std::string_view title) const;  // one file, without scripts and without other files

 private:
  struct Block {
    enum class Kind { Heading, Paragraph, Code, List, Table } kind = Kind::Paragraph;
    int level = 0;
    std::string text;
    std::vector<std::string> items;
    std::vector<std::vector<std::string>> rows;
  };
  std::vector<Block> blocks_;
};

}  // namespace allot::cli
