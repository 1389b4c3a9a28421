/* SPDX-License-Identifier: Apache-2.0 */
// clang-format Language: C

/* What sequences of calls need of a host program: callbacks, structs of them, files, foreign
 * memory, and how everything is put back at the end. Every C program that the fuzzer writes begins
 * with this file. generate.py finds each function by the word before it:
 *
 *   FIXTURE_CALL      called like a function of the library
 *   FIXTURE_CALLBACK  given to the library ("fn:name")
 *   FIXTURE_MADE      makes a struct whose ctx is the call's fixture ("made:name")
 *   FIXTURE_PLACE     tells a pointer ("at:name") */
#include <fcntl.h>
#include <libdl/libdl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GNUC__
#define FIXTURE_CALL static __attribute__((unused))
#else
#define FIXTURE_CALL static
#endif
#define FIXTURE_CALLBACK FIXTURE_CALL
#define FIXTURE_MADE FIXTURE_CALL
#define FIXTURE_PLACE FIXTURE_CALL
/* The fuzzer counts what callbacks call. */
#ifndef FIXTURE_COUNT
#define FIXTURE_COUNT(name, good) (void)(good)
#endif

/* What a ctx points to: how often its destroy ran, and the structs that carry it. */
typedef struct Fixture {
  int32_t destroyed;
  libdl_saved_hooks hooks;
  libdl_interceptor_options onlooker;
  libdl_function function;
  libdl_executor executor;
} Fixture;
enum { FIXTURE_MOST = 64 };
static Fixture fixtures[FIXTURE_MOST];

static _Alignas(64) char fixture_buffer[4096];
static _Alignas(64) char fixture_constant[4096]; /* nobody writes here */

/* A defect: an error that tells nothing, or that calls itself one. */
static void fixture_check(libdl_error *error) {
  if (!error) return;
  if (!libdl_error_get_message(error)[0] || !libdl_error_get_code(error) ||
      libdl_error_get_code(error) == LIBDL_ERROR_INTERNAL) {
    fprintf(stderr, "an error that should not be: %d '%s'\n", (int)libdl_error_get_code(error),
            libdl_error_get_message(error));
    exit(1);
  }
}

static void fixture_drop(libdl_error *error) {
  fixture_check(error);
  libdl_error_release(error);
}

/* -- tensors ---------------------------------------------------------------------------------- */

/* Values 0, 1, 0, 1, ...: indices, masks, probabilities and numbers at once. */
FIXTURE_CALL libdl_error *fixture_tensor(libdl_dtype dtype, const int64_t *shape, int32_t ndim,
                                         libdl_bool leaf, libdl_tensor **out) {
  libdl_tensor *x = NULL, *y = NULL;
  double values[512];
  for (int i = 0; i < 512; ++i) values[i] = i % 2;
  libdl_error *error = libdl_empty(shape, ndim, LIBDL_DTYPE_FLOAT64, NULL, &x);
  if (!error) error = libdl_tensor_copy_in(x, values, libdl_tensor_numel(x) * 8);
  if (!error) error = libdl_to(x, dtype, NULL, 0, 1, &y);
  if (!error && leaf) error = libdl_tensor_set_requires_grad(y, 1);
  libdl_tensor_release(x);
  if (error) libdl_tensor_release(y);
  if (!error) *out = y;
  return error;
}

/* Its node saves values. */
FIXTURE_CALL libdl_error *fixture_loss(const libdl_tensor *leaf, libdl_tensor **out) {
  libdl_tensor *square = NULL;
  libdl_error *error = libdl_mul(leaf, leaf, &square);
  if (!error) error = libdl_logsumexp(square, NULL, 0, 0, out);
  libdl_tensor_release(square);
  return error;
}

/* A sparse matrix of which every row is held. */
FIXTURE_CALL libdl_error *fixture_sparse(const libdl_tensor *values, libdl_tensor **out) {
  const int64_t rows = libdl_tensor_ndim(values) ? libdl_tensor_shape(values)[0] : 0;
  libdl_tensor *numbers = NULL, *all = NULL;
  libdl_error *error = libdl_number_i64(rows, &numbers);
  if (!error) error = libdl_arange(NULL, numbers, NULL, LIBDL_DTYPE_INT64, NULL, &all);
  if (!error) error = libdl_sparse_from_rows(all, values, rows, out);
  libdl_tensor_release(numbers);
  libdl_tensor_release(all);
  return error;
}

FIXTURE_CALL libdl_error *fixture_emptied(libdl_tensor **out) {
  libdl_error *error = libdl_scope_push();
  if (error) return error;
  error = libdl_ones(NULL, 0, LIBDL_DTYPE_FLOAT64, NULL, out);
  fixture_drop(libdl_scope_pop());
  return error;
}

FIXTURE_CALL libdl_error *fixture_read_only(libdl_dtype dtype, const int64_t *shape, int32_t ndim,
                                            libdl_tensor **out) {
  return libdl_tensor_from_memory(fixture_constant, sizeof fixture_constant, shape, ndim, NULL, 0,
                                  0, dtype, 1, NULL, NULL, out);
}

/* -- callbacks -------------------------------------------------------------------------------- */

FIXTURE_CALLBACK void fixture_destroy(void *ctx) { ++((Fixture *)ctx)->destroyed; }
FIXTURE_CALLBACK int32_t visit_context(void *ctx, void *arg) { return ctx == arg; }

static libdl_error *fixture_error(const char *message) {
  return libdl_error_new(LIBDL_ERROR_CALLBACK, message, -1, NULL, NULL);
}

FIXTURE_CALLBACK libdl_error *hook_passes(void *ctx, libdl_tensor **gradients, int64_t count,
                                          libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  return NULL;
}
FIXTURE_CALLBACK libdl_error *hook_replaces(void *ctx, libdl_tensor **gradients, int64_t count,
                                            libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)incoming, (void)incoming_count;
  if (!count || !gradients[0]) return NULL;
  libdl_tensor *other = NULL;
  libdl_error *const error = libdl_neg(gradients[0], &other);
  if (error) return error;
  libdl_tensor_release(gradients[0]);
  gradients[0] = other;
  return NULL;
}
FIXTURE_CALLBACK libdl_error *hook_fails(void *ctx, libdl_tensor **gradients, int64_t count,
                                         libdl_tensor *const *incoming, int64_t incoming_count) {
  (void)ctx, (void)gradients, (void)count, (void)incoming, (void)incoming_count;
  return fixture_error("the hook fails");
}

static libdl_error *fixture_pack(void *ctx, const libdl_tensor *value, void **packed) {
  (void)ctx;
  return libdl_clone(value, (libdl_tensor **)packed);
}
static libdl_error *fixture_unpack(void *ctx, void *packed, libdl_tensor **value) {
  (void)ctx;
  *value = libdl_tensor_retain((libdl_tensor *)packed);
  return NULL;
}
static void fixture_forget(void *ctx, void *packed) {
  (void)ctx;
  libdl_tensor_release((libdl_tensor *)packed);
}
FIXTURE_MADE void *saved_hooks_of(Fixture *fixture) {
  const libdl_saved_hooks hooks = {sizeof hooks,   fixture,        fixture_pack,
                                   fixture_unpack, fixture_forget, fixture_destroy};
  fixture->hooks = hooks;
  return &fixture->hooks;
}

static libdl_error *fixture_backward(void *ctx, libdl_backward_context *context,
                                     const libdl_tensor *const *output_gradients, int64_t outputs,
                                     libdl_tensor **input_gradients, int64_t inputs) {
  (void)ctx, (void)outputs;
  libdl_tensor *x = NULL;
  for (int64_t index = -1; index < 2; ++index) {
    libdl_error *error = libdl_backward_context_saved(context, index, &x);
    FIXTURE_COUNT("libdl_backward_context_saved", !error);
    if (!error) libdl_tensor_release(x);
    fixture_drop(error);
    error = libdl_backward_context_saved_with_history(context, index, &x);
    FIXTURE_COUNT("libdl_backward_context_saved_with_history", !error);
    if (!error) libdl_tensor_release(x);
    fixture_drop(error);
    error = libdl_backward_context_zeros(context, index, &x);
    FIXTURE_COUNT("libdl_backward_context_zeros", !error);
    if (!error) libdl_tensor_release(x);
    fixture_drop(error);
  }
  fixture_drop(libdl_backward_context_saved(context, 0, NULL));
  for (int64_t i = 0; i < inputs; ++i) {
    const libdl_bool needed = libdl_backward_context_needs(context, i);
    FIXTURE_COUNT("libdl_backward_context_needs", 1);
    if (needed) input_gradients[i] = libdl_tensor_retain((libdl_tensor *)output_gradients[0]);
  }
  return NULL;
}
FIXTURE_MADE void *function_of(Fixture *fixture) {
  const libdl_function function = {sizeof function,
                                   "fixture",
                                   fixture_backward,
                                   fixture,
                                   fixture_destroy,
                                   fixture - fixtures == 1,
                                   0,
                                   0};
  fixture->function = function;
  return &fixture->function;
}

/* A loss behind a function of the host's. */
FIXTURE_CALL libdl_error *fixture_custom(const libdl_tensor *leaf, libdl_tensor **out) {
  const libdl_function function = {
      sizeof function, "custom", fixture_backward, NULL, NULL, 0, 0, 0};
  const libdl_bool before = libdl_set_grad_enabled(0);
  libdl_tensor *y = NULL;
  libdl_error *error = libdl_clone(leaf, &y);
  libdl_set_grad_enabled(before);
  if (!error) error = libdl_function_record(&function, &leaf, 1, &y, 1, NULL, &leaf, 1, NULL);
  if (!error) error = libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, out);
  libdl_tensor_release(y);
  return error;
}

static void fixture_run(void *ctx, void (*task)(void *), void *task_arg) {
  (void)ctx;
  task(task_arg);
}
FIXTURE_MADE void *executor_of(Fixture *fixture) {
  const libdl_executor executor = {sizeof executor, 2, fixture, fixture_run, fixture_destroy};
  fixture->executor = executor;
  return &fixture->executor;
}

FIXTURE_CALLBACK libdl_error *square(void *ctx, const libdl_tensor *const *inputs,
                                     int64_t inputs_count, libdl_tensor **outputs,
                                     int64_t outputs_count) {
  (void)ctx, (void)inputs_count, (void)outputs_count;
  return libdl_mul(inputs[0], inputs[0], outputs);
}
FIXTURE_CALLBACK void tell_site(void *ctx, char *buffer, int64_t capacity) {
  (void)ctx;
  snprintf(buffer, (size_t)capacity, "fixture.c:1");
}
FIXTURE_CALLBACK void take_warning(void *ctx, libdl_warning_code code, const char *message) {
  (void)ctx, (void)code, (void)strlen(message);
}
FIXTURE_CALLBACK void take_log(void *ctx, libdl_log_level level, const char *message,
                               int64_t length) {
  (void)ctx, (void)level;
  if ((int64_t)strlen(message) != length) abort();
}
FIXTURE_CALLBACK libdl_error *visit(void *ctx, const libdl_memory_block *block) {
  (void)ctx;
  return block->bytes < 0 ? fixture_error("a block of negative size") : NULL;
}
FIXTURE_CALLBACK libdl_error *visit_fails(void *ctx, const libdl_memory_block *block) {
  (void)ctx, (void)block;
  return fixture_error("the visitor fails");
}
FIXTURE_CALLBACK libdl_error *read_event(void *ctx, const libdl_profiler_event *event) {
  (void)ctx, (void)strlen(event->name);
  return event->end < event->start ? fixture_error("an event ends before it begins") : NULL;
}
FIXTURE_CALLBACK libdl_error *event_fails(void *ctx, const libdl_profiler_event *event) {
  (void)ctx, (void)event;
  return fixture_error("the visitor fails");
}
FIXTURE_CALLBACK void under_pressure(void *ctx, int64_t bytes) { (void)ctx, (void)bytes; }
FIXTURE_CALLBACK int32_t go_on(void *ctx) { return (void)ctx, 0; }
FIXTURE_CALLBACK int32_t stop_now(void *ctx) { return (void)ctx, 1; }

FIXTURE_CALLBACK libdl_error *twice(void *ctx, const libdl_value *arguments, int32_t argument_count,
                                    libdl_tensor **results, int32_t result_count) {
  (void)ctx, (void)argument_count, (void)result_count;
  return libdl_add(arguments[0].held.tensor, arguments[0].held.tensor, NULL, results);
}
FIXTURE_CALLBACK libdl_error *twice_vjp(void *ctx, const libdl_value *arguments,
                                        int32_t argument_count, const libdl_tensor *const *results,
                                        const libdl_tensor *const *grads, int32_t result_count,
                                        const libdl_bool *wanted, libdl_tensor **out,
                                        int32_t tensor_count) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)result_count;
  if (tensor_count < 1 || !wanted[0] || !grads[0]) return NULL;
  return libdl_add(grads[0], grads[0], NULL, out);
}
FIXTURE_CALLBACK libdl_error *twice_jvp(void *ctx, const libdl_value *arguments,
                                        int32_t argument_count, const libdl_tensor *const *results,
                                        int32_t result_count, const libdl_tensor *const *tangents,
                                        int32_t tensor_count, libdl_tensor **out) {
  (void)ctx, (void)arguments, (void)argument_count, (void)results, (void)result_count;
  if (tensor_count < 1 || !tangents[0]) return NULL;
  return libdl_add(tangents[0], tangents[0], NULL, out);
}
FIXTURE_CALLBACK libdl_error *look_on(void *ctx, libdl_op op, const libdl_value *arguments,
                                      int32_t argument_count, libdl_tensor *const *dsts,
                                      libdl_value *results, int32_t result_count,
                                      libdl_bool *handled) {
  (void)ctx, (void)op, (void)arguments, (void)argument_count, (void)dsts, (void)results;
  (void)result_count, (void)handled;
  return NULL;
}
static libdl_error *fixture_before(void *ctx, const libdl_call *call, libdl_bool *handled) {
  (void)ctx, (void)call, (void)handled;
  return NULL;
}
static libdl_error *fixture_after(void *ctx, const libdl_call *call) {
  (void)ctx, (void)call;
  return NULL;
}
FIXTURE_MADE void *onlooker_of(Fixture *fixture) {
  const libdl_interceptor_options options = {sizeof options,  LIBDL_INTERCEPT_PARTS, fixture,
                                             fixture_destroy, fixture_before,        fixture_after};
  fixture->onlooker = options;
  return &fixture->onlooker;
}
FIXTURE_CALLBACK libdl_error *intercept_fails(void *ctx, libdl_op op, const libdl_value *arguments,
                                              int32_t argument_count, libdl_tensor *const *dsts,
                                              libdl_value *results, int32_t result_count,
                                              libdl_bool *handled) {
  (void)look_on(ctx, op, arguments, argument_count, dsts, results, result_count, handled);
  return fixture_error("the interceptor fails");
}
