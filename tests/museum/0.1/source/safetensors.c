/* SPDX-License-Identifier: Apache-2.0 */

/* safetensors files as a C program meets them.
 *
 *   safetensors              the tests
 *   safetensors write FILE   writes tensors of every dtype, for another reader
 *   safetensors read FILE    prints the names, dtypes, shapes and bytes of another writer's */
#include <inttypes.h>
#include "check.h"

static int destroyed;
static void on_destroy(void *ctx) {
  (void)ctx;
  ++destroyed;
}

static unsigned char elements[96];

/* 2 by 3 elements; byte i is i, or i % 2 for bool. */
static libdl_tensor *sample(libdl_dtype dtype) {
  static unsigned char truths[6] = {0, 1, 0, 1, 0, 1};
  const int64_t shape[2] = {2, 3};
  libdl_tensor *x = NULL;
  for (int i = 0; i < 96; ++i) elements[i] = (unsigned char)i;
  GOOD(libdl_tensor_from_memory(dtype == LIBDL_DTYPE_BOOL ? truths : elements,
                                6 * libdl_dtype_size(dtype), shape, 2, NULL, 0, 0, dtype, 1, NULL,
                                NULL, &x));
  return x;
}

/* One tensor a dtype, under its name; all but complex128. */
static void save_all(const char *path, libdl_text **text) {
  const char *names[14], *keys[1] = {"written by"}, *texts[1] = {"libdl"};
  libdl_tensor *tensors[14];
  int count = 0;
  for (libdl_dtype dtype = LIBDL_DTYPE_BOOL; dtype <= LIBDL_DTYPE_COMPLEX64; ++dtype) {
    names[count] = libdl_dtype_name(dtype);
    tensors[count++] = sample(dtype);
  }
  if (path)
    GOOD(libdl_file_save(path, -1, names, (const libdl_tensor *const *)tensors, count, keys, texts,
                         1));
  if (text)
    GOOD(libdl_file_save_memory(names, (const libdl_tensor *const *)tensors, count, keys, texts, 1,
                                text));
  while (count > 0) libdl_tensor_release(tensors[--count]);
}

static void round_trip(const char *path) {
  libdl_file *file = NULL;
  libdl_file_options options = {0};
  options.struct_size = sizeof options;
  save_all(path, NULL);
  for (options.share = 0; options.share < 2; ++options.share) {
    GOOD(libdl_file_open(path, -1, &options, &file));
    CHECK(libdl_file_count(file) == 14);
    CHECK(libdl_file_metadata_count(file) == 1);
    CHECK(strcmp(libdl_file_metadata_key(file, 0, NULL), "written by") == 0);
    CHECK(strcmp(libdl_file_metadata_text(file, 0, NULL), "libdl") == 0);
    for (int64_t i = 0; i < libdl_file_count(file); ++i) {
      const libdl_dtype dtype = libdl_file_dtype(file, i);
      unsigned char bytes[96], wanted[96];
      libdl_tensor *x = NULL, *y = sample(dtype);
      int64_t length = 0;
      CHECK(strcmp(libdl_file_name(file, i, &length), libdl_dtype_name(dtype)) == 0);
      CHECK(length == (int64_t)strlen(libdl_dtype_name(dtype)));
      CHECK(libdl_file_find(file, libdl_dtype_name(dtype), -1) == i);
      CHECK(libdl_file_ndim(file, i) == 2 && libdl_file_shape(file, i)[1] == 3);
      GOOD(libdl_file_tensor_by_name(file, libdl_dtype_name(dtype), -1, &x));
      CHECK(libdl_tensor_dtype(x) == dtype);
      CHECK(libdl_tensor_is_read_only(x) == options.share);
      GOOD(libdl_tensor_copy_out(x, bytes, 6 * libdl_dtype_size(dtype)));
      GOOD(libdl_tensor_copy_out(y, wanted, 6 * libdl_dtype_size(dtype)));
      CHECK(memcmp(bytes, wanted, (size_t)(6 * libdl_dtype_size(dtype))) == 0);
      libdl_tensor_release(x);
      libdl_tensor_release(y);
    }
    libdl_file_release(file);
  }
}

/* The file, a tensor from it and the memory below, let go in both orders. */
static void lifetimes(void) {
  libdl_text *text = NULL;
  libdl_file_options options = {0};
  options.struct_size = sizeof options;
  options.share = 1;
  save_all(NULL, &text);
  for (int order = 0; order < 2; ++order) {
    libdl_file *file = NULL;
    libdl_tensor *x = NULL;
    destroyed = 0;
    GOOD(libdl_file_open_memory(libdl_text_data(text), libdl_text_length(text), &options, NULL,
                                on_destroy, &file));
    GOOD(libdl_file_tensor(file, 3, &x));
    if (order) libdl_tensor_release(x);
    libdl_file_release(libdl_file_retain(file));
    libdl_file_release(file);
    CHECK(destroyed == order);
    if (!order) libdl_tensor_release(x);
    CHECK(destroyed == 1);
  }
  libdl_text_release(text);
}

static void refusals(const char *path) {
  libdl_file *file = NULL;
  libdl_tensor *x = sample(LIBDL_DTYPE_FLOAT32), *z = sample(LIBDL_DTYPE_COMPLEX128), *out = NULL;
  const libdl_tensor *tensors[2], *absent[1] = {NULL};
  const char *names[2] = {"x", "x"}, *no_names[1] = {NULL};
  libdl_file_options options = {0};
  tensors[0] = x;
  tensors[1] = z;
  BAD_ARGUMENT(libdl_file_open(NULL, -1, NULL, &file), NULL, 1);
  BAD_ARGUMENT(libdl_file_open("", 0, NULL, &file), VALUE, 1);
  BAD_ARGUMENT(libdl_file_open("a\0b", 3, NULL, &file), VALUE, 1);
  BAD_ARGUMENT(libdl_file_open(path, -1, &options, &file), OPTION, 2);
  BAD_ARGUMENT(libdl_file_open(path, -1, NULL, NULL), NULL, 3);
  BAD_ARGUMENT(libdl_file_open("/nowhere/at/all", -1, NULL, &file), IO, 0);
  BAD_ARGUMENT(libdl_file_open_descriptor(-1, NULL, &file), IO, 0);
  destroyed = 0;
  BAD_ARGUMENT(libdl_file_open_memory(NULL, 9, NULL, NULL, on_destroy, &file), NULL, 1);
  BAD_ARGUMENT(libdl_file_open_memory("x", -1, NULL, NULL, on_destroy, &file), VALUE, 1);
  BAD_ARGUMENT(libdl_file_open_memory("x", 1, NULL, NULL, on_destroy, NULL), NULL, 4);
  BAD_ARGUMENT(libdl_file_open_memory("x", 1, NULL, NULL, on_destroy, &file), FORMAT, 0);
  CHECK(destroyed == 4 && file == NULL);

  BAD_ARGUMENT(libdl_file_save(path, -1, names, absent, 1, NULL, NULL, 0), NULL, 3);
  BAD_ARGUMENT(libdl_file_save(path, -1, no_names, tensors, 1, NULL, NULL, 0), NULL, 2);
  BAD_ARGUMENT(libdl_file_save(path, -1, names, tensors, -1, NULL, NULL, 0), VALUE, 3);
  BAD_ARGUMENT(libdl_file_save(path, -1, names, tensors, 2, NULL, NULL, 0), DTYPE, 0);
  tensors[1] = x;
  BAD_ARGUMENT(libdl_file_save(path, -1, names, tensors, 2, NULL, NULL, 0), VALUE, 0);
  BAD_ARGUMENT(libdl_file_save(path, -1, names, tensors, 1, NULL, NULL, 1), NULL, 4);
  BAD_ARGUMENT(libdl_file_save("/nowhere/at/all", -1, names, tensors, 1, NULL, NULL, 0), IO, 0);

  GOOD(libdl_file_open(path, -1, NULL, &file)); /* still whole */
  BAD_ARGUMENT(libdl_file_tensor(file, 14, &out), INDEX, 2);
  BAD_ARGUMENT(libdl_file_tensor(file, -1, &out), INDEX, 2);
  BAD_ARGUMENT(libdl_file_tensor(NULL, 0, &out), NULL, 1);
  BAD_ARGUMENT(libdl_file_tensor((libdl_file *)(void *)x, 0, &out), KIND, 1);
  BAD_ARGUMENT(libdl_file_tensor_by_name(file, "absent", -1, &out), VALUE, 2);
  CHECK(libdl_file_name(file, 14, NULL) == NULL && libdl_file_shape(file, -1) == NULL);
  CHECK(libdl_file_dtype(file, 99) == LIBDL_DTYPE_NONE && libdl_file_ndim(file, 99) == -1);
  CHECK(libdl_file_find(file, "absent", -1) == -1 && libdl_file_find(NULL, "x", -1) == -1);
  CHECK(libdl_file_metadata_key(file, 1, NULL) == NULL);
  CHECK(libdl_file_count(NULL) == 0 && libdl_file_metadata_count(NULL) == 0);
  libdl_file_release(file);
  libdl_file_release(NULL);
  libdl_tensor_release(x);
  libdl_tensor_release(z);
}

static void print_file(const char *path) {
  libdl_file *file = NULL;
  GOOD(libdl_file_open(path, -1, NULL, &file));
  for (int64_t i = 0; i < libdl_file_count(file); ++i) {
    libdl_tensor *x = NULL;
    int64_t bytes;
    unsigned char *buffer;
    GOOD(libdl_file_tensor(file, i, &x));
    bytes = libdl_tensor_numel(x) * libdl_dtype_size(libdl_tensor_dtype(x));
    buffer = malloc(bytes > 0 ? (size_t)bytes : 1);
    GOOD(libdl_tensor_copy_out(x, buffer, bytes));
    printf("%s %s", libdl_file_name(file, i, NULL), libdl_dtype_name(libdl_tensor_dtype(x)));
    for (int32_t d = 0; d < libdl_tensor_ndim(x); ++d)
      printf("%c%" PRId64, d ? 'x' : ' ', libdl_tensor_shape(x)[d]);
    printf(" ");
    for (int64_t b = 0; b < bytes; ++b) printf("%02x", buffer[b]);
    printf("\n");
    free(buffer);
    libdl_tensor_release(x);
  }
  libdl_file_release(file);
}

int main(int argc, char **argv) {
  const char *path = "capi_safetensors.tmp";
  if (argc == 3 && strcmp(argv[1], "write") == 0) {
    save_all(argv[2], NULL);
  } else if (argc == 3 && strcmp(argv[1], "read") == 0) {
    print_file(argv[2]);
  } else {
    char folder[512];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/libdl-%p-%s", temporary ? temporary : "/tmp",
             (void *)&folder, path);
    round_trip(folder);
    lifetimes();
    refusals(folder);
    remove(folder);
  }
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
