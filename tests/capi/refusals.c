/* SPDX-License-Identifier: Apache-2.0 */

/* What the functions refuse that are no operators, each in its words: hooks, custom functions,
 * forward mode, operators of the host's own, interceptors and states. */
#include "check.h"

static libdl_tensor *filled(int64_t size, libdl_dtype dtype) {
  libdl_tensor *made;
  GOOD(libdl_ones(&size, 1, dtype, NULL, &made));
  return made;
}

static libdl_tensor *leaf(void) {
  libdl_tensor *made = filled(2, LIBDL_DTYPE_FLOAT32);
  GOOD(libdl_tensor_set_requires_grad(made, 1));
  return made;
}

static libdl_op found(const char *name) {
  libdl_op op = -1;
  GOOD(libdl_op_find(name, -1, &op));
  return op;
}

/* -- items ----------------------------------------------------------------------------------------
 */

/* An integer comes as itself or not at all. */
static void items(void) {
  libdl_tensor *real = filled(1, LIBDL_DTYPE_FLOAT32), *one = filled(1, LIBDL_DTYPE_UINT64);
  libdl_tensor *large, *low;
  int64_t value = 0;
  uint64_t natural = 0;
  BAD(libdl_item_i64(real, &value), DTYPE,
      "item_i64: argument 1 (input) is float32, wanted integers or bool");
  BAD(libdl_item_u64(real, &natural), DTYPE,
      "item_u64: argument 1 (input) is float32, wanted integers or bool");
  GOOD(libdl_item_u64(one, &natural));
  CHECK(natural == 1);
  GOOD(libdl_bitwise_not(one, &large));
  GOOD(libdl_item_u64(large, &natural));
  CHECK(natural == UINT64_MAX - 1);
  BAD(libdl_item_i64(large, &value), OVERFLOW,
      "item_i64: argument 1 (input) is 18446744073709551614, wanted at most 2^63 - 1");
  GOOD(libdl_number_i64(-5, &low));
  GOOD(libdl_item_i64(low, &value));
  CHECK(value == -5);
  BAD(libdl_item_u64(low, &natural), OVERFLOW,
      "item_u64: argument 1 (input) is -5, wanted 0 or more");
  libdl_tensor_release(real);
  libdl_tensor_release(one);
  libdl_tensor_release(large);
  libdl_tensor_release(low);
}

/* -- hooks ----------------------------------------------------------------------------------------
 */

static libdl_error *no_hook(void *ctx, libdl_tensor **gradients, int64_t count,
                            libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  return NULL;
}

static libdl_error *pack(void *ctx, const libdl_tensor *value, void **packed) {
  (void)ctx, (void)value;
  *packed = NULL;
  return NULL;
}

static libdl_error *unpack_nothing(void *ctx, void *packed, libdl_tensor **value) {
  (void)ctx, (void)packed, (void)value;
  return NULL;
}

static libdl_error *unpack_number(void *ctx, void *packed, libdl_tensor **value) {
  (void)ctx, (void)packed;
  return libdl_number_f64(1, value);
}

/* VALUE where the size itself is wrong, as the headers say; SHAPE where it does not fit others. */
static void negative_sizes(void) {
  const int64_t negative[] = {2, -3}, sizes[] = {1, 2}, twice[] = {-1, -1}, far = 1000;
  libdl_tensor *const x = filled(2, LIBDL_DTYPE_FLOAT32);
  libdl_tensor *out = NULL;
  libdl_tensor_list *list = NULL;
  BAD_CODE(libdl_empty(negative, 2, LIBDL_DTYPE_NONE, NULL, &out), VALUE);
  BAD_CODE(libdl_zeros(negative, 2, LIBDL_DTYPE_NONE, NULL, &out), VALUE);
  BAD_CODE(libdl_ones(negative, 2, LIBDL_DTYPE_NONE, NULL, &out), VALUE);
  BAD_CODE(libdl_empty_strided(negative, 2, sizes, 2, LIBDL_DTYPE_NONE, NULL, &out), VALUE);
  BAD_CODE(libdl_empty_strided(sizes, 2, negative, 2, LIBDL_DTYPE_NONE, NULL, &out), VALUE);
  BAD_CODE(libdl_empty_strided(sizes, 2, sizes, 1, LIBDL_DTYPE_NONE, NULL, &out), SHAPE);
  BAD_CODE(libdl_eye(-1, NULL, LIBDL_DTYPE_NONE, NULL, &out), VALUE);
  BAD_CODE(libdl_as_strided(x, negative, 2, sizes, 2, NULL, &out), VALUE);
  BAD_CODE(libdl_as_strided(x, sizes, 2, negative, 2, NULL, &out), VALUE);
  BAD_CODE(libdl_as_strided(x, sizes, 2, sizes, 2, &far, &out), VALUE);
  BAD_CODE(libdl_as_strided(x, sizes, 2, sizes, 1, NULL, &out), SHAPE);
  BAD_CODE(libdl_view(x, negative, 2, &out), VALUE);
  BAD_CODE(libdl_view(x, twice, 2, &out), VALUE);
  BAD_CODE(libdl_reshape(x, negative, 2, &out), VALUE);
  BAD_CODE(libdl_unflatten(x, 0, twice, 2, &out), VALUE);
  BAD_CODE(libdl_expand(x, negative, 2, &out), SHAPE);
  BAD_CODE(libdl_rand(negative, 2, NULL, LIBDL_DTYPE_NONE, NULL, &out), SHAPE);
  BAD_CODE(libdl_narrow(x, 0, 0, -1, &out), INDEX);
  BAD_CODE(libdl_split_with_sizes(x, negative, 2, 0, &list), SHAPE);
  CHECK(!out && !list);
  libdl_tensor_release(x);
}

/* What a hook on a leaf leaves in the leaf's place. */
static libdl_tensor *left_in_place;
static libdl_error *exchange(void *ctx, libdl_tensor **gradients, int64_t count,
                             libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)incoming, (void)incoming_count;
  CHECK(count == 1);
  libdl_tensor_release(gradients[0]);
  gradients[0] = left_in_place ? libdl_tensor_retain(left_in_place) : NULL;
  return NULL;
}

/* The leaf cannot be replaced, and nothing is released too often or never. */
static void leaf_hooks(void) {
  libdl_tensor *const x = leaf(), *const other = filled(2, LIBDL_DTYPE_FLOAT32);
  libdl_tensor *loss;
  libdl_hook *hook;
  GOOD(libdl_tensor_add_hook(x, LIBDL_HOOK_ACCUMULATED, exchange, NULL, NULL, &hook));
  for (int k = 0; k < 3; ++k) {
    const uint32_t before = libdl_tensor_use_count(x), others = libdl_tensor_use_count(other);
    left_in_place = k == 0 ? x : k == 1 ? other : NULL;
    GOOD(libdl_sum(x, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
    libdl_error *const error = libdl_backward(LIBDL_READ_ONLY(&loss), 1, NULL, 0, NULL, 0, NULL);
    libdl_tensor_release(loss);
    if (k == 0) GOOD(error);
    if (k == 1)
      BAD(error, VALUE,
          "accumulate: a hook put another tensor in place 1, wanted the leaf, which it cannot "
          "replace");
    if (k == 2)
      BAD(error, VALUE,
          "accumulate: a hook put no tensor in place 1, wanted the leaf, which it cannot replace");
    CHECK(libdl_tensor_use_count(x) == before && libdl_tensor_use_count(other) == others);
  }
  libdl_hook_release(hook);
  libdl_tensor_release(x);
  libdl_tensor_release(other);
}

static void hooks(void) {
  libdl_tensor *x = leaf(), *plain = filled(2, LIBDL_DTYPE_FLOAT32), *y;
  libdl_hook *hook;
  GOOD(libdl_exp(x, &y));
  BAD(libdl_tensor_add_hook(plain, LIBDL_HOOK_TENSOR, no_hook, NULL, NULL, &hook), AUTOGRAD,
      "tensor_add_hook: argument 1 (tensor) does not require grad, wanted a tensor that "
      "does");
  BAD(libdl_tensor_add_hook(y, LIBDL_HOOK_ACCUMULATED, no_hook, NULL, NULL, &hook), AUTOGRAD,
      "tensor_add_hook: argument 1 (tensor) is not a leaf, wanted a leaf that requires grad");
  BAD(libdl_node_add_hook(NULL, LIBDL_HOOK_NODE_PRE, no_hook, NULL, NULL, &hook), NULL,
      "node_add_hook: argument 1 (node) is NULL, wanted a node");
  libdl_node *node = libdl_tensor_node(y, NULL);
  BAD(libdl_node_add_hook(node, LIBDL_HOOK_TENSOR, no_hook, NULL, NULL, &hook), VALUE,
      "node_add_hook: argument 2 (kind) is 0, wanted LIBDL_HOOK_NODE_PRE or "
      "LIBDL_HOOK_NODE_POST");
  libdl_tensor *saved;
  BAD(libdl_node_saved(NULL, 0, &saved), NULL,
      "node_saved: argument 1 (node) is NULL, wanted a node");
  BAD(libdl_node_saved(node, 0, NULL), NULL,
      "node_saved: argument 3 (out) is NULL, wanted a place for the result");
  BAD(libdl_node_saved(node, -1, &saved), INDEX,
      "node_saved: argument 2 (index) is -1, wanted 0 to 0");
  CHECK(libdl_node_function(node, NULL) == NULL && libdl_node_function(NULL, NULL) == NULL);
  libdl_node_release(node);

  libdl_saved_hooks pair = {.struct_size = sizeof pair, .pack = pack};
  BAD(libdl_saved_hooks_push(&pair), NULL,
      "saved_hooks_push: argument 1 (hooks) lacks pack or unpack, wanted both callbacks");
  BAD(libdl_saved_hooks_pop(), STATE, "saved_hooks_pop: no hooks are pushed");
  pair.unpack = unpack_nothing;
  GOOD(libdl_saved_hooks_push(&pair));
  libdl_tensor *z, *sum;
  GOOD(libdl_mul(x, x, &z));
  GOOD(libdl_saved_hooks_pop());
  GOOD(libdl_sum(z, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  BAD(libdl_backward((const libdl_tensor *[]){sum}, 1, NULL, 0, NULL, 0, NULL), CALLBACK,
      "unpack: the hook returned no tensor");
  libdl_tensor_release(sum), libdl_tensor_release(z);
  pair.unpack = unpack_number;
  GOOD(libdl_saved_hooks_push(&pair));
  GOOD(libdl_mul(x, x, &z));
  GOOD(libdl_saved_hooks_pop());
  GOOD(libdl_sum(z, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  BAD(libdl_backward((const libdl_tensor *[]){sum}, 1, NULL, 0, NULL, 0, NULL), NULL,
      "mul: the unpack hook of a saved value returned no tensor, wanted the value");
  libdl_tensor *all[] = {x, plain, y, z, sum};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

/* -- a custom function
 * ------------------------------------------------------------------------------ */

static struct {
  int64_t size;
  libdl_dtype dtype;
} given; /* what backward returns */

static libdl_error *backward(void *ctx, libdl_backward_context *context,
                             const libdl_tensor *const *output_gradients, int64_t outputs,
                             libdl_tensor **input_gradients, int64_t inputs) {
  (void)ctx, (void)output_gradients;
  CHECK(outputs == 1 && inputs == 1);
  libdl_tensor *out = NULL;
  BAD(libdl_backward_context_saved(context, 1, &out), INDEX,
      "backward_context_saved: argument 2 (index) is 1, wanted 0 to 0");
  BAD(libdl_backward_context_saved(context, 0, NULL), NULL,
      "backward_context_saved: argument 3 (out) is NULL, wanted a place for the result");
  BAD(libdl_backward_context_saved_with_history(context, -1, &out), INDEX,
      "backward_context_saved_with_history: argument 2 (index) is -1, wanted 0 to 0");
  BAD(libdl_backward_context_zeros(context, 1, &out), INDEX,
      "backward_context_zeros: argument 2 (index) is 1, wanted 0 to 0");
  BAD(libdl_backward_context_zeros(context, 0, NULL), NULL,
      "backward_context_zeros: argument 3 (out) is NULL, wanted a place for the result");
  input_gradients[0] = filled(given.size, given.dtype);
  return NULL;
}

static void functions(void) {
  libdl_tensor *x = leaf(), *out = NULL;
  libdl_function f = {.struct_size = sizeof f, .name = "twice", .once_differentiable = 1};
  BAD(libdl_function_record(&f, NULL, 0, NULL, 0, NULL, NULL, 0, NULL), NULL,
      "function_record: argument 1 (function) lacks backward, wanted a callback");
  BAD(libdl_backward_context_saved(NULL, 0, &out), NULL,
      "backward_context_saved: argument 1 (context) is NULL, wanted a context");
  BAD(libdl_backward_context_zeros(NULL, 0, &out), NULL,
      "backward_context_zeros: argument 1 (context) is NULL, wanted a context");
  f.backward = backward;
  const struct {
    int64_t size;
    libdl_dtype dtype;
    libdl_bool create_graph;
    libdl_error_code code;
    const char *message;
  } wrong[] = {
      {2, LIBDL_DTYPE_COMPLEX64, 0, LIBDL_ERROR_DTYPE,
       "twice: backward returned a gradient for input 1 that is complex64, wanted float32"},
      {3, LIBDL_DTYPE_FLOAT32, 0, LIBDL_ERROR_SHAPE,
       "twice: backward returned a gradient for input 1 of shape [3], wanted [2]"},
      {2, LIBDL_DTYPE_FLOAT32, 1, LIBDL_ERROR_AUTOGRAD,
       "twice: is once differentiable, and a second derivative was asked for"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    libdl_tensor *y = filled(2, LIBDL_DTYPE_FLOAT32), *sum;
    const libdl_tensor *inputs[] = {x};
    GOOD(libdl_function_record(&f, inputs, 1, &y, 1, NULL, inputs, 1, NULL));
    GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
    given.size = wrong[i].size, given.dtype = wrong[i].dtype;
    const libdl_backward_options options = {.struct_size = sizeof options,
                                            .create_graph = wrong[i].create_graph};
    bad(libdl_backward((const libdl_tensor *[]){sum}, 1, NULL, 0, NULL, 0, &options), wrong[i].code,
        wrong[i].message, -1, -1, __FILE__, __LINE__);
    libdl_tensor_release(sum);
    libdl_tensor_release(y);
  }
  libdl_tensor_release(x);
}

/* -- forward mode
 * ----------------------------------------------------------------------------------- */

static void forward_mode(void) {
  libdl_tensor *x = filled(2, LIBDL_DTYPE_FLOAT32), *longer = filled(3, LIBDL_DTYPE_FLOAT32),
               *wider = filled(2, LIBDL_DTYPE_FLOAT64), *out = NULL;
  BAD(libdl_forward_exit(), STATE, "forward_exit: no level is open");
  BAD(libdl_forward_make_dual(x, x, &out), STATE, "forward_make_dual: no level is open");
  BAD(libdl_forward_make_dual_at(x, x, 1, &out), STATE,
      "forward_make_dual_at: argument 3 (level) is 1, wanted an open level");
  CHECK(libdl_forward_level(0) == 0 && libdl_forward_level(1) == 0);
  GOOD(libdl_forward_enter(NULL));
  BAD(libdl_forward_make_dual(x, x, NULL), NULL,
      "forward_make_dual: argument 3 (out) is NULL, wanted a place for the result");
  BAD(libdl_forward_make_dual(x, longer, &out), SHAPE,
      "forward_make_dual: argument 2 (tangent) has shape [3], wanted [2]");
  BAD(libdl_forward_make_dual(x, wider, &out), DTYPE,
      "forward_make_dual: argument 2 (tangent) is float64, wanted float32");
  BAD(libdl_forward_set_tangent(x, longer, libdl_forward_level(1)), SHAPE,
      "forward_set_tangent: argument 2 (tangent) has shape [3], wanted [2]");
  libdl_tensor *dual, *twice, *primal, *tangent;
  GOOD(libdl_forward_make_dual(x, x, &dual));
  BAD(libdl_forward_make_dual(dual, x, &out), STATE,
      "forward_make_dual: argument 1 (primal) has a tangent in the level, wanted one "
      "without, "
      "or a level of its own");
  const uint64_t outer = libdl_forward_level(0);
  GOOD(libdl_forward_enter(NULL));
  GOOD(libdl_forward_make_dual(dual, x, &twice));
  BAD(libdl_forward_unpack_dual_at(twice, outer, &primal, &tangent), STATE,
      "forward_unpack_dual_at: argument 1 (dual) has a tangent in a level that was opened "
      "later, wanted that one to be unpacked first");
  BAD(libdl_forward_unpack_dual_at(twice, outer, NULL, &tangent), NULL,
      "forward_unpack_dual_at: argument 3 (primal) is NULL, wanted a place for the result");
  GOOD(libdl_forward_exit());
  GOOD(libdl_forward_exit());
  BAD_BEGINS(libdl_forward_set_tangent(x, x, outer), STATE,
             "forward_set_tangent: argument 3 (level) is ");
  libdl_tensor_release(dual);
  libdl_tensor_release(twice);
  libdl_tensor_release(x);
  libdl_tensor_release(longer);
  libdl_tensor_release(wider);
}

/* -- operators as data ---------------------------------------------------------------------------
 */

static libdl_error *no_result(void *ctx, const libdl_value *arguments, int32_t argument_count,
                              libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)result_count;
  return NULL;
}

static libdl_error *no_vjp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                           const libdl_tensor *const *results, const libdl_tensor *const *grads,
                           int32_t result_count, const libdl_bool *wanted, libdl_tensor **out,
                           int32_t tensor_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)grads;
  (void)result_count, (void)wanted, (void)out, (void)tensor_count;
  return NULL;
}

static void operators(void) {
  libdl_tensor *x = filled(2, LIBDL_DTYPE_FLOAT32);
  libdl_value argument = {.type = LIBDL_VALUE_TENSOR}, results[2];
  argument.held.tensor = x;
  BAD(libdl_op_call(found("exp"), &argument, 1, results, 2), VALUE,
      "exp: was given 2 places, wanted 1, one for each result");
  BAD(libdl_op_call(found("exp"), &argument, 1, NULL, 1), NULL, "exp: the places are NULL");
  BAD(libdl_op_call(found("exp"), NULL, 1, results, 1), NULL, "exp: the arguments are NULL");
  libdl_value far[] = {argument, {.type = LIBDL_VALUE_INT}};
  far[1].held.integer = INT64_C(1) << 40;
  BAD(libdl_op_call(found("softmax"), far, 2, results, 1), INDEX,
      "softmax: argument 2 (dim) is 1099511627776, wanted a dimension");
  BAD(libdl_op_call_into(found("view_as_real"), &argument, 1, &x, 1), VALUE,
      "view_as_real: has no into form");

  libdl_op op;
  BAD(libdl_op_register("t::x(tensor a) -> tensor b", -1, NULL), NULL,
      "op_register: argument 2 (out) is NULL, wanted a place for the result");
  const struct {
    const char *schema, *message;
  } wrong[] = {
      {"t::x(tensor a) -> int b", "21: a result is always a tensor"},
      {"t::x(tensor a) -> tensor b c", "27: wanted its end"},
      {"t::x(tensor ) -> tensor b", "12: wanted a parameter's name"},
      {"t::x(int a=) -> tensor b", "11: wanted a default"},
      {"t::x(int a=1.5) -> tensor b", "14: '1.5' is no default of 'a'"},
      {"t::x(int a=9223372036854775808) -> tensor b",
       "30: '9223372036854775808' is no default of 'a'"},
      {"t::x(int a=1 2) -> tensor b", "14: '1 2' is no default of 'a'"},
      {"t::x(bool a=maybe) -> tensor b", "17: 'maybe' is no default of 'a'"},
      {"t::x(bool a=1) -> tensor b", "13: '1' is no default of 'a'"},
      {"t::x(float a=half) -> tensor b", "17: 'half' is no default of 'a'"},
      {"t::x(string a=mean) -> tensor b", "18: 'mean' is no default of 'a'"},
      {"t::x(string a='b'c') -> tensor b", "14: wanted a default"},
      {"t::x(tensor a=x) -> tensor b", "15: 'x' is no default of 'a'"},
      {"t::x(ints a=1) -> tensor b", "13: '1' is no default of 'a'"},
      {"t::x(dtype a=float32) -> tensor b", "20: 'float32' is no default of 'a'"},
      {"t::x(int a=None) -> tensor b", "15: 'a' may be None only with a '?' behind its type"},
      {"t::x(tensor a, int a) -> tensor b", "20: two parameters are called 'a'"},
      {"t::x(tensor a) -> tensor b, tensor b", "36: two results are called 'b'"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    char message[120];
    snprintf(message, sizeof message, "op_register: argument 1 (schema) cannot be read at byte %s",
             wrong[i].message);
    BAD(libdl_op_register(wrong[i].schema, -1, &op), VALUE, message);
  }
  GOOD(libdl_op_register("t::x(tensor a, tensors more, generator? g) -> tensor b", -1, &op));
  BAD(libdl_op_set_kernel(-1, LIBDL_DEVICE_CPU, no_result, NULL, NULL), VALUE,
      "op_set_kernel: argument 1 (op) is -1, wanted the number of a registered operator");
  BAD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, NULL, NULL, NULL), NULL,
      "op_set_kernel: argument 3 (kernel) is NULL, wanted a function");
  BAD(libdl_op_set_vjp(op, NULL, NULL, NULL), NULL,
      "op_set_vjp: argument 2 (vjp) is NULL, wanted a function");
  GOOD(libdl_op_set_vjp(op, no_vjp, NULL, NULL));
  BAD(libdl_op_set_vjp(op, no_vjp, NULL, NULL), STATE, "op_set_vjp: t::x has a gradient already");
  BAD(libdl_op_set_jvp(op, NULL, NULL, NULL), NULL,
      "op_set_jvp: argument 2 (jvp) is NULL, wanted a function");
  GOOD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, no_result, NULL, NULL));

  /* 2^32 + 2 entries are not two. */
  const int64_t dims[] = {0, 0};
  libdl_op sum;
  GOOD(libdl_op_find("sum", -1, &sum));
  libdl_value of_sum[] = {argument, {.type = LIBDL_VALUE_INTS}};
  of_sum[1].held.integers.items = dims;
  of_sum[1].held.integers.count = (INT64_C(1) << 32) + 2;
  BAD(libdl_op_call(sum, of_sum, 2, results, 1), VALUE,
      "sum: argument 2 (dims) has 4294967298 entries, wanted at most 2147483647");

  libdl_value arguments[] = {argument, {.type = LIBDL_VALUE_TENSORS}, {.type = LIBDL_VALUE_NONE}};
  BAD(libdl_op_call(op, arguments, 3, results, 1), CALLBACK,
      "t::x: the kernel left a result without a tensor");
  arguments[1].held.tensors.count = 2;
  BAD(libdl_op_call(op, arguments, 3, results, 1), NULL,
      "t::x: argument 2 (more) is no array of 2");
  arguments[1].held.tensors.count = 0;
  arguments[2].type = LIBDL_VALUE_GENERATOR;
  arguments[2].held.generator = (libdl_generator *)x;
  BAD(libdl_op_call(op, arguments, 3, results, 1), KIND,
      "t::x: argument 3 (g) is a tensor, wanted a generator");
  arguments[2].type = LIBDL_VALUE_NONE;
  GOOD(libdl_forward_enter(NULL));
  libdl_tensor *dual;
  GOOD(libdl_forward_make_dual(x, x, &dual));
  arguments[0].held.tensor = dual;
  BAD(libdl_op_call(op, arguments, 3, results, 1), AUTOGRAD,
      "t::x: has no rule for forward mode: libdl_op_set_jvp was not called");
  libdl_tensor_release(dual);
  GOOD(libdl_forward_exit());
  libdl_tensor_release(x);
}

/* -- interceptors and states
 * ------------------------------------------------------------------------ */

static libdl_error *answers_wrongly(void *ctx, libdl_op op, const libdl_value *arguments,
                                    int32_t argument_count, libdl_tensor *const *dsts,
                                    libdl_value *results, int32_t result_count,
                                    libdl_bool *handled) {
  (void)ctx, (void)op, (void)arguments, (void)argument_count, (void)dsts, (void)result_count;
  BAD(libdl_interceptor_pop(), STATE, "interceptor_pop: the interceptor is running");
  results[0].type = LIBDL_VALUE_INT;
  *handled = 1;
  return NULL;
}

static void interceptors(void) {
  libdl_tensor *x = filled(2, LIBDL_DTYPE_FLOAT32), *y;
  BAD(libdl_interceptor_push(NULL, NULL, NULL), NULL,
      "interceptor_push: argument 1 (interceptor) is NULL, wanted a function");
  GOOD(libdl_interceptor_push(answers_wrongly, NULL, NULL));
  BAD(libdl_exp(x, &y), TYPE, "exp: an interceptor answered out with another type");
  GOOD(libdl_interceptor_pop());
  libdl_tensor_release(x);
}

static void run_never(void *ctx, void (*task)(void *task_arg), void *task_arg) {
  (void)ctx, (void)task, (void)task_arg;
}

static int32_t stop(void *ctx) {
  (void)ctx;
  return 1;
}

static void interruption(void) {
  libdl_tensor *x = leaf(), *sum;
  GOOD(libdl_sum(x, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  GOOD(libdl_set_interruption(stop, NULL, NULL));
  libdl_error *error = libdl_backward((const libdl_tensor *[]){sum}, 1, NULL, 0, NULL, 0, NULL);
  GOOD(libdl_set_interruption(NULL, NULL, NULL));
  BAD(error, INTERRUPTED, "backward: interrupted by the host");
  libdl_tensor_release(sum);
  libdl_tensor_release(x);
}

static void views(void) {
  const int64_t pair[] = {1, 2};
  libdl_tensor *x = leaf(), *of_leaf, *y, *before, *unrecorded, *again;
  GOOD(libdl_view(x, pair, 2, &of_leaf));
  BAD(libdl_tensor_become_view(x, of_leaf), AUTOGRAD,
      "tensor_become_view: argument 1 (tensor) is a leaf that requires grad, wanted a result, or a "
      "leaf that does not");
  GOOD(libdl_exp(x, &y));
  BAD(libdl_tensor_become_view(y, of_leaf), VALUE,
      "tensor_become_view: argument 2 (view) is no view of argument 1 (tensor), wanted one of the "
      "same elements");
  GOOD(libdl_view(y, pair, 2, &before));
  BAD(libdl_tensor_become_view(before, y), VALUE,
      "tensor_become_view: argument 1 (tensor) is a view, wanted a tensor of its own");
  const libdl_bool was = libdl_set_grad_enabled(0);
  GOOD(libdl_view(y, pair, 2, &unrecorded));
  libdl_set_grad_enabled(was);
  const char *const late =
      "tensor_become_view: argument 2 (view) was made while nothing was recorded, or before "
      "argument 1 (tensor) was written, wanted a view with the tensor's history";
  BAD(libdl_tensor_become_view(y, unrecorded), AUTOGRAD, late);
  GOOD(libdl_exp_into(y, y));
  BAD(libdl_tensor_become_view(y, before), AUTOGRAD, late);
  GOOD(libdl_view(y, pair, 2, &again));
  GOOD(libdl_tensor_become_view(y, again));
  CHECK(libdl_tensor_ndim(y) == 2 && !libdl_tensor_is_leaf(y));
  GOOD(libdl_tensor_become_view(y, y));
  libdl_tensor *plain = filled(2, LIBDL_DTYPE_FLOAT32), *of_plain;
  GOOD(libdl_view(plain, pair, 2, &of_plain));
  GOOD(libdl_tensor_become_view(plain, of_plain));
  CHECK(libdl_tensor_ndim(plain) == 2 && libdl_tensor_is_leaf(plain));
  libdl_tensor_release(of_plain);
  libdl_tensor_release(plain);
  libdl_tensor *const all[] = {x, of_leaf, y, before, unrecorded, again};
  for (int i = 0; i < 6; ++i) libdl_tensor_release(all[i]);
}

static void states(void) {
  struct {
    libdl_executor known;
    int64_t later;
  } executor = {.known = {.struct_size = sizeof executor, .run = run_never}, .later = 1};
  char message[160];
  snprintf(message, sizeof message,
           "set_executor: argument 1 (executor) sets a field that this version does not know, "
           "wanted zeros after byte %zu",
           sizeof executor.known);
  BAD(libdl_set_executor(&executor.known), OPTION, message);
  libdl_tensor *x = filled(2, LIBDL_DTYPE_FLOAT32);
  BAD(libdl_state_swap((libdl_state *)x, NULL), KIND,
      "state_swap: argument 1 (next) is a tensor, wanted a state");
  BAD(libdl_tensor_set_host_object(x, 4, NULL), VALUE,
      "tensor_set_host_object: argument 2 (host) is 4, wanted 0 to 3, or a number of "
      "libdl_host_new");
  libdl_tensor *one;
  GOOD(libdl_number_f64(1, &one));
  BAD(libdl_tensor_set_requires_grad(one, 1), AUTOGRAD,
      "tensor_set_requires_grad: argument 1 (tensor) is a host number, wanted a tensor");
  BAD(libdl_tensor_set_data(one, x), VALUE,
      "tensor_set_data: argument 1 (tensor) is a host number, wanted a tensor");
  BAD(libdl_tensor_become_view(one, x), VALUE,
      "tensor_become_view: argument 1 (tensor) is a host number, wanted a tensor");
  libdl_tensor_release(one);
  libdl_generator *generator;
  char bytes[24];
  GOOD(libdl_generator_new(1, &generator));
  GOOD(libdl_generator_get_state(generator, bytes, sizeof bytes));
  BAD(libdl_generator_set_state(generator, bytes, 23), VALUE,
      "generator_set_state: argument 2 (count) is 23, wanted 24");
  libdl_generator_release(generator);
  BAD_BEGINS(libdl_check_abi(9, 0), UNSUPPORTED,
             "check_abi: the program was built against 9.0, the library is ");
  libdl_tensor_release(x);
}

int main(void) {
  items();
  negative_sizes();
  leaf_hooks();
  hooks();
  functions();
  forward_mode();
  operators();
  interceptors();
  states();
  views();
  interruption();
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
