#include "runtime/package/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "lang/diagnostics.h"
#include "runtime/package/limits.h"

namespace allot::package {

Error toml_error(const std::string& where, const toml::node* node, std::string what, std::string help) {
  const auto line = node == nullptr ? 0U : node->source().begin.line;
  return Error{line > 0 ? fmt::format("{}:{}: {}", where, line, what) : fmt::format("{}: {}", where, what), std::move(help)};
}

namespace {

// toml++ makes and frees the tables of a dotted key one within the other, without a bound: they would overflow a stack. A
// text of several lines could hide such a key from this reading, and nothing here needs one.
std::optional<Error> too_deep(std::string_view text, const std::string& where) {
  std::size_t line = 1, parts = 1;
  char quote = 0;  // of the text that `i` is in
  const auto refused = [&](const std::string& what) { return Error{fmt::format("{}:{}: {}", where, line, what), ""}; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\n';
    if (c == '\n') {
      ++line, parts = 1, quote = 0;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
      if (c == '\\' && quote == '"' && next != '\n') ++i;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      if (next == c && i + 2 < text.size() && text[i + 2] == c) return refused("a text of several lines has no place here");
      quote = c;
    } else if (c == '.' && ++parts > limits.key_parts) {
      return refused(fmt::format("a key of more than {} parts", limits.key_parts));
    } else if (std::string_view("=,[]{}").find(c) != std::string_view::npos) {
      parts = 1;
    }
  }
  return std::nullopt;
}

bool has_merge_marks(std::string_view text) { return text.starts_with("<<<<<<< ") || text.find("\n<<<<<<< ") != std::string_view::npos; }

}  // namespace

Result<toml::table> parse_toml(std::string_view text, const std::string& where) {
  if (text.size() > limits.text_bytes) return Error{fmt::format("{} is larger than {} bytes", where, limits.text_bytes), ""};
  if (auto deep = too_deep(text, where)) return *deep;
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& problem) {
    return Error{fmt::format("{}:{}: {}", where, problem.source().begin.line, problem.description()),
                 has_merge_marks(text) ? "a merge left its marks in it: settle them; what allot.lock lacks then, `allot add` brings" : "it is written in TOML"};
  }
}

Result<void> only(const toml::table& table, const std::string& where, std::initializer_list<std::string_view> known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [key, value] : table) {
    if (std::find(names.begin(), names.end(), key.str()) != names.end()) continue;
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    const std::string near = lang::near_match(key.str(), names);
    return toml_error(where, &value, fmt::format("`{}` means nothing here", shown(key.str())),
                      near.empty() ? "known are " + all : fmt::format("did you mean `{}`?", near));
  }
  return {};
}

Result<std::string> string_at(const toml::table& table, std::string_view key, const std::string& where) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) return std::string();
  if (!node->is_string()) return toml_error(where, node, fmt::format("`{}` is a string", key), fmt::format("{} = \"…\"", key));
  return node->as_string()->get();
}

namespace {

constexpr std::string_view forms =
    "one of { path = \"…\" }, { git = \"…\", rev = \"…\" }, { url = \"…\" } and { registry = \"…\", version = \"…\" }";

// Addresses are words of other programs' command lines and lines of files: one line, and no option.
bool is_address(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.size() <= 2000 &&
         std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F; });
}

bool is_revision(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.size() <= 200 && text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                  c == '-' || c == '/';
         });
}

bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

Result<Source> read_source(const toml::node& node, const std::string& where, bool locked) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return toml_error(where, &node, "a source is a table", std::string(forms));
  struct Form {
    std::string_view key;
    Source::Kind kind;
    std::string_view wanted;
  };
  constexpr Form all[] = {{"path", Source::Kind::Path, ""},
                          {"git", Source::Kind::Git, "rev"},
                          {"url", Source::Kind::Url, ""},
                          {"registry", Source::Kind::Registry, "version"}};
  const auto form = std::find_if(std::begin(all), std::end(all), [&](const Form& each) { return table->contains(each.key); });
  if (form == std::end(all)) return toml_error(where, &node, "a source says where the package is", std::string(forms));
  const bool git = form->kind == Source::Kind::Git;
  const auto known = git && locked ? only(*table, where, {"git", "rev", "commit"})
                     : form->wanted.empty() ? only(*table, where, {form->key})
                                            : only(*table, where, {form->key, form->wanted});
  if (!known) return known.error();
  Source source;
  source.kind = form->kind;
  for (const auto& [key, into] : {std::pair{form->key, &source.address}, std::pair{form->wanted, &source.wanted},
                                  std::pair{std::string_view("commit"), &source.commit}}) {
    if (key.empty()) continue;
    auto text = string_at(*table, key, where);
    if (!text) return text.error();
    *into = *std::move(text);
  }
  const bool path = source.kind == Source::Kind::Path;
  if (path ? source.address.empty() || source.address.find('\n') != std::string::npos : !is_address(source.address)) {
    return toml_error(where, &node, fmt::format("`{}` is no address", shown(source.address)), "");
  }
  if (git && !source.wanted.empty() && !is_revision(source.wanted)) {
    return toml_error(where, &node, fmt::format("`{}` is no revision", shown(source.wanted)), "a tag, a branch or a commit");
  }
  if (git && locked && !is_commit(source.commit)) return toml_error(where, &node, "`commit` is a whole commit of git");
  if (source.kind == Source::Kind::Registry) {
    if (const auto version = parse_version(source.wanted); !version) {
      return toml_error(where, &node, version.error().what, version.error().help);
    }
  }
  return source;
}

}  // namespace allot::package
