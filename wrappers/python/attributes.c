// SPDX-License-Identifier: Apache-2.0

// What a tensor tells about itself: x.shape, x.grad, x.T and the rest.
#include <libdl/exchange.h>

#include "objects.h"

#define GETTER(name) static PyObject* get_##name(PyObject* self, void* closure)
#define UNUSED (void)closure
#define HANDLE handle_of(self)

GETTER(shape) {
  UNUSED;
  return shape_object(libdl_tensor_shape(HANDLE), libdl_tensor_ndim(HANDLE));
}

GETTER(ndim) {
  UNUSED;
  return PyLong_FromLong(libdl_tensor_ndim(HANDLE));
}
GETTER(device) {
  UNUSED;
  return device_object(libdl_tensor_device(HANDLE));
}
GETTER(itemsize) {
  UNUSED;
  return PyLong_FromLongLong(libdl_dtype_size(libdl_tensor_dtype(HANDLE)));
}

GETTER(requires_grad) {
  UNUSED;
  return PyBool_FromLong(libdl_tensor_requires_grad(HANDLE));
}
GETTER(is_leaf) {
  UNUSED;
  return PyBool_FromLong(libdl_tensor_is_leaf(HANDLE));
}
GETTER(retains_grad) {
  UNUSED;
  return PyBool_FromLong(libdl_tensor_retains_grad(HANDLE));
}
GETTER(grad) {
  UNUSED;
  libdl_tensor* const result = libdl_tensor_grad(HANDLE);
  if (!result && !libdl_tensor_is_leaf(HANDLE) && !libdl_tensor_retains_grad(HANDLE) &&
      PyErr_WarnEx(PyExc_UserWarning,
                   ".grad is read of a tensor that is not a leaf, and backward() does not fill it "
                   "in. Call retain_grad() on the tensor before backward() to keep its gradient, "
                   "or read that of the leaf it was computed from",
                   1))
    return NULL;
  return wrap_optional(result);
}
GETTER(base) {
  UNUSED;
  return wrap_optional(libdl_tensor_base(HANDLE));
}
GETTER(version) {
  UNUSED;
  return PyLong_FromUnsignedLongLong(libdl_tensor_version(HANDLE));
}

GETTER(dtype) {
  UNUSED;
  PyObject* const dtype = dtype_object(libdl_tensor_dtype(HANDLE));
  Py_INCREF(dtype);
  return dtype;
}

GETTER(nbytes) {
  UNUSED;
  return PyLong_FromLongLong(libdl_tensor_numel(HANDLE) *
                             libdl_dtype_size(libdl_tensor_dtype(HANDLE)));
}

GETTER(is_cuda) {
  UNUSED;
  return PyBool_FromLong(libdl_tensor_device(HANDLE).type == LIBDL_DEVICE_CUDA);
}

GETTER(is_cpu) {
  UNUSED;
  return PyBool_FromLong(libdl_tensor_device(HANDLE).type == LIBDL_DEVICE_CPU);
}

GETTER(is_meta) {
  UNUSED;
  return PyBool_FromLong(libdl_tensor_device(HANDLE).type == LIBDL_DEVICE_META);
}

GETTER(is_sparse) {
  UNUSED;
  return PyBool_FromLong(libdl_tensor_is_sparse(HANDLE));
}

// An attribute that is a tensor, as an object of self's class where that takes over operators, as
// their results are. Classes with a __torch_function__ of their own never come here.
static PyObject* like_self(PyObject* self, libdl_error* error, libdl_tensor* out) {
  if (error) return raise_error(error);
  if (Py_TYPE(self) == tensor_type || !overrides(self)) return wrap(out);
  PyObject* const object = living_object(out);
  if (!object) return wrap_as(out, Py_TYPE(self));
  libdl_tensor_release(out);
  return object;
}

static PyObject* transposed(PyObject* self, int32_t dim0, int32_t dim1) {
  libdl_tensor* out = NULL;
  libdl_error* const error = libdl_transpose(HANDLE, dim0, dim1, &out);
  return like_self(self, error, out);
}

GETTER(T) {
  UNUSED;
  const libdl_tensor* const x = HANDLE;
  const int32_t ndim = libdl_tensor_ndim(x);
  if (ndim == 2) return transposed(self, 0, 1);
  int64_t dims[64];
  for (int32_t i = 0; i < ndim; ++i) dims[i] = ndim - 1 - i;
  libdl_tensor* out = NULL;
  libdl_error* const error = libdl_permute(x, dims, ndim, &out);
  return like_self(self, error, out);
}

GETTER(mT) {
  UNUSED;
  if (!libdl_tensor_ndim(HANDLE)) {
    Py_INCREF(self);
    return self;
  }
  if (libdl_tensor_ndim(HANDLE) < 2)
    return PyErr_Format(PyExc_RuntimeError, "mT: wanted 2 dimensions or more, found %d",
                        (int)libdl_tensor_ndim(HANDLE));
  return transposed(self, -2, -1);
}

// The last two dimensions exchanged, and the conjugate.
static PyObject* adjoint(PyObject* self) {
  const libdl_tensor* const x = HANDLE;
  libdl_tensor *turned = NULL, *out = NULL;
  const bool matrix = libdl_tensor_ndim(x) > 1;
  libdl_error* error = matrix ? libdl_transpose(x, -2, -1, &turned) : NULL;
  if (error) return raise_error(error);
  error = libdl_conj(matrix ? turned : x, &out);
  libdl_tensor_release(turned);
  return like_self(self, error, out);
}

GETTER(H) {
  UNUSED;
  const int ndim = (int)libdl_tensor_ndim(HANDLE);
  if (ndim != 2 && ndim != 0)
    return PyErr_Format(PyExc_RuntimeError, "H: wanted a matrix, found %d dimensions", ndim);
  return adjoint(self);
}

GETTER(mH) {
  UNUSED;
  if (libdl_tensor_ndim(HANDLE) == 1)
    return PyErr_Format(PyExc_RuntimeError, "mH: wanted 2 dimensions or more, found 1");
  return adjoint(self);
}

GETTER(data) {
  UNUSED;
  libdl_tensor* out = NULL;
  libdl_error* const error = libdl_tensor_alias_data(HANDLE, &out);
  return like_self(self, error, out);
}

PyObject* node_object(libdl_node* node) {
  if (!node) Py_RETURN_NONE;
  PyObject* const held = capsule(node, "libdl_node", (void (*)(void*))libdl_node_release);
  if (!held) return NULL;
  PyObject* const object = PyObject_CallFunctionObjArgs(registered.node, held, NULL);
  Py_DECREF(held);
  return object;
}

GETTER(grad_fn) {
  UNUSED;
  if (libdl_tensor_is_leaf(HANDLE)) Py_RETURN_NONE;
  track(self);  // the node may get hooks
  return node_object(libdl_tensor_node(HANDLE, NULL));
}

static int checked(libdl_error* error) {
  if (!error) return 0;
  raise_error(error);
  return -1;
}

static int set_requires_grad(PyObject* self, PyObject* value, void* closure) {
  UNUSED;
  const int flag_value = value ? PyObject_IsTrue(value) : 0;
  if (flag_value < 0) return -1;
  if (flag_value && !libdl_tensor_is_leaf(HANDLE)) {  // requires_grad_() leaves it as it is
    PyErr_SetString(PyExc_RuntimeError,
                    "requires_grad: only that of a leaf variable can be changed, and this tensor "
                    "was computed; detach() gives a leaf");
    return -1;
  }
  return checked(libdl_tensor_set_requires_grad(HANDLE, flag_value));
}

static int set_grad(PyObject* self, PyObject* value, void* closure) {
  UNUSED;
  if (value && value != Py_None && !is_tensor(value)) {
    PyErr_Format(PyExc_TypeError, "grad: wanted a tensor or None, found %R",
                 (PyObject*)Py_TYPE(value));
    return -1;
  }
  return checked(
      libdl_tensor_set_grad(HANDLE, value && value != Py_None ? handle_of(value) : NULL));
}

static int set_data(PyObject* self, PyObject* value, void* closure) {
  UNUSED;
  if (!value || !is_tensor(value)) {
    PyErr_SetString(PyExc_TypeError, "data: wanted a tensor");
    return -1;
  }
  await_work();
  return checked(libdl_tensor_set_data(HANDLE, handle_of(value)));
}

static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "The sizes.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions.", NULL},
    {"dtype", get_dtype, NULL, "The element type.", NULL},
    {"device", get_device, NULL, "Where the elements are.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of an element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether operations are recorded.",
     NULL},
    {"is_leaf", get_is_leaf, NULL, "Whether it is no operator's result, or without history.", NULL},
    {"retains_grad", get_retains_grad, NULL, "Whether a non-leaf keeps its gradient.", NULL},
    {"grad", get_grad, set_grad, "The gradient that backward() added up, or None.", NULL},
    {"grad_fn", get_grad_fn, NULL, "The operation that made the tensor, or None.", NULL},
    {"data", get_data, set_data,
     "The same elements without history. Assigning replaces the elements.", NULL},
    {"T", get_T, NULL, "The dimensions in reverse order.", NULL},
    {"mT", get_mT, NULL, "The last two dimensions exchanged.", NULL},
    {"mH", get_mH, NULL, "The last two dimensions exchanged, and the complex conjugate.", NULL},
    {"H", get_H, NULL, "The conjugate transpose.", NULL},
    {"is_cuda", get_is_cuda, NULL, "Whether the elements are on a CUDA device.", NULL},
    {"is_cpu", get_is_cpu, NULL, "Whether the elements are in the host's memory.", NULL},
    {"is_meta", get_is_meta, NULL, "Whether there are no elements, but their shape and dtype.",
     NULL},
    {"is_sparse", get_is_sparse, NULL, "Whether it holds few rows and is 0 in all others.", NULL},
    {"_base", get_base, NULL, "The tensor that this one is a view of, or None.", NULL},
    {"_version", get_version, NULL, "How often the memory has been written.", NULL},
    {"__dict__", tensor_get_dict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

// A batch's stand-in has the geometry of a sample.
static bool is_stand_in(PyObject* self) {
  return Py_TYPE(self) == stand_in_type && !(intercepting & kInterceptCalls);
}

static bool is_geometry(const PyGetSetDef* own) {
  return own->name[0] == 'd' ? strcmp(own->name, "dtype") == 0 || strcmp(own->name, "device") == 0
                             : strcmp(own->name, "shape") == 0 || strcmp(own->name, "ndim") == 0;
}

static PyObject* get_seen(PyObject* self, void* closure) {
  const PyGetSetDef* const own = closure;
  if (!is_seen(self) || (is_stand_in(self) && is_geometry(own)))
    return own->get(self, own->closure);
  PyObject* const attribute = PyObject_GetAttrString((PyObject*)tensor_type, own->name);
  PyObject* const answer = seen_attribute(attribute, "__get__", self, NULL);
  Py_XDECREF(attribute);
  return answer;
}

static int set_seen(PyObject* self, PyObject* value, void* closure) {
  const PyGetSetDef* const own = closure;
  if (!value || !is_seen(self)) return own->set(self, value, own->closure);
  PyObject* const attribute = PyObject_GetAttrString((PyObject*)tensor_type, own->name);
  PyObject* const done = seen_attribute(attribute, "__set__", self, value);
  Py_XDECREF(attribute);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

PyGetSetDef* seen_attributes(void) {
  static PyGetSetDef getset[32];
  PyGetSetDef* next = getset;
  for (PyGetSetDef* own = attributes; own->name; ++own, ++next) {
    *next = *own;
    if (strcmp(own->name, "__dict__") == 0) continue;
    next->get = get_seen;
    next->set = own->set ? set_seen : NULL;
    next->closure = own;
  }
  return getset;
}

PyObject* call_with(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t count,
                    PyObject* names) {
  const Py_ssize_t own = self != NULL;
  PyObject* const positional = PyTuple_New(count + own);
  PyObject* const keywords = names ? PyDict_New() : NULL;
  bool failed = !positional || (names && !keywords);
  for (Py_ssize_t i = 0; !failed && i < count + own; ++i) {
    PyObject* const item = i >= own ? args[i - own] : self;
    Py_INCREF(item);
    failed = PyTuple_SetItem(positional, i, item);
  }
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; !failed && i < named; ++i)
    failed = PyDict_SetItem(keywords, PyTuple_GetItem(names, i), args[count + i]);
  PyObject* const answer = failed ? NULL : PyObject_Call(function, positional, keywords);
  Py_XDECREF(positional);
  Py_XDECREF(keywords);
  return answer;
}

// -- methods --------------------------------------------------------------------------------------

static PyObject* dim(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyLong_FromLong(libdl_tensor_ndim(HANDLE));
}

static PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (!names && count == 0)
    return shape_object(libdl_tensor_shape(HANDLE), libdl_tensor_ndim(HANDLE));
  if (!names && count == 1 && PyLong_CheckExact(args[0])) {
    int beyond;
    const int32_t ndim = libdl_tensor_ndim(HANDLE);
    const long dim = PyLong_AsLongAndOverflow(args[0], &beyond);
    if (!beyond && dim >= -ndim && dim < ndim)
      return PyLong_FromLongLong(libdl_tensor_shape(HANDLE)[dim < 0 ? dim + ndim : dim]);
  }
  return call_with(registered.size_of, self, args, count, names);
}

static PyObject* numel(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyLong_FromLongLong(libdl_tensor_numel(HANDLE));
}

static PyObject* element_size(PyObject* self, PyObject* unused) {
  (void)unused;
  return get_itemsize(self, NULL);
}

static PyObject* storage_offset(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyLong_FromLongLong(libdl_tensor_storage_offset(HANDLE));
}

static PyObject* data_ptr(PyObject* self, PyObject* unused) {
  (void)unused;
  if (libdl_tensor_device(HANDLE).type == LIBDL_DEVICE_META) return PyLong_FromLong(0);
  void* data;
  // What is done with the number nobody tells: it is taken to be written through where it may be.
  libdl_error* error = libdl_tensor_data(HANDLE, LIBDL_ACCESS_WRITE, &data);
  if (error) {
    libdl_error_release(error);
    error = libdl_tensor_data(HANDLE, LIBDL_ACCESS_READ, &data);
  }
  return error ? raise_error(error) : PyLong_FromVoidPtr(data);
}

static PyObject* is_contiguous(PyObject* self, PyObject* const* args, Py_ssize_t count,
                               PyObject* names) {
  (void)args, (void)count, (void)names;
  return PyBool_FromLong(libdl_tensor_is_contiguous(HANDLE));
}

static PyObject* is_inference(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyBool_FromLong(libdl_tensor_is_inference(HANDLE));
}

static PyObject* is_pinned(PyObject* self, PyObject* const* args, Py_ssize_t count,
                           PyObject* names) {
  (void)args, (void)count, (void)names;
  return PyBool_FromLong(libdl_tensor_is_pinned(HANDLE));
}

// Most tensors are contiguous and answer for themselves; what is copied is seen to in Python.
static PyObject* contiguous(PyObject* self, PyObject* const* args, Py_ssize_t count,
                            PyObject* names) {
  if (names || count > 0 || !libdl_tensor_is_contiguous(HANDLE) || overrides(self))
    return call_with(registered.contiguous, self, args, count, names);
  return Py_NewRef(self);
}

// view(2, 3) and view((2, 3)); a dtype and keywords are seen to in Python.
static PyObject* view(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (names || count == 0 || count > 64 || overrides(self)) goto elsewhere;
  Integers sizes = {0};
  int64_t several[64];
  if (PyLong_Check(args[0])) {
    for (Py_ssize_t i = 0; i < count; ++i)
      if (integer(args[i], &several[i])) goto elsewhere;
    sizes = (Integers){.items = several, .count = (int32_t)count};
  } else if (count > 1 || integers(args[0], &sizes)) {
    goto elsewhere;
  }
  libdl_tensor* out;
  libdl_error* const error = libdl_view(HANDLE, sizes.items, sizes.count, &out);
  if (sizes.items != several && sizes.count > 8) PyMem_Free(sizes.items);
  return error ? raise_error(error) : wrap(out);
elsewhere:
  PyErr_Clear();
  return call_with(registered.view, self, args, count, names);
}

static PyObject* size_seen(PyObject* self, PyObject* const* args, Py_ssize_t count,
                           PyObject* names) {
  if (is_seen(self) && !is_stand_in(self)) return seen_method("size", self, args, count, names);
  return size(self, args, count, names);
}

LIBDL_PYTHON_SEEN_CALL(view)
LIBDL_PYTHON_SEEN_CALL(contiguous)
LIBDL_PYTHON_SEEN_CALL(is_contiguous)
LIBDL_PYTHON_SEEN_CALL(is_pinned)
LIBDL_PYTHON_SEEN(dim, "dim", dim)
LIBDL_PYTHON_SEEN(ndimension, "ndimension", dim)
LIBDL_PYTHON_SEEN(numel, "numel", numel)
LIBDL_PYTHON_SEEN(nelement, "nelement", numel)
LIBDL_PYTHON_SEEN(element_size, "element_size", element_size)
LIBDL_PYTHON_SEEN(storage_offset, "storage_offset", storage_offset)
LIBDL_PYTHON_SEEN(data_ptr, "data_ptr", data_ptr)
LIBDL_PYTHON_SEEN(is_inference, "is_inference", is_inference)

PyMethodDef metadata_methods[] = {
    {"view", (PyCFunction)(void (*)(void))view_seen, METH_FASTCALL | METH_KEYWORDS,
     "view(*shape) or view(dtype)\n\n"
     "The same elements in another shape, or the same bytes read as another dtype, without a\n"
     "copy. Raises ShapeError where strides would need one: see reshape.\n\n"
     "Example:\n"
     "    >>> x = torch.tensor([1, 2, 3, 4])\n"
     "    >>> y = x.view(2, 2)\n"
     "    >>> y[0, 0] = 9\n"
     "    >>> x\n"
     "    tensor([9, 2, 3, 4])\n"},
    {"contiguous", (PyCFunction)(void (*)(void))contiguous_seen, METH_FASTCALL | METH_KEYWORDS,
     "contiguous(memory_format=None)\n\n"
     "The tensor itself if its elements lie in row-major order, else a copy that does.\n\n"
     "Example:\n"
     "    >>> x = torch.zeros(2, 3).t()\n"
     "    >>> x.stride(), x.contiguous().stride()\n"
     "    ((1, 3), (2, 1))\n"},
    {"size", (PyCFunction)(void (*)(void))size_seen, METH_FASTCALL | METH_KEYWORDS,
     "size($self, dim=None)\n--\n\n"
     "The sizes, or the size of one dimension.\n\n"
     "Example:\n"
     "    >>> x = torch.zeros(2, 3)\n"
     "    >>> x.size(), x.size(1)\n"
     "    (libdl.Size([2, 3]), 3)\n"},
    {"dim", dim_seen, METH_NOARGS,
     "The number of dimensions.\n\n"
     "Example:\n"
     "    >>> torch.zeros(2, 3).dim()\n"
     "    2\n"},
    {"ndimension", ndimension_seen, METH_NOARGS, "The number of dimensions."},
    {"numel", numel_seen, METH_NOARGS,
     "The number of elements.\n\n"
     "Example:\n"
     "    >>> torch.zeros(2, 3).numel()\n"
     "    6\n"},
    {"nelement", nelement_seen, METH_NOARGS, "The number of elements."},
    {"element_size", element_size_seen, METH_NOARGS, "Bytes of an element."},
    {"storage_offset", storage_offset_seen, METH_NOARGS,
     "Elements before the first one in memory."},
    {"data_ptr", data_ptr_seen, METH_NOARGS, "The first element's address."},
    {"is_contiguous", (PyCFunction)(void (*)(void))is_contiguous_seen,
     METH_FASTCALL | METH_KEYWORDS,
     "is_contiguous(memory_format=None)\n\n"
     "Whether the elements lie in row-major order without gaps."},
    {"is_pinned", (PyCFunction)(void (*)(void))is_pinned_seen, METH_FASTCALL | METH_KEYWORDS,
     "is_pinned(device=None)\n\n"
     "Whether the elements are in memory of the host that a device copies from by itself."},
    {"is_inference", is_inference_seen, METH_NOARGS, "Whether it was made in inference mode."},
    {NULL, NULL, 0, NULL},
};

static PyObject* strides(PyObject* module, PyObject* tensor) {
  (void)module;
  if (!is_tensor(tensor)) return PyErr_Format(PyExc_TypeError, "strides: no tensor");
  return integers_object(libdl_tensor_strides(handle_of(tensor)),
                         libdl_tensor_ndim(handle_of(tensor)));
}

static PyObject* dtype_of_code(PyObject* module, PyObject* code) {
  (void)module;
  PyObject* const dtype = dtype_object((libdl_dtype)PyLong_AsLong(code));
  if (PyErr_Occurred()) return NULL;
  Py_INCREF(dtype);
  return dtype;
}

static PyMethodDef functions[] = {
    {"strides", strides, METH_O, NULL},
    {"dtype_of_code", dtype_of_code, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int add_attributes(PyObject* module) { return PyModule_AddFunctions(module, functions); }
