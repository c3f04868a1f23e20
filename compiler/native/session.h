// The one LLVM session of the process: target machine, JIT, and the names that machine code may use. It is made at the
// first compile, which costs as much as several policies, and then stays.
#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <mutex>
#include <vector>

#include "compiler/native/abi.h"

namespace allot::compiler::native {

class Session {
 public:
  // The running session, or a new one.
  static Result<std::shared_ptr<Session>> get(const Request& request);

  // Machine code for the handlers of a program, and the addresses by handler; the condition of `hit` comes last.
  struct Code {
    llvm::orc::JITDylib* library = nullptr;
    std::vector<void*> functions;
  };
  Result<Code> compile(const Request& request);
  // Both functions of the Kernel of one handler, for this very machine: hasty, careful.
  Result<Code> compile_kernel(const Request& request);
  static constexpr unsigned lanes = 8;
  void remove(llvm::orc::JITDylib& library);
  Result<std::string> emit(const Request& request);

 private:
  Session() = default;
  Result<void> start(const Request& request);
  enum class Choice { Fast, Thorough };
  void select(Optimize level, Choice choice);
  Result<Code> link(const lang::Program& program, std::unique_ptr<llvm::Module> module,
                    std::unique_ptr<llvm::LLVMContext> context, const std::vector<std::string>& names);

  std::mutex mutex_;  // LLVM's target machine serves one compilation at a time
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::orc::JITDylib* runtime_ = nullptr;
  std::uint64_t versions_ = 0;
};

}  // namespace allot::compiler::native
