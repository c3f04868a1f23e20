// A tree as text, so that tests can say what shape they expect: (+ a (* b c)).
#pragma once

#include <string>

#include "lang/tree.h"

namespace allot::test {

std::string to_text(const lang::tree::File& file, lang::tree::ExprId id);
std::string to_text(const lang::tree::File& file, const lang::tree::Verdict& verdict);

// The expression as text, or the first message where it is none.
std::string shape(const std::string& expression);

}  // namespace allot::test
