/* SPDX-License-Identifier: Apache-2.0 */

/* What NULL options and zero fields stand for, and what the functions answer that tell of tensors,
 * nodes, operators and states: their meaning is promised as their signatures are. The operators'
 * own defaults are in tests/museum/meaning. */
#include <math.h>

#include "check.h"

static libdl_tensor *made(const double *values, const int64_t *shape, int32_t ndim) {
  libdl_tensor *x;
  GOOD(libdl_empty(shape, ndim, LIBDL_DTYPE_FLOAT64, NULL, &x));
  GOOD(libdl_tensor_copy_in(x, values, libdl_tensor_numel(x) * 8));
  return x;
}
static libdl_tensor *vector(double a, double b) {
  const int64_t size = 2;
  return made((const double[]){a, b}, &size, 1);
}
static libdl_tensor *leaf(double a, double b) {
  libdl_tensor *const x = vector(a, b);
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  return x;
}
static int holds(const libdl_tensor *x, double a, double b) {
  double values[2] = {NAN, NAN};
  if (!x) return 0;
  GOOD(libdl_tensor_copy_out(x, values, sizeof values));
  if (fabs(values[0] - a) < 1e-12 && fabs(values[1] - b) < 1e-12) return 1;
  fprintf(stderr, "found [%.17g, %.17g]\n", values[0], values[1]);
  return 0;
}
static libdl_tensor *loss_of(libdl_tensor *x) {
  libdl_tensor *y, *loss;
  GOOD(libdl_mul(x, x, &y));
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  libdl_tensor_release(y);
  return loss;
}

/* -- gradcheck: eps 1e-6, atol 1e-5, rtol 1e-3 ------------------------------------------------- */

static double largest_step;
static double wrong_by; /* added to the gradient 2 of x at 1 */

static libdl_error *wrong_backward(void *ctx, libdl_backward_context *context,
                                   const libdl_tensor *const *dy, int64_t outputs,
                                   libdl_tensor **dx, int64_t inputs) {
  libdl_tensor *factor, *x;
  (void)ctx, (void)outputs, (void)inputs;
  GOOD(libdl_backward_context_saved_with_history(context, 0, &x));
  CHECK(libdl_tensor_requires_grad(x));
  libdl_tensor_release(x);
  GOOD(libdl_backward_context_saved(context, 0, &x));
  CHECK(!libdl_tensor_requires_grad(x));
  CHECK(libdl_backward_context_needs(context, 0) && !libdl_backward_context_needs(context, 1));
  GOOD(libdl_number_f64(2 + wrong_by, &factor));
  GOOD(libdl_mul(dy[0], factor, dx));
  libdl_tensor_release(factor);
  libdl_tensor_release(x);
  return NULL;
}

static libdl_error *doubles(void *ctx, const libdl_tensor *const *inputs, int64_t count,
                            libdl_tensor **outputs, int64_t outputs_count) {
  double values[2];
  libdl_function function = {0};
  (void)ctx, (void)count, (void)outputs_count;
  GOOD(libdl_tensor_copy_out(inputs[0], values, sizeof values));
  for (int k = 0; k < 2; ++k) largest_step = fmax(largest_step, fabs(values[k] - 1));
  const libdl_bool recording = libdl_set_grad_enabled(0);
  GOOD(libdl_add(inputs[0], inputs[0], NULL, outputs));
  libdl_set_grad_enabled(recording);
  function.struct_size = sizeof function;
  function.name = "doubles";
  function.backward = wrong_backward;
  return libdl_function_record(&function, inputs, 1, outputs, 1, NULL, inputs, 1, NULL);
}

static libdl_error *checked(double wrong, const libdl_gradcheck_options *options) {
  libdl_tensor *const x = leaf(1, 1);
  wrong_by = wrong, largest_step = 0;
  libdl_error *const error =
      libdl_gradcheck(doubles, NULL, NULL, (const libdl_tensor *const *)&x, 1, 1, options);
  libdl_tensor_release(x);
  return error;
}

static void gradcheck(void) {
  libdl_gradcheck_options zero = {0};
  zero.struct_size = sizeof zero;
  for (int k = 0; k < 2; ++k) {
    const libdl_gradcheck_options *const options = k ? &zero : NULL;
    GOOD(checked(0, options));
    CHECK(fabs(largest_step - 1e-6) < 1e-9);
    /* |wrong| <= atol + rtol * |2|, 2.01e-3 */
    GOOD(checked(2.0e-3, options));
    BAD_CODE(checked(2.02e-3, options), AUTOGRAD);
  }
  zero.rtol = 1e-12;
  GOOD(checked(0.9e-5, &zero)); /* atol alone */
  BAD_CODE(checked(1.1e-5, &zero), AUTOGRAD);
}

/* -- backward: zero options -------------------------------------------------------------------- */

static void passes(void) {
  libdl_backward_options zero = {0};
  zero.struct_size = sizeof zero;
  for (int k = 0; k < 2; ++k) {
    const libdl_backward_options *const options = k ? &zero : NULL;
    libdl_tensor *const x = leaf(3, 4), *const loss = loss_of(x), *const unused = leaf(0, 0);
    const libdl_tensor *const outputs[] = {loss}, *const inputs[] = {x, unused};
    libdl_tensor_list *list = NULL;
    BAD_CODE(libdl_grad(outputs, 1, inputs, 2, NULL, 0, options, &list), AUTOGRAD);
    libdl_tensor *const again = loss_of(x);
    GOOD(libdl_grad((const libdl_tensor *const *)&again, 1, inputs, 1, NULL, 0, options, &list));
    CHECK(libdl_tensor_list_count(list) == 1);
    libdl_tensor *grad = libdl_tensor_list_get(list, 0);
    CHECK(holds(grad, 6, 8) && !libdl_tensor_requires_grad(grad)); /* no graph of it */
    CHECK(libdl_tensor_list_get(list, 1) == NULL);
    libdl_tensor_release(grad);
    libdl_tensor_list_release(list);
    libdl_tensor *const last = loss_of(x);
    GOOD(libdl_backward((const libdl_tensor *const *)&last, 1, NULL, 0, NULL, 0, options));
    grad = libdl_tensor_grad(x);
    CHECK(holds(grad, 6, 8));
    libdl_tensor_release(grad);
    libdl_backward_options batched = zero;
    batched.batched = 1;
    BAD(libdl_backward((const libdl_tensor *const *)&last, 1, NULL, 0, NULL, 0, &batched),
        UNSUPPORTED,
        "backward: argument 4 (options) asks for batches of gradients, wanted batched = 0: "
        "libdl_grad computes batches");
    /* Saved values went with the first pass. */
    BAD_CODE(libdl_backward((const libdl_tensor *const *)&last, 1, NULL, 0, NULL, 0, options),
             STATE);
    libdl_tensor_release(last);
    libdl_tensor_release(again);
    libdl_tensor_release(loss);
    libdl_tensor_release(unused);
    libdl_tensor_release(x);
  }
}

/* -- optimizers: fields left at zero ----------------------------------------------------------- */

static void steps(void) {
  libdl_tensor *p = vector(1, 2), *g = vector(0.5, -1), *m = vector(0, 0), *v = vector(0, 0);
  const libdl_tensor *const grads[] = {g};
  libdl_sgd_options sgd = {0};
  sgd.struct_size = sizeof sgd, sgd.lr = 0.1;
  GOOD(libdl_sgd_step(&sgd, &p, 1, grads, 1, NULL, 0));
  CHECK(holds(p, 0.95, 2.1)); /* no momentum, no decay, minimising */
  libdl_adam_options adam = {0};
  adam.struct_size = sizeof adam, adam.lr = 0.1, adam.beta1 = 0.9, adam.beta2 = 0.999;
  adam.step = 1;
  GOOD(libdl_adam_step(&adam, &p, 1, grads, 1, &m, 1, &v, 1, NULL, 0));
  CHECK(holds(p, 0.85, 2.2)); /* eps 0, no decay, no amsgrad: the sign alone */
  CHECK(holds(m, 0.05, -0.1));
  libdl_tensor_release(p);
  libdl_tensor_release(g);
  libdl_tensor_release(m);
  libdl_tensor_release(v);
}

/* -- text: zero options ------------------------------------------------------------------------ */

static void texts(void) {
  libdl_print_options zero = {0};
  const int64_t many = 1001;
  libdl_tensor *const x = vector(1.23456789, -2), *large;
  zero.struct_size = sizeof zero;
  GOOD(libdl_zeros(&many, 1, LIBDL_DTYPE_INT64, NULL, &large));
  for (int k = 0; k < 2; ++k) {
    libdl_text *text;
    GOOD(libdl_tensor_to_string(x, k ? &zero : NULL, &text));
    CHECK(!strcmp(libdl_text_data(text), "tensor([ 1.2346, -2.0000], dtype=libdl.float64)") ||
          (fprintf(stderr, "%s\n", libdl_text_data(text)), 0));
    libdl_text_release(text);
    GOOD(libdl_tensor_to_string(large, k ? &zero : NULL, &text));
    CHECK(!strcmp(libdl_text_data(text), "tensor([0, 0, 0,  ..., 0, 0, 0])") ||
          (fprintf(stderr, "%s\n", libdl_text_data(text)), 0));
    libdl_text_release(text);
  }
  libdl_tensor_release(large);
  libdl_tensor_release(x);
}

/* -- files and DLPack: zero options ------------------------------------------------------------ */

static void files(void) {
  libdl_tensor *x = vector(1, 2), *read;
  const libdl_tensor *const tensors[] = {x};
  const char *const name = "x";
  libdl_file_options zero = {0};
  libdl_text *bytes;
  zero.struct_size = sizeof zero;
  GOOD(libdl_file_save_memory(&name, tensors, 1, NULL, NULL, 0, &bytes));
  for (int k = 0; k < 2; ++k) {
    libdl_file *file;
    GOOD(libdl_file_open_memory(libdl_text_data(bytes), libdl_text_length(bytes), k ? &zero : NULL,
                                NULL, NULL, &file));
    CHECK(libdl_file_metadata_count(file) == 0);
    GOOD(libdl_file_tensor(file, 0, &read));
    CHECK(holds(read, 1, 2) && !libdl_tensor_is_read_only(read)); /* a copy */
    libdl_tensor_release(read);
    libdl_file_release(file);
  }
  libdl_text_release(bytes);
  libdl_tensor_release(x);
}

/* -- what tells of tensors --------------------------------------------------------------------- */

static void tensors(void) {
  libdl_tensor *const x = leaf(1, 2), *y, *part, *number, *wide;
  const int64_t zero = 0;
  const int64_t shape[] = {3, 2};
  CHECK(libdl_tensor_device(x).type == LIBDL_DEVICE_CPU && libdl_tensor_device(x).index == 0);
  CHECK(libdl_tensor_is_contiguous(x) && !libdl_tensor_is_inference(x));
  CHECK(!libdl_tensor_is_number(x) && !libdl_tensor_overlaps_itself(x));
  CHECK(libdl_tensor_base(x) == NULL && libdl_tensor_use_count(x) == 1);
  CHECK(libdl_tensor_storage_offset(x) == 0 && libdl_tensor_storage_nbytes(x) == 16);
  GOOD(libdl_narrow(x, 0, 1, 1, &part));
  CHECK(libdl_tensor_storage_offset(part) == 1);
  CHECK(libdl_tensor_storage_id(part) == libdl_tensor_storage_id(x));
  libdl_tensor *const base = libdl_tensor_base(part);
  CHECK(base == x && libdl_tensor_use_count(x) >= 2);
  libdl_tensor_release(base);
  GOOD(libdl_expand(x, shape, 2, &wide));
  CHECK(libdl_tensor_overlaps_itself(wide) && !libdl_tensor_is_contiguous(wide));
  GOOD(libdl_number_bool(1, &number));
  CHECK(libdl_tensor_is_number(number) && libdl_tensor_dtype(number) == LIBDL_DTYPE_BOOL);
  libdl_tensor_release(number);
  GOOD(libdl_number_c128(1, 2, &number));
  CHECK(libdl_tensor_dtype(number) == LIBDL_DTYPE_COMPLEX128);
  libdl_tensor_release(number);
  GOOD(libdl_mul(x, x, &y));
  GOOD(libdl_tensor_retain_grad(y));
  CHECK(libdl_tensor_retains_grad(y) && !libdl_tensor_retains_grad(x));
  libdl_tensor_release(y);
  libdl_tensor_release(wide);
  libdl_tensor_release(part);
  libdl_tensor_release(x);
  (void)zero;
}

/* -- the graph --------------------------------------------------------------------------------- */

static void site(void *ctx, char *buffer, int64_t capacity) {
  (void)ctx;
  snprintf(buffer, (size_t)capacity, "here");
}
static libdl_error *passes_on(void *ctx, libdl_tensor **gradients, int64_t count,
                              libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  ++*(int *)ctx;
  return NULL;
}

static void gone(void *ctx) { ++*(int *)ctx; }

static void graph(void) {
  libdl_tensor *const x = leaf(1, 2), *y;
  libdl_hook *hook;
  int32_t slot = -1;
  int calls = 0;
  GOOD(libdl_set_site_hook(site, NULL, NULL));
  CHECK(!libdl_anomaly_mode() && !libdl_set_anomaly_mode(1) && libdl_anomaly_mode());
  CHECK(libdl_anomaly_check_nan() && libdl_set_anomaly_check_nan(0) && !libdl_anomaly_check_nan());
  CHECK(!libdl_set_anomaly_check_nan(1) && libdl_anomaly_check_nan());
  GOOD(libdl_exp(x, &y));
  libdl_set_anomaly_mode(0);
  GOOD(libdl_set_site_hook(NULL, NULL, NULL));
  libdl_node *const node = libdl_tensor_node(y, &slot);
  CHECK(slot == 0 && !strcmp(libdl_node_name(node), "exp") && libdl_node_input_count(node) == 1);
  CHECK(!strcmp(libdl_node_site(node), "here") && libdl_node_leaf(node) == NULL);
  libdl_tensor *saved;
  GOOD(libdl_node_saved(node, 0, &saved));
  CHECK(libdl_node_saved_count(node) == 1 && libdl_tensor_node(saved, NULL) == node);
  CHECK(libdl_node_function(node, gone) == NULL && libdl_node_saved_count(NULL) == 0);
  libdl_node_release(node);
  libdl_tensor_release(saved);
  libdl_node *const before = libdl_node_input(node, 0, &slot);
  CHECK(!strcmp(libdl_node_name(before), "accumulate"));
  libdl_tensor *const found = libdl_node_leaf(before);
  CHECK(found == x);
  CHECK(libdl_node_retain(before) == before);
  libdl_node_release(before);
  GOOD(libdl_tensor_add_hook(y, LIBDL_HOOK_TENSOR, passes_on, &calls, NULL, &hook));
  libdl_hook_remove(hook);
  libdl_hook_release(hook);
  libdl_tensor *loss;
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  GOOD(libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL));
  CHECK(calls == 0);
  libdl_tensor_release(loss);
  libdl_tensor_release(found);
  libdl_node_release(before);
  libdl_node_release(node);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
}

static int32_t visited(void *ctx, void *times) { return (void)ctx, ++*(int *)times, 0; }

static void contexts(void) {
  libdl_tensor *const x = leaf(1, 2);
  libdl_hook *hook;
  int ended = 0, times = 0;
  libdl_tensor *y = vector(1, 2);
  const libdl_function function = {.struct_size = sizeof function,
                                   .name = "doubles",
                                   .backward = wrong_backward,
                                   .ctx = &times,
                                   .destroy = gone};
  GOOD(libdl_function_record(&function, (const libdl_tensor *const *)&x, 1, &y, 1, NULL,
                             (const libdl_tensor *const *)&x, 1, NULL));
  libdl_node *const node = libdl_tensor_node(y, NULL);
  libdl_tensor *saved;
  GOOD(libdl_node_saved(node, 0, &saved));
  CHECK(saved == x); /* a leaf comes back as itself */
  CHECK(libdl_node_function(node, gone) == &times && libdl_node_function(node, free) == NULL);
  libdl_tensor_release(saved);
  libdl_node_release(node);
  libdl_tensor_release(y);
  CHECK(times == 1);
  times = 0;
  GOOD(libdl_tensor_add_hook(x, LIBDL_HOOK_TENSOR, passes_on, &ended, gone, &hook));
  libdl_hook_release(hook);
  CHECK(libdl_tensor_visit_contexts(x, gone, visited, &times) == 0 && times == 1);
  libdl_tensor_drop_hooks(x, gone);
  CHECK(ended == 1);
  CHECK(libdl_tensor_visit_contexts(x, gone, visited, &times) == 0 && times == 1);
  libdl_tensor_release(x);
}

static void forward(void) {
  libdl_tensor *const x = vector(3, 4), *const t = vector(1, 10), *dual, *y, *primal, *tangent;
  GOOD(libdl_forward_enter(NULL));
  GOOD(libdl_forward_make_dual(x, t, &dual));
  GOOD(libdl_mul(dual, dual, &y));
  GOOD(libdl_forward_unpack_dual(y, &primal, &tangent));
  CHECK(holds(primal, 9, 16) && holds(tangent, 6, 80));
  libdl_tensor_release(primal);
  libdl_tensor_release(tangent);
  GOOD(libdl_forward_unpack_dual(x, &primal, &tangent));
  CHECK(tangent == NULL);
  libdl_tensor_release(primal);
  GOOD(libdl_forward_exit());
  libdl_tensor_release(y);
  libdl_tensor_release(dual);
  libdl_tensor_release(t);
  libdl_tensor_release(x);
}

/* A write through the alias makes nothing stale, and backward computes with what was written. */
static void aliased(void) {
  libdl_tensor *const x = leaf(1, 2), *const w = leaf(3, 4), *y, *loss, *data;
  const double five[] = {5, 5};
  GOOD(libdl_mul(x, w, &y));
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  GOOD(libdl_tensor_alias_data(x, &data));
  CHECK(!libdl_tensor_requires_grad(data) && holds(data, 1, 2));
  GOOD(libdl_tensor_copy_in(data, five, sizeof five));
  CHECK(holds(x, 5, 5));
  GOOD(libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL));
  libdl_tensor *const gradient = libdl_tensor_grad(w);
  CHECK(holds(gradient, 5, 5));
  libdl_tensor_release(gradient);
  libdl_tensor_release(data);
  libdl_tensor_release(loss);
  libdl_tensor_release(y);
  libdl_tensor_release(w);
  libdl_tensor_release(x);
}

static void beyond(void) {
  libdl_tensor *const x = leaf(1, 2), *const w = leaf(3, 4), *y;
  GOOD(libdl_mul(x, w, &y));
  const libdl_tensor *const outputs[] = {y}, *const both[] = {x, w};
  CHECK(libdl_history_beyond(outputs, 1, both, 1));
  CHECK(!libdl_history_beyond(outputs, 1, both, 2));
  CHECK(libdl_history_beyond(outputs, 1, NULL, 0) && !libdl_history_beyond(NULL, 0, NULL, 0));
  libdl_tensor_release(y);
  libdl_tensor_release(w);
  libdl_tensor_release(x);
}

/* -- states, dtypes, operators, errors --------------------------------------------------------- */

static void warned(void *ctx, libdl_warning_code code, const char *message) {
  (void)code, (void)message;
  ++*(int *)ctx;
}

static void states(void) {
  int warnings = 0;
  libdl_state *state, *previous;
  GOOD(libdl_state_new(&state));
  CHECK(libdl_state_retain(state) == state);
  GOOD(libdl_state_swap(state, &previous));
  CHECK(libdl_default_dtype() == LIBDL_DTYPE_FLOAT32);
  CHECK(libdl_default_device().type == LIBDL_DEVICE_CPU && libdl_default_device().index == 0);
  CHECK(libdl_grad_enabled() && !libdl_inference_mode());
  GOOD(libdl_set_default_dtype(LIBDL_DTYPE_FLOAT64));
  CHECK(libdl_default_dtype() == LIBDL_DTYPE_FLOAT64);
  const libdl_device cpu = {LIBDL_DEVICE_CPU, 0};
  GOOD(libdl_set_default_device(&cpu));
  GOOD(libdl_state_swap(NULL, &previous));
  CHECK(previous == state && libdl_default_dtype() == LIBDL_DTYPE_FLOAT32);
  libdl_state_release(state);
  libdl_state_release(state);
  CHECK(!libdl_set_check_copies(1) && libdl_set_check_copies(0));
  GOOD(libdl_set_warning_handler(warned, &warnings, NULL));
  GOOD(libdl_set_warning_handler(NULL, NULL, NULL));
  CHECK(warnings == 0 && libdl_conversions() >= 0);
  CHECK(libdl_get_sync_debug_mode() == LIBDL_SYNC_ALLOWED);
  GOOD(libdl_set_sync_debug_mode(LIBDL_SYNC_FAILS));
  CHECK(libdl_get_sync_debug_mode() == LIBDL_SYNC_FAILS);
  BAD_CODE(libdl_set_sync_debug_mode(3), OPTION);
  GOOD(libdl_set_sync_debug_mode(LIBDL_SYNC_ALLOWED));
  CHECK(!libdl_tensor_is_pinned(NULL)); /* as all questions to NULL */
  CHECK(libdl_version() / 10000 == LIBDL_VERSION_MAJOR);
  CHECK(strchr(libdl_version_string(), '.') && strstr(libdl_show_config(), "threads: "));
}

static void dtypes(void) {
  libdl_dtype out = LIBDL_DTYPE_NONE;
  libdl_bool can = 0;
  GOOD(libdl_dtype_promote(LIBDL_DTYPE_INT64, LIBDL_DTYPE_FLOAT16, &out));
  CHECK(out == LIBDL_DTYPE_FLOAT16);
  GOOD(libdl_dtype_can_cast(LIBDL_DTYPE_FLOAT32, LIBDL_DTYPE_INT64, &can));
  CHECK(!can);
  GOOD(libdl_dtype_can_cast(LIBDL_DTYPE_INT64, LIBDL_DTYPE_FLOAT32, &can));
  CHECK(can);
}

static void operators(void) {
  libdl_op op;
  GOOD(libdl_op_find("sum", -1, &op));
  CHECK(libdl_op_argument_type(op, 0) == LIBDL_VALUE_TENSOR);
  CHECK(libdl_op_argument_type(op, 1) == LIBDL_VALUE_INTS);
  CHECK(!strcmp(libdl_op_result_name(op, 0), "out"));
  CHECK(libdl_op_result_type(op, 0) == LIBDL_VALUE_TENSOR);
}

static void errors(void) {
  libdl_tensor *const x = vector(1, 2), *y;
  libdl_error *const error = libdl_softmax(x, 7, LIBDL_DTYPE_NONE, &y);
  CHECK(!strcmp(libdl_error_get_operator(error), "softmax"));
  CHECK(!strcmp(libdl_error_get_argument_name(error), "dim"));
  CHECK(!strcmp(libdl_error_get_found(error), "is 7"));
  CHECK(!strcmp(libdl_error_get_wanted(error), "-1 to 0"));
  CHECK(!libdl_error_is_asynchronous(error) && libdl_error_get_cause(error) == NULL);
  libdl_error_release(error);
  libdl_tensor_release(x);
}

static void generators(void) {
  libdl_generator *a, *b;
  libdl_tensor *x, *y;
  double first[2], second[2];
  const int64_t size = 2;
  GOOD(libdl_generator_new(1, &a));
  b = libdl_generator_retain(a);
  CHECK(a == b);
  GOOD(libdl_generator_set_seed(a, 5));
  GOOD(libdl_rand(&size, 1, a, LIBDL_DTYPE_FLOAT64, NULL, &x));
  GOOD(libdl_generator_set_seed(a, 5));
  GOOD(libdl_rand(&size, 1, a, LIBDL_DTYPE_FLOAT64, NULL, &y));
  GOOD(libdl_tensor_copy_out(x, first, sizeof first));
  GOOD(libdl_tensor_copy_out(y, second, sizeof second));
  CHECK(!memcmp(first, second, sizeof first));
  libdl_tensor_release(x);
  libdl_tensor_release(y);
  libdl_generator_release(a);
  libdl_generator_release(b);
}

int main(void) {
  gradcheck();
  passes();
  steps();
  texts();
  files();
  tensors();
  graph();
  contexts();
  aliased();
  beyond();
  forward();
  states();
  dtypes();
  operators();
  errors();
  generators();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
