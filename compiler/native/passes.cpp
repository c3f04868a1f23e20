#include "compiler/native/passes.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <string_view>

// "thread", "address", or none: the sanitizer that this build is under.
#ifndef ALLOT_WATCHED_BY
#define ALLOT_WATCHED_BY ""
#endif

namespace allot::compiler::native {
namespace {

constexpr std::string_view watcher = ALLOT_WATCHED_BY;

// What passes ask about the code, each kept for as long as it holds.
struct Analyses {
  explicit Analyses(llvm::TargetMachine& machine) {
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

template <typename Work>
void each_function(llvm::Module& module, const Work& work) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) work(function);
  }
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  Analyses analyses(machine);
  each_function(module, [&](llvm::Function& function) {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass(true));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::GVNPass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.run(function, analyses.functions);
  });
}

std::string watcher_prefix() {
  if (watcher == "thread") return "__tsan_";
  if (watcher == "address") return "__asan_";
  return {};
}

// Neither pass may leave a constructor behind, which nobody would run: the runtime is up already, and there are no
// globals to tell it of. Addresses of a handler's stack do not outlive the call, so no use after return is looked for.
void watch(llvm::Module& module, llvm::TargetMachine& machine) {
  if (watcher == "thread") {
    Analyses analyses(machine);
    each_function(module, [&](llvm::Function& function) {
      function.addFnAttr(llvm::Attribute::SanitizeThread);
      llvm::ThreadSanitizerPass().run(function, analyses.functions);
    });
  }
  if (watcher == "address") {
    Analyses analyses(machine);
    each_function(module, [](llvm::Function& function) { function.addFnAttr(llvm::Attribute::SanitizeAddress); });
    llvm::AddressSanitizerOptions options;
    options.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
    llvm::AddressSanitizerPass(options, false, false, llvm::AsanDtorKind::None, llvm::AsanCtorKind::None)
        .run(module, analyses.modules);
  }
}

}  // namespace allot::compiler::native
