#include "lang/reference/textmate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "lang/reference/reference.h"
#include "lang/words.h"

namespace allot::lang::reference {
namespace {

using Json = nlohmann::ordered_json;

std::string any_of(const std::set<std::string>& words) {
  std::string pattern;
  for (const std::string& word : words) pattern += (pattern.empty() ? "" : "|") + word;
  return "(?:" + pattern + ")";
}

std::string any_of(const std::vector<std::string>& words) { return any_of(std::set<std::string>(words.begin(), words.end())); }

std::set<std::string> named(std::initializer_list<Kind> kinds) {
  std::set<std::string> names;
  for (const Entry& entry : entries()) {
    if (std::find(kinds.begin(), kinds.end(), entry.kind) != kinds.end()) names.insert(entry.name);
  }
  return names;
}

Json rule(const std::string& scope, const std::string& match) {
  return {{"name", scope + ".allot"}, {"match", match}};
}

Json text_rule() {
  const Json hole = {{"name", "meta.interpolation.allot"},
                     {"begin", "\\{"},
                     {"end", "\\}"},
                     {"beginCaptures", {{"0", {{"name", "punctuation.section.interpolation.begin.allot"}}}}},
                     {"endCaptures", {{"0", {{"name", "punctuation.section.interpolation.end.allot"}}}}},
                     {"patterns", {{{"include", "#expression"}}}}};
  return {{"name", "string.quoted.double.allot"},
          {"begin", "\""},
          {"end", "\"|$"},
          {"patterns",
           {rule("constant.character.escape", "\\\\[n\"\\\\]|\\{\\{|\\}\\}"), hole}}};
}

}  // namespace

std::string textmate_grammar() {
  const std::string word = "(?<![.\\w])";  // not after a dot: words are reserved where they may start something
  Json expression = Json::array();
  expression.push_back(text_rule());
  expression.push_back(rule("constant.numeric", "\\b\\d[\\d_]*(?:\\.\\d[\\d_]*)?(?:[eE][+-]?\\d+)?%?"));
  expression.push_back(rule("support.type.unit", "(?<=[\\d%] )" + any_of(unit_words()) + "\\b"));
  expression.push_back(rule("constant.language", word + "(?:true|false|undefined)\\b"));
  expression.push_back(rule("keyword.operator.word", word + "(?:and|or|not|mod|is|in)\\b"));
  expression.push_back(rule("keyword.control", word + "(?:if|then|else|for|where|over|maximizing|minimizing)\\b"));
  expression.push_back(rule("support.function",
                            word + any_of(named({Kind::Function, Kind::Statistic, Kind::Reduction})) + "(?=\\()"));
  expression.push_back(rule("variable.other.property", "(?<=\\.)" + any_of(named({Kind::Fact})) + "\\b"));
  expression.push_back(rule("keyword.operator", "->|<=|>=|==|!=|\\?\\?|\\.\\.|[-+*/<>=?]"));

  Json grammar = {{"$schema", "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json"},
                  {"name", "Allot"},
                  {"scopeName", "source.allot"},
                  {"fileTypes", {"allot"}}};
  Json patterns = Json::array();
  for (const char* part : {"#comments", "#items", "#statements", "#actions", "#types", "#expression"}) {
    patterns.push_back({{"include", part}});
  }
  grammar["patterns"] = patterns;
  Json handler = {{"match", word + "(on)\\s+(" + any_of(point_words()) + ")\\b"},
                  {"captures",
                   {{"1", {{"name", "keyword.declaration.allot"}}}, {"2", {{"name", "entity.name.function.point.allot"}}}}}};
  Json items = Json::array();
  items.push_back(handler);
  items.push_back({{"match", "^\\s*(policy|param|state|input|fn)\\s+(\\w+)"},
                   {"captures",
                    {{"1", {{"name", "keyword.declaration.allot"}}}, {"2", {{"name", "entity.name.allot"}}}}}});
  items.push_back(rule("keyword.declaration", "^\\s*" + any_of(item_words()) + "\\b"));
  Json& repository = grammar["repository"];
  repository["comments"]["patterns"] = {rule("comment.block.documentation", "##.*$"), rule("comment.line.number-sign", "#.*$")};
  repository["items"]["patterns"] = items;
  repository["statements"]["patterns"] = {
      rule("keyword.control", word + any_of(statement_words()) + "\\b"),
      rule("keyword.control", word + "(?:because|given|expect|with|each|more|per|of|by|up to|at most|carry over)\\b")};
  repository["actions"]["patterns"] = {
      rule("keyword.other.verdict", word + any_of(action_words()) + "\\b(?!\\s*[(:=])")};
  repository["types"]["patterns"] = {
      rule("storage.type", "(?<=[:>] )(?:" + any_of(unit_words()) + "|bool|int|real|prob|beta|string|vec|mat)\\b"),
      rule("entity.name.type.subject", "(?<=of )" + any_of(subject_words()) + "\\b")};
  repository["expression"]["patterns"] = expression;
  return grammar.dump(2) + "\n";
}

}  // namespace allot::lang::reference
