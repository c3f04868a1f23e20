#include "compiler/native/session.h"

#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/DebugUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <cstdio>
#include <cstring>

#include "compiler/native/module.h"
#include "compiler/native/passes.h"

namespace allot::compiler::native {
namespace {

Error failed(const std::string& what, llvm::Error error) {
  return {what + ": " + llvm::toString(std::move(error)) + ".", "policies run in the evaluator without it"};
}

// LLVM ends the process after this; the name of the policy is what a person needs.
thread_local const char* compiling = "";
void last_words(void*, const char* reason, bool) {
  std::fprintf(stderr, "error: the compiler gave up on the policy %s: %s\n", compiling, reason);
}

struct Compiling {
  explicit Compiling(const lang::Program& program) { compiling = program.name.c_str(); }
  ~Compiling() { compiling = ""; }
};

// Fixed and old enough for every machine: equal code everywhere, and nothing that a hypervisor may mask.
const char* baseline(const llvm::Triple& triple) {
  return triple.getArch() == llvm::Triple::x86_64 ? "x86-64-v2" : "generic";
}

}  // namespace

Result<std::shared_ptr<Session>> Session::get(const Request& request) {
  static std::mutex mutex;
  // Never destroyed: executables may outlive every static object.
  static auto& running = *new std::shared_ptr<Session>;
  const std::lock_guard lock(mutex);
  if (running != nullptr) return running;
  std::shared_ptr<Session> session(new Session);
  if (Result<void> started = session->start(request); !started) return started.error();
  running = session;
  return session;
}

Result<void> Session::start(const Request& request) {
  [[maybe_unused]] static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::install_fatal_error_handler(last_words);
    return true;
  }();
  llvm::orc::JITTargetMachineBuilder target{llvm::Triple(llvm::sys::getProcessTriple())};
  target.setCPU(baseline(target.getTargetTriple()));
  target.setRelocationModel(llvm::Reloc::PIC_);
  target.setCodeModel(llvm::CodeModel::Small);
  target.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto machine = target.createTargetMachine();
  if (!machine) return failed("The compiler knows no such machine", machine.takeError());
  machine_ = std::move(*machine);

  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(target);
  builder.setDataLayout(machine_->createDataLayout());
  builder.setLinkProcessSymbolsByDefault(false);
  builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
  builder.setCompileFunctionCreator([this](llvm::orc::JITTargetMachineBuilder) {
    return std::make_unique<llvm::orc::SimpleCompiler>(*machine_);
  });
  builder.setObjectLinkingLayerCreator([](llvm::orc::ExecutionSession& session, const llvm::Triple&) {
    auto layer = std::make_unique<llvm::orc::ObjectLinkingLayer>(session);
    layer->addPlugin(std::make_unique<llvm::orc::EHFrameRegistrationPlugin>(
        session, std::make_unique<llvm::jitlink::InProcessEHFrameRegistrar>()));
    return layer;
  });
  auto jit = builder.create();
  if (!jit) return failed("The compiler could not start", jit.takeError());
  jit_ = std::move(*jit);

  runtime_ = &jit_->getExecutionSession().createBareJITDylib("runtime");
  llvm::orc::SymbolMap names;
  const auto name = [&](const std::string& text, void* address) {
    names[jit_->mangleAndIntern(text)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                         llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  for (const Symbol& symbol : request.symbols) name(symbol.name, symbol.address);
  for (std::size_t i = 0; i < request.rows.size(); ++i)
    name("allot_builtin_" + std::string(request.rows[i].name), reinterpret_cast<void*>(request.functions[i]));
  // What code generation may call unasked; behind the prefix, what a sanitizer's pass makes of it. The runtime of gcc 12
  // has no names of its own for them, since it watches those of the C library.
  for (const std::string& prefix : {std::string(), watcher_prefix()}) {
    name(prefix + "memcpy", reinterpret_cast<void*>(&std::memcpy));
    name(prefix + "memset", reinterpret_cast<void*>(&std::memset));
    name(prefix + "memmove", reinterpret_cast<void*>(&std::memmove));
  }
  if (llvm::Error error = runtime_->define(llvm::orc::absoluteSymbols(std::move(names))))
    return failed("The compiler could not name its functions", std::move(error));
  if (watcher_prefix().empty()) return {};
  // The sanitizer's own functions are in the process.
  auto sanitizer = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit_->getDataLayout().getGlobalPrefix(),
      [](const llvm::orc::SymbolStringPtr& symbol) { return (*symbol).starts_with(watcher_prefix()); });
  if (!sanitizer) return failed("The compiler does not find the sanitizer", sanitizer.takeError());
  runtime_->addGenerator(std::move(*sanitizer));
  return {};
}

// Instructions of a decision are chosen the fast way, which takes a third less time: what it misses is not seen in one
// (`compile_bench`). A kernel decides a million rows, and its instructions are vectors.
void Session::select(Optimize level, Choice choice) {
  machine_->setOptLevel(level == Optimize::None ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default);
  machine_->setFastISel(choice == Choice::Fast);
}

Result<Session::Code> Session::compile(const Request& request) {
  const std::lock_guard lock(mutex_);
  const Compiling naming(*request.program);
  select(request.level, Choice::Fast);
  auto context = std::make_unique<llvm::LLVMContext>();
  Result<std::unique_ptr<llvm::Module>> module = lower(request, *machine_, *context);
  if (!module) return module.error();
  if (request.level == Optimize::Full) optimize(**module, *machine_);

  const lang::Program& program = *request.program;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program.handlers.size(); ++i) names.push_back(handler_name(i));
  if (program.hit && !program.hit->effects.empty()) names.push_back(hit_name);
  return link(program, *std::move(module), std::move(context), names);
}

Result<Session::Code> Session::compile_kernel(const Request& request) {
  const std::lock_guard lock(mutex_);
  const Compiling naming(*request.program);
  select(Optimize::Full, Choice::Thorough);
  auto context = std::make_unique<llvm::LLVMContext>();
  Result<std::unique_ptr<llvm::Module>> module = lower_kernel(request, *machine_, *context, lanes);
  if (!module) return module.error();
  optimize(**module, *machine_);
  return link(*request.program, *std::move(module), std::move(context), {hasty_name, careful_name});
}

// Machine code of a module, and the addresses of the functions so named.
Result<Session::Code> Session::link(const lang::Program& program, std::unique_ptr<llvm::Module> module,
                                    std::unique_ptr<llvm::LLVMContext> context,
                                    const std::vector<std::string>& names) {
  watch(*module, *machine_);
  auto& session = jit_->getExecutionSession();
  llvm::orc::JITDylib& library =
      session.createBareJITDylib(program.name + "." + program.hash + "." + std::to_string(versions_++));
  library.addToLinkOrder(*runtime_);
  const std::string what = "The policy " + program.name + " could not be compiled";
  const auto give_up = [&](llvm::Error error) {
    llvm::consumeError(session.removeJITDylib(library));
    return failed(what, std::move(error));
  };
  if (llvm::Error error =
          jit_->addIRModule(library, llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    return give_up(std::move(error));
  Code code{&library, {}};
  for (const std::string& name : names) {
    auto address = jit_->lookup(library, name);
    if (!address) return give_up(address.takeError());
    code.functions.push_back(address->toPtr<void*>());
  }
  return code;
}

// Under ORC's own locks alone, which no compilation holds for long: who frees code must not wait for the compiler.
void Session::remove(llvm::orc::JITDylib& library) {
  llvm::consumeError(jit_->getExecutionSession().removeJITDylib(library));
}

Result<std::string> Session::emit(const Request& request) {
  const std::lock_guard lock(mutex_);
  const Compiling naming(*request.program);
  select(request.level, Choice::Fast);
  llvm::LLVMContext context;
  Result<std::unique_ptr<llvm::Module>> module = lower(request, *machine_, context);
  if (!module) return module.error();
  if (request.level == Optimize::Full) optimize(**module, *machine_);
  watch(**module, *machine_);
  llvm::SmallString<4096> text;
  llvm::raw_svector_ostream stream(text);
  if (request.listing == Listing::Ir) {
    (*module)->print(stream, nullptr);
    return text.str().str();
  }
  llvm::legacy::PassManager passes;
  if (machine_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Error{"This machine's assembly cannot be written.", ""};
  passes.run(**module);
  return text.str().str();
}

}  // namespace allot::compiler::native
