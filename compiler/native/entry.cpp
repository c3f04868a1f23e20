// The one function that liballot_native.so exports.
#include "compiler/native/lanes.h"
#include "compiler/native/session.h"
#include "compiler/outcome.h"

namespace allot::compiler::native {
namespace {

using HandlerFunction = void (*)(const Frame*, Outcome*);
using HitFunction = void (*)(const Frame*, Cell*);

class Native final : public Executable {
 public:
  Native(const lang::Program& program, std::shared_ptr<Session> session, Session::Code code,
         std::unique_ptr<Executable> evaluator)
      : program_(program), session_(std::move(session)), code_(std::move(code)), evaluator_(std::move(evaluator)) {}
  ~Native() override { session_->remove(*code_.library); }
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;

  void decide(int handler, const Frame& frame, Outcome& outcome) const noexcept override {
    const auto index = static_cast<std::size_t>(handler);
    clear(outcome, program_, program_.handlers[index]);
    frame.scratch->reset();
    reinterpret_cast<HandlerFunction>(code_.functions[index])(&frame, &outcome);
    if (outcome.fault_node == asks_evaluator) evaluator_->decide(handler, frame, outcome);
  }

  Cell hit(const Frame& frame) const noexcept override {
    Cell cell = Cell::undefined();
    if (code_.functions.size() == program_.handlers.size()) return cell;
    frame.scratch->reset();
    reinterpret_cast<HitFunction>(code_.functions.back())(&frame, &cell);
    return cell;
  }

 private:
  const lang::Program& program_;
  std::shared_ptr<Session> session_;
  Session::Code code_;
  std::unique_ptr<Executable> evaluator_;
};

struct Held final : Kernel {
  Held(std::shared_ptr<Session> session, Session::Code code) : session_(std::move(session)), code_(std::move(code)) {
    hasty = reinterpret_cast<KernelFunction>(code_.functions.front());
    careful = reinterpret_cast<KernelFunction>(code_.functions.back());
    lanes = Session::lanes;
  }
  ~Held() override { session_->remove(*code_.library); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::shared_ptr<Session> session_;
  Session::Code code_;
};

void serve_kernel(const Request& request, const std::shared_ptr<Session>& session, Reply& reply) {
  const auto& handler = request.program->handlers[static_cast<std::size_t>(request.handler)];
  if (!can_vectorise(request, handler, *request.shape)) return;
  Result<Session::Code> code = session->compile_kernel(request);
  if (code) reply.kernel = std::make_unique<Held>(session, *std::move(code));
  else reply.error = code.error();
}

void serve(const Request& request, Reply& reply) {
  Result<std::shared_ptr<Session>> session = Session::get(request);
  if (!session) {
    reply.error = session.error();
    return;
  }
  if (request.listing) {
    Result<std::string> text = (*session)->emit(request);
    if (text) reply.text = *std::move(text);
    else reply.error = text.error();
    return;
  }
  if (request.shape != nullptr) {
    serve_kernel(request, *session, reply);
    return;
  }
  Result<Session::Code> code = (*session)->compile(request);
  if (!code) {
    reply.error = code.error();
    return;
  }
  reply.executable =
      std::make_unique<Native>(*request.program, *session, *std::move(code), request.evaluator(*request.program));
}

}  // namespace
}  // namespace allot::compiler::native

extern "C" __attribute__((visibility("default"))) void allot_native_compile(
    const allot::compiler::native::Request& request, allot::compiler::native::Reply& reply) {
  if (request.version == allot::compiler::native::abi_version) {
    allot::compiler::native::serve(request, reply);
    return;
  }
  reply.error = allot::Error{"The compiler's library is of another version than the program.",
                             "install both from one build"};
}
