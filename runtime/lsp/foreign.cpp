// Names that another file declares, as they stand in a text.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "runtime/lsp/symbols.h"

namespace allot::lsp {

namespace tree = lang::tree;
using lang::Span;
using lang::format::Token;
using lang::format::TokenKind;

namespace {

std::string last_word(const std::string& dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

Span end_of(Span whole, const std::string& dotted) {
  return {whole.end - static_cast<std::uint32_t>(last_word(dotted).size()), whole.end};
}

class ForeignFinder {
 public:
  ForeignFinder(const tree::File& file, const std::vector<Token>& tokens) : file_(file), tokens_(tokens) {
    for (const tree::ImportDecl& each : file.imports) files_of_aliases_.emplace(each.alias.text, each.file.text);
    for (const tree::Member& each : file.members) {
      const auto imported = files_of_aliases_.find(each.name.text);
      files_of_members_.emplace(last_word(each.name.text),
                                imported == files_of_aliases_.end() ? each.name.text : imported->second);
    }
  }

  std::vector<ForeignName> run() {
    for (const tree::Member& member : file_.members) {
      const auto& of = files_of_members_.find(last_word(member.name.text))->second;
      for (const tree::Setting& setting : member.settings) {
        found_.push_back({of, setting.name.text, end_of(setting.name.span, setting.name.text), false, {}});
      }
    }
    if (file_.members.empty() && file_.imports.empty()) return std::move(found_);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      follow_brackets(i);
      add_label(i);
      add_dotted(i);
    }
    return std::move(found_);
  }

 private:
  static constexpr std::size_t no_call = std::numeric_limits<std::size_t>::max();

  std::string_view text(std::size_t i) const { return i < tokens_.size() ? tokens_[i].text : std::string_view(); }
  bool is_word(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::Word; }

  // Of each bracket that is open, the function whose call it is where another file declares that.
  void follow_brackets(std::size_t i) {
    const std::string_view bracket = text(i);
    if (bracket == "(" || bracket == "[" || bracket == "{") {
      calls_.push_back(i == bracket_of_call_ ? call_ : no_call);
    } else if ((bracket == ")" || bracket == "]" || bracket == "}") && !calls_.empty()) {
      calls_.pop_back();
    }
  }

  void add_label(std::size_t i) {
    if (!is_word(i) || text(i + 1) != ":" || calls_.empty() || calls_.back() == no_call) return;
    ForeignName label = found_[calls_.back()];
    label.span = tokens_[i].span;
    label.argument = std::string(text(i));
    found_.push_back(std::move(label));
  }

  // `head.a.b`
  void add_dotted(std::size_t i) {
    const std::string_view before = i > 0 ? text(i - 1) : std::string_view();
    if (!is_word(i) || before == "." || before == "import") return;
    std::size_t end = i;
    std::string rest;
    while (text(end + 1) == "." && is_word(end + 2)) {
      end += 2;
      rest += (rest.empty() ? "" : ".") + std::string(text(end));
    }
    if (rest.empty()) return;
    const bool called = text(end + 1) == "(";
    const auto& heads = called ? files_of_aliases_ : files_of_members_;
    const auto head = heads.find(text(i));
    if (head == heads.end()) return;
    if (called) {
      call_ = found_.size();
      bracket_of_call_ = end + 1;
    }
    found_.push_back({head->second, std::move(rest), tokens_[end].span, called, {}});
  }

  const tree::File& file_;
  const std::vector<Token>& tokens_;
  std::map<std::string, std::string, std::less<>> files_of_aliases_, files_of_members_;
  std::vector<std::size_t> calls_;  // whose brackets are open, into found_; of other brackets none
  std::size_t call_ = no_call;      // the last one
  std::size_t bracket_of_call_ = 0;
  std::vector<ForeignName> found_;
};

}  // namespace

std::string_view ForeignName::word() const {
  return argument.empty() ? std::string_view(name).substr(name.rfind('.') + 1) : std::string_view(argument);
}

std::string file_of_alias(const tree::File& file, std::string_view alias) {
  const auto found = std::find_if(file.imports.begin(), file.imports.end(),
                                  [&](const tree::ImportDecl& each) { return each.alias.text == alias; });
  return found == file.imports.end() ? std::string() : found->file.text;
}

std::string file_of_member(const tree::File& file, std::string_view member) {
  for (const tree::Member& each : file.members) {
    if (last_word(each.name.text) != member) continue;
    const std::string imported = file_of_alias(file, each.name.text);
    return imported.empty() ? each.name.text : imported;
  }
  return {};
}

std::vector<std::string> files_of_members(const tree::File& file) {
  std::vector<std::string> files;
  for (const tree::Member& each : file.members) {
    const std::string imported = file_of_alias(file, each.name.text);
    files.push_back(imported.empty() ? each.name.text : imported);
  }
  return files;
}

std::vector<ForeignName> find_foreign_names(const tree::File& file, const std::vector<Token>& tokens) {
  return ForeignFinder(file, tokens).run();
}

}  // namespace allot::lsp
