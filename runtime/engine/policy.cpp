#include "runtime/engine/policy.h"

#include <set>

#include "common/background_thread.h"
#include "runtime/math/checksum.h"

namespace allot::engine {

std::vector<std::int32_t> states_read(const lang::Handler& handler) {
  std::set<std::int32_t> states;
  for (const lang::Node& node : handler.nodes) {
    if (node.op == lang::Op::State) states.insert(node.index);
  }
  return {states.begin(), states.end()};
}

Policy::Policy(std::shared_ptr<const lang::Program> program, std::vector<lang::Cell> parameters,
               std::unique_ptr<compiler::Executable> first)
    : program_(std::move(program)), parameters_(std::move(parameters)), first_(std::move(first)),
      active_(first_.get()) {
  for (const lang::Handler& handler : program_->handlers) states_read_.push_back(engine::states_read(handler));
}

Policy::~Policy() {
  if (compiling_.joinable()) compiling_.join();
}

void Policy::compile_in_background(Compile compile) {
  is_compiling_ = true;
  compiling_ = std::thread([this, compile = std::move(compile)] {
    yield_to_deciding_threads();
    auto code = compile(*program_);
    if (code) {
      native_ = std::move(*code);
      active_.store(native_.get(), std::memory_order_release);
    } else {
      const std::lock_guard lock(note_mutex_);
      note_ = code.error().what;
    }
    is_compiling_.store(false, std::memory_order_release);
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

void compile_natively([[maybe_unused]] Policy& policy) {
#ifdef ALLOT_HAS_NATIVE
  policy.compile_in_background([](const lang::Program& program) { return compiler::compile(program); });
#endif
}

Result<std::shared_ptr<Policy>> load_policy(const std::filesystem::path& file,
                                            const std::map<std::string, std::string>& overrides) {
  auto text = read_policy_text(file);
  if (!text) return text.error();
  return load_policy(*text, overrides);
}

Result<std::shared_ptr<Policy>> load_policy(const PolicyText& text,
                                            const std::map<std::string, std::string>& overrides) {
  const std::string own_hash = math::sha256_hex(text.text);
  const auto files = std::make_shared<const TextFiles>(text);
  auto source = std::make_shared<const lang::Source>(text.file, text.text);
  lang::Diagnostics diagnostics;
  std::optional<lang::Program> checked = lang::check(source, diagnostics, files);
  if (!checked || diagnostics.has_errors()) {
    return Error{"The policy " + text.file + " has errors:\n" + lang::render_all(diagnostics, *source), ""};
  }
  checked->hash = source->file_count() == 1 ? own_hash : math::sha256_hex(lang::hashed_text(*source));
  auto parameters = lang::bind(*checked, overrides);
  if (!parameters) return parameters.error();
  auto program = std::make_shared<const lang::Program>(*std::move(checked));
  auto evaluator = compiler::evaluate(*program);
  auto policy = std::make_shared<Policy>(std::move(program), *std::move(parameters), std::move(evaluator));
  policy->set_origin({files->whole(), overrides});
  return policy;
}

PolicyText whole_text(const PolicyText& text) {
  if (text.whole) return text;
  const auto files = std::make_shared<const TextFiles>(text);
  auto source = std::make_shared<const lang::Source>(text.file, text.text);
  lang::Diagnostics ignored;
  (void)lang::check(source, ignored, files);
  return files->whole();
}

}  // namespace allot::engine
