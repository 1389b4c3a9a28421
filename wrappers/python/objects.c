// SPDX-License-Identifier: Apache-2.0

// What the package's Python half registers, and the small Python values that results are made of.
#include "objects.h"

Registered registered;
PyObject* overridden_exception;

static const char* const names[] = {
#define LIBDL_PYTHON_NAME(name) #name,
    LIBDL_PYTHON_REGISTERED(LIBDL_PYTHON_NAME)
#undef LIBDL_PYTHON_NAME
};

static PyObject** position_of(const char* name) {
  PyObject** const first = (PyObject**)&registered;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(names[i], name) == 0) return first + i;
  return NULL;
}

static void keep(PyObject** slot, PyObject* object) {
  Py_INCREF(object);
  Py_XDECREF(*slot);
  *slot = object;
}

// register(name, object): what the C half calls back.
static PyObject* register_object(PyObject* module, PyObject* args) {
  (void)module;
  const char* name;
  PyObject* object;
  if (!PyArg_ParseTuple(args, "sO", &name, &object)) return NULL;
  PyObject** const slot = position_of(name);
  if (!slot) return PyErr_Format(PyExc_ValueError, "register: %s is nothing known", name);
  keep(slot, object);
  Py_RETURN_NONE;
}

static PyObject* register_dtype(PyObject* module, PyObject* args) {
  (void)module;
  int code;
  PyObject* object;
  if (!PyArg_ParseTuple(args, "iO", &code, &object)) return NULL;
  if (code < 0 || code >= 32) return PyErr_Format(PyExc_ValueError, "no dtype's number: %d", code);
  keep(&registered.dtypes[code], object);
  Py_RETURN_NONE;
}

static PyObject* register_cpu(PyObject* module, PyObject* device) {
  (void)module;
  keep(&registered.cpu, device);
  Py_RETURN_NONE;
}

PyObject* dtype_object(libdl_dtype code) {
  PyObject* const dtype = code >= 0 && code < 32 ? registered.dtypes[code] : NULL;
  return dtype ? dtype : Py_None;
}

PyObject* device_object(libdl_device device) {
  if (device.type == LIBDL_DEVICE_CPU && registered.cpu) {
    Py_INCREF(registered.cpu);
    return registered.cpu;
  }
  return PyObject_CallFunction(registered.device, "ii", (int)device.type, (int)device.index);
}

// A capsule whose context is the function that releases what it holds.
static void release_capsule(PyObject* object) {
  void (*const release)(void*) = (void (*)(void*))PyCapsule_GetContext(object);
  release(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
}

PyObject* capsule(void* handle, const char* kind, void (*release)(void*)) {
  if (!handle) Py_RETURN_NONE;
  PyObject* const object = PyCapsule_New(handle, kind, release_capsule);
  if (!object || PyCapsule_SetContext(object, (void*)release)) {
    Py_XDECREF(object);
    release(handle);
    return NULL;
  }
  return object;
}

void forget_object(void* ctx) {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF((PyObject*)ctx);
  PyGILState_Release(gil);
}

static PyObject* filled(PyObject* tuple, const int64_t* items, int32_t count) {
  if (!tuple) return NULL;
  for (int32_t i = 0; i < count; ++i) {
    PyObject* const item = PyLong_FromLongLong(items[i]);
    if (!item || PyTuple_SetItem(tuple, i, item)) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

PyObject* integers_object(const int64_t* items, int32_t count) {
  return filled(PyTuple_New(count), items, count);
}

PyObject* shape_object(const int64_t* shape, int32_t ndim) {
  PyTypeObject* const type = (PyTypeObject*)registered.size;
  if (!type) return integers_object(shape, ndim);
  return filled(PyType_GenericAlloc(type, ndim), shape, ndim);
}

static PyMethodDef methods[] = {
    {"register", register_object, METH_VARARGS, "register(name, object)"},
    {"register_dtype", register_dtype, METH_VARARGS, "register_dtype(code, dtype)"},
    {"register_cpu", register_cpu, METH_O, "register_cpu(device)"},
    {NULL, NULL, 0, NULL},
};

int add_objects(PyObject* module) {
  overridden_exception = PyErr_NewExceptionWithDoc(
      "libdl.Overridden", "Raised inside: an argument's class takes the call over.", NULL, NULL);
  if (!overridden_exception) return -1;
  if (PyModule_AddObjectRef(module, "Overridden", overridden_exception)) return -1;
  return PyModule_AddFunctions(module, methods);
}
