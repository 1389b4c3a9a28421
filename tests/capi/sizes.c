/* SPDX-License-Identifier: Apache-2.0 */

/* Structs that carry their size, at every size from 0 to sizeof + 64. A struct for reading that is
 * shorter than this version's is as one whose end is zero (from a field on: no version's struct
 * ends inside one, so its size is a multiple of the alignment); a longer one is as this version's
 * while its end is zero, and refused else. A struct for writing is filled in as far as it goes.
 * Nothing behind the size is read (the sanitizer sees the end of the block) or written. */
#include "check.h"

enum { kLonger = 64, kLargest = 1024, kBehind = 0xA5 };

static libdl_tensor *leaf, *other, *moment, *square, *sparse;
static int destroys;

static void destroy(void *ctx) {
  (void)ctx;
  ++destroys;
}
static libdl_error *pack(void *ctx, const libdl_tensor *value, void **packed) {
  (void)ctx;
  *packed = (void *)value;
  return NULL;
}
static libdl_error *unpack(void *ctx, void *packed, libdl_tensor **value) {
  (void)ctx;
  *value = packed;
  return NULL;
}
static libdl_error *no_gradients(void *ctx, libdl_backward_context *context,
                                 const libdl_tensor *const *output_gradients, int64_t outputs,
                                 libdl_tensor **input_gradients, int64_t inputs) {
  (void)ctx, (void)context, (void)output_gradients, (void)outputs, (void)input_gradients,
      (void)inputs;
  return NULL;
}
static libdl_error *doubled(void *ctx, const libdl_tensor *const *inputs, int64_t inputs_count,
                            libdl_tensor **outputs, int64_t outputs_count) {
  (void)ctx, (void)inputs_count, (void)outputs_count;
  return libdl_add(inputs[0], inputs[0], NULL, &outputs[0]);
}
static void *allocate(void *ctx, size_t bytes, size_t alignment) {
  (void)ctx;
  return aligned_alloc(alignment, bytes);
}
static void deallocate(void *ctx, void *data, size_t bytes, size_t alignment) {
  (void)ctx, (void)bytes, (void)alignment;
  free(data);
}
static void at_once(void *ctx, void (*task)(void *task_arg), void *task_arg) {
  (void)ctx;
  task(task_arg);
}

/* The calls: each takes the struct and undoes what a success has done. */

static libdl_error *backward(void *options) {
  const libdl_tensor *outputs[1];
  libdl_tensor *sum = NULL;
  GOOD(libdl_sum(leaf, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  outputs[0] = sum;
  libdl_error *const error = libdl_backward(outputs, 1, NULL, 0, NULL, 0, options);
  GOOD(libdl_tensor_set_grad(leaf, NULL));
  libdl_tensor_release(sum);
  return error;
}
static libdl_error *interceptor(void *options) {
  libdl_error *const error = libdl_interceptor_push_options(options);
  if (!error) GOOD(libdl_interceptor_pop());
  return error;
}
static libdl_error *profiler(void *options) {
  libdl_error *const error = libdl_profiler_start(options);
  if (!error) GOOD(libdl_profiler_stop(NULL, NULL, NULL));
  return error;
}
static libdl_error *look_on(void *ctx, const libdl_call *call) {
  (void)ctx, (void)call;
  return NULL;
}
static libdl_error *saved_hooks(void *hooks) {
  libdl_error *const error = libdl_saved_hooks_push(hooks);
  if (!error) GOOD(libdl_saved_hooks_pop());
  return error;
}
static libdl_error *function_record(void *function) {
  const libdl_tensor *inputs[1];
  libdl_tensor *output = NULL;
  GOOD(libdl_zeros_like(other, LIBDL_DTYPE_NONE, NULL, &output));
  inputs[0] = leaf;
  libdl_error *const error =
      libdl_function_record(function, inputs, 1, &output, 1, NULL, NULL, 0, NULL);
  libdl_tensor_release(output);
  return error;
}
static libdl_error *gradcheck(void *options) {
  const libdl_tensor *inputs[1];
  inputs[0] = leaf;
  return libdl_gradcheck(doubled, NULL, NULL, inputs, 1, 1, options);
}
static libdl_error *to_dlpack(void *options) {
  struct DLManagedTensorVersioned *managed = NULL;
  libdl_tensor *again = NULL;
  libdl_error *const error = libdl_tensor_to_dlpack(other, options, &managed);
  if (!error) GOOD(libdl_tensor_from_dlpack(managed, LIBDL_COPY_NEVER, &again));
  libdl_tensor_release(again);
  return error;
}
static libdl_error *open_memory(void *options) {
  static const char whole[] = "\x08\0\0\0\0\0\0\0{}      ";
  libdl_file *file = NULL;
  libdl_error *const error =
      libdl_file_open_memory(whole, sizeof whole - 1, options, NULL, NULL, &file);
  libdl_file_release(file);
  return error;
}
static libdl_error *set_allocator(void *allocator) {
  libdl_error *const error = libdl_memory_set_allocator(allocator);
  if (!error) GOOD(libdl_memory_set_allocator(NULL));
  return error;
}
static libdl_error *set_executor(void *executor) {
  libdl_error *const error = libdl_set_executor(executor);
  if (!error) GOOD(libdl_set_executor(NULL));
  return error;
}
static libdl_error *sgd_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_sgd_step(options, &other, 1, grads, 1, &moment, 1);
}
static libdl_error *adam_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_adam_step(options, &other, 1, grads, 1, &moment, 1, &square, 1, NULL, 0);
}
static libdl_error *sparse_adam_step(void *options) {
  const libdl_tensor *const grads[] = {sparse};
  return libdl_sparse_adam_step(options, &other, 1, grads, 1, &moment, 1, &square, 1);
}
static libdl_error *adamax_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_adamax_step(options, &other, 1, grads, 1, &moment, 1, &square, 1);
}
static libdl_error *nadam_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_nadam_step(options, &other, 1, grads, 1, &moment, 1, &square, 1);
}
static libdl_error *radam_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_radam_step(options, &other, 1, grads, 1, &moment, 1, &square, 1);
}
static libdl_error *adagrad_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_adagrad_step(options, &other, 1, grads, 1, &moment, 1);
}
static libdl_error *adadelta_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_adadelta_step(options, &other, 1, grads, 1, &moment, 1, &square, 1);
}
static libdl_error *asgd_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_asgd_step(options, &other, 1, grads, 1, &moment, 1);
}
static libdl_error *rmsprop_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_rmsprop_step(options, &other, 1, grads, 1, &moment, 1, &square, 1, NULL, 0);
}
static libdl_error *rprop_step(void *options) {
  const libdl_tensor *const grads[] = {leaf};
  return libdl_rprop_step(options, &other, 1, grads, 1, &moment, 1, &square, 1);
}
static libdl_error *to_string(void *options) {
  libdl_text *text = NULL;
  libdl_error *const error = libdl_tensor_to_string(other, options, &text);
  libdl_text_release(text);
  return error;
}

static libdl_error *get_properties(void *out) { return libdl_device_get_properties(NULL, out); }
static libdl_error *get_statistics(void *out) { return libdl_memory_get_statistics(NULL, out); }

/* A struct of `size` bytes in a block of its own, and what lies behind it in the blocks that are
 * longer: one that ends with the struct, for the sanitizer, and one whose end can be looked at. */
typedef struct Block {
  char *data;
  uint32_t size, bytes;
} Block;

static Block block(const void *values, uint32_t known, uint32_t size, int is_longer) {
  Block b;
  b.size = size;
  b.bytes = (size < sizeof(uint32_t) ? (uint32_t)sizeof(uint32_t) : size) + (is_longer ? 256u : 0u);
  b.data = malloc(b.bytes);
  if (!b.data) abort();
  memset(b.data, kBehind, b.bytes);
  if (size > known) memset(b.data, 0, size);
  memcpy(b.data, values, size < known ? size : known);
  memcpy(b.data, &size, sizeof size);
  return b;
}
static int is_behind(const char *data, uint32_t from, uint32_t to) {
  for (; from < to; ++from)
    if ((unsigned char)data[from] != kBehind) return 0;
  return 1;
}

typedef struct Sized {
  const char *name;
  libdl_error *(*call)(void *given);
  const void *values;
  uint32_t bytes, align, least; /* least: accepted at all */
  int gives_destroy; /* which runs once, also on failure, where the struct reaches that far */
  size_t destroy_at;
} Sized;

static libdl_error_code called(const Sized *s, Block b) {
  libdl_error *const error = s->call(b.data);
  const libdl_error_code code = libdl_error_get_code(error);
  if (b.size < s->least || code == LIBDL_ERROR_OPTION) {
    CHECK(libdl_error_get_argument(error) > 0);
  }
  libdl_error_release(error);
  CHECK(is_behind(b.data, b.size < sizeof b.size ? (uint32_t)sizeof b.size : b.size, b.bytes));
  return code;
}

/* What this version's struct gives with zeros from byte `size` on. */
static libdl_error_code with_zeros(const Sized *s, uint32_t size) {
  char whole[kLargest];
  size -= size % s->align;
  memset(whole, 0, sizeof whole);
  memcpy(whole, s->values, size < s->bytes ? size : s->bytes);
  memcpy(whole, &s->bytes, sizeof s->bytes);
  libdl_error *const error = s->call(whole);
  const libdl_error_code code = libdl_error_get_code(error);
  libdl_error_release(error);
  return code;
}

static void read_at_every_size(const Sized *s) {
  const int before = failures;
  CHECK(with_zeros(s, s->bytes) == LIBDL_OK);
  for (uint32_t size = 0; size <= s->bytes + kLonger; ++size) {
    const libdl_error_code wanted = size < s->least ? LIBDL_ERROR_OPTION : with_zeros(s, size);
    for (int is_longer = 0; is_longer < 2; ++is_longer) {
      const int destroyed = destroys;
      Block b = block(s->values, s->bytes, size, is_longer);
      const libdl_error_code code = called(s, b);
      if (s->gives_destroy) CHECK(destroys - destroyed == (size >= s->destroy_at + sizeof(void *)));
      if (code != wanted) {
        fprintf(stderr, "%s of %u bytes: %d, wanted %d\n", s->name, size, (int)code, (int)wanted);
        ++failures;
      }
      if (size > s->bytes) {
        const uint32_t at = s->bytes + (size * 7u) % (size - s->bytes);
        b.data[at] = 1;
        CHECK(called(s, b) == LIBDL_ERROR_OPTION);
      }
      free(b.data);
    }
  }
  if (failures != before) fprintf(stderr, "  in %s\n", s->name);
}

static void written_at_every_size(const Sized *s) {
  const int before = failures;
  char whole[kLargest];
  memset(whole, 0, sizeof whole);
  memcpy(whole, &s->bytes, sizeof s->bytes);
  GOOD(s->call(whole));
  for (uint32_t size = 0; size <= s->bytes + kLonger; ++size) {
    Block b = block(&size, sizeof size, size, 1);
    memset(b.data + sizeof size, kBehind, b.bytes - sizeof size);
    CHECK(called(s, b) == (size < s->least ? LIBDL_ERROR_OPTION : LIBDL_OK));
    const uint32_t end = size < s->least   ? (uint32_t)sizeof size
                         : size < s->bytes ? size
                                           : s->bytes;
    CHECK(is_behind(b.data, end, b.bytes));
    CHECK(memcmp(b.data, &size, sizeof size) == 0);
    /* What was never counted and the field behind struct_size do not change between calls. */
    if (size >= s->least) CHECK(memcmp(b.data + sizeof size, whole + sizeof size, 4) == 0);
    free(b.data);
  }
  if (failures != before) fprintf(stderr, "  in %s\n", s->name);
}

#define ALIGN(type) \
  offsetof(         \
      struct {      \
        char c;     \
        type x;     \
      },            \
      x)
#define SIZED(type, call, least) \
  {#type, call, &type##_values, sizeof type##_values, ALIGN(libdl_##type), least, 0, 0}
#define OWNING(type, call, least) \
  {#type,                         \
   call,                          \
   &type##_values,                \
   sizeof type##_values,          \
   ALIGN(libdl_##type),           \
   least,                         \
   1,                             \
   offsetof(libdl_##type, destroy)}

static void make_sparse(void) {
  const int64_t shape[] = {2, 3}, count[] = {2};
  libdl_tensor *rows, *values;
  GOOD(libdl_zeros(count, 1, LIBDL_DTYPE_INT64, NULL, &rows));
  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &values));
  GOOD(libdl_sparse_from_rows(rows, values, 2, &sparse));
  libdl_tensor_release(rows);
  libdl_tensor_release(values);
}

int main(void) {
  const int64_t shape[] = {2, 3};
  libdl_backward_options backward_options_values;
  libdl_gradcheck_options gradcheck_options_values;
  libdl_dlpack_options dlpack_options_values;
  libdl_file_options file_options_values;
  libdl_print_options print_options_values;
  libdl_sgd_options sgd_options_values;
  libdl_adam_options adam_options_values;
  libdl_sparse_adam_options sparse_adam_options_values;
  libdl_adamax_options adamax_options_values;
  libdl_nadam_options nadam_options_values;
  libdl_radam_options radam_options_values;
  libdl_adagrad_options adagrad_options_values;
  libdl_adadelta_options adadelta_options_values;
  libdl_asgd_options asgd_options_values;
  libdl_rmsprop_options rmsprop_options_values;
  libdl_rprop_options rprop_options_values;
  libdl_saved_hooks saved_hooks_values;
  libdl_interceptor_options interceptor_options_values;
  libdl_profiler_options profiler_options_values;
  libdl_function function_values;
  libdl_allocator allocator_values;
  libdl_executor executor_values;

  GOOD(libdl_ones(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &leaf));
  GOOD(libdl_tensor_set_requires_grad(leaf, 1));
  GOOD(libdl_zeros(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &other));
  GOOD(libdl_zeros(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &moment));
  GOOD(libdl_zeros(shape, 2, LIBDL_DTYPE_FLOAT64, NULL, &square));
  make_sparse();

#define ZERO(values) memset(&(values), 0, sizeof(values))
  ZERO(backward_options_values), backward_options_values.retain_graph = 1;
  ZERO(gradcheck_options_values), gradcheck_options_values.eps = 1e-6;
  gradcheck_options_values.atol = 1e-5, gradcheck_options_values.nondet_tol = 1e-9;
  ZERO(dlpack_options_values), dlpack_options_values.max_major = 1;
  dlpack_options_values.device.type = LIBDL_DEVICE_CPU, dlpack_options_values.read_only = 1;
  ZERO(file_options_values), file_options_values.share = 1;
  ZERO(print_options_values), print_options_values.precision = 3;
  print_options_values.dtype_prefix = "", print_options_values.grad_fn = "Fn";
  ZERO(sgd_options_values), sgd_options_values.lr = 0.5, sgd_options_values.momentum = 0.5;
  sgd_options_values.first = 1;
  ZERO(adam_options_values), adam_options_values.lr = 0.5, adam_options_values.beta1 = 0.5;
  adam_options_values.beta2 = 0.5, adam_options_values.step = 1;
  adam_options_values.maximize = 1;
  ZERO(sparse_adam_options_values), sparse_adam_options_values.maximize = 1;
  sparse_adam_options_values.lr = 0.5;
  sparse_adam_options_values.step = 1;
  ZERO(adamax_options_values), adamax_options_values.maximize = 1;
  adamax_options_values.lr = 0.5;
  adamax_options_values.step = 1;
  ZERO(nadam_options_values), nadam_options_values.maximize = 1;
  nadam_options_values.lr = 0.5;
  nadam_options_values.step = 1;
  ZERO(radam_options_values), radam_options_values.maximize = 1;
  radam_options_values.lr = 0.5;
  radam_options_values.step = 1;
  ZERO(adagrad_options_values), adagrad_options_values.maximize = 1;
  adagrad_options_values.lr = 0.5;
  adagrad_options_values.step = 1;
  ZERO(adadelta_options_values), adadelta_options_values.maximize = 1;
  adadelta_options_values.lr = 0.5;
  ZERO(asgd_options_values), asgd_options_values.maximize = 1;
  asgd_options_values.lr = 0.5;
  asgd_options_values.step = 1;
  ZERO(rmsprop_options_values), rmsprop_options_values.maximize = 1;
  rmsprop_options_values.lr = 0.5;
  ZERO(rprop_options_values), rprop_options_values.maximize = 1;
  rmsprop_options_values.momentum = 0.5;
  rprop_options_values.etaminus = 0.5, rprop_options_values.etaplus = 2;
  ZERO(saved_hooks_values), saved_hooks_values.pack = pack, saved_hooks_values.unpack = unpack;
  saved_hooks_values.destroy = destroy;
  ZERO(profiler_options_values), profiler_options_values.recorded = LIBDL_PROFILER_SHAPES;
  ZERO(interceptor_options_values), interceptor_options_values.wanted = LIBDL_INTERCEPT_PARTS;
  interceptor_options_values.after = look_on, interceptor_options_values.destroy = destroy;
  ZERO(function_values), function_values.name = "f", function_values.backward = no_gradients;
  function_values.destroy = destroy;
  ZERO(allocator_values), allocator_values.allocate = allocate;
  allocator_values.deallocate = deallocate, allocator_values.destroy = destroy;
  ZERO(executor_values), executor_values.concurrency = 2, executor_values.run = at_once;
  executor_values.destroy = destroy;

  {
    const uint32_t least = sizeof(uint32_t);
    const Sized read[] = {SIZED(backward_options, backward, least),
                          SIZED(gradcheck_options, gradcheck, least),
                          SIZED(dlpack_options, to_dlpack, least),
                          SIZED(file_options, open_memory, least),
                          SIZED(print_options, to_string, least),
                          SIZED(sgd_options, sgd_step, least),
                          SIZED(adam_options, adam_step, least),
                          SIZED(sparse_adam_options, sparse_adam_step, least),
                          SIZED(adamax_options, adamax_step, least),
                          SIZED(nadam_options, nadam_step, least),
                          SIZED(radam_options, radam_step, least),
                          SIZED(adagrad_options, adagrad_step, least),
                          SIZED(adadelta_options, adadelta_step, least),
                          SIZED(asgd_options, asgd_step, least),
                          SIZED(rmsprop_options, rmsprop_step, least),
                          SIZED(rprop_options, rprop_step, least),
                          SIZED(profiler_options, profiler, least),
                          OWNING(saved_hooks, saved_hooks, least),
                          OWNING(interceptor_options, interceptor, least),
                          OWNING(function, function_record, least),
                          OWNING(allocator, set_allocator, sizeof allocator_values),
                          OWNING(executor, set_executor, sizeof executor_values)};
    const Sized written[] = {
        {"device_properties", get_properties, NULL, sizeof(libdl_device_properties), 8,
         sizeof(libdl_device_properties), 0, 0},
        {"memory_statistics", get_statistics, NULL, sizeof(libdl_memory_statistics), 8,
         offsetof(libdl_memory_statistics, packed), 0, 0}};
    for (size_t i = 0; i < sizeof read / sizeof *read; ++i) read_at_every_size(&read[i]);
    for (size_t i = 0; i < sizeof written / sizeof *written; ++i)
      written_at_every_size(&written[i]);
  }

  libdl_tensor_release(leaf);
  libdl_tensor_release(other);
  libdl_tensor_release(moment);
  libdl_tensor_release(square);
  libdl_tensor_release(sparse);
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
