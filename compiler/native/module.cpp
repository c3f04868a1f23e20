#include "compiler/native/module.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "compiler/depth.h"
#include "compiler/native/lowering.h"

namespace allot::compiler::native {
namespace {

Error too_large(const Request& request, const lang::Handler& handler) {
  return {"The handler `" + handler.text + "` of the policy " + request.program->name +
              " is too large for machine code.",
          "it runs in the evaluator; fewer `let`s used under different conditions make it smaller"};
}

}  // namespace

std::string handler_name(std::size_t index) { return "handler_" + std::to_string(index); }

Result<std::unique_ptr<llvm::Module>> lower(const Request& request, llvm::TargetMachine& machine,
                                            llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(request.program->name, context);
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(machine.getTargetTriple().str());
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
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (llvm::verifyModule(*module, &stream))
    return Error{"The compiler made a broken module of the policy " + program.name + ": " + complaint,
                 "report this with the policy; it runs in the evaluator"};
  return module;
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

}  // namespace allot::compiler::native
