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

/* What is asked of each argument of each operator. `text`: the page's last character. */
struct question {
  int64_t count;
  const char *text;
  libdl_tensor *x;
};

/* Calls ask for each of them with values for all arguments of the operator, and returns how often
 * it said that it asked. */
static int32_t each_argument(struct question question,
                             int (*ask)(const struct question *q, libdl_op op, int32_t k,
                                        int32_t arguments, libdl_value *values)) {
  const int64_t shape[] = {2, 3};
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &question.x));
  int32_t asked = 0;
  for (libdl_op op = 0; op < libdl_op_count(); ++op) {
    if (!libdl_op_has_new(op)) continue;
    const int32_t arguments = libdl_op_argument_count(op);
    for (int32_t k = 0; k < arguments; ++k) {
      libdl_value values[32];
      *list = 1;
      for (int32_t i = 0; i < arguments; ++i) values[i] = value_for(op, i, &question.x);
      asked += ask(&question, op, k, arguments, values);
    }
  }
  libdl_tensor_release(question.x);
  *list = 1;
  return asked;
}

static libdl_error *called(libdl_op op, const libdl_value *values, int32_t arguments) {
  libdl_value results[8];
  return libdl_op_call(op, values, arguments, results, libdl_op_result_count(op));
}

static void tell(libdl_op op, int32_t k, int64_t count, const libdl_error *error) {
  fprintf(stderr, "%s: %s of %lld: %s\n", libdl_op_name(op), libdl_op_argument_name(op, k),
          (long long)count, error ? libdl_error_get_message(error) : "taken");
  ++failures;
}

/* Lists of tensors and texts, with an entry or a character behind the end of the page. */
static int refuses_pointer(const struct question *q, libdl_op op, int32_t k, int32_t arguments,
                           libdl_value *values) {
  const libdl_value_type type = libdl_op_argument_type(op, k);
  libdl_tensor **const listed = (libdl_tensor **)list;
  if (type == LIBDL_VALUE_TENSORS) {
    *listed = q->x;
    values[k].held.tensors.items = LIBDL_READ_ONLY(listed);
    values[k].held.tensors.count = q->count;
  } else if (type == LIBDL_VALUE_STRING) {
    values[k].held.string.text = q->text;
    values[k].held.string.length = q->count;
  } else {
    return 0;
  }
  libdl_error *const error = called(op, values, arguments);
  /* Where there is one for each dimension, more than a tensor can have are an index's mistake. */
  const int per_dimension = !strcmp(libdl_op_argument_name(op, k), "indices");
  const int32_t wanted = per_dimension ? LIBDL_ERROR_INDEX : LIBDL_ERROR_VALUE;
  if (libdl_error_get_code(error) != wanted || libdl_error_get_argument(error) != k + 1 ||
      !strstr(libdl_error_get_message(error), ") has the length "))
    tell(op, k, q->count, error);
  libdl_error_release(error);
  return 1;
}

static int32_t refuse_in_pointers(int64_t count, const char *text) {
  return each_argument((struct question){count, text, NULL}, refuses_pointer);
}

static void functions_with_texts(const char *text) {
  libdl_op op = -1;
  libdl_file *file = NULL;
  BAD(libdl_op_find(text, INT64_MAX, &op), VALUE,
      "op_find: argument 1 (name) has the length 9223372036854775807, wanted 0 to 2147483647, or "
      "-1");
  BAD_CODE(libdl_op_find(text, (int64_t)INT32_MAX + 1, &op), VALUE);
  BAD_CODE(libdl_op_register(text, INT64_MAX, &op), VALUE);
  BAD_CODE(libdl_file_open(text, INT64_MAX, NULL, &file), VALUE);
  BAD_CODE(libdl_profiler_range_push(text, INT64_MAX), VALUE);
  libdl_error *const error = libdl_error_new(LIBDL_ERROR_VALUE, text, INT64_MAX, NULL, NULL);
  CHECK(libdl_error_get_code(error) == LIBDL_ERROR_VALUE);
  CHECK(strcmp(libdl_error_get_message(error), "") == 0);
  libdl_error_release(error);
  CHECK(op == -1 && !file);
}

static void joins_and_indices(void) {
  const int64_t shape[] = {2, 3};
  libdl_tensor *x, *out = NULL;
  libdl_tensor **const listed = (libdl_tensor **)list;
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &x));
  *listed = x;
  BAD(libdl_cat(LIBDL_READ_ONLY(listed), INT64_MAX, 0, &out), VALUE,
      "cat: argument 1 (tensors) has the length 9223372036854775807, wanted 0 to 2147483647");
  BAD(libdl_stack(LIBDL_READ_ONLY(listed), (int64_t)INT32_MAX + 1, 0, &out), VALUE,
      "stack: argument 1 (tensors) has the length 2147483648, wanted 0 to 2147483647");
  BAD_CODE(libdl_cat_into(LIBDL_READ_ONLY(listed), INT64_MAX, 0, x), VALUE);
  BAD_CODE(libdl_einsum("ii", 2, LIBDL_READ_ONLY(listed), INT64_MAX, &out), VALUE);
  BAD(libdl_index(x, LIBDL_READ_ONLY(listed), INT32_MAX, &out), INDEX,
      "index: argument 2 (indices) has the length 2147483647, wanted 0 to 64");
  BAD_CODE(libdl_index(x, LIBDL_READ_ONLY(listed), 65, &out), INDEX);
  BAD_CODE(libdl_index(x, LIBDL_READ_ONLY(listed), -1, &out), VALUE);
  CHECK(!out);
  libdl_tensor_release(x);
  *list = 1;
}

/* Lists of integers with `count` entries. */
static int refuses_list(const struct question *q, libdl_op op, int32_t k, int32_t arguments,
                        libdl_value *values) {
  if (libdl_op_argument_type(op, k) != LIBDL_VALUE_INTS) return 0;
  values[k].held.integers.count = q->count;
  libdl_error *const error = called(op, values, arguments);
  const int named = libdl_error_get_argument(error);
  /* Operators whose lists have no limit of their own look at other arguments first. */
  const int free =
      !strcmp(libdl_op_argument_name(op, k), "batch_sizes") || !strcmp(libdl_op_name(op), "roll");
  if (!error || (named != k + 1 && !free)) tell(op, k, q->count, error);
  libdl_error_release(error);
  return 1;
}

static int32_t refuse_in_operators(int64_t count) {
  return each_argument((struct question){count, NULL, NULL}, refuses_list);
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
  const char *const text = (const char *)(list + 1) - 1;
  CHECK(refuse_in_pointers(INT64_MAX, text) > 20);
  CHECK(refuse_in_pointers((int64_t)INT32_MAX + 1, text) > 20);
  functions_with_texts(text);
  joins_and_indices();
  other_functions();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
