// One handler as a Python callable: positional numbers in, the index of the rule out.
#pragma once

#include <Python.h>

namespace allot::python {

// Adds the class `Decider` to the module, whose faults raise `error`. False: a Python error is set.
bool add_decider(PyObject* module, PyObject* error);

}  // namespace allot::python
