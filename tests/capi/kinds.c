/* SPDX-License-Identifier: Apache-2.0 */

/* Callbacks that leave a live handle of another kind where a tensor or an error is wanted: each is
 * an error that tells what was found, and the handle stays its owner's. tests/attack does the same
 * with the arguments of every function. */
#include "check.h"

enum { KINDS = 12, LIST = 1, ERRORS = 2, CALLBACKS = 10 };
static const char *const kinds[KINDS] = {
    "a tensor", "a list of tensors", "an error", "a generator", "a state",
    "a stream", "an event",          "a file",   "a node",      "a hook",
    "a text",   "a mapping"};

static void *handles[KINDS];
static void *given; /* what the running callback leaves */

static libdl_error *passes(void *ctx, libdl_tensor **gradients, int64_t count,
                           libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  return NULL;
}

static libdl_tensor *ones(libdl_bool requires_grad) {
  const int64_t size = 2;
  libdl_tensor *made;
  GOOD(libdl_ones(&size, 1, LIBDL_DTYPE_FLOAT64, NULL, &made));
  GOOD(libdl_tensor_set_requires_grad(made, requires_grad));
  return made;
}

static libdl_tensor *leaf, *block; /* block: for visitors of memory */

static void make_handles(void) {
  void *data;
  libdl_text *bytes;
  const char *const name = "x";
  const int64_t large = 1 << 20;
  leaf = ones(1);
  GOOD(libdl_empty(&large, 1, LIBDL_DTYPE_FLOAT32, NULL, &block));
  handles[0] = ones(0);
  GOOD(libdl_split(handles[0], 1, 0, (libdl_tensor_list **)&handles[1]));
  handles[2] = libdl_error_new(LIBDL_ERROR_CALLBACK, "meant", -1, NULL, NULL);
  GOOD(libdl_generator_new(7, (libdl_generator **)&handles[3]));
  GOOD(libdl_state_new((libdl_state **)&handles[4]));
  GOOD(libdl_stream_default(NULL, (libdl_stream **)&handles[5]));
  GOOD(libdl_event_new(NULL, 0, (libdl_event **)&handles[6]));
  GOOD(libdl_file_save_memory(&name, (const libdl_tensor *const *)&handles[0], 1, NULL, NULL, 0,
                              &bytes));
  GOOD(libdl_file_open_memory(libdl_text_data(bytes), libdl_text_length(bytes), NULL, NULL, NULL,
                              (libdl_file **)&handles[7]));
  handles[8] = libdl_tensor_node(leaf, NULL);
  GOOD(libdl_tensor_add_hook(leaf, LIBDL_HOOK_TENSOR, passes, NULL, NULL,
                             (libdl_hook **)&handles[9]));
  handles[10] = bytes;
  GOOD(libdl_tensor_map(handles[0], LIBDL_ACCESS_READ, &data, (libdl_mapping **)&handles[11]));
}

static void release_handles(void) {
  libdl_tensor_unmap(handles[11]);
  libdl_hook_release(handles[9]);
  libdl_node_release(handles[8]);
  libdl_file_release(handles[7]);
  libdl_text_release(handles[10]);
  libdl_event_release(handles[6]);
  libdl_stream_release(handles[5]);
  libdl_state_release(handles[4]);
  libdl_generator_release(handles[3]);
  libdl_error_release(handles[2]);
  libdl_tensor_list_release(handles[1]);
  libdl_tensor_release(handles[0]);
  libdl_tensor_release(leaf);
  libdl_tensor_release(block);
}

/* -- callbacks -----------------------------------------------------------------------------------
 *  */

static int as_error; /* given is returned as the error, not left in a place */

static libdl_error *leave(void *place) {
  if (as_error) return given;
  *(void **)place = given;
  return NULL;
}

static libdl_error *backward(void *ctx, libdl_backward_context *context,
                             const libdl_tensor *const *output_gradients, int64_t output_count,
                             libdl_tensor **input_gradients, int64_t input_count) {
  (void)ctx, (void)context, (void)output_gradients, (void)output_count, (void)input_count;
  return leave(&input_gradients[0]);
}

/* The gradient in the place is the caller's; a hook that exchanges it releases it. */
static libdl_error *hook(void *ctx, libdl_tensor **gradients, int64_t count,
                         libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)count, (void)incoming, (void)incoming_count;
  if (!as_error) libdl_tensor_release(gradients[0]);
  return leave(&gradients[0]);
}

static libdl_error *pack(void *ctx, const libdl_tensor *value, void **packed) {
  (void)ctx, (void)value, (void)packed;
  return NULL;
}
static libdl_error *pack_fails(void *ctx, const libdl_tensor *value, void **packed) {
  (void)ctx, (void)value, (void)packed;
  return given;
}
static libdl_error *unpack(void *ctx, void *packed, libdl_tensor **value) {
  (void)ctx, (void)packed;
  return leave(value);
}
static libdl_error *kernel(void *ctx, const libdl_value *arguments, int32_t argument_count,
                           libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)result_count;
  return leave(&results[0]);
}
static libdl_error *good_kernel(void *ctx, const libdl_value *arguments, int32_t argument_count,
                                libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)argument_count, (void)result_count;
  return libdl_add(arguments[0].held.tensor, arguments[0].held.tensor, NULL, results);
}
static libdl_error *vjp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                        const libdl_tensor *const *results, const libdl_tensor *const *grads,
                        int32_t result_count, const libdl_bool *wanted, libdl_tensor **out,
                        int32_t tensor_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)grads;
  (void)result_count, (void)wanted, (void)tensor_count;
  return leave(&out[0]);
}
static libdl_value_type answered = LIBDL_VALUE_TENSOR;
static libdl_error *interceptor(void *ctx, libdl_op op, const libdl_value *arguments,
                                int32_t argument_count, libdl_tensor *const *dsts,
                                libdl_value *results, int32_t result_count, libdl_bool *handled) {
  (void)ctx, (void)op, (void)arguments, (void)argument_count, (void)dsts, (void)result_count;
  *handled = 1;
  results[0].type = answered;
  return leave(&results[0].held);
}
static libdl_error *checked(void *ctx, const libdl_tensor *const *inputs, int64_t inputs_count,
                            libdl_tensor **outputs, int64_t outputs_count) {
  (void)ctx, (void)inputs, (void)inputs_count, (void)outputs_count;
  return leave(&outputs[0]);
}
static libdl_error *visit(void *ctx, const libdl_memory_block *block) {
  (void)ctx, (void)block;
  return given;
}

/* -- what reaches them ---------------------------------------------------------------------------
 *  */

static libdl_op op_with(const char *schema, libdl_op_kernel function, libdl_op_vjp gradient) {
  libdl_op op;
  GOOD(libdl_op_register(schema, -1, &op));
  GOOD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, function, NULL, NULL));
  GOOD(libdl_op_set_vjp(op, gradient, NULL, NULL));
  return op;
}

static libdl_error *call(libdl_op op, libdl_tensor *x, libdl_tensor **out) {
  libdl_value argument = {0}, result = {0};
  argument.type = LIBDL_VALUE_TENSOR;
  argument.held.tensor = x;
  libdl_error *const error = libdl_op_call(op, &argument, 1, &result, 1);
  if (!error) *out = result.held.tensor;
  return error;
}

static libdl_error *backward_from(libdl_tensor *y) {
  libdl_tensor *loss;
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  libdl_tensor_release(y);
  libdl_error *const error =
      libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL);
  libdl_tensor_release(loss);
  return error;
}

static libdl_tensor *doubled(libdl_tensor *x) {
  libdl_tensor *y;
  GOOD(libdl_exp(x, &y));
  return y;
}

static libdl_error *through_hook(libdl_hook_kind kind, libdl_gradient_hook fn) {
  libdl_tensor *const x = ones(1), *const y = doubled(x);
  libdl_node *const node = libdl_tensor_node(y, NULL);
  libdl_hook *made;
  if (kind == LIBDL_HOOK_TENSOR || kind == LIBDL_HOOK_ACCUMULATED)
    GOOD(libdl_tensor_add_hook(kind == LIBDL_HOOK_TENSOR ? y : x, kind, fn, NULL, NULL, &made));
  else
    GOOD(libdl_node_add_hook(node, kind, fn, NULL, NULL, &made));
  libdl_error *const error = backward_from(y);
  libdl_hook_release(made);
  libdl_node_release(node);
  libdl_tensor_release(x);
  return error;
}

static libdl_error *through_saved_hooks(int packs) {
  libdl_saved_hooks hooks = {0};
  hooks.struct_size = sizeof hooks;
  hooks.pack = packs ? pack_fails : pack;
  hooks.unpack = unpack;
  libdl_tensor *const x = ones(1);
  libdl_tensor *y = NULL;
  GOOD(libdl_saved_hooks_push(&hooks));
  libdl_error *error = libdl_exp(x, &y);
  GOOD(libdl_saved_hooks_pop());
  if (!error) error = backward_from(y);
  libdl_tensor_release(x);
  return error;
}

static libdl_error *through_function(void) {
  libdl_tensor *const x = ones(1), *const y = ones(0);
  libdl_function function = {0};
  function.struct_size = sizeof function;
  function.name = "mine";
  function.backward = backward;
  GOOD(libdl_function_record(&function, (const libdl_tensor *const *)&x, 1, &y, 1, NULL, NULL, 0,
                             NULL));
  libdl_error *const error = backward_from(y);
  libdl_tensor_release(x);
  return error;
}

static libdl_error *reach(int callback) {
  static libdl_op with_kernel = -1, with_vjp = -1;
  libdl_tensor *x, *y = NULL;
  libdl_error *error;
  if (with_kernel < 0) {
    with_kernel = op_with("kinds::kernel(tensor a) -> tensor out", kernel, vjp);
    with_vjp = op_with("kinds::vjp(tensor a) -> tensor out", good_kernel, vjp);
  }
  switch (callback) {
    case 0: return through_function();
    case 1:
    case 2:
    case 3:
      return through_hook(callback == 1   ? LIBDL_HOOK_TENSOR
                          : callback == 2 ? LIBDL_HOOK_NODE_PRE
                                          : LIBDL_HOOK_NODE_POST,
                          hook);
    case 4: return through_saved_hooks(0);
    case 5: return call(with_kernel, leaf, &y);
    case 6:
      x = ones(1);
      GOOD(call(with_vjp, x, &y));
      error = backward_from(y);
      libdl_tensor_release(x);
      return error;
    case 7:
      GOOD(libdl_interceptor_push(interceptor, NULL, NULL));
      error = libdl_neg(leaf, &y);
      GOOD(libdl_interceptor_pop());
      return error;
    case 8:
      return libdl_gradcheck(checked, NULL, NULL, (const libdl_tensor *const *)&leaf, 1, 1, NULL);
    default: return libdl_memory_visit(NULL, visit, NULL, NULL);
  }
}

static void check(libdl_error *error, int callback, int kind) {
  if (!error || !strstr(libdl_error_get_message(error), kinds[kind])) {
    fprintf(stderr, "callback %d, %s%s: %s\n", callback, kinds[kind], as_error ? " as error" : "",
            error ? libdl_error_get_message(error) : "no error");
    ++failures;
  }
  libdl_error_release(error);
}

/* A wrong tensor where the answer is a list. */
static void answer_lists(void) {
  libdl_tensor_list *list = NULL;
  answered = LIBDL_VALUE_TENSOR_LIST;
  for (int kind = 0; kind < KINDS; ++kind) {
    if (kind == LIST) continue;
    given = handles[kind];
    GOOD(libdl_interceptor_push(interceptor, NULL, NULL));
    check(libdl_split(leaf, 1, 0, &list), 7, kind);
    GOOD(libdl_interceptor_pop());
  }
  answered = LIBDL_VALUE_TENSOR;
}

/* Both structs of DLPack: a handle in their place is refused, and stays its owner's. */
static void structs(void) {
  libdl_tensor *out = NULL;
  for (int kind = 0; kind < KINDS; ++kind) {
    check(libdl_tensor_from_dlpack(handles[kind], LIBDL_COPY_IF_NEEDED, &out), -1, kind);
    check(libdl_tensor_from_dlpack_unversioned(handles[kind], LIBDL_COPY_IF_NEEDED, &out), -1,
          kind);
  }
}

int main(void) {
  int64_t before[4], after[4];
  make_handles();
  libdl_memory_get_live(before, before + 1, before + 2, before + 3);
  for (as_error = 0; as_error < 2; ++as_error)
    for (int callback = 0; callback < CALLBACKS; ++callback)
      for (int kind = 0; kind < KINDS; ++kind) {
        if (kind == (as_error ? ERRORS : 0)) continue;
        if (callback == 9 && !as_error) continue; /* visitors leave nothing */
        given = handles[kind];
        check(reach(callback), callback, kind);
      }
  as_error = 1;
  for (int kind = 0; kind < KINDS; ++kind) {
    if (kind == ERRORS) continue;
    given = handles[kind];
    check(through_saved_hooks(1), CALLBACKS, kind);
    check(through_hook(LIBDL_HOOK_ACCUMULATED, hook), CALLBACKS + 1, kind);
  }
  as_error = 0;
  for (int kind = 1; kind < KINDS; ++kind) {
    given = handles[kind];
    check(through_hook(LIBDL_HOOK_ACCUMULATED, hook), CALLBACKS + 1, kind);
  }
  answer_lists();
  structs();
  libdl_memory_get_live(after, after + 1, after + 2, after + 3);
  for (int k = 0; k < 4; ++k) CHECK(after[k] == before[k]);
  release_handles();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
