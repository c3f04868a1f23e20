// Who follows a diagnostic's help to the letter gets rid of it, and of nothing else: the code that it offers is put
// where it can be meant, and the program is checked again.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>
#include <set>

#include "check_harness.h"
#include "golden.h"
#include "lang/codes.h"
#include "lang/format/tokens.h"
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

// The texts that come of following it in one place or another: in place of any run of words that holds what the caret
// stands under, or a place that the diagnostic tells of, the short ones first; beside it; or as an item of its own.
std::vector<std::string> followed(const Case& each, const Diagnostic& diagnostic, const std::string& offer) {
  const lang::Source source(each.name, each.text);
  std::vector<Span> places{diagnostic.span};
  for (const auto& context : diagnostic.contexts) places.push_back(context.span);
  const auto tokens = lang::format::tokens(source, true);
  std::set<std::pair<std::uint32_t, std::uint32_t>> runs;  // length, begin
  for (const Span place : places) {
    const int line = source.place(place.begin).line;
    for (const auto& first : tokens) {
      if (first.span.begin > place.begin || source.place(first.span.begin).line != line) continue;
      for (const auto& last : tokens) {
        if (last.span.end < std::max(place.end, first.span.end) || source.place(last.span.begin).line != line) continue;
        runs.emplace(last.span.end - first.span.begin, first.span.begin);
      }
    }
    runs.emplace(place.end - place.begin, place.begin);
  }
  std::vector<std::string> texts;
  for (const auto& [length, begin] : runs) {
    texts.push_back(each.text.substr(0, begin) + offer + each.text.substr(std::min<std::size_t>(begin + length, each.text.size())));
  }
  for (const std::uint32_t place : {diagnostic.span.begin, diagnostic.span.end}) {
    for (const std::string& written : {offer, " " + offer + " ", ", " + offer}) {
      texts.push_back(each.text.substr(0, place) + written + each.text.substr(std::min<std::size_t>(place, each.text.size())));
    }
  }
  texts.push_back(each.text + "\n" + offer + "\n");
  if (const auto end = each.text.find('\n'); end != std::string::npos) {
    texts.push_back(each.text.substr(0, end + 1) + offer + "\n" + each.text.substr(end + 1));
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
