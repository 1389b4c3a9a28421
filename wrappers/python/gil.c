// SPDX-License-Identifier: Apache-2.0

// Work without the GIL. Other threads run Python then, and may ask for what that work must not
// meet: `p.data = q` frees the memory of p, which an operator without the GIL may be reading.
#include <pthread.h>
#include <time.h>

#include "objects.h"

static long at_work;             // threads without the GIL; read and written with it
static long waiting;             // threads in await_work()
static _Thread_local bool away;  // this thread is one of at_work

static void forget_parent(void) {  // a child of fork has one thread, which has the GIL
  at_work = away ? 1 : 0;
  waiting = 0;
}

PyThreadState* leave_python(void) {
  if (waiting) return NULL;  // this call keeps the GIL, so that the waiting ends
  ++at_work;
  away = true;
  return PyEval_SaveThread();
}

PyThreadState* leave_python_for(const libdl_tensor* x) {
  return libdl_tensor_device(x).type == LIBDL_DEVICE_CPU ? NULL : leave_python();
}

void enter_python(PyThreadState* thread) {
  if (!thread) return;
  PyEval_RestoreThread(thread);
  away = false;
  --at_work;
}

static void sleep_for(long nanoseconds) {
  Py_BEGIN_ALLOW_THREADS;
  const struct timespec time = {0, nanoseconds};
  nanosleep(&time, NULL);
  Py_END_ALLOW_THREADS;
}

void await_work(void) {
  long nanoseconds = 10000;
  ++waiting;
  while (at_work > away) {  // but for this thread, in a callback of its own work
    sleep_for(nanoseconds);
    if (nanoseconds < 1000000) nanoseconds *= 2;
  }
  --waiting;
}

Callback begin_callback(void) {
  const Callback callback = {PyGILState_Ensure(), away};
  if (away) --at_work;
  away = false;
  return callback;
}

void end_callback(Callback callback) {
  while (callback.away && waiting) sleep_for(10000);
  if (callback.away) ++at_work;
  away = callback.away;
  PyGILState_Release(callback.gil);
}

int add_gil(void) { return pthread_atfork(NULL, NULL, forget_parent) ? -1 : 0; }
