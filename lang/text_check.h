// Whether bytes are text that reads as it runs.
#pragma once

#include "lang/diagnostics.h"
#include "lang/source.h"

namespace allot::lang {

// Refuses what is too large or not UTF-8 (false: nothing more can be said about it) and reports NUL, controls,
// bidirectional and zero-width characters wherever they stand (CVE-2021-42574).
bool check_text(const Source& source, std::size_t file, Diagnostics& diagnostics);

}  // namespace allot::lang
