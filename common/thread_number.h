// Spreads threads over stripes of what they share.
#pragma once

#include <atomic>
#include <cstddef>

namespace allot {

// Threads are counted as they first ask; each keeps its number.
inline std::size_t thread_number() {
  static std::atomic<std::size_t> next = 0;
  thread_local const std::size_t own = next.fetch_add(1, std::memory_order_relaxed);
  return own;
}

}  // namespace allot
