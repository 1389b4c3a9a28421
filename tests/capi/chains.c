/* SPDX-License-Identifier: Apache-2.0 */

/* A destroy that releases what has a destroy itself: chains of any length take little stack, and
 * all of it has run when the first release returns. */
#define _GNU_SOURCE
#include <pthread.h>

#include "tensors.h"

enum { LENGTH = 100000 };

static int64_t ran = 0;
static double memory[1] = {1};

/* -- tensors over memory whose owner is the next tensor ------------------------------------------
 */

static void release_next(void *ctx) {
  ++ran;
  libdl_tensor_release(ctx);
}

static void memories(void) {
  libdl_tensor *next = NULL;
  for (int i = 0; i < LENGTH; ++i)
    GOOD(libdl_tensor_from_memory(memory, sizeof memory, NULL, 0, NULL, 0, 0, LIBDL_DTYPE_FLOAT64,
                                  0, next, release_next, &next));
  libdl_tensor_release(next);
}

/* -- files in memory, whose bytes belong to the next ----------------------------------------------
 */

static void release_file(void *ctx) {
  ++ran;
  libdl_file_release(ctx);
}

static void files(void) {
  libdl_text *text;
  GOOD(libdl_file_save_memory(NULL, NULL, 0, NULL, NULL, 0, &text));
  libdl_file *next = NULL;
  for (int i = 0; i < LENGTH; ++i)
    GOOD(libdl_file_open_memory(libdl_text_data(text), libdl_text_length(text), NULL, next,
                                release_file, &next));
  libdl_file_release(next);
  libdl_text_release(text);
}

/* -- errors that carry the next -------------------------------------------------------------------
 */

static void release_error(void *payload) {
  ++ran;
  libdl_error_release(payload);
}

static void errors(void) {
  libdl_error *next = libdl_error_new(LIBDL_ERROR_IO, "last", -1, NULL, NULL);
  ++ran;
  for (int i = 1; i < LENGTH; ++i)
    next = libdl_error_new(LIBDL_ERROR_IO, "one", -1, next, release_error);
  libdl_error_release(next);
}

/* -- hooks whose context owns the next tensor
 * ------------------------------------------------------ */

static libdl_error *hook(void *ctx, libdl_tensor **gradients, int64_t count,
                         libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  return NULL;
}

static void hooks(void) {
  libdl_tensor *next = NULL;
  for (int i = 0; i < LENGTH; ++i) {
    libdl_tensor *const x = filled(1, 1);
    GOOD(libdl_tensor_set_requires_grad(x, 1));
    libdl_hook *added;
    GOOD(libdl_tensor_add_hook(x, LIBDL_HOOK_TENSOR, hook, next, release_next, &added));
    libdl_hook_release(added);
    next = x;
  }
  libdl_tensor_release(next);
}

/* -- on a small stack
 * ------------------------------------------------------------------------------ */

static void *all(void *unused) {
  (void)unused;
  void (*const kinds[])(void) = {memories, files, errors, hooks};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    int64_t before, after;
    libdl_memory_get_live(&before, NULL, NULL, NULL);
    ran = 0;
    kinds[i]();
    libdl_memory_get_live(&after, NULL, NULL, NULL);
    CHECK(ran == LENGTH && after == before);
  }
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, 256 << 10) == 0);
  CHECK(pthread_create(&thread, &attributes, all, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  pthread_attr_destroy(&attributes);
  return failures != 0;
}
