#include "compiler/native/module.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include "compiler/depth.h"
#include "compiler/native/lanes.h"
#include "compiler/native/lowering.h"

namespace allot::compiler::native {
namespace {

Error too_large(const Request& request, const lang::Handler& handler) {
  return {"The handler `" + handler.text + "` of the policy " + request.program->name +
              " is too large for machine code.",
          "a run decides it in the evaluator, and so does `allot test --evaluator`; fewer `let`s used under different "
          "conditions and shorter lists make it smaller"};
}

std::unique_ptr<llvm::Module> empty_module(const Request& request, llvm::TargetMachine& machine,
                                           llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(request.program->name, context);
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(machine.getTargetTriple().str());
  return module;
}

Result<void> verify(const llvm::Module& module, const lang::Program& program) {
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (!llvm::verifyModule(module, &stream)) return {};
  return Error{"The compiler made a broken module of the policy " + program.name + ": " + complaint,
               "report this with the policy; it runs in the evaluator"};
}

struct Host {
  std::string name;
  std::string features;        // "+avx2,-avx512f,…"
  bool converts_i64 = false;   // vectors of int64 to double in one instruction
};

Host this_machine() {
  Host host;
  host.name = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  for (const auto& feature : found) {
    if (!host.features.empty()) host.features += ',';
    host.features += (feature.second ? "+" : "-") + feature.first().str();
  }
  host.converts_i64 = found.lookup("avx512dq");
  return host;
}

}  // namespace

std::string handler_name(std::size_t index) { return "handler_" + std::to_string(index); }

Result<std::unique_ptr<llvm::Module>> lower(const Request& request, llvm::TargetMachine& machine,
                                            llvm::LLVMContext& context) {
  auto module = empty_module(request, machine, context);
  const lang::Program& program = *request.program;
  const auto add = [&](const lang::Handler& handler, const std::string& name, bool whole) {
    if (depth(handler) > max_depth) return false;
    Lowering lowering(*module, request, handler);
    if (whole) lowering.handler(name);
    else lowering.expression(name);
    return !lowering.too_large();
  };
  for (std::size_t i = 0; i < program.handlers.size(); ++i) {
    if (!add(program.handlers[i], handler_name(i), true)) return too_large(request, program.handlers[i]);
  }
  if (program.hit && !program.hit->effects.empty() && !add(*program.hit, hit_name, false))
    return too_large(request, *program.hit);
  if (Result<void> fine = verify(*module, program); !fine) return fine.error();
  return module;
}

Result<std::unique_ptr<llvm::Module>> lower_kernel(const Request& request, llvm::TargetMachine& machine,
                                                   llvm::LLVMContext& context, unsigned lanes) {
  auto module = empty_module(request, machine, context);
  static const Host host = this_machine();
  const lang::Handler& handler = request.program->handlers[static_cast<std::size_t>(request.handler)];
  for (const bool hasty : {true, false}) {
    Lanes lowering(*module, request, handler, *request.shape, lanes, host.converts_i64, hasty);
    llvm::Function* const function = lowering.kernel(hasty ? hasty_name : careful_name);
    function->addFnAttr("target-cpu", host.name);
    function->addFnAttr("target-features", host.features);
  }
  if (Result<void> fine = verify(*module, *request.program); !fine) return fine.error();
  return module;
}

}  // namespace allot::compiler::native
