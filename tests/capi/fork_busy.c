/* SPDX-License-Identifier: Apache-2.0 */

/* A process forks while its other threads train: the child uses the same tensors, whose locks those
 * threads may have held at that moment, and waits for nobody. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kThreads = 3, kWidth = 64, kForks = 300 };

static libdl_tensor *weight, *input, *mapped;
static atomic_int done;

static libdl_tensor *ones(void) {
  const int64_t shape[] = {kWidth, kWidth};
  libdl_tensor *made = NULL;
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT32, NULL, &made));
  return made;
}

static void step(void) {
  libdl_tensor *y = NULL, *loss = NULL, *grad, *small = NULL;
  const libdl_tensor *outputs[1];
  const int64_t shape[] = {3};
  void *data;
  libdl_mapping *mapping = NULL;
  GOOD(libdl_matmul(input, weight, &y)); /* packed forms */
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  outputs[0] = loss;
  GOOD(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL)); /* a gradient's slot */
  grad = libdl_tensor_grad(weight);
  GOOD(libdl_tensor_map(mapped, LIBDL_ACCESS_WRITE, &data, &mapping)); /* exports */
  libdl_tensor_unmap(mapping);
  GOOD(libdl_empty(shape, 1, LIBDL_DTYPE_FLOAT32, NULL, &small)); /* cells and blocks */
  libdl_tensor_release(small);
  libdl_tensor_release(grad);
  libdl_tensor_release(loss);
  libdl_tensor_release(y);
}

static void *train(void *unused) {
  (void)unused;
  while (!done) step();
  return NULL;
}

static void work_in_child(void) {
  libdl_tensor *before, *after;
  libdl_tensor *fresh = ones();
  double value = 0;
  alarm(20);
  for (int i = 0; i < 4; ++i) step();
  GOOD(libdl_tensor_set_grad(weight,
                             fresh)); /* what a lost thread began to add there is not waited for */
  before = libdl_tensor_grad(weight);
  step();
  after = libdl_tensor_grad(weight);
  if (before != after) _exit(3);
  GOOD(libdl_mean(after, NULL, 0, 0, LIBDL_DTYPE_NONE, &before));
  GOOD(libdl_item_f64(before, &value));
  if (value != 1 + kWidth) _exit(4);
  pthread_t thread;
  done = 1;
  if (pthread_create(&thread, NULL, train, NULL) != 0) _exit(5);
  pthread_join(thread, NULL);
  int64_t tensors, storages, nodes, bytes;
  libdl_memory_get_live(&tensors, &storages, &nodes, &bytes);
  _exit(tensors > 0 && tensors < 100000 ? 0 : 6);
}

int main(void) {
  pthread_t threads[kThreads];
  int lost = 0;
  GOOD(libdl_set_threads(1));
  weight = ones();
  input = ones();
  mapped = ones();
  GOOD(libdl_tensor_set_requires_grad(weight, 1));
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, train, NULL) != 0) return 2;
  for (int i = 0; i < kForks && lost < 3; ++i) {
    const pid_t child = fork();
    int status = -1;
    if (child == 0) work_in_child();
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    fprintf(stderr, "child %d ended with status %d%s\n", i, status,
            WIFSIGNALED(status) && WTERMSIG(status) == 14 ? ": it hung" : "");
    ++lost;
  }
  CHECK(lost == 0);
  done = 1;
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  libdl_tensor_release(weight);
  libdl_tensor_release(input);
  libdl_tensor_release(mapped);
  return failures != 0;
}
