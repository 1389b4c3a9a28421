/* SPDX-License-Identifier: Apache-2.0 */

/* Threads that use one model without agreeing on anything: values may be torn and calls may be
 * refused, but nothing is freed under a reader. The headers call such use exclusive, and a host
 * language lets it happen all the same. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { kThreads = 4, kWidth = 64, kRows = 40 };

static int steps; /* of each thread */
static libdl_tensor *weight[2], *input;

static void forget(libdl_error *error) { libdl_error_release(error); }

static libdl_tensor *filled(int64_t rows, int64_t columns, double value) {
  const int64_t shape[] = {rows, columns};
  libdl_tensor *number = NULL, *made = NULL;
  GOOD(libdl_number_f64(value, &number));
  GOOD(libdl_full(shape, 2, number, LIBDL_DTYPE_FLOAT32, NULL, &made));
  libdl_tensor_release(number);
  return made;
}

static void run_all(void *(*function)(void *)) {
  pthread_t threads[kThreads];
  for (intptr_t i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, function, (void *)i) != 0) exit(2);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

static void step(void) {
  libdl_tensor *params[2];
  const libdl_tensor *grads[2];
  libdl_tensor *found[2];
  int32_t count = 0;
  libdl_sgd_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.lr = 1e-6;
  for (int i = 0; i < 2; ++i) {
    found[i] = libdl_tensor_grad(weight[i]);
    if (!found[i]) continue;
    params[count] = weight[i];
    grads[count++] = found[i];
  }
  if (count) forget(libdl_sgd_step(&options, params, count, grads, count, NULL, 0));
  for (int i = 0; i < 2; ++i) libdl_tensor_release(found[i]);
}

/* Training without locks ("Hogwild"). */
static void *train(void *number) {
  for (int i = 0; i < steps; ++i) {
    libdl_tensor *y = NULL, *z = NULL, *t = NULL, *back = NULL, *loss = NULL;
    const libdl_tensor *outputs[1];
    GOOD(libdl_matmul(input, weight[0], &y));
    GOOD(libdl_tanh(y, &t));
    GOOD(libdl_transpose(weight[1], 0, 1, &back)); /* another geometry of the same bytes */
    GOOD(libdl_matmul(t, i % 2 ? back : weight[1], &z));
    GOOD(libdl_sum(z, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
    outputs[0] = loss;
    forget(libdl_backward(outputs, 1, NULL, 0, NULL, 0,
                          NULL)); /* a weight that was written meanwhile */
    step();
    for (int k = 0; k < 2; ++k)
      if ((i + (intptr_t)number) % 3 == 0) forget(libdl_tensor_set_grad(weight[k], NULL));
    libdl_tensor *const all[] = {y, z, t, back, loss};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) libdl_tensor_release(all[k]);
  }
  return NULL;
}

static void a_model_without_locks(void) {
  input = filled(kRows, kWidth, 0.01);
  for (int i = 0; i < 2; ++i) {
    weight[i] = filled(kWidth, kWidth, 0.02);
    GOOD(libdl_tensor_set_requires_grad(weight[i], 1));
  }
  run_all(train);
  for (int i = 0; i < 2; ++i) libdl_tensor_release(weight[i]);
  libdl_tensor_release(input);
}

/* One writes in place while its history is recorded; the others read it, look at it through views
 * and differentiate. */
static libdl_tensor *base, *view;

static void *write_or_read(void *number) {
  for (int i = 0; i < steps; ++i) {
    if ((intptr_t)number < 2) {
      forget(libdl_mul_into(base, input, base));
      continue;
    }
    libdl_tensor *seen = NULL, *sum = NULL, *more = NULL;
    const libdl_tensor *outputs[1];
    const int64_t shape[] = {kWidth * kWidth};
    forget(libdl_view(base, shape, 1, &seen));
    if (seen) forget(libdl_add(seen, seen, NULL, &more));
    forget(libdl_sum(view, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
    outputs[0] = sum;
    if (sum && i % 64 == 0) forget(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
    libdl_node_release(libdl_tensor_node(base, NULL));
    (void)libdl_tensor_requires_grad(view);
    libdl_tensor_release(seen);
    libdl_tensor_release(sum);
    libdl_tensor_release(more);
  }
  return NULL;
}

static void histories_are_replaced(void) {
  libdl_tensor *leaf = filled(kWidth, kWidth, 1);
  input = filled(kWidth, kWidth, 1);
  for (int round = 0; round < 20; ++round) {
    GOOD(libdl_tensor_set_requires_grad(leaf, 1));
    GOOD(libdl_mul(leaf, input, &base));
    GOOD(libdl_transpose(base, 0, 1, &view));
    steps = 200;
    run_all(write_or_read);
    libdl_tensor_release(view);
    libdl_tensor_release(base);
  }
  libdl_tensor_release(leaf);
  libdl_tensor_release(input);
}

/* Hooks come and go, and .grad is set, while others differentiate. */
static libdl_tensor *leaf;
static libdl_error *look(void *ctx, libdl_tensor **gradients, int64_t count,
                         libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  return NULL;
}
static void *hook_or_pass(void *number) {
  for (int i = 0; i < steps; ++i) {
    if ((intptr_t)number % 2) {
      libdl_hook *hook = NULL;
      const libdl_hook_kind kind = i % 2 ? LIBDL_HOOK_TENSOR : LIBDL_HOOK_ACCUMULATED;
      GOOD(libdl_tensor_add_hook(leaf, kind, look, NULL, NULL, &hook));
      forget(libdl_tensor_set_grad(leaf, i % 3 ? NULL : input));
      libdl_hook_remove(hook);
      libdl_hook_release(hook);
      continue;
    }
    libdl_tensor *y = NULL, *sum = NULL;
    const libdl_tensor *outputs[1];
    GOOD(libdl_mul(leaf, leaf, &y));
    GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
    outputs[0] = sum;
    GOOD(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
    libdl_tensor_release(y);
    libdl_tensor_release(sum);
  }
  return NULL;
}

static void hooks_come_and_go(void) {
  leaf = filled(8, 8, 1);
  input = filled(8, 8, 3);
  GOOD(libdl_tensor_set_requires_grad(leaf, 1));
  run_all(hook_or_pass);
  libdl_tensor_release(leaf);
  libdl_tensor_release(input);
}

int main(void) {
  alarm(300);
  GOOD(libdl_set_threads(1)); /* the threads are ours */
  steps = 3000;
  a_model_without_locks();
  histories_are_replaced();
  steps = 4000;
  hooks_come_and_go();
  return failures != 0;
}
