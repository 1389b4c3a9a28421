/* SPDX-License-Identifier: Apache-2.0 */

/* The threads that compute: their number, a host's own, and the interruption of a long operator. */
#include "check.h"

static void count_destroy(void *ctx) { ++*(int *)ctx; }

/* A large enough operator to be cut into pieces. */
static libdl_error *compute(void) {
  const int64_t count = 4000000;
  libdl_tensor *x = NULL, *y = NULL;
  libdl_error *error = libdl_empty(&count, 1, LIBDL_DTYPE_FLOAT32, NULL, &x);
  if (!error) error = libdl_exp(x, &y);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
  return error;
}

static void the_number_can_be_set(void) {
  const int32_t before = libdl_get_threads();
  int32_t number;
  CHECK(before >= 1);
  for (number = 1; number <= 4; ++number) {
    GOOD(libdl_set_threads(number));
    CHECK(libdl_get_threads() == number);
    GOOD(compute());
  }
  BAD(libdl_set_threads(0), VALUE, "set_threads: argument 1 (threads) is 0, wanted 1 to 1024");
  BAD_CODE(libdl_set_threads(LIBDL_MAX_THREADS + 1), VALUE);
  BAD_CODE(libdl_set_threads(INT32_MIN), VALUE);
  CHECK(libdl_get_threads() == 4);
  GOOD(libdl_set_threads(before));
}

struct serial {
  int tasks, destroyed;
};
static void run_at_once(void *ctx, void (*task)(void *task_arg), void *task_arg) {
  ++((struct serial *)ctx)->tasks;
  task(task_arg);
}
static void end_serial(void *ctx) { ++((struct serial *)ctx)->destroyed; }

static void the_host_may_bring_its_own(void) {
  const int32_t before = libdl_get_threads();
  struct serial serial = {0, 0};
  libdl_executor executor;
  memset(&executor, 0, sizeof executor);
  executor.ctx = &serial;
  executor.destroy = end_serial;
  BAD_CODE(libdl_set_executor(&executor), OPTION);
  CHECK(serial.destroyed == 0); /* a struct of no size has no destroy */
  executor.struct_size = sizeof executor;
  BAD(libdl_set_executor(&executor), NULL,
      "set_executor: argument 1 (executor) has no run, wanted a function");
  executor.run = run_at_once;
  BAD(libdl_set_executor(&executor), VALUE,
      "set_executor: argument 1 (executor) has concurrency 0, wanted 1 or more");
  CHECK(serial.destroyed == 2);

  executor.concurrency = 3;
  GOOD(libdl_set_executor(&executor));
  CHECK(libdl_get_threads() == 3);
  GOOD(compute());
  CHECK(serial.tasks == 2);
  GOOD(libdl_set_executor(NULL));
  CHECK(serial.destroyed == 3);
  CHECK(libdl_get_threads() == before);
}

static int32_t times_asked = 0;
static int32_t stop_at_second(void *ctx) {
  (void)ctx;
  return ++times_asked == 2;
}

static void a_long_operator_can_be_ended(void) {
  const int32_t before = libdl_get_threads();
  int destroyed = 0;
  GOOD(libdl_set_threads(1)); /* nobody else may finish the work before the hook is asked */
  GOOD(libdl_set_interruption(stop_at_second, &destroyed, count_destroy));
  BAD_CODE(compute(), INTERRUPTED);
  CHECK(times_asked == 2);
  GOOD(compute()); /* the hook now says no */
  CHECK(destroyed == 0);
  GOOD(libdl_set_interruption(NULL, NULL, NULL));
  CHECK(destroyed == 1);
  GOOD(libdl_set_interruption(NULL, &destroyed, count_destroy));
  CHECK(destroyed == 2);
  GOOD(libdl_set_threads(before));
}

static void an_interrupted_write_raises_the_version(void) {
  const int32_t before = libdl_get_threads();
  const int64_t count = 4000000;
  libdl_op exp_op;
  libdl_tensor *x = NULL;
  libdl_value argument;
  uint64_t version;
  GOOD(libdl_op_find("exp", -1, &exp_op));
  GOOD(libdl_set_threads(1));
  GOOD(libdl_ones(&count, 1, LIBDL_DTYPE_FLOAT32, NULL, &x));
  GOOD(libdl_set_interruption(stop_at_second, NULL, NULL));
  version = libdl_tensor_version(x);
  times_asked = 0;
  libdl_error *const error = libdl_exp_into(x, x);
  CHECK(strcmp(libdl_error_get_operator(error), "exp") == 0);
  BAD(error, INTERRUPTED, "exp: interrupted by the host; what was to be written is undefined");
  CHECK(libdl_tensor_version(x) > version);

  version = libdl_tensor_version(x);
  times_asked = 0;
  memset(&argument, 0, sizeof argument);
  argument.type = LIBDL_VALUE_TENSOR;
  argument.held.tensor = x;
  BAD_CODE(libdl_op_call_into(exp_op, &argument, 1, &x, 1), INTERRUPTED);
  CHECK(libdl_tensor_version(x) > version);
  GOOD(libdl_set_interruption(NULL, NULL, NULL));
  GOOD(libdl_set_threads(before));
  libdl_tensor_release(x);
}

int main(void) {
  the_number_can_be_set();
  the_host_may_bring_its_own();
  a_long_operator_can_be_ended();
  an_interrupted_write_raises_the_version();
  return failures != 0;
}
