// SPDX-License-Identifier: Apache-2.0

// What programs call most, without a Python frame: with no_grad(), empty(2, 3) and its like, and
// module(x). Whatever is unusual about a call goes to the Python function of the same meaning.
#include <libdl/creation.h>
#include <libdl/random.h>

#include "objects.h"

// -- no_grad and enable_grad ----------------------------------------------------------------------

typedef struct ModeObject {
  PyObject_HEAD libdl_bool enabled, before;
} ModeObject;

// no_grad(function) is the function without recording: @no_grad without parentheses.
static PyObject* new_mode(PyTypeObject* type, PyObject* args, PyObject* keywords, bool enabled) {
  const Py_ssize_t count = PyTuple_Size(args);
  if (count > 1 || (keywords && PyDict_Size(keywords)))
    return PyErr_Format(PyExc_TypeError, "%s takes at most one argument, a function",
                        enabled ? "enable_grad" : "no_grad");
  ModeObject* const mode = (ModeObject*)PyType_GenericAlloc(type, 0);
  if (!mode) return NULL;
  mode->enabled = enabled;
  PyObject* const function = count ? PyTuple_GetItem(args, 0) : Py_None;
  if (function == Py_None) return (PyObject*)mode;
  PyObject* const guarded = PyObject_CallFunctionObjArgs((PyObject*)mode, function, NULL);
  Py_DECREF(mode);
  return guarded;
}

static PyObject* new_no_grad(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return new_mode(type, args, keywords, false);
}

static PyObject* new_enable_grad(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return new_mode(type, args, keywords, true);
}

static PyObject* enter_mode(PyObject* self, PyObject* unused) {
  (void)unused;
  ModeObject* const mode = (ModeObject*)self;
  mode->before = libdl_set_grad_enabled(mode->enabled);
  Py_RETURN_NONE;
}

static PyObject* exit_mode(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)args, (void)count;
  libdl_set_grad_enabled(((ModeObject*)self)->before);
  Py_RETURN_NONE;
}

static PyMethodDef mode_methods[] = {
    {"__enter__", enter_mode, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))exit_mode, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static int add_mode(PyObject* module, const char* name, newfunc make) {
  PyType_Slot slots[] = {{Py_tp_new, (void*)make}, {Py_tp_methods, mode_methods}, {0, NULL}};
  PyType_Spec spec = {
      .name = name,
      .basicsize = sizeof(ModeObject),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
      .slots = slots,
  };
  PyObject* const type = PyType_FromSpec(&spec);
  const int failed = !type || PyModule_AddObjectRef(module, strrchr(name, '.') + 1, type);
  Py_XDECREF(type);
  return failed ? -1 : 0;
}

// -- creation from sizes alone --------------------------------------------------------------------

typedef libdl_error* (*Create)(const int64_t* shape, int32_t ndim, libdl_tensor** out);

#define CREATE(name, ...)                                                                     \
  static libdl_error* create_##name(const int64_t* shape, int32_t ndim, libdl_tensor** out) { \
    return libdl_##name(shape, ndim, __VA_ARGS__, LIBDL_DTYPE_NONE, NULL, out);               \
  }
#define CREATE_FILLED(name)                                                                   \
  static libdl_error* create_##name(const int64_t* shape, int32_t ndim, libdl_tensor** out) { \
    return libdl_##name(shape, ndim, LIBDL_DTYPE_NONE, NULL, out);                            \
  }
CREATE_FILLED(empty)
CREATE_FILLED(zeros)
CREATE_FILLED(ones)
CREATE(rand, NULL)
CREATE(randn, NULL)

enum { kMostSizes = 8 };

// The number of sizes, or -1 where the call is not one of small sizes alone.
static int32_t small_sizes(PyObject* const* args, Py_ssize_t count, int64_t* sizes) {
  int64_t numel = 1;
  if (count < 1 || count > kMostSizes) return -1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (Py_TYPE(args[i]) != &PyLong_Type) return -1;
    const long long size = PyLong_AsLongLong(args[i]);
    if (size < 0 || size > LIBDL_PYTHON_LONG_WORK) {
      PyErr_Clear();
      return -1;
    }
    sizes[i] = size;
    numel *= size;
    if (numel > LIBDL_PYTHON_LONG_WORK) return -1;
  }
  return (int32_t)count;
}

// The generated functions that serve all other calls. They are not the objects' self: pickle would
// take that for what the function is a method of.
enum { kEmpty, kZeros, kOnes, kRand, kRandn, kCreations };
static PyObject* general[kCreations];
static PyObject* shown[kCreations];  // to modes: the objects themselves

static PyObject* create(int which, PyObject* const* args, Py_ssize_t count, PyObject* names,
                        Create from_sizes) {
  if (intercepting & kInterceptCalls) return dispatched(shown[which], NULL, args, count, names);
  int64_t sizes[kMostSizes];
  const bool general_only =
      names || ((intercepting & kInterceptDraws) && (which == kRand || which == kRandn));
  const int32_t ndim = general_only ? -1 : small_sizes(args, count, sizes);
  if (ndim < 0) return call_with(general[which], NULL, args, count, names);
  libdl_tensor* out;
  libdl_error* const error = from_sizes(sizes, ndim, &out);
  return error ? raise_error(error) : wrap(out);
}

#define CREATION(name, which)                                                                 \
  static PyObject* name##_of_sizes(PyObject* unused, PyObject* const* args, Py_ssize_t count, \
                                   PyObject* names) {                                         \
    (void)unused;                                                                             \
    return create(which, args, count, names, create_##name);                                  \
  }
CREATION(empty, kEmpty)
CREATION(zeros, kZeros)
CREATION(ones, kOnes)
CREATION(rand, kRand)
CREATION(randn, kRandn)

#define DEFINITION(name) \
  {#name, (PyCFunction)(void (*)(void))name##_of_sizes, METH_FASTCALL | METH_KEYWORDS, NULL}
static PyMethodDef creations[kCreations] = {DEFINITION(empty), DEFINITION(zeros), DEFINITION(ones),
                                            DEFINITION(rand), DEFINITION(randn)};

// creation(name, function, document): what serves sizes at once and leaves the rest to the function
static PyObject* creation(PyObject* module, PyObject* args) {
  (void)module;
  const char *name, *document;
  PyObject* function;
  if (!PyArg_ParseTuple(args, "sOs", &name, &function, &document)) return NULL;
  for (int i = 0; i < kCreations; ++i) {
    if (strcmp(creations[i].ml_name, name)) continue;
    Py_INCREF(function);
    Py_XDECREF(general[i]);
    general[i] = function;
    if (!creations[i].ml_doc) creations[i].ml_doc = strdup(document);  // for the process's life
    PyObject* const package = PyUnicode_FromString("libdl");
    PyObject* const result = package ? PyCFunction_NewEx(&creations[i], NULL, package) : NULL;
    Py_XDECREF(package);
    Py_XDECREF(shown[i]);
    shown[i] = Py_XNewRef(result);
    return result;
  }
  return PyErr_Format(PyExc_ValueError, "creation: %s is none of them", name);
}

// -- module(x) ------------------------------------------------------------------------------------

enum { kHookNames = 4 };
static PyObject *hook_names[kHookNames], *forward_name, *hooked_name;
static bool all_hooked;  // there are hooks of all modules

static PyObject* call_module(PyObject* self, PyObject* args, PyObject* keywords) {
  PyObject* const fields = PyObject_GenericGetDict(self, NULL);
  if (!fields) return NULL;
  bool is_unhooked = !all_hooked;
  for (int i = 0; is_unhooked && i < kHookNames; ++i) {
    PyObject* const hooks = PyDict_GetItemWithError(fields, hook_names[i]);
    is_unhooked = hooks && PyObject_Size(hooks) == 0;
  }
  Py_DECREF(fields);
  if (PyErr_Occurred()) return NULL;
  PyObject* const method = PyObject_GetAttr(self, is_unhooked ? forward_name : hooked_name);
  PyObject* const answer = method ? PyObject_Call(method, args, keywords) : NULL;
  Py_XDECREF(method);
  return answer;
}

// hook_all_calls(whether every call of a module goes to _call_impl)
static PyObject* hook_all_calls(PyObject* module, PyObject* enabled) {
  (void)module;
  const int truth = PyObject_IsTrue(enabled);
  if (truth < 0) return NULL;
  all_hooked = truth;
  Py_RETURN_NONE;
}

static int add_module_base(PyObject* module) {
  static const char* const names[kHookNames] = {"_forward_hooks", "_forward_pre_hooks",
                                                "_backward_hooks", "_backward_pre_hooks"};
  for (int i = 0; i < kHookNames; ++i) hook_names[i] = PyUnicode_InternFromString(names[i]);
  forward_name = PyUnicode_InternFromString("forward");
  hooked_name = PyUnicode_InternFromString("_call_impl");
  PyType_Slot slots[] = {{Py_tp_call, call_module}, {0, NULL}};
  PyType_Spec spec = {
      .name = "libdl._C.ModuleBase",
      .basicsize = sizeof(PyObject),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
      .slots = slots,
  };
  PyObject* const type = PyType_FromSpec(&spec);
  const int failed = !type || PyModule_AddObjectRef(module, "ModuleBase", type);
  Py_XDECREF(type);
  return failed ? -1 : 0;
}

static PyMethodDef functions[] = {
    {"creation", creation, METH_VARARGS, NULL},
    {"hook_all_calls", hook_all_calls, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int add_frequent(PyObject* module) {
  if (add_mode(module, "libdl._C.NoGrad", new_no_grad) ||
      add_mode(module, "libdl._C.EnableGrad", new_enable_grad) || add_module_base(module))
    return -1;
  return PyModule_AddFunctions(module, functions);
}
