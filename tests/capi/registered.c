/* SPDX-License-Identifier: Apache-2.0 */

/* Operators of the host's own do what built-in ones do: forward mode, into forms, in place. Their
 * refusals are in refusals.c, what callbacks leave in returned.c. */
#include "tensors.h"

/* The first element. */
static double first(const libdl_tensor *x) {
  libdl_tensor *element;
  double value;
  GOOD(libdl_select(x, 0, 0, &element));
  GOOD(libdl_item_f64(element, &value));
  libdl_tensor_release(element);
  return value;
}

/* -- my::square: y = x^2; my::both: x^2 and x^3 ------------------------------------------------ */

static libdl_error *square(void *ctx, const libdl_value *arguments, int32_t argument_count,
                           libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)argument_count;
  const libdl_tensor *const x = arguments[0].held.tensor;
  libdl_error *error = libdl_mul(x, x, &results[0]);
  if (!error && result_count == 2) error = libdl_mul(results[0], x, &results[1]);
  return error;
}

/* slope * g of d x^n = n x^(n - 1) */
static libdl_error *power_slope(const libdl_tensor *x, double n, const libdl_tensor *g,
                                libdl_tensor **out) {
  libdl_tensor *factor = NULL, *exponent = NULL, *power = NULL, *slope = NULL;
  libdl_error *error = libdl_number_f64(n, &factor);
  if (!error) error = libdl_number_f64(n - 1, &exponent);
  if (!error) error = libdl_pow(x, exponent, &power);
  if (!error) error = libdl_mul(power, factor, &slope);
  if (!error) error = libdl_mul(slope, g, out);
  libdl_tensor_release(factor), libdl_tensor_release(exponent);
  libdl_tensor_release(power), libdl_tensor_release(slope);
  return error;
}

static libdl_error *square_vjp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                               const libdl_tensor *const *results, const libdl_tensor *const *grads,
                               int32_t result_count, const libdl_bool *wanted, libdl_tensor **out,
                               int32_t tensor_count) {
  (void)ctx, (void)argument_count, (void)results, (void)result_count, (void)wanted;
  (void)tensor_count;
  return power_slope(arguments[0].held.tensor, 2, grads[0], out);
}

static int asked;
static libdl_error *power_jvp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                              const libdl_tensor *const *results, int32_t result_count,
                              const libdl_tensor *const *tangents, int32_t tensor_count,
                              libdl_tensor **out) {
  CHECK(argument_count == 1 && tensor_count == 1 && tangents[0] && results[0]);
  (void)ctx;
  ++asked;
  libdl_error *error = NULL;
  for (int32_t k = 0; !error && k < result_count; ++k)
    error = power_slope(arguments[0].held.tensor, k + 2, tangents[0], &out[k]);
  return error;
}

static libdl_op made(const char *schema, libdl_op_vjp vjp, libdl_op_jvp jvp) {
  libdl_op op;
  GOOD(libdl_op_register(schema, -1, &op));
  GOOD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, square, NULL, NULL));
  if (vjp) GOOD(libdl_op_set_vjp(op, vjp, NULL, NULL));
  if (jvp) GOOD(libdl_op_set_jvp(op, jvp, NULL, NULL));
  return op;
}

static libdl_value of(libdl_tensor *x) {
  libdl_value value = {.type = LIBDL_VALUE_TENSOR};
  value.held.tensor = x;
  return value;
}

/* -- forward mode ------------------------------------------------------------------------------ */

static double tangent_of(const libdl_tensor *dual) {
  libdl_tensor *primal, *tangent;
  GOOD(libdl_forward_unpack_dual(dual, &primal, &tangent));
  CHECK(tangent != NULL);
  const double value = tangent ? first(tangent) : 0;
  libdl_tensor_release(primal), libdl_tensor_release(tangent);
  return value;
}

static void tangents_of_each_result(libdl_op both) {
  libdl_tensor *const x = filled(3, 2), *const t = filled(10, 2), *dual;
  libdl_value results[2];
  GOOD(libdl_forward_enter(NULL));
  GOOD(libdl_forward_make_dual(x, t, &dual));
  const libdl_value argument = of(dual);
  asked = 0;
  GOOD(libdl_op_call(both, &argument, 1, results, 2));
  CHECK(asked == 1); /* once for all results */
  CHECK(first(results[0].held.tensor) == 9 && tangent_of(results[0].held.tensor) == 60);
  CHECK(first(results[1].held.tensor) == 27 && tangent_of(results[1].held.tensor) == 270);
  for (int k = 0; k < 2; ++k) libdl_tensor_release(results[k].held.tensor);
  libdl_tensor_release(dual);
  GOOD(libdl_forward_exit());
  libdl_tensor_release(x), libdl_tensor_release(t);
}

/* d/dx of the tangent 2 x t, backward through forward mode. */
static void backward_over_forward(libdl_op op) {
  libdl_tensor *const x = filled(3, 2), *const t = filled(10, 2), *dual, *primal, *tangent, *sum;
  libdl_value result;
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  GOOD(libdl_forward_enter(NULL));
  GOOD(libdl_forward_make_dual(x, t, &dual));
  const libdl_value argument = of(dual);
  GOOD(libdl_op_call(op, &argument, 1, &result, 1));
  GOOD(libdl_forward_unpack_dual(result.held.tensor, &primal, &tangent));
  GOOD(libdl_sum(tangent, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  GOOD(libdl_backward((const libdl_tensor *const *)&sum, 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor *const grad = libdl_tensor_grad(x);
  CHECK(grad && first(grad) == 20);
  GOOD(libdl_forward_exit());
  libdl_tensor *const all[] = {x, t, dual, primal, tangent, sum, grad, result.held.tensor};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

/* What a jvp leaves is checked: another kind of handle, a shape that is not the result's; nothing
 * is a tangent of zeros. */
enum { NOTHING, GENERATOR, OTHER_SHAPE };
static libdl_generator *generator; /* which stays ours */
static libdl_error *careless_jvp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                                 const libdl_tensor *const *results, int32_t result_count,
                                 const libdl_tensor *const *tangents, int32_t tensor_count,
                                 libdl_tensor **out) {
  (void)arguments, (void)argument_count, (void)results, (void)result_count, (void)tangents;
  (void)tensor_count;
  const int leaves = *(const int *)ctx;
  if (leaves == GENERATOR) out[0] = (libdl_tensor *)generator;
  if (leaves == OTHER_SHAPE) out[0] = filled(1, 5);
  return NULL;
}

static void what_a_jvp_leaves_is_checked(void) {
  static int leaves;
  libdl_tensor *const x = filled(3, 2), *dual, *primal, *tangent;
  const libdl_op op = made("my::careless(tensor input) -> tensor out", NULL, NULL);
  libdl_value result;
  GOOD(libdl_forward_enter(NULL));
  GOOD(libdl_forward_make_dual(x, x, &dual));
  const libdl_value argument = of(dual);
  BAD(libdl_op_call(op, &argument, 1, &result, 1), AUTOGRAD,
      "my::careless: has no rule for forward mode: libdl_op_set_jvp was not called");
  BAD(libdl_op_call_into(op, &argument, 1, (libdl_tensor *const *)&x, 1), AUTOGRAD,
      "my::careless: has no rule for forward mode: libdl_op_set_jvp was not called");
  GOOD(libdl_op_set_jvp(op, careless_jvp, &leaves, NULL));
  BAD(libdl_op_set_jvp(op, careless_jvp, NULL, NULL), STATE,
      "op_set_jvp: my::careless has a rule for forward mode already");
  GOOD(libdl_generator_new(1, &generator));
  leaves = GENERATOR;
  BAD(libdl_op_call(op, &argument, 1, &result, 1), KIND,
      "my::careless: jvp left tangent 1 as a generator, wanted a tensor");
  libdl_generator_release(generator);
  leaves = OTHER_SHAPE;
  BAD(libdl_op_call(op, &argument, 1, &result, 1), SHAPE,
      "my::careless: jvp left tangent 1 of shape [5], wanted [2]");
  leaves = NOTHING;
  GOOD(libdl_op_call(op, &argument, 1, &result, 1));
  GOOD(libdl_forward_unpack_dual(result.held.tensor, &primal, &tangent));
  CHECK(tangent && first(tangent) == 0);
  libdl_tensor_release(result.held.tensor);
  libdl_tensor_release(primal), libdl_tensor_release(tangent), libdl_tensor_release(dual);
  GOOD(libdl_forward_exit());
  libdl_tensor_release(x);
}

/* -- into -------------------------------------------------------------------------------------- */

static void into_a_buffer_and_in_place(libdl_op op, libdl_op both) {
  libdl_tensor *x = filled(3, 2), *y = filled(0, 2), *z = filled(0, 2), *sum;
  libdl_tensor *const wide = filled(0, 3);
  libdl_value argument = of(x);
  CHECK(libdl_op_has_into(op) && libdl_op_has_into(both));
  GOOD(libdl_op_call_into(op, &argument, 1, &y, 1));
  CHECK(first(y) == 9 && first(x) == 3);
  BAD_BEGINS(libdl_op_call_into(op, &argument, 1, (libdl_tensor *const *)&wide, 1), SHAPE,
             "my::square: ");

  libdl_tensor *pair[] = {y, z};
  GOOD(libdl_op_call_into(both, &argument, 1, pair, 2));
  CHECK(first(y) == 9 && first(z) == 27);
  pair[1] = y;
  BAD_BEGINS(libdl_op_call_into(both, &argument, 1, pair, 2), OVERLAP, "my::both: ");
  pair[1] = x;
  BAD_BEGINS(libdl_op_call_into(both, &argument, 1, pair, 2), OVERLAP, "my::both: ");
  pair[1] = wide;
  argument = of(z);
  BAD_BEGINS(libdl_op_call_into(both, &argument, 1, pair, 2), SHAPE, "my::both: ");
  CHECK(first(y) == 9); /* nothing was written */
  GOOD(libdl_forward_enter(NULL));
  libdl_tensor *dual;
  GOOD(libdl_forward_make_dual(z, z, &dual));
  argument = of(dual), pair[1] = x;
  BAD(libdl_op_call_into(both, &argument, 1, pair, 2), AUTOGRAD,
      "my::both: has no into form in forward mode");
  libdl_tensor_release(dual);
  GOOD(libdl_forward_exit());

  /* In place, and recorded: (2 x)^2 has slope 8 x. */
  libdl_tensor *two, *h;
  GOOD(libdl_number_f64(2, &two));
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  argument = of(x);
  BAD_CODE(libdl_op_call_into(op, &argument, 1, &y, 1), AUTOGRAD);
  GOOD(libdl_mul(x, two, &h));
  argument = of(h);
  GOOD(libdl_op_call_into(op, &argument, 1, &h, 1));
  CHECK(first(h) == 36);
  GOOD(libdl_sum(h, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  GOOD(libdl_backward((const libdl_tensor *const *)&sum, 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor *const grad = libdl_tensor_grad(x);
  CHECK(first(grad) == 24);
  libdl_tensor *const all[] = {x, y, z, wide, two, h, sum, grad};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

/* A default has its parameter's type from the text on: no integer passes through a double. */
static void defaults(void) {
  libdl_op op;
  libdl_value value;
  GOOD(libdl_op_register(
      "my::defaults(tensor x, int big=9223372036854775807, int low=-9007199254740993, "
      "float f=-1e-3, bool b=True, string s='a, (b) \"c\"', tensor t=2, "
      "tensor u=9007199254740993, tensor v=0.5, int? n=None) -> tensor y",
      -1, &op));
  GOOD(libdl_op_argument_get_default(op, 1, &value));
  CHECK(value.type == LIBDL_VALUE_INT && value.held.integer == INT64_MAX);
  GOOD(libdl_op_argument_get_default(op, 2, &value));
  CHECK(value.held.integer == -INT64_C(9007199254740993));
  GOOD(libdl_op_argument_get_default(op, 3, &value));
  CHECK(value.type == LIBDL_VALUE_FLOAT && value.held.number == -1e-3);
  GOOD(libdl_op_argument_get_default(op, 4, &value));
  CHECK(value.type == LIBDL_VALUE_BOOL && value.held.boolean == 1);
  GOOD(libdl_op_argument_get_default(op, 5, &value));
  CHECK(value.held.string.length == 10 && memcmp(value.held.string.text, "a, (b) \"c\"", 10) == 0);
  static const double wanted[] = {2, 9007199254740992, 0.5};
  for (int32_t k = 0; k < 3; ++k) {
    GOOD(libdl_op_argument_get_default(op, 6 + k, &value));
    CHECK(value.type == LIBDL_VALUE_TENSOR && total(value.held.tensor) == wanted[k]);
    int64_t exact = 0;
    if (k == 1) GOOD(libdl_item_i64(value.held.tensor, &exact));
    CHECK(k != 1 || exact == INT64_C(9007199254740993));
    libdl_tensor_release(value.held.tensor);
  }
  GOOD(libdl_op_argument_get_default(op, 9, &value));
  CHECK(value.type == LIBDL_VALUE_NONE);
}

int main(void) {
  defaults();
  const libdl_op op = made("my::square(tensor input) -> tensor out", square_vjp, power_jvp);
  const libdl_op both =
      made("my::both(tensor input) -> tensor second, tensor third", NULL, power_jvp);
  tangents_of_each_result(both);
  backward_over_forward(op);
  what_a_jvp_leaves_is_checked();
  into_a_buffer_and_in_place(op, both);
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
