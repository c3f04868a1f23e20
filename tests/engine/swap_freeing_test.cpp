// Old code is freed when nobody needs it, and nobody waits for that, nor for a compiler.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/engine/swapping.h"

using namespace allot;
using namespace allot::engine;
using namespace allot::engine::swapping;

namespace {

// An executable that counts how many of it are alive.
struct Counted final : compiler::Executable {
  static inline std::atomic<int> alive{0};
  std::unique_ptr<compiler::Executable> inner;
  explicit Counted(std::unique_ptr<compiler::Executable> made) : inner(std::move(made)) { ++alive; }
  ~Counted() override { --alive; }
  void decide(int handler, const compiler::Frame& frame, compiler::Outcome& outcome) const noexcept override {
    inner->decide(handler, frame, outcome);
  }
  lang::Cell hit(const compiler::Frame& frame) const noexcept override { return inner->hit(frame); }
};

std::shared_ptr<Policy> counted(const std::string& text) {
  const auto plain = policy_of(text);
  auto program = std::make_shared<const lang::Program>(plain->program());
  auto code = std::make_unique<Counted>(compiler::evaluate(*program));
  return std::make_shared<Policy>(program, plain->parameters(), std::move(code));
}

}  // namespace

TEST_CASE("fault 42: old code is freed when its last group ends, not before, and only once") {
  auto engine = LiveEngine::create(settings(4, 2), counted(gate(0.0)));
  REQUIRE(engine);
  const int before = Counted::alive;
  CHECK(before == 1);
  Driver driver(**engine, by_digit);
  int swaps = 0;
  driver.after_event = [&] {
    if (driver.turns < 3 || swaps >= 40) return;
    SwapRequest request;
    request.policy = counted(gate(0.0) + fmt::format("# {}\n", ++swaps));
    REQUIRE((*engine)->swap(request).outcome == SwapOutcome::Active);
    request.policy.reset();
    // The batch's, that of the open groups, and the active one; what was never asked is gone at once.
    CHECK(Counted::alive <= 2);
  };
  driver.run(0, prompts(4));
  CHECK(swaps > 5);
  CHECK(Counted::alive == 1);  // at the barrier the batch takes the active version
  engine->reset();
  CHECK(Counted::alive == 0);
}

TEST_CASE("a decision never waits for the compilation of a policy that was swapped away") {
  std::promise<void> compiled;
  std::weak_ptr<Policy> slow;
  std::unique_ptr<LiveEngine> engine;
  {
    const auto policy = counted(gate(0.0));
    policy->compile_in_background([ready = compiled.get_future().share()](const lang::Program&) -> Result<std::unique_ptr<compiler::Executable>> {
      ready.wait();
      return Error{"no machine code here", ""};
    });
    slow = policy;
    auto made = LiveEngine::create(settings(2, 2), policy);
    REQUIRE(made);
    engine = *std::move(made);
  }
  Driver driver(*engine, by_digit);
  bool swapped = false;
  driver.after_event = [&] {
    if (std::exchange(swapped, true)) return;
    SwapRequest request;
    request.policy = counted(gate(0.0) + "# next\n");
    CHECK(engine->swap(request).outcome == SwapOutcome::Active);
  };
  driver.run(0, prompts(2));  // its last group ends here: a decision that waited would wait for ever
  CHECK(Counted::alive == 2);
  compiled.set_value();
  while (const auto policy = slow.lock()) {
    if (!policy->is_compiling()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  driver.run(1, prompts(2));
  CHECK(Counted::alive == 1);
}

TEST_CASE("a decision never waits for a swap that is being prepared") {
  // A long text takes milliseconds to check; decisions go on meanwhile and the swap comes through.
  auto engine = engine_of(gate(0.75), settings(2, 2));
  std::string large = gate(0.25);
  for (int i = 0; i < 150; ++i) large += fmt::format("fn f{}(x: real) -> real = x * {} + {}\n", i, i, i + 1);
  std::atomic<bool> done = false;
  std::thread swapping([&] {
    for (int i = 0; i < 10; ++i) (void)engine->swap(request_of(large + fmt::format("# {}\n", i)));
    done = true;
  });
  double worst = 0;
  int iterations = 0;
  while (!done) {
    Driver driver(*engine, by_digit);
    auto last = std::chrono::steady_clock::now();
    driver.after_event = [&] {
      const auto now = std::chrono::steady_clock::now();
      worst = std::max(worst, std::chrono::duration<double>(now - last).count());
      last = now;
    };
    driver.run(iterations++, prompts(2));
  }
  swapping.join();
  CHECK(iterations > 10);
  INFO("worst event " << worst << " s");
  CHECK(worst < 10);  // a hang would be found, on a busy machine too; the bench measures
}
