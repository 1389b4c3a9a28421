/* SPDX-License-Identifier: Apache-2.0 */

/* Observes the training of a linear layer: how many calls a training step makes in each of its
 * phases, and how many bytes they produce. */
#include <libdl/libdl.h>
#include <stdio.h>
#include <stdlib.h>

static void try(libdl_error *error) {
  if (!error) return;
  fprintf(stderr, "%s\n", libdl_error_get_message(error));
  libdl_error_release(error);
  exit(1);
}

enum { PHASES = 4 };
struct counts {
  int calls[PHASES];
  long bytes[PHASES];
};

static libdl_error *count(void *ctx, const libdl_call *call) {
  struct counts *const counts = ctx;
  if (call->depth > 0) return NULL; /* made by a call that is counted itself */
  ++counts->calls[call->phase];
  for (int32_t i = 0; call->results && i < call->result_count; ++i)
    if (call->results[i].type == LIBDL_VALUE_TENSOR) {
      const libdl_tensor *const made = call->results[i].held.tensor;
      counts->bytes[call->phase] +=
          (long)(libdl_tensor_numel(made) * libdl_dtype_size(libdl_tensor_dtype(made)));
    }
  return NULL;
}

static libdl_tensor *filled(int64_t rows, int64_t columns, double value) {
  const int64_t shape[2] = {rows, columns};
  libdl_tensor *number, *made;
  try(libdl_number_f64(value, &number));
  try(libdl_full(shape, 2, number, LIBDL_DTYPE_NONE, NULL, &made));
  libdl_tensor_release(number);
  return made;
}

int main(void) {
  static const char *const names[PHASES] = {"forward", "backward", "optimizer", "hook"};
  struct counts counts = {{0}, {0}};
  libdl_tensor *const x = filled(64, 16, 0.5), *const target = filled(64, 4, 1);
  libdl_tensor *const weight = filled(4, 16, 0.1), *y, *h, *loss, *grad;
  libdl_interceptor_options options = {0};
  libdl_sgd_options sgd = {0};
  try(libdl_tensor_set_requires_grad(weight, 1));

  options.struct_size = sizeof options;
  options.wanted = LIBDL_INTERCEPT_PARTS;
  options.ctx = &counts;
  options.after = count;
  try(libdl_interceptor_push_options(&options));

  try(libdl_linear(x, weight, NULL, &y));
  try(libdl_tanh(y, &h));
  try(libdl_mse_loss(h, target, NULL, 0, NULL, &loss));
  try(libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL));
  grad = libdl_tensor_grad(weight);
  sgd.struct_size = sizeof sgd;
  sgd.lr = 0.1;
  try(libdl_sgd_step(&sgd, &weight, 1, (const libdl_tensor *const *)&grad, 1, NULL, 0));

  try(libdl_interceptor_pop());
  for (int phase = 0; phase < PHASES; ++phase)
    if (counts.calls[phase])
      printf("%-9s %2d calls, %6ld bytes\n", names[phase], counts.calls[phase],
             counts.bytes[phase]);

  libdl_tensor_release(grad);
  libdl_tensor_release(loss);
  libdl_tensor_release(h);
  libdl_tensor_release(y);
  libdl_tensor_release(weight);
  libdl_tensor_release(target);
  libdl_tensor_release(x);
  return 0;
}
