// How far a recursion may still go. Text says how deep it is nested, but a thread of the host may have a small stack,
// and how much of it a level takes depends on how this was compiled: so it is measured, not assumed.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace allot {

// What a walk must leave to whatever it calls: a level of its own, a message, and what throws it.
inline constexpr std::size_t stack_reserve = 96 * 1024;

namespace detail {

struct StackBounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
};

inline StackBounds stack_bounds() noexcept {
  StackBounds bounds;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return bounds;
  void* low = nullptr;
  std::size_t size = 0;
  std::size_t guard = 0;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0 && pthread_attr_getguardsize(&attributes, &guard) == 0)
    bounds = {reinterpret_cast<std::uintptr_t>(low) + guard, reinterpret_cast<std::uintptr_t>(low) + size};
  pthread_attr_destroy(&attributes);
  return bounds;
}

}  // namespace detail

[[gnu::always_inline]] inline std::uintptr_t stack_here() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// The address below which a walk on this thread must not go. 0 where that cannot be told: the system does not say, or
// the host runs this on a stack of its own making.
inline std::uintptr_t stack_floor() noexcept {
  thread_local const detail::StackBounds bounds = detail::stack_bounds();
  const std::uintptr_t here = stack_here();
  return here < bounds.low || here >= bounds.high ? 0 : bounds.low + stack_reserve;
}

// A level more would leave less than the reserve.
[[gnu::always_inline]] inline bool stack_ends() noexcept {
  return stack_here() < stack_floor();
}

}  // namespace allot
