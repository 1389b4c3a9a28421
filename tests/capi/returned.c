/* SPDX-License-Identifier: Apache-2.0 */

/* What a registered operator's callbacks return is held against what was asked for, as that of
 * libdl_function_record is: a gradient fits its input, a result is a tensor of its own. */
#include "check.h"

static libdl_tensor *filled(const int64_t *shape, int32_t ndim, libdl_dtype dtype) {
  libdl_tensor *made;
  GOOD(libdl_ones(shape, ndim, dtype, NULL, &made));
  return made;
}
static libdl_tensor *vector(int64_t size, libdl_dtype dtype) { return filled(&size, 1, dtype); }

static libdl_tensor *leaf(int64_t size) {
  libdl_tensor *const made = vector(size, LIBDL_DTYPE_FLOAT32);
  GOOD(libdl_tensor_set_requires_grad(made, 1));
  return made;
}

/* -- callbacks --------------------------------------------------------------------------------- */

static libdl_tensor *gradient; /* what vjp returns */

static libdl_error *twice(void *ctx, const libdl_value *arguments, int32_t argument_count,
                          libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)argument_count;
  GOOD(libdl_add(arguments[0].held.tensor, arguments[0].held.tensor, NULL, results));
  for (int k = 1; k < result_count; ++k) results[k] = libdl_tensor_retain(results[0]);
  return NULL;
}

static libdl_error *vjp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                        const libdl_tensor *const *results, const libdl_tensor *const *grads,
                        int32_t result_count, const libdl_bool *wanted, libdl_tensor **out,
                        int32_t tensor_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)grads;
  (void)result_count, (void)wanted, (void)tensor_count;
  out[0] = libdl_tensor_retain(gradient);
  return NULL;
}

/* One gradient from two outputs that are one tensor. */
static libdl_error *sum_of_both(void *ctx, const libdl_value *arguments, int32_t argument_count,
                                const libdl_tensor *const *results,
                                const libdl_tensor *const *grads, int32_t result_count,
                                const libdl_bool *wanted, libdl_tensor **out,
                                int32_t tensor_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)result_count;
  (void)wanted, (void)tensor_count;
  CHECK(grads[0] && grads[1]);
  return libdl_add(grads[0], grads[1], NULL, out);
}

static libdl_op op_with(const char *schema, libdl_op_vjp fn) {
  libdl_op op;
  GOOD(libdl_op_register(schema, -1, &op));
  GOOD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, twice, NULL, NULL));
  GOOD(libdl_op_set_vjp(op, fn, NULL, NULL));
  return op;
}

static void call(libdl_op op, libdl_tensor *x, libdl_tensor **out, int32_t count) {
  libdl_value argument = {0}, results[2] = {0};
  argument.type = LIBDL_VALUE_TENSOR;
  argument.held.tensor = x;
  GOOD(libdl_op_call(op, &argument, 1, results, count));
  for (int k = 0; k < count; ++k) out[k] = results[k].held.tensor;
}

static libdl_error *backward_of(libdl_tensor *y) {
  libdl_tensor *loss;
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  libdl_error *const error =
      libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL);
  libdl_tensor_release(loss);
  libdl_tensor_release(y);
  return error;
}

/* -- gradients --------------------------------------------------------------------------------- */

static libdl_error *pass(libdl_op op, libdl_tensor *x, libdl_tensor *returned) {
  libdl_tensor *y;
  call(op, x, &y, 1);
  gradient = returned;
  libdl_error *const error = backward_of(y);
  libdl_tensor_release(returned);
  return error;
}

static void gradients(void) {
  const libdl_op op = op_with("returned::twice(tensor a) -> tensor out", vjp);
  const int64_t square[] = {3, 2}, wide[] = {2, 3};
  libdl_tensor *const x = leaf(2);
  BAD(pass(op, x, vector(7, LIBDL_DTYPE_FLOAT32)), SHAPE,
      "returned::twice: backward returned a gradient for input 1 of shape [7], wanted [2]");
  BAD(pass(op, x, filled(wide, 2, LIBDL_DTYPE_FLOAT32)), SHAPE,
      "returned::twice: backward returned a gradient for input 1 of shape [2, 3], wanted [2]");
  BAD(pass(op, x, filled(NULL, 0, LIBDL_DTYPE_FLOAT32)), SHAPE,
      "returned::twice: backward returned a gradient for input 1 of shape [], wanted [2]");
  BAD(pass(op, x, vector(2, LIBDL_DTYPE_COMPLEX64)), DTYPE,
      "returned::twice: backward returned a gradient for input 1 that is complex64, wanted "
      "float32");
  CHECK(libdl_tensor_grad(x) == NULL);

  /* What was broadcast is summed, another precision cast. */
  GOOD(pass(op, x, filled(square, 2, LIBDL_DTYPE_FLOAT64)));
  libdl_tensor *const grad = libdl_tensor_grad(x);
  float values[2] = {0, 0};
  CHECK(libdl_tensor_ndim(grad) == 1 && libdl_tensor_shape(grad)[0] == 2);
  CHECK(libdl_tensor_dtype(grad) == LIBDL_DTYPE_FLOAT32);
  GOOD(libdl_tensor_copy_out(grad, values, sizeof values));
  CHECK(values[0] == 3 && values[1] == 3);
  libdl_tensor_release(grad);
  libdl_tensor_release(x);
}

/* -- results ----------------------------------------------------------------------------------- */

/* One tensor in two places: two results, each with a gradient of its own. */
static void one_result_twice(void) {
  const libdl_op op = op_with("returned::both(tensor a) -> tensor b, tensor c", sum_of_both);
  libdl_tensor *const x = leaf(2);
  libdl_tensor *both[2], *y, *grad;
  float values[2] = {0, 0};
  call(op, x, both, 2);
  CHECK(both[0] != both[1]);
  GOOD(libdl_mul(both[0], both[1], &y));
  libdl_tensor_release(both[0]);
  libdl_tensor_release(both[1]);
  GOOD(backward_of(y));
  grad = libdl_tensor_grad(x);
  GOOD(libdl_tensor_copy_out(grad, values, sizeof values));
  CHECK(values[0] == 4 && values[1] == 4);
  libdl_tensor_release(grad);
  libdl_tensor_release(x);
}

/* -- as many inputs as there are --------------------------------------------------------------- */

enum { kMany = 65537 };

static libdl_error *first_of_all(void *ctx, const libdl_value *arguments, int32_t argument_count,
                                 libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)argument_count, (void)result_count;
  return libdl_clone(arguments[0].held.tensors.items[0], results);
}

static libdl_error *to_each(void *ctx, const libdl_value *arguments, int32_t argument_count,
                            const libdl_tensor *const *results, const libdl_tensor *const *grads,
                            int32_t result_count, const libdl_bool *wanted, libdl_tensor **out,
                            int32_t tensor_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)result_count;
  (void)wanted;
  CHECK(tensor_count == kMany);
  for (int32_t i = 0; i < tensor_count; ++i) out[i] = libdl_tensor_retain((libdl_tensor *)grads[0]);
  return NULL;
}

/* 16 bits once counted them. */
static void more_inputs_than_16_bits_count(void) {
  static const libdl_tensor *many[kMany];
  libdl_tensor *const x = leaf(2);
  for (int i = 0; i < kMany; ++i) many[i] = x;
  libdl_op op;
  GOOD(libdl_op_register("returned::many(tensors a) -> tensor b", -1, &op));
  GOOD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, first_of_all, NULL, NULL));
  GOOD(libdl_op_set_vjp(op, to_each, NULL, NULL));
  libdl_value argument = {.type = LIBDL_VALUE_TENSORS}, result;
  argument.held.tensors.items = many, argument.held.tensors.count = kMany;
  GOOD(libdl_op_call(op, &argument, 1, &result, 1));
  GOOD(backward_of(result.held.tensor));
  libdl_tensor *const grad = libdl_tensor_grad(x);
  float values[2] = {0, 0};
  GOOD(libdl_tensor_copy_out(grad, values, sizeof values));
  CHECK(values[0] == kMany && values[1] == kMany);
  libdl_tensor_release(grad);
  libdl_tensor_release(x);
}

int main(void) {
  gradients();
  more_inputs_than_16_bits_count();
  one_result_twice();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
