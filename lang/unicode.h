// Code points of a source: reading them from bytes and naming those that must not stand where they do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace allot::lang {

struct CodePoint {
  std::int32_t value = -1;  // -1: the bytes here are not UTF-8
  int bytes = 1;            // read; 1 where they are not UTF-8
};
CodePoint code_point_at(std::string_view text, std::size_t offset);

// Controls other than tab and line ends, bidirectional and zero-width characters, line and paragraph separators:
// everything that makes a text read differently from what runs.
bool deceptive(std::int32_t code_point);
// "right-to-left override, U+202E", "zero-width space, U+200B", "control character, U+0007".
std::string deceptive_name(std::int32_t code_point);

// A text that somebody else wrote, as it may stand on one line of a terminal: line ends, controls and all else that is
// deceptive stand as in JSON, `\u001b`; bytes that are not UTF-8 as U+FFFD.
std::string shown_in_line(std::string_view text);
// The same of a text that may have several lines: line ends and tabs stay.
std::string shown(std::string_view text);

struct LookAlike {
  std::string name;     // "Cyrillic a, U+0430"
  std::string ascii;    // "a"; empty where nothing in ASCII looks like it
  bool letter = false;  // or a digit: someone meant a name
};
LookAlike look_alike(std::int32_t code_point);

std::string notation(std::int32_t code_point);  // "U+0430"
int display_width(std::int32_t code_point);     // columns on a terminal

}  // namespace allot::lang
