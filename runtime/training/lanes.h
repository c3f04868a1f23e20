// Floats handled kLanes at a time, by the best instructions the machine has. For the kernels' .cpp files alone.
#pragma once

#include "runtime/training/kernels.h"

namespace allot::training::kernels {

// One set of machine instructions is chosen when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ALLOT_BEST_MACHINE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ALLOT_BEST_MACHINE
#endif
#define ALLOT_INLINE inline __attribute__((always_inline))

typedef float Lane __attribute__((vector_size(64), aligned(4), may_alias));
typedef int IntLane __attribute__((vector_size(64), aligned(4), may_alias));

ALLOT_INLINE const Lane& lane(const float* p) { return *reinterpret_cast<const Lane*>(p); }
ALLOT_INLINE Lane& lane(float* p) { return *reinterpret_cast<Lane*>(p); }
ALLOT_INLINE Lane all(float value) { return value - Lane{}; }

ALLOT_INLINE float sum_of(const Lane& v) {
  float total = 0;
  for (int i = 0; i < kLanes; ++i) total += v[i];
  return total;
}

// exp by 2^n * p(r), |r| <= ln 2 / 2, relative error below 2e-7; the argument is limited to [-87, 88].
ALLOT_INLINE Lane exponential(Lane x) {
  const Lane low = all(-87.0f), high = all(88.0f);
  x = x < low ? low : x;
  x = x > high ? high : x;
  const Lane magic = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to the nearest whole number
  const Lane n = (x * 1.44269504f + magic) - magic;
  const Lane r = (x - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
  Lane p = all(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const IntLane power = (__builtin_convertvector(n, IntLane) + 127) << 23;
  return p * reinterpret_cast<const Lane&>(power);
}

}  // namespace allot::training::kernels
