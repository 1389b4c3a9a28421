// SPDX-License-Identifier: Apache-2.0

// Streams and events, which Python holds in capsules; libdl/_streams.py makes classes of them.
#include <libdl/stream.h>

#include "objects.h"

static const char kStream[] = "libdl_stream", kEvent[] = "libdl_event";

static PyObject* stream_capsule(libdl_stream* stream) {
  return capsule(stream, kStream, (void (*)(void*))libdl_stream_release);
}
static PyObject* none_or(libdl_error* error) {
  if (error) return raise_error(error);
  Py_RETURN_NONE;
}

// -- streams --------------------------------------------------------------------------------------

static PyObject* stream_new(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* where;
  int priority;
  libdl_device device;
  libdl_stream* stream;
  if (!PyArg_ParseTuple(args, "Oi", &where, &priority) || device_of(where, &device)) return NULL;
  libdl_error* const error = libdl_stream_new(&device, priority, &stream);
  return error ? raise_error(error) : stream_capsule(stream);
}

// A stream that the device has already.
static PyObject* stream_of(PyObject* where,
                           libdl_error* (*find)(const libdl_device*, libdl_stream**)) {
  libdl_device device;
  libdl_stream* stream;
  if (device_of(where, &device)) return NULL;
  libdl_error* const error = find(&device, &stream);
  return error ? raise_error(error) : stream_capsule(stream);
}
static PyObject* stream_default(PyObject* module, PyObject* where) {
  (void)module;
  return stream_of(where, libdl_stream_default);
}
static PyObject* stream_current(PyObject* module, PyObject* where) {
  (void)module;
  return stream_of(where, libdl_stream_current);
}

static PyObject* stream_wrap(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *where, *number;
  libdl_device device;
  libdl_stream* stream;
  if (!PyArg_ParseTuple(args, "OO", &where, &number) || device_of(where, &device)) return NULL;
  void* const native = PyLong_AsVoidPtr(number);
  if (!native && PyErr_Occurred()) return NULL;
  libdl_error* const error = libdl_stream_wrap(&device, native, &stream);
  return error ? raise_error(error) : stream_capsule(stream);
}

static PyObject* stream_set_current(PyObject* module, PyObject* object) {
  (void)module;
  libdl_stream* const stream = PyCapsule_GetPointer(object, kStream);
  return stream ? none_or(libdl_stream_set_current(stream)) : NULL;
}

static PyObject* stream_device(PyObject* module, PyObject* object) {
  (void)module;
  libdl_stream* const stream = PyCapsule_GetPointer(object, kStream);
  libdl_device device;
  if (!stream) return NULL;
  libdl_error* const error = libdl_stream_get_device(stream, &device);
  return error ? raise_error(error) : device_object(device);
}

static PyObject* stream_native(PyObject* module, PyObject* object) {
  (void)module;
  libdl_stream* const stream = PyCapsule_GetPointer(object, kStream);
  void* native;
  if (!stream) return NULL;
  libdl_error* const error = libdl_stream_get_native(stream, &native);
  return error ? raise_error(error) : PyLong_FromVoidPtr(native);
}

static PyObject* stream_query(PyObject* module, PyObject* object) {
  (void)module;
  libdl_stream* const stream = PyCapsule_GetPointer(object, kStream);
  libdl_bool done;
  if (!stream) return NULL;
  libdl_error* const error = libdl_stream_query(stream, &done);
  return error ? raise_error(error) : PyBool_FromLong(done);
}

static PyObject* stream_synchronize(PyObject* module, PyObject* object) {
  (void)module;
  libdl_stream* const stream = PyCapsule_GetPointer(object, kStream);
  libdl_error* error;
  if (!stream) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  error = libdl_stream_synchronize(stream);
  Py_END_ALLOW_THREADS;
  return none_or(error);
}

static PyObject* stream_wait(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
  libdl_stream* const stream = PyCapsule_GetPointer(first, kStream);
  libdl_event* const event = stream ? PyCapsule_GetPointer(second, kEvent) : NULL;
  return event ? none_or(libdl_stream_wait(stream, event)) : NULL;
}

// -- events ---------------------------------------------------------------------------------------

static PyObject* event_new(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* where;
  int timing;
  libdl_device device;
  libdl_event* event;
  if (!PyArg_ParseTuple(args, "Op", &where, &timing) || device_of(where, &device)) return NULL;
  libdl_error* const error = libdl_event_new(&device, (libdl_bool)timing, &event);
  if (error) return raise_error(error);
  return capsule(event, kEvent, (void (*)(void*))libdl_event_release);
}

static PyObject* event_record(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
  libdl_event* const event = PyCapsule_GetPointer(first, kEvent);
  libdl_stream* const stream = event ? PyCapsule_GetPointer(second, kStream) : NULL;
  return stream ? none_or(libdl_event_record(event, stream)) : NULL;
}

static PyObject* event_query(PyObject* module, PyObject* object) {
  (void)module;
  libdl_event* const event = PyCapsule_GetPointer(object, kEvent);
  libdl_bool done;
  if (!event) return NULL;
  libdl_error* const error = libdl_event_query(event, &done);
  return error ? raise_error(error) : PyBool_FromLong(done);
}

static PyObject* event_synchronize(PyObject* module, PyObject* object) {
  (void)module;
  libdl_event* const event = PyCapsule_GetPointer(object, kEvent);
  libdl_error* error;
  if (!event) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  error = libdl_event_synchronize(event);
  Py_END_ALLOW_THREADS;
  return none_or(error);
}

static PyObject* event_elapsed(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *first, *second;
  double milliseconds;
  if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
  libdl_event* const start = PyCapsule_GetPointer(first, kEvent);
  libdl_event* const end = start ? PyCapsule_GetPointer(second, kEvent) : NULL;
  if (!end) return NULL;
  libdl_error* const error = libdl_event_elapsed(start, end, &milliseconds);
  return error ? raise_error(error) : PyFloat_FromDouble(milliseconds);
}

static PyMethodDef functions[] = {
    {"stream_new", stream_new, METH_VARARGS, "stream_new(device, priority)"},
    {"stream_default", stream_default, METH_O, "stream_default(device)"},
    {"stream_current", stream_current, METH_O, "stream_current(device)"},
    {"stream_wrap", stream_wrap, METH_VARARGS, "stream_wrap(device, native)"},
    {"stream_set_current", stream_set_current, METH_O, NULL},
    {"stream_device", stream_device, METH_O, NULL},
    {"stream_native", stream_native, METH_O, NULL},
    {"stream_query", stream_query, METH_O, NULL},
    {"stream_synchronize", stream_synchronize, METH_O, NULL},
    {"stream_wait", stream_wait, METH_VARARGS, "stream_wait(stream, event)"},
    {"event_new", event_new, METH_VARARGS, "event_new(device, timing)"},
    {"event_record", event_record, METH_VARARGS, "event_record(event, stream)"},
    {"event_query", event_query, METH_O, NULL},
    {"event_synchronize", event_synchronize, METH_O, NULL},
    {"event_elapsed", event_elapsed, METH_VARARGS, "event_elapsed(first, second)"},
    {NULL, NULL, 0, NULL},
};

int add_streams(PyObject* module) { return PyModule_AddFunctions(module, functions); }
