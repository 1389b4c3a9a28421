/* SPDX-License-Identifier: Apache-2.0 */

/* The cells of tensors and nodes, between threads: they do not gather on the thread that releases,
 * they go back to the system when asked, and a thread's end, or a lack of memory at its beginning,
 * is orderly. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { kSanitized = 1, kTensors = 20000 };
#else
enum { kSanitized = 0, kTensors = 1000000 };
#endif
enum { kBatch = 5000 };

static libdl_tensor *tensors[kTensors];

static long resident(void) { /* MB */
  long pages = 0, size = 0;
  FILE *const file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2) exit(2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE) >> 20;
}

static void on_thread(void *(*function)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, argument) != 0) exit(2);
  pthread_join(thread, NULL);
}

static void make(int first, int count) {
  const int64_t shape[] = {3};
  for (int i = first; i < first + count; ++i)
    GOOD(libdl_empty(shape, 1, LIBDL_DTYPE_FLOAT32, NULL, &tensors[i]));
}
static void let_go(int first, int count) {
  for (int i = first; i < first + count; ++i) libdl_tensor_release(tensors[i]);
}

/* One thread makes, another releases, batch after batch. */
static pthread_barrier_t turn;
static void *maker(void *unused) {
  (void)unused;
  for (int round = 0; round < kTensors / kBatch; ++round) {
    make(0, kBatch);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
  }
  return NULL;
}
static void cells_go_back_to_who_makes(void) {
  pthread_t thread;
  const long before = resident();
  pthread_barrier_init(&turn, NULL, 2);
  if (pthread_create(&thread, NULL, maker, NULL) != 0) exit(2);
  for (int round = 0; round < kTensors / kBatch; ++round) {
    pthread_barrier_wait(&turn);
    let_go(0, kBatch);
    pthread_barrier_wait(&turn);
  }
  pthread_join(thread, NULL);
  const long grown = resident() - before;
  if (!kSanitized && grown > 20) {
    fprintf(stderr, "%d tensors over two threads took %ld MB\n", kTensors, grown);
    ++failures;
  }
}

static void *make_all(void *unused) {
  (void)unused;
  make(0, kTensors);
  return NULL;
}
static void cells_go_back_to_the_system(void) {
  int64_t freed = 0;
  GOOD(libdl_memory_trim(NULL, &freed));
  const long before = resident();
  on_thread(make_all, NULL);
  const long full = resident() - before;
  let_go(0, kTensors);
  GOOD(libdl_memory_trim(NULL, &freed));
  const long left = resident() - before;
  if (!kSanitized && (left * 10 > full || freed >> 20 < full * 9 / 10)) {
    fprintf(stderr, "of %ld MB %ld MB are left, trim gave %ld MB\n", full, left,
            (long)(freed >> 20));
    ++failures;
  }
  make(0, kBatch); /* and all goes on */
  let_go(0, kBatch);
}

/* A thread ends with a scope open, and with tensors of its own. */
static void *leave_a_scope(void *keep) {
  const int64_t shape[] = {3};
  libdl_tensor *tensor = NULL;
  GOOD(libdl_scope_push());
  for (int i = 0; i < 10; ++i) {
    GOOD(libdl_empty(shape, 1, LIBDL_DTYPE_FLOAT32, NULL, &tensor));
    if (!keep) libdl_tensor_release(tensor);
  }
  return NULL;
}
static void live_counts_survive_threads(void) {
  int64_t live[2][4];
  libdl_memory_get_live(&live[0][0], &live[0][1], &live[0][2], &live[0][3]);
  for (int i = 0; i < 5; ++i) on_thread(leave_a_scope, NULL);
  libdl_memory_get_live(&live[1][0], &live[1][1], &live[1][2], &live[1][3]);
  for (int i = 0; i < 4; ++i) CHECK(live[0][i] == live[1][i]);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_memalign(size_t, size_t);
static _Thread_local int refuse = 0;
void *malloc(size_t n) { return refuse ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return refuse ? NULL : __libc_calloc(n, m); }
void *aligned_alloc(size_t a, size_t n) { return refuse ? NULL : __libc_memalign(a, n); }

static void *begin_without_memory(void *result) {
  const int64_t shape[] = {300};
  libdl_tensor *made = NULL;
  refuse = 1;
  (void)libdl_grad_enabled();
  (void)libdl_show_config();
  libdl_tensor_release(tensors[0]); /* of another thread */
  libdl_error *const error = libdl_empty(shape, 1, LIBDL_DTYPE_FLOAT32, NULL, &made);
  libdl_error *const second = libdl_scope_push();
  refuse = 0;
  *(libdl_error_code *)result = libdl_error_get_code(error);
  libdl_tensor_release(made);
  if (!second) GOOD(libdl_scope_pop());
  libdl_error_release(error);
  libdl_error_release(second);
  GOOD(libdl_empty(shape, 1, LIBDL_DTYPE_FLOAT32, NULL, &made)); /* there is memory again */
  libdl_tensor_release(made);
  return NULL;
}
static void a_thread_may_begin_without_memory(void) {
  libdl_error_code code = LIBDL_OK;
  make(0, 1);
  on_thread(begin_without_memory, &code);
  CHECK(code == LIBDL_OK || code == LIBDL_ERROR_OUT_OF_MEMORY);
}
#else
static void a_thread_may_begin_without_memory(void) {}
#endif

int main(void) {
  live_counts_survive_threads();
  cells_go_back_to_who_makes();
  cells_go_back_to_the_system();
  a_thread_may_begin_without_memory();
  return failures != 0;
}
