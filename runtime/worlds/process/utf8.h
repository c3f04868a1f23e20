// Well-formedness of UTF-8 (RFC 3629: shortest form, no surrogates, nothing above U+10FFFF).
#pragma once

#include <optional>
#include <string_view>

namespace allot::worlds::process {

// The offset of the first byte that does not belong to a well-formed sequence; nothing where all is well.
std::optional<std::size_t> first_bad_utf8(std::string_view text);

}  // namespace allot::worlds::process
