// SPDX-License-Identifier: Apache-2.0

// What a call of the C ABI costs beside its arithmetic: operators on one element, history, views,
// backward and freeing, in nanoseconds (median of rounds).
#include <libdl/libdl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kRounds = 61, kCalls = 2000, kChain = 1000 };

static libdl_tensor *x, *y, *leaf, *matrix, *square;

static void check(libdl_error *error) {
  if (error == NULL) return;
  fprintf(stderr, "calls: %s\n", libdl_error_get_message(error));
  exit(1);
}

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

static double median(double *times) {
  qsort(times, kRounds, sizeof *times, by_value);
  return times[kRounds / 2];
}

static void measure(const char *name, void (*call)(void)) {
  double times[kRounds];
  for (int round = 0; round < kRounds; ++round) {
    const double start = now();
    for (int i = 0; i < kCalls; ++i) call();
    times[round] = (now() - start) / kCalls;
  }
  printf("%-36s %8.1f ns\n", name, median(times));
}

static void add(void) {
  libdl_tensor *out;
  check(libdl_add(x, y, NULL, &out));
  libdl_tensor_release(out);
}
static void add_into(void) { check(libdl_add_into(x, y, NULL, x)); }
static void mul(void) {
  libdl_tensor *out;
  check(libdl_mul(x, y, &out));
  libdl_tensor_release(out);
}
static void add_recorded(void) {
  libdl_tensor *out;
  check(libdl_add(leaf, y, NULL, &out));
  libdl_tensor_release(out);
}
static void mul_recorded(void) {
  libdl_tensor *out;
  check(libdl_mul(leaf, y, &out));
  libdl_tensor_release(out);
}
static void view(void) {
  const int64_t shape[] = {2, 2};
  libdl_tensor *out;
  check(libdl_view(matrix, shape, 2, &out));
  libdl_tensor_release(out);
}
static void view_recorded(void) {
  const int64_t shape[] = {1, 1};
  libdl_tensor *out;
  check(libdl_view(leaf, shape, 2, &out));
  libdl_tensor_release(out);
}
static void sum(void) {
  libdl_tensor *out;
  check(libdl_sum(matrix, NULL, 0, 0, LIBDL_DTYPE_NONE, &out));
  libdl_tensor_release(out);
}
static void matmul(void) {
  libdl_tensor *out;
  check(libdl_matmul(square, square, &out));
  libdl_tensor_release(out);
}

static libdl_tensor *chain(void) {
  libdl_tensor *last = libdl_tensor_retain(leaf);
  for (int i = 0; i < kChain; ++i) {
    libdl_tensor *next;
    check(libdl_mul(last, y, &next));
    libdl_tensor_release(last);
    last = next;
  }
  return last;
}

static void chains(void) {
  double build[kRounds], backward[kRounds], freed[kRounds];
  for (int round = 0; round < kRounds; ++round) {
    double start = now();
    libdl_tensor *last = chain();
    build[round] = (now() - start) / kChain;
    start = now();
    libdl_tensor_release(last);
    freed[round] = (now() - start) / kChain;
    last = chain();
    start = now();
    const libdl_tensor *outputs[] = {last};
    check(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
    backward[round] = (now() - start) / kChain;
    libdl_tensor_release(last);
  }
  printf("%-36s %8.1f ns\n", "chain of 1,000 mul: a node recorded", median(build));
  printf("%-36s %8.1f ns\n", "chain of 1,000 mul: a node freed", median(freed));
  printf("%-36s %8.1f ns\n", "chain of 1,000 mul: a node backward", median(backward));
}

static libdl_tensor *ones(int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  libdl_tensor *tensor;
  check(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT32, NULL, &tensor));
  return tensor;
}

int main(void) {
  x = ones(1, 1);
  y = ones(1, 1);
  leaf = ones(1, 1);
  matrix = ones(1, 4);
  square = ones(2, 2);
  check(libdl_tensor_set_requires_grad(leaf, 1));
  measure("add", add);
  measure("add, in place", add_into);
  measure("add, recorded and freed", add_recorded);
  measure("mul", mul);
  measure("mul, recorded and freed", mul_recorded);
  measure("view", view);
  measure("view, recorded and freed", view_recorded);
  measure("sum of 4", sum);
  measure("matmul 2 x 2", matmul);
  chains();
  libdl_tensor *all[] = {x, y, leaf, matrix, square};
  for (int i = 0; i < 5; ++i) libdl_tensor_release(all[i]);
  return 0;
}
