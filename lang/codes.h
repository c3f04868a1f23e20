// One page for every diagnostic: what the code means, an example that is wrong, and the same written right.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot::lang {

struct Code {
  std::string_view code;         // "E0007"
  std::string_view title;        // a few words, no full stop
  std::string_view explanation;  // full sentences
  std::string_view wrong;        // lines of a policy that give this code
  std::string_view right;        // the same, accepted
};

std::span<const Code> syntax_codes();  // codes_syntax.cpp: E0001 to E0099
std::span<const Code> check_codes();   // codes_check.cpp: the rest

// The row of a code in any letter case, or null.
const Code* find_code(std::string_view code);
std::vector<const Code*> all_codes();  // sorted by code
// The text of an example. In `wrong` and `right`, <129 times: (> stands for what is too long to be shown, <byte E9> and
// <U+0007> for what is no text or cannot be seen.
std::string example(std::string_view shown);
std::string page(const Code& code);    // what `allot help CODE` prints

}  // namespace allot::lang
