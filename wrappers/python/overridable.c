// SPDX-License-Identifier: Apache-2.0

// The functions that modes and classes can override. Each is a function of Python's with C around
// it: C asks whether anybody is to see the call before the function runs, because it alone has the
// arguments as the program wrote them, without a tuple or a dictionary being made.
#include "objects.h"

#include <structmember.h>

#ifdef Py_LIMITED_API  // stable since 3.12, and the same before
#if Py_LIMITED_API < 0x030C0000
typedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*);
PyAPI_FUNC(PyObject*) PyObject_Vectorcall(PyObject*, PyObject* const*, size_t, PyObject*);
PyAPI_FUNC(PyObject*) PyVectorcall_Call(PyObject*, PyObject*, PyObject*);
#define PY_VECTORCALL_ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#endif
#ifndef Py_TPFLAGS_METHOD_DESCRIPTOR
#define Py_TPFLAGS_METHOD_DESCRIPTOR (1UL << 17)
#endif
#endif

_Thread_local int intercepting;

typedef PyObject* (*FastCall)(PyObject* self, PyObject* const* args, Py_ssize_t count);

enum { kMostParameters = 24 };

// How a call goes to the C function of an operator at once. Whatever is unusual about it is the
// Python function's business.
typedef struct Direct {
  FastCall call;
  PyObject* kept;  // the tuple that holds what is borrowed here
  int parameters, positional;
  bool variadic;  // the last positional parameter takes all that follow, or one sequence of them
  PyObject* names[kMostParameters];       // interned
  signed char argument[kMostParameters];  // of each parameter among C's arguments
  int arguments;
  PyObject* defaults[kMostParameters];  // of C's arguments; NULL: the call must give it
  bool one_is_none[kMostParameters];    // the number 1 is what C calls absent
  int written;  // the place that takes the first parameter once more; -1: none
} Direct;

typedef struct Overridable {
  PyObject_HEAD vectorcallfunc call;
  PyObject* function;
  PyObject* attributes;  // __dict__
  PyObject* weak_references;
  PyObject* renamed;  // what rename_error takes behind the error, or NULL
  Direct* direct;     // or NULL
  char draws;         // an open vmap sees it, whatever the arguments
  char inside;        // of its parts alone vmap sees what they do with a batch
  char of_values;     // no class of an argument is asked: the call takes it as a plain tensor
} Overridable;

static PyTypeObject* overridable_type;

// -- is anybody to see the call? ------------------------------------------------------------------

// Who sees a call because of its arguments.
enum { kByNobody = 0, kByProgram = 1, kByVmap = 2 };

enum { kDeepest = 32 };  // a list may hold itself

static int seen_by(PyObject* object, bool values, int depth);

// The item of a list or tuple, borrowed; NULL where the list has become shorter meanwhile.
static PyObject* item_of(PyObject* items, Py_ssize_t position) {
  if (PyTuple_Check(items)) return PyTuple_GetItem(items, position);
  return position < PyList_Size(items) ? PyList_GetItem(items, position) : NULL;
}

static int seen_by_items(PyObject* items, bool values, int depth) {
  int overrider = kByNobody;
  const Py_ssize_t count = PyTuple_Check(items) ? PyTuple_Size(items) : PyList_Size(items);
  PyObject* const first = count ? item_of(items, 0) : NULL;
  if (values && first && (PyFloat_CheckExact(first) || PyLong_Check(first))) return kByNobody;
  for (Py_ssize_t i = 0; depth < kDeepest && i < count; ++i) {
    PyObject* const item = item_of(items, i);
    const PyTypeObject* const type = item ? Py_TYPE(item) : &PyFloat_Type;
    const bool frequent = type == &PyFloat_Type || type == &PyLong_Type || type == tensor_type;
    if (!frequent) overrider |= seen_by(item, values, depth + 1);
  }
  return overrider;
}

// The class of the object overrides, or that of an item of a list or tuple. values: a row that
// begins with a number is not looked into; it may be long.
static int seen_by(PyObject* object, bool values, int depth) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type == tensor_type || type == &PyLong_Type || type == &PyFloat_Type ||
      type == &PyBool_Type || (PyObject*)type == registered.parameter || type == &PyUnicode_Type)
    return kByNobody;
  if (type == &PyList_Type || type == &PyTuple_Type) return seen_by_items(object, values, depth);
  if (!(PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) || (PyObject*)type == registered.dtype ||
      (PyObject*)type == registered.device || (PyObject*)type == registered.size ||
      (PyObject*)type == registered.generator)
    return kByNobody;
  if (!overrides(object)) return kByNobody;
  return type == stand_in_type ? kByVmap : kByProgram;
}

static inline int call_seen_by(const Overridable* function, PyObject* const* args,
                               Py_ssize_t count) {
  if (intercepting && (intercepting & kInterceptCalls || function->draws)) return kByProgram;
  int overrider = kByNobody;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const PyTypeObject* const type = Py_TYPE(args[i]);
    const bool frequent = type == tensor_type || type == &PyLong_Type || args[i] == Py_None;
    if (!frequent) overrider |= seen_by(args[i], function->of_values, 0);
  }
  return overrider == kByVmap && function->inside ? kByNobody : overrider;
}

// dispatch(function, args, kwargs), or vmap's part of it.
static PyObject* passed_on(PyObject* to, PyObject* function, PyObject* self, PyObject* const* args,
                           Py_ssize_t count, PyObject* names) {
  const Py_ssize_t own = self != NULL;
  PyObject* const positional = PyTuple_New(count + own);
  PyObject* const keywords = PyDict_New();
  bool failed = !positional || !keywords;
  for (Py_ssize_t i = 0; !failed && i < count + own; ++i)
    failed = PyTuple_SetItem(positional, i, Py_NewRef(i >= own ? args[i - own] : self));
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; !failed && i < named; ++i)
    failed = PyDict_SetItem(keywords, PyTuple_GetItem(names, i), args[count + i]);
  PyObject* const answer =
      failed ? NULL : PyObject_CallFunctionObjArgs(to, function, positional, keywords, NULL);
  Py_XDECREF(positional);
  Py_XDECREF(keywords);
  return answer;
}

PyObject* dispatched(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t count,
                     PyObject* names) {
  const bool by_vmap = self && Py_TYPE(self) == stand_in_type && !(intercepting & kInterceptCalls);
  PyObject* const to = by_vmap && registered.batch ? registered.batch : registered.dispatch;
  return passed_on(to, function, self, args, count, names);
}

static int collect(PyObject* overriding, PyObject* object, int depth) {
  if (!PyTuple_Check(object) && !PyList_Check(object))
    return seen_by(object, false, 0) ? PyList_Append(overriding, object) : 0;
  const Py_ssize_t count = PyTuple_Check(object) ? PyTuple_Size(object) : PyList_Size(object);
  for (Py_ssize_t i = 0; depth < kDeepest && i < count; ++i) {
    PyObject* const item = item_of(object, i);
    if (item && collect(overriding, item, depth + 1)) return -1;
  }
  return 0;
}

// overriding(args, kwargs): the objects of classes that override, from left to right
static PyObject* overriding(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *positional, *keywords;
  if (!PyArg_ParseTuple(args, "O!O!:overriding", &PyTuple_Type, &positional, &PyDict_Type,
                        &keywords))
    return NULL;
  PyObject* const list = PyList_New(0);
  PyObject* value;
  Py_ssize_t position = 0;
  bool failed = !list || collect(list, positional, 0);
  while (!failed && PyDict_Next(keywords, &position, NULL, &value))
    failed = collect(list, value, 0);
  if (!failed) return list;
  Py_XDECREF(list);
  return NULL;
}

PyObject* seen_method(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                      PyObject* names) {
  PyObject* const method = PyObject_GetAttrString((PyObject*)tensor_type, name);
  PyObject* const answer = method ? dispatched(method, self, args, count, names) : NULL;
  Py_XDECREF(method);
  return answer;
}

PyObject* seen_call(const char* name, PyObject* self, PyObject* args, PyObject* keywords) {
  PyObject* const method = PyObject_GetAttrString((PyObject*)tensor_type, name);
  const Py_ssize_t count = PyTuple_Size(args);
  PyObject* const all = method ? PyTuple_New(count + 1) : NULL;
  PyObject* const named = keywords ? Py_NewRef(keywords) : PyDict_New();
  PyObject* answer = NULL;
  if (all && named) {
    PyTuple_SetItem(all, 0, Py_NewRef(self));
    for (Py_ssize_t i = 0; i < count; ++i)
      PyTuple_SetItem(all, i + 1, Py_NewRef(PyTuple_GetItem(args, i)));
    answer = PyObject_CallFunctionObjArgs(registered.dispatch, method, all, named, NULL);
  }
  Py_XDECREF(method);
  Py_XDECREF(all);
  Py_XDECREF(named);
  return answer;
}

PyObject* seen_operator(const char* name, PyObject* a, PyObject* b, PyObject* c) {
  PyErr_Clear();
  PyObject* const method = PyObject_GetAttrString((PyObject*)tensor_type, name);
  PyObject* const answer =
      method ? PyObject_CallFunctionObjArgs(registered.override, method, a, b, c, NULL) : NULL;
  Py_XDECREF(method);
  return answer;
}

// -- attributes -----------------------------------------------------------------------------------

PyObject* seen_attribute(PyObject* attribute, const char* access, PyObject* self, PyObject* value) {
  PyObject* const accessor = attribute ? PyObject_GetAttrString(attribute, access) : NULL;
  PyObject* const answer =
      accessor ? dispatched(accessor, self, &value, value != NULL, NULL) : NULL;
  Py_XDECREF(accessor);
  return answer;
}

// attribute(get, set): a property of Tensor's with the question in front.
static descrgetfunc get_property;
static descrsetfunc set_property;

static PyObject* get_of_attribute(PyObject* attribute, PyObject* self, PyObject* type) {
  if (!self || self == Py_None || !is_tensor(self) || !is_seen(self))
    return get_property(attribute, self, type);
  return seen_attribute(attribute, "__get__", self, NULL);
}

static int set_of_attribute(PyObject* attribute, PyObject* self, PyObject* value) {
  if (!value || !is_tensor(self) || !is_seen(self)) return set_property(attribute, self, value);
  PyObject* const done = seen_attribute(attribute, "__set__", self, value);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

static int add_attribute_type(PyObject* module) {
  get_property = (descrgetfunc)PyType_GetSlot(&PyProperty_Type, Py_tp_descr_get);
  set_property = (descrsetfunc)PyType_GetSlot(&PyProperty_Type, Py_tp_descr_set);
  PyType_Slot slots[] = {
      {Py_tp_descr_get, get_of_attribute}, {Py_tp_descr_set, set_of_attribute}, {0, NULL}};
  PyType_Spec spec = {
      .name = "libdl._C.attribute",
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
      .slots = slots,
  };
  PyObject* const bases = PyTuple_Pack(1, &PyProperty_Type);
  PyObject* const base = bases ? PyType_FromSpecWithBases(&spec, bases) : NULL;
  Py_XDECREF(bases);
  // A property of a subclass keeps its help in a __dict__, which a class of Python's has.
  PyObject* const type = base ? PyObject_CallFunction((PyObject*)&PyType_Type, "s(O){ss}",
                                                      "attribute", base, "__module__", "libdl._C")
                              : NULL;
  Py_XDECREF(base);
  const int failed = !type || PyModule_AddObjectRef(module, "attribute", type);
  Py_XDECREF(type);
  return failed ? -1 : 0;
}

// -- the call -------------------------------------------------------------------------------------

// The names in an error become those that the program wrote.
static void rename_error(PyObject* renamed) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  PyObject* const done =
      PyObject_CallFunctionObjArgs(registered.rename_error, error, PyTuple_GetItem(renamed, 0),
                                   PyTuple_GetItem(renamed, 1), PyTuple_GetItem(renamed, 2), NULL);
  if (!done) PyErr_Clear();
  Py_XDECREF(done);
  PyErr_Restore(type, error, traceback);
}

// A call that raised: an argument may yet turn out to be one of a class that takes it over.
static PyObject* failed(Overridable* function, PyObject* const* args, Py_ssize_t count,
                        PyObject* names) {
  if (PyErr_ExceptionMatches(overridden_exception)) {
    PyErr_Clear();
    return dispatched((PyObject*)function, NULL, args, count, names);
  }
  if (function->renamed && PyErr_ExceptionMatches(registered.error))
    rename_error(function->renamed);
  return NULL;
}

// C's arguments, borrowed; *made is new where there is one. False: an unusual call.
static bool bound(const Direct* direct, PyObject* const* args, Py_ssize_t count, PyObject* names,
                  PyObject** arguments, PyObject** list_out) {
  memcpy(arguments, direct->defaults, (size_t)direct->arguments * sizeof *arguments);
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  Py_ssize_t positional = count;
  if (direct->variadic && count >= direct->positional) {
    const int last = direct->positional - 1;
    const Py_ssize_t several = count - last;
    if (several == 1 && !PyLong_Check(args[last])) {
      arguments[direct->argument[last]] = args[last];
    } else {
      PyObject* const listed = *list_out = PyTuple_New(several);
      if (!listed) {  // the Python function will say so, if it cannot make one either
        PyErr_Clear();
        return false;
      }
      for (Py_ssize_t i = 0; i < several; ++i)
        PyTuple_SetItem(listed, i, Py_NewRef(args[last + i]));
      arguments[direct->argument[last]] = listed;
    }
    positional = last;
  } else if (count > direct->positional) {
    return false;
  }
  for (Py_ssize_t i = 0; i < positional; ++i) arguments[direct->argument[i]] = args[i];
  for (Py_ssize_t k = 0; k < named; ++k) {
    PyObject* const name = PyTuple_GetItem(names, k);
    int i = 0;
    while (i < direct->parameters && direct->names[i] != name) ++i;
    if (i == direct->parameters || i < count) return false;
    arguments[direct->argument[i]] = args[count + k];
  }
  if (direct->written >= 0) arguments[direct->written] = args[0];
  for (int j = 0; j < direct->arguments; ++j) {
    if (!arguments[j]) return false;
    int beyond;
    if (direct->one_is_none[j] && PyLong_CheckExact(arguments[j]) &&
        PyLong_AsLongAndOverflow(arguments[j], &beyond) == 1)
      arguments[j] = Py_None;
  }
  return true;
}

static PyObject* seen_to(int seen) {
  return seen == kByVmap && registered.batch ? registered.batch : registered.dispatch;
}

// A function without a direct way.
static PyObject* call(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  Overridable* const function = (Overridable*)self;
  const Py_ssize_t count = (Py_ssize_t)(flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET);
  const Py_ssize_t all = names ? count + PyTuple_Size(names) : count;
  const int seen = call_seen_by(function, args, all);
  if (seen) return passed_on(seen_to(seen), self, NULL, args, count, names);
  PyObject* const answer = PyObject_Vectorcall(function->function, args, flags, names);
  return answer ? answer : failed(function, args, count, names);
}

static PyObject* call_operator(PyObject* self, PyObject* const* args, size_t flags,
                               PyObject* names) {
  Overridable* const function = (Overridable*)self;
  const Py_ssize_t count = (Py_ssize_t)(flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET);
  const Py_ssize_t all = names ? count + PyTuple_Size(names) : count;
  const int seen = call_seen_by(function, args, all);
  if (seen) return passed_on(seen_to(seen), self, NULL, args, count, names);
  const Direct* const direct = function->direct;
  PyObject *answer, *list = NULL;
  PyObject* arguments[kMostParameters];
  if (bound(direct, args, count, names, arguments, &list))
    answer = direct->call(NULL, arguments, direct->arguments);
  else
    answer = PyObject_Vectorcall(function->function, args, flags, names);
  Py_XDECREF(list);
  return answer ? answer : failed(function, args, count, names);
}

// -- the object -----------------------------------------------------------------------------------

static int read_direct(Direct* direct, PyObject* description) {
  PyObject *function, *names, *arguments, *defaults, *ones;
  int positional, variadic, written;
  if (!PyArg_ParseTuple(description, "OO!iO!O!O!pi:direct", &function, &PyTuple_Type, &names,
                        &positional, &PyTuple_Type, &arguments, &PyTuple_Type, &defaults,
                        &PyTuple_Type, &ones, &variadic, &written))
    return -1;
  direct->call = (FastCall)(void (*)(void))PyCFunction_GetFunction(function);
  if (!direct->call) return -1;
  direct->parameters = (int)PyTuple_Size(names);
  direct->arguments = (int)PyTuple_Size(defaults);
  if (PyCFunction_GetFlags(function) != METH_FASTCALL || direct->parameters > kMostParameters ||
      direct->arguments > kMostParameters || PyTuple_Size(arguments) != direct->parameters) {
    PyErr_Format(PyExc_ValueError, "overridable: no operator's function: %R", description);
    return -1;
  }
  direct->positional = positional;
  direct->variadic = variadic;
  direct->written = written;
  for (int i = 0; i < direct->parameters; ++i) {
    PyObject* name = Py_NewRef(PyTuple_GetItem(names, i));
    PyUnicode_InternInPlace(&name);
    direct->names[i] = name;  // for the process's life
    direct->argument[i] = (signed char)PyLong_AsLong(PyTuple_GetItem(arguments, i));
  }
  for (int j = 0; j < direct->arguments; ++j) {
    PyObject* const value = PyTuple_GetItem(defaults, j);
    direct->defaults[j] = value == Py_Ellipsis ? NULL : value;
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(ones); ++i)
    direct->one_is_none[PyLong_AsLong(PyTuple_GetItem(ones, i))] = true;
  direct->kept = Py_NewRef(description);
  return PyErr_Occurred() ? -1 : 0;
}

// The function's names and help, as functools.wraps copies them.
static int take_attributes(Overridable* function) {
  static const char* const names[] = {"__module__", "__name__", "__qualname__", "__doc__"};
  function->attributes = PyDict_New();
  if (!function->attributes) return -1;
  PyObject* const own = PyObject_GetAttrString(function->function, "__dict__");
  const int copied = own ? PyDict_Update(function->attributes, own) : 0;
  Py_XDECREF(own);
  if (!own) PyErr_Clear();
  if (copied) return -1;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    PyObject* const value = PyObject_GetAttrString(function->function, names[i]);
    if (!value || PyDict_SetItemString(function->attributes, names[i], value)) {
      Py_XDECREF(value);
      return -1;
    }
    Py_DECREF(value);
  }
  return PyDict_SetItemString(function->attributes, "__wrapped__", function->function);
}

// overridable(function, direct=None, renamed=None)
static PyObject* new_overridable(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {"function", "direct", "renamed", NULL};
  PyObject *function, *direct = Py_None, *renamed = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:overridable", names, &function, &direct,
                                   &renamed))
    return NULL;
  Overridable* const created = (Overridable*)PyType_GenericAlloc(type, 0);
  if (!created) return NULL;
  created->call = call;
  created->function = Py_NewRef(function);
  bool wrong = take_attributes(created) < 0;
  if (!wrong && renamed != Py_None) {
    wrong = !PyTuple_Check(renamed) || PyTuple_Size(renamed) != 3;
    if (wrong) PyErr_SetString(PyExc_TypeError, "overridable: renamed wants three things");
    created->renamed = Py_NewRef(renamed);
  }
  if (!wrong && direct != Py_None) {
    created->call = call_operator;
    created->direct = PyMem_Calloc(1, sizeof *created->direct);
    wrong = created->direct ? read_direct(created->direct, direct) < 0 : !PyErr_NoMemory();
  }
  if (wrong) {
    Py_DECREF(created);
    return NULL;
  }
  return (PyObject*)created;
}

// around(function): another function with the same C in front.
static PyObject* around(PyObject* self, PyObject* function) {
  const Overridable* const own = (Overridable*)self;
  return PyObject_CallFunctionObjArgs((PyObject*)Py_TYPE(self), function,
                                      own->direct ? own->direct->kept : Py_None,
                                      own->renamed ? own->renamed : Py_None, NULL);
}

static int traverse(PyObject* self, visitproc visit, void* arg) {
  Overridable* const own = (Overridable*)self;
  Py_VISIT(own->function);
  Py_VISIT(own->attributes);
  Py_VISIT(own->renamed);
  if (own->direct) Py_VISIT(own->direct->kept);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

static int clear(PyObject* self) {
  Overridable* const own = (Overridable*)self;
  Py_CLEAR(own->function);
  Py_CLEAR(own->attributes);
  Py_CLEAR(own->renamed);
  return 0;
}

static void dealloc(PyObject* self) {
  Overridable* const own = (Overridable*)self;
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (own->weak_references) PyObject_ClearWeakRefs(self);
  clear(self);
  if (own->direct) Py_XDECREF(own->direct->kept);
  PyMem_Free(own->direct);
  freefunc const release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyObject* bind(PyObject* self, PyObject* object, PyObject* type) {
  (void)type;
  static PyObject* method;
  if (!object || object == Py_None) return Py_NewRef(self);
  if (!method) {
    PyObject* const types = PyImport_ImportModule("types");
    method = types ? PyObject_GetAttrString(types, "MethodType") : NULL;
    Py_XDECREF(types);
    if (!method) return NULL;
  }
  return PyObject_CallFunctionObjArgs(method, self, object, NULL);
}

// What it does not have itself, such as __code__ and __annotations__, is the function's.
static PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* const attribute = PyObject_GenericGetAttr(self, name);
  if (attribute || !PyErr_ExceptionMatches(PyExc_AttributeError)) return attribute;
  PyErr_Clear();
  return PyObject_GetAttr(((Overridable*)self)->function, name);
}

// Python's own errors, of a wrong number of arguments, tell the function's name.
static int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  static const char* const shared[] = {"__name__", "__qualname__", "__doc__"};
  for (size_t i = 0; i < sizeof shared / sizeof *shared; ++i)
    if (PyUnicode_CompareWithASCIIString(name, shared[i]) == 0 &&
        PyObject_SetAttr(((Overridable*)self)->function, name, value))
      return -1;
  return PyObject_GenericSetAttr(self, name, value);
}

static PyObject* representation(PyObject* self) {
  PyObject* const name = PyObject_GetAttrString(self, "__qualname__");
  PyObject* const text = name ? PyUnicode_FromFormat("<function %U at %p>", name, self) : NULL;
  Py_XDECREF(name);
  return text;
}

static PyObject* reduce(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef methods[] = {
    {"around", around, METH_O, "around(function): another function with the same C in front"},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Overridable, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Overridable, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Overridable, weak_references), READONLY, NULL},
    {"draws", T_BOOL, offsetof(Overridable, draws), 0,
     "Whether an open vmap sees each call, because it may draw random numbers."},
    {"inside", T_BOOL, offsetof(Overridable, inside), 0,
     "Whether vmap sees what the function's parts do with a batch, and not the call."},
    {"of_values", T_BOOL, offsetof(Overridable, of_values), 0,
     "Whether the function takes the values of what it is given, whatever its class."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef functions[] = {
    {"overriding", overriding, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_overridable(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_new, new_overridable},
      {Py_tp_call, PyVectorcall_Call},
      {Py_tp_descr_get, bind},
      {Py_tp_dealloc, dealloc},
      {Py_tp_traverse, traverse},
      {Py_tp_clear, clear},
      {Py_tp_members, members},
      {Py_tp_getset, attributes},
      {Py_tp_methods, methods},
      {Py_tp_getattro, get_attribute},
      {Py_tp_setattro, set_attribute},
      {Py_tp_repr, representation},
      {0, NULL},
  };
  PyType_Spec spec = {
      .name = "libdl._C.function",
      .basicsize = sizeof(Overridable),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
               Py_TPFLAGS_METHOD_DESCRIPTOR,
      .slots = slots,
  };
  overridable_type = (PyTypeObject*)PyType_FromSpec(&spec);
  if (!overridable_type ||  // under a second name it is a decorator
      PyModule_AddObjectRef(module, "Overridable", (PyObject*)overridable_type) ||
      PyModule_AddObjectRef(module, "overridable", (PyObject*)overridable_type))
    return -1;
  return add_attribute_type(module) ? -1 : PyModule_AddFunctions(module, functions);
}
