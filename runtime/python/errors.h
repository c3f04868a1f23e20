// `allot.Error` in Python: what a policy, a file or a host got wrong, in the words of the engine.
#pragma once

#include <stdexcept>
#include <utility>

#include "common/result.h"

namespace allot::python {

struct HostError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
T unwrap(Result<T> result) {
  if (!result) throw HostError(result.error().text());
  return *std::move(result);
}

inline void unwrap(Result<void> result) {
  if (!result) throw HostError(result.error().text());
}

}  // namespace allot::python
