// SPDX-License-Identifier: Apache-2.0

// What Python raises while an operator is at work, by Ctrl-C or by a filter of warnings: it is kept
// until the call has ended.
#define _GNU_SOURCE  // CLOCK_MONOTONIC_COARSE: a clock that costs 5 ns
#include <libdl/state.h>
#include <libdl/threads.h>
#include <time.h>

#include "objects.h"

// -- Ctrl-C ---------------------------------------------------------------------------------------

static unsigned long main_thread;
static PyObject *interrupted_type, *interrupted_value, *interrupted_traceback;

static bool checked_lately(void) {
  static struct timespec last;  // only the main thread comes here
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const long long passed = (now.tv_sec - last.tv_sec) * 1000000000LL + now.tv_nsec - last.tv_nsec;
  if (passed < 20 * 1000000LL) return true;
  last = now;
  return false;
}

// Signal handlers of Python run on the main thread only.
static int32_t ask(void* ctx) {
  (void)ctx;
  if (PyThread_get_thread_ident() != main_thread || checked_lately()) return 0;
  const PyGILState_STATE gil = PyGILState_Ensure();
  int32_t stop = 0;
  if (!PyErr_Occurred() && PyErr_CheckSignals()) {
    stop = 1;
    PyErr_Fetch(&interrupted_type, &interrupted_value, &interrupted_traceback);
  }
  PyGILState_Release(gil);
  return stop;
}

bool restore_interruption(void) {
  if (!interrupted_type) return false;
  PyErr_Restore(interrupted_type, interrupted_value, interrupted_traceback);
  interrupted_type = interrupted_value = interrupted_traceback = NULL;
  return true;
}

// -- warnings -------------------------------------------------------------------------------------

PyObject* pending_warning;
static unsigned long warned_thread;

static void warn(void* ctx, libdl_warning_code code, const char* message) {
  (void)ctx;
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* const done =
      registered.warn ? PyObject_CallFunction(registered.warn, "is", (int)code, message) : NULL;
  Py_XDECREF(done);
  if (PyErr_Occurred() && !pending_warning) {
    PyObject *kind, *exception, *trace;
    PyErr_Fetch(&kind, &exception, &trace);
    PyErr_NormalizeException(&kind, &exception, &trace);
    Py_XDECREF(kind);
    Py_XDECREF(trace);
    pending_warning = exception;
    warned_thread = PyThread_get_thread_ident();
  }
  PyErr_Restore(type, value, traceback);
  PyGILState_Release(gil);
}

bool raise_warning(void) {
  if (!pending_warning || warned_thread != PyThread_get_thread_ident()) return false;
  PyObject* const exception = pending_warning;
  pending_warning = NULL;
  PyErr_SetObject((PyObject*)Py_TYPE(exception), exception);
  Py_DECREF(exception);
  return true;
}

libdl_error* intercept_calls(void) {
  main_thread = PyThread_get_thread_ident();
  libdl_error* const error = libdl_set_interruption(ask, NULL, NULL);
  return error ? error : libdl_set_warning_handler(warn, NULL, NULL);
}
