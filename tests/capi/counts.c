/* SPDX-License-Identifier: Apache-2.0 */

/* A count that no call could have is refused before the list is read: it lies at the end of a page,
 * and behind it is no memory. */
#include <sys/mman.h>
#include <unistd.h>

#include "tensors.h"

static int64_t *list; /* one element */
static const char *const *texts;

static void make_list(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *const memory =
      mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE)) exit(EXIT_FAILURE);
  list = (int64_t *)(memory + page) - 1;
  *list = 1;
  texts = (const char *const *)list;
}

static libdl_value value_for(libdl_op op, int32_t k, libdl_tensor *const *x) {
  libdl_value value = {.type = libdl_op_argument_type(op, k)};
  if (value.type == LIBDL_VALUE_TENSOR) value.held.tensor = *x;
  if (value.type == LIBDL_VALUE_TENSORS) {
    value.held.tensors.items = LIBDL_READ_ONLY(x);
    value.held.tensors.count = 1;
  }
  if (value.type == LIBDL_VALUE_INTS) {
    value.held.integers.items = list;
    value.held.integers.count = 1;
  }
  if (value.type == LIBDL_VALUE_STRING) {
    value.held.string.text = "mean";
    value.held.string.length = -1;
  }
  if (value.type == LIBDL_VALUE_DTYPE) value.held.dtype = LIBDL_DTYPE_FLOAT64;
  if (value.type == LIBDL_VALUE_DEVICE || value.type == LIBDL_VALUE_GENERATOR)
    value.type = LIBDL_VALUE_NONE;
  return value;
}

/* Each list of each operator, with `count` entries. */
static int32_t refuse_in_operators(int64_t count) {
  const int64_t shape[] = {2, 3};
  libdl_tensor *x;
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &x));
  int32_t lists = 0;
  for (libdl_op op = 0; op < libdl_op_count(); ++op) {
    if (!libdl_op_has_new(op)) continue;
    const int32_t arguments = libdl_op_argument_count(op);
    for (int32_t k = 0; k < arguments; ++k) {
      if (libdl_op_argument_type(op, k) != LIBDL_VALUE_INTS) continue;
      libdl_value values[32], results[8];
      for (int32_t i = 0; i < arguments; ++i) values[i] = value_for(op, i, &x);
      values[k].held.integers.count = count;
      libdl_error *const error =
          libdl_op_call(op, values, arguments, results, libdl_op_result_count(op));
      const int named = libdl_error_get_argument(error);
      /* Operators whose lists have no limit of their own look at other arguments first. */
      const char *const list_name = libdl_op_argument_name(op, k);
      const int free = !strcmp(list_name, "batch_sizes") || !strcmp(libdl_op_name(op), "roll");
      if (!error || (named != k + 1 && !free)) {
        fprintf(stderr, "%s: %s of %lld: %s\n", libdl_op_name(op), list_name, (long long)count,
                libdl_error_get_message(error));
        ++failures;
      }
      libdl_error_release(error);
      ++lists;
    }
  }
  libdl_tensor_release(x);
  return lists;
}

static void other_functions(void) {
  const int64_t shape[] = {2, 3};
  libdl_tensor *x, *out = NULL, *hn = NULL;
  libdl_text *text = NULL;
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &x));
  BAD(libdl_sum(x, list, INT32_MAX, 0, LIBDL_DTYPE_NONE, &out), VALUE,
      "sum: argument 2 (dims) has the length 2147483647, wanted at most 64");
  BAD(libdl_reshape(x, list, INT32_MAX, &out), SHAPE,
      "reshape: argument 2 (shape) has 2147483647 dimensions, wanted at most 64");
  BAD(libdl_reshape(x, list, 65, &out), SHAPE,
      "reshape: argument 2 (shape) has 65 dimensions, wanted at most 64");
  BAD(libdl_pad(x, list, 129, "constant", -1, NULL, &out), VALUE,
      "pad: argument 2 (pad) has the length 129, wanted at most 128");
  BAD(libdl_gru_packed(x, list, 3, x, LIBDL_READ_ONLY(&x), 1, 0, 1, 0, 0, 0, &out, &hn), VALUE,
      "gru_packed: argument 2 (batch_sizes) has 3 entries, wanted at most 2, the rows of data");
  BAD(libdl_tensor_from_memory(list, 8, list, INT32_MAX, NULL, 0, 0, LIBDL_DTYPE_FLOAT64, 0, NULL,
                               NULL, &out),
      SHAPE, "tensor_from_memory: argument 2 (shape) has 2147483647 dimensions, wanted at most 64");
  BAD_BEGINS(libdl_tensor_from_memory(list, 8, list, 1, list, INT32_MAX, 0, LIBDL_DTYPE_FLOAT64, 0,
                                      NULL, NULL, &out),
             SHAPE, "tensor_from_memory: argument 3 (strides) has 2147483647 entries");
  BAD(libdl_file_save_memory(texts, LIBDL_READ_ONLY(&x), INT64_MAX, NULL, NULL, 0, &text), VALUE,
      "file_save_memory: argument 2 (tensors) has the length 9223372036854775807, wanted 0 to "
      "2147483647");
  BAD(libdl_file_save_memory(texts, LIBDL_READ_ONLY(&x), 0, texts, texts, INT64_MAX, &text), VALUE,
      "file_save_memory: argument 4 (metadata_texts) has the length 9223372036854775807, wanted 0 "
      "to 2147483647");
  CHECK(!out && !hn && !text);
  libdl_tensor_release(x);
}

int main(void) {
  make_list();
  CHECK(refuse_in_operators(INT32_MAX) > 100);
  CHECK(refuse_in_operators(129) > 100);
  other_functions();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
