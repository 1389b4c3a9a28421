/* SPDX-License-Identifier: Apache-2.0 */

/* A process that forks computes on in both halves: before libdl was used, while its threads sleep
 * or still spin, inside an operator, and during a backward pass, and from there a second time. The
 * child's numbers are the parent's, to the bit. */
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { kSize = 400 }; /* large enough for a product, a sum and a copy on all threads */

static double known[2]; /* what train() gives */
static pid_t child = -1;
static int forks_in_child;

/* A step through the pool, the allocator and the engine: its loss and a value of its gradient. */
static void train(double result[2]) {
  const int64_t shape[] = {kSize, kSize};
  const libdl_tensor *outputs[1];
  libdl_tensor *x = NULL, *w = NULL, *y = NULL, *z = NULL, *loss = NULL, *grad = NULL, *sum = NULL;
  libdl_generator *generator = NULL;
  GOOD(libdl_generator_new(5, &generator));
  GOOD(libdl_randn(shape, 2, generator, LIBDL_DTYPE_FLOAT64, NULL, &x));
  GOOD(libdl_randn(shape, 2, generator, LIBDL_DTYPE_FLOAT64, NULL, &w));
  GOOD(libdl_tensor_set_requires_grad(w, 1));
  GOOD(libdl_matmul(x, w, &y));
  GOOD(libdl_tanh(y, &z));
  GOOD(libdl_sum(z, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  outputs[0] = loss;
  GOOD(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
  grad = libdl_tensor_grad(w);
  GOOD(libdl_sum(grad, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  GOOD(libdl_item_f64(loss, &result[0]));
  GOOD(libdl_item_f64(sum, &result[1]));
  libdl_tensor *const all[] = {x, w, y, z, loss, grad, sum};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
  libdl_generator_release(generator);
}
static int trains_as_known(void) {
  double result[2];
  train(result);
  return memcmp(result, known, sizeof known) == 0;
}

/* In the child. Never returns. */
static void work_and_end(void) {
  alarm(60); /* a lock that a lost thread holds would be waited for */
  if (!trains_as_known()) _exit(1);
  const pid_t second = fork(); /* now it has threads of its own */
  if (second == 0) _exit(trains_as_known() ? 0 : 2);
  int status = -1;
  waitpid(second, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}
static void child_ends_well(const char *where) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "the child of a fork %s ended with status %d\n", where, status);
    ++failures;
  }
}

static void before_the_first_use(void) {
  int result[2];
  CHECK(pipe(result) == 0);
  child = fork();
  if (child == 0) {
    double first[2];
    alarm(60);
    train(first);
    _exit(write(result[1], first, sizeof first) == sizeof first ? 0 : 1);
  }
  child_ends_well("before the first use");
  CHECK(read(result[0], known, sizeof known) == sizeof known);
  CHECK(trains_as_known());
  close(result[0]);
  close(result[1]);
}

static void between_operators(void) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  for (int i = 0; i < 10; ++i) {
    if (i % 2) nanosleep(&pause, NULL); /* else the threads still spin */
    child = fork();
    if (child == 0) work_and_end();
    child_ends_well("between operators");
    CHECK(trains_as_known());
  }
}

static int32_t fork_when_asked(void *ctx) {
  (void)ctx;
  if (child == -1) child = fork();
  if (child == 0 && forks_in_child++ == 0) alarm(60);
  return 0;
}
/* The operator goes on in both: in the child with what its own thread and new ones compute, or with
 * the error that says it was cut off. */
static void inside_an_operator(void) {
  const int64_t count = 8000000;
  libdl_tensor *x = NULL, *y = NULL;
  libdl_error *error = NULL;
  GOOD(libdl_ones(&count, 1, LIBDL_DTYPE_FLOAT32, NULL, &x));
  child = -1;
  GOOD(libdl_set_interruption(fork_when_asked, NULL, NULL));
  /* An operator that the other threads end while this one waits for a processor asks nobody. */
  for (int i = 0; i < 1000 && child == -1 && !error; ++i) {
    libdl_tensor_release(y);
    y = NULL;
    error = libdl_exp(x, &y);
  }
  GOOD(libdl_set_interruption(NULL, NULL, NULL));
  if (child == 0) {
    if (error && libdl_error_get_code(error) != LIBDL_ERROR_INTERRUPTED) _exit(4);
    work_and_end();
  }
  GOOD(error);
  CHECK(child > 0);
  child_ends_well("inside an operator");
  CHECK(trains_as_known());
  libdl_tensor_release(x);
  libdl_tensor_release(y);
}

static libdl_error *fork_in_hook(void *ctx, libdl_tensor **gradients, int64_t count,
                                 libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  child = fork();
  if (child == 0) alarm(60);
  return NULL;
}
/* The pass goes on in both. */
static void during_backward(void) {
  const int64_t shape[] = {kSize, kSize};
  const libdl_tensor *outputs[1];
  double got[kSize];
  libdl_tensor *x = NULL, *y = NULL, *z = NULL, *loss = NULL, *grad = NULL, *row = NULL;
  libdl_hook *hook = NULL;
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &x));
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  GOOD(libdl_matmul(x, x, &y));
  GOOD(libdl_matmul(y, x, &z));
  GOOD(libdl_tensor_add_hook(y, LIBDL_HOOK_TENSOR, fork_in_hook, NULL, NULL, &hook));
  GOOD(libdl_sum(z, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  outputs[0] = loss;
  GOOD(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
  grad = libdl_tensor_grad(x);
  GOOD(libdl_select(grad, 0, 7, &row));
  GOOD(libdl_tensor_copy_out(row, got, sizeof got));
  for (int i = 0; i < kSize; ++i) CHECK(got[i] == 3.0 * kSize * kSize);
  if (child == 0) {
    if (failures) _exit(5);
    work_and_end();
  }
  child_ends_well("during backward");
  CHECK(trains_as_known());
  libdl_tensor *const all[] = {x, y, z, loss, grad, row};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
  libdl_hook_release(hook);
}

int main(void) {
  before_the_first_use();
  for (int32_t threads = 1; threads <= 3; ++threads) {
    GOOD(libdl_set_threads(threads));
    CHECK(trains_as_known());
    between_operators();
    inside_an_operator();
    during_backward();
  }
  return failures != 0;
}
