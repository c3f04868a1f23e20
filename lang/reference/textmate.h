// The language's colours, as a TextMate grammar: VS Code and many other editors read it.
#pragma once

#include <string>

namespace allot::lang::reference {

// JSON; its lists of words are those of the language's tables. editors/ holds what this gives, and a test compares.
std::string textmate_grammar();

}  // namespace allot::lang::reference
