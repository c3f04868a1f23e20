// A loaded policy: program, parameters, and the executable that answers now.
//
// The evaluator answers from the first moment. Machine code is compiled on a thread of its own and takes over by one
// atomic pointer; both agree bit for bit, so the moment of the change cannot be seen in a decision.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/result.h"
#include "compiler/executable.h"
#include "lang/program.h"
#include "runtime/engine/policy_text.h"

namespace allot::engine {

// What a policy was made from, so that it can be made again.
struct Origin {
  PolicyText text;
  std::map<std::string, std::string> parameters;  // --set name=value
};

// States that a handler looks at: the others are no part of its frame. Indices into Program::states, ascending.
std::vector<std::int32_t> states_read(const lang::Handler& handler);

class Policy {
 public:
  using Compile = std::function<Result<std::unique_ptr<compiler::Executable>>(const lang::Program&)>;

  Policy(std::shared_ptr<const lang::Program> program, std::vector<lang::Cell> parameters,
         std::unique_ptr<compiler::Executable> first);
  ~Policy();
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  const lang::Program& program() const { return *program_; }
  const std::vector<lang::Cell>& parameters() const { return parameters_; }
  const std::vector<std::int32_t>& states_read(int handler) const { return states_read_[static_cast<std::size_t>(handler)]; }
  // Null for a policy that was put together in memory.
  const std::shared_ptr<const Origin>& origin() const { return origin_; }
  // What was given for its parameters, as it was written.
  std::map<std::string, std::string> given() const { return origin_ ? origin_->parameters : std::map<std::string, std::string>(); }
  void set_origin(Origin origin) { origin_ = std::make_shared<const Origin>(std::move(origin)); }
  const compiler::Executable& executable() const { return *active_.load(std::memory_order_acquire); }

  // Compiles in the background and changes over. A failure leaves the evaluator in place; native_note() says why.
  void compile_in_background(Compile compile);
  // Its end would wait for the compiler.
  bool is_compiling() const { return is_compiling_.load(std::memory_order_acquire); }
  std::string native_note() const;
  // Waits for the compilation; true where machine code is in use.
  bool wait_for_native();

 private:
  std::shared_ptr<const lang::Program> program_;
  std::vector<lang::Cell> parameters_;
  std::vector<std::vector<std::int32_t>> states_read_;  // by handler
  std::shared_ptr<const Origin> origin_;
  std::unique_ptr<compiler::Executable> first_;
  std::unique_ptr<compiler::Executable> native_;  // written by the thread before it is published
  std::atomic<const compiler::Executable*> active_;
  mutable std::mutex note_mutex_;
  std::string note_;
  std::atomic<bool> is_compiling_ = false;
  std::thread compiling_;
};

// Machine code, in the background; a build without it stays with the evaluator.
void compile_natively(Policy& policy);

// Reads, checks and binds a policy file. Errors carry the rendered diagnostics.
Result<std::shared_ptr<Policy>> load_policy(const std::filesystem::path& file,
                                            const std::map<std::string, std::string>& overrides);
Result<std::shared_ptr<Policy>> load_policy(const PolicyText& text,
                                            const std::map<std::string, std::string>& overrides);

// The text with all that it names, as that is found from here, for an engine elsewhere; what is wrong with it is told by
// who loads it.
PolicyText whole_text(const PolicyText& text);

}  // namespace allot::engine
