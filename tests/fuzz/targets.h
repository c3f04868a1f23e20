// What is fed with bytes that nobody chose: by libFuzzer (`./dev fuzz text`), and by a test with the files of corpus/.
//
// Each takes any bytes. It returns, or throws std::logic_error where what must always hold does not; a crash, a
// sanitizer's report and a time-out are found by whoever runs it.
#pragma once

#include <span>
#include <string_view>

namespace allot::fuzz {

// Text to tree to program to decisions: diagnostics lie within the text and can be shown, and where there are none the
// evaluator and machine code, plain and optimised, answer random frames alike.
void policy(std::string_view text);
// The same of one expression, as `allot eval` reads it.
void expression(std::string_view text);
// What is laid out keeps its tokens and comments, and is laid out already.
void format(std::string_view text);
// Bytes as a segment of a journal: read whole, in part, or refused.
void journal(std::string_view bytes);
// Lines as messages to the language server, one each.
void language_server(std::string_view bytes);

struct Target {
  std::string_view name;
  std::string_view corpus;  // folder of its files
  void (*run)(std::string_view bytes);
};
std::span<const Target> targets();

}  // namespace allot::fuzz
