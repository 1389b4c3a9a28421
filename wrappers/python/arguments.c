// SPDX-License-Identifier: Apache-2.0

// The arguments of the operators' functions, and what is said of wrong ones.
#include "arguments.h"

#include <stdarg.h>

int wrong_count(const char* function, Py_ssize_t wanted, Py_ssize_t count) {
  if (count == wanted) return 0;
  PyErr_Format(PyExc_TypeError, "%s expected %d arguments, got %d", function, (int)wanted,
               (int)count);
  return -1;
}

int wrong_argument(const char* function, int number, const char* name, PyObject* found,
                   const char* wanted) {
  if (!PyErr_Occurred()) raise_type_error(function, number, name, found, wanted);
  return -1;
}

#define WRONG(wanted) wrong_argument(function, number, name, object, wanted)

int take_updated(const char* function, int number, const char* name, PyObject* object,
                 libdl_tensor** taken) {
  if (object == Py_None) return 0;
  if (!is_tensor(object)) return WRONG("a tensor or None");
  if (refused_stand_in(object)) return -1;
  *taken = handle_of(object);
  return 0;
}

int take_operands(const char* function, int number, const char* name, PyObject* object,
                  Operands* taken) {
  return operands(object, true, taken) ? WRONG("a sequence of tensors") : 0;
}

int take_shape(const char* function, int number, const char* name, PyObject* object,
               Integers* taken) {
  if (integers(object, taken)) return WRONG("a sequence of integers");
  int64_t numel = 1;
  for (int32_t i = 0; i < taken->count; ++i)
    if (taken->items[i] > 0 && numel < LIBDL_PYTHON_LONG_WORK) numel *= taken->items[i];
  pending_work += numel;
  return 0;
}

int take_integers(const char* function, int number, const char* name, PyObject* object,
                  Integers* taken) {
  if (object == Py_None || !integers(object, taken)) return 0;
  return WRONG("an integer or a sequence of integers");
}

int take_integer(const char* function, int number, const char* name, PyObject* object,
                 int64_t* taken) {
  return integer(object, taken) ? WRONG("an integer") : 0;
}

int take_optional_integer(const char* function, int number, const char* name, PyObject* object,
                          Integer* taken) {
  if (object == Py_None) return 0;
  if (integer(object, &taken->value)) return WRONG("an integer or None");
  taken->data = &taken->value;
  return 0;
}

int take_dim(const char* function, int number, const char* name, PyObject* object, int32_t* taken) {
  int64_t wide;
  if (PyBool_Check(object) || integer(object, &wide)) return WRONG("an integer");
  *taken = (int32_t)wide;
  if (wide >= INT32_MIN && wide <= INT32_MAX) return 0;
  PyErr_Format(PyExc_IndexError, "%s: %s is %lld, out of range", function, name, (long long)wide);
  return -1;
}

int take_number(const char* function, int number_, const char* name, PyObject* object,
                double* taken) {
  return number(object, taken) ? wrong_argument(function, number_, name, object, "a number") : 0;
}

int take_optional_number(const char* function, int number_, const char* name, PyObject* object,
                         Number* taken) {
  if (object == Py_None) return 0;
  if (number(object, &taken->value))
    return wrong_argument(function, number_, name, object, "a number or None");
  taken->data = &taken->value;
  return 0;
}

int take_bool(PyObject* object, libdl_bool* taken) {
  const int truth = PyObject_IsTrue(object);
  *taken = truth > 0;
  return truth < 0 ? -1 : 0;
}

int take_dtype(const char* function, int number, const char* name, PyObject* object,
               libdl_dtype* taken) {
  return dtype_code(object, taken) ? WRONG("a dtype") : 0;
}

int take_device(const char* function, int number, const char* name, PyObject* object,
                Device* taken) {
  if (object == Py_None) return 0;
  if (device_of(object, &taken->value)) return WRONG("a device");
  taken->data = &taken->value;
  return 0;
}

int take_generator(const char* function, int number, const char* name, PyObject* object,
                   libdl_generator** taken) {
  if (intercepting & kInterceptDraws) {
    PyErr_SetNone(overridden_exception);
    return -1;
  }
  return generator_of(object, taken) ? WRONG("a generator") : 0;
}

int take_string(const char* function, int number, const char* name, PyObject* object,
                String* taken) {
  if (object == Py_None) return 0;
  Py_ssize_t length = 0;
  taken->text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : NULL;
  taken->length = length;
  return taken->text ? 0 : WRONG("a string");
}

PyObject* several(int count, ...) {
  PyObject* const tuple = PyTuple_New(count);
  bool failed = !tuple;
  va_list objects;
  va_start(objects, count);
  for (int i = 0; i < count; ++i) {
    PyObject* const object = va_arg(objects, PyObject*);
    if (!object)
      failed = true;
    else if (tuple)
      PyTuple_SetItem(tuple, i, object);
    else
      Py_DECREF(object);
  }
  va_end(objects);
  if (!failed) return tuple;
  Py_XDECREF(tuple);
  return NULL;
}
