/* SPDX-License-Identifier: Apache-2.0 */

/* What a call needs of a small thread's stack: 64 KiB at most, measured by what it leaves of a
 * pattern.
 * (tests/attack calls every function on such a thread; here the sizes are those that need tiles.)
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "check.h"

enum { kStack = 128 << 10, kMost = 64 << 10, kPattern = 0xa5 };

static unsigned char *stack;
static libdl_dtype dtype;
static int64_t size;

static void *enter(void *job) {
  ((void (*)(void))(uintptr_t)job)();
  return NULL;
}
static int64_t taken(void (*job)(void)) {
  pthread_attr_t attributes;
  pthread_t thread;
  int64_t untouched = 0;
  memset(stack, kPattern, kStack);
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kStack);
  if (pthread_create(&thread, &attributes, enter, (void *)(uintptr_t)job) != 0) exit(2);
  pthread_join(thread, NULL);
  while (untouched < kStack && stack[untouched] == kPattern) ++untouched;
  return kStack - untouched;
}

static libdl_tensor *ones(void) {
  const int64_t shape[] = {size, size};
  libdl_tensor *x = NULL;
  GOOD(libdl_ones(shape, 2, dtype, NULL, &x));
  return x;
}
static void forget(libdl_error *error) { libdl_error_release(error); }

static void nothing(void) {}
static void elements(void) {
  libdl_tensor *x = ones(), *y = NULL, *turned = NULL;
  GOOD(libdl_transpose(x, 0, 1, &turned));
  GOOD(libdl_add(x, turned, NULL, &y));
  libdl_tensor_release(y);
  GOOD(libdl_contiguous(turned, &y));
  libdl_tensor_release(y);
  y = NULL;
  forget(libdl_to(turned, LIBDL_DTYPE_FLOAT64, NULL, 0, 0, &y));
  libdl_tensor_release(y);
  libdl_tensor_release(turned);
  libdl_tensor_release(x);
}
static void products(void) {
  libdl_tensor *x = ones(), *y = NULL;
  for (int i = 0; i < 3; ++i) {
    GOOD(libdl_matmul(x, x, &y));
    libdl_tensor_release(y);
  }
  libdl_tensor_release(x);
}
static void reductions(void) {
  for (int64_t dim = 0; dim < 2; ++dim) {
    libdl_tensor *x = ones(), *y = NULL, *z = NULL;
    forget(libdl_sum(x, &dim, 1, 0, LIBDL_DTYPE_NONE, &y));
    libdl_tensor_release(y);
    y = NULL;
    forget(libdl_softmax(x, dim, LIBDL_DTYPE_NONE, &y));
    libdl_tensor_release(y);
    y = NULL;
    forget(libdl_sort(x, dim, 0, 0, &y, &z));
    libdl_tensor_release(z);
    libdl_tensor_release(y);
    y = NULL;
    forget(libdl_cumsum(x, dim, LIBDL_DTYPE_NONE, &y));
    libdl_tensor_release(y);
    libdl_tensor_release(x);
  }
}
static void passes(void) {
  libdl_tensor *x = ones(), *y = NULL, *z = NULL, *loss = NULL;
  libdl_error *const error = libdl_tensor_set_requires_grad(x, 1);
  const int differentiable = error == NULL;
  libdl_error_release(error);
  GOOD(libdl_matmul(x, x, &y));
  GOOD(libdl_mul(y, y, &z));
  GOOD(libdl_sum(z, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  const libdl_tensor *outputs[] = {loss};
  if (differentiable) forget(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor *const all[] = {x, y, z, loss};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}
static void texts_and_errors(void) {
  libdl_tensor *x = ones(), *y = NULL, *row = NULL;
  libdl_text *text = NULL;
  GOOD(libdl_tensor_to_string(x, NULL, &text));
  libdl_text_release(text);
  GOOD(libdl_narrow(x, 0, 0, 2, &row));
  BAD_CODE(libdl_matmul(row, row, &y), SHAPE);
  libdl_tensor_release(row);
  libdl_tensor_release(x);
}

int main(void) {
  static const libdl_dtype dtypes[] = {
      LIBDL_DTYPE_FLOAT32,  LIBDL_DTYPE_FLOAT64, LIBDL_DTYPE_COMPLEX64, LIBDL_DTYPE_COMPLEX128,
      LIBDL_DTYPE_BFLOAT16, LIBDL_DTYPE_FLOAT16, LIBDL_DTYPE_INT64,     LIBDL_DTYPE_UINT8};
  static const int64_t sizes[] = {3, 16, 64, 200, 600};
  static const struct {
    const char *name;
    void (*run)(void);
  } jobs[] = {{"elements", elements},
              {"products", products},
              {"reductions", reductions},
              {"passes", passes},
              {"texts and errors", texts_and_errors}};
  stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return 2;
  const int64_t thread = taken(nothing); /* the C library's own */
  for (size_t j = 0; j < sizeof jobs / sizeof *jobs; ++j)
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; ++d)
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        dtype = dtypes[d];
        size = sizes[s];
        const int64_t most = taken(jobs[j].run) - thread;
        if (most <= kMost) continue;
        fprintf(stderr, "%s of dtype %d, %d x %d: %d bytes of stack\n", jobs[j].name, (int)dtype,
                (int)size, (int)size, (int)most);
        ++failures;
      }
  return failures != 0;
}
