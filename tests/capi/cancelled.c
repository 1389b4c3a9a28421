/* SPDX-License-Identifier: Apache-2.0 */

/* A thread that is cancelled inside the library ends once the call has returned: no file is left
 * half written, no lock held, and the process lives. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "tensors.h"

/* -- calls that a cancellation meets ------------------------------------------------------------
 */

static char path[256];

static void save(void) {
  libdl_tensor *const x = filled(1, 4);
  const char *const name = "x";
  GOOD(libdl_file_save(path, -1, &name, (const libdl_tensor *const *)&x, 1, NULL, NULL, 0));
  libdl_tensor_release(x);
}

static void open_and_read(void) {
  libdl_file *file;
  libdl_tensor *x;
  GOOD(libdl_file_open(path, -1, NULL, &file));
  GOOD(libdl_file_tensor(file, 0, &x));
  libdl_file_release(file);
  libdl_tensor_release(x);
}

/* Host code with a point of cancellation of its own, called from inside the library. */
static void wait_a_little(void) { usleep(1); }

static libdl_error *hook(void *ctx, libdl_tensor **gradients, int64_t count,
                         libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  wait_a_little();
  return NULL;
}
static void pass(void) {
  libdl_tensor *const x = filled(1, 4), *y;
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  libdl_hook *added;
  GOOD(libdl_tensor_add_hook(x, LIBDL_HOOK_TENSOR, hook, NULL, NULL, &added));
  libdl_hook_release(added);
  GOOD(libdl_sum(x, NULL, 0, 0, LIBDL_DTYPE_NONE, &y));
  GOOD(libdl_backward((const libdl_tensor *const *)&y, 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor_release(x), libdl_tensor_release(y);
}

static libdl_error *look_on(void *ctx, libdl_op op, const libdl_value *arguments,
                            int32_t argument_count, libdl_tensor *const *dsts, libdl_value *results,
                            int32_t result_count, libdl_bool *handled) {
  (void)ctx, (void)op, (void)arguments, (void)argument_count, (void)dsts, (void)results;
  (void)result_count, (void)handled;
  wait_a_little();
  return NULL;
}
static void intercepted(void) {
  libdl_tensor *const x = filled(1, 4), *y;
  GOOD(libdl_interceptor_push(look_on, NULL, NULL));
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_interceptor_pop());
  libdl_tensor_release(x), libdl_tensor_release(y);
}

static void destroy(void *ctx) {
  (void)ctx;
  wait_a_little();
}
static void released(void) {
  double value = 1;
  libdl_tensor *x;
  GOOD(libdl_tensor_from_memory(&value, sizeof value, NULL, 0, NULL, 0, 0, LIBDL_DTYPE_FLOAT64, 0,
                                NULL, destroy, &x));
  libdl_tensor_release(x);
}

/* -- the cancellation ---------------------------------------------------------------------------
 */

struct thread {
  void (*call)(void);
  int returned; /* the call, before the thread ended */
};

static void *run(void *given) {
  struct thread *const thread = given;
  pthread_cancel(pthread_self()); /* it comes at the next point of cancellation */
  thread->call();
  thread->returned = 1;
  pthread_testcancel();
  return NULL;
}

static void cancel_in(const char *name, void (*call)(void)) {
  struct thread thread = {call, 0};
  pthread_t id;
  void *end = NULL;
  CHECK(pthread_create(&id, NULL, run, &thread) == 0);
  CHECK(pthread_join(id, &end) == 0);
  if (thread.returned && end == PTHREAD_CANCELED) return;
  fprintf(stderr, "%s: the call %s, and the thread %s\n", name,
          thread.returned ? "returned" : "did not return",
          end == PTHREAD_CANCELED ? "was cancelled" : "went on");
  ++failures;
}

int main(void) {
  const char *const folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/libdl_cancelled_%d.safetensors", folder ? folder : "/tmp",
           (int)getpid());
  cancel_in("file_save", save);
  cancel_in("file_open", open_and_read);
  cancel_in("a hook", pass);
  cancel_in("an interceptor", intercepted);
  cancel_in("a destroy", released);
  open_and_read();
  remove(path);
  return failures != 0;
}
