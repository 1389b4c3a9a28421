/* SPDX-License-Identifier: Apache-2.0 */

/* libdl_set_log_handler: what is told, at which level, and that nothing is where nobody listens. */
#define _POSIX_C_SOURCE 200112L
#include "check.h"

/* What a handler heard: lines of "level message". */
struct heard {
  char text[8192];
  size_t length;
  int count, destroyed;
};

static void hear(void *ctx, libdl_log_level level, const char *message, int64_t length) {
  struct heard *heard = ctx;
  CHECK(length >= 0 && strlen(message) == (size_t)length);
  ++heard->count;
  heard->length += (size_t)snprintf(heard->text + heard->length, sizeof heard->text - heard->length,
                                    "%d %s\n", (int)level, message);
}
static void end(void *ctx) { ++((struct heard *)ctx)->destroyed; }

static void forget(struct heard *heard) {
  heard->text[0] = 0;
  heard->length = 0;
  heard->count = 0;
}

static int told(const struct heard *heard, const char *part) {
  if (strstr(heard->text, part)) return 1;
  fprintf(stderr, "heard:\n%swanted: %s\n", heard->text, part);
  return 0;
}

static void the_set_up_is_told_at_once(struct heard *heard) {
  char text[64];
  GOOD(libdl_set_log_handler(hear, heard, end));
  snprintf(text, sizeof text, "1 cpu: kernels for %s\n", libdl_cpu_level());
  CHECK(told(heard, text));
  snprintf(text, sizeof text, "1 threads: %d\n", (int)libdl_get_threads());
  CHECK(told(heard, text));
  CHECK(told(heard, "2 environment: LIBDL_CPU=mmx is not in effect, wanted baseline, avx2 or avx"));
  CHECK(told(heard, "2 environment: LIBDL_NUM_THREADS=4x is not in effect, wanted 1 to 1024"));
  CHECK(told(heard, "2 environment: LIBDL_MEMORY_LIMIT=lots is not in effect, wanted bytes"));
  CHECK(told(heard, "2 environment: LIBDL_DISABLE=fuson names no mechanism, and no provider that"));
  CHECK(!strstr(heard->text, "DISABLE=fusion") && !strstr(heard->text, "DISABLE=split_products"));
  CHECK(!strstr(heard->text, "DISABLE=winograd"));
  CHECK(told(heard, "1 winograd: left out, as LIBDL_DISABLE says\n"));
  CHECK(told(heard, "2 environment: LIBDL_MEMORY_KEEP=some is not in effect, wanted 0, bytes"));
  CHECK(told(heard, "2 environment: LIBDL_DEBUG_HANDLES=yes is not in effect, wanted 1\n"));
  CHECK(heard->count == 9);
  forget(heard);
}

static void run_at_once(void *ctx, void (*task)(void *task_arg), void *task_arg) {
  (void)ctx;
  task(task_arg);
}

static void threads_are_told(struct heard *heard) {
  const int32_t before = libdl_get_threads();
  libdl_executor executor;
  memset(&executor, 0, sizeof executor);
  executor.struct_size = sizeof executor;
  executor.run = run_at_once;
  executor.concurrency = 3;
  GOOD(libdl_set_threads(2));
  GOOD(libdl_set_executor(&executor));
  GOOD(libdl_set_executor(NULL));
  CHECK(strcmp(heard->text,
               "1 threads: 2\n1 threads: 3, the host's\n1 threads: 2, libdl's own\n") == 0);
  GOOD(libdl_set_threads(before));
  forget(heard);
}

static void memory_is_told(struct heard *heard) {
  const int64_t too_many = INT64_C(1) << 50;
  const libdl_device cpu = {LIBDL_DEVICE_CPU, 0};
  libdl_tensor *x = NULL;
  int64_t gone;
  libdl_error *error;
  GOOD(libdl_memory_trim(&cpu, &gone));
  CHECK(told(heard, "0 cpu: idle memory went back, "));
  CHECK(heard->count == 1);
  forget(heard);

  error = libdl_empty(&too_many, 1, LIBDL_DTYPE_UINT8, NULL, &x);
  CHECK(libdl_error_get_code(error) == LIBDL_ERROR_OUT_OF_MEMORY);
  CHECK(strcmp(libdl_error_get_operator(error), "empty") == 0);
  CHECK(strncmp(libdl_error_get_message(error), "empty: out of memory on cpu: wanted 1024.00 TB",
                46) == 0);
  CHECK(told(heard, "2 cpu: memory is short, the host is asked to free 1024.00 TB\n"));
  CHECK(told(heard, "3 out of memory on cpu: wanted 1024.00 TB; allocated "));
  libdl_error_release(error);
  forget(heard);
}

static void a_plugin_is_told_once(struct heard *heard) {
  const libdl_device cuda = {LIBDL_DEVICE_CUDA, 0};
  int64_t gone;
  libdl_error *error = libdl_memory_trim(&cuda, &gone);
  /* A plugin that is there may still find no driver. */
  if (error && strstr(libdl_error_get_message(error), "libdlcuda.so was not found"))
    CHECK(told(heard, "1 cuda: the plugin did not open: cuda: libdlcuda.so was not found"));
  else
    CHECK(told(heard, "1 cuda: libdlcuda.so is open\n"));
  libdl_error_release(error);
  forget(heard);
  libdl_device_count(LIBDL_DEVICE_CUDA); /* a program may ask as often as it likes */
  CHECK(heard->count == 0);
}

/* A handler that causes what it hears of. */
static void hear_and_call(void *ctx, libdl_log_level level, const char *message, int64_t length) {
  hear(ctx, level, message, length);
  GOOD(libdl_set_threads(libdl_get_threads()));
}

static void a_handler_does_not_hear_itself(struct heard *heard) {
  struct heard other;
  memset(&other, 0, sizeof other);
  GOOD(libdl_set_log_handler(hear_and_call, &other, end));
  CHECK(heard->destroyed == 1);
  forget(&other);
  GOOD(libdl_set_threads(libdl_get_threads()));
  CHECK(other.count == 1);
  GOOD(libdl_set_log_handler(NULL, NULL, NULL));
  CHECK(other.destroyed == 1);
}

static void nobody_hears_nothing(struct heard *heard) {
  forget(heard);
  GOOD(libdl_set_threads(libdl_get_threads()));
  CHECK(heard->count == 0 && heard->destroyed == 1);
  GOOD(libdl_set_log_handler(NULL, heard, end));
  CHECK(heard->destroyed == 2);
}

int main(void) {
  struct heard heard;
  memset(&heard, 0, sizeof heard);
  setenv("LIBDL_CPU", "mmx", 1);
  setenv("LIBDL_NUM_THREADS", "4x", 1);
  setenv("LIBDL_MEMORY_LIMIT", "lots", 1);
  setenv("LIBDL_MEMORY_KEEP", "some", 1);
  setenv("LIBDL_DEBUG_HANDLES", "yes", 1);
  setenv("LIBDL_DISABLE", "fusion,fuson,split_products,winograd", 1);
  the_set_up_is_told_at_once(&heard);
  threads_are_told(&heard);
  memory_is_told(&heard);
  a_plugin_is_told_once(&heard);
  a_handler_does_not_hear_itself(&heard);
  nobody_hears_nothing(&heard);
  return failures != 0;
}
