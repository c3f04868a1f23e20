// Where a new item of a file begins. A word such as `test` or `state` may be a name as well, so what stands around it
// decides.
#pragma once

#include <cstddef>
#include <string_view>

namespace allot::lang {

enum class Previous { None, Operand, Operator, Dot };  // what the token before was, within its item

// What the scanner knows at a token.
struct Surroundings {
  std::string_view item;  // word of the item that is open
  bool has_item = false;
  bool outside = true;     // of all brackets
  bool fresh_line = true;  // the first token of its line
  bool in_string = false;  // in a hole of a message
  Previous previous = Previous::None;
};

// Whether the token at `at` is the first of an item; `name` is the word, or empty for anything else.
bool begins_item(std::string_view text, std::size_t at, std::string_view name, const Surroundings& around);

std::string_view word_at(std::string_view text, std::size_t at);  // empty where none begins

}  // namespace allot::lang
