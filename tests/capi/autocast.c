/* SPDX-License-Identifier: Apache-2.0 */

/* Autocast through the C ABI: dtypes of results and gradients, what it leaves alone, and whose
 * state it is. The operators' lists are compared with PyTorch's in
 * tests/wrappers/amp/test_autocast.py.
 */
#include "check.h"

static libdl_tensor *filled(double value, int64_t rows, int64_t cols, libdl_dtype dtype) {
  const int64_t shape[] = {rows, cols};
  libdl_tensor *number, *x;
  GOOD(libdl_number_f64(value, &number));
  GOOD(libdl_full(shape, 2, number, dtype, NULL, &x));
  libdl_tensor_release(number);
  return x;
}
static libdl_tensor *weight(double value) {
  libdl_tensor *const x = filled(value, 32, 32, LIBDL_DTYPE_FLOAT32);
  GOOD(libdl_tensor_set_requires_grad(x, 1));
  return x;
}
static double first_of(const libdl_tensor *x) {
  libdl_tensor *flat, *one;
  double value;
  GOOD(libdl_select(x, 0, 0, &flat));
  GOOD(libdl_select(flat, 0, 0, &one));
  GOOD(libdl_item_f64(one, &value));
  libdl_tensor_release(flat);
  libdl_tensor_release(one);
  return value;
}
static void switch_on(void) { GOOD(libdl_set_autocast_enabled(LIBDL_DEVICE_CPU, 1)); }
static void switch_off(void) { GOOD(libdl_set_autocast_enabled(LIBDL_DEVICE_CPU, 0)); }

static libdl_dtype dtype_of_product(const libdl_tensor *a, const libdl_tensor *b) {
  libdl_tensor *y;
  GOOD(libdl_mm(a, b, &y));
  const libdl_dtype dtype = libdl_tensor_dtype(y);
  libdl_tensor_release(y);
  return dtype;
}

/* -- the state --------------------------------------------------------------------------------- */

static void switches(void) {
  libdl_tensor *const x = filled(1, 4, 4, LIBDL_DTYPE_FLOAT32);
  libdl_state *other, *copy, *previous;
  CHECK(!libdl_autocast_enabled(LIBDL_DEVICE_CPU) && !libdl_autocast_enabled(LIBDL_DEVICE_CUDA));
  CHECK(libdl_autocast_dtype(LIBDL_DEVICE_CPU) == LIBDL_DTYPE_BFLOAT16);
  CHECK(libdl_autocast_dtype(LIBDL_DEVICE_CUDA) == LIBDL_DTYPE_NONE);
  CHECK(libdl_autocast_cache_enabled() && libdl_set_autocast_cache_enabled(0));
  CHECK(!libdl_autocast_cache_enabled() && !libdl_set_autocast_cache_enabled(1));
  BAD_ARGUMENT(libdl_set_autocast_enabled(LIBDL_DEVICE_CUDA, 1), DEVICE, 1);
  BAD_ARGUMENT(libdl_set_autocast_dtype(LIBDL_DEVICE_CUDA, LIBDL_DTYPE_FLOAT16), DEVICE, 1);
  BAD_ARGUMENT(libdl_set_autocast_dtype(LIBDL_DEVICE_CPU, LIBDL_DTYPE_INT8), DTYPE, 2);

  switch_on();
  CHECK(libdl_autocast_enabled(LIBDL_DEVICE_CPU));
  CHECK(dtype_of_product(x, x) == LIBDL_DTYPE_BFLOAT16);
  GOOD(libdl_set_autocast_dtype(LIBDL_DEVICE_CPU, LIBDL_DTYPE_FLOAT16));
  CHECK(dtype_of_product(x, x) == LIBDL_DTYPE_FLOAT16);
  GOOD(libdl_state_new(&other));
  GOOD(libdl_state_copy_current(&copy));
  GOOD(libdl_state_swap(other, &previous)); /* another task on this thread */
  CHECK(dtype_of_product(x, x) == LIBDL_DTYPE_FLOAT32);
  GOOD(libdl_state_swap(copy, &previous));
  CHECK(dtype_of_product(x, x) == LIBDL_DTYPE_FLOAT16);
  GOOD(libdl_state_swap(NULL, &previous));
  GOOD(libdl_set_autocast_dtype(LIBDL_DEVICE_CPU, LIBDL_DTYPE_BFLOAT16));
  switch_off();
  CHECK(dtype_of_product(x, x) == LIBDL_DTYPE_FLOAT32);
  libdl_state_release(other);
  libdl_state_release(copy);
  libdl_tensor_release(x);
}

/* -- calls ------------------------------------------------------------------------------------- */

static void what_is_left_alone(void) {
  libdl_tensor *const x = filled(1, 4, 4, LIBDL_DTYPE_FLOAT32);
  libdl_tensor *const wide = filled(1, 4, 4, LIBDL_DTYPE_FLOAT64);
  libdl_tensor *const whole = filled(1, 4, 4, LIBDL_DTYPE_INT64);
  libdl_tensor *const into = filled(0, 4, 4, LIBDL_DTYPE_FLOAT32);
  libdl_tensor *y;
  switch_on();
  CHECK(dtype_of_product(wide, wide) == LIBDL_DTYPE_FLOAT64);
  CHECK(dtype_of_product(whole, whole) == LIBDL_DTYPE_INT64);
  GOOD(libdl_mm_into(x, x, into));
  CHECK(first_of(into) == 4 && libdl_tensor_dtype(into) == LIBDL_DTYPE_FLOAT32);
  GOOD(libdl_exp(x, &y));
  CHECK(libdl_tensor_dtype(y) == LIBDL_DTYPE_FLOAT32);
  libdl_tensor_release(y);
  switch_off();
  libdl_tensor_release(x);
  libdl_tensor_release(wide);
  libdl_tensor_release(whole);
  libdl_tensor_release(into);
}

static void a_weight_that_is_written_to(void) {
  libdl_tensor *const w = weight(1), *const x = filled(1, 32, 32, LIBDL_DTYPE_FLOAT32);
  libdl_tensor *factor, *y, *loss, *grad;
  GOOD(libdl_number_f64(2, &factor));
  switch_on();
  for (int turn = 0; turn < 3; ++turn) {
    for (int again = 0; again < 2; ++again) { /* from what was kept */
      GOOD(libdl_linear(x, w, NULL, &y));
      CHECK(libdl_tensor_dtype(y) == LIBDL_DTYPE_BFLOAT16 && first_of(y) == 32 << turn);
      libdl_tensor_release(y);
    }
    const libdl_bool recording = libdl_set_grad_enabled(0);
    GOOD(libdl_mul_into(w, factor, w));
    libdl_set_grad_enabled(recording);
  }
  GOOD(libdl_linear(x, w, NULL, &y));
  GOOD(libdl_sum(y, NULL, 0, 0, LIBDL_DTYPE_NONE, &loss));
  GOOD(libdl_backward((const libdl_tensor *const[]){loss}, 1, NULL, 0, NULL, 0, NULL));
  CHECK(libdl_autocast_enabled(LIBDL_DEVICE_CPU));
  grad = libdl_tensor_grad(w);
  CHECK(libdl_tensor_dtype(grad) == LIBDL_DTYPE_FLOAT32 && first_of(grad) == 32);
  switch_off();
  for (libdl_tensor *const *t = (libdl_tensor *const[]){w, x, factor, y, loss, grad, NULL}; *t; ++t)
    libdl_tensor_release(*t);
}

int main(void) {
  switches();
  what_is_left_alone();
  a_weight_that_is_written_to();
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
