/* SPDX-License-Identifier: Apache-2.0 */

/* Trains a model in C without releasing every temporary: scopes own what operators make, and one
 * line ends a function, with its result or with its error. */
#include <libdl/libdl.h>
#include <stdio.h>
#include <stdlib.h>

static void try(libdl_error *error) {
  if (!error) return;
  fprintf(stderr, "%s\n", libdl_error_get_message(error));
  libdl_error_release(error);
  exit(1);
}

typedef struct Model {
  libdl_tensor *w1, *b1, *w2;
} Model;

/* tanh(x w1' + b1) w2'. The scope frees the hidden values, unless the history needs them. */
static libdl_error *forward(const Model *m, const libdl_tensor *x, libdl_tensor **out) {
  libdl_tensor *h = NULL;
  libdl_error *error = libdl_scope_push_owner();
  if (error) return error;
  if ((error = libdl_linear(x, m->w1, m->b1, &h)) || (error = libdl_tanh(h, &h)) ||
      (error = libdl_linear(h, m->w2, NULL, &h)))
    h = NULL;
  return libdl_scope_return(error, h, out);
}

static libdl_tensor *parameter(int64_t rows, int64_t columns, double scale,
                               libdl_generator *generator) {
  const int64_t shape[] = {rows, columns};
  libdl_tensor *made;
  try(libdl_empty(shape, columns ? 2 : 1, LIBDL_DTYPE_FLOAT32, NULL, &made));
  try(libdl_normal_into(0, scale, generator, made));
  try(libdl_tensor_set_requires_grad(made, 1));
  return made;
}

/* y = x^2 at 64 places, learned in 200 steps. */
int main(void) {
  const int64_t column[] = {64, 1};
  libdl_generator *generator;
  try(libdl_generator_new(1, &generator));
  Model m = {parameter(16, 1, 1, generator), parameter(16, 0, 1, generator),
             parameter(1, 16, 0.3, generator)};
  libdl_tensor *const params[] = {m.w1, m.b1, m.w2};
  libdl_tensor *averages[3], *squares[3], *grads[3], *x, *y, *loss;
  for (int k = 0; k < 3; ++k) {
    try(libdl_zeros_like(params[k], LIBDL_DTYPE_NONE, NULL, &averages[k]));
    try(libdl_zeros_like(params[k], LIBDL_DTYPE_NONE, NULL, &squares[k]));
  }
  libdl_adam_options adam;
  libdl_adam_options_init(&adam);
  adam.lr = 0.02;
  double value = 0;
  for (adam.step = 1; adam.step <= 200; ++adam.step) {
    try(libdl_scope_push_owner());
    try(libdl_rand(column, 2, generator, LIBDL_DTYPE_FLOAT32, NULL, &x));
    try(forward(&m, x, &y));
    try(libdl_mul(x, x, &x));
    try(libdl_mse_loss(y, x, "mean", -1, NULL, &loss));
    try(libdl_backward(LIBDL_READ_ONLY(&loss), 1, NULL, 0, NULL, 0, NULL));
    try(libdl_item_f64(loss, &value));
    try(libdl_scope_pop());
    for (int k = 0; k < 3; ++k) grads[k] = libdl_tensor_grad(params[k]);
    try(libdl_adam_step(&adam, params, 3, LIBDL_READ_ONLY(grads), 3, averages, 3, squares, 3, NULL,
                        0));
    for (int k = 0; k < 3; ++k) {
      libdl_tensor_release(grads[k]);
      try(libdl_tensor_set_grad(params[k], NULL));
    }
  }
  printf("loss %.5f\n", value);
  for (int k = 0; k < 3; ++k) {
    libdl_tensor_release(params[k]);
    libdl_tensor_release(averages[k]);
    libdl_tensor_release(squares[k]);
  }
  libdl_generator_release(generator);
  return value < 0.01 ? 0 : 1;
}
