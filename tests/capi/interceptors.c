/* SPDX-License-Identifier: Apache-2.0 */

/* Who looks on sees all that a training step does, forward, backward, hooks and the optimizer's
 * step, in order, with its parts; and may answer any of it. */
#include <stdarg.h>

#include "tensors.h"

/* -- what was seen ----------------------------------------------------------------------------- */

enum { MOST = 200 };
struct log {
  char lines[MOST][96];
  int count;
  int64_t bytes; /* of results and destinations */
};

static void note(struct log *log, const char *form, ...) {
  va_list arguments;
  va_start(arguments, form);
  if (log->count < MOST) vsnprintf(log->lines[log->count], sizeof log->lines[0], form, arguments);
  va_end(arguments);
  ++log->count;
}

static int64_t bytes_of(const libdl_tensor *x) {
  return libdl_tensor_numel(x) * libdl_dtype_size(libdl_tensor_dtype(x));
}

static const char *const phases[] = {"forward", "backward", "optimizer", "hook"};

/* "backward 0 mul [sub]": phase, depth, name, on whose behalf. */
static libdl_error *note_after(void *ctx, const libdl_call *call) {
  struct log *const log = ctx;
  CHECK(call->struct_size == sizeof *call && call->reserved == 0);
  CHECK(call->op < 0 || strcmp(libdl_op_name(call->op), call->name) == 0);
  CHECK(call->op < 0 || libdl_op_argument_count(call->op) == call->argument_count);
  CHECK(call->op < 0 || libdl_op_result_count(call->op) == call->result_count);
  for (int32_t i = 0; call->op >= 0 && i < call->argument_count; ++i) {
    const libdl_value_type found = call->arguments[i].type;
    CHECK(found == libdl_op_argument_type(call->op, i) ||
          (found == LIBDL_VALUE_NONE && libdl_op_argument_is_nullable(call->op, i)));
  }
  note(log, "%s %d %s%s%s%s%s", phases[call->phase], (int)call->depth, call->name,
       call->source ? " [" : "", call->source ? call->source : "", call->source ? "]" : "",
       call->failed ? " failed" : "");
  for (int32_t i = 0; i < call->result_count && !call->failed; ++i) {
    if (call->dsts)
      log->bytes += bytes_of(call->dsts[i]);
    else if (call->results[i].type == LIBDL_VALUE_TENSOR)
      log->bytes += bytes_of(call->results[i].held.tensor);
  }
  return NULL;
}

static void expect(const struct log *log, const char *const *wanted, int count) {
  int good = log->count == count;
  for (int i = 0; good && i < count; ++i) good = strcmp(log->lines[i], wanted[i]) == 0;
  if (good) return;
  ++failures;
  for (int i = 0; i < log->count || i < count; ++i)
    fprintf(stderr, "  %-44s | %s\n", i < count ? wanted[i] : "",
            i < log->count ? log->lines[i] : "");
}
#define EXPECT(log, ...)                                          \
  do {                                                            \
    const char *const wanted[] = {__VA_ARGS__};                   \
    expect((log), wanted, (int)(sizeof wanted / sizeof *wanted)); \
    memset((log), 0, sizeof *(log));                              \
  } while (0)

static void push_log(struct log *log, uint32_t wanted) {
  libdl_interceptor_options options = {0};
  options.struct_size = sizeof options;
  options.wanted = wanted;
  options.ctx = log;
  options.after = note_after;
  memset(log, 0, sizeof *log);
  GOOD(libdl_interceptor_push_options(&options));
}

static libdl_tensor *matrix(double value, int64_t rows, int64_t columns, int requires_grad) {
  libdl_tensor *made, *fill = number(value);
  const int64_t shape[] = {rows, columns};
  GOOD(libdl_full(shape, 2, fill, LIBDL_DTYPE_FLOAT32, NULL, &made));
  libdl_tensor_release(fill);
  if (requires_grad) GOOD(libdl_tensor_set_requires_grad(made, 1));
  return made;
}

/* -- a training step --------------------------------------------------------------------------- */

static libdl_error *double_it(void *ctx, libdl_tensor **gradients, int64_t count,
                              libdl_tensor *const *incoming, int64_t incoming_count) {
  libdl_tensor *twice;
  (void)ctx, (void)count, (void)incoming, (void)incoming_count;
  libdl_error *const error = libdl_add(gradients[0], gradients[0], NULL, &twice);
  if (error) return error;
  libdl_tensor_release(gradients[0]);
  gradients[0] = twice;
  return NULL;
}

static void backward(libdl_tensor *loss) {
  libdl_tensor *const outputs[] = {loss};
  GOOD(libdl_backward((const libdl_tensor *const *)outputs, 1, NULL, 0, NULL, 0, NULL));
}

static void a_step_is_seen_whole(void) {
  struct log log;
  libdl_tensor *const x = matrix(2, 4, 3, 0), *const target = matrix(1, 4, 2, 0);
  libdl_tensor *const weight = matrix(0.5, 2, 3, 1);
  libdl_tensor *y, *h, *loss, *grad;
  libdl_hook *hook;

  push_log(&log, LIBDL_INTERCEPT_PARTS);
  GOOD(libdl_linear(x, weight, NULL, &y));
  GOOD(libdl_tanh(y, &h));
  GOOD(libdl_mse_loss(h, target, NULL, 0, NULL, &loss));
  CHECK(log.count > 3 && strcmp(log.lines[log.count - 1], "forward 0 mse_loss") == 0);
  CHECK(strcmp(log.lines[0], "forward 0 linear") == 0);
  CHECK(strcmp(log.lines[1], "forward 0 tanh") == 0);
  memset(&log, 0, sizeof log);

  GOOD(libdl_tensor_add_hook(h, LIBDL_HOOK_TENSOR, double_it, NULL, NULL, &hook));
  backward(loss);
  int of_hook = 0, of_tanh = 0, of_linear = 0, others = 0;
  for (int i = 0; i < log.count; ++i) {
    of_hook += strcmp(log.lines[i], "hook 0 add [tanh]") == 0;
    of_tanh += strcmp(log.lines[i], "backward 0 derivative [tanh]") == 0;
    of_linear += strcmp(log.lines[i], "backward 0 mm [linear]") == 0;
    others += strncmp(log.lines[i], "backward ", 9) != 0 && strncmp(log.lines[i], "hook ", 5) != 0;
  }
  CHECK(of_hook == 1 && of_tanh == 1 && of_linear == 1 && others == 0);
  for (int i = 0; failures && i < log.count; ++i) fprintf(stderr, "  %s\n", log.lines[i]);
  memset(&log, 0, sizeof log);

  grad = libdl_tensor_grad(weight);
  const libdl_sgd_options options = {.struct_size = sizeof options, .lr = 0.1};
  libdl_tensor *const params[] = {weight};
  const libdl_tensor *const grads[] = {grad};
  GOOD(libdl_sgd_step(&options, params, 1, grads, 1, NULL, 0));
  EXPECT(&log, "optimizer 0 sgd");
  GOOD(libdl_interceptor_pop());

  libdl_hook_release(hook);
  libdl_tensor *const all[] = {x, target, weight, y, h, loss, grad};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

/* Without LIBDL_INTERCEPT_PARTS only what the host calls is seen, from wherever it calls. */
static void the_hosts_calls_alone(void) {
  struct log log;
  libdl_tensor *const x = matrix(2, 2, 2, 1), *y, *loss;
  libdl_hook *hook;
  push_log(&log, 0);
  GOOD(libdl_square(x, &y));
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  GOOD(libdl_tensor_add_hook(y, LIBDL_HOOK_TENSOR, double_it, NULL, NULL, &hook));
  backward(loss);
  EXPECT(&log, "forward 0 square", "forward 0 sum", "hook 0 add [square]");
  GOOD(libdl_interceptor_pop());
  libdl_hook_release(hook);
  libdl_tensor_release(x), libdl_tensor_release(y), libdl_tensor_release(loss);
}

/* A step that the host makes of operators itself. */
static void a_step_of_the_hosts_own(void) {
  struct log log;
  libdl_tensor *const x = matrix(2, 2, 2, 0), *y;
  push_log(&log, LIBDL_INTERCEPT_PARTS);
  CHECK(libdl_set_phase(LIBDL_PHASE_OPTIMIZER) == LIBDL_PHASE_FORWARD);
  GOOD(libdl_neg(x, &y));
  CHECK(libdl_set_phase(LIBDL_PHASE_FORWARD) == LIBDL_PHASE_OPTIMIZER);
  GOOD(libdl_neg_into(x, y));
  EXPECT(&log, "optimizer 0 neg", "forward 0 neg");
  GOOD(libdl_interceptor_pop());
  libdl_tensor_release(x), libdl_tensor_release(y);
}

/* -- arguments and results --------------------------------------------------------------------- */

struct seen {
  libdl_call call;
  libdl_value arguments[12], results[4];
};
static libdl_error *keep(void *ctx, const libdl_call *call) {
  struct seen *const seen = ctx;
  if (call->depth) return NULL;
  seen->call = *call;
  memcpy(seen->arguments, call->arguments, (size_t)call->argument_count * sizeof(libdl_value));
  if (call->results)
    memcpy(seen->results, call->results, (size_t)call->result_count * sizeof(libdl_value));
  return NULL;
}

static void arguments_are_the_operators(void) {
  struct seen seen = {0};
  libdl_interceptor_options options = {.struct_size = sizeof options, .wanted = 1, .ctx = &seen};
  options.after = keep;
  GOOD(libdl_interceptor_push_options(&options));
  libdl_tensor *const x = matrix(2, 4, 3, 0), *y, *indices;

  GOOD(libdl_softmax(x, -1, LIBDL_DTYPE_FLOAT64, &y));
  CHECK(seen.call.argument_count == 3 && seen.arguments[0].held.tensor == x);
  CHECK(seen.arguments[1].type == LIBDL_VALUE_INT && seen.arguments[1].held.integer == -1);
  CHECK(seen.arguments[2].held.dtype == LIBDL_DTYPE_FLOAT64);
  CHECK(seen.call.result_count == 1 && seen.results[0].held.tensor == y && !seen.call.dsts);
  libdl_tensor_release(y);

  /* A number of the caller's, which the operator computes with as a tensor. */
  GOOD(libdl_leaky_relu(x, 0.25, &y));
  CHECK(seen.arguments[1].type == LIBDL_VALUE_FLOAT && seen.arguments[1].held.number == 0.25);
  libdl_tensor_release(y);

  /* Absent: NONE. */
  GOOD(libdl_add(x, x, NULL, &y));
  CHECK(seen.call.argument_count == 3 && seen.arguments[2].type == LIBDL_VALUE_NONE);

  GOOD(libdl_mul_into(x, x, y));
  CHECK(seen.call.dsts && !seen.call.results && seen.call.result_count == 1);
  libdl_tensor_release(y);

  GOOD(libdl_max_dim(x, 0, 0, &y, &indices));
  CHECK(seen.call.result_count == 2 && seen.results[0].held.tensor == y &&
        seen.results[1].held.tensor == indices);
  libdl_tensor_release(y), libdl_tensor_release(indices);

  BAD_CODE(libdl_softmax(x, 7, LIBDL_DTYPE_NONE, &y), INDEX);
  CHECK(seen.call.failed && !seen.call.results);
  GOOD(libdl_interceptor_pop());
  libdl_tensor_release(x);
}

/* -- answers ----------------------------------------------------------------------------------- */

struct answers {
  const char *name;       /* this one is answered with zeros like its first tensor */
  libdl_error_code fails; /* after */
};
static libdl_error *answer(void *ctx, const libdl_call *call, libdl_bool *handled) {
  const struct answers *const answers = ctx;
  if (strcmp(call->name, answers->name) != 0) return NULL;
  *handled = 1;
  const libdl_tensor *const like = call->arguments[0].held.tensor;
  if (call->dsts) return libdl_zero_into(call->dsts[0]);
  CHECK(call->results[0].type == LIBDL_VALUE_NONE);
  call->results[0].type = LIBDL_VALUE_TENSOR;
  return libdl_zeros_like(like, LIBDL_DTYPE_NONE, NULL, &call->results[0].held.tensor);
}
static libdl_error *fail_after(void *ctx, const libdl_call *call) {
  const struct answers *const answers = ctx;
  (void)call;
  return answers->fails ? libdl_error_new(answers->fails, "as asked", -1, NULL, NULL) : NULL;
}

static void parts_can_be_answered(void) {
  struct answers answers = {"derivative", 0};
  struct log log, inner;
  libdl_interceptor_options options = {.struct_size = sizeof options, .wanted = 1};
  options.ctx = &answers, options.before = answer, options.after = fail_after;
  libdl_tensor *const x = matrix(2, 2, 2, 1), *y, *loss, *grad;

  /* In a backward pass: the gradient of tanh becomes 0. */
  push_log(&log, LIBDL_INTERCEPT_PARTS);
  GOOD(libdl_interceptor_push_options(&options));
  push_log(&inner, LIBDL_INTERCEPT_PARTS);
  GOOD(libdl_tanh(x, &y));
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  memset(&log, 0, sizeof log), memset(&inner, 0, sizeof inner);
  backward(loss);
  grad = libdl_tensor_grad(x);
  int inside = 0, outside = 0;
  for (int i = 0; i < inner.count; ++i) inside += strstr(inner.lines[i], " derivative ") != NULL;
  for (int i = 0; i < log.count; ++i) outside += strstr(log.lines[i], " derivative ") != NULL;
  CHECK(inside == 1 && outside == 0); /* those outside of who answers see what it calls instead */
  GOOD(libdl_interceptor_pop());
  CHECK(total(grad) == 0);

  /* In place, and with an error afterwards. */
  answers.name = "exp";
  libdl_tensor *const z = matrix(1, 2, 2, 0);
  GOOD(libdl_exp_into(z, z));
  CHECK(total(z) == 0);
  answers.fails = LIBDL_ERROR_IO;
  libdl_tensor *untouched = NULL;
  BAD(libdl_neg(z, &untouched), IO, "as asked");
  CHECK(!untouched);
  answers.fails = 0;
  GOOD(libdl_interceptor_pop());
  GOOD(libdl_interceptor_pop());

  libdl_tensor *const all[] = {x, y, loss, grad, z};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) libdl_tensor_release(all[i]);
}

/* What answers inside a pass takes the place of the library's own result, and must be like it. */
struct misfit {
  const char *name;
  int64_t shape[2];
  libdl_dtype dtype;
  int transposed;
};
static libdl_error *misfit(void *ctx, const libdl_call *call, libdl_bool *handled) {
  const struct misfit *const wrong = ctx;
  if (strcmp(call->name, wrong->name) != 0 || call->dsts) return NULL;
  *handled = 1;
  libdl_tensor *made = NULL;
  libdl_error *error = libdl_zeros(wrong->shape, 2, wrong->dtype, NULL, &made);
  if (!error && wrong->transposed) {
    libdl_tensor *const plain = made;
    error = libdl_transpose(plain, 0, 1, &made);
    libdl_tensor_release(plain);
  }
  call->results[0].type = LIBDL_VALUE_TENSOR;
  call->results[0].held.tensor = made;
  return error;
}

static libdl_error *seven(void *ctx, const libdl_call *call, libdl_bool *handled) {
  (void)ctx;
  if (strcmp(call->name, "item_i64") != 0) return NULL;
  *handled = 1;
  call->results[0].type = LIBDL_VALUE_INT, call->results[0].held.integer = 7;
  return NULL;
}

/* addcmul asks for the number that a truth is. */
static void an_integer_inside_must_be_the_own(void) {
  libdl_tensor *const x = matrix(2, 2, 3, 0), *truth, *y = NULL;
  GOOD(libdl_number_bool(1, &truth));
  libdl_interceptor_options options = {.struct_size = sizeof options, .wanted = 1};
  options.before = seven;
  GOOD(libdl_interceptor_push_options(&options));
  BAD(libdl_addcmul(x, x, x, truth, &y), TYPE,
      "addcmul: an interceptor answered result 1 with 7, wanted 1");
  GOOD(libdl_interceptor_pop());
  CHECK(!y);
  libdl_tensor_release(truth);
  libdl_tensor_release(x);
}

static void answers_in_a_pass_must_fit(void) {
  static const struct misfit wrong[] = {{"derivative", {1, 1}, LIBDL_DTYPE_FLOAT32, 0},
                                        {"derivative", {3, 2}, LIBDL_DTYPE_FLOAT32, 0},
                                        {"derivative", {2, 3}, LIBDL_DTYPE_FLOAT64, 0},
                                        {"derivative", {2, 3}, LIBDL_DTYPE_INT8, 0},
                                        {"derivative", {3, 2}, LIBDL_DTYPE_FLOAT32, 1},
                                        {"expand", {1, 1}, LIBDL_DTYPE_FLOAT32, 0},
                                        {"softmax_backward", {1, 2}, LIBDL_DTYPE_FLOAT32, 0},
                                        {"sum", {1, 2}, LIBDL_DTYPE_FLOAT32, 0}};
  int refused = 0;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    int64_t before, after;
    libdl_memory_get_live(&before, NULL, NULL, NULL);
    libdl_tensor *const x = matrix(2, 2, 3, 1), *const b = matrix(1, 1, 3, 1), *y, *z, *s, *loss;
    GOOD(libdl_tanh(x, &y));
    GOOD(libdl_add(y, b, NULL, &z));
    GOOD(libdl_softmax(z, 1, LIBDL_DTYPE_NONE, &s));
    GOOD(libdl_sum(s, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
    libdl_interceptor_options options = {.struct_size = sizeof options, .wanted = 1};
    options.ctx = (void *)&wrong[i], options.before = misfit;
    GOOD(libdl_interceptor_push_options(&options));
    libdl_error *const error =
        libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL);
    GOOD(libdl_interceptor_pop());
    const char *const message = libdl_error_get_message(error);
    const int named = error && strncmp(libdl_error_get_operator(error), wrong[i].name,
                                       strlen(wrong[i].name)) == 0;
    if (error && (libdl_error_get_code(error) != LIBDL_ERROR_TYPE || !named ||
                  !strstr(message, "an interceptor answered result 1 with ")))
      CHECK(!message);
    refused += error != NULL;
    libdl_error_release(error);
    libdl_tensor *const grad = libdl_tensor_grad(x), *const bias = libdl_tensor_grad(b);
    CHECK(!grad ||
          (libdl_tensor_numel(grad) == 6 && libdl_tensor_dtype(grad) == LIBDL_DTYPE_FLOAT32));
    CHECK(!bias || libdl_tensor_numel(bias) == 3);
    libdl_tensor *const all[] = {x, b, y, z, s, loss, grad, bias};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) libdl_tensor_release(all[k]);
    libdl_memory_get_live(&after, NULL, NULL, NULL);
    CHECK(after == before);
  }
  CHECK(refused >= 6);
}

/* -- who comes and goes in between ------------------------------------------------------------- */

static int destroyed;
static void count_destroyed(void *ctx) { (void)ctx, ++destroyed; }

static libdl_error *pop_in_kernel(void *ctx, const libdl_value *arguments, int32_t argument_count,
                                  libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)argument_count, (void)result_count;
  libdl_error *const error = libdl_interceptor_pop();
  return error ? error : libdl_neg(arguments[0].held.tensor, &results[0]);
}

static void popped_inside_of_a_call(void) {
  struct log log;
  libdl_op op;
  GOOD(libdl_op_register("look::pops(tensor input) -> tensor out", -1, &op));
  GOOD(libdl_op_set_kernel(op, LIBDL_DEVICE_CPU, pop_in_kernel, NULL, NULL));
  libdl_tensor *const x = matrix(1, 2, 2, 0);
  libdl_value argument = {.type = LIBDL_VALUE_TENSOR}, result;
  argument.held.tensor = x;
  push_log(&log, LIBDL_INTERCEPT_PARTS);
  struct log gone;
  libdl_interceptor_options options = {.struct_size = sizeof options, .wanted = 1, .ctx = &gone};
  options.after = note_after, options.destroy = count_destroyed;
  memset(&gone, 0, sizeof gone);
  GOOD(libdl_interceptor_push_options(&options));
  GOOD(libdl_op_call(op, &argument, 1, &result, 1));
  CHECK(destroyed == 1 && gone.count == 0);
  EXPECT(&log, "forward 1 neg [look::pops]", "forward 0 look::pops");
  GOOD(libdl_interceptor_pop());
  libdl_tensor_release(x), libdl_tensor_release(result.held.tensor);
}

static void refused(void) {
  libdl_interceptor_options options = {.struct_size = sizeof options, .destroy = count_destroyed};
  destroyed = 0;
  BAD(libdl_interceptor_push_options(NULL), NULL,
      "interceptor_push_options: argument 1 (options) have neither before nor after, wanted a "
      "callback");
  BAD_CODE(libdl_interceptor_push_options(&options), NULL);
  options.after = note_after, options.wanted = 6;
  BAD(libdl_interceptor_push_options(&options), VALUE,
      "interceptor_push_options: argument 1 (options) want 6, wanted LIBDL_INTERCEPT_ bits");
  CHECK(destroyed == 2);
}

int main(void) {
  a_step_is_seen_whole();
  the_hosts_calls_alone();
  a_step_of_the_hosts_own();
  arguments_are_the_operators();
  parts_can_be_answered();
  an_integer_inside_must_be_the_own();
  answers_in_a_pass_must_fit();
  popped_inside_of_a_call();
  refused();
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
