// SPDX-License-Identifier: Apache-2.0

// DLPack in Python: __dlpack__, from_dlpack and the table of C functions, which spares both sides
// the capsules.
#include <libdl/exchange.h>

#include "dlpack_table.h"
#include "objects.h"

static const char kVersioned[] = "dltensor_versioned";
static const char kUnversioned[] = "dltensor";
static const char kTable[] = "dlpack_exchange_api";
enum { kLegacyStream = 1 };  // as DLPack numbers CUDA's default stream

static void delete_versioned(void* managed) {
  VersionedHead* const head = managed;
  if (head->deleter) head->deleter(managed);
}

static void delete_unversioned(void* managed) {
  UnversionedTail* const tail = (UnversionedTail*)((char*)managed + SIZE_OF_DL_TENSOR);
  if (tail->deleter) tail->deleter(managed);
}

// Capsules that nobody consumed still own their struct; consumers rename them.
static void end_capsule(PyObject* object) {
  if (PyCapsule_IsValid(object, kVersioned))
    delete_versioned(PyCapsule_GetPointer(object, kVersioned));
  else if (PyCapsule_IsValid(object, kUnversioned))
    delete_unversioned(PyCapsule_GetPointer(object, kUnversioned));
}

typedef struct ExportArguments {
  libdl_dlpack_options options;
  bool versioned;
} ExportArguments;

static int two_integers(PyObject* pair, const char* name, int64_t* first, int64_t* second) {
  PyObject* const tuple = PySequence_Tuple(pair);
  const bool fits = tuple && PyTuple_Size(tuple) == 2 &&
                    integer(PyTuple_GetItem(tuple, 0), first) == 0 &&
                    integer(PyTuple_GetItem(tuple, 1), second) == 0;
  Py_XDECREF(tuple);
  if (fits) return 0;
  PyErr_Format(PyExc_TypeError, "__dlpack__: %s is %R, wanted two integers", name, pair);
  return -1;
}

static int read_export_arguments(PyObject* keywords, ExportArguments* arguments) {
  static char* names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  PyObject* const none = PyTuple_New(0);
  const int read = none && PyArg_ParseTupleAndKeywords(none, keywords, "|$OOOO:__dlpack__", names,
                                                       &stream, &version, &device, &copy);
  Py_XDECREF(none);
  if (!read) return -1;
  libdl_dlpack_options* const options = &arguments->options;
  if (stream != Py_None && integer(stream, &options->stream)) {
    PyErr_Format(PyExc_TypeError, "__dlpack__: stream is %R, wanted an integer", stream);
    return -1;
  }
  if (version != Py_None) {
    int64_t major, minor;
    if (two_integers(version, "max_version", &major, &minor)) return -1;
    arguments->versioned = major >= 1;
    options->max_major = (uint32_t)major;
    options->max_minor = (uint32_t)minor;
  }
  if (device != Py_None) {
    int64_t type, index;
    if (two_integers(device, "dl_device", &type, &index)) return -1;
    options->device = (libdl_device){(int32_t)type, (int32_t)index};
  }
  if (copy != Py_None) {
    const int always = PyObject_IsTrue(copy);
    if (always < 0) return -1;
    options->copy = always ? LIBDL_COPY_ALWAYS : LIBDL_COPY_NEVER;
  }
  return 0;
}

static PyObject* managed_capsule(void* managed, bool versioned) {
  PyObject* const object =
      PyCapsule_New(managed, versioned ? kVersioned : kUnversioned, end_capsule);
  if (!object) (versioned ? delete_versioned : delete_unversioned)(managed);
  return object;
}

static bool is_meta(PyObject* self) {
  return libdl_tensor_device(handle_of(self)).type == LIBDL_DEVICE_META;
}

static PyObject* to_dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  if (PyTuple_Size(args)) return PyErr_Format(PyExc_TypeError, "__dlpack__ takes keywords only");
  if (is_meta(self))
    return PyErr_Format(PyExc_BufferError, "__dlpack__: Cannot pack tensors on meta");
  ExportArguments arguments = {.options = {.struct_size = sizeof arguments.options}};
  if (keywords && read_export_arguments(keywords, &arguments)) return NULL;
  // A consumer on a device that names no stream works on the legacy default one.
  const bool on_device = libdl_tensor_device(handle_of(self)).type != LIBDL_DEVICE_CPU;
  if (on_device && !arguments.options.stream) arguments.options.stream = kLegacyStream;
  libdl_error* error;
  void* managed;
  if (arguments.versioned) {
    struct DLManagedTensorVersioned* out;
    error = libdl_tensor_to_dlpack(handle_of(self), &arguments.options, &out);
    if (!error) managed = out;
  } else {
    struct DLManagedTensor* out;
    error = libdl_tensor_to_dlpack_unversioned(handle_of(self), &arguments.options, &out);
    if (!error) managed = out;
  }
  return error ? raise_error(error) : managed_capsule(managed, arguments.versioned);
}

static PyObject* dlpack_device(PyObject* self, PyObject* unused) {
  (void)unused;
  if (is_meta(self))
    return PyErr_Format(PyExc_ValueError, "__dlpack_device__: Unknown device type meta for Dlpack");
  const libdl_device device = libdl_tensor_device(handle_of(self));
  return Py_BuildValue("(ii)", (int)device.type, (int)device.index);
}

// -- in -------------------------------------------------------------------------------------------

static PyObject* consume(PyObject* object, libdl_copy_policy copy) {
  libdl_tensor* out;
  libdl_error* error;
  if (PyCapsule_IsValid(object, kVersioned)) {
    void* const managed = PyCapsule_GetPointer(object, kVersioned);
    if (PyCapsule_SetName(object, "used_dltensor_versioned")) return NULL;
    error = libdl_tensor_from_dlpack(managed, copy, &out);
  } else if (PyCapsule_IsValid(object, kUnversioned)) {
    void* const managed = PyCapsule_GetPointer(object, kUnversioned);
    if (PyCapsule_SetName(object, "used_dltensor")) return NULL;
    error = libdl_tensor_from_dlpack_unversioned(managed, copy, &out);
  } else {
    return PyErr_Format(PyExc_ValueError,
                        "from_dlpack: the capsule holds no tensor, or was consumed before");
  }
  return error ? raise_error(error) : wrap(out);
}

static PyObject* interned(PyObject** slot, const char* text) {
  if (!*slot) *slot = PyUnicode_InternFromString(text);
  return *slot;
}

// The producer's table, or NULL where its class offers none.
static ExchangeTable* table_of(PyObject* object) {
  static PyObject* name;
  PyObject* const held =
      PyObject_GetAttr((PyObject*)Py_TYPE(object), interned(&name, "__dlpack_c_exchange_api__"));
  ExchangeTable* table = NULL;
  if (held && PyCapsule_IsValid(held, kTable)) table = PyCapsule_GetPointer(held, kTable);
  Py_XDECREF(held);  // the class keeps it, and tables are static
  PyErr_Clear();
  while (table && table->major != 1) table = table->previous;
  return table;
}

// The table exports without waiting: what is queued on our stream from now on waits for what the
// producer has queued on its own.
static libdl_error* wait_for_producer(const ExchangeTable* table, libdl_device device) {
  void *theirs, *ours;
  if (!table->current_stream || table->current_stream(device.type, device.index, &theirs)) {
    PyErr_Clear();
    theirs = NULL;
  }
  libdl_stream *stream = NULL, *current = NULL;
  libdl_event* event = NULL;
  libdl_error* error = libdl_dlpack_current_stream(device.type, device.index, &ours);
  if (error || ours == theirs) return error;
  if (!error) error = libdl_stream_wrap(&device, theirs, &stream);
  if (!error) error = libdl_stream_current(&device, &current);
  if (!error) error = libdl_event_new(&device, 0, &event);
  if (!error) error = libdl_event_record(event, stream);
  if (!error) error = libdl_stream_wait(current, event);
  libdl_event_release(event);
  libdl_stream_release(current);
  libdl_stream_release(stream);
  return error;
}

static PyObject* from_table(const ExchangeTable* table, PyObject* object, libdl_copy_policy copy) {
  void* managed;
  if (table->from_object(object, &managed)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_BufferError, "from_dlpack: the export failed");
    return NULL;
  }
  libdl_tensor* out;
  libdl_error* error = libdl_tensor_from_dlpack(managed, copy, &out);
  if (error) return raise_error(error);
  const libdl_device device = libdl_tensor_device(out);
  if (device.type != LIBDL_DEVICE_CPU && (error = wait_for_producer(table, device))) {
    libdl_tensor_release(out);
    return raise_error(error);
  }
  return wrap(out);
}

// The stream that the producer shall make wait, or 0 where its tensor lies on the CPU.
static int stream_for(PyObject* object, int64_t* stream) {
  *stream = 0;
  PyObject* const pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
  int type, index;
  if (!pair || !PyArg_ParseTuple(pair, "ii", &type, &index)) {
    Py_XDECREF(pair);
    PyErr_Clear();  // the export itself says what is wrong
    return 0;
  }
  Py_DECREF(pair);
  if (type != LIBDL_DEVICE_CUDA) return 0;
  void* native;
  libdl_error* const error = libdl_dlpack_current_stream(type, index, &native);
  if (error) {
    raise_error(error);
    return -1;
  }
  *stream = native ? (int64_t)(intptr_t)native : kLegacyStream;
  return 0;
}

static PyObject* export_arguments(PyObject* object, libdl_copy_policy copy) {
  static PyObject* default_keywords;
  int64_t stream;
  if (stream_for(object, &stream)) return NULL;
  const bool is_default_export = copy == LIBDL_COPY_IF_NEEDED && !stream;
  if (is_default_export && default_keywords) {
    Py_INCREF(default_keywords);
    return default_keywords;
  }
  PyObject* const keywords = Py_BuildValue("{s(ii)}", "max_version", 1, 3);
  if (keywords && copy != LIBDL_COPY_IF_NEEDED)
    PyDict_SetItemString(keywords, "copy", copy == LIBDL_COPY_ALWAYS ? Py_True : Py_False);
  if (keywords && stream) {
    PyObject* const number = PyLong_FromLongLong(stream);
    const bool set = number && PyDict_SetItemString(keywords, "stream", number) == 0;
    Py_XDECREF(number);
    if (!set) {
      Py_DECREF(keywords);
      return NULL;
    }
  }
  if (keywords && is_default_export) {
    Py_INCREF(keywords);
    default_keywords = keywords;
  }
  return keywords;
}

static PyObject* export_by_method(PyObject* object, libdl_copy_policy copy) {
  static PyObject *name, *none;
  if (!none && !(none = PyTuple_New(0))) return NULL;
  PyObject* const method = PyObject_GetAttr(object, interned(&name, "__dlpack__"));
  if (!method) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError))
      PyErr_Format(PyExc_TypeError,
                   "from_dlpack: found a %R, wanted an object with __dlpack__ or a capsule",
                   (PyObject*)Py_TYPE(object));
    return NULL;
  }
  PyObject* const keywords = export_arguments(object, copy);
  PyObject* result = keywords ? PyObject_Call(method, none, keywords) : NULL;
  if (!result && PyErr_ExceptionMatches(PyExc_TypeError)) {  // from the time before version 1
    PyErr_Clear();
    result = PyObject_Call(method, none, NULL);
  }
  Py_XDECREF(keywords);
  Py_DECREF(method);
  return result;
}

static PyObject* from_dlpack(PyObject* module, PyObject* args, PyObject* keywords) {
  (void)module;
  static char* names[] = {"x", "device", "copy", NULL};
  PyObject *object, *device = Py_None, *copy = Py_None;
  if (keywords || PyTuple_Size(args) != 1) {
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OO:from_dlpack", names, &object, &device,
                                     &copy))
      return NULL;
  } else {
    object = PyTuple_GetItem(args, 0);
  }
  libdl_copy_policy policy = LIBDL_COPY_IF_NEEDED;
  if (copy != Py_None) policy = copy == Py_True ? LIBDL_COPY_ALWAYS : LIBDL_COPY_NEVER;
  if (device != Py_None) {
    libdl_device target;
    if (device_of(device, &target))
      return PyErr_Occurred() ? NULL
                              : PyErr_Format(PyExc_TypeError, "from_dlpack: no device: %R", device);
    if (target.type != LIBDL_DEVICE_CPU)
      return PyErr_Format(PyExc_BufferError, "from_dlpack: tensors can only come to the CPU");
  }
  if (policy != LIBDL_COPY_ALWAYS) {
    PyObject* const result = from_array(object);
    if (result || PyErr_Occurred()) return result;
  }
  if (PyCapsule_CheckExact(object)) return consume(object, policy);
  const ExchangeTable* const table = table_of(object);
  if (table) return from_table(table, object, policy);
  PyObject* const exported = export_by_method(object, policy);
  PyObject* const tensor = exported ? consume(exported, policy) : NULL;
  Py_XDECREF(exported);
  return tensor;
}

// -- the table ------------------------------------------------------------------------------------

static int table_allocate(void* prototype, void** out, void* error_ctx, ReportError report) {
  libdl_error* const error =
      libdl_dlpack_allocate(prototype, (struct DLManagedTensorVersioned**)out);
  if (!error) return 0;
  if (report) {
    const bool memory = libdl_error_get_code(error) == LIBDL_ERROR_OUT_OF_MEMORY;
    report(error_ctx, memory ? "MemoryError" : "ValueError", libdl_error_get_message(error));
  }
  libdl_error_release(error);
  return -1;
}

static int status(libdl_error* error) {
  if (!error) return 0;
  raise_error(error);
  return -1;
}

static int check(PyObject* object) {
  if (is_tensor(object)) return 0;
  PyErr_Format(PyExc_TypeError, "the exchange table of libdl.Tensor was given a %R",
               (PyObject*)Py_TYPE(object));
  return -1;
}

static int table_from_object(void* object, void** out) {
  if (check(object)) return -1;
  return status(
      libdl_tensor_to_dlpack(handle_of(object), NULL, (struct DLManagedTensorVersioned**)out));
}

static int table_to_object(void* managed, void** out) {
  libdl_tensor* tensor;
  if (status(libdl_tensor_from_dlpack(managed, LIBDL_COPY_IF_NEEDED, &tensor))) return -1;
  *out = wrap(tensor);
  return *out ? 0 : -1;
}

static int table_borrow(void* object, void* dl_tensor) {
  if (check(object)) return -1;
  return status(libdl_tensor_borrow_dlpack(handle_of(object), LIBDL_ACCESS_WRITE, dl_tensor));
}

static int table_current_stream(int32_t device_type, int32_t device_id, void** out) {
  return status(libdl_dlpack_current_stream(device_type, device_id, out));
}

static ExchangeTable table = {
    1,
    3,
    NULL,
    table_allocate,
    table_from_object,
    table_to_object,
    table_borrow,
    table_current_stream,
};

LIBDL_PYTHON_SEEN(item, "item", tensor_item)
LIBDL_PYTHON_SEEN(tolist, "tolist", tensor_to_list)

static PyObject* numpy_seen(PyObject* self, PyObject* args, PyObject* keywords) {
  return is_seen(self) ? seen_call("numpy", self, args, keywords)
                       : tensor_numpy(self, args, keywords);
}

// Modes do not see these two.
static PyObject* to_dlpack_seen(PyObject* self, PyObject* args, PyObject* keywords) {
  return overrides(self) ? seen_call("__dlpack__", self, args, keywords)
                         : to_dlpack(self, args, keywords);
}

static PyObject* dlpack_device_seen(PyObject* self, PyObject* unused) {
  return overrides(self) ? seen_method("__dlpack_device__", self, NULL, 0, NULL)
                         : dlpack_device(self, unused);
}

PyMethodDef exchange_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))to_dlpack_seen, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n\n"
     "A capsule with the tensor, as DLPack defines it."},
    {"__dlpack_device__", dlpack_device_seen, METH_NOARGS, "The device as DLPack numbers it."},
    {"item", item_seen, METH_NOARGS,
     "The only element as a Python number.\n\n"
     "Example:\n"
     "    >>> torch.tensor([2.5]).item()\n"
     "    2.5\n"},
    {"tolist", tolist_seen, METH_NOARGS,
     "The elements as nested lists of Python numbers; a number for 0-d.\n\n"
     "Example:\n"
     "    >>> torch.tensor([[1, 2], [3, 4]]).tolist()\n"
     "    [[1, 2], [3, 4]]\n"},
    {"numpy", (PyCFunction)(void (*)(void))numpy_seen, METH_VARARGS | METH_KEYWORDS,
     "numpy(*, force=False)\n\n"
     "A NumPy array over the same memory.\n\n"
     "Example:\n"
     "    >>> x = torch.tensor([1, 2])\n"
     "    >>> array = x.numpy()\n"
     "    >>> array += 10\n"
     "    >>> x\n"
     "    tensor([11, 12])\n"},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"from_dlpack", (PyCFunction)(void (*)(void))from_dlpack, METH_VARARGS | METH_KEYWORDS,
     "from_dlpack(x, /, *, device=None, copy=None)\n\n"
     "A tensor over the memory of another library's tensor.\n\n"
     "Arguments:\n    x: any object with __dlpack__, or a capsule\n"
     "    device: where the tensor is wanted\n"
     "    copy: True: always copy; False: never; None: where it is needed\n"},
    {"from_numpy", from_numpy, METH_O,
     "from_numpy(array)\n\n"
     "A tensor over a NumPy array's memory: writing one writes the other.\n\n"
     "Example:\n"
     "    >>> import numpy\n"
     "    >>> array = numpy.zeros(2)\n"
     "    >>> torch.from_numpy(array).fill_(7)\n"
     "    tensor([7., 7.], dtype=libdl.float64)\n"
     "    >>> array\n"
     "    array([7., 7.])\n"},
    {"from_buffer", from_buffer, METH_O, "A tensor over an object's buffer."},
    {NULL, NULL, 0, NULL},
};

int add_exchange(PyObject* module) {
  PyObject* const capsule_of_table = PyCapsule_New(&table, kTable, NULL);
  if (!capsule_of_table) return -1;
  const int failed =
      PyObject_SetAttrString((PyObject*)tensor_type, "__dlpack_c_exchange_api__", capsule_of_table);
  Py_DECREF(capsule_of_table);
  return failed ? -1 : PyModule_AddFunctions(module, functions);
}
