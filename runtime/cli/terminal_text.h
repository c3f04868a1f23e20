// Text out of a log, as a terminal may show it.
#pragma once

#include <string>
#include <string_view>

namespace allot::cli {

// Controls, invisible characters and those that turn the direction of writing become `\u{1b}`, bytes that are no UTF-8
// `\x9b`: what a world, a prompt or a policy wrote must neither move the cursor nor hide anything. A line end within the
// text is kept and indents what follows, so that no line of data looks like one of ours; tabs and one line end at the end
// stay.
std::string for_terminal(std::string_view text);
// … where several lines are ours.
std::string lines_for_terminal(std::string_view text);

}  // namespace allot::cli
