// A policy that uses other files: their functions, and the policies it is composed of.
#pragma once

#include <memory>
#include <optional>

#include "lang/compose/library.h"
#include "lang/diagnostics.h"
#include "lang/program.h"

namespace allot::lang::compose {

// `root` is the tree of `source`, which becomes the source of all files. Nothing where it cannot be made.
std::optional<Program> compose(std::shared_ptr<const Source>& source, const tree::File& root, const Library* library,
                               Diagnostics& diagnostics);

}  // namespace allot::lang::compose
