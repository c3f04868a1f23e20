// LLVM's passes over a module of ours.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace allot::compiler::native {

// The short list that pays for itself on handlers of a few dozen operations.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

// In a build under AddressSanitizer or ThreadSanitizer, its pass: a sanitizer sees what its pass has been over and
// nothing else. The last of all passes, whatever the level. Does nothing in other builds.
void watch(llvm::Module& module, llvm::TargetMachine& machine);
// What the names begin with that watched code calls, "__tsan_" for one; empty in other builds.
std::string watcher_prefix();

}  // namespace allot::compiler::native
