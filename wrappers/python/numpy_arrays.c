// SPDX-License-Identifier: Apache-2.0

// Memory shared with NumPy: Python's buffer protocol in both directions, and arrays made directly
// through NumPy's table of functions, which it promises to keep (no NumPy header is needed).
#include <libdl/exchange.h>

#include "objects.h"

typedef struct ElementKind {
  const char* format;  // of the buffer protocol; NULL: it has none
  int numpy;           // NumPy's type number on 64-bit Linux; -1: it has none
} ElementKind;

static const ElementKind kinds[] = {
    [LIBDL_DTYPE_BOOL] = {"?", 0},         [LIBDL_DTYPE_UINT8] = {"B", 2},
    [LIBDL_DTYPE_UINT16] = {"H", 4},       [LIBDL_DTYPE_UINT32] = {"I", 6},
    [LIBDL_DTYPE_UINT64] = {"L", 8},       [LIBDL_DTYPE_INT8] = {"b", 1},
    [LIBDL_DTYPE_INT16] = {"h", 3},        [LIBDL_DTYPE_INT32] = {"i", 5},
    [LIBDL_DTYPE_INT64] = {"l", 7},        [LIBDL_DTYPE_FLOAT16] = {"e", 23},
    [LIBDL_DTYPE_BFLOAT16] = {NULL, -1},   [LIBDL_DTYPE_FLOAT32] = {"f", 11},
    [LIBDL_DTYPE_FLOAT64] = {"d", 12},     [LIBDL_DTYPE_COMPLEX64] = {"Zf", 14},
    [LIBDL_DTYPE_COMPLEX128] = {"Zd", 15},
};

// -- out ------------------------------------------------------------------------------------------

// Access to the bytes, for writing where that is allowed.
static libdl_error* map(const libdl_tensor* x, bool* writable, void** data, libdl_mapping** out) {
  if (*writable && !libdl_tensor_is_number(x)) {
    libdl_error* const error = libdl_tensor_map(x, LIBDL_ACCESS_WRITE, data, out);
    if (!error || libdl_error_get_code(error) != LIBDL_ERROR_READ_ONLY) return error;
    libdl_error_release(error);
  }
  *writable = false;
  return libdl_tensor_map(x, LIBDL_ACCESS_READ, data, out);
}

static void byte_strides(const libdl_tensor* x, Py_ssize_t* strides) {
  const int64_t size = libdl_dtype_size(libdl_tensor_dtype(x));
  for (int32_t i = 0; i < libdl_tensor_ndim(x); ++i)
    strides[i] = (Py_ssize_t)(libdl_tensor_strides(x)[i] * size);
}

static bool row_major(const libdl_tensor* x) { return libdl_tensor_is_contiguous(x); }

static int refuse_buffer(Py_buffer* view, const char* why) {
  view->obj = NULL;
  PyErr_SetString(PyExc_BufferError, why);
  return -1;
}

int tensor_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const libdl_tensor* const x = handle_of(self);
  const ElementKind kind = kinds[libdl_tensor_dtype(x)];
  if (!kind.format) return refuse_buffer(view, "the buffer protocol knows no bfloat16");
  const bool wants_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if (!wants_strides && !row_major(x))
    return refuse_buffer(view, "the tensor is not contiguous, and no strides were asked for");
  // NumPy asks for the buffer before __array__, and would compute without history.
  if (libdl_tensor_requires_grad(x))
    return refuse_buffer(view, "the tensor requires grad: export its detach()");
  bool writable = true;
  void* data;
  libdl_mapping* mapping;
  libdl_error* const error = map(x, &writable, &data, &mapping);
  if (error) {
    raise_error(error);
    view->obj = NULL;
    return -1;
  }
  const int32_t ndim = libdl_tensor_ndim(x);
  Py_ssize_t* const strides = PyMem_Malloc(sizeof *strides * (size_t)(ndim ? ndim : 1));
  if (!strides || ((flags & PyBUF_WRITABLE) && !writable)) {
    libdl_tensor_unmap(mapping);
    PyMem_Free(strides);
    return refuse_buffer(view, strides ? "the tensor is read-only" : "no memory for the strides");
  }
  byte_strides(x, strides);
  const bool wants_shape = (flags & PyBUF_ND) == PyBUF_ND;
  *view = (Py_buffer){
      .buf = data,
      .obj = self,
      .len = (Py_ssize_t)(libdl_tensor_numel(x) * libdl_dtype_size(libdl_tensor_dtype(x))),
      .itemsize = (Py_ssize_t)libdl_dtype_size(libdl_tensor_dtype(x)),
      .readonly = !writable,
      .ndim = wants_shape ? ndim : 1,
      .format = flags & PyBUF_FORMAT ? (char*)kind.format : NULL,
      .shape = wants_shape ? (Py_ssize_t*)libdl_tensor_shape(x) : NULL,
      .strides = wants_strides ? strides : NULL,
      .internal = mapping,
  };
  if (!wants_strides) PyMem_Free(strides);
  Py_INCREF(self);
  return 0;
}

void tensor_release_buffer(PyObject* self, Py_buffer* view) {
  (void)self;
  PyMem_Free(view->strides);
  libdl_tensor_unmap(view->internal);
}

enum { kArrayType = 2, kArrayNew = 93, kArraySetBase = 282, kWriteable = 0x0400 };
static void** numpy_table;

static int find_numpy(void) {
  PyObject* module = PyImport_ImportModule("numpy._core._multiarray_umath");
  if (!module && PyErr_ExceptionMatches(PyExc_ImportError)) {  // NumPy 1
    PyErr_Clear();
    module = PyImport_ImportModule("numpy.core._multiarray_umath");
  }
  PyObject* const table = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
  Py_XDECREF(module);
  if (table) numpy_table = PyCapsule_GetPointer(table, NULL);
  Py_XDECREF(table);  // NumPy keeps it
  return numpy_table ? 0 : -1;
}

static void end_mapping(PyObject* object) {
  libdl_tensor_unmap(PyCapsule_GetPointer(object, "libdl_mapping"));
}

static PyObject* array_over(const libdl_tensor* x, bool writable, libdl_mapping* mapping,
                            void* data) {
  typedef PyObject* (*New)(void*, int, const Py_ssize_t*, int, const Py_ssize_t*, void*, int, int,
                           PyObject*);
  typedef int (*SetBase)(PyObject*, PyObject*);
  static char nothing[16];
  PyObject* const base = PyCapsule_New(mapping, "libdl_mapping", end_mapping);
  if (!base) {
    libdl_tensor_unmap(mapping);
    return NULL;
  }
  Py_ssize_t strides[64];
  byte_strides(x, strides);
  // Without elements there may be no address, and NumPy would then allocate.
  PyObject* const array = ((New)numpy_table[kArrayNew])(
      numpy_table[kArrayType], libdl_tensor_ndim(x), (const Py_ssize_t*)libdl_tensor_shape(x),
      kinds[libdl_tensor_dtype(x)].numpy, strides, data ? data : nothing, 0,
      writable ? kWriteable : 0, NULL);
  if (!array) {
    Py_DECREF(base);
    return NULL;
  }
  if (((SetBase)numpy_table[kArraySetBase])(array, base)) {  // steals the base
    Py_DECREF(array);
    return NULL;
  }
  return array;
}

PyObject* tensor_numpy(PyObject* self, PyObject* args, PyObject* keywords) {
  int force = 0;
  if (keywords || PyTuple_Size(args)) {
    static char* names[] = {"force", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$p:numpy", names, &force)) return NULL;
  }
  const libdl_tensor* const x = handle_of(self);
  const int32_t device = libdl_tensor_device(x).type;
  if (device != LIBDL_DEVICE_CPU)
    return PyErr_Format(PyExc_TypeError,
                        "numpy: can't convert %s device type tensor to numpy. Use Tensor.cpu() to "
                        "copy the tensor to host memory first.",
                        libdl_device_type_name(device));
  if (!numpy_table && find_numpy()) return NULL;
  if (kinds[libdl_tensor_dtype(x)].numpy < 0)
    return PyErr_Format(PyExc_TypeError, "numpy: NumPy has no %s; convert with .float()",
                        libdl_dtype_name(libdl_tensor_dtype(x)));
  // Under no_grad() the array is that of detach(): nothing it is used for would be recorded.
  const bool recorded = libdl_tensor_requires_grad(x) && libdl_grad_enabled();
  if (!force && recorded)
    return PyErr_Format(PyExc_RuntimeError,
                        "numpy: can't call numpy() on a tensor that requires grad; use "
                        "tensor.detach().numpy() instead");
  bool writable = !recorded;
  void* data;
  libdl_mapping* mapping;
  libdl_error* const error = map(x, &writable, &data, &mapping);
  return error ? raise_error(error) : array_over(x, writable, mapping, data);
}

// -- in -------------------------------------------------------------------------------------------

static libdl_dtype dtype_of_format(const char* format, Py_ssize_t size) {
  if (!format) return LIBDL_DTYPE_UINT8;
  if (*format == '=' || *format == '<' || *format == '@') ++format;
  const bool complex = *format == 'Z';
  const char code = format[complex];
  if (!code || format[complex + 1]) return LIBDL_DTYPE_NONE;
  if (complex)
    return code == 'f'   ? LIBDL_DTYPE_COMPLEX64
           : code == 'd' ? LIBDL_DTYPE_COMPLEX128
                         : LIBDL_DTYPE_NONE;
  if (code == '?') return LIBDL_DTYPE_BOOL;
  if (code == 'e') return LIBDL_DTYPE_FLOAT16;
  if (code == 'f') return LIBDL_DTYPE_FLOAT32;
  if (code == 'd') return LIBDL_DTYPE_FLOAT64;
  const bool is_signed = strchr("bhilqn", code) != NULL;
  if (!is_signed && !strchr("BHILQN", code)) return LIBDL_DTYPE_NONE;
  const libdl_dtype first = is_signed ? LIBDL_DTYPE_INT8 : LIBDL_DTYPE_UINT8;
  switch (size) {
    case 1: return first;
    case 2: return first + 1;
    case 4: return first + 2;
    case 8: return first + 3;
    default: return LIBDL_DTYPE_NONE;
  }
}

static void release_view(void* ctx) {
  Py_buffer* const view = ctx;
  if (!Py_IsInitialized()) return;  // the interpreter took its objects with it
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyBuffer_Release(view);
  PyMem_Free(view);
  PyGILState_Release(gil);
}

// The bytes that a geometry spans, and where its first element lies in them.
static void span(const Py_buffer* view, int64_t* before, int64_t* bytes) {
  int64_t low = 0, high = 0;
  for (int i = 0; i < view->ndim; ++i) {
    if (view->shape[i] == 0) {
      *before = *bytes = 0;
      return;
    }
    const int64_t reach = (view->shape[i] - 1) * view->strides[i];
    *(reach < 0 ? &low : &high) += reach;
  }
  *before = -low;
  *bytes = high - low + view->itemsize;
}

// Strides in elements; false if one is no multiple of them. That of a dimension without a second
// element says nothing: it is kept if it may be, or follows from the next dimension's.
static bool steps_in_elements(const Py_buffer* view, int64_t* strides) {
  int64_t behind = 1;
  for (int i = view->ndim; i-- > 0;) {
    const bool steps = view->shape[i] > 1, whole = view->strides[i] % view->itemsize == 0;
    if (steps && !whole) return false;
    const bool kept = steps || (whole && view->strides[i] >= 0);
    strides[i] = kept ? view->strides[i] / view->itemsize : behind;
    const int64_t size = steps ? view->shape[i] : 1;
    if (__builtin_mul_overflow(strides[i], size, &behind) || behind < 0) behind = 1;
  }
  return true;
}

static PyObject* tensor_over(Py_buffer* view) {
  const libdl_dtype dtype = dtype_of_format(view->format, view->itemsize);
  int64_t strides[64];
  const char* problem = dtype == LIBDL_DTYPE_NONE ? "no dtype has the buffer's format"
                        : view->ndim > 64         ? "more than 64 dimensions"
                                                  : NULL;
  // NumPy's datetime64 hands out a buffer without the strides that were asked for.
  if (!problem && view->ndim && (!view->shape || !view->strides))
    problem = "a buffer without shape and strides";
  if (!problem && !steps_in_elements(view, strides))
    problem = "strides that are no multiple of an element";
  const bool swapped = dtype == LIBDL_DTYPE_NONE && view->format && view->format[0] == '>';
  if (swapped) {
    PyErr_Format(PyExc_ValueError,
                 "from_numpy: the array's byte order (%s) is not this machine's, wanted "
                 "x.astype(x.dtype.newbyteorder('='))",
                 view->format);
  } else if (problem) {
    PyErr_Format(PyExc_TypeError, "from_numpy: %s (%s)", problem,
                 view->format ? view->format : "B");
  }
  if (problem) {
    release_view(view);
    return NULL;
  }
  int64_t before, bytes;
  span(view, &before, &bytes);
  libdl_tensor* out;
  libdl_error* const error = libdl_tensor_from_memory(
      (char*)view->buf - before, bytes, (const int64_t*)view->shape, view->ndim, strides,
      view->ndim, before / view->itemsize, dtype, view->readonly, view, release_view, &out);
  return error ? raise_error(error) : wrap(out);
}

// The public head of every NumPy array, the same in NumPy 1 and 2.
typedef struct ArrayHead {
  PyObject_HEAD char* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides;  // in bytes
  PyObject* base;
  struct {
    PyObject_HEAD PyTypeObject* type;
    char kind, letter, byte_order, flags;
    int number;
  }* dtype;
  int flags;
} ArrayHead;

static libdl_dtype dtype_of_number(int number) {
  if (number == 9) number = 7;  // long long is long on 64-bit Linux
  if (number == 10) number = 8;
  for (libdl_dtype code = LIBDL_DTYPE_BOOL; code <= LIBDL_DTYPE_COMPLEX128; ++code)
    if (kinds[code].numpy == number) return code;
  return LIBDL_DTYPE_NONE;
}

// NumPy's table is looked for when its first array comes along.
static bool comes_from_numpy(PyObject* object) {
  PyObject* const module = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__module__");
  const bool is_numpy = module && PyUnicode_Check(module) &&
                        PyUnicode_CompareWithASCIIString(module, "numpy") == 0 && !find_numpy();
  Py_XDECREF(module);
  PyErr_Clear();
  return is_numpy;
}

bool is_numpy_array(PyObject* object) {
  return (numpy_table || comes_from_numpy(object)) &&
         (void*)Py_TYPE(object) == numpy_table[kArrayType];
}

// A tensor over an array that is exactly NumPy's, or NULL without an exception: ask its buffer.
PyObject* from_array(PyObject* object) {
  if (!is_numpy_array(object)) return NULL;
  const ArrayHead* const array = (const ArrayHead*)object;
  const libdl_dtype dtype = dtype_of_number(array->dtype->number);
  if (dtype == LIBDL_DTYPE_NONE || array->dtype->byte_order == '>' || array->ndim > 64) return NULL;
  const int64_t size = libdl_dtype_size(dtype);
  int64_t strides[64];
  const Py_buffer view = {.itemsize = (Py_ssize_t)size,
                          .ndim = array->ndim,
                          .shape = array->shape,
                          .strides = array->strides};
  if (!steps_in_elements(&view, strides)) return NULL;
  int64_t before, bytes;
  span(&view, &before, &bytes);
  Py_INCREF(object);
  libdl_tensor* out;
  libdl_error* const error = libdl_tensor_from_memory(
      array->data - before, bytes, (const int64_t*)array->shape, array->ndim, strides, array->ndim,
      before / size, dtype, !(array->flags & kWriteable), object, forget_object, &out);
  return error ? raise_error(error) : wrap(out);
}

PyObject* from_numpy(PyObject* module, PyObject* object) {
  PyObject* const result = from_array(object);
  if (result || PyErr_Occurred()) return result;
  if (PyObject_HasAttrString(object, "__array_interface__")) return from_buffer(module, object);
  return PyErr_Format(PyExc_TypeError, "from_numpy: found a %R, wanted a numpy.ndarray",
                      (PyObject*)Py_TYPE(object));
}

// NumPy hands out no buffer of dates, with an error that knows nothing of tensors.
static void refuse_dates(PyObject* object) {
  if (!PyErr_ExceptionMatches(PyExc_ValueError)) return;
  PyErr_Clear();
  PyObject* const dtype = PyObject_GetAttrString(object, "dtype");
  if (!dtype) return;
  PyErr_Format(PyExc_TypeError, "from_numpy: no dtype has the elements of an array of %S", dtype);
  Py_DECREF(dtype);
}

PyObject* from_buffer(PyObject* module, PyObject* object) {
  (void)module;
  PyObject* const result = from_array(object);
  if (result || PyErr_Occurred()) return result;
  Py_buffer* const view = PyMem_Malloc(sizeof *view);
  if (!view) return PyErr_NoMemory();
  if (PyObject_GetBuffer(object, view, PyBUF_RECORDS)) {
    PyErr_Clear();
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO)) {
      PyMem_Free(view);
      PyErr_Clear();
      if (PyObject_HasAttrString(object, "__array_interface__")) refuse_dates(object);
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "from_numpy: found a %R without a buffer, wanted a numpy.ndarray",
                     (PyObject*)Py_TYPE(object));
      return NULL;
    }
  }
  return tensor_over(view);
}
