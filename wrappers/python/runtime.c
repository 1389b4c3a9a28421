// SPDX-License-Identifier: Apache-2.0

// The library asks the interpreter which line is running; and what it tells about itself.
#include <libdl/autograd.h>
#include <libdl/memory.h>
#include <libdl/text.h>

#include "objects.h"

// -- the running line -----------------------------------------------------------------------------

static PyObject* code_path(PyObject* frame) {
  PyObject* const code = PyObject_GetAttrString(frame, "f_code");
  PyObject* const path = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
  Py_XDECREF(code);
  return path;
}

static bool is_own(PyObject* path) {
  const char* const text = PyUnicode_AsUTF8AndSize(path, NULL);
  return text && strstr(text, "/libdl/_") != NULL;
}

static void write_site(PyObject* frame, PyObject* path, char* buffer, int64_t capacity) {
  PyObject* const line = PyObject_GetAttrString(frame, "f_lineno");
  PyObject* const text = line ? PyUnicode_FromFormat("%U:%S", path, line) : NULL;
  Py_ssize_t length = 0;
  const char* const bytes = text ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
  if (bytes && capacity > 0) {
    if (length > capacity - 1) length = (Py_ssize_t)capacity - 1;
    memcpy(buffer, bytes, (size_t)length);
    buffer[length] = 0;
  }
  Py_XDECREF(line);
  Py_XDECREF(text);
}

static void tell_site(void* ctx, char* buffer, int64_t capacity) {
  (void)ctx;
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* frame = (PyObject*)PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame && frame != Py_None) {
    PyObject* const path = code_path(frame);
    if (path && !is_own(path)) {
      write_site(frame, path, buffer, capacity);
      Py_DECREF(path);
      break;
    }
    Py_XDECREF(path);
    PyObject* const outer = PyObject_GetAttrString(frame, "f_back");
    Py_DECREF(frame);
    frame = outer;
  }
  Py_XDECREF(frame);
  PyErr_Clear();
  PyGILState_Release(gil);
}

static PyObject* install_site_hook(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  libdl_error* const error = libdl_set_site_hook(tell_site, NULL, NULL);
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

// -- forward mode, statistics ---------------------------------------------------------------------

static PyObject* forward_enter(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  int32_t level;
  libdl_error* const error = libdl_forward_enter(&level);
  return error ? raise_error(error) : PyLong_FromLong(level);
}

// forward_unpack_dual(tensor, identity of a level = 0: the innermost)
static PyObject* forward_unpack_dual(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* tensor;
  unsigned long long level = 0;
  if (!PyArg_ParseTuple(args, "O|K:unpack_dual", &tensor, &level)) return NULL;
  if (!is_tensor(tensor)) return PyErr_Format(PyExc_TypeError, "unpack_dual: wanted a tensor");
  libdl_tensor *primal, *tangent;
  libdl_error* const error =
      level ? libdl_forward_unpack_dual_at(handle_of(tensor), level, &primal, &tangent)
            : libdl_forward_unpack_dual(handle_of(tensor), &primal, &tangent);
  if (error) return raise_error(error);
  PyObject* const first = wrap(primal);
  PyObject* const second = wrap_optional(tangent);
  return Py_BuildValue("(NN)", first, second);
}

// live(): tensors, storages, nodes and bytes alive in the process
static PyObject* live(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  int64_t tensors, storages, nodes, bytes;
  libdl_memory_get_live(&tensors, &storages, &nodes, &bytes);
  return Py_BuildValue("(LLLL)", (long long)tensors, (long long)storages, (long long)nodes,
                       (long long)bytes);
}

// memory_statistics(device=None): the counters of a device's allocator
static PyObject* memory_statistics(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* where = Py_None;
  libdl_device device;
  if (!PyArg_ParseTuple(args, "|O", &where)) return NULL;
  if (where != Py_None && device_of(where, &device) < 0) return NULL;
  libdl_memory_statistics s = {.struct_size = sizeof s};
  libdl_error* const error = libdl_memory_get_statistics(where == Py_None ? NULL : &device, &s);
  if (error) return raise_error(error);
  return Py_BuildValue("{sLsLsLsLsLsLsLsLsLsLsLsLsL}", "allocated", (long long)s.allocated,
                       "active", (long long)s.active, "reserved", (long long)s.reserved,
                       "peak_allocated", (long long)s.peak_allocated, "peak_reserved",
                       (long long)s.peak_reserved, "allocations", (long long)s.allocations, "frees",
                       (long long)s.frees, "segments", (long long)s.segments, "trims",
                       (long long)s.trims, "out_of_memory", (long long)s.out_of_memory, "limit",
                       (long long)s.limit, "small_allocated", (long long)s.small_allocated,
                       "packed", (long long)s.packed);
}

// tensor_to_string(tensor, precision, threshold, edgeitems, linewidth, sci_mode)
static PyObject* tensor_to_string(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* tensor;
  int precision, mode;
  long long threshold, edgeitems, linewidth;
  if (!PyArg_ParseTuple(args, "O!iLLLi", tensor_type, &tensor, &precision, &threshold, &edgeitems,
                        &linewidth, &mode))
    return NULL;
  libdl_print_options options = {.struct_size = sizeof options};
  options.precision = precision;
  options.threshold = threshold;
  options.edgeitems = edgeitems;
  options.linewidth = linewidth;
  options.sci_mode = mode;
  libdl_text* text;
  libdl_error* const error = libdl_tensor_to_string(handle_of(tensor), &options, &text);
  if (error) return raise_error(error);
  PyObject* const result =
      PyUnicode_FromStringAndSize(libdl_text_data(text), (Py_ssize_t)libdl_text_length(text));
  libdl_text_release(text);
  return result;
}

// device_properties(device): name, total and free memory, processors, (major, minor)
static PyObject* device_properties(PyObject* module, PyObject* where) {
  (void)module;
  libdl_device device;
  if (device_of(where, &device) < 0) return NULL;
  libdl_device_properties p = {.struct_size = sizeof p};
  libdl_error* const error = libdl_device_get_properties(&device, &p);
  if (error) return raise_error(error);
  return Py_BuildValue("(sLLi(ii))", p.name, (long long)p.total_memory, (long long)p.free_memory,
                       (int)p.processors, (int)p.capability_major, (int)p.capability_minor);
}

static PyMethodDef functions[] = {
    {"install_site_hook", install_site_hook, METH_NOARGS, NULL},
    {"forward_enter", forward_enter, METH_NOARGS, NULL},
    {"forward_unpack_dual", forward_unpack_dual, METH_VARARGS, NULL},
    {"live", live, METH_NOARGS, NULL},
    {"memory_statistics", memory_statistics, METH_VARARGS, NULL},
    {"tensor_to_string", tensor_to_string, METH_VARARGS, NULL},
    {"device_properties", device_properties, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int add_runtime(PyObject* module) {
  libdl_error* const error = intercept_calls();
  if (error) {
    raise_error(error);
    return -1;
  }
  return PyModule_AddFunctions(module, functions);
}
