// SPDX-License-Identifier: Apache-2.0

// How values pass between Python and C. Tensors are objects of the hand-written type; SWIG's own
// pointer objects appear nowhere.
%{
#include "objects.h"

// `place` is the argument's, `first` the first argument's place in the list.
static void wrong_argument(const char* function, PyObject** place, PyObject** first,
                           const char* name, const char* wanted) {
  if (PyErr_Occurred()) return;
  raise_type_error(function, (int)(place - first) + 1, name, *place, wanted);
}

static PyObject* appended(PyObject* result, PyObject* object) {
  if (!object || result == Py_None) {
    Py_XDECREF(result);
    return object;
  }
  if (!PyTuple_Check(result)) {
    PyObject* const pair = PyTuple_Pack(2, result, object);
    Py_DECREF(result);
    Py_DECREF(object);
    return pair;
  }
  const Py_ssize_t count = PyTuple_Size(result);
  PyObject* const longer = PyTuple_New(count + 1);
  for (Py_ssize_t i = 0; longer && i < count; ++i) {
    PyObject* const item = PyTuple_GetItem(result, i);
    Py_INCREF(item);
    PyTuple_SetItem(longer, i, item);
  }
  if (longer) PyTuple_SetItem(longer, count, object);
  Py_DECREF(result);
  return longer;
}
%}

// Long work releases the GIL, short work does not: giving it up and back costs 40 ns.
%nothread;
%exception {
  PyThreadState* const released =
      pending_work > LIBDL_PYTHON_LONG_WORK ? leave_python() : NULL;
  $action
  enter_python(released);
  pending_work = 0;
}

// Without tensors, but they wait.
%define WAITS(function)
%exception function {
  PyThreadState* const released = leave_python();
  $action
  enter_python(released);
  pending_work = 0;
}
%enddef
WAITS(libdl_device_synchronize)
WAITS(libdl_memory_trim)

%define WRONG(wanted)
  wrong_argument("$symname", &$input, swig_obj, "$1_name", wanted)
%enddef

// -- results --------------------------------------------------------------------------------------

%typemap(out) libdl_error * {
  if ($1) {
    raise_error($1);
    SWIG_fail;
  }
  $result = Py_None;
  Py_INCREF($result);
}
%typemap(ret) libdl_error * {
  if (pending_warning && raise_warning()) {
    Py_XDECREF($result);
    return NULL;
  }
}
%typemap(out) libdl_bool "$result = PyBool_FromLong($1);"
%typemap(out) int32_t, libdl_dtype, libdl_value_type, libdl_op "$result = PyLong_FromLong($1);"
%typemap(out) int64_t "$result = PyLong_FromLongLong($1);"
%typemap(out) uint64_t, uint32_t "$result = PyLong_FromUnsignedLongLong($1);"
%typemap(out) double "$result = PyFloat_FromDouble($1);"
%typemap(out) const char * {
  if ($1) $result = PyUnicode_FromString($1);
  else Py_INCREF($result = Py_None);
}
%typemap(out) libdl_tensor * "$result = wrap_optional($1);"
%typemap(out) libdl_device "$result = device_object($1);"

%typemap(in, numinputs=0) libdl_tensor ** (libdl_tensor *made = NULL) "$1 = &made;"
%typemap(argout) libdl_tensor ** "$result = appended($result, wrap_optional(*$1));"
%typemap(in, numinputs=0) libdl_bool *out (libdl_bool value = 0) "$1 = &value;"
%typemap(argout) libdl_bool *out "$result = appended($result, PyBool_FromLong(*$1));"
%typemap(in, numinputs=0) int64_t *out (int64_t value = 0) "$1 = &value;"
%typemap(argout) int64_t *out "$result = appended($result, PyLong_FromLongLong(*$1));"
%typemap(in, numinputs=0) int32_t *out (int32_t value = 0) "$1 = &value;"
%typemap(in, numinputs=0) libdl_dtype *out (libdl_dtype value = 0) "$1 = &value;"
%typemap(in, numinputs=0) libdl_op *out (libdl_op value = 0) "$1 = &value;"
%typemap(argout) int32_t *out, libdl_dtype *out, libdl_op *out
  "$result = appended($result, PyLong_FromLong(*$1));"

// -- tensors --------------------------------------------------------------------------------------

// None is NULL: where the parameter is not nullable, the library says so.
%typemap(in) const libdl_tensor * (libdl_tensor *own = NULL) {
  if ($input == Py_None) {
    $1 = NULL;
  } else if (operand($input, (libdl_tensor **)&$1, &own)) {
    WRONG("a tensor or a number");
    SWIG_fail;
  }
}
%typemap(freearg) const libdl_tensor * "if (own$argnum) libdl_tensor_release(own$argnum);"

%typemap(in) libdl_tensor * {
  if (!is_tensor($input)) {
    WRONG("a tensor");
    SWIG_fail;
  }
  if (refused_stand_in($input)) SWIG_fail;
  $1 = handle_of($input);
}
// -- numbers, strings -----------------------------------------------------------------------------

%typemap(in) int64_t {
  if (integer($input, &$1)) {
    WRONG("an integer");
    SWIG_fail;
  }
}
%typemap(in) int32_t (int64_t wide) {
  if (PyBool_Check($input) || integer($input, &wide)) {
    WRONG("an integer");
    SWIG_fail;
  }
  if (wide < INT32_MIN || wide > INT32_MAX) {
    PyErr_Format(PyExc_IndexError, "$symname: $1_name is %lld, out of range", (long long)wide);
    SWIG_fail;
  }
  $1 = (int32_t)wide;
}
%apply int32_t { libdl_op };
%typemap(in) uint64_t {
  PyObject* const exact = PyNumber_Index($input);
  $1 = exact ? PyLong_AsUnsignedLongLongMask(exact) : 0;
  Py_XDECREF(exact);
  if (PyErr_Occurred()) SWIG_fail;
}
%typemap(in) libdl_bool {
  $1 = PyObject_IsTrue($input);
  if (PyErr_Occurred()) SWIG_fail;
}
%typemap(in) libdl_dtype {
  if (dtype_code($input, &$1)) {
    WRONG("a dtype");
    SWIG_fail;
  }
}
%typemap(in) const libdl_device * (libdl_device chosen) {
  if ($input == Py_None) {
    $1 = NULL;
  } else {
    if (device_of($input, &chosen)) {
      WRONG("a device");
      SWIG_fail;
    }
    $1 = &chosen;
  }
}
%typemap(in) (const char *name, int64_t name_length) (Py_ssize_t length) {
  if ($input == Py_None) {
    $1 = NULL;
    $2 = 0;
  } else {
    $1 = PyUnicode_Check($input) ? (char *)PyUnicode_AsUTF8AndSize($input, &length) : NULL;
    if (!$1) {
      WRONG("a string");
      SWIG_fail;
    }
    $2 = length;
  }
}

// tools/python_layer.py writes the operators themselves.
%include "operators.i"

%init %{
  if (add_objects(m) || add_errors(m) || add_tensor_type(m) || add_exchange(m) ||
      add_gradients(m) || add_functions(m) || add_sequences(m) || add_frequent(m) ||
      add_overridable(m) || add_attributes(m) || add_runtime(m) || add_generators(m) ||
      add_operators(m) || add_steps(m) || add_optimizer_steps(m) || add_streams(m) ||
      add_files(m) || add_interceptors(m) || add_profiler(m) || add_gil())
    return -1;
%}

// Help for what Python offers as it is.
%feature("docstring") libdl_grad_enabled %{
Whether operators are recorded.

Example:
    >>> torch.is_grad_enabled()
    True
    >>> with torch.no_grad():
    ...     torch.is_grad_enabled()
    False
%}
