/* SPDX-License-Identifier: Apache-2.0 */

/* LIBDL_DEBUG_HANDLES=1: second releases are told and do nothing, and what lives has names. The
 * program starts itself again with the variable set, for it is read when the library is loaded. */
#include <unistd.h>

#include "tensors.h"

static char heard[4096];
static void hear(void *ctx, libdl_log_level level, const char *message, int64_t length) {
  (void)ctx, (void)length;
  if (level < LIBDL_LOG_ERROR) return;
  strncat(heard, message, sizeof heard - strlen(heard) - 2);
  strcat(heard, "\n");
}
static int told(const char *part) {
  const int found = strstr(heard, part) != NULL;
  if (!found) fprintf(stderr, "heard '%s', wanted '%s'\n", heard, part);
  heard[0] = 0;
  return found;
}

/* `found` is `wanted`, or just begins so. */
static void describes(const char *wanted) {
  libdl_text *text;
  GOOD(libdl_memory_describe_live(&text));
  if (strcmp(libdl_text_data(text), wanted) != 0) {
    fprintf(stderr, "found:\n%swanted:\n%s", libdl_text_data(text), wanted);
    ++failures;
  }
  libdl_text_release(text);
}

static void second_releases(void) {
  libdl_tensor *const x = filled(2, 3);
  libdl_tensor *y, *z;
  GOOD(libdl_neg(x, &y));
  libdl_tensor_release(y);
  libdl_tensor_release(y);
  CHECK(told("a tensor made by neg, was released before: nothing was done"));
  BAD_CODE(libdl_exp(y, &z), EMPTIED);
  CHECK(libdl_tensor_ndim(y) == 0 && libdl_tensor_storage_id(y) == 0);
  /* Not even if many others were made since, of which none has its place. */
  for (int i = 0; i < 1000; ++i) libdl_tensor_release(filled(2, 3));
  libdl_tensor_release(y);
  CHECK(told("a tensor made by neg, was released before: nothing was done"));
  /* In an owning scope, and after it. */
  GOOD(libdl_scope_push_owner());
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_exp(x, &z));
  libdl_tensor_release(y);
  libdl_tensor_release(y);
  CHECK(told("a tensor made by neg, was released before"));
  GOOD(libdl_scope_pop());
  libdl_tensor_release(z);
  CHECK(told("a tensor made by exp, was released before"));
  int64_t none[16] = {0};
  libdl_tensor_release((libdl_tensor *)none);
  CHECK(told(" is no tensor that lives: nothing was done"));
  libdl_tensor_release(NULL);
  libdl_tensor_release(x);
  CHECK(heard[0] == 0);
}

static libdl_error *same(void *ctx, libdl_tensor **gradients, int64_t count,
                         libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  return NULL;
}

/* Handles of the other kinds: released once, then again, also when a thousand of the kind were made
 * in between, of which none has its place. */
#define TOLD_TWICE(kind, handle, name, words)                                     \
  do {                                                                            \
    libdl_##kind##_release(handle);                                               \
    libdl_##kind##_release(handle);                                               \
    CHECK(told("libdl_" #kind "_release: argument 1 (" name ") is " words         \
               " that was released before, wanted " words ": nothing was done")); \
  } while (0)

static void second_releases_of_other_kinds(void) {
  libdl_tensor *const x = filled(2, 3);
  libdl_tensor *none;
  libdl_tensor_list *list;
  libdl_state *state;
  libdl_generator *generator;
  libdl_stream *stream;
  libdl_event *event;
  libdl_text *text;
  libdl_hook *hook;
  libdl_file *file;
  GOOD(libdl_unbind(x, 0, &list));
  TOLD_TWICE(tensor_list, list, "list", "a list of tensors");
  CHECK(libdl_tensor_list_count(list) == 0 && libdl_tensor_list_get(list, 0) == NULL);
  GOOD(libdl_state_new(&state));
  TOLD_TWICE(state, state, "state", "a state");
  BAD_CODE(libdl_state_swap(state, NULL), KIND);
  GOOD(libdl_generator_new(1, &generator));
  TOLD_TWICE(generator, generator, "generator", "a generator");
  for (int i = 0; i < 1000; ++i) {
    libdl_generator *other;
    GOOD(libdl_generator_new(1, &other));
    libdl_generator_release(other);
  }
  libdl_generator_release(generator);
  CHECK(told("a generator that was released before"));
  GOOD(libdl_stream_new(NULL, 0, &stream));
  TOLD_TWICE(stream, stream, "stream", "a stream");
  GOOD(libdl_event_new(NULL, 0, &event));
  TOLD_TWICE(event, event, "event", "an event");
  GOOD(libdl_memory_describe_live(&text));
  TOLD_TWICE(text, text, "text", "a text");
  static const char empty[] = {2, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
  GOOD(libdl_file_open_memory(empty, sizeof empty, NULL, NULL, NULL, &file));
  TOLD_TWICE(file, file, "file", "a file");
  libdl_error *const error = libdl_neg(NULL, &none);
  TOLD_TWICE(error, error, "error", "an error");
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  GOOD(libdl_tensor_add_hook(x, LIBDL_HOOK_TENSOR, same, NULL, NULL, &hook));
  TOLD_TWICE(hook, hook, "hook", "a hook");
  void *data;
  libdl_mapping *mapping;
  GOOD(libdl_tensor_map(x, LIBDL_ACCESS_READ, &data, &mapping));
  libdl_tensor_unmap(mapping);
  CHECK(heard[0] == 0);
  for (int k = 0; k < 2; ++k) {
    libdl_tensor_unmap(mapping);
    CHECK(
        told("libdl_tensor_unmap: argument 1 (mapping) is a mapping that was released before, "
             "wanted a mapping: nothing was done"));
  }
  /* In place of a tensor, and where a tensor was wanted. */
  libdl_tensor_release((libdl_tensor *)list);
  CHECK(told(" is no tensor that lives: nothing was done"));
  GOOD(libdl_unbind(x, 0, &list));
  libdl_state_release((libdl_state *)list);
  CHECK(told("is a list of tensors, wanted a state: nothing was done"));
  libdl_tensor_list_release(list);
  CHECK(heard[0] == 0);
  libdl_tensor_release(x);
}

static void what_lives(void) {
  const int64_t shape[] = {2, 3};
  libdl_tensor *a, *b, *c, *d;
  describes("");
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT32, NULL, &a));
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT32, NULL, &b));
  GOOD(libdl_add(a, b, NULL, &c));
  GOOD(libdl_number_i64(3, &d));
  describes("1 x add: float32 [2, 3]\n1 x number_i64: int64 []\n2 x ones: float32 [2, 3]\n");
  libdl_tensor_release(a), libdl_tensor_release(c), libdl_tensor_release(d);
  describes("1 x ones: float32 [2, 3]\n");
  libdl_tensor_release(b);
  describes("");
}

int main(int count, char **arguments) {
  (void)count;
  const char *const given = getenv("LIBDL_DEBUG_HANDLES");
  if (!given) {
    libdl_text *text = NULL;
    BAD(libdl_memory_describe_live(&text), STATE,
        "memory_describe_live: the environment does not say LIBDL_DEBUG_HANDLES=1");
    BAD_ARGUMENT(libdl_memory_describe_live(NULL), NULL, 1);
    if (failures) return EXIT_FAILURE;
    setenv("LIBDL_DEBUG_HANDLES", "1", 1);
    execv("/proc/self/exe", arguments);
    return EXIT_FAILURE;
  }
  GOOD(libdl_set_log_handler(hear, NULL, NULL));
  what_lives();
  second_releases();
  second_releases_of_other_kinds();
  describes("");
  GOOD(libdl_set_log_handler(NULL, NULL, NULL));
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
