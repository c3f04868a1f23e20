// The C interface of Python itself: a call takes less time than a dictionary of its arguments would.
#include "runtime/python/decider.h"

#include <structmember.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "runtime/python/question.h"

namespace allot::python {
namespace {

using lang::Base;
using lang::Cell;

PyObject* error_type = nullptr;   // of the module, which holds it

struct Object {
  PyObject_HEAD
  vectorcallfunc call;
  Question* question;
};

PyObject* fail(const Error& error) {
  PyErr_SetString(error_type, error.text().c_str());
  return nullptr;
}

// True where the value became a cell; else a Python error is set.
bool fill(PyObject* value, const Slot& slot) {
  if (value == Py_None) {
    *slot.cell = Cell::undefined();
    return true;
  }
  switch (slot.type.base) {
    case Base::Real: {
      const double number = PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : PyFloat_AsDouble(value);
      if (number == -1.0 && PyErr_Occurred() != nullptr) return false;
      *slot.cell = std::isfinite(number) ? Cell::of(number) : Cell::undefined();
      return true;
    }
    case Base::Bool: {
      const int truth = PyObject_IsTrue(value);
      *slot.cell = Cell::of(truth > 0);
      return truth >= 0;
    }
    default: {
      const long long number = PyLong_AsLongLong(value);
      if (number == -1 && PyErr_Occurred() != nullptr) return false;
      *slot.cell = Cell::of(static_cast<std::int64_t>(number));
      return true;
    }
  }
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  Question& question = *reinterpret_cast<Object*>(self)->question;
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  const std::vector<Slot>& slots = question.slots();
  if (count != slots.size() || names != nullptr)
    return PyErr_Format(PyExc_TypeError, "%zu numbers are needed in the order of `facts`, %zu were given", slots.size(),
                        count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!fill(arguments[i], slots[i])) return nullptr;
  }
  const int rule = question.decide();
  if (rule < 0 && question.faulted()) {
    PyErr_SetString(error_type, question.fault().c_str());
    return nullptr;
  }
  return PyLong_FromLong(rule);
}

// ---- columns

struct View {
  View() = default;
  ~View() {
    if (buffer.obj != nullptr) PyBuffer_Release(&buffer);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  Py_buffer buffer{};
};

std::optional<compiler::ColumnKind> kind_of(const Py_buffer& buffer, Base base) {
  using compiler::ColumnKind;
  const std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  if (base == Base::Real && format == "d") return ColumnKind::Real64;
  if (base == Base::Real && format == "f") return ColumnKind::Real32;
  const bool whole = format == "i" || format == "l" || format == "q";
  if (base == Base::Int && whole && buffer.itemsize == 4) return ColumnKind::Int32;
  if (base == Base::Int && whole && buffer.itemsize == 8) return ColumnKind::Int64;
  if (base == Base::Bool && buffer.itemsize == 1) return ColumnKind::Byte;
  return std::nullopt;
}

PyObject* batch(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Question& question = *reinterpret_cast<Object*>(self)->question;
  const std::vector<Slot>& slots = question.slots();
  if (static_cast<std::size_t>(count) != slots.size() + 1)
    return PyErr_Format(PyExc_TypeError, "%zu columns are needed in the order of `facts`, and one for the rules",
                        slots.size());
  std::vector<View> views(slots.size() + 1);
  std::vector<Question::Column> columns;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const bool out = i == slots.size();
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (out ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(arguments[i], &views[i].buffer, flags) != 0) return nullptr;
    if (out) continue;
    const auto kind = kind_of(views[i].buffer, slots[i].type.base);
    if (!kind)
      return PyErr_Format(PyExc_TypeError, "`%s` is %s: a column of such numbers is needed", slots[i].name.c_str(),
                          lang::to_text(slots[i].type).c_str());
    columns.push_back({{*kind, false}, {views[i].buffer.buf, nullptr}});
  }
  const Py_buffer& out = views.back().buffer;
  if (out.itemsize != 1) return PyErr_Format(PyExc_TypeError, "rules are written as int8");
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (views[i].buffer.len / views[i].buffer.itemsize != out.len)
      return PyErr_Format(PyExc_ValueError, "`%s` has %zd rows, the rules have %zd", slots[i].name.c_str(),
                          views[i].buffer.len / views[i].buffer.itemsize, out.len);
  }
  const Result<std::int64_t> faults = question.decide(columns, out.len, static_cast<std::int8_t*>(out.buf));
  return faults ? PyLong_FromLongLong(*faults) : fail(faults.error());
}

PyObject* facts(PyObject* self, void*) {
  const std::vector<Slot>& slots = reinterpret_cast<Object*>(self)->question->slots();
  PyObject* const names = PyTuple_New(static_cast<Py_ssize_t>(slots.size()));
  for (std::size_t i = 0; names != nullptr && i < slots.size(); ++i)
    PyTuple_SET_ITEM(names, static_cast<Py_ssize_t>(i), PyUnicode_FromString(slots[i].name.c_str()));
  return names;
}

PyObject* lines(PyObject* self, void*) {
  const auto& rules = reinterpret_cast<Object*>(self)->question->handler().rules;
  PyObject* const all = PyTuple_New(static_cast<Py_ssize_t>(rules.size()));
  for (std::size_t i = 0; all != nullptr && i < rules.size(); ++i)
    PyTuple_SET_ITEM(all, static_cast<Py_ssize_t>(i), PyLong_FromLong(rules[i].line));
  return all;
}

// ---- the class

std::optional<std::map<std::string, std::string>> parameters_of(PyObject* given) {
  std::map<std::string, std::string> parameters;
  if (given == nullptr || given == Py_None) return parameters;
  if (!PyDict_Check(given)) {
    PyErr_SetString(PyExc_TypeError, "parameters are a dict from NAME to VALUE");
    return std::nullopt;
  }
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t i = 0; PyDict_Next(given, &i, &name, &value) != 0;) {
    PyObject* const text = PyObject_Str(value);
    const char* const key = PyUnicode_AsUTF8(name);
    const char* const words = text == nullptr ? nullptr : PyUnicode_AsUTF8(text);
    if (key != nullptr && words != nullptr) parameters.emplace(key, words);
    Py_XDECREF(text);
    if (key == nullptr || words == nullptr) return std::nullopt;
  }
  return parameters;
}

PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  static const char* keywords[] = {"text", "handler", "parameters", "compiled", nullptr};
  const char* text = nullptr;
  const char* handler = "";
  PyObject* given = nullptr;
  int compiled = 1;
  if (PyArg_ParseTupleAndKeywords(arguments, names, "s|sOp:Decider", const_cast<char**>(keywords), &text, &handler,
                                  &given, &compiled) == 0)
    return nullptr;
  const auto parameters = parameters_of(given);
  if (!parameters) return nullptr;
  auto question = Question::create(text, handler, *parameters, compiled != 0);
  if (!question) return fail(question.error());
  auto* const self = reinterpret_cast<Object*>(type->tp_alloc(type, 0));
  if (self == nullptr) return nullptr;
  self->call = call;
  self->question = question->release();
  return reinterpret_cast<PyObject*>(self);
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete reinterpret_cast<Object*>(self)->question;   // the object owns it; Python has no destructors
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"batch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(batch)), METH_FASTCALL,
     "batch(COLUMN…, rules) -> int\n\nOne row a group: arrays of float64, float32, int64, int32 or bool in the order of\n"
     "`facts`, and one of int8 that the indices of the rules are written to; -1 where none held. A nan is a missing\n"
     "value. Gives the number of rows with a fault."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {{"facts", facts, nullptr, "The names of the numbers that a call takes, in order.", nullptr},
                            {"lines", lines, nullptr, "The line of each rule in the text.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Object, call), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

}  // namespace

bool add_decider(PyObject* module, PyObject* error) {
  error_type = error;
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_members, members},
      {Py_tp_doc, const_cast<char*>(
          "Decider(text, handler='', parameters={}, compiled=True)\n\nOne handler of a policy, given as text, as a "
          "function of the single numbers that it looks at.\n\nhandler: how it begins, \"wave of group\"; may be left "
          "out where there is one. A call takes the numbers of `facts` by position, None for one that is missing, and "
          "gives the index of the rule that answers, -1 where none does. Not for several threads at once.\n\n"
          "Raises allot.Error for mistakes in the text and for faults.")},
      {0, nullptr}};
  static PyType_Spec spec{"allot.Decider", sizeof(Object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) return false;
  const bool added = PyModule_AddObjectRef(module, "Decider", type) == 0;
  Py_DECREF(type);
  return added;
}

}  // namespace allot::python
