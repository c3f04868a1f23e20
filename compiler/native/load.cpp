// Loads LLVM at the first compile. The library stands beside the program or the Python module that asks, or beside it
// in lib/; in a build tree, where the build has put it. It is never unloaded: code that it made may still run.
#include <dlfcn.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

#include "compiler/allotment.h"
#include "compiler/builtins/table.h"
#include "compiler/native/abi.h"
#include "compiler/native/kernels.h"
#include "runtime/math/sum.h"

namespace allot::compiler {
namespace {

using native::Entry;

// ---- what machine code may call

Cell* take(Scratch& scratch, std::int64_t count) noexcept { return scratch.take(count); }

FaultKind call_builtin(Function function, const Value* arguments, std::size_t count, Value& result,
                       Scratch& scratch) noexcept {
  return call(function, arguments, count, result, scratch);
}

// 1 and the mean, or 0 for none.
std::int32_t mean_of(const double* values, std::int64_t count, double* result) noexcept {
  const std::optional<double> mean = math::mean({values, static_cast<std::size_t>(count)});
  *result = mean.value_or(0);
  return mean ? 1 : 0;
}

Allotting* open_allotment(Scratch& scratch, lang::Solver solver, std::int64_t budget, std::int64_t items) noexcept {
  return Allotting::open(scratch, solver, budget, items);
}
FaultKind set_bounds(Allotting& solver, std::int64_t item, std::int64_t low, std::int64_t high) noexcept {
  return solver.bounds(item, low, high);
}
FaultKind begin_allotment(Allotting& solver, Scratch& scratch) noexcept { return solver.begin(scratch); }
std::int32_t ask_allotment(Allotting& solver, std::int64_t& item, std::int64_t& count) noexcept {
  return solver.ask(item, count) ? 1 : 0;
}
FaultKind tell_allotment(Allotting& solver, double value) noexcept { return solver.tell(value); }
const Cell* allotted_counts(Allotting& solver) noexcept { return solver.counts(); }

// A vector into a state of so many cells, whole or not at all.
FaultKind remember(const Cell* from, std::int64_t size, Cell* to, std::int64_t cells) noexcept {
  if (size != cells) return FaultKind::Domain;
  for (std::int64_t i = 0; i < cells; ++i) {
    if (from[i].defined == 0) return FaultKind::Domain;
  }
  std::memmove(to, from, static_cast<std::size_t>(cells) * sizeof(Cell));
  return FaultKind::None;
}

double remainder_of(double a, double b) noexcept { return std::fmod(a, b); }

std::vector<native::Symbol> symbols() {
  return {{"allot_take", reinterpret_cast<void*>(&take)},
          {"allot_call", reinterpret_cast<void*>(&call_builtin)},
          {"allot_mean", reinterpret_cast<void*>(&mean_of)},
          {"allot_open", reinterpret_cast<void*>(&open_allotment)},
          {"allot_bounds", reinterpret_cast<void*>(&set_bounds)},
          {"allot_begin", reinterpret_cast<void*>(&begin_allotment)},
          {"allot_ask", reinterpret_cast<void*>(&ask_allotment)},
          {"allot_tell", reinterpret_cast<void*>(&tell_allotment)},
          {"allot_counts", reinterpret_cast<void*>(&allotted_counts)},
          {"allot_remember", reinterpret_cast<void*>(&remember)},
          {"allot_remainder", reinterpret_cast<void*>(&remainder_of)}};
}

// ---- the library

constexpr const char* library_name = "liballot_native.so";

std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return std::filesystem::canonical(info.dli_fname, ignored).parent_path();
}

std::filesystem::path library_path() {
  const std::filesystem::path own = own_folder();
  std::error_code ignored;
  for (const auto& folder : {own, own / ".." / "lib", own / ".." / "lib" / "allot"}) {
    if (std::filesystem::exists(folder / library_name, ignored)) return folder / library_name;
  }
  return ALLOT_NATIVE_LIBRARY;
}

Result<Entry> load() {
  const std::filesystem::path path = library_path();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return Error{"The compiler could not be loaded: " + std::string(why == nullptr ? "unknown reason" : why) + ".",
                 std::string("put ") + library_name + " beside the program; without it policies run in the evaluator"};
  }
  void* const entry = dlsym(library, native::entry_name);
  if (entry == nullptr)
    return Error{"The compiler at " + path.string() + " does not belong to this program.",
                 "install both from one build"};
  return reinterpret_cast<Entry>(entry);
}

// What is asked for stands in `asked`; what every request needs is added here.
Result<native::Reply> request(native::Request asked) {
  static const Result<Entry> entry = load();
  if (!entry) return entry.error();
  static const std::vector<native::Symbol> callable = symbols();
  asked.evaluator = &evaluate;
  asked.rows = lang::builtins();
  asked.functions = implementations();
  asked.symbols = callable;
  native::Reply reply;
  (*entry)(asked, reply);
  if (reply.error) return *reply.error;
  return reply;
}

}  // namespace

Result<std::unique_ptr<Executable>> compile(const lang::Program& program, Optimize level) {
  native::Request asked;
  asked.program = &program;
  asked.level = level;
  Result<native::Reply> reply = request(asked);
  if (!reply) return reply.error();
  return std::move(reply->executable);
}

Result<std::string> emit(const lang::Program& program, Listing listing, Optimize level) {
  native::Request asked;
  asked.program = &program;
  asked.level = level;
  asked.listing = listing;
  Result<native::Reply> reply = request(asked);
  if (!reply) return reply.error();
  return std::move(reply->text);
}

Result<std::unique_ptr<Kernel>> native::compile_kernel(const lang::Program& program, int handler,
                                                       const BatchShape& shape) {
  native::Request asked;
  asked.program = &program;
  asked.handler = handler;
  asked.shape = &shape;
  Result<native::Reply> reply = request(asked);
  if (!reply) return reply.error();
  return std::move(reply->kernel);
}

}  // namespace allot::compiler
