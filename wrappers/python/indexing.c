// SPDX-License-Identifier: Apache-2.0

// x[key] and x[key] = value. Integers, slices, None and the Ellipsis become views one after the
// other; masks and index tensors are collected and go to libdl_index at the end.
#include "objects.h"

typedef struct Walk {
  libdl_tensor* view;      // owned
  int32_t dim;             // of the view: where the next key applies
  libdl_tensor** indices;  // owned entries, one a dimension of the view, NULL: the whole of it
  int32_t count;           // dimensions up to the last index tensor
} Walk;

static int fail(libdl_error* error) {
  raise_error_of(error, "x[...]");
  return -1;
}

// Goes on with the view that a call put into *next.
static int step(Walk* walk, libdl_error* error, libdl_tensor** next) {
  if (error) return fail(error);
  libdl_tensor_release(walk->view);
  walk->view = *next;
  return 0;
}

static int scalar_index(void) {
  PyErr_SetString(PyExc_IndexError,
                  "x[...]: too many indices for the tensor's dimensions (the element of a 0-d "
                  "tensor is x.item())");
  return -1;
}

static int select_one(Walk* walk, int64_t index) {
  if (walk->dim >= libdl_tensor_ndim(walk->view)) return scalar_index();
  libdl_tensor* next;
  return step(walk, libdl_select(walk->view, walk->dim, index, &next), &next);
}

static int insert_one(Walk* walk) {
  libdl_tensor* next;
  if (step(walk, libdl_unsqueeze(walk->view, walk->dim, &next), &next)) return -1;
  ++walk->dim;
  return 0;
}

static int slice(Walk* walk, PyObject* key) {
  if (walk->dim >= libdl_tensor_ndim(walk->view)) return scalar_index();
  Py_ssize_t start, stop, stride;
  if (PySlice_Unpack(key, &start, &stop, &stride)) return -1;
  if (stride <= 0) {
    PyErr_SetString(PyExc_ValueError, "x[...]: a slice's step must be positive; see libdl.flip");
    return -1;
  }
  if (start == 0 && stride == 1 && stop == PY_SSIZE_T_MAX) {  // all of it
    ++walk->dim;
    return 0;
  }
  const int64_t from = start, to = stop;
  libdl_tensor* next;
  if (step(walk, libdl_slice(walk->view, walk->dim, &from, &to, stride, &next), &next)) return -1;
  ++walk->dim;
  return 0;
}

// Takes the index over.
static int collect(Walk* walk, libdl_tensor* index, int32_t dims) {
  if (!walk->indices) {
    walk->indices = PyMem_Calloc(2 * 64 + 2, sizeof *walk->indices);
    if (!walk->indices) {
      libdl_tensor_release(index);
      PyErr_NoMemory();
      return -1;
    }
  }
  walk->indices[walk->dim] = index;
  walk->dim += dims;
  walk->count = walk->dim;
  return 0;
}

// A mask for several dimensions is one entry of libdl_index; here the dimensions behind its first
// are closed up afterwards.
static int collect_mask(Walk* walk, libdl_tensor* mask) {
  const int32_t dims = libdl_tensor_ndim(mask);
  const int32_t left = libdl_tensor_ndim(walk->view) - walk->dim;
  if (dims > left) {
    libdl_tensor_release(mask);
    PyErr_Format(PyExc_IndexError, "x[...]: a mask of %d dimensions, where the tensor has %d left",
                 (int)dims, (int)left);
    return -1;
  }
  for (int32_t i = 0; i < dims; ++i) {
    const int64_t expected = libdl_tensor_shape(walk->view)[walk->dim + i];
    const int64_t size = libdl_tensor_shape(mask)[i];
    if (size == expected) continue;
    libdl_tensor_release(mask);
    PyErr_Format(
        PyExc_IndexError,
        "x[...]: the shape of the mask does not match: dimension %d of it has %lld entries, "
        "wanted %lld",
        (int)i, (long long)size, (long long)expected);
    return -1;
  }
  return collect(walk, mask, dims);
}

// A new dimension, indexed by one 0 or by nothing: truths broadcast with each other and with index
// tensors, so that several of them make one dimension.
static int truth_value(Walk* walk, bool value) {
  const int64_t count = value;
  libdl_tensor* index;
  if (insert_one(walk)) return -1;
  --walk->dim;
  libdl_error* const error = libdl_zeros(&count, 1, LIBDL_DTYPE_INT64, NULL, &index);
  return error ? fail(error) : collect(walk, index, 1);
}

static int by_tensor(Walk* walk, libdl_tensor* index) {
  const libdl_dtype dtype = libdl_tensor_dtype(index);
  const bool scalar = libdl_tensor_ndim(index) == 0;
  if (dtype == LIBDL_DTYPE_BOOL) {
    if (!scalar) return collect_mask(walk, libdl_tensor_retain(index));
    libdl_bool value;
    PyThreadState* const thread = leave_python_for(index);
    libdl_error* const error = libdl_item_bool(index, &value);
    enter_python(thread);
    return error ? fail(error) : truth_value(walk, value);
  }
  if (scalar && dtype < LIBDL_DTYPE_FLOAT16) {
    int64_t value;
    PyThreadState* const thread = leave_python_for(index);
    libdl_error* const error = libdl_item_i64(index, &value);
    enter_python(thread);
    return error ? fail(error) : select_one(walk, value);
  }
  if (walk->dim >= libdl_tensor_ndim(walk->view)) return scalar_index();
  if (dtype >= LIBDL_DTYPE_FLOAT16) {
    PyErr_Format(PyExc_IndexError, "x[...]: an index tensor is %s, wanted integers or a bool mask",
                 libdl_dtype_name(dtype));
    return -1;
  }
  return collect(walk, libdl_tensor_retain(index), 1);
}

// Lists, arrays and other sequences become index tensors.
static int by_sequence(Walk* walk, PyObject* key) {
  PyObject* const object = PyObject_CallFunctionObjArgs(registered.to_tensor, key, NULL);
  if (!object) return -1;
  int result = -1;
  libdl_tensor* index = libdl_tensor_retain(handle_of(object));
  Py_DECREF(object);
  if (libdl_tensor_numel(index) == 0 && libdl_tensor_dtype(index) >= LIBDL_DTYPE_FLOAT16) {
    libdl_tensor* integers_only;  // [] has no dtype of its own
    libdl_error* const error =
        libdl_to(index, LIBDL_DTYPE_INT64, NULL, false, false, &integers_only);
    libdl_tensor_release(index);
    if (error) return fail(error);
    index = integers_only;
  }
  result = by_tensor(walk, index);
  libdl_tensor_release(index);
  return result;
}

static int by_key(Walk* walk, PyObject* key, int32_t skipped) {
  if (PyBool_Check(key)) return truth_value(walk, key == Py_True);
  if (PyLong_Check(key)) {
    const long long index = PyLong_AsLongLong(key);
    return index == -1 && PyErr_Occurred() ? -1 : select_one(walk, index);
  }
  if (PySlice_Check(key)) return slice(walk, key);
  if (key == Py_None) return insert_one(walk);
  if (key == Py_Ellipsis) {
    walk->dim += skipped;
    return 0;
  }
  if (refused_stand_in(key)) return -1;
  if (is_tensor(key) && overrides(key)) {
    PyErr_SetNone(overridden_exception);
    return -1;
  }
  if (is_tensor(key)) return by_tensor(walk, handle_of(key));
  if (PyIndex_Check(key) && !PyObject_HasAttrString(key, "__len__")) {
    int64_t index;
    return integer(key, &index) ? -1 : select_one(walk, index);
  }
  if (PySequence_Check(key) && !PyUnicode_Check(key)) return by_sequence(walk, key);
  const bool is_text = PyUnicode_Check(key) || PyBytes_Check(key);
  PyErr_Format(is_text ? PyExc_TypeError : PyExc_IndexError,
               "x[...]: wanted integers, slices, None, Ellipsis, masks or index tensors, found %R",
               (PyObject*)Py_TYPE(key));
  return -1;
}

// Dimensions that a key uses up.
static int32_t consumed(PyObject* key) {
  if (key == Py_None || key == Py_Ellipsis || PyBool_Check(key)) return 0;
  if (is_tensor(key) && libdl_tensor_dtype(handle_of(key)) == LIBDL_DTYPE_BOOL)
    return libdl_tensor_ndim(handle_of(key));
  if (!PyLong_Check(key) && !PySlice_Check(key) && !is_tensor(key)) {
    PyObject* const dtype = PyObject_GetAttrString(key, "dtype");
    PyObject* const kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    int32_t dims = 1;
    if (kind && PyUnicode_Check(kind) && PyUnicode_CompareWithASCIIString(kind, "b") == 0) {
      PyObject* const ndim = PyObject_GetAttrString(key, "ndim");
      if (ndim) dims = (int32_t)PyLong_AsLong(ndim);
      Py_XDECREF(ndim);
    }
    Py_XDECREF(dtype);
    Py_XDECREF(kind);
    PyErr_Clear();
    return dims;
  }
  return 1;
}

static int by_tuple(Walk* walk, PyObject* keys) {
  const Py_ssize_t count = PyTuple_Size(keys);
  const int32_t ndim = libdl_tensor_ndim(walk->view);
  int32_t used = 0;
  for (Py_ssize_t i = 0; i < count; ++i) used += consumed(PyTuple_GetItem(keys, i));
  if (used > ndim) {
    PyErr_Format(PyExc_IndexError, "x[...]: too many indices: %d for a tensor of %d dimensions",
                 (int)used, (int)ndim);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (by_key(walk, PyTuple_GetItem(keys, i), ndim - used)) return -1;
    if (PyTuple_GetItem(keys, i) == Py_Ellipsis) used = ndim;
  }
  return 0;
}

static void end(Walk* walk) {
  for (int32_t i = 0; walk->indices && i < walk->count; ++i) libdl_tensor_release(walk->indices[i]);
  PyMem_Free(walk->indices);
  libdl_tensor_release(walk->view);
}

// PyTorch's rule: a list or another short sequence is a tuple of keys if one of its entries is a
// sequence, a tensor, a slice, None or the Ellipsis; else its numbers are one index tensor. (It
// warns that a later version will make an index tensor of such a list, too.)
static bool is_like_tuple(PyObject* key) {
  enum { kLongest = 31 };
  if (is_tensor(key) || PyUnicode_Check(key) || !PySequence_Check(key) ||
      PyObject_HasAttrString(key, "dtype"))
    return false;
  const Py_ssize_t count = PySequence_Size(key);
  if (count < 0) PyErr_Clear();
  if (count < 0 || count > kLongest) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const entry = PySequence_GetItem(key, i);
    if (!entry) {
      PyErr_Clear();
      return false;
    }
    const bool counts = entry == Py_None || entry == Py_Ellipsis || PySlice_Check(entry) ||
                        is_tensor(entry) || PySequence_Check(entry);
    Py_DECREF(entry);
    if (counts) return true;
  }
  return false;
}

static int by_any(Walk* walk, PyObject* key) {
  if (PyTuple_Check(key)) return by_tuple(walk, key);
  if (!PyLong_Check(key) && !PySlice_Check(key) && is_like_tuple(key)) {
    PyObject* const keys = PySequence_Tuple(key);
    const int failed = keys ? by_tuple(walk, keys) : -1;
    Py_XDECREF(keys);
    return failed;
  }
  return by_key(walk, key, 0);
}

static int begin(Walk* walk, PyObject* self, PyObject* key) {
  *walk = (Walk){.view = libdl_tensor_retain(handle_of(self))};
  if (by_any(walk, key)) {
    end(walk);
    return -1;
  }
  // Masks stand for several dimensions in one entry.
  int32_t kept = 0;
  for (int32_t i = 0; walk->indices && i < walk->count;) {
    libdl_tensor* const index = walk->indices[i];
    walk->indices[i] = NULL;
    walk->indices[kept++] = index;
    i += index && libdl_tensor_dtype(index) == LIBDL_DTYPE_BOOL ? libdl_tensor_ndim(index) : 1;
  }
  walk->count = kept;
  return 0;
}

// What is wrong with index tensors is an IndexError, their shapes and dtypes too.
static PyObject* raise_key_error(libdl_error* error, bool by_tensors, const char* written) {
  const libdl_error_code code = libdl_error_get_code(error);
  const bool of_key = by_tensors && libdl_error_get_argument(error) == 2 &&
                      (code == LIBDL_ERROR_SHAPE || code == LIBDL_ERROR_DTYPE);
  if (!of_key) return raise_error_of(error, written);
  PyObject* const text =
      PyUnicode_FromFormat("%s: index %s, wanted %s", written, libdl_error_get_found(error),
                           libdl_error_get_wanted(error));
  const char* const bytes = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  libdl_error_release(error);
  if (bytes) raise_error(libdl_error_new(LIBDL_ERROR_INDEX, bytes, -1, NULL, NULL));
  Py_XDECREF(text);
  return NULL;
}

PyObject* tensor_subscript(PyObject* self, PyObject* key) {
  if (is_seen(self)) return seen_operator("__getitem__", self, key, NULL);
  if (PyLong_CheckExact(key)) {  // x[0], the most frequent
    const long long index = PyLong_AsLongLong(key);
    if (index == -1 && PyErr_Occurred()) return NULL;
    libdl_tensor* out;
    libdl_error* const error = libdl_select(handle_of(self), 0, index, &out);
    if (!error) return wrap(out);
    if (libdl_tensor_ndim(handle_of(self))) return raise_error_of(error, "x[...]");
    libdl_error_release(error);
    scalar_index();
    return NULL;
  }
  Walk walk;
  if (begin(&walk, self, key)) {
    if (!PyErr_ExceptionMatches(overridden_exception)) return NULL;
    return seen_operator("__getitem__", self, key, NULL);
  }
  libdl_tensor* out = NULL;
  libdl_error* error = NULL;
  const bool by_tensors = walk.indices != NULL;
  if (by_tensors) {
    PyThreadState* const thread = leave_python_for(walk.view);
    error = libdl_index(walk.view, (const libdl_tensor* const*)walk.indices, walk.count, &out);
    enter_python(thread);
  } else if (walk.view != handle_of(self)) {
    out = libdl_tensor_retain(walk.view);
  } else {  // x[...] and x[:] are new views too
    error =
        libdl_view(walk.view, libdl_tensor_shape(walk.view), libdl_tensor_ndim(walk.view), &out);
    if (error) {  // strides that view refuses: the first dimension's whole slice
      libdl_error_release(error);
      error = libdl_slice(walk.view, 0, NULL, NULL, 1, &out);
    }
  }
  end(&walk);
  if (!error) return wrap(out);
  return raise_key_error(error, by_tensors, "x[...]");
}

// The value as a tensor or number: *own is what the caller releases.
static int value_of(PyObject* self, PyObject* value, libdl_tensor** handle, libdl_tensor** own) {
  const int result = operand(value, handle, own);
  if (result <= 0) return result;
  const libdl_dtype dtype = libdl_tensor_dtype(handle_of(self));
  PyObject* const object =
      PyObject_CallFunctionObjArgs(registered.to_tensor, value, dtype_object(dtype), NULL);
  if (!object) return -1;
  *handle = *own = libdl_tensor_retain(handle_of(object));
  Py_DECREF(object);
  return 0;
}

// Dimensions of size 1 that the value has in front of all that the place has are dropped.
static libdl_error* without_leading_ones(libdl_tensor** value, int32_t ndim, libdl_tensor** own) {
  const int32_t value_ndim = libdl_tensor_ndim(*value);
  const int64_t* const shape = libdl_tensor_shape(*value);
  int32_t ones = 0;
  while (value_ndim - ones > ndim && shape[ones] == 1) ++ones;
  if (ones == 0) return NULL;
  libdl_tensor* shorter;
  int64_t dims[64];
  for (int32_t i = 0; i < ones; ++i) dims[i] = i;
  libdl_error* const error = libdl_squeeze(*value, dims, ones, &shorter);
  if (error) return error;
  if (*own) libdl_tensor_release(*own);
  *value = *own = shorter;
  return NULL;
}

static bool is_whole(libdl_dtype dtype) {
  return dtype > LIBDL_DTYPE_BOOL && dtype < LIBDL_DTYPE_FLOAT16;
}

// Numbers go as they are: the operator knows what the dtype holds.
static libdl_error* write_indexed(Walk* walk, libdl_tensor* value) {
  const libdl_dtype dtype = libdl_tensor_dtype(walk->view);
  const libdl_dtype value_dtype = libdl_tensor_dtype(value);
  libdl_tensor* converted = NULL;
  if (value_dtype != dtype && is_whole(value_dtype) && is_whole(dtype) &&
      libdl_tensor_ndim(value) == 0 && !libdl_tensor_is_number(value)) {
    // One integer is held to the range, as masked_fill does.
    int64_t whole;
    PyThreadState* const thread = leave_python_for(value);
    libdl_error* error = libdl_item_i64(value, &whole);
    enter_python(thread);
    if (!error) error = libdl_number_i64(whole, &converted);
    if (error) return error;
    value = converted;
  } else if (value_dtype != dtype && !libdl_tensor_is_number(value)) {
    if (value_dtype >= LIBDL_DTYPE_COMPLEX64 && dtype < LIBDL_DTYPE_COMPLEX64)
      return libdl_error_new(LIBDL_ERROR_DTYPE,
                             "x[...] = value: the value is complex, wanted a real one, as x is", -1,
                             NULL, NULL);
    libdl_error* const error = libdl_to(value, dtype, NULL, false, false, &converted);
    if (error) return error;
    value = converted;
  }
  PyThreadState* const thread = leave_python_for(walk->view);
  libdl_error* const error = libdl_index_put_into(
      walk->view, (const libdl_tensor* const*)walk->indices, walk->count, value, false, walk->view);
  enter_python(thread);
  libdl_tensor_release(converted);
  return error;
}

static bool on_cpu(const libdl_tensor* x) {
  return libdl_tensor_device(x).type == LIBDL_DEVICE_CPU;
}

static int assign_overridden(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* const answer = seen_operator("__setitem__", self, key, value);
  Py_XDECREF(answer);
  return answer ? 0 : -1;
}

int tensor_assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "a tensor's elements cannot be deleted");
    return -1;
  }
  if (is_seen(self) || overrides(value)) return assign_overridden(self, key, value);
  if (key == Py_False) return 0;  // nothing is written, and no version raised
  libdl_tensor *handle, *own = NULL;
  if (value_of(self, value, &handle, &own)) return -1;
  Walk walk;
  if (begin(&walk, self, key)) {
    libdl_tensor_release(own);
    if (!PyErr_ExceptionMatches(overridden_exception)) return -1;
    PyErr_Clear();
    return assign_overridden(self, key, value);
  }
  libdl_error* error = NULL;
  const bool by_tensors = walk.indices != NULL;
  if (by_tensors) {
    if (libdl_tensor_ndim(handle) > 1) error = without_leading_ones(&handle, 1, &own);
    if (!error) error = write_indexed(&walk, handle);
  } else if (libdl_tensor_is_number(handle)) {
    error = libdl_fill_into(handle, walk.view);
  } else {
    error = without_leading_ones(&handle, libdl_tensor_ndim(walk.view), &own);
    PyThreadState* const thread = leave_python_for(on_cpu(handle) ? walk.view : handle);
    if (!error) error = libdl_copy_into(handle, false, walk.view);
    enter_python(thread);
  }
  end(&walk);
  libdl_tensor_release(own);
  pending_work = 0;
  if (!error) return 0;
  raise_key_error(error, by_tensors, "x[...] = value");
  return -1;
}

static Py_ssize_t length_seen(PyObject* self) {
  PyObject* const answer = seen_operator("__len__", self, NULL, NULL);
  const Py_ssize_t length = answer ? PyNumber_AsSsize_t(answer, PyExc_OverflowError) : -1;
  Py_XDECREF(answer);
  return length;
}

Py_ssize_t tensor_length(PyObject* self) {
  if (is_seen(self)) return length_seen(self);
  const libdl_tensor* const x = handle_of(self);
  if (libdl_tensor_ndim(x) == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  return (Py_ssize_t)libdl_tensor_shape(x)[0];
}
