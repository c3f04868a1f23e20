// Another policy for a run under way, from Python.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/engine/engine.h"

namespace allot::python {

void bind_swapping(nanobind::module_& module, nanobind::class_<engine::Engine>& engine_class);

}  // namespace allot::python
