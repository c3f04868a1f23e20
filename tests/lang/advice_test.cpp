// Who follows a diagnostic's help to the letter gets rid of it, and of nothing else: the code that it offers is put
// where it can be meant, and the program is checked again.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <tuple>

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

// The texts that come of following it in one place or another: in place of any run of words on a line that the
// diagnostic tells of, those around the caret first; beside it; or as an item of its own.
std::vector<std::string> followed(const Case& each, const Diagnostic& diagnostic, const std::string& offer) {
  const lang::Source source(each.name, each.text);
  std::vector<Span> places{diagnostic.span};
  for (const auto& context : diagnostic.contexts) places.push_back(context.span);
  const auto tokens = lang::format::tokens(source, true);
  std::set<std::tuple<bool, std::uint32_t, std::uint32_t>> runs;  // apart from the place, length, begin
  for (const Span place : places) {
    std::vector<Span> line;
    for (const auto& token : tokens) {
      if (source.place(token.span.begin).line == source.place(place.begin).line) line.push_back(token.span);
    }
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (std::size_t k = i; k < line.size(); ++k) {
        const bool apart = line[i].begin > place.begin || line[k].end < place.end;
        runs.emplace(apart, line[k].end - line[i].begin, line[i].begin);
      }
    }
    runs.emplace(false, place.end - place.begin, place.begin);
  }
  std::vector<std::string> texts;
  const auto rest = [&](std::size_t at) { return each.text.substr(std::min(at, each.text.size())); };
  for (const auto& [apart, length, begin] : runs) {
    texts.push_back(each.text.substr(0, begin) + offer + rest(begin + length));
  }
  for (const std::uint32_t place : {diagnostic.span.begin, diagnostic.span.end}) {
    for (const std::string& written : {offer, " " + offer + " ", ", " + offer}) {
      texts.push_back(each.text.substr(0, place) + written + rest(place));
    }
  }
  texts.push_back(each.text + "\n" + offer + "\n");
  if (const auto end = each.text.find('\n'); end != std::string::npos) {
    texts.push_back(each.text.substr(0, end + 1) + offer + "\n" + each.text.substr(end + 1));
  }
  return texts;
}

// It goes, and nothing comes of it; a name that is right now may show what else is wrong.
bool helps(const Case& each, const Diagnostic& diagnostic, const std::string& offer) {
  const auto before = counted(diagnostics_of(each));
  const auto told_again = [&](const std::string& text) {
    const auto found = diagnostics_of({each.name, text, each.syntax});
    return std::any_of(found.begin(), found.end(), [&](const Diagnostic& other) {
      return other.code == diagnostic.code && other.span.begin == diagnostic.span.begin;
    });
  };
  const bool renamed = diagnostic.help.starts_with("did you mean") || diagnostic.help.starts_with("it is called");
  for (const std::string& text : followed(each, diagnostic, offer)) {
    auto after = counted(diagnostics_of({each.name, text, each.syntax}));
    // Of an item that cannot be read the first mistake alone is told: the next one may take its place.
    bool fewer = after[diagnostic.code] < before.at(diagnostic.code) || (renamed && each.syntax && !told_again(text));
    for (const auto& [code, count] : after) {
      const auto was = before.find(code);
      const bool allowed = code == "W0501" || code == "W0503" || (renamed && !code.starts_with("E00"));
      fewer = fewer && (allowed || count <= (was == before.end() ? 0 : was->second));
    }
    if (fewer) return true;
  }
  return false;
}

// Helps that tell what there is, and offer nothing to be put in as it stands: a form whose capitals are to be filled in,
// a list of words, work that is to be done elsewhere.
const std::vector<std::string> for_the_reader{
    "a rule may read", "write `report` and `warn when`", "at a barrier write", "with `let`", "join actions of one verdict",
    "begin with `policy` and a name", "once", "it is called as `", "give HI a bound", "one rollout branches",
    "write a line break as", "or leave `by …` out", "walk `b.prompts`", "write `iteration {",
    "what the environment gave", "where it is declared with `??`", "the remainder is written", "write `if condition",
    "one sets", "give `most` in"};

std::vector<Case> cases() {
  namespace fs = std::filesystem;
  std::vector<Case> all;
  for (const std::string folder : {"check", "syntax"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(ALLOT_SOURCE_DIR) / "tests/golden" / folder)) {
      if (entry.path().extension() != ".allot") continue;
      const std::string text = test::read_file(entry.path().string());
      if (text.find("# file ") != std::string::npos) continue;
      all.push_back({folder + "/" + entry.path().filename().string(), text, folder == "syntax"});
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
  std::set<std::string> told;  // of those for the reader
  for (const Case& each : cases()) {
    for (const Diagnostic& diagnostic : diagnostics_of(each)) {
      const auto all = offers(diagnostic.help);
      if (all.empty()) continue;
      const auto told_only = std::find_if(for_the_reader.begin(), for_the_reader.end(), [&](const std::string& words) {
        return diagnostic.help.find(words) != std::string::npos;
      });
      if (told_only != for_the_reader.end()) {
        told.insert(*told_only);
        continue;
      }
      ++tried;
      const auto helped = [&](const std::string& offer) { return helps(each, diagnostic, offer); };
      if (std::none_of(all.begin(), all.end(), helped)) {
        FAIL_CHECK(each.name << "  " << diagnostic.code << ": " << diagnostic.help);
      }
    }
  }
  CHECK(tried > 100);
  for (const std::string& words : for_the_reader) {
    INFO(words);
    CHECK(told.contains(words));
  }
}
