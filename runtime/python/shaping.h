// What a host asks between the batch's close and end_iteration(): the pool beforehand, advantages, the loss of tokens.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/engine/engine.h"

namespace allot::python {

void bind_shaping(nanobind::module_& module, nanobind::class_<engine::Engine>& engine_class);

}  // namespace allot::python
