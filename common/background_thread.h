// Threads that work behind those that decide.
#pragma once

#include <pthread.h>
#include <sched.h>

namespace allot {

// From now on the calling thread, and each that it starts, takes nobody's core when it wakes: it waits for a free one, or
// for the end of somebody's slice. Who decides may hold a lock just then, and all others would wait with him. Where the
// system has no such rule, nothing changes.
inline void yield_to_deciding_threads() {
#ifdef SCHED_BATCH
  const sched_param none{};
  (void)::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &none);
#endif
}

}  // namespace allot
