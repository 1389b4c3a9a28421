// SPDX-License-Identifier: Apache-2.0

// The type libdl.Tensor: how its objects begin and end, and the slots that other files fill.
#include "objects.h"

#include <structmember.h>

typedef struct Visit {
  visitproc visit;
  void* arg;
} Visit;

static int32_t visit_context(void* ctx, void* arg) {
  const Visit* const v = arg;
  return v->visit((PyObject*)ctx, v->arg);
}

// Hooks that close over their tensor are part of a circle: tensor, handle, hook, function, tensor.
static int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(((TensorObject*)self)->attributes);
  Py_VISIT(Py_TYPE(self));
  Visit v = {visit, arg};
  return libdl_tensor_visit_contexts(handle_of(self), forget_object, visit_context, &v);
}

static int clear(PyObject* self) {
  libdl_tensor_drop_hooks(handle_of(self), forget_object);
  Py_CLEAR(((TensorObject*)self)->attributes);
  return 0;
}

static void dealloc(PyObject* self) {
  TensorObject* const object = (TensorObject*)self;
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (object->handle && libdl_tensor_host_object(object->handle, LIBDL_HOST_PYTHON) == self)
    set_object(object->handle, NULL);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->attributes);
  libdl_tensor_release(object->handle);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  const int failed = PyObject_GenericSetAttr(self, name, value);
  track_attributes(self);
  return failed;
}

// Tensor(...): as PyTorch's legacy constructor, sizes or data; Tensor(tensor) is an alias of it.
static PyObject* new_tensor(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  if (keywords && PyDict_Size(keywords) != 0 && type == tensor_type)
    return PyErr_Format(PyExc_TypeError, "Tensor() takes no keyword arguments; see libdl.tensor");
  libdl_tensor* handle = NULL;
  libdl_error* error = NULL;
  const Py_ssize_t count = PyTuple_Size(args);
  PyObject* const first = count >= 1 ? PyTuple_GetItem(args, 0) : NULL;
  if (first && is_tensor(first)) {
    error = libdl_detach(handle_of(first), &handle);
  } else if (first && !PyLong_Check(first)) {
    PyObject* const result =
        PyObject_CallFunction(registered.to_tensor, "OO", first, dtype_object(LIBDL_DTYPE_FLOAT32));
    if (!result) return NULL;
    handle = libdl_tensor_retain(handle_of(result));
    Py_DECREF(result);
    if (type != tensor_type) {
      libdl_tensor* const source = handle;
      error = libdl_detach(source, &handle);
      libdl_tensor_release(source);
    }
  } else {
    const int64_t none = 0;
    Integers sizes = {.items = (int64_t*)&none, .count = 1};
    if (first && integers(args, &sizes)) return NULL;
    error = libdl_empty(sizes.items, sizes.count, LIBDL_DTYPE_NONE, NULL, &handle);
    if (first) free_integers(&sizes);
  }
  if (error) return raise_error(error);
  PyObject* const object = living_object(handle);
  if (object && Py_TYPE(object) == type) {
    libdl_tensor_release(handle);
    return object;
  }
  Py_XDECREF(object);
  return wrap_as(handle, type);
}

static int initialize(PyObject* self, PyObject* args, PyObject* keywords) {
  (void)self, (void)args, (void)keywords;
  return 0;
}

// make_subclass(class, tensor): a new object of the class over the tensor's bytes, without its
// history.
static PyObject* make_subclass(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *type, *source;
  if (!PyArg_ParseTuple(args, "OO", &type, &source)) return NULL;
  if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject*)type, tensor_type) ||
      !is_tensor(source))
    return PyErr_Format(PyExc_TypeError, "make_subclass: wanted a subclass of Tensor and a tensor");
  libdl_tensor* handle;
  libdl_error* const error = libdl_detach(handle_of(source), &handle);
  return error ? raise_error(error) : wrap_as(handle, (PyTypeObject*)type);
}

// stand_in(class, batch): an object of the class with the geometry of batch[0], without elements.
static PyObject* stand_in(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *type, *batch;
  if (!PyArg_ParseTuple(args, "OO", &type, &batch)) return NULL;
  if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject*)type, tensor_type) ||
      !is_tensor(batch))
    return PyErr_Format(PyExc_TypeError, "stand_in: wanted a subclass of Tensor and a tensor");
  if (!stand_in_type) stand_in_type = (PyTypeObject*)Py_NewRef(type);  // for the process's life
  libdl_tensor* handle;
  libdl_error* const error = libdl_tensor_stand_in(handle_of(batch), &handle);
  return error ? raise_error(error) : wrap_as(handle, (PyTypeObject*)type);
}

// swap_contents(tensor, other): each becomes the object of the other's handle, with its attributes.
static PyObject* swap_contents(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
  if (!is_tensor(first) || !is_tensor(second))
    return PyErr_Format(PyExc_TypeError, "swap_contents: wanted two tensors");
  TensorObject *const a = (TensorObject*)first, *const b = (TensorObject*)second;
  libdl_tensor* const handle = a->handle;
  PyObject* const attributes = a->attributes;
  a->handle = b->handle, a->attributes = b->attributes;
  b->handle = handle, b->attributes = attributes;
  set_object(a->handle, a);
  set_object(b->handle, b);
  track(first);
  track(second);
  Py_RETURN_NONE;
}

// as_subclass(tensor, class): the tensor with its history as an object of the class.
static PyObject* as_subclass(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *type, *source;
  if (!PyArg_ParseTuple(args, "OO", &source, &type)) return NULL;
  if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject*)type, tensor_type) ||
      !is_tensor(source))
    return PyErr_Format(PyExc_TypeError, "as_subclass: wanted a tensor and a subclass of Tensor");
  libdl_tensor* handle;
  libdl_tensor* const from = handle_of(source);
  libdl_error* const error =
      libdl_view(from, libdl_tensor_shape(from), libdl_tensor_ndim(from), &handle);
  return error ? raise_error(error) : wrap_as(handle, (PyTypeObject*)type);
}

// exchange_handles(a, b): each object becomes the other tensor, and keeps its own attributes.
static PyObject* exchange_handles(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
  if (!is_tensor(first) || !is_tensor(second))
    return PyErr_Format(PyExc_TypeError, "exchange_handles: wanted two tensors");
  TensorObject *const a = (TensorObject*)first, *const b = (TensorObject*)second;
  libdl_tensor* const handle = a->handle;
  a->handle = b->handle;
  b->handle = handle;
  set_object(a->handle, a);
  set_object(b->handle, b);
  track(first);  // what one handle is known to hold, the other may, too
  track(second);
  Py_RETURN_NONE;
}

// become_view(tensor, view): the tensor becomes its view, in place.
static PyObject* become_view(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *tensor, *view;
  if (!PyArg_ParseTuple(args, "OO", &tensor, &view)) return NULL;
  if (!is_tensor(tensor) || !is_tensor(view))
    return PyErr_Format(PyExc_TypeError, "become_view: wanted two tensors");
  await_work();
  libdl_error* const error = libdl_tensor_become_view(handle_of(tensor), handle_of(view));
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

// handle_address(tensor): for identity in tests and printing.
static PyObject* handle_address(PyObject* module, PyObject* tensor) {
  (void)module;
  if (!is_tensor(tensor)) return PyErr_Format(PyExc_TypeError, "handle_address: no tensor");
  return PyLong_FromVoidPtr(handle_of(tensor));
}

static PyObject* set_overriding(PyObject* module, PyObject* flag) {
  (void)module;
  const int before = overriding_disabled;
  const long flag_value = PyLong_AsLong(flag);
  if (flag_value == -1 && PyErr_Occurred()) return NULL;
  overriding_disabled = flag_value < 0 ? 0 : flag_value > 2 ? 2 : (int)flag_value;
  return PyLong_FromLong(before);
}

static PyObject* set_intercepting(PyObject* flag, int what) {
  const bool before = intercepting & what;
  const int flag_value = PyObject_IsTrue(flag);
  if (flag_value < 0) return NULL;
  intercepting = flag_value ? intercepting | what : intercepting & ~what;
  return PyBool_FromLong(before);
}

static PyObject* intercept_modes(PyObject* module, PyObject* flag) {
  (void)module;
  return set_intercepting(flag, kInterceptCalls);
}

static PyObject* intercept_draws(PyObject* module, PyObject* flag) {
  (void)module;
  return set_intercepting(flag, kInterceptDraws);
}

static PyObject* has_override(PyObject* module, PyObject* object) {
  (void)module;
  return PyBool_FromLong(overrides(object));
}

static PyMethodDef functions[] = {
    {"make_subclass", make_subclass, METH_VARARGS, NULL},
    {"swap_contents", swap_contents, METH_VARARGS, NULL},
    {"as_subclass", as_subclass, METH_VARARGS, NULL},
    {"stand_in", stand_in, METH_VARARGS, NULL},
    {"become_view", become_view, METH_VARARGS, NULL},
    {"exchange_handles", exchange_handles, METH_VARARGS, NULL},
    {"handle_address", handle_address, METH_O, NULL},
    {"disable_overriding", set_overriding, METH_O,
     "disable_overriding(level): which classes' __torch_function__ is left alone on this thread: 1 "
     "those of programs, 2 also that of a batch's stand-ins; returns what was"},
    {"intercept_modes", intercept_modes, METH_O,
     "intercept_modes(flag): whether this thread's calls go to its modes; returns what was"},
    {"intercept_draws", intercept_draws, METH_O,
     "intercept_draws(flag): whether this thread's calls of operators that may draw random numbers "
     "raise "
     "Overridden; returns what was"},
    {"has_override", has_override, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyObject* representation(PyObject* self) {
  if (is_seen(self)) return seen_operator("__repr__", self, NULL, NULL);
  return registered.format ? PyObject_CallFunctionObjArgs(registered.format, self, NULL)
                           : PyUnicode_FromString("<Tensor>");
}

static Py_hash_t identity(PyObject* self) {
  const Py_hash_t hash = (Py_hash_t)((uintptr_t)self >> 4);  // the low bits are always 0
  return hash == -1 ? -2 : hash;
}

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, attributes), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

// The methods of two files in one table, as a type wants it.
static PyMethodDef methods[24];

static void join_methods(void) {
  int count = 0;
  for (const PyMethodDef* m = exchange_methods; m->ml_name; ++m) methods[count++] = *m;
  for (const PyMethodDef* m = metadata_methods; m->ml_name; ++m) methods[count++] = *m;
}

static int all_slots(PyType_Slot* slots) {
  const PyType_Slot own[] = {
      {Py_tp_doc,
       "A multi-dimensional array of one element type, with its history.\n\n"
       "Example:\n"
       "    >>> x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\n"
       "    >>> x.shape, x.dtype\n"
       "    (libdl.Size([2, 2]), libdl.float32)\n"
       "    >>> (x * x).sum().backward()\n"
       "    >>> x.grad\n"
       "    tensor([[2., 4.],\n"
       "            [6., 8.]])\n"},
      {Py_tp_new, new_tensor},
      {Py_tp_init, initialize},
      {Py_tp_dealloc, dealloc},
      {Py_tp_traverse, traverse},
      {Py_tp_clear, clear},
      {Py_tp_members, members},
      {Py_tp_getset, seen_attributes()},
      {Py_tp_methods, methods},
      {Py_tp_setattro, set_attribute},
      {Py_tp_repr, representation},
      {Py_tp_hash, identity},
      {Py_tp_richcompare, tensor_compare},
      {Py_mp_subscript, tensor_subscript},
      {Py_mp_ass_subscript, tensor_assign_subscript},
      {Py_mp_length, tensor_length},
      {Py_bf_getbuffer, tensor_get_buffer},
      {Py_bf_releasebuffer, tensor_release_buffer},
  };
  const int own_count = (int)(sizeof own / sizeof *own);
  memcpy(slots, own, sizeof own);
  memcpy(slots + own_count, number_slots, (size_t)number_slot_count * sizeof *slots);
  slots[own_count + number_slot_count] = (PyType_Slot){0, NULL};
  return own_count + number_slot_count;
}

int add_tensor_type(PyObject* module) {
  PyType_Slot slots[96];
  join_methods();
  all_slots(slots);
  PyType_Spec spec = {
      .name = "libdl.Tensor",
      .basicsize = sizeof(TensorObject),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
      .slots = slots,
  };
  tensor_type = (PyTypeObject*)PyType_FromSpec(&spec);
  if (!tensor_type) return -1;
  // NumPy's scalars and arrays on the left then leave the operator to the tensor on the right.
  PyObject* const priority = PyLong_FromLong(1000);  // PyTorch's; an array's is 0
  if (!priority || PyObject_SetAttrString((PyObject*)tensor_type, "__array_priority__", priority)) {
    Py_XDECREF(priority);
    return -1;
  }
  Py_DECREF(priority);
  if (PyModule_AddObjectRef(module, "Tensor", (PyObject*)tensor_type)) return -1;
  return PyModule_AddFunctions(module, functions);
}
