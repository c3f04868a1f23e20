#include "runtime/engine/background.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

using allot::Error;
using allot::engine::Background;

TEST_CASE("tasks run one after the other, in the order in which they began") {
  Background background;
  std::string order;
  for (const char letter : {'a', 'b', 'c'}) {
    const auto failed = background.begin([&order, letter]() -> std::optional<Error> {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      order += letter;
      return std::nullopt;
    });
    REQUIRE(!failed);
  }
  REQUIRE(!background.wait());
  CHECK(order == "abc");
}

TEST_CASE("what went wrong is told once, and the next task is begun after that") {
  Background background;
  REQUIRE(!background.begin([] { return std::optional(Error{"the disk is full", ""}); }));
  bool ran = false;
  const auto next = [&ran]() -> std::optional<Error> {
    ran = true;
    return std::nullopt;
  };
  const auto told = background.begin(next);
  REQUIRE(told);
  CHECK(told->what == "the disk is full");
  CHECK(!background.wait());
  CHECK(!ran);
  CHECK(!background.begin(next));
  CHECK(!background.wait());
  CHECK(ran);
}

TEST_CASE("its end waits for the task under way") {
  std::atomic<bool> done = false;
  {
    Background background;
    REQUIRE(!background.begin([&done]() -> std::optional<Error> {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      done = true;
      return std::nullopt;
    }));
  }
  CHECK(done);
}
