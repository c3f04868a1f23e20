// Small programs with a known answer, for every engine.
#pragma once

#include <functional>
#include <string>

#include "tests/compiler/builder.h"

namespace allot::compiler::test {

struct Case {
  std::string name;
  Builder builder;                        // reports the value
  Cell value = Cell::undefined();
  FaultKind fault = FaultKind::None;
  Memory memory;
};

std::vector<Case> cases();
void check(const Case& one, const Executable& executable);

}  // namespace allot::compiler::test
