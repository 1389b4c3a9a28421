/* SPDX-License-Identifier: Apache-2.0 */

/* A differentiable function written in C: y = x^3, its gradient checked by finite differences. */
#include <libdl/libdl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void try(libdl_error *error) {
  if (!error) return;
  fprintf(stderr, "%s\n", libdl_error_get_message(error));
  libdl_error_release(error);
  exit(1);
}

/* dx = 3 x^2 dy. Each step runs only if no earlier one failed; the engine passes the error on. */
static libdl_error *cube_backward(void *ctx, libdl_backward_context *context,
                                  const libdl_tensor *const *dy, int64_t outputs, libdl_tensor **dx,
                                  int64_t inputs) {
  libdl_tensor *x = NULL, *xx = NULL, *three = NULL, *slope = NULL;
  libdl_error *error = libdl_backward_context_saved(context, 0, &x);
  if (!error) error = libdl_square(x, &xx);
  if (!error) error = libdl_number_f64(3, &three);
  if (!error) error = libdl_mul(xx, three, &slope);
  if (!error) error = libdl_mul(slope, dy[0], &dx[0]);
  libdl_tensor_release(slope);
  libdl_tensor_release(three);
  libdl_tensor_release(xx);
  libdl_tensor_release(x);
  (void)ctx, (void)outputs, (void)inputs;
  return error;
}

/* Computes y without recording, then records the function as one node of the history. */
static libdl_tensor *cube(const libdl_tensor *x) {
  const libdl_bool recording = libdl_set_grad_enabled(0);
  libdl_tensor *xx, *y;
  try(libdl_square(x, &xx));
  try(libdl_mul(xx, x, &y));
  libdl_tensor_release(xx);
  libdl_set_grad_enabled(recording);
  libdl_function function = {0};
  function.struct_size = sizeof function;
  function.name = "cube";
  function.backward = cube_backward;
  try(libdl_function_record(&function, &x, 1, &y, 1, NULL, &x, 1, NULL));
  return y;
}

int main(void) {
  const double values[3] = {-1.5, 0.25, 2}, h = 1e-5;
  const int64_t shape = 3;
  double gradient[3], worst = 0;
  libdl_tensor *x, *y, *loss, *g;

  try(libdl_empty(&shape, 1, LIBDL_DTYPE_FLOAT64, NULL, &x));
  try(libdl_tensor_copy_in(x, values, sizeof values));
  try(libdl_tensor_set_requires_grad(x, 1));
  y = cube(x);
  try(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  try(libdl_backward((const libdl_tensor *const *)&loss, 1, NULL, 0, NULL, 0, NULL));
  g = libdl_tensor_grad(x);
  try(libdl_tensor_copy_out(g, gradient, sizeof gradient));
  for (int i = 0; i < 3; ++i) {
    const double difference = (pow(values[i] + h, 3) - pow(values[i] - h, 3)) / (2 * h);
    printf("x %5.2f  gradient %8.4f  difference %8.4f\n", values[i], gradient[i], difference);
    worst = fmax(worst, fabs(gradient[i] - difference));
  }
  libdl_tensor_release(g);
  libdl_tensor_release(loss);
  libdl_tensor_release(y);
  libdl_tensor_release(x);
  return worst < 1e-8 ? 0 : 1;
}
