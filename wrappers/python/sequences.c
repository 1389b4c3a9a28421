// SPDX-License-Identifier: Apache-2.0

// Nested lists of Python's numbers in, and out again: tensor([[1.0, 2.0]]) and tolist().
#include <fenv.h>
#include <libdl/exchange.h>

#include "objects.h"

// Ranks of Python's number classes: the highest of a list decides its dtype.
enum { kBool, kInteger, kReal, kComplex, kOther };

static int rank_of(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type == &PyFloat_Type) return kReal;
  if (type == &PyLong_Type) return kInteger;
  if (type == &PyBool_Type) return kBool;
  return type == &PyComplex_Type ? kComplex : kOther;
}

static inline bool is_list(PyObject* object) {
  return Py_TYPE(object) == &PyList_Type || Py_TYPE(object) == &PyTuple_Type;
}

static inline Py_ssize_t length(PyObject* list) {
  return Py_TYPE(list) == &PyList_Type ? PyList_Size(list) : PyTuple_Size(list);
}

static inline PyObject* entry(PyObject* list, Py_ssize_t i) {  // borrowed
  return Py_TYPE(list) == &PyList_Type ? PyList_GetItem(list, i) : PyTuple_GetItem(list, i);
}

// -- in -------------------------------------------------------------------------------------------

typedef struct Nest {
  int64_t shape[64];
  int32_t ndim;
  int rank;
  char* next;  // where the next element is written
  libdl_dtype dtype;
} Nest;

// The sizes along the first entries. false: nothing that is read here.
static bool measure(PyObject* list, Nest* nest) {
  for (; is_list(list); list = entry(list, 0)) {
    if (nest->ndim == 64) return false;
    const Py_ssize_t count = length(list);
    nest->shape[nest->ndim++] = count;
    if (count == 0) return true;
  }
  return true;
}

// Whether all lists have the sizes of the first ones, and hold Python's own numbers.
static bool rank_all(PyObject* list, int32_t depth, Nest* nest) {
  const Py_ssize_t count = length(list);
  if (count != nest->shape[depth]) return false;
  const bool last = depth + 1 == nest->ndim;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = entry(list, i);
    if (!last) {
      if (!is_list(item) || !rank_all(item, depth + 1, nest)) return false;
      continue;
    }
    const int rank = rank_of(item);
    if (rank == kOther) return false;
    if (rank > nest->rank) nest->rank = rank;
  }
  return true;
}

static int does_not_fit(PyObject* item, libdl_dtype dtype) {
  PyErr_Clear();
  PyObject* const text = PyUnicode_FromFormat("tensor: %S does not fit into %s without overflow",
                                              item, libdl_dtype_name(dtype));
  const char* const bytes = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  if (bytes) raise_error(libdl_error_new(LIBDL_ERROR_VALUE, bytes, -1, NULL, NULL));
  Py_XDECREF(text);
  return -1;
}

// An integer for a dtype that holds `low` to `high`. As in PyTorch, unsigned dtypes take negative
// numbers whose magnitude they hold, and wrap them.
static int whole(PyObject* item, libdl_dtype dtype, int64_t low, int64_t high, int64_t* value) {
  if (Py_TYPE(item) == &PyFloat_Type) {
    const double number = PyFloat_AsDouble(item);
    // 2^63 as a double is just above what int64 holds. Fractions do not wrap.
    if (!(number >= (double)low && number < 9223372036854775808.0))
      return does_not_fit(item, dtype);
    *value = (int64_t)number;
  } else {
    *value = PyLong_AsLongLong(item);
    if (*value == -1 && PyErr_Occurred()) return does_not_fit(item, dtype);
  }
  return *value >= (low ? low : -high) && *value <= high ? 0 : does_not_fit(item, dtype);
}

// The same for uint64, whose upper half int64 does not hold.
static int whole_unsigned(PyObject* item, uint64_t* value) {
  if (PyLong_Check(item)) {
    *value = PyLong_AsUnsignedLongLong(item);
    if (*value != (uint64_t)-1 || !PyErr_Occurred()) return 0;
    return does_not_fit(item, LIBDL_DTYPE_UINT64);
  }
  int64_t small;
  const int failed = whole(item, LIBDL_DTYPE_UINT64, 0, INT64_MAX, &small);
  *value = (uint64_t)small;
  return failed;
}

#define STORE(type, value)                      \
  do {                                          \
    const type stored = (type)(value);          \
    memcpy(nest->next, &stored, sizeof stored); \
    nest->next += sizeof stored;                \
  } while (0)

#define WHOLE(code, type, low, high)                       \
  case code:                                               \
    if (whole(item, code, low, high, &integer)) return -1; \
    STORE(type, integer);                                  \
    return 0;

static int store(PyObject* item, Nest* nest) {
  int64_t integer;
  switch (nest->dtype) {
    WHOLE(LIBDL_DTYPE_INT64, int64_t, INT64_MIN, INT64_MAX)
    WHOLE(LIBDL_DTYPE_INT32, int32_t, INT32_MIN, INT32_MAX)
    WHOLE(LIBDL_DTYPE_INT16, int16_t, INT16_MIN, INT16_MAX)
    WHOLE(LIBDL_DTYPE_INT8, int8_t, INT8_MIN, INT8_MAX)
    case LIBDL_DTYPE_UINT64: {
      uint64_t large;
      if (whole_unsigned(item, &large)) return -1;
      STORE(uint64_t, large);
      return 0;
    }
      WHOLE(LIBDL_DTYPE_UINT32, uint32_t, 0, UINT32_MAX)
      WHOLE(LIBDL_DTYPE_UINT16, uint16_t, 0, UINT16_MAX)
      WHOLE(LIBDL_DTYPE_UINT8, uint8_t, 0, UINT8_MAX)
    case LIBDL_DTYPE_BOOL: {
      const int truth = PyObject_IsTrue(item);
      STORE(uint8_t, truth);
      return truth < 0 ? -1 : 0;
    }
    case LIBDL_DTYPE_COMPLEX64:
    case LIBDL_DTYPE_COMPLEX128: {
      const double real = PyComplex_RealAsDouble(item), imag = PyComplex_ImagAsDouble(item);
      if (nest->dtype == LIBDL_DTYPE_COMPLEX64) {
        STORE(float, real);
        STORE(float, imag);
      } else {
        STORE(double, real);
        STORE(double, imag);
      }
      return real == -1.0 && PyErr_Occurred() ? -1 : 0;
    }
    default: {
      const double real = PyFloat_AsDouble(item);
      if (nest->dtype == LIBDL_DTYPE_FLOAT32)
        STORE(float, real);
      else
        STORE(double, real);
      return real == -1.0 && PyErr_Occurred() ? -1 : 0;
    }
  }
}

static int store_all(PyObject* list, int32_t depth, Nest* nest) {
  const Py_ssize_t count = nest->shape[depth];
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = entry(list, i);
    if (depth + 1 == nest->ndim ? store(item, nest) : store_all(item, depth + 1, nest)) return -1;
  }
  return 0;
}

static libdl_dtype dtype_of_rank(int rank) {
  const libdl_dtype real = libdl_default_dtype();
  switch (rank) {
    case kBool: return LIBDL_DTYPE_BOOL;
    case kInteger: return LIBDL_DTYPE_INT64;
    case kReal: return real;
    default: return real == LIBDL_DTYPE_FLOAT64 ? LIBDL_DTYPE_COMPLEX128 : LIBDL_DTYPE_COMPLEX64;
  }
}

// The dtype in which numbers are written down: others are converted from it.
static libdl_dtype written_dtype(libdl_dtype dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16: return LIBDL_DTYPE_FLOAT64;
    default: return dtype;
  }
}

static libdl_error* tensor_of(const Nest* nest, const Integers* shape, const void* data,
                              int64_t bytes, libdl_dtype dtype, libdl_tensor** out) {
  libdl_error* error = libdl_empty(shape->items, shape->count, nest->dtype, NULL, out);
  if (error) return error;
  error = libdl_tensor_copy_in(*out, data, bytes);
  libdl_tensor* const tensor = *out;
  if (!error && nest->dtype == dtype) return NULL;
  if (!error) error = libdl_to(tensor, dtype, NULL, false, false, out);
  libdl_tensor_release(tensor);
  return error;
}

// from_sequence(list, dtype[, shape]): a tensor of nested lists and tuples that hold nothing but
// Python's own numbers; None where they hold anything else, or have different lengths. With a shape
// the list is flat, and has as many numbers.
static PyObject* from_sequence(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  Nest nest = {.rank = kBool};
  libdl_dtype dtype;
  if (count < 2 || count > 3 || !is_list(args[0]) || dtype_code(args[1], &dtype)) {
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
  }
  if (!measure(args[0], &nest) || !rank_all(args[0], 0, &nest)) Py_RETURN_NONE;
  int64_t numel = 1;
  for (int32_t i = 0; i < nest.ndim; ++i) numel *= nest.shape[i];
  if (dtype == LIBDL_DTYPE_NONE) dtype = dtype_of_rank(numel ? nest.rank : kReal);
  nest.dtype = written_dtype(dtype);
  const bool is_complex = dtype == LIBDL_DTYPE_COMPLEX64 || dtype == LIBDL_DTYPE_COMPLEX128;
  if (nest.rank == kComplex && !is_complex) Py_RETURN_NONE;
  Integers shape = {.items = nest.shape, .count = nest.ndim};
  if (count == 3 && integers(args[2], &shape)) return NULL;
  char few[512];
  const int64_t bytes = numel * libdl_dtype_size(nest.dtype);
  char* const data = bytes > (int64_t)sizeof few ? PyMem_Malloc((size_t)bytes) : few;
  nest.next = data;
  libdl_tensor* tensor = NULL;
  libdl_error* error = NULL;
  if (!data) PyErr_NoMemory();
  const int rounding = fegetround();  // the host's; floats are rounded to nearest
  if (rounding != FE_TONEAREST) fesetround(FE_TONEAREST);
  const int failed = !data || store_all(args[0], 0, &nest);
  if (rounding != FE_TONEAREST) fesetround(rounding);
  if (!failed) error = tensor_of(&nest, &shape, data, bytes, dtype, &tensor);
  if (data != few) PyMem_Free(data);
  if (count == 3) free_integers(&shape);
  if (failed) return NULL;
  return error ? raise_error(error) : wrap(tensor);
}

// -- out ------------------------------------------------------------------------------------------

#define READ(type, make)                 \
  {                                      \
    type value;                          \
    memcpy(&value, *data, sizeof value); \
    *data += sizeof value;               \
    return make(value);                  \
  }

static PyObject* number_at(const char** data, libdl_dtype dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_BOOL: READ(uint8_t, PyBool_FromLong)
    case LIBDL_DTYPE_UINT8: READ(uint8_t, PyLong_FromLong)
    case LIBDL_DTYPE_UINT16: READ(uint16_t, PyLong_FromLong)
    case LIBDL_DTYPE_UINT32: READ(uint32_t, PyLong_FromLongLong)
    case LIBDL_DTYPE_UINT64: READ(uint64_t, PyLong_FromUnsignedLongLong)
    case LIBDL_DTYPE_INT8: READ(int8_t, PyLong_FromLong)
    case LIBDL_DTYPE_INT16: READ(int16_t, PyLong_FromLong)
    case LIBDL_DTYPE_INT32: READ(int32_t, PyLong_FromLong)
    case LIBDL_DTYPE_INT64: READ(int64_t, PyLong_FromLongLong)
    case LIBDL_DTYPE_FLOAT32: READ(float, PyFloat_FromDouble)
    case LIBDL_DTYPE_FLOAT64: READ(double, PyFloat_FromDouble)
    default: {
      double parts[2];
      memcpy(parts, *data, sizeof parts);
      *data += sizeof parts;
      return PyComplex_FromDoubles(parts[0], parts[1]);
    }
  }
}

// Lists of the commonest numbers, without a choice for each.
#define ROW(type, make)                                           \
  for (Py_ssize_t i = 0; i < count; ++i, *data += sizeof(type)) { \
    type value;                                                   \
    memcpy(&value, *data, sizeof value);                          \
    PyObject* const item = make(value);                           \
    if (!item || PyList_SetItem(list, i, item)) return -1;        \
  }                                                               \
  return 0;

static int row(PyObject* list, Py_ssize_t count, libdl_dtype dtype, const char** data) {
  switch (dtype) {
    case LIBDL_DTYPE_INT64: ROW(int64_t, PyLong_FromLongLong)
    case LIBDL_DTYPE_FLOAT32: ROW(float, PyFloat_FromDouble)
    case LIBDL_DTYPE_FLOAT64: ROW(double, PyFloat_FromDouble)
    default:
      for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const item = number_at(data, dtype);
        if (!item || PyList_SetItem(list, i, item)) return -1;
      }
      return 0;
  }
}

static PyObject* lists(const libdl_tensor* x, int32_t dim, libdl_dtype dtype, const char** data) {
  if (dim == libdl_tensor_ndim(x)) return number_at(data, dtype);
  const Py_ssize_t count = (Py_ssize_t)libdl_tensor_shape(x)[dim];
  PyObject* list = PyList_New(count);
  if (list && dim + 1 == libdl_tensor_ndim(x)) {
    if (row(list, count, dtype, data)) Py_CLEAR(list);
    return list;
  }
  for (Py_ssize_t i = 0; list && i < count; ++i) {
    PyObject* const item = lists(x, dim + 1, dtype, data);
    if (!item || PyList_SetItem(list, i, item)) Py_CLEAR(list);
  }
  return list;
}

// The dtype in which elements are read: the next one that Python has numbers of.
static libdl_dtype read_dtype(libdl_dtype dtype) {
  switch (dtype) {
    case LIBDL_DTYPE_FLOAT16:
    case LIBDL_DTYPE_BFLOAT16: return LIBDL_DTYPE_FLOAT32;
    case LIBDL_DTYPE_COMPLEX64: return LIBDL_DTYPE_COMPLEX128;
    default: return dtype;
  }
}

PyObject* tensor_to_list(PyObject* self, PyObject* unused) {
  (void)unused;
  libdl_tensor* const x = handle_of(self);
  const libdl_dtype dtype = read_dtype(libdl_tensor_dtype(x));
  char few[512];
  const int64_t bytes = libdl_tensor_numel(x) * libdl_dtype_size(dtype);
  char* const data = bytes > (int64_t)sizeof few ? PyMem_Malloc((size_t)bytes) : few;
  if (!data) return PyErr_NoMemory();
  libdl_tensor* wide = NULL;
  libdl_error* error = NULL;
  PyThreadState* const thread = leave_python_for(x);
  if (dtype != libdl_tensor_dtype(x)) error = libdl_to(x, dtype, NULL, false, false, &wide);
  if (!error) error = libdl_tensor_copy_out(wide ? wide : x, data, bytes);
  libdl_tensor_release(wide);
  enter_python(thread);
  const char* next = data;
  PyObject* const result = error ? NULL : lists(x, 0, dtype, &next);
  if (data != few) PyMem_Free(data);
  return error ? raise_error(error) : result;
}

static PyMethodDef functions[] = {
    {"from_sequence", (PyCFunction)(void (*)(void))from_sequence, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

int add_sequences(PyObject* module) { return PyModule_AddFunctions(module, functions); }
