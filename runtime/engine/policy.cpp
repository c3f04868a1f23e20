#include "runtime/engine/policy.h"

#include <fstream>
#include <sstream>

#include "lang/compose/library.h"
#include "lang/limits.h"
#include "runtime/math/checksum.h"

namespace allot::engine {

Policy::Policy(std::shared_ptr<const lang::Program> program, std::vector<lang::Cell> parameters,
               std::unique_ptr<compiler::Executable> first)
    : program_(std::move(program)), parameters_(std::move(parameters)), first_(std::move(first)),
      active_(first_.get()) {}

Policy::~Policy() {
  if (compiling_.joinable()) compiling_.join();
}

void Policy::compile_in_background(Compile compile) {
  compiling_ = std::thread([this, compile = std::move(compile)] {
    auto code = compile(*program_);
    if (code) {
      native_ = std::move(*code);
      active_.store(native_.get(), std::memory_order_release);
      return;
    }
    const std::lock_guard lock(note_mutex_);
    note_ = code.error().what;
  });
}

std::string Policy::native_note() const {
  const std::lock_guard lock(note_mutex_);
  return note_;
}

bool Policy::wait_for_native() {
  if (compiling_.joinable()) compiling_.join();
  return active_.load() != first_.get();
}

namespace {

Result<std::string> read_policy_text(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    return Error{"There is no policy file " + file.string() + ".", "give the path of a .allot file"};
  }
  // A FIFO or a device would never end; a directory reads as nothing.
  if (!std::filesystem::is_regular_file(status)) return Error{file.string() + " is not a file.", "give a .allot file"};
  if (std::filesystem::file_size(file, error) > lang::limits.source_bytes) {
    return Error{"The policy file " + file.string() + " is larger than " + std::to_string(lang::limits.source_bytes) +
                     " bytes.", ""};
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return Error{"The policy file " + file.string() + " cannot be read.", "look at its permissions"};
  return std::move(text).str();
}

}  // namespace

Result<std::shared_ptr<Policy>> load_policy(const std::filesystem::path& file,
                                            const std::map<std::string, std::string>& overrides) {
  auto text = read_policy_text(file);
  if (!text) return text.error();
  const std::string own_hash = math::sha256_hex(*text);
  auto source = std::make_shared<const lang::Source>(file.string(), *std::move(text));
  lang::Diagnostics diagnostics;
  std::optional<lang::Program> checked = lang::check(source, diagnostics, lang::SearchPath::with_environment());
  if (!checked || diagnostics.has_errors()) {
    return Error{"The policy " + file.string() + " has errors:\n" + lang::render_all(diagnostics, *source), ""};
  }
  checked->hash = source->file_count() == 1 ? own_hash : math::sha256_hex(lang::hashed_text(*source));
  auto parameters = lang::bind(*checked, overrides);
  if (!parameters) return parameters.error();
  auto program = std::make_shared<const lang::Program>(*std::move(checked));
  auto evaluator = compiler::evaluate(*program);
  return std::make_shared<Policy>(std::move(program), *std::move(parameters), std::move(evaluator));
}

}  // namespace allot::engine
