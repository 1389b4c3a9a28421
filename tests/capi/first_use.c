/* SPDX-License-Identifier: Apache-2.0 */

/* Eight threads use the library at once, before anybody else did: what is made at first use is made
 * once and whole. */
#define _POSIX_C_SOURCE 200112L
#include <libdl/libdl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 8

static pthread_barrier_t start;

struct seen {
  const char *level;
  int32_t threads;
  libdl_generator *generator;
  double total, gradient;
  char error[256];
};

/* Operator table, allocator, thread pool, instruction set, generator and engine, at first use. */
static libdl_error *work(struct seen *seen) {
  const int64_t shape[] = {400, 400}; /* enough for a product to be cut into pieces */
  libdl_tensor *x = NULL, *product = NULL, *sum = NULL, *gradient = NULL, *first = NULL;
  libdl_op op;
  libdl_error *error = libdl_op_find("matmul", -1, &op);
  seen->level = libdl_cpu_level();
  seen->threads = libdl_get_threads();
  seen->generator = libdl_generator_default();
  if (!error) error = libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT32, NULL, &x);
  if (!error) error = libdl_tensor_set_requires_grad(x, 1);
  if (!error) error = libdl_matmul(x, x, &product);
  if (!error) error = libdl_sum(product, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum);
  if (!error) error = libdl_item_f64(sum, &seen->total);
  if (!error) error = libdl_backward((const libdl_tensor *const *)&sum, 1, NULL, 0, NULL, 0, NULL);
  if (!error) gradient = libdl_tensor_grad(x);
  if (!error) error = libdl_mean(gradient, NULL, 0, 0, LIBDL_DTYPE_NONE, &first);
  if (!error) error = libdl_item_f64(first, &seen->gradient);
  libdl_tensor_release(first);
  libdl_tensor_release(gradient);
  libdl_tensor_release(sum);
  libdl_tensor_release(product);
  libdl_tensor_release(x);
  return error;
}

static void *run(void *arg) {
  struct seen *seen = arg;
  libdl_error *error;
  pthread_barrier_wait(&start);
  error = work(seen);
  if (error) snprintf(seen->error, sizeof seen->error, "%s", libdl_error_get_message(error));
  libdl_error_release(error);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  struct seen seen[THREADS];
  int64_t tensors, storages, nodes, bytes;
  int i, failures = 0;
  memset(seen, 0, sizeof seen);
  if (pthread_barrier_init(&start, NULL, THREADS) != 0) return 2;
  for (i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, run, &seen[i]) != 0) return 2;
  for (i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);

  for (i = 0; i < THREADS; ++i) {
    /* Sums of 400 ones, and of 160000 times 400: whole numbers that float32 holds. */
    const int right = seen[i].total == 64000000 && seen[i].gradient == 800 && !seen[i].error[0] &&
                      seen[i].generator && seen[i].generator == seen[0].generator &&
                      seen[i].threads == seen[0].threads && seen[i].level == seen[0].level;
    if (!right) {
      fprintf(stderr, "thread %d: total %.17g, gradient %.17g, %d threads, %s, '%s'\n", i,
              seen[i].total, seen[i].gradient, (int)seen[i].threads, seen[i].level, seen[i].error);
      ++failures;
    }
    libdl_generator_release(seen[i].generator);
  }
  libdl_memory_get_live(&tensors, &storages, &nodes, &bytes);
  if (tensors || storages || nodes || bytes) {
    fprintf(stderr, "%d tensors, %d storages, %d nodes are left\n", (int)tensors, (int)storages,
            (int)nodes);
    ++failures;
  }
  return failures != 0;
}
