// SPDX-License-Identifier: Apache-2.0

// What the operators' functions (tools/python_calls.py) do with their arguments and results.
#ifndef LIBDL_PYTHON_ARGUMENTS_H
#define LIBDL_PYTHON_ARGUMENTS_H

#include "objects.h"

typedef struct Operand {
  libdl_tensor *handle, *own;
} Operand;

typedef struct Integer {
  const int64_t* data;
  int64_t value;
} Integer;

typedef struct Number {
  const double* data;
  double value;
} Number;

typedef struct Device {
  const libdl_device* data;
  libdl_device value;
} Device;

typedef struct String {
  const char* text;
  int64_t length;
} String;

// Each returns 0, or another number with an exception that names the function, the argument's
// number and its name.
int wrong_count(const char* function, Py_ssize_t wanted, Py_ssize_t count);
int wrong_argument(const char* function, int number, const char* name, PyObject* found,
                   const char* wanted);

// Inline are those that most calls take.
static inline int take_operand(const char* function, int number, const char* name, PyObject* object,
                               Operand* taken) {
  if (object == Py_None) return 0;  // where it must not be absent the library says so
  if (!operand(object, &taken->handle, &taken->own)) return 0;
  return wrong_argument(function, number, name, object, "a tensor or a number");
}

static inline int take_destination(const char* function, int number, const char* name,
                                   PyObject* object, libdl_tensor** taken) {
  if (!is_tensor(object)) return wrong_argument(function, number, name, object, "a tensor");
  if (refused_stand_in(object)) return -1;
  *taken = handle_of(object);
  return 0;
}

int take_updated(const char* function, int number, const char* name, PyObject* object,
                 libdl_tensor** taken);
int take_operands(const char* function, int number, const char* name, PyObject* object,
                  Operands* taken);
int take_shape(const char* function, int number, const char* name, PyObject* object,
               Integers* taken);
int take_integers(const char* function, int number, const char* name, PyObject* object,
                  Integers* taken);
int take_integer(const char* function, int number, const char* name, PyObject* object,
                 int64_t* taken);
int take_optional_integer(const char* function, int number, const char* name, PyObject* object,
                          Integer* taken);
int take_dim(const char* function, int number, const char* name, PyObject* object, int32_t* taken);
int take_number(const char* function, int number, const char* name, PyObject* object,
                double* taken);
int take_optional_number(const char* function, int number, const char* name, PyObject* object,
                         Number* taken);
int take_bool(PyObject* object, libdl_bool* taken);
int take_dtype(const char* function, int number, const char* name, PyObject* object,
               libdl_dtype* taken);
int take_device(const char* function, int number, const char* name, PyObject* object,
                Device* taken);
int take_generator(const char* function, int number, const char* name, PyObject* object,
                   libdl_generator** taken);
int take_string(const char* function, int number, const char* name, PyObject* object,
                String* taken);

// Around the call. Long work gives up the GIL, short work does not: that costs 40 ns.
static inline PyThreadState* begin_call(void) {
  return pending_work > LIBDL_PYTHON_LONG_WORK ? leave_python() : NULL;
}

static inline void end_call(PyThreadState* released) {
  enter_python(released);
  pending_work = 0;
}

// The result, unless a warning of the call has become an exception.
static inline PyObject* ended(PyObject* result) {
  if (!pending_warning || !raise_warning()) return result;
  Py_XDECREF(result);
  return NULL;
}

PyObject* several(int count, ...);  // a tuple of new objects

#define LIBDL_PYTHON_CALL(name) \
  {#name, (PyCFunction)(void (*)(void))call_##name, METH_FASTCALL, NULL}

#endif
