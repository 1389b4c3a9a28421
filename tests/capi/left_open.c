/* SPDX-License-Identifier: Apache-2.0 */

/* Callbacks of every kind that leave scopes open, or another state current. What they return is
 * their caller's all the same, and afterwards all is as it was. */
#include "tensors.h"

static int64_t tensors_alive(void) {
  int64_t tensors;
  libdl_memory_get_live(&tensors, NULL, NULL, NULL);
  return tensors;
}

/* -- leaving ----------------------------------------------------------------------------------- */

enum { OWNER, PLAIN, OWNER_IN_PLAIN, OTHER_STATE, kWays };
static int way, left;
static libdl_state *other; /* outlives each way */

static void leave(void) {
  ++left;
  if (way == OTHER_STATE) GOOD(libdl_state_swap(other, NULL));
  if (way == PLAIN || way == OWNER_IN_PLAIN) GOOD(libdl_scope_push());
  if (way != PLAIN) GOOD(libdl_scope_push_owner());
  if (way == OTHER_STATE) libdl_set_grad_enabled(0);
}

/* A result inside the scope that is left. */
static libdl_error *twice(const libdl_tensor *x, libdl_tensor **out) {
  libdl_tensor *unused;
  leave();
  libdl_error *error = libdl_add(x, x, NULL, &unused);
  if (!error) error = libdl_add(x, x, NULL, out);
  if (!error && way == PLAIN) libdl_tensor_release(unused);
  return error;
}

/* -- callbacks --------------------------------------------------------------------------------- */

static libdl_error *backward(void *ctx, libdl_backward_context *context,
                             const libdl_tensor *const *dy, int64_t outputs, libdl_tensor **dx,
                             int64_t inputs) {
  (void)ctx, (void)context, (void)outputs, (void)inputs;
  return twice(dy[0], dx);
}

static libdl_error *hook(void *ctx, libdl_tensor **gradients, int64_t count,
                         libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)count, (void)incoming, (void)incoming_count;
  libdl_tensor *made = NULL;
  libdl_error *const error = twice(gradients[0], &made);
  if (error) return error;
  libdl_tensor_release(gradients[0]);
  gradients[0] = made;
  return NULL;
}

static libdl_error *pack(void *ctx, const libdl_tensor *value, void **packed) {
  (void)ctx;
  *packed = libdl_tensor_retain((libdl_tensor *)value);
  leave();
  return NULL;
}
static libdl_error *unpack(void *ctx, void *packed, libdl_tensor **value) {
  (void)ctx;
  libdl_tensor *zero;
  leave();
  GOOD(libdl_zeros_like(packed, LIBDL_DTYPE_NONE, NULL, &zero));
  GOOD(libdl_add(packed, zero, NULL, value));
  if (way == PLAIN) libdl_tensor_release(zero);
  return NULL;
}
static void forget(void *ctx, void *packed) {
  (void)ctx;
  libdl_tensor_release(packed);
  leave();
}

static libdl_error *kernel(void *ctx, const libdl_value *arguments, int32_t argument_count,
                           libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)argument_count, (void)result_count;
  return twice(arguments[0].held.tensor, results);
}
static libdl_error *vjp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                        const libdl_tensor *const *results, const libdl_tensor *const *grads,
                        int32_t result_count, const libdl_bool *wanted, libdl_tensor **out,
                        int32_t tensor_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)result_count;
  (void)wanted, (void)tensor_count;
  return twice(grads[0], out);
}
static libdl_error *jvp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                        const libdl_tensor *const *results, int32_t result_count,
                        const libdl_tensor *const *tangents, int32_t tensor_count,
                        libdl_tensor **out) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)result_count;
  (void)tensor_count;
  return twice(tangents[0], out);
}

static libdl_error *checked(void *ctx, const libdl_tensor *const *inputs, int64_t inputs_count,
                            libdl_tensor **outputs, int64_t outputs_count) {
  (void)ctx, (void)inputs_count, (void)outputs_count;
  const int grad = libdl_grad_enabled();
  libdl_error *const error = twice(inputs[0], outputs);
  (void)grad;
  return error;
}

static libdl_error *answer(void *ctx, libdl_op op, const libdl_value *arguments,
                           int32_t argument_count, libdl_tensor *const *dsts, libdl_value *results,
                           int32_t result_count, libdl_bool *handled) {
  (void)ctx, (void)argument_count, (void)dsts, (void)result_count;
  if (strcmp(libdl_op_name(op), "exp") != 0) return NULL;
  results[0].type = LIBDL_VALUE_TENSOR;
  *handled = 1;
  return twice(arguments[0].held.tensor, &results[0].held.tensor);
}

static void told(void *ctx, libdl_log_level level, const char *message, int64_t length) {
  (void)ctx, (void)level, (void)message, (void)length;
  leave();
}
static void ends(void *ctx) {
  (void)ctx;
  leave();
}
static libdl_error *block(void *ctx, const libdl_memory_block *shown) {
  (void)ctx, (void)shown;
  leave();
  return NULL;
}
static libdl_error *event(void *ctx, const libdl_profiler_event *shown) {
  (void)ctx, (void)shown;
  leave();
  return NULL;
}
static int32_t visited(void *ctx, void *arg) {
  (void)ctx, (void)arg;
  leave();
  return 0;
}
static void site(void *ctx, char *buffer, int64_t capacity) {
  (void)ctx;
  snprintf(buffer, (size_t)capacity, "here");
  leave();
}
static int32_t not_yet(void *ctx) {
  (void)ctx;
  leave();
  return 0;
}

static void *allocate(void *ctx, size_t bytes, size_t alignment) {
  (void)ctx;
  leave();
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void deallocate(void *ctx, void *data, size_t bytes, size_t alignment) {
  (void)ctx, (void)bytes, (void)alignment;
  free(data);
  leave();
}
static void run_now(void *ctx, void (*task)(void *), void *arg) {
  (void)ctx;
  leave();
  task(arg);
}
static void pressed(void *ctx, int64_t bytes) {
  (void)ctx, (void)bytes;
  leave();
}

/* -- calls ------------------------------------------------------------------------------------- */

static libdl_op op;

static libdl_tensor *leaf(void) {
  libdl_tensor *const x = filled(1, 3);
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  return x;
}

/* Runs backward from y; the gradient of x is `wanted` in each of three elements. */
static void gradient(libdl_tensor *x, libdl_tensor *y, double wanted) {
  libdl_tensor *loss;
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  GOOD(libdl_backward(LIBDL_READ_ONLY(&loss), 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor_release(loss);
  libdl_tensor *const grad = libdl_tensor_grad(x);
  CHECK(grad && !libdl_tensor_is_emptied(grad) && total(grad) == 3 * wanted);
  libdl_tensor_release(grad);
}

static void functions(void) {
  libdl_tensor *const x = leaf(), *const y = filled(1, 3);
  libdl_function function = {0};
  function.struct_size = sizeof function;
  function.backward = backward;
  function.destroy = ends;
  GOOD(libdl_function_record(&function, LIBDL_READ_ONLY(&x), 1, &y, 1, NULL, NULL, 0, NULL));
  CHECK(libdl_tensor_visit_contexts(y, ends, visited, NULL) == 0);
  gradient(x, y, 2);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
}

static void hooks(void) {
  libdl_tensor *const x = leaf();
  libdl_tensor *y;
  libdl_hook *of_tensor, *of_node;
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_tensor_add_hook(y, LIBDL_HOOK_TENSOR, hook, NULL, ends, &of_tensor));
  GOOD(libdl_node_add_hook(libdl_tensor_node(y, NULL), LIBDL_HOOK_NODE_POST, hook, NULL, NULL,
                           &of_node));
  gradient(x, y, -4);
  libdl_tensor_release(y);
  libdl_hook_release(of_tensor);
  libdl_hook_release(of_node);
  libdl_tensor_release(x);
}

static void saved_values(void) {
  libdl_tensor *const x = leaf();
  libdl_tensor *y;
  libdl_saved_hooks both = {0};
  both.struct_size = sizeof both;
  both.pack = pack, both.unpack = unpack, both.forget = forget, both.destroy = ends;
  GOOD(libdl_saved_hooks_push(&both));
  GOOD(libdl_mul(x, x, &y));
  GOOD(libdl_saved_hooks_pop());
  gradient(x, y, 2);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
}

static libdl_tensor *called(libdl_tensor *x) {
  libdl_value argument = {.type = LIBDL_VALUE_TENSOR}, result;
  argument.held.tensor = x;
  GOOD(libdl_op_call(op, &argument, 1, &result, 1));
  return result.held.tensor;
}

static void operators(void) {
  libdl_tensor *const x = leaf(), *const y = called(x);
  CHECK(total(y) == 6);
  gradient(x, y, 2);
  libdl_tensor_release(y);
  libdl_tensor *const plain = filled(1, 3), *const t = filled(1, 3);
  libdl_tensor *dual, *primal, *tangent;
  GOOD(libdl_forward_enter(NULL));
  GOOD(libdl_forward_make_dual(plain, t, &dual));
  libdl_tensor *const z = called(dual);
  GOOD(libdl_forward_unpack_dual(z, &primal, &tangent));
  CHECK(tangent && total(tangent) == 6);
  libdl_tensor_release(primal), libdl_tensor_release(tangent);
  libdl_tensor_release(z), libdl_tensor_release(dual);
  GOOD(libdl_forward_exit());
  libdl_tensor_release(plain), libdl_tensor_release(t), libdl_tensor_release(x);
}

static void checks(void) {
  libdl_tensor *const x = leaf();
  GOOD(libdl_gradcheck(checked, NULL, ends, LIBDL_READ_ONLY(&x), 1, 1, NULL));
  libdl_tensor_release(x);
}

static void answers(void) {
  libdl_tensor *const x = filled(1, 3);
  libdl_tensor *y;
  GOOD(libdl_interceptor_push(answer, NULL, ends));
  GOOD(libdl_exp(x, &y));
  GOOD(libdl_interceptor_pop());
  CHECK(total(y) == 6);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
}

static void handlers(void) {
  GOOD(libdl_set_log_handler(told, NULL, ends));
  GOOD(libdl_set_log_handler(NULL, NULL, NULL));
  const libdl_device cpu = {LIBDL_DEVICE_CPU, 0};
  libdl_tensor *const large = filled(1, 100000);
  GOOD(libdl_memory_visit(&cpu, block, NULL, ends));
  GOOD(libdl_profiler_start(NULL));
  libdl_tensor_release(large);
  libdl_tensor_release(filled(1, 3));
  GOOD(libdl_profiler_stop(event, NULL, ends));

  libdl_tensor *const x = leaf();
  libdl_tensor *y;
  GOOD(libdl_set_site_hook(site, NULL, ends));
  const libdl_bool before = libdl_set_anomaly_mode(1);
  GOOD(libdl_neg(x, &y));
  libdl_set_anomaly_mode(before);
  GOOD(libdl_set_site_hook(NULL, NULL, NULL));
  libdl_tensor_release(y);
  libdl_tensor_release(x);

  libdl_tensor *const big = filled(1, 4000000);
  GOOD(libdl_set_interruption(not_yet, NULL, ends));
  GOOD(libdl_neg(big, &y));
  GOOD(libdl_set_interruption(NULL, NULL, NULL));
  libdl_tensor_release(y);
  libdl_tensor_release(big);

  static double memory[3] = {1, 2, 3};
  const int64_t three = 3;
  GOOD(libdl_tensor_from_memory(memory, sizeof memory, &three, 1, NULL, 0, 0, LIBDL_DTYPE_FLOAT64,
                                0, NULL, ends, &y));
  libdl_tensor_release(y);
}

static void sources(void) {
  const int64_t too_many = INT64_C(1) << 50;
  libdl_tensor *x = NULL, *y;
  GOOD(libdl_memory_set_pressure(pressed, NULL, ends));
  BAD_CODE(libdl_empty(&too_many, 1, LIBDL_DTYPE_UINT8, NULL, &x), OUT_OF_MEMORY);
  GOOD(libdl_memory_set_pressure(NULL, NULL, NULL));

  const libdl_allocator allocator = {.struct_size = sizeof allocator,
                                     .allocate = allocate,
                                     .deallocate = deallocate,
                                     .destroy = ends};
  GOOD(libdl_memory_set_allocator(&allocator));
  x = filled(1, 2000000);
  GOOD(libdl_memory_set_allocator(NULL));
  const libdl_executor executor = {
      .struct_size = sizeof executor, .concurrency = 2, .run = run_now, .destroy = ends};
  GOOD(libdl_set_executor(&executor));
  GOOD(libdl_neg(x, &y));
  GOOD(libdl_set_executor(NULL));
  CHECK(total(y) == -2000000);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
}

/* Each kind in each way, outside a scope and inside one whose result is kept. */
static void all_kinds(void) {
  static void (*const kinds[])(void) = {functions, hooks,   saved_values, operators,
                                        checks,    answers, handlers,     sources};
  for (way = 0; way < kWays; ++way)
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
      for (int owner = 0; owner < 3; ++owner) {
        if (kinds[i] == checks && way == OTHER_STATE) continue; /* it would record nothing */
        const int64_t before = tensors_alive();
        const int before_left = left;
        libdl_tensor *kept = NULL;
        if (owner) {
          GOOD(owner == 2 ? libdl_scope_push_owner() : libdl_scope_push());
          kept = filled(5, 1);
        }
        kinds[i]();
        CHECK(left > before_left);
        CHECK(libdl_grad_enabled());
        if (owner) {
          libdl_tensor *result = NULL;
          GOOD(libdl_scope_return(NULL, kept, &result));
          CHECK(result == kept && total(result) == 5);
          if (owner == 1) libdl_tensor_release(kept);
          libdl_tensor_release(result);
        }
        BAD_CODE(libdl_scope_pop(), STATE); /* nothing is open */
        if (way == OTHER_STATE) {
          GOOD(libdl_state_swap(other, NULL));
          libdl_error *none = NULL;
          while (!(none = libdl_scope_pop())) {
          }
          libdl_error_release(none);
          libdl_set_grad_enabled(1);
          GOOD(libdl_state_swap(NULL, NULL));
        }
        if (tensors_alive() != before)
          fprintf(stderr, "way %d, kind %d, owner %d: %d tensors\n", way, (int)i, owner,
                  (int)(tensors_alive() - before));
        CHECK(tensors_alive() == before);
      }
}

int main(void) {
  GOOD(libdl_state_new(&other));
  GOOD(libdl_op_register("left::twice(tensor a) -> tensor b", -1, &op));
  GOOD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, kernel, NULL, NULL));
  GOOD(libdl_op_set_vjp(op, vjp, NULL, NULL));
  GOOD(libdl_op_set_jvp(op, jvp, NULL, NULL));
  all_kinds();
  libdl_state_release(other);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
