// SPDX-License-Identifier: Apache-2.0

// Python's values as C arguments.
#include "objects.h"

int64_t pending_work;
_Thread_local int overriding_disabled;
PyTypeObject* stand_in_type;

bool refused_stand_in(PyObject* object) {
  if (!stand_in_type || Py_TYPE(object) != stand_in_type) return false;
  PyErr_SetNone(overridden_exception);
  return true;
}

static PyObject* override_name(void) {
  static PyObject* name;
  if (!name) name = PyUnicode_InternFromString("__torch_function__");
  return name;
}

int overrides(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type == tensor_type || (PyObject*)type == registered.parameter) return 0;
  if (overriding_disabled > (type == stand_in_type)) return 0;
  PyObject* const method = PyObject_GetAttr((PyObject*)type, override_name());
  if (!method) {
    PyErr_Clear();
    return 0;
  }
  const int answer = method != registered.disabled_override && method != Py_None;
  Py_DECREF(method);
  return answer;
}

static int from_error(libdl_error* error) {
  if (!error) return 0;
  raise_error(error);
  return -1;
}

// Exactly the numbers of Python itself. 1: something else.
static int python_number(PyObject* object, libdl_tensor** own) {
  if (PyFloat_Check(object)) return from_error(libdl_number_f64(PyFloat_AsDouble(object), own));
  if (PyBool_Check(object)) return from_error(libdl_number_bool(object == Py_True, own));
  if (PyLong_Check(object)) {
    const long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) return -1;
    return from_error(libdl_number_i64(value, own));
  }
  if (PyComplex_Check(object))
    return from_error(
        libdl_number_c128(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object), own));
  return 1;
}

// NumPy's scalars and 0-d arrays say what they are by item().
static int foreign_number(PyObject* object, libdl_tensor** own) {
  if (PyUnicode_Check(object) || PyBytes_Check(object) || PyTuple_Check(object) ||
      PyList_Check(object) || PyDict_Check(object) || object == Py_None)
    return 1;
  PyObject* const ndim = PyObject_GetAttrString(object, "ndim");
  const bool scalar = ndim && PyLong_Check(ndim) && PyLong_AsLong(ndim) == 0;
  Py_XDECREF(ndim);
  PyErr_Clear();
  if (!scalar) {
    if (!PyIndex_Check(object) || PyObject_HasAttrString(object, "__array_interface__")) return 1;
    PyObject* const value = PyNumber_Index(object);
    if (!value) return -1;
    const int result = python_number(value, own);
    Py_DECREF(value);
    return result;
  }
  PyObject* const value = PyObject_CallMethod(object, "item", NULL);
  if (!value) return -1;
  const int result = python_number(value, own);
  Py_DECREF(value);
  return result;
}

int operand(PyObject* object, libdl_tensor** handle, libdl_tensor** own) {
  if (is_tensor(object)) {
    *handle = handle_of(object);
    pending_work += libdl_tensor_numel(*handle);
    if (libdl_tensor_device(*handle).type != LIBDL_DEVICE_CPU)  // the call may wait for the device
      pending_work += LIBDL_PYTHON_LONG_WORK + 1;
    if (Py_TYPE(object) == tensor_type || !overrides(object)) return 0;
    PyErr_SetNone(overridden_exception);
    return -1;
  }
  int result = python_number(object, own);
  if (result > 0 && !PyUnicode_Check(object) && object != Py_None && overrides(object)) {
    PyErr_SetNone(overridden_exception);
    return -1;
  }
  if (result > 0) result = foreign_number(object, own);
  *handle = *own;
  return result;
}

int operands(PyObject* sequence, bool nullable, Operands* list) {
  *list = (Operands){.items = list->inline_items};
  if (is_tensor(sequence)) return 1;  // iterating it would cut it into rows
  PyObject* const items = list->kept = PySequence_Tuple(sequence);
  if (!items) {
    PyErr_Clear();
    return 1;
  }
  const Py_ssize_t count = PyTuple_Size(items);
  if (count > 8) list->items = PyMem_Malloc(2 * (size_t)count * sizeof *list->items);
  if (!list->items) {
    PyErr_NoMemory();
    return -1;
  }
  list->own = list->items + (count > 8 ? count : 8);
  int result = 0;
  for (Py_ssize_t i = 0; i < count && result == 0; ++i) {
    PyObject* const item = PyTuple_GetItem(items, i);
    list->items[i] = list->own[i] = NULL;
    ++list->count;
    if (item != Py_None || !nullable) result = operand(item, &list->items[i], &list->own[i]);
  }
  return result;
}

void free_operands(Operands* list) {
  for (int64_t i = 0; i < list->count; ++i) libdl_tensor_release(list->own[i]);
  if (list->items && list->items != list->inline_items) PyMem_Free(list->items);
  Py_XDECREF(list->kept);
  *list = (Operands){0};
}

int integer(PyObject* object, int64_t* value) {
  if (!PyLong_Check(object) && !PyIndex_Check(object)) return 1;
  PyObject* const exact = PyNumber_Index(object);
  if (!exact) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    return 1;
  }
  *value = PyLong_AsLongLong(exact);
  Py_DECREF(exact);
  return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

int number(PyObject* object, double* value) {
  if (PyUnicode_Check(object) || PyBytes_Check(object)) return 1;
  *value = PyFloat_AsDouble(object);
  if (*value != -1.0 || !PyErr_Occurred()) return 0;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
  PyErr_Clear();
  return 1;
}

static int append_integer(Integers* list, PyObject* item) {
  int64_t value;
  const int result = integer(item, &value);
  if (result == 0) list->items[list->count++] = value;
  return result;
}

int integers(PyObject* object, Integers* list) {
  list->items = list->inline_items;
  list->count = 0;
  if (PyLong_Check(object)) return append_integer(list, object);
  const bool listed = PyTuple_Check(object) || PyList_Check(object);
  if (!listed) {
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyDict_Check(object)) return 1;
    if (PyIndex_Check(object)) {
      const int result = append_integer(list, object);
      if (result <= 0) return result;
    }
  }
  PyObject* const items = PySequence_Fast(object, "");
  if (!items) {
    PyErr_Clear();
    return 1;
  }
  const Py_ssize_t count = PySequence_Size(items);
  if (count > 8) list->items = PyMem_Malloc((size_t)count * sizeof *list->items);
  int result = list->items && count <= INT32_MAX ? 0 : -1;
  if (result) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count && result == 0; ++i) {
    PyObject* const item = PySequence_GetItem(items, i);
    result = item ? append_integer(list, item) : -1;
    Py_XDECREF(item);
  }
  Py_DECREF(items);
  return result;
}

void free_integers(Integers* list) {
  if (list->items && list->items != list->inline_items) PyMem_Free(list->items);
  list->items = NULL;
}

static int integer_attribute(PyObject* object, const char* name, int64_t* value) {
  PyObject* const attribute = PyObject_GetAttrString(object, name);
  if (!attribute) return -1;
  const int result = integer(attribute, value);
  Py_DECREF(attribute);
  return result;
}

int dtype_code(PyObject* object, libdl_dtype* code) {
  *code = LIBDL_DTYPE_NONE;
  if (object == Py_None) return 0;
  PyObject* const type = (PyObject*)Py_TYPE(object);
  if (PyLong_Check(object)) {  // only while dtypes are being made
    const long value = PyLong_AsLong(object);
    *code = (libdl_dtype)value;
    return value > 0 && value < 32 && !registered.dtypes[value] ? 0 : 1;
  }
  if (type != registered.dtype) {
    // Python's own number classes stand for dtypes, as in PyTorch.
    if (object == (PyObject*)&PyFloat_Type) *code = LIBDL_DTYPE_FLOAT64;
    if (object == (PyObject*)&PyLong_Type) *code = LIBDL_DTYPE_INT64;
    if (object == (PyObject*)&PyBool_Type) *code = LIBDL_DTYPE_BOOL;
    if (object == (PyObject*)&PyComplex_Type) *code = LIBDL_DTYPE_COMPLEX128;
    return *code == LIBDL_DTYPE_NONE;
  }
  int64_t value;
  const int result = integer_attribute(object, "code", &value);
  *code = (libdl_dtype)value;
  return result;
}

int device_of(PyObject* object, libdl_device* device) {
  PyObject* created = NULL;
  if ((PyObject*)Py_TYPE(object) != registered.device) {
    if (!PyUnicode_Check(object) && !PyLong_Check(object)) return 1;
    const int64_t pending = pending_work;  // the call runs Python, whose calls count their own
    object = created = PyObject_CallFunctionObjArgs(registered.device, object, NULL);
    pending_work = pending;
    if (!created) return -1;
  }
  int64_t type = 0, index = 0;
  int result = integer_attribute(object, "_type", &type);
  if (result == 0) result = integer_attribute(object, "_index", &index);
  *device = (libdl_device){(int32_t)type, (int32_t)index};
  Py_XDECREF(created);
  return result;
}

int generator_of(PyObject* object, libdl_generator** generator) {
  *generator = NULL;
  if (object == Py_None) return 0;
  PyObject* const held = PyObject_GetAttrString(object, "_handle");
  if (!held || !PyCapsule_IsValid(held, "libdl_generator")) {
    Py_XDECREF(held);
    PyErr_Clear();
    return 1;
  }
  *generator = PyCapsule_GetPointer(held, "libdl_generator");
  Py_DECREF(held);  // the Python generator keeps it
  return 0;
}
