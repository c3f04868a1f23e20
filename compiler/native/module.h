// A program as one LLVM module.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/native/abi.h"

namespace allot::compiler::native {

std::string handler_name(std::size_t index);
inline constexpr const char* hit_name = "hit";
inline constexpr const char* hasty_name = "hasty";
inline constexpr const char* careful_name = "careful";

Result<std::unique_ptr<llvm::Module>> lower(const Request& request, llvm::TargetMachine& machine,
                                            llvm::LLVMContext& context);
// Both functions of a Kernel for the handler of the request, over `lanes` rows at a time, in instructions that this
// machine has.
Result<std::unique_ptr<llvm::Module>> lower_kernel(const Request& request, llvm::TargetMachine& machine,
                                                   llvm::LLVMContext& context, unsigned lanes);

}  // namespace allot::compiler::native
