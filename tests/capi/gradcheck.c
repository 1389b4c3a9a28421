/* SPDX-License-Identifier: Apache-2.0 */

/* libdl_gradcheck accepts right gradients, finds planted wrong ones, and leaves nothing behind. */
#include "check.h"

#define TRY(call)             \
  do {                        \
    libdl_error *made = call; \
    if (made) return made;    \
  } while (0)

/* -- functions to check ------------------------------------------------------------------------ */

/* What a function of the tests is told, and what it counts. */
struct told {
  double factor; /* of the gradient of `square`; 1 is right */
  double drift;  /* added to the factor at each backward pass */
  int constant;  /* the gradient's own history is cut */
  int conjugate; /* 2 conj(x) rather than 2 x */
  int calls, destroyed;
};

static void count_destroy(void *ctx) { ++((struct told *)ctx)->destroyed; }

typedef const libdl_tensor *const *inputs_t;

/* One call, as each test makes it: destroy runs exactly once, whatever comes out. */
static libdl_error *check(libdl_gradcheck_function fn, struct told *told, libdl_tensor **inputs,
                          int64_t inputs_count, int64_t outputs_count,
                          const libdl_gradcheck_options *options) {
  libdl_error *error;
  told->destroyed = 0;
  error = libdl_gradcheck(fn, told, count_destroy, (inputs_t)inputs, inputs_count, outputs_count,
                          options);
  CHECK(told->destroyed == 1);
  return error;
}

static libdl_error *square_backward(void *ctx, libdl_backward_context *context,
                                    const libdl_tensor *const *gradients, int64_t outputs,
                                    libdl_tensor **out, int64_t inputs) {
  struct told *told = ctx;
  libdl_tensor *x = NULL, *other = NULL, *product = NULL, *factor = NULL;
  libdl_error *error = libdl_backward_context_saved(context, 0, &x);
  (void)outputs, (void)inputs;
  if (!error) error = told->conjugate ? libdl_conj(x, &other) : libdl_clone(x, &other);
  if (!error && told->constant) {
    libdl_tensor_release(x);
    x = other;
    error = libdl_detach(x, &other);
  }
  if (!error) error = libdl_number_f64(2 * told->factor, &factor);
  if (!error) error = libdl_mul(gradients[0], other, &product);
  if (!error) error = libdl_mul(product, factor, out);
  told->factor += told->drift;
  libdl_tensor_release(factor);
  libdl_tensor_release(product);
  libdl_tensor_release(other);
  libdl_tensor_release(x);
  return error;
}

/* x * x with a gradient of the test's own. */
static libdl_error *square(void *ctx, inputs_t inputs, int64_t inputs_count, libdl_tensor **outputs,
                           int64_t outputs_count) {
  libdl_function function;
  const libdl_bool before = libdl_set_grad_enabled(0);
  libdl_error *error = libdl_mul(inputs[0], inputs[0], &outputs[0]);
  (void)outputs_count;
  libdl_set_grad_enabled(before);
  if (error) return error;
  memset(&function, 0, sizeof function);
  function.struct_size = sizeof function;
  function.name = "square";
  function.backward = square_backward;
  function.ctx = ctx;
  ++((struct told *)ctx)->calls;
  return libdl_function_record(&function, inputs, inputs_count, outputs, 1, NULL, inputs, 1, NULL);
}

/* exp(x) * y, and sin(x): y broadcasts. */
static libdl_error *two_of_two(void *ctx, inputs_t inputs, int64_t inputs_count,
                               libdl_tensor **outputs, int64_t outputs_count) {
  libdl_tensor *power;
  libdl_error *error;
  CHECK(inputs_count == 2 && outputs_count == 2);
  ++((struct told *)ctx)->calls;
  TRY(libdl_exp(inputs[0], &power));
  error = libdl_mul(power, inputs[1], &outputs[0]);
  libdl_tensor_release(power);
  if (!error) error = libdl_sin(inputs[0], &outputs[1]);
  return error;
}

/* z conj(z) z, which is not holomorphic, and the real abs(z). */
static libdl_error *of_complex(void *ctx, inputs_t inputs, int64_t inputs_count,
                               libdl_tensor **outputs, int64_t outputs_count) {
  libdl_tensor *conjugate = NULL, *product = NULL;
  libdl_error *error = libdl_conj(inputs[0], &conjugate);
  (void)ctx, (void)inputs_count, (void)outputs_count;
  if (!error) error = libdl_mul(conjugate, inputs[0], &product);
  if (!error) error = libdl_mul(product, inputs[0], &outputs[0]);
  if (!error) error = libdl_abs(inputs[0], &outputs[1]);
  libdl_tensor_release(product);
  libdl_tensor_release(conjugate);
  return error;
}

/* x * x, and the same without history. */
static libdl_error *half_detached(void *ctx, inputs_t inputs, int64_t inputs_count,
                                  libdl_tensor **outputs, int64_t outputs_count) {
  (void)ctx, (void)inputs_count;
  TRY(libdl_mul(inputs[0], inputs[0], &outputs[0]));
  return outputs_count < 2 ? NULL : libdl_detach(outputs[0], &outputs[1]);
}

static libdl_error *detached(void *ctx, inputs_t inputs, int64_t inputs_count,
                             libdl_tensor **outputs, int64_t outputs_count) {
  (void)ctx, (void)inputs_count, (void)outputs_count;
  return libdl_detach(inputs[0], &outputs[0]);
}

static libdl_error *constant(void *ctx, inputs_t inputs, int64_t inputs_count,
                             libdl_tensor **outputs, int64_t outputs_count) {
  (void)ctx, (void)inputs_count, (void)outputs_count;
  return libdl_zeros_like(inputs[0], LIBDL_DTYPE_NONE, NULL, &outputs[0]);
}

/* -- inputs ------------------------------------------------------------------------------------ */

static libdl_tensor *leaf(const double *values, int64_t rows, int64_t columns, libdl_dtype dtype) {
  const int64_t shape[] = {rows, columns};
  libdl_tensor *x;
  GOOD(libdl_empty(shape, 2, dtype, NULL, &x));
  GOOD(libdl_tensor_copy_in(x, values, rows * columns * libdl_dtype_size(dtype)));
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  return x;
}

static const double kValues[] = {0.5, -1.25, 2, 0.75, -0.5, 1.5};

static libdl_gradcheck_options options(void) {
  libdl_gradcheck_options made;
  memset(&made, 0, sizeof made);
  made.struct_size = sizeof made;
  return made;
}

/* -- tests ------------------------------------------------------------------------------------- */

static void right_gradients_pass(void) {
  struct told told = {1, 0, 0, 0, 0, 0};
  libdl_gradcheck_options all = options();
  libdl_tensor *inputs[] = {leaf(kValues, 3, 2, LIBDL_DTYPE_FLOAT64),
                            leaf(kValues + 3, 1, 2, LIBDL_DTYPE_FLOAT64)};
  libdl_tensor *z = leaf(kValues, 3, 1, LIBDL_DTYPE_COMPLEX128), *none, *turned;
  const int64_t no_rows[] = {0, 2};
  all.forward = all.second_order = all.strict = 1;

  GOOD(check(two_of_two, &told, inputs, 2, 2, NULL));
  CHECK(told.calls == 1 + 2 * (6 + 2)); /* one for the passes, two for each input element */
  GOOD(check(two_of_two, &told, inputs, 2, 2, &all));
  GOOD(check(of_complex, &told, &z, 1, 2, NULL));
  GOOD(check(of_complex, &told, &z, 1, 2, &all));
  GOOD(check(square, &told, inputs, 1, 1, NULL));
  GOOD(check(constant, &told, inputs, 1, 1, &all));
  CHECK(!libdl_tensor_grad(inputs[0]));

  /* another layout, which the copies keep, and no elements at all */
  GOOD(libdl_transpose(inputs[0], 0, 1, &turned));
  GOOD(check(half_detached, &told, &turned, 1, 1, &all));
  GOOD(libdl_empty(no_rows, 2, LIBDL_DTYPE_FLOAT64, NULL, &none));
  GOOD(libdl_tensor_set_requires_grad(none, 1));
  GOOD(check(half_detached, &told, &none, 1, 1, &all));

  libdl_tensor_release(none);
  libdl_tensor_release(turned);
  libdl_tensor_release(z);
  libdl_tensor_release(inputs[1]);
  libdl_tensor_release(inputs[0]);
}

static void the_modes_of_the_thread_come_back(void) {
  struct told told = {1, 0, 0, 0, 0, 0};
  libdl_tensor *x = leaf(kValues, 1, 2, LIBDL_DTYPE_FLOAT64);
  libdl_set_grad_enabled(0);
  GOOD(check(square, &told, &x, 1, 1, NULL));
  CHECK(!libdl_grad_enabled());
  libdl_set_grad_enabled(1);
  libdl_set_inference_mode(1);
  GOOD(check(square, &told, &x, 1, 1, NULL));
  CHECK(libdl_inference_mode());
  libdl_set_inference_mode(0);
  CHECK(libdl_grad_enabled());
  libdl_tensor_release(x);
}

static void wrong_gradients_are_found(void) {
  struct told told = {1.001, 0, 0, 0, 0, 0};
  libdl_gradcheck_options fine = options(), second = options(), strict = options();
  const double value = 1;
  libdl_tensor *x = leaf(&value, 1, 1, LIBDL_DTYPE_FLOAT64);
  libdl_tensor *z = leaf(kValues, 1, 1, LIBDL_DTYPE_COMPLEX128);
  /* Differences of x * x are exact but for rounding, 2^-53 / eps = 1e-10: 0.1 % stands out. */
  fine.rtol = 1e-4;
  second.second_order = 1;
  strict.strict = 1;

  BAD_BEGINS(
      check(square, &told, &x, 1, 1, &fine), AUTOGRAD,
      "libdl_gradcheck: output 1, element 0, by input 1, element 0: the analytical derivative is "
      "2.002, the numerical one 2");
  told.factor = 1.01;
  BAD_BEGINS(
      check(square, &told, &x, 1, 1, NULL), AUTOGRAD,
      "libdl_gradcheck: output 1, element 0, by input 1, element 0: the analytical derivative is "
      "2.02, the numerical one 2");
  told.factor = 1;

  /* without the conjugate, at z = 0.5 - 1.25 i */
  BAD_BEGINS(
      check(square, &told, &z, 1, 1, NULL), AUTOGRAD,
      "libdl_gradcheck: output 1, element 0 (imaginary part), by input 1, element 0 (real part): "
      "the analytical derivative is 2.5, the numerical one -2.5");
  told.conjugate = 1;
  GOOD(check(square, &told, &z, 1, 1, &second));
  told.conjugate = 0;

  GOOD(check(square, &told, &x, 1, 1, &second));
  told.constant = 1;
  GOOD(check(square, &told, &x, 1, 1, NULL));
  BAD_BEGINS(
      check(square, &told, &x, 1, 1, &second), AUTOGRAD,
      "libdl_gradcheck: second order: the gradient of input 1, element 0, by input 1, element 0: "
      "the analytical derivative is 0, the numerical one ");
  told.constant = 0;

  GOOD(check(half_detached, &told, &x, 1, 2, NULL));
  BAD_BEGINS(
      check(half_detached, &told, &x, 1, 2, &strict), AUTOGRAD,
      "libdl_gradcheck: output 2, element 0, by input 1, element 0: the analytical derivative is "
      "0, the numerical one 2");
  BAD_BEGINS(
      check(detached, &told, &x, 1, 1, NULL), AUTOGRAD,
      "libdl_gradcheck: output 1, element 0, by input 1, element 0: the analytical derivative is "
      "0, the numerical one 1");

  told.drift = 1e-9;
  BAD_BEGINS(
      check(square, &told, &x, 1, 1, NULL), AUTOGRAD,
      "libdl_gradcheck: output 1, element 0, by input 1, element 0: two backward passes differ "
      "by 2");
  fine.nondet_tol = 1e-6;
  GOOD(check(square, &told, &x, 1, 1, &fine));

  libdl_tensor_release(z);
  libdl_tensor_release(x);
}

static libdl_error *refuse(void *ctx, inputs_t inputs, int64_t inputs_count, libdl_tensor **outputs,
                           int64_t outputs_count) {
  (void)inputs, (void)inputs_count, (void)outputs_count;
  TRY(libdl_number_f64(1, &outputs[0])); /* what was made before an error is released */
  return libdl_error_new(LIBDL_ERROR_IO, "mine", -1, ctx, NULL);
}

static libdl_error *leave_null(void *ctx, inputs_t inputs, int64_t inputs_count,
                               libdl_tensor **outputs, int64_t outputs_count) {
  (void)ctx, (void)inputs_count, (void)outputs_count;
  return libdl_clone(inputs[0], &outputs[1]);
}

/* Another shape at each call. */
static libdl_error *grow(void *ctx, inputs_t inputs, int64_t inputs_count, libdl_tensor **outputs,
                         int64_t outputs_count) {
  const int64_t shape[] = {++((struct told *)ctx)->calls, 2};
  (void)inputs_count, (void)outputs_count;
  return libdl_expand(inputs[0], shape, 2, &outputs[0]);
}

static void arguments_are_checked(void) {
  struct told told = {1, 0, 0, 0, 0, 0};
  libdl_gradcheck_options o = options();
  const int64_t wide[] = {3, 2};
  libdl_tensor *x = leaf(kValues, 1, 2, LIBDL_DTYPE_FLOAT64), *plain, *shared, *single;
  libdl_error *error;
  GOOD(libdl_detach(x, &plain));
  GOOD(libdl_expand(x, wide, 2, &shared));
  single = leaf(kValues, 1, 2, LIBDL_DTYPE_FLOAT32);

  BAD_BEGINS(check(NULL, &told, &x, 1, 1, NULL), NULL, "libdl_gradcheck: argument 1 (fn) is NULL");
  BAD_BEGINS(check(square, &told, NULL, 1, 1, NULL), NULL,
             "libdl_gradcheck: argument 4 (inputs) is NULL");
  BAD_BEGINS(check(square, &told, &x, -1, 1, NULL), VALUE,
             "libdl_gradcheck: argument 4 (inputs) has the length -1");
  BAD_BEGINS(check(square, &told, &x, 1, 0, NULL), VALUE,
             "libdl_gradcheck: argument 6 (outputs_count) is 0, wanted 1 to 65536");
  BAD_BEGINS(check(square, &told, &plain, 1, 1, NULL), AUTOGRAD,
             "libdl_gradcheck: no input requires grad");
  BAD_BEGINS(check(square, &told, NULL, 0, 1, NULL), AUTOGRAD,
             "libdl_gradcheck: no input requires grad");
  BAD_BEGINS(check(square, &told, &single, 1, 1, NULL), DTYPE,
             "libdl_gradcheck: argument 4 (inputs) has at 0 one of float32, wanted float64 or");
  BAD_BEGINS(check(square, &told, &shared, 1, 1, NULL), OVERLAP,
             "libdl_gradcheck: argument 4 (inputs) has at 0 one whose elements share memory");
  o.eps = -1;
  BAD_BEGINS(check(square, &told, &x, 1, 1, &o), VALUE,
             "libdl_gradcheck: argument 7 (options) sets eps to -1");
  o.eps = 0;
  o.struct_size = 0;
  BAD_BEGINS(check(square, &told, &x, 1, 1, &o), OPTION,
             "libdl_gradcheck: argument 7 (options) has struct_size 0");
  CHECK(told.calls == 0);

  o = options();
  o.forward = 1;
  GOOD(libdl_forward_enter(NULL));
  BAD_BEGINS(check(square, &told, &x, 1, 1, &o), UNSUPPORTED, "libdl_gradcheck: a level is open");
  GOOD(check(square, &told, &x, 1, 1, NULL));
  GOOD(libdl_forward_exit());

  BAD_BEGINS(check(leave_null, &told, &x, 1, 2, NULL), CALLBACK,
             "libdl_gradcheck: fn left output 1 as NULL, wanted a tensor");
  told.calls = 0;
  BAD_BEGINS(
      check(grow, &told, &x, 1, 1, NULL), CALLBACK,
      "libdl_gradcheck: output 1 has shape [2, 2] and dtype float64, at first [1, 2] and float64");
  error = check(refuse, &told, &x, 1, 1, NULL);
  CHECK(libdl_error_get_payload(error) == &told);
  BAD_BEGINS(error, IO, "mine");

  libdl_tensor_release(single);
  libdl_tensor_release(shared);
  libdl_tensor_release(plain);
  libdl_tensor_release(x);
}

/* What it is derived along lies where the result goes. */
static void a_tangent_may_be_the_destination(void) {
  const int64_t shape[] = {3};
  libdl_tensor *x = NULL, *tangent = NULL, *index = NULL, *dual = NULL;
  GOOD(libdl_ones(shape, 1, LIBDL_DTYPE_FLOAT64, NULL, &x));
  GOOD(libdl_ones(shape, 1, LIBDL_DTYPE_FLOAT64, NULL, &tangent));
  GOOD(libdl_zeros(shape, 1, LIBDL_DTYPE_INT64, NULL, &index));
  GOOD(libdl_forward_enter(NULL));
  GOOD(libdl_forward_make_dual(x, tangent, &dual));
  GOOD(libdl_scatter_add_into(dual, 0, index, tangent, tangent));
  GOOD(libdl_forward_exit());
  libdl_tensor_release(x);
  libdl_tensor_release(tangent);
  libdl_tensor_release(index);
  libdl_tensor_release(dual); /* main looks for what is left */
}

int main(void) {
  int64_t tensors, storages, nodes, bytes;
  right_gradients_pass();
  the_modes_of_the_thread_come_back();
  wrong_gradients_are_found();
  arguments_are_checked();
  a_tangent_may_be_the_destination();
  libdl_memory_get_live(&tensors, &storages, &nodes, &bytes);
  CHECK(tensors == 0 && storages == 0 && nodes == 0 && bytes == 0);
  return failures != 0;
}
