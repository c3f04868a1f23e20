// One target as libFuzzer calls it; ALLOT_FUZZ_TARGET names it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    allot::fuzz::ALLOT_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    std::abort();
  }
  return 0;
}
