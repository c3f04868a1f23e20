// An engine for many processes, from Python: Engine.serve(), and the client that looks like an engine.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/engine/engine.h"

namespace allot::python {

void bind_remote(nanobind::module_& module, nanobind::class_<engine::Engine>& engine_class);

}  // namespace allot::python
