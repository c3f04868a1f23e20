// A policy and the files it names, read into one source.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/compose/library.h"
#include "lang/diagnostics.h"
#include "lang/source.h"
#include "lang/tree.h"

namespace allot::lang::compose {

struct LinkedFile {
  std::string name;          // by which it was asked for first; of the first file: its policy
  tree::File tree;           // spans into Linked::source; functions of imported files are among its functions
  std::vector<int> members;  // by tree.members: index into Linked::files, -1 where there is none
};

struct Linked {
  std::shared_ptr<const Source> source;
  std::vector<LinkedFile> files;  // the policy's own first
};

// Nothing where a file could not be read at all, where imports run in a circle or one name means two files: then the
// reason is among the diagnostics. A name without a file is told too, and the rest goes on.
// The diagnostics speak of `source`, which is set in any case.
std::optional<Linked> link(std::shared_ptr<const Source>& source, const tree::File& root, const Library* library,
                           Diagnostics& diagnostics);

// Adds the functions of `from` to `into` as `alias.name`.
void adopt_functions(tree::File& into, const tree::File& from, const std::string& alias);

}  // namespace allot::lang::compose
