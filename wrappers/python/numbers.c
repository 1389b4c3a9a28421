// SPDX-License-Identifier: Apache-2.0

// The number protocol: operators go straight to the C functions.
#include <stdio.h>

#include "objects.h"

typedef libdl_error* (*Binary)(const libdl_tensor*, const libdl_tensor*, libdl_tensor**);
typedef libdl_error* (*BinaryInto)(const libdl_tensor*, const libdl_tensor*, libdl_tensor*);
typedef libdl_error* (*Unary)(const libdl_tensor*, libdl_tensor**);

// A mode or class sees the call: Tensor.__add__ goes to its __torch_function__ as a function.
static PyObject* overridden(const char* name, PyObject* a, PyObject* b) {
  char reflected[32];
  if (b && !is_tensor(a) && is_tensor(b)) {  // 1 + x is x.__radd__(1)
    PyOS_snprintf(reflected, sizeof reflected, "__r%s", name + 2);
    name = reflected;
    PyObject* const number = a;
    a = b;
    b = number;
  }
  return seen_operator(name, a, b, NULL);
}

static PyObject* no_operand(PyObject* a, PyObject* b, int result, const char* name,
                            libdl_tensor* own) {
  libdl_tensor_release(own);
  if (result > 0 && b && (is_numpy_array(a) || is_numpy_array(b)))
    return PyObject_CallFunction(registered.beside_array, "sOO", name, a, b);
  if (result > 0) Py_RETURN_NOTIMPLEMENTED;
  if (PyErr_ExceptionMatches(overridden_exception)) return overridden(name, a, b);
  return NULL;
}

static inline bool is_long(const libdl_tensor* x, const libdl_tensor* y) {
  return libdl_tensor_numel(x) > LIBDL_PYTHON_LONG_WORK ||
         libdl_tensor_numel(y) > LIBDL_PYTHON_LONG_WORK;
}

// commutes: a number on the left is the second operand, as in PyTorch's graphs.
static inline PyObject* binary(PyObject* a, PyObject* b, Binary function, const char* name,
                               bool commutes) {
  if (intercepting & kInterceptCalls) return overridden(name, a, b);
  libdl_tensor *x, *y, *own_x = NULL, *own_y = NULL, *out;
  int result = operand(a, &x, &own_x);
  if (result == 0) result = operand(b, &y, &own_y);
  if (result) return no_operand(a, b, result, name, own_x);
  if (commutes && own_x) {
    libdl_tensor* const left = x;
    x = y;
    y = left;
  }
  libdl_error* error;
  if (is_long(x, y)) {
    PyThreadState* const thread = leave_python();
    error = function(x, y, &out);
    enter_python(thread);
  } else {
    error = function(x, y, &out);
  }
  if (own_y) libdl_tensor_release(own_y);
  if (own_x) libdl_tensor_release(own_x);
  pending_work = 0;
  return error ? raise_error(error) : wrap(out);
}

static inline PyObject* in_place(PyObject* a, PyObject* b, BinaryInto function, const char* name,
                                 const char* operator) {
  if (intercepting & kInterceptCalls) return overridden(name, a, b);
  libdl_tensor *x, *y, *own_x = NULL, *own_y = NULL;
  int result = operand(a, &x, &own_x);
  if (result == 0) result = operand(b, &y, &own_y);
  if (result > 0) Py_RETURN_NOTIMPLEMENTED;  // x += array is x = x + array, as in PyTorch
  if (result) return no_operand(a, b, result, name, own_x);
  libdl_error* error;
  if (is_long(x, y)) {
    PyThreadState* const thread = leave_python();
    error = function(x, y, x);
    enter_python(thread);
  } else {
    error = function(x, y, x);
  }
  if (own_y) libdl_tensor_release(own_y);
  pending_work = 0;
  if (error) return raise_error_of(error, operator);
  Py_INCREF(a);
  return a;
}

static PyObject* unary(PyObject* a, Unary function, const char* name) {
  if (intercepting & kInterceptCalls) return overridden(name, a, NULL);
  libdl_tensor *x, *own = NULL, *out;
  const int result = operand(a, &x, &own);
  if (result) return no_operand(a, NULL, result, name, own);
  libdl_error* error;
  if (is_long(x, x)) {
    PyThreadState* const thread = leave_python();
    error = function(x, &out);
    enter_python(thread);
  } else {
    error = function(x, &out);
  }
  pending_work = 0;
  return error ? raise_error(error) : wrap(out);
}

#define BINARY_CALL(x, y, out, name) libdl_##name(x, y, out)
#define ALPHA_CALL(x, y, out, name) libdl_##name(x, y, NULL, out)
#define DIV_CALL(x, y, out, name) libdl_##name(x, y, NULL, 0, out)

// OPERATOR(slot, dunder, function, call, commutes)
#define OPERATORS(X)                                            \
  X(add, "add", add, ALPHA_CALL, true)                          \
  X(subtract, "sub", sub, ALPHA_CALL, false)                    \
  X(multiply, "mul", mul, BINARY_CALL, true)                    \
  X(true_divide, "truediv", div, DIV_CALL, false)               \
  X(floor_divide, "floordiv", floor_divide, BINARY_CALL, false) \
  X(remainder, "mod", remainder, BINARY_CALL, false)            \
  X(and, "and", bitwise_and, BINARY_CALL, true)                 \
  X(or, "or", bitwise_or, BINARY_CALL, true)                    \
  X(xor, "xor", bitwise_xor, BINARY_CALL, true)                 \
  X(lshift, "lshift", bitwise_left_shift, BINARY_CALL, false)   \
  X(rshift, "rshift", bitwise_right_shift, BINARY_CALL, false)

#define DEFINE(slot, dunder, name, call, commutes)                                  \
  static libdl_error* slot##_function(const libdl_tensor* x, const libdl_tensor* y, \
                                      libdl_tensor** out) {                         \
    return call(x, y, out, name);                                                   \
  }                                                                                 \
  static libdl_error* slot##_into(const libdl_tensor* x, const libdl_tensor* y,     \
                                  libdl_tensor* dst) {                              \
    return call(x, y, dst, name##_into);                                            \
  }                                                                                 \
  static PyObject* slot##_slot(PyObject* a, PyObject* b) {                          \
    return binary(a, b, slot##_function, "__" dunder "__", commutes);               \
  }                                                                                 \
  static PyObject* slot##_in_place_slot(PyObject* a, PyObject* b) {                 \
    return in_place(a, b, slot##_into, "__i" dunder "__", #name);                   \
  }

OPERATORS(DEFINE)

static PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(a, b, libdl_pow, "__pow__", false);
}

static PyObject* power_in_place(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return in_place(a, b, libdl_pow_into, "__ipow__", "pow");
}

static PyObject* matrix_multiply(PyObject* a, PyObject* b) {
  if (intercepting & kInterceptCalls) return overridden("__matmul__", a, b);
  if (!is_tensor(a) || !is_tensor(b)) {
    if (!overrides(a) && !overrides(b)) return no_operand(a, b, 1, "__matmul__", NULL);
    return overridden("__matmul__", a, b);
  }
  return binary(a, b, libdl_matmul, "__matmul__", false);
}

static PyObject* negative(PyObject* a) { return unary(a, libdl_neg, "__neg__"); }
static PyObject* absolute(PyObject* a) { return unary(a, libdl_abs, "__abs__"); }
static PyObject* invert(PyObject* a) { return unary(a, libdl_bitwise_not, "__invert__"); }

static PyObject* positive(PyObject* a) {
  if (is_seen(a)) return seen_operator("__pos__", a, NULL, NULL);
  Py_INCREF(a);
  return a;
}

PyObject* tensor_compare(PyObject* a, PyObject* b, int operation) {
  static const Binary functions[] = {
      [Py_LT] = libdl_lt, [Py_LE] = libdl_le, [Py_EQ] = libdl_eq,
      [Py_NE] = libdl_ne, [Py_GT] = libdl_gt, [Py_GE] = libdl_ge,
  };
  static const char* const dunders[] = {
      [Py_LT] = "__lt__", [Py_LE] = "__le__", [Py_EQ] = "__eq__",
      [Py_NE] = "__ne__", [Py_GT] = "__gt__", [Py_GE] = "__ge__",
  };
  return binary(a, b, functions[operation], dunders[operation], false);
}

// -- numbers out ----------------------------------------------------------------------------------

static PyObject* several_elements(const libdl_tensor* x) {
  char text[120];
  snprintf(text, sizeof text,
           "item: only one element tensors can be converted to Python scalars, found %lld elements",
           (long long)libdl_tensor_numel(x));
  return raise_error(libdl_error_new(LIBDL_ERROR_SHAPE, text, -1, NULL, NULL));
}

// A read of x, which waits for its device.
#define WAITING(statement)                             \
  do {                                                 \
    PyThreadState* const thread = leave_python_for(x); \
    statement;                                         \
    enter_python(thread);                              \
  } while (0)

// The only element as a Python number of its own kind.
PyObject* tensor_item(PyObject* self, PyObject* unused) {
  (void)unused;
  const libdl_tensor* const x = handle_of(self);
  if (libdl_tensor_numel(x) != 1) return several_elements(x);
  libdl_error* error;
  switch (libdl_tensor_dtype(x)) {
    case LIBDL_DTYPE_BOOL: {
      libdl_bool value;
      WAITING(error = libdl_item_bool(x, &value));
      return error ? raise_error(error) : PyBool_FromLong(value);
    }
    case LIBDL_DTYPE_UINT64: {
      uint64_t value;
      WAITING(error = libdl_item_u64(x, &value));
      return error ? raise_error(error) : PyLong_FromUnsignedLongLong(value);
    }
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16:
    case LIBDL_DTYPE_FLOAT32:
    case LIBDL_DTYPE_FLOAT64: {
      double value;
      WAITING(error = libdl_item_f64(x, &value));
      return error ? raise_error(error) : PyFloat_FromDouble(value);
    }
    case LIBDL_DTYPE_COMPLEX64:
    case LIBDL_DTYPE_COMPLEX128: {
      double real, imag;
      WAITING(error = libdl_item_c128(x, &real, &imag));
      return error ? raise_error(error) : PyComplex_FromDoubles(real, imag);
    }
    default: {
      int64_t value;
      WAITING(error = libdl_item_i64(x, &value));
      return error ? raise_error(error) : PyLong_FromLongLong(value);
    }
  }
}

static int truth_seen(PyObject* self) {
  PyObject* const answer = seen_operator("__bool__", self, NULL, NULL);
  if (!answer) return -1;
  const int truth = PyBool_Check(answer) ? answer == Py_True : -1;
  if (truth < 0)
    PyErr_Format(PyExc_TypeError, "__bool__ should return bool, returned %R",
                 (PyObject*)Py_TYPE(answer));
  Py_DECREF(answer);
  return truth;
}

static int truth(PyObject* self) {
  if (is_seen(self)) return truth_seen(self);
  const libdl_tensor* const x = handle_of(self);
  if (libdl_tensor_numel(x) != 1) {
    PyErr_Format(PyExc_RuntimeError,
                 "bool: the Boolean value of a tensor with %s is ambiguous (it has %lld elements): "
                 "use any() or all()",
                 libdl_tensor_numel(x) ? "more than one value" : "no values",
                 (long long)libdl_tensor_numel(x));
    return -1;
  }
  PyObject* const item = tensor_item(self, NULL);
  const int answer = item ? PyObject_IsTrue(item) : -1;
  Py_XDECREF(item);
  return answer;
}

// The real part of a complex number that has no other; steals the item.
static PyObject* real_item(PyObject* item) {
  if (!item || !PyComplex_Check(item)) return item;
  PyObject* answer = NULL;
  if (PyComplex_ImagAsDouble(item) == 0)
    answer = PyFloat_FromDouble(PyComplex_RealAsDouble(item));
  else
    raise_error(libdl_error_new(LIBDL_ERROR_DTYPE,
                                "a complex number with an imaginary part has no real value; take "
                                ".real",
                                -1, NULL, NULL));
  Py_DECREF(item);
  return answer;
}

static PyObject* converted(PyObject* self, PyObject* (*convert)(PyObject*)) {
  PyObject* const item = real_item(tensor_item(self, NULL));
  PyObject* const answer = item ? convert(item) : NULL;
  Py_XDECREF(item);
  return answer;
}

static PyObject* to_integer(PyObject* self) {
  if (is_seen(self)) return seen_operator("__int__", self, NULL, NULL);
  return converted(self, PyNumber_Long);
}

static PyObject* to_float(PyObject* self) {
  if (is_seen(self)) return seen_operator("__float__", self, NULL, NULL);
  return converted(self, PyNumber_Float);
}

static PyObject* to_index(PyObject* self) {
  if (is_seen(self)) return seen_operator("__index__", self, NULL, NULL);
  const libdl_tensor* const x = handle_of(self);
  const libdl_dtype dtype = libdl_tensor_dtype(x);
  if (dtype >= LIBDL_DTYPE_FLOAT16 || libdl_tensor_numel(x) != 1)
    return PyErr_Format(PyExc_TypeError,
                        "only integer tensors of one element can be an index, found %s with "
                        "%lld elements",
                        libdl_dtype_name(dtype), (long long)libdl_tensor_numel(x));
  return converted(self, PyNumber_Index);
}

#define SLOTS(slot, dunder, name, call, commutes) \
  {Py_nb_##slot, slot##_slot}, {Py_nb_inplace_##slot, slot##_in_place_slot},

PyType_Slot number_slots[] = {
    OPERATORS(SLOTS){Py_nb_power, power},
    {Py_nb_inplace_power, power_in_place},
    {Py_nb_matrix_multiply, matrix_multiply},
    {Py_nb_negative, negative},
    {Py_nb_positive, positive},
    {Py_nb_absolute, absolute},
    {Py_nb_invert, invert},
    {Py_nb_bool, truth},
    {Py_nb_int, to_integer},
    {Py_nb_float, to_float},
    {Py_nb_index, to_index},
};
int number_slot_count = sizeof number_slots / sizeof *number_slots;
