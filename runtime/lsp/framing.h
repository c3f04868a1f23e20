// Messages of the language server protocol on a pair of streams: headers, an empty line, a body of JSON.
//
// By hand: Debian 12 has no library for it, and it is two dozen lines.
#pragma once

#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace allot::lsp {

// The body of the next message; nothing at the end of the stream, and where the headers are no such headers or promise
// more than 64 MiB: what follows cannot be found then.
std::optional<std::string> read_message(std::istream& in);
void write_message(std::ostream& out, std::string_view body);

}  // namespace allot::lsp
