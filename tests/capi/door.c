/* SPDX-License-Identifier: Apache-2.0 */

/* What the door promises before any operator runs: refusals that name the argument, operators as
 * data, operators of the host's own, interceptors and scopes. */
#include "tensors.h"

static void refuses_bad_arguments(void) {
  libdl_tensor *x = filled(1, 3), *untouched = x, *out = untouched;
  BAD(libdl_add(NULL, x, NULL, &out), NULL, "add: argument 1 (input) is NULL, wanted a tensor");
  BAD(libdl_add(x, NULL, NULL, &out), NULL, "add: argument 2 (other) is NULL, wanted a tensor");
  BAD(libdl_add(x, x, NULL, NULL), NULL,
      "add: argument 4 (out) is NULL, wanted a place for the result");
  BAD(libdl_add_into(x, x, NULL, NULL), NULL, "add: argument 4 (dst) is NULL, wanted a tensor");

  libdl_tensor *one = number(1);
  BAD(libdl_add_into(x, x, NULL, one), VALUE,
      "add: argument 4 (dst) is a host number, wanted a tensor");
  libdl_tensor_release(one);

  libdl_error *error = libdl_error_new(LIBDL_ERROR_VALUE, "no tensor", -1, NULL, NULL);
  BAD(libdl_add(x, (libdl_tensor *)error, NULL, &out), KIND,
      "add: argument 2 (other) is an error, wanted a tensor");
  libdl_error_release(error);

  const libdl_tensor *list[] = {x, NULL};
  BAD(libdl_cat(list, 2, 0, &out), NULL,
      "cat: argument 1 (tensors) has at 1 NULL, wanted a tensor");
  BAD(libdl_cat(list, -1, 0, &out), VALUE,
      "cat: argument 1 (tensors) has the length -1, wanted one that is not negative");
  BAD(libdl_cat(NULL, 1, 0, &out), NULL, "cat: argument 1 (tensors) is NULL, wanted an array");
  BAD(libdl_sum(x, NULL, 0, 0, 99, &out), DTYPE,
      "sum: argument 4 (dtype) is 99, wanted a LIBDL_DTYPE_ constant");
  BAD(libdl_reshape(x, NULL, 1, &out), NULL,
      "reshape: argument 2 (shape) is NULL, wanted an array");
  BAD(libdl_div(x, x, "down", -2, &out), VALUE,
      "div: argument 3 (rounding_mode) has the length -2, wanted one that is not negative");
  CHECK(out == untouched);
  libdl_tensor_release(x);
}

static int destroyed;
static void count_destroyed(void *ctx) {
  (void)ctx;
  ++destroyed;
}

static void errors_are_objects(void) {
  char text[] = "text and more";
  libdl_error *error = libdl_error_new(LIBDL_ERROR_IO, text, 4, text, count_destroyed);
  CHECK(strcmp(libdl_error_get_message(error), "text") == 0);
  CHECK(libdl_error_get_payload(error) == text);
  CHECK(libdl_error_retain(error) == error);
  libdl_error_release(error);
  CHECK(destroyed == 0);
  libdl_error_release(error);
  CHECK(destroyed == 1);
  error = libdl_error_new(12345, NULL, 0, NULL, NULL);
  CHECK(libdl_error_get_code(error) == LIBDL_ERROR_VALUE);
  libdl_error_release(error);
  CHECK(libdl_error_get_code(NULL) == LIBDL_OK);
  CHECK(strcmp(libdl_error_get_message(NULL), "") == 0);
}

static libdl_op found(const char *name) {
  libdl_op op = -1;
  GOOD(libdl_op_find(name, -1, &op));
  return op;
}

static libdl_value of_tensor(libdl_tensor *x) {
  libdl_value value = {.type = LIBDL_VALUE_TENSOR};
  value.held.tensor = x;
  return value;
}

static void operators_are_data(void) {
  CHECK(libdl_op_count() > 150);
  const libdl_op add = found("add");
  CHECK(strcmp(libdl_op_name(add), "add") == 0);
  CHECK(strcmp(libdl_op_schema(add),
               "add(tensor input, tensor other, tensor? alpha=1) -> tensor out") == 0);
  CHECK(libdl_op_argument_count(add) == 3 && libdl_op_result_count(add) == 1);
  CHECK(strcmp(libdl_op_argument_name(add, 1), "other") == 0);
  CHECK(!libdl_op_argument_is_nullable(add, 1) && libdl_op_argument_is_nullable(add, 2));
  CHECK(strcmp(libdl_op_argument_default(add, 2), "1") == 0);
  CHECK(libdl_op_has_into(add) && libdl_op_has_new(add) && libdl_op_is_differentiable(add));
  CHECK(!libdl_op_is_differentiable(found("isnan")) && !libdl_op_has_new(found("fill")));
  CHECK(!libdl_op_name(-1) && !libdl_op_name(libdl_op_count()));
  CHECK(!libdl_op_argument_name(add, 3) && libdl_op_argument_count(1 << 30) == -1);
  for (libdl_op op = 0; op < libdl_op_count(); ++op) CHECK(found(libdl_op_name(op)) == op);
  libdl_op none = 7;
  BAD(libdl_op_find("adder", -1, &none), VALUE,
      "op_find: argument 1 (name) is 'adder', wanted an operator's name");
  CHECK(none == 7);
}

static void calls_by_number(void) {
  libdl_tensor *x = filled(1, 3), *y = filled(2, 3), *dst = filled(0, 3);
  libdl_value arguments[] = {of_tensor(x), of_tensor(y)}, result;
  GOOD(libdl_op_call(found("add"), arguments, 2, &result, 1));
  CHECK(result.type == LIBDL_VALUE_TENSOR && total(result.held.tensor) == 9);
  libdl_tensor_release(result.held.tensor);
  GOOD(libdl_op_call_into(found("mul"), arguments, 2, &dst, 1));
  CHECK(total(dst) == 6);

  arguments[1].type = LIBDL_VALUE_INT;
  BAD(libdl_op_call(found("add"), arguments, 2, &result, 1), TYPE,
      "add: argument 2 (other) is an integer, wanted a tensor");
  BAD(libdl_op_call(found("add"), arguments, 1, &result, 1), TYPE,
      "add: argument 2 (other) is absent, wanted a tensor");
  BAD(libdl_op_call(found("add"), arguments, 4, &result, 1), VALUE,
      "add: was given 4 arguments, takes 3");
  BAD(libdl_op_call(found("fill"), arguments, 1, &result, 1), VALUE, "fill: has only an into form");
  BAD(libdl_op_call(1 << 30, arguments, 1, &result, 1), VALUE,
      "op_call: argument 1 (op) is 1073741824, wanted the number of an operator");

  const libdl_value untouched = {.type = 77, .held.integer = 77};
  libdl_tensor *const other = filled(1, 2);
  arguments[1] = of_tensor(other), result = untouched;
  BAD(libdl_op_call(found("add"), arguments, 2, &result, 1), SHAPE,
      "add: argument 2 (other) has shape [2], which does not broadcast with [3]");
  CHECK(memcmp(&result, &untouched, sizeof result) == 0); /* a failed call writes no place */
  libdl_tensor_release(other);
  libdl_tensor_release(x);
  libdl_tensor_release(y);
  libdl_tensor_release(dst);
}

/* -- an operator of the host's own: y = scale * input ------------------------------------------ */

static libdl_error *scaled(const libdl_tensor *x, double scale, libdl_tensor **out) {
  libdl_tensor *factor = number(scale);
  libdl_error *error = libdl_mul(x, factor, out);
  libdl_tensor_release(factor);
  return error;
}

static libdl_error *scale_kernel(void *ctx, const libdl_value *arguments, int32_t argument_count,
                                 libdl_tensor **results, int32_t result_count) {
  CHECK(ctx == &failures && argument_count == 2 && result_count == 1);
  return scaled(arguments[0].held.tensor, arguments[1].held.number, results);
}

static libdl_error *scale_vjp(void *ctx, const libdl_value *arguments, int32_t argument_count,
                              const libdl_tensor *const *results, const libdl_tensor *const *grads,
                              int32_t result_count, const libdl_bool *wanted, libdl_tensor **out,
                              int32_t tensor_count) {
  (void)ctx;
  CHECK(argument_count == 2 && result_count == 1 && tensor_count == 1 && wanted[0] && results[0]);
  return scaled(grads[0], arguments[1].held.number, out);
}

static void operators_of_the_host(void) {
  libdl_op op = -1;
  BAD(libdl_op_register("scale(tensor input) -> tensor out", -1, &op), VALUE,
      "op_register: argument 1 (schema) cannot be read at byte 5: wanted '::'");
  BAD(libdl_op_register("my::x(tenser input) -> tensor out", -1, &op), VALUE,
      "op_register: argument 1 (schema) cannot be read at byte 12: 'tenser' is no type");
  GOOD(libdl_op_register("my::scale(tensor input, float scale) -> tensor out", -1, &op));
  CHECK(op == libdl_op_count() - 1 && found("my::scale") == op);
  libdl_op again;
  BAD(libdl_op_register("my::scale(tensor input) -> tensor out", -1, &again), VALUE,
      "op_register: argument 1 (schema) names my::scale, wanted a name that is not taken");

  libdl_tensor *x = filled(2, 3);
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  libdl_value arguments[] = {of_tensor(x), {.type = LIBDL_VALUE_FLOAT}}, result;
  arguments[1].held.number = 5;
  BAD(libdl_op_call(op, arguments, 2, &result, 1), UNSUPPORTED,
      "my::scale: has no kernel for devices of type 1");
  GOOD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, scale_kernel, &failures, NULL));
  const int before = destroyed;
  BAD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, scale_kernel, NULL, count_destroyed), STATE,
      "op_set_kernel: my::scale has a kernel for this device already");
  CHECK(destroyed == before + 1);

  GOOD(libdl_op_call(op, arguments, 2, &result, 1));
  libdl_tensor *y = result.held.tensor, *sum;
  CHECK(total(y) == 30 && libdl_tensor_requires_grad(y));
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  const libdl_tensor *outputs[] = {sum};
  BAD(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL), AUTOGRAD,
      "my::scale: has no gradient: libdl_op_set_vjp was not called");
  GOOD(libdl_op_set_vjp(op, scale_vjp, NULL, NULL));
  libdl_tensor_release(sum);
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  outputs[0] = sum;
  GOOD(libdl_backward(outputs, 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor *grad = libdl_tensor_grad(x);
  CHECK(total(grad) == 15);
  libdl_tensor_release(grad);
  libdl_tensor_release(sum);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
}

/* -- history ----------------------------------------------------------------------------------- */

static void history_ends_in_place(void) {
  libdl_tensor *x = filled(2, 3), *y, *view, *two = number(2);
  const int64_t shape[] = {3, 1};
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  GOOD(libdl_mul(x, two, &y));
  GOOD(libdl_view(y, shape, 2, &view));
  BAD_BEGINS(libdl_tensor_detach_in_place(view), AUTOGRAD, "detach_: argument 1 (input) is a view");
  CHECK(!libdl_tensor_is_leaf(y));
  GOOD(libdl_tensor_detach_in_place(y));
  GOOD(libdl_tensor_detach_in_place(y));
  CHECK(libdl_tensor_is_leaf(y) && !libdl_tensor_requires_grad(y) && total(y) == 12);
  CHECK(libdl_tensor_requires_grad(view)); /* made before */
  BAD_CODE(libdl_tensor_detach_in_place(two), AUTOGRAD);
  BAD_CODE(libdl_tensor_detach_in_place(NULL), NULL);
  libdl_tensor *all[] = {x, y, view, two};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

/* -- interceptors ------------------------------------------------------------------------------ */

struct watcher {
  int seen;
  libdl_op answered; /* this operator is answered with its first argument doubled; -1: none */
  libdl_error_code fails;
};

static libdl_error *watch(void *ctx, libdl_op op, const libdl_value *arguments,
                          int32_t argument_count, libdl_tensor *const *dsts, libdl_value *results,
                          int32_t result_count, libdl_bool *handled) {
  struct watcher *watcher = ctx;
  CHECK(argument_count == libdl_op_argument_count(op));
  CHECK(result_count == libdl_op_result_count(op) && (dsts != NULL) == (results == NULL));
  ++watcher->seen;
  if (watcher->fails) return libdl_error_new(watcher->fails, "as asked", -1, NULL, NULL);
  if (op != watcher->answered || dsts) return NULL;
  *handled = 1;
  results[0].type = LIBDL_VALUE_TENSOR;
  return libdl_add(arguments[0].held.tensor, arguments[0].held.tensor, NULL,
                   &results[0].held.tensor);
}

/* What is hung on a state goes with it, whichever came first. */
static void a_state_ends_with_all_it_has(void) {
  for (int generator_first = 0; generator_first < 2; ++generator_first) {
    const int before = destroyed;
    libdl_state *own = NULL, *state = NULL, *previous = NULL;
    libdl_generator *generator = NULL; /* the leak sanitizer would tell of it */
    GOOD(libdl_generator_new(7, &generator));
    GOOD(libdl_state_new(&state));
    GOOD(libdl_state_swap(state, &own));
    if (generator_first) GOOD(libdl_generator_set_default(generator));
    GOOD(libdl_interceptor_push(watch, NULL, count_destroyed));
    GOOD(libdl_scope_push());
    if (!generator_first) GOOD(libdl_generator_set_default(generator));
    libdl_generator_release(generator);
    GOOD(libdl_state_swap(own, &previous));
    libdl_state_release(state);
    CHECK(destroyed == before + 1);
  }
}

/* Each call pushes another one: the limit comes before the end of the stack. */
static int deepest;
static libdl_error *push_again(void *ctx, libdl_op op, const libdl_value *arguments,
                               int32_t argument_count, libdl_tensor *const *dsts,
                               libdl_value *results, int32_t result_count, libdl_bool *handled) {
  libdl_tensor *y = NULL;
  libdl_error *error = libdl_interceptor_push(push_again, NULL, NULL);
  (void)ctx, (void)op, (void)argument_count, (void)dsts, (void)results, (void)result_count;
  (void)handled;
  ++deepest;
  if (!error) error = libdl_neg(arguments[0].held.tensor, &y);
  libdl_tensor_release(y);
  return error;
}
static libdl_op endless;
static libdl_error *call_again(void *ctx, const libdl_value *arguments, int32_t argument_count,
                               libdl_tensor **results, int32_t result_count) {
  libdl_value result = {.type = LIBDL_VALUE_NONE};
  (void)ctx;
  ++deepest;
  libdl_error *const error =
      libdl_op_call(endless, arguments, argument_count, &result, result_count);
  results[0] = error ? NULL : result.held.tensor;
  return error;
}
static void nesting_has_a_limit(void) {
  libdl_tensor *x = filled(1, 3), *y = NULL;
  GOOD(libdl_interceptor_push(push_again, NULL, NULL));
  BAD(libdl_neg(x, &y), DEPTH, "neg: is nested 64 deep inside interceptors or kernels");
  CHECK(deepest == 64);
  GOOD(libdl_interceptor_pop());
  GOOD(libdl_op_register("my::endless(tensor input) -> tensor out", -1, &endless));
  GOOD(libdl_op_set_kernel(endless, LIBDL_DEVICE_CPU, call_again, NULL, NULL));
  libdl_value argument = of_tensor(x), result;
  deepest = 0;
  BAD(libdl_op_call(endless, &argument, 1, &result, 1), DEPTH,
      "my::endless: is nested 64 deep inside interceptors or kernels");
  CHECK(deepest == 64);
  GOOD(libdl_neg(x, &y)); /* and all is as before */
  libdl_tensor_release(y);
  libdl_tensor_release(x);
}

static void interceptors_see_calls(void) {
  libdl_tensor *x = filled(1, 3), *y;
  struct watcher outer = {0, -1, 0}, inner = {0, found("neg"), 0};
  const int before = destroyed;
  GOOD(libdl_interceptor_push(watch, &outer, count_destroyed));
  GOOD(libdl_interceptor_push(watch, &inner, count_destroyed));
  GOOD(libdl_neg(x, &y));
  CHECK(total(y) == 6);   /* the answer, not the operator's */
  CHECK(inner.seen == 3); /* neg, sum, item_f64 */
  CHECK(outer.seen == 3); /* the add that the inner one called, sum, item_f64 */
  GOOD(libdl_add_into(y, x, NULL, y));
  CHECK(inner.seen == 4 && outer.seen == 4);
  inner.fails = LIBDL_ERROR_IO;
  libdl_tensor *untouched = y;
  BAD(libdl_exp(x, &untouched), IO, "as asked");
  CHECK(untouched == y);
  GOOD(libdl_interceptor_pop());
  GOOD(libdl_interceptor_pop());
  CHECK(destroyed == before + 2);
  BAD(libdl_interceptor_pop(), STATE, "interceptor_pop: no interceptor was pushed");
  CHECK(total(y) == 9 && inner.seen == 5);
  libdl_tensor_release(x);
  libdl_tensor_release(y);
}

/* -- scopes ------------------------------------------------------------------------------------ */

static void scopes_empty_what_is_left(void) {
  libdl_tensor *x = filled(1, 3), *kept, *left, *view, *same, *twice;
  GOOD(libdl_scope_push());
  GOOD(libdl_exp(x, &left));
  GOOD(libdl_neg(x, &kept));
  GOOD(libdl_contiguous(x, &same)); /* x itself: it was there before */
  const int64_t shape[] = {3, 1};
  GOOD(libdl_view(kept, shape, 2, &view));
  GOOD(libdl_abs(x, &twice));
  libdl_tensor_retain(twice);
  GOOD(libdl_scope_keep(kept));
  GOOD(libdl_scope_pop());
  BAD(libdl_scope_pop(), STATE, "scope_pop: no scope is open");
  CHECK(libdl_tensor_is_emptied(left) && libdl_tensor_is_emptied(view));
  CHECK(!libdl_tensor_is_emptied(kept) && total(kept) == -3);
  CHECK(same == x && total(x) == 3);
  CHECK(!libdl_tensor_is_emptied(twice) && total(twice) == 3);
  libdl_tensor *out;
  BAD(libdl_add(x, left, NULL, &out), EMPTIED,
      "add: argument 2 (other) is a tensor that was emptied when its scope ended");
  CHECK(libdl_tensor_numel(left) == 0 && libdl_tensor_dtype(left) == LIBDL_DTYPE_NONE);
  libdl_tensor *all[] = {x, kept, left, view, same, twice, twice};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

/* -- stand-ins --------------------------------------------------------------------------------- */

static void stand_ins_have_no_elements(void) {
  const int64_t shape[] = {4, 2, 3};
  libdl_tensor *batch, *x, *inner, *out;
  GOOD(libdl_ones(shape, 3, LIBDL_DTYPE_FLOAT64, NULL, &batch));
  GOOD(libdl_tensor_stand_in(batch, &x));
  CHECK(libdl_tensor_ndim(x) == 2 && libdl_tensor_numel(x) == 6);
  CHECK(libdl_tensor_shape(x)[1] == 3 && libdl_tensor_strides(x)[0] == 3);
  CHECK(libdl_tensor_dtype(x) == LIBDL_DTYPE_FLOAT64 && libdl_tensor_is_contiguous(x));
  CHECK(libdl_tensor_device(x).type == LIBDL_DEVICE_CPU && !libdl_tensor_is_emptied(x));
  GOOD(libdl_tensor_stand_in(x, &inner));
  CHECK(libdl_tensor_ndim(inner) == 1 && libdl_tensor_shape(inner)[0] == 3);
  BAD(libdl_add(batch, x, NULL, &out), EMPTIED,
      "add: argument 2 (other) is a stand-in for the slices of a batch, which has no elements of "
      "its own");
  /* What is composed of others lets them in for those who answer in their place. */
  BAD(libdl_kron(x, batch, &out), EMPTIED,
      "a stand-in for the slices of a batch has no elements of its own");
  libdl_mapping *mapping;
  void *data;
  BAD(libdl_tensor_map(x, LIBDL_ACCESS_READ, &data, &mapping), EMPTIED,
      "tensor_map: argument 1 (tensor) is a stand-in for the slices of a batch, which has no "
      "elements of its own");
  libdl_tensor *number;
  GOOD(libdl_tensor_stand_in(inner, &number));
  CHECK(libdl_tensor_ndim(number) == 0 && libdl_tensor_numel(number) == 1);
  BAD(libdl_tensor_stand_in(number, &out), SHAPE,
      "tensor_stand_in: argument 1 (batch) has no dimension, wanted at least one");
  BAD(libdl_tensor_stand_in(batch, NULL), NULL,
      "tensor_stand_in: argument 2 (out) is NULL, wanted a place for the result");
  BAD(libdl_tensor_stand_in(NULL, &out), NULL,
      "tensor_stand_in: argument 1 (batch) is NULL, wanted a tensor");
  libdl_tensor *all[] = {batch, x, inner, number};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

/* Saved values of inference mode, where the host asks for it. */
static void inference_tensors_as_constants(void) {
  libdl_set_inference_mode(1);
  libdl_tensor *w = filled(1, 3), *x, *y;
  libdl_set_inference_mode(0);
  x = filled(1, 3);
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  libdl_error *const error = libdl_mul(x, w, &y);
  CHECK(error && libdl_error_get_code(error) == LIBDL_ERROR_AUTOGRAD);
  libdl_error_release(error);
  CHECK(!libdl_set_records_inference_tensors(1) && libdl_records_inference_tensors());
  GOOD(libdl_mul(x, w, &y));
  CHECK(libdl_set_records_inference_tensors(0) && !libdl_records_inference_tensors());
  libdl_tensor *all[] = {w, x, y};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

int main(void) {
  refuses_bad_arguments();
  errors_are_objects();
  operators_are_data();
  calls_by_number();
  operators_of_the_host();
  history_ends_in_place();
  interceptors_see_calls();
  nesting_has_a_limit();
  a_state_ends_with_all_it_has();
  scopes_empty_what_is_left();
  stand_ins_have_no_elements();
  inference_tensors_as_constants();
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
