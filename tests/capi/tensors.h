/* SPDX-License-Identifier: Apache-2.0 */

/* Tensors that these programs make, and what they read of them. */
#ifndef TENSORS_H
#define TENSORS_H

#include "check.h"

static inline libdl_tensor *number(double value) {
  libdl_tensor *made;
  GOOD(libdl_number_f64(value, &made));
  return made;
}

/* float64, [size] */
static inline libdl_tensor *filled(double value, int64_t size) {
  libdl_tensor *made, *fill = number(value);
  GOOD(libdl_full(&size, 1, fill, LIBDL_DTYPE_FLOAT64, NULL, &made));
  libdl_tensor_release(fill);
  return made;
}

/* The sum of all elements. */
static inline double total(const libdl_tensor *x) {
  libdl_tensor *sum;
  double value;
  GOOD(libdl_sum(x, NULL, 0, 0, LIBDL_DTYPE_NONE, &sum));
  GOOD(libdl_item_f64(sum, &value));
  libdl_tensor_release(sum);
  return value;
}

#endif
