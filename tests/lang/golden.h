// Golden files: NAME.allot and the text it must give, NAME.expected, in one folder under tests/golden.
#pragma once

#include <functional>
#include <string>

namespace allot::test {

// Compares `give(file name, text)` with the expected text of every case of the folder, whole, with the first lines that
// differ. ALLOT_UPDATE_GOLDEN=1 writes the expected files instead, which is refused where CI is set. Fails where there
// are fewer than `least` cases, so that a lost folder is seen.
void compare_golden(const std::string& folder, int least,
                    const std::function<std::string(const std::string& name, const std::string& text)>& give);

std::string read_file(const std::string& path);

}  // namespace allot::test
