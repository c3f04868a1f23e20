// One policy of one file, whatever names it.
#pragma once

#include <memory>
#include <optional>

#include "lang/diagnostics.h"
#include "lang/program.h"
#include "lang/tree.h"

namespace allot::lang::checker {

// `unread`: items of the file could not be read, so what is missing may stand in them. Nothing after an error of this
// file; diagnostics are neither sorted nor looked at for errors of other files.
std::optional<Program> check_file(std::shared_ptr<const Source> source, std::shared_ptr<const tree::File> tree,
                                  bool unread, Diagnostics& diagnostics);

}  // namespace allot::lang::checker
