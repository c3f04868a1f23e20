// Who follows a diagnostic's help to the letter gets rid of it, and of nothing else: the code that it offers is put
// where it can be meant, and the program is checked again.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>

#include "check_harness.h"
#include "golden.h"
#include "lang/codes.h"
#include "lang/parser.h"

using namespace allot;
using lang::Diagnostic;
using lang::Span;

namespace {

struct Case {
  std::string name;
  std::string text;
  bool syntax = false;  // judged by the parser alone
};

std::vector<Diagnostic> diagnostics_of(const Case& each) {
  lang::Diagnostics found;
  auto source = std::make_shared<const lang::Source>(each.name, each.text);
  if (each.syntax) {
    lang::parse(*source, found);
    found.sort();
  } else {
    lang::check(source, found, std::make_shared<const lang::TextLibrary>(std::map<std::string, std::string>{}));
  }
  return found.all();
}

std::map<std::string, int> counted(const std::vector<Diagnostic>& all) {
  std::map<std::string, int> codes;
  for (const Diagnostic& each : all) ++codes[each.code];
  return codes;
}

// What a help offers as code: in backticks, or behind two blanks. A form with `…` is for its reader to fill in.
std::vector<std::string> offers(const std::string& help) {
  std::vector<std::string> found;
  static const std::regex quoted("`([^`]+)`"), added("(?:add|write)  (.*)$");
  for (std::sregex_iterator at(help.begin(), help.end(), quoted), end; at != end; ++at) found.push_back((*at)[1]);
  if (std::smatch whole; std::regex_search(help, whole, added)) found.push_back(whole[1]);
  std::erase_if(found, [](const std::string& code) { return code.find("…") != std::string::npos; });
  return found;
}

// The parts of a program in place of which an offer can stand.
class Places {
 public:
  explicit Places(const lang::tree::File& tree) : tree_(tree) {
    for (const auto& expr : tree.exprs) add(expr.span);
    for (const auto& param : tree.params) declared(param.name, param.type);
    for (const auto& function : tree.functions) {
      for (const auto& param : function.params) declared(param.name, param.type);
    }
    for (const auto& state : tree.states) declared(state.name, state.type);
    for (const auto& handler : tree.handlers) {
      add(handler.span);
      add({handler.span.begin, handler.point_span.end});
      add(handler.point_span);
      for (const auto& statement : handler.statements) add(statement);
    }
    for (const auto& test : tree.tests) {
      for (const auto& expect : test.expects) add(expect.span);
    }
    for (const auto& scenario : tree.scenarios) {
      for (const auto& iteration : scenario.iterations) add(iteration.span);
    }
  }

  std::vector<Span> around(Span place) const {
    std::vector<Span> found;
    for (const Span span : all_) {
      if (span.begin <= place.begin && span.end >= place.end) found.push_back(span);
    }
    return found;
  }

 private:
  void add(Span span) { all_.push_back(span); }
  void declared(const lang::tree::Name& name, const lang::tree::TypeName& type) {
    add(name.span);
    add(type.span);
    add({name.span.begin, type.span.end});
  }
  void add(const lang::tree::Statement& statement) {
    add(statement.span);
    if (statement.condition != lang::tree::none) add({statement.span.begin, tree_[statement.condition].span.end});
    if (statement.value != lang::tree::none) add({statement.span.begin, tree_[statement.value].span.begin});
    add(statement.verdict.span);
    for (const auto& action : statement.verdict.actions) add(action.span);
    for (const auto& inner : statement.body) add(inner);
  }

  const lang::tree::File& tree_;
  std::vector<Span> all_;
};

// The texts that come of following it in one place or another.
std::vector<std::string> followed(const Case& each, const Diagnostic& diagnostic, const std::string& offer) {
  std::vector<std::string> texts;
  const auto replace = [&](Span span) {
    texts.push_back(each.text.substr(0, span.begin) + offer + each.text.substr(std::min<std::size_t>(span.end, each.text.size())));
  };
  const Span at = diagnostic.span;
  replace(at);
  for (const auto& context : diagnostic.contexts) replace(context.span);
  for (const std::uint32_t place : {at.begin, at.end}) {
    for (const std::string& written : {offer, " " + offer + " ", ", " + offer}) {
      texts.push_back(each.text.substr(0, place) + written + each.text.substr(place));
    }
  }
  texts.push_back(each.text + "\n" + offer + "\n");
  if (const auto end = each.text.find('\n'); end != std::string::npos) {
    texts.push_back(each.text.substr(0, end + 1) + offer + "\n" + each.text.substr(end + 1));
  }
  lang::Diagnostics ignored;
  const lang::Source source(each.name, each.text);
  if (const auto tree = lang::parse(source, ignored)) {
    for (const Span span : Places(*tree).around(at)) replace(span);
  }
  return texts;
}

bool helps(const Case& each, const Diagnostic& diagnostic, const std::string& offer) {
  const auto before = counted(diagnostics_of(each));
  for (const std::string& text : followed(each, diagnostic, offer)) {
    auto after = counted(diagnostics_of({each.name, text, each.syntax}));
    bool fewer = after[diagnostic.code] < before.at(diagnostic.code);
    for (const auto& [code, count] : after) {
      const auto was = before.find(code);
      fewer = fewer && (code == "W0501" || count <= (was == before.end() ? 0 : was->second));
    }
    if (fewer) return true;
  }
  return false;
}

std::vector<Case> cases() {
  namespace fs = std::filesystem;
  std::vector<Case> all;
  for (const std::string folder : {"check", "syntax"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(ALLOT_SOURCE_DIR) / "tests/golden" / folder)) {
      if (entry.path().extension() != ".allot") continue;
      const std::string text = test::read_file(entry.path().string());
      if (text.find("# file ") == std::string::npos) all.push_back({folder + "/" + entry.path().filename().string(), text, folder == "syntax"});
    }
  }
  for (const auto* code : lang::all_codes()) {
    all.push_back({std::string(code->code), lang::example(code->wrong), false});
  }
  return all;
}

}  // namespace

TEST_CASE("a help that is followed to the letter helps") {
  int tried = 0;
  for (const Case& each : cases()) {
    for (const Diagnostic& diagnostic : diagnostics_of(each)) {
      for (const std::string& offer : offers(diagnostic.help)) {
        ++tried;
        if (helps(each, diagnostic, offer)) continue;
        std::cout << each.name << "  " << diagnostic.code << " " << diagnostic.help << "\n      << " << offer << "\n";
      }
    }
  }
  std::cout << tried << "\n";
  CHECK(tried > 100);
}
