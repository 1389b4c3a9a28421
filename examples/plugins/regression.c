/* SPDX-License-Identifier: Apache-2.0 */

/* regression PLUGIN DEVICE [PLUGIN]: opens the plugins and fits y = 2 x0 - 3 x1 + 1 by gradient
 * descent on the device of the first plugin. */
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

static libdl_tensor *on(const libdl_device *device, const float *values, const int64_t *shape,
                        int32_t ndim) {
  libdl_tensor *made, *moved;
  int64_t count = 1;
  for (int32_t d = 0; d < ndim; ++d) count *= shape[d];
  try(libdl_empty(shape, ndim, LIBDL_DTYPE_FLOAT32, NULL, &made));
  try(libdl_tensor_copy_in(made, values, count * (int64_t)sizeof *values));
  try(libdl_to(made, LIBDL_DTYPE_NONE, device, 0, 0, &moved));
  libdl_tensor_release(made);
  return moved;
}

int main(int argc, char **argv) {
  enum { kPoints = 64 };
  const int64_t points[] = {kPoints, 2}, column[] = {kPoints, 1}, weights[] = {1, 2}, one[] = {1};
  float x_values[2 * kPoints], y_values[kPoints], found[3];
  const float zeros[2] = {0, 0};
  if (argc < 3) {
    fprintf(stderr, "usage: regression PLUGIN DEVICE [PLUGIN]\n");
    return 2;
  }
  try(libdl_plugin_open(argv[1]));
  if (argc > 3) try(libdl_plugin_open(argv[3]));
  const libdl_device device = {libdl_device_type_named(argv[2]), 0};
  if (device.type == 0) {
    fprintf(stderr, "regression: %s brings no device %s\n", argv[1], argv[2]);
    return 1;
  }
  for (int i = 0; i < kPoints; ++i) {
    const float a = (float)(i % 8) / 8, b = (float)(i / 8) / 8;
    x_values[2 * i] = a, x_values[2 * i + 1] = b;
    y_values[i] = 2 * a - 3 * b + 1;
  }
  libdl_tensor *const x = on(&device, x_values, points, 2);
  libdl_tensor *const target = on(&device, y_values, column, 2);
  libdl_tensor *const params[] = {on(&device, zeros, weights, 2), on(&device, zeros, one, 1)};
  for (int k = 0; k < 2; ++k) try(libdl_tensor_set_requires_grad(params[k], 1));
  libdl_sgd_options sgd = {0};
  sgd.struct_size = sizeof sgd;
  sgd.lr = 0.5;
  for (int step = 0; step < 400; ++step) {
    libdl_tensor *y, *loss, *grads[2];
    try(libdl_scope_push_owner());
    try(libdl_linear(x, params[0], params[1], &y));
    try(libdl_mse_loss(y, target, "mean", -1, NULL, &loss));
    try(libdl_backward(LIBDL_READ_ONLY(&loss), 1, NULL, 0, NULL, 0, NULL));
    try(libdl_scope_pop());
    for (int k = 0; k < 2; ++k) grads[k] = libdl_tensor_grad(params[k]);
    try(libdl_sgd_step(&sgd, params, 2, LIBDL_READ_ONLY(grads), 2, NULL, 0));
    for (int k = 0; k < 2; ++k) {
      libdl_tensor_release(grads[k]);
      try(libdl_tensor_set_grad(params[k], NULL));
    }
  }
  try(libdl_tensor_copy_out(params[0], found, 2 * sizeof *found));
  try(libdl_tensor_copy_out(params[1], found + 2, sizeof *found));
  printf("%s: y = %.4f x0 + %.4f x1 + %.4f\n", argv[2], (double)found[0], (double)found[1],
         (double)found[2]);
  for (int k = 0; k < 2; ++k) libdl_tensor_release(params[k]);
  libdl_tensor_release(x);
  libdl_tensor_release(target);
  return fabsf(found[0] - 2) + fabsf(found[1] + 3) + fabsf(found[2] - 1) < 1e-3f ? 0 : 1;
}
