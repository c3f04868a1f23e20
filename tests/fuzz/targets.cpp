#include "tests/fuzz/targets.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "lang/diagnostics.h"
#include "lang/format/format.h"
#include "lang/format/tokens.h"
#include "lang/program.h"
#include "runtime/engine/journal.h"
#include "runtime/lsp/server.h"
#include "tests/compiler/harness.h"

namespace allot::fuzz {
namespace {

using compiler::test::Engines;

constexpr std::uint64_t frames = 6;
constexpr std::size_t most_nodes = 1500;  // compiling twice stays quick

void hold(bool condition, const std::string& what) {
  if (!condition) throw std::logic_error(what);
}

void look_at(const lang::Diagnostics& diagnostics, const lang::Source& source) {
  for (const lang::Diagnostic& diagnostic : diagnostics.all()) {
    hold(diagnostic.span.begin <= diagnostic.span.end && diagnostic.span.end <= source.text().size(),
         diagnostic.code + " lies outside of the text");
    hold(!diagnostic.message.empty() && diagnostic.code.size() == 5, "a diagnostic says nothing");
  }
  (void)render_all(diagnostics, source);
}

void decide(const lang::Program& program) {
  for (const lang::Handler& handler : program.handlers) {
    if (handler.nodes.size() > most_nodes) continue;
    lang::Program one = program;
    one.handlers = {handler};
    try {
      const Engines engines(one);
      for (std::uint64_t frame = 0; frame < frames; ++frame) {
        const std::string difference = engines.difference(frame);
        if (!difference.empty()) throw std::logic_error(difference);
      }
    } catch (const std::runtime_error&) {
      // machine code refuses what is too large for it, and says so
    }
  }
}

using Check = std::optional<lang::Program> (*)(std::shared_ptr<const lang::Source>, lang::Diagnostics&);

void check_and_decide(std::string_view text, Check check) {
  const auto source = std::make_shared<const lang::Source>("fuzz.allot", std::string(text));
  lang::Diagnostics diagnostics;
  const std::optional<lang::Program> program = check(source, diagnostics);
  look_at(diagnostics, *source);
  hold(program.has_value() != diagnostics.has_errors(), "neither a program nor an error, or both");
  if (program) decide(*program);
}

std::optional<std::string> laid_out(const std::string& text) {
  lang::Diagnostics diagnostics;
  return lang::format::format(lang::Source("fuzz.allot", text), diagnostics);
}

std::vector<std::string> tokens_of(const std::string& text) {
  const lang::Source source("fuzz.allot", text);
  std::vector<std::string> all;
  for (const lang::format::Token& token : lang::format::tokens(source)) {
    std::string word(token.text);
    if (token.kind == lang::format::TokenKind::Comment) word.erase(word.find_last_not_of(" \t") + 1);
    all.push_back(std::move(word));
  }
  return all;
}

// A folder of this process.
const std::filesystem::path& folder() {
  static const std::filesystem::path made = [] {
    auto path = std::filesystem::temp_directory_path() / ("allot-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
    return path;
  }();
  return made;
}

constexpr Target all[] = {
    {"policy", "policy", policy},
    {"expression", "expression", expression},
    {"format", "policy", format},
    {"journal", "journal", journal},
    {"language_server", "language_server", language_server},
};

}  // namespace

void policy(std::string_view text) {
  check_and_decide(text, lang::check);
}

void expression(std::string_view text) {
  check_and_decide(text, lang::check_expression);
}

void format(std::string_view text) {
  const std::string before(text);
  const std::optional<std::string> once = laid_out(before);
  if (!once) return;
  const std::optional<std::string> twice = laid_out(*once);
  hold(twice.has_value(), "what was laid out cannot be read any more:\n" + *once);
  hold(*twice == *once, "laying it out again changes it:\n" + *once + "\n--- becomes\n" + *twice);
  hold(tokens_of(before) == tokens_of(*once), "tokens or comments were lost:\n" + *once);
}

void journal(std::string_view bytes) {
  std::ofstream(folder() / "000001.jsonl", std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::size_t records = 0;
  const auto problems = engine::read_journal(folder(), [&](const nlohmann::ordered_json& record) {
    hold(record.is_object(), "a record is no object");
    ++records;
  });
  hold(static_cast<bool>(problems), "a journal that is there cannot be read");
  const auto lines = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n')) + 1;
  hold(records + problems->damaged.size() + static_cast<std::size_t>(problems->cut_lines) <= lines,
       "more lines than there are");
}

void language_server(std::string_view bytes) {
  std::ostringstream out;
  lsp::Server server(out);
  server.handle(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{}})");
  std::istringstream in{std::string(bytes)};
  for (std::string message; std::getline(in, message);) {
    if (!server.handle(message)) break;
  }
  std::istringstream framed{std::string(bytes)};
  lsp::Server another(out);
  another.run(framed);
}

std::span<const Target> targets() {
  return all;
}

}  // namespace allot::fuzz
