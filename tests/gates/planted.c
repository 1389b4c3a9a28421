/* SPDX-License-Identifier: Apache-2.0 */

/* Planted errors, one a run: a sanitizer that reports none of them watches nothing. The name of the
 * error is the argument; tests/gates/sanitize says what has to be reported. */
#include <libdl/libdl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(libdl_error *error) {
  if (!error) return;
  fprintf(stderr, "planted: %s\n", libdl_error_get_message(error));
  exit(3);
}

static libdl_tensor *floats(int64_t count) {
  libdl_tensor *x = NULL;
  must(libdl_zeros(&count, 1, LIBDL_DTYPE_FLOAT32, NULL, &x));
  return x;
}

static volatile float *bytes_of(const libdl_tensor *x) {
  void *data = NULL;
  must(libdl_tensor_data(x, LIBDL_ACCESS_WRITE, &data));
  return (volatile float *)data;
}

/* -- address ---------------------------------------------------------------------------------- */

static void read_after_release(int64_t count) {
  libdl_tensor *x = floats(count);
  volatile float *const data = bytes_of(x);
  libdl_tensor_release(x);
  printf("%f\n", data[0]);
}
static void freed_storage(void) { read_after_release(100000); }
static void freed_block(void) { read_after_release(1000); } /* from a thread's own bin */
static void freed_cell(void) { read_after_release(4); }     /* the bytes stand in the storage */

static void past_the_end(void) {
  libdl_tensor *const x = floats(1000);
  bytes_of(x)[1000] = 1;
  libdl_tensor_release(x);
}

static void released_handle(void) {
  libdl_tensor *const x = floats(4);
  libdl_tensor_release(x);
  printf("%d\n", (int)libdl_tensor_ndim(x));
}

static void leaked_handle(void) {
  libdl_tensor *volatile x = floats(4);
  printf("%d\n", (int)libdl_tensor_ndim(x));
  x = NULL;
}

/* -- undefined behaviour ---------------------------------------------------------------------- */

static void overflow(void) {
  volatile int large = INT_MAX;
  printf("%d\n", large + 1);
}

/* -- thread ----------------------------------------------------------------------------------- */

static pthread_barrier_t both;

/* Both start at once: a thread that is done before the other begins hands it, with the memory that
   it gave back, an order between the two, and then there is no race to see. */
static void together(void *(*body)(void *), void *arg) {
  pthread_t other;
  if (pthread_barrier_init(&both, NULL, 2) || pthread_create(&other, NULL, body, arg)) exit(3);
  body(arg);
  pthread_join(other, NULL);
  pthread_barrier_destroy(&both);
}

static void *write_field(void *x) {
  int i;
  pthread_barrier_wait(&both);
  for (i = 0; i < 10000; ++i) must(libdl_tensor_set_requires_grad(x, i % 2 == 0));
  return NULL;
}
static void racing_field(void) {
  libdl_tensor *const x = floats(4);
  together(write_field, x);
  libdl_tensor_release(x);
}

static void *write_elements(void *x) {
  pthread_barrier_wait(&both);
  must(libdl_exp_into(x, x));
  return NULL;
}
static void racing_kernel(void) { /* in vector code */
  libdl_tensor *const x = floats(1000);
  together(write_elements, x);
  libdl_tensor_release(x);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } errors[] = {{"freed_storage", freed_storage},
                {"freed_block", freed_block},
                {"freed_cell", freed_cell},
                {"past_the_end", past_the_end},
                {"released_handle", released_handle},
                {"leaked_handle", leaked_handle},
                {"overflow", overflow},
                {"racing_field", racing_field},
                {"racing_kernel", racing_kernel}};
  size_t i;
  for (i = 0; argc == 2 && i < sizeof errors / sizeof *errors; ++i)
    if (strcmp(argv[1], errors[i].name) == 0) {
      errors[i].run();
      return 0;
    }
  return argc == 2 && strcmp(argv[1], "nothing") == 0 ? 0 : 2;
}
