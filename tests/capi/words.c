/* SPDX-License-Identifier: Apache-2.0 */

/* Errors say which function was called, which argument of it is wrong and where: a position in a
 * list, a path, a device's number. (tests/attack asks every function for its name and numbers.) */
#define _GNU_SOURCE
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensors.h"

static char folder[200];
static const char *in_folder(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* The operator's name as a field, whatever the message. */
static void told_by(libdl_error *error, const char *operator, const char *part) {
  const char *const found = libdl_error_get_operator(error), *const message =
                                                                 libdl_error_get_message(error);
  if (!error || strcmp(found, operator) != 0 || !strstr(message, part)) {
    fprintf(stderr, "found '%s' (%s), wanted '%s' (%s)\n", message, found, part, operator);
    ++failures;
  }
  libdl_error_release(error);
}

static void names_of_functions(void) {
  libdl_tensor *const x = filled(1, 2), *out = NULL, *meta = NULL;
  const libdl_device nowhere = {77, 0}, third = {LIBDL_DEVICE_CPU, 3};
  const libdl_device on_meta = {LIBDL_DEVICE_META, 0};
  void *stream;
  told_by(libdl_plugin_open("/nowhere/libnone.so"), "plugin_open", "/nowhere/libnone.so");
  told_by(libdl_dlpack_current_stream(77, 0, &stream), "dlpack_current_stream", "77");
  told_by(libdl_to(x, LIBDL_DTYPE_NONE, &nowhere, 0, 0, &out), "to", "77");
  told_by(libdl_to(x, LIBDL_DTYPE_NONE, &third, 0, 0, &out), "to", "cpu:3");
  const int64_t size = 2;
  GOOD(libdl_empty(&size, 1, LIBDL_DTYPE_FLOAT32, &on_meta, &meta));
  libdl_tensor *const grads[] = {meta};
  told_by(libdl_clip_grad_norm(grads, 1, 1, 2, 1, &out), "clip_grad_norm", "clip_grad_norm: ");
  told_by(libdl_total_norm((const libdl_tensor *const *)grads, 1, 2, 1, &out), "total_norm",
          "total_norm: ");
  told_by(libdl_clip_grads_with_norm(grads, 1, 1, meta), "clip_grads_with_norm",
          "clip_grads_with_norm: ");
  CHECK(!out);
  libdl_tensor_release(x), libdl_tensor_release(meta);
}

/* What a called function computes by others is blamed on its own arguments. */
static libdl_error *no_backward(void *ctx, libdl_backward_context *context,
                                const libdl_tensor *const *arrived, int64_t arrived_count,
                                libdl_tensor **gradients, int64_t gradients_count) {
  (void)ctx, (void)context, (void)arrived, (void)arrived_count, (void)gradients;
  (void)gradients_count;
  return NULL;
}

static void callers_arguments(void) {
  const int64_t none = 0, two = 2;
  libdl_tensor *empty = NULL, *integers = NULL, *leaf = filled(1, 2), *out = NULL;
  GOOD(libdl_empty(&none, 1, LIBDL_DTYPE_FLOAT32, NULL, &empty));
  GOOD(libdl_ones(&two, 1, LIBDL_DTYPE_INT64, NULL, &integers));
  libdl_tensor *const grads[] = {empty};
  BAD(libdl_total_norm((const libdl_tensor *const *)grads, 1, HUGE_VAL, 0, &out), SHAPE,
      "total_norm: argument 1 (tensors) has nothing to take that norm of, wanted an element");
  BAD(libdl_clip_grad_norm(grads, 1, 1, HUGE_VAL, 0, &out), SHAPE,
      "clip_grad_norm: argument 1 (grads) has nothing to take that norm of, wanted an element");
  BAD(libdl_gaussian_nll_loss(leaf, leaf, integers, 0, 1e-6, "mean", -1, &out), DTYPE,
      "gaussian_nll_loss: argument 3 (var) is int64, wanted a floating dtype");
  GOOD(libdl_tensor_set_requires_grad(leaf, 1));
  libdl_function function = {.struct_size = sizeof function, .name = "n", .backward = no_backward};
  const libdl_tensor *const inputs[] = {leaf};
  BAD_BEGINS(libdl_function_record(&function, inputs, 1, &leaf, 1, NULL, NULL, 0, NULL), AUTOGRAD,
             "function_record: argument 3 (outputs) is a leaf that requires grad");
  libdl_tensor *const of_other_shape = filled(1, 3);
  told_by(libdl_tensor_set_grad(leaf, of_other_shape), "tensor_set_grad", "argument 2 (grad)");
  CHECK(!out);
  libdl_tensor_release(empty), libdl_tensor_release(integers), libdl_tensor_release(leaf);
  libdl_tensor_release(of_other_shape);
}

/* What a message tells was found and wanted stands in the fields as well. */
static void fields(libdl_error *error, const char *found, const char *wanted) {
  if (!error || strcmp(libdl_error_get_found(error), found) != 0 ||
      strcmp(libdl_error_get_wanted(error), wanted) != 0) {
    fprintf(stderr, "'%s' has '%s' and '%s', wanted '%s' and '%s'\n",
            libdl_error_get_message(error), libdl_error_get_found(error),
            libdl_error_get_wanted(error), found, wanted);
    ++failures;
  }
  libdl_error_release(error);
}

static libdl_error *shape_of_five(void *ctx, libdl_tensor **gradients, int64_t count,
                                  libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)count, (void)incoming, (void)incoming_count;
  libdl_tensor_release(gradients[0]);
  gradients[0] = filled(1, 5);
  return NULL;
}

static void fields_of_messages(void) {
  libdl_tensor *x = filled(1, 2), *out = NULL;
  float memory[5] = {0};
  const int64_t shape[] = {2, 3};
  const libdl_device seventh = {LIBDL_DEVICE_CPU, 7};
  fields(libdl_tensor_from_memory(memory, sizeof memory, shape, 2, NULL, 0, 0, LIBDL_DTYPE_FLOAT32,
                                  0, NULL, NULL, &out),
         "data has 20 bytes", "room for float32 of shape [2, 3] behind 0 elements");
  fields(libdl_zeros(shape, 2, LIBDL_DTYPE_NONE, &seventh, &out), "is cpu:7",
         "a device that exists: device cpu:7 does not exist; there are 1");
  libdl_op op = 0;
  GOOD(libdl_op_find("exp", -1, &op));
  libdl_value values[2] = {{.type = LIBDL_VALUE_NONE}};
  fields(libdl_op_call(op, values, 2, values, 1), "was given 2 arguments", "1");
  fields(libdl_op_call(op, values, 1, values, 2), "was given 2 places", "1, one for each result");
  fields(libdl_op_register("a::b(tensor x)", -1, &op), "cannot be read at byte 14", "'->'");
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  libdl_tensor *y = NULL, *z = NULL;
  GOOD(libdl_mul(x, x, &y));
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &z));
  libdl_hook *hook = NULL;
  GOOD(libdl_tensor_add_hook(y, LIBDL_HOOK_TENSOR, shape_of_five, NULL, NULL, &hook));
  fields(libdl_backward((const libdl_tensor *const *)&z, 1, NULL, 0, NULL, 0, NULL),
         "a hook put a gradient of shape [5] in place 1", "[2]");
  libdl_hook_release(hook);
  libdl_tensor_release(x), libdl_tensor_release(y), libdl_tensor_release(z);
  CHECK(!out);
}

static void positions_in_lists(void) {
  libdl_tensor *const x = filled(1, 2);
  const libdl_tensor *const tensors[] = {x, NULL};
  const char *const names[] = {"a", "b"}, *const missing[] = {"a", NULL};
  const char *const reserved[] = {"libdl.crc32"}, *const text[] = {"x"};
  libdl_text *out;
  BAD(libdl_file_save(in_folder("none"), -1, names, tensors, 2, NULL, NULL, 0), NULL,
      "file_save: argument 3 (tensors) has at 1 NULL, wanted a tensor");
  BAD(libdl_file_save(in_folder("none"), -1, missing, tensors, 2, NULL, NULL, 0), NULL,
      "file_save: argument 3 (tensors) has at 1 NULL, wanted a tensor");
  BAD(libdl_file_save_memory(missing, (const libdl_tensor *const[]){x, x}, 2, NULL, NULL, 0, &out),
      NULL, "file_save_memory: argument 1 (names) has at 1 NULL, wanted a name for each tensor");
  BAD(libdl_file_save_memory(names, tensors, 1, missing, names, 2, &out), NULL,
      "file_save_memory: argument 3 (metadata_keys) has at 1 NULL, wanted a key for each text");
  BAD(libdl_file_save_memory(names, tensors, 1, names, missing, 2, &out), NULL,
      "file_save_memory: argument 4 (metadata_texts) has at 1 NULL, wanted a text for each key");
  BAD(libdl_file_save_memory(names, tensors, 1, reserved, text, 1, &out), VALUE,
      "file_save_memory: the metadata have the key \"libdl.crc32\", under which the checksums are "
      "saved; wanted another");
  CHECK(access(in_folder("none"), F_OK) != 0);
  libdl_tensor_release(x);
}

static void paths_of_files(void) {
  libdl_file *file = NULL;
  char wanted[400];
  snprintf(wanted, sizeof wanted, "file_open: %s: this is no regular file", folder);
  BAD(libdl_file_open(folder, -1, NULL, &file), IO, wanted);
  CHECK(mkfifo(in_folder("fifo"), 0600) == 0);
  snprintf(wanted, sizeof wanted, "file_open: %s: this is no regular file", in_folder("fifo"));
  BAD(libdl_file_open(in_folder("fifo"), -1, NULL, &file), IO, wanted);
  CHECK(unlink(in_folder("fifo")) == 0);

  /* A bit of the elements changes, then the end is cut off while the file is open. */
  const char *const path = in_folder("damaged");
  libdl_tensor *const x = filled(1, 1000), *out = NULL;
  const char *const name = "x";
  GOOD(libdl_file_save(path, -1, &name, (const libdl_tensor *const *)&x, 1, NULL, NULL, 0));
  FILE *const raw = fopen(path, "r+b");
  CHECK(raw && fseek(raw, -8, SEEK_END) == 0 && fputc(0x55, raw) == 0x55 && fclose(raw) == 0);
  GOOD(libdl_file_open(path, -1, NULL, &file));
  snprintf(wanted, sizeof wanted, "file_tensor: %s: the bytes of tensor \"x\" are not those", path);
  BAD_BEGINS(libdl_file_tensor(file, 0, &out), FORMAT, wanted);
  CHECK(truncate(path, 1000) == 0);
  snprintf(wanted, sizeof wanted, "file_tensor: %s: the file ends at byte 1000, wanted ", path);
  BAD_BEGINS(libdl_file_tensor(file, 0, &out), FORMAT, wanted);
  libdl_file_release(file);
  libdl_tensor_release(x);
  CHECK(unlink(path) == 0);
}

int main(void) {
  const char *const base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/libdl_words_XXXXXX", base ? base : "/tmp");
  CHECK(mkdtemp(folder) != NULL);
  names_of_functions();
  callers_arguments();
  fields_of_messages();
  positions_in_lists();
  paths_of_files();
  CHECK(rmdir(folder) == 0);
  return failures != 0;
}
