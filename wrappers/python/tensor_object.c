// SPDX-License-Identifier: Apache-2.0

// Handles as objects and back. A handle keeps a weak pointer to its object, so that the same handle
// comes back as the same object while that lives.
#include "objects.h"

PyTypeObject* tensor_type;

PyObject* living_object(libdl_tensor* handle) {
  PyObject* const object = libdl_tensor_host_object(handle, LIBDL_HOST_PYTHON);
  // Between the death of an object and its last farewell a weak reference's callback may ask.
  if (!object || Py_REFCNT(object) == 0) return NULL;
  Py_INCREF(object);
  return object;
}

// Python's place is in the handle itself: setting it cannot fail.
void set_object(libdl_tensor* handle, void* object) {
  libdl_error_release(libdl_tensor_set_host_object(handle, LIBDL_HOST_PYTHON, object));
}

static TensorObject* bare_object(PyTypeObject* type) {
  TensorObject* object;
  if (type == tensor_type) {
    // Untracked until it has attributes, hooks or a node that Python knows: see track().
    object = PyObject_GC_New(TensorObject, type);
    if (!object) return NULL;
    object->handle = NULL;
    object->attributes = NULL;
    object->weak_references = NULL;
  } else {
    object = (TensorObject*)PyType_GenericAlloc(type, 0);
  }
  return object;
}

PyObject* wrap_as(libdl_tensor* handle, PyTypeObject* type) {
  TensorObject* const object = bare_object(type);
  if (!object) {
    libdl_tensor_release(handle);
    return NULL;
  }
  object->handle = handle;
  set_object(handle, object);
  return (PyObject*)object;
}

PyObject* wrap(libdl_tensor* handle) {
  if (!handle) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "libdl: no tensor came back");
    return NULL;
  }
  if (pending_warning && raise_warning()) {
    libdl_tensor_release(handle);
    return NULL;
  }
  PyObject* const object = living_object(handle);
  if (!object) return wrap_as(handle, tensor_type);
  libdl_tensor_release(handle);
  return object;
}

PyObject* wrap_optional(libdl_tensor* handle) {
  if (!handle) Py_RETURN_NONE;
  return wrap(handle);
}

PyObject* tensors_object(const libdl_tensor* const* items, int64_t count) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; tuple && i < count; ++i) {
    PyObject* const item = wrap_optional(libdl_tensor_retain((libdl_tensor*)items[i]));
    if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item)) Py_CLEAR(tuple);
  }
  return tuple;
}

PyObject* wrap_list(libdl_tensor_list* list) {
  const int64_t count = libdl_tensor_list_count(list);
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; tuple && i < count; ++i) {
    PyObject* const object = wrap_optional(libdl_tensor_list_get(list, i));
    if (!object || PyTuple_SetItem(tuple, (Py_ssize_t)i, object)) Py_CLEAR(tuple);
  }
  libdl_tensor_list_release(list);
  return tuple;
}

void track(PyObject* self) {
  if (!PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
}

void track_attributes(PyObject* self) {
  if (((TensorObject*)self)->attributes && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
}

PyObject* tensor_get_dict(PyObject* self, void* closure) {
  PyObject* const dict = PyObject_GenericGetDict(self, closure);
  track_attributes(self);
  return dict;
}
