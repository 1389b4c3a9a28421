// SPDX-License-Identifier: Apache-2.0

// Python's door to the profiler: a record's events as tuples. libdl/profiler makes them readable.
#include <libdl/profiler.h>

#include "objects.h"

// -- the events -----------------------------------------------------------------------------------

// The entry at *at of what libdl_profiler_event.shapes describes: (dtype's number, size, ...), a
// list of entries, or None.
static PyObject* entry_object(const int64_t* shapes, int64_t* at) {
  const int64_t dims = shapes[(*at)++];
  if (dims == -1) Py_RETURN_NONE;
  const int64_t count = dims == -2 ? shapes[(*at)++] : dims + 1;
  PyObject* const result =
      dims == -2 ? PyList_New((Py_ssize_t)count) : PyTuple_New((Py_ssize_t)count);
  for (int64_t i = 0; result && i < count; ++i) {
    PyObject* const item =
        dims == -2 ? entry_object(shapes, at) : PyLong_FromLongLong(shapes[(*at)++]);
    const int failed = !item || (dims == -2 ? PyList_SetItem(result, (Py_ssize_t)i, item)
                                            : PyTuple_SetItem(result, (Py_ssize_t)i, item));
    if (!failed) continue;
    Py_DECREF(result);
    return NULL;
  }
  return result;
}

static PyObject* entries_object(const libdl_profiler_event* event) {
  if (!event->shapes) Py_RETURN_NONE;
  PyObject* const list = PyList_New(0);
  for (int64_t at = 0; list && at < event->shape_count;) {
    PyObject* const entry = entry_object(event->shapes, &at);
    const int failed = !entry || PyList_Append(list, entry);
    Py_XDECREF(entry);
    if (!failed) continue;
    Py_DECREF(list);
    return NULL;
  }
  return list;
}

// (kind, name, source, phase, start, end, parent, allocated, live, conversions, failed, entries,
// how many of them are arguments, thread)
static libdl_error* append_event(void* ctx, const libdl_profiler_event* event) {
  const Callback callback = begin_callback();
  PyObject* const entries = entries_object(event);
  PyObject* const result =
      entries ? Py_BuildValue("(isziLLLLLLONLL)", (int)event->kind, event->name, event->source,
                              (int)event->phase, (long long)event->start, (long long)event->end,
                              (long long)event->parent, (long long)event->allocated,
                              (long long)event->live, (long long)event->conversions,
                              event->failed ? Py_True : Py_False, entries,
                              (long long)event->argument_count, (long long)event->thread)
              : NULL;
  const int failed = !result || PyList_Append(ctx, result);
  Py_XDECREF(result);
  libdl_error* const error = failed ? take_exception() : NULL;
  end_callback(callback);
  return error;
}

// -- the functions --------------------------------------------------------------------------------

// profiler_start(with shapes, of all threads)
static PyObject* profiler_start(PyObject* module, PyObject* args) {
  (void)module;
  int with_shapes, all_threads;
  if (!PyArg_ParseTuple(args, "pp", &with_shapes, &all_threads)) return NULL;
  libdl_profiler_options options = {.struct_size = sizeof options};
  if (with_shapes) options.recorded |= LIBDL_PROFILER_SHAPES;
  if (all_threads) options.recorded |= LIBDL_PROFILER_ALL_THREADS;
  libdl_error* const error = libdl_profiler_start(&options);
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

static PyObject* profiler_stop(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  PyObject* const events = PyList_New(0);
  if (!events) return NULL;
  libdl_error* const error = libdl_profiler_stop(append_event, events, NULL);
  if (!error) return events;
  Py_DECREF(events);
  return raise_error(error);
}

static PyObject* profiler_count(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  return PyLong_FromLongLong(libdl_profiler_count());
}

static PyObject* profiler_range_push(PyObject* module, PyObject* name) {
  (void)module;
  Py_ssize_t length;
  const char* const text = PyUnicode_AsUTF8AndSize(name, &length);
  if (!text) return NULL;
  libdl_error* const error = libdl_profiler_range_push(text, (int64_t)length);
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

static PyObject* profiler_range_pop(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  libdl_profiler_range_pop();
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"profiler_start", profiler_start, METH_VARARGS, NULL},
    {"profiler_stop", profiler_stop, METH_NOARGS, NULL},
    {"profiler_count", profiler_count, METH_NOARGS, NULL},
    {"profiler_range_push", profiler_range_push, METH_O, NULL},
    {"profiler_range_pop", profiler_range_pop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_profiler(PyObject* module) { return PyModule_AddFunctions(module, functions); }
