// The border between the program and liballot_native.so, which holds LLVM: one exported function, these records.
// Both sides come out of one build; `version` notices when they do not.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compiler/builtins/value.h"
#include "compiler/kernel.h"
#include "compiler/native/emit.h"
#include "lang/builtins.h"

namespace allot::compiler::native {

inline constexpr std::uint32_t abi_version = 4;
inline constexpr const char* entry_name = "allot_native_compile";

// A fault in a rule: which one and where, the evaluator finds out. No effect has been carried out then, so it decides
// from the beginning. In Outcome::fault_node, and seen by nobody but whoever called machine code.
inline constexpr std::int32_t asks_evaluator = -2;

// What machine code may call: exactly these, by name.
struct Symbol {
  const char* name;
  void* address;
};

struct Request {
  std::uint32_t version = abi_version;
  const lang::Program* program = nullptr;
  Optimize level = Optimize::Full;
  std::optional<Listing> listing;                   // text instead of an executable
  const BatchShape* shape = nullptr;                // a kernel of `handler` instead of an executable
  int handler = 0;
  std::unique_ptr<Executable> (*evaluator)(const lang::Program&) = nullptr;
  std::span<const lang::Builtin> rows;
  std::span<const Function> functions;              // by row
  std::span<const Symbol> symbols;
};

struct Reply {
  std::unique_ptr<Executable> executable;
  std::unique_ptr<Kernel> kernel;                   // none where the handler is not made for it
  std::string text;
  std::optional<Error> error;
};

using Entry = void (*)(const Request&, Reply&);

}  // namespace allot::compiler::native
