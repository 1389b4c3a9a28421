/* SPDX-License-Identifier: Apache-2.0 */

/** Comparisons, selection, and tests for special values.
 *
 *  Broadcasting and result dtypes are described in <libdl/pointwise.h>. */
#ifndef LIBDL_COMPARISON_H
#define LIBDL_COMPARISON_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** The larger of two elements; NaN if either is NaN.
 *
 *  input, other  real
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; halves where equal.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: maximum(input, other) [function, method]
 *  Python: max(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_maximum(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_maximum into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_maximum_into(const libdl_tensor *input,
                                                          LIBDL_NUMBER const libdl_tensor *other,
                                                          libdl_tensor *dst);

/** The smaller of two elements; NaN if either is NaN.
 *
 *  input, other  real
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; halves where equal.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: minimum(input, other) [function, method]
 *  Python: min(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_minimum(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_minimum into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_minimum_into(const libdl_tensor *input,
                                                          LIBDL_NUMBER const libdl_tensor *other,
                                                          libdl_tensor *dst);

/** The larger of two elements; if one of them is NaN, the other.
 *
 *  input, other  real
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; halves where equal.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: fmax(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fmax(const libdl_tensor *input,
                                                  LIBDL_NUMBER const libdl_tensor *other,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_fmax into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fmax_into(const libdl_tensor *input,
                                                       LIBDL_NUMBER const libdl_tensor *other,
                                                       libdl_tensor *dst);

/** The smaller of two elements; if one of them is NaN, the other.
 *
 *  input, other  real
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; halves where equal.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: fmin(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fmin(const libdl_tensor *input,
                                                  LIBDL_NUMBER const libdl_tensor *other,
                                                  LIBDL_NEW libdl_tensor **out);

/** libdl_fmin into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_fmin_into(const libdl_tensor *input,
                                                       LIBDL_NUMBER const libdl_tensor *other,
                                                       libdl_tensor *dst);

/** Limits elements to bounds: y = min(max(input, min), max); max where min > max. NaN stays NaN.
 *
 *  input  real, not bool
 *  min    lower bound: tensor or number, broadcast, or NULL: none
 *  max    upper bound, likewise; one of the two must be given
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; with bounds that are numbers, input's flows only strictly
 *  between them; a bound that is a tensor shares it with input where both are equal.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (bool or complex), VALUE (both bounds are
 *  NULL), OVERFLOW (a bound outside the dtype's range that limits every element).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: clamp(input, min=None, max=None) [function, method, inplace]
 *  Python: clip(input, min=None, max=None) [function, method, inplace]
 *  Python: clamp_min(input, min) [function, method, inplace]
 *  Python: clamp_max(input, max) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clamp(
    const libdl_tensor *input, LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *min,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *max, LIBDL_NEW libdl_tensor **out);

/** libdl_clamp into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_clamp_into(
    const libdl_tensor *input, LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *min,
    LIBDL_NULLABLE LIBDL_NUMBER const libdl_tensor *max, libdl_tensor *dst);

/** Selects between two operands by element: y = condition ? input : other.
 *
 *  condition     bool, or uint8 whose nonzero elements are true
 *  input, other  any
 *  out           new, the shape to which all three broadcast, the dtype of input and other promoted
 *
 *  Gradient: any order, forward mode.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (condition is neither bool nor uint8).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: where(condition, input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_where(const libdl_tensor *condition,
                                                   LIBDL_NUMBER const libdl_tensor *input,
                                                   LIBDL_NUMBER const libdl_tensor *other,
                                                   LIBDL_NEW libdl_tensor **out);

/** libdl_where into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_where_into(const libdl_tensor *condition,
                                                        LIBDL_NUMBER const libdl_tensor *input,
                                                        LIBDL_NUMBER const libdl_tensor *other,
                                                        libdl_tensor *dst);

/** Whether an element is NaN.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: isnan(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isnan(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** Whether an element's sign is minus: also that of -0 and of a NaN.
 *
 *  input  real
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DTYPE (complex).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: signbit(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_signbit(const libdl_tensor *input,
                                                     LIBDL_NEW libdl_tensor **out);

/** libdl_signbit into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_signbit_into(const libdl_tensor *input,
                                                          libdl_tensor *dst);

/** The step function: 0 below 0 and at NaN, 1 above 0, and `values` at 0.
 *
 *  input   real
 *  values  real; promoted and broadcast with input
 *  out     new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; input's is 0, that of values counts where input is 0.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: heaviside(input, values) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_heaviside(const libdl_tensor *input,
                                                       LIBDL_NUMBER const libdl_tensor *values,
                                                       LIBDL_NEW libdl_tensor **out);

/** libdl_heaviside into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_heaviside_into(const libdl_tensor *input,
                                                            LIBDL_NUMBER const libdl_tensor *values,
                                                            libdl_tensor *dst);

/** The size of input with the sign of other, which may be that of -0 or of a NaN.
 *
 *  input  real; to float
 *  other  likewise; promoted and broadcast with input
 *  out    new, the broadcast shape and the promoted dtype
 *
 *  Gradient: any order, forward mode; that of other is 0, and input's is 0 at 0.
 *  Errors: SHAPE (shapes do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: copysign(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_copysign(const libdl_tensor *input,
                                                      LIBDL_NUMBER const libdl_tensor *other,
                                                      LIBDL_NEW libdl_tensor **out);

/** libdl_copysign into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_copysign_into(const libdl_tensor *input,
                                                           LIBDL_NUMBER const libdl_tensor *other,
                                                           libdl_tensor *dst);

/** Whether an element is infinite; complex: whether either part is.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: isinf(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isinf(const libdl_tensor *input,
                                                   LIBDL_NEW libdl_tensor **out);

/** Whether an element is neither infinite nor NaN; complex: both parts.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: isfinite(input) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isfinite(const libdl_tensor *input,
                                                      LIBDL_NEW libdl_tensor **out);

/** Whether elements are close: |input - other| <= atol + rtol * |other|.
 *
 *  input, other  any, of one dtype, broadcast together
 *  rtol          relative tolerance, >= 0; usually 1e-5
 *  atol          absolute tolerance, >= 0; usually 1e-8
 *  equal_nan     whether NaN equals NaN
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (differing dtypes), VALUE (a negative
 *  tolerance).
 *  Threads: concurrent-read.
 *  Kind: elementwise.
 *  Python: isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_isclose(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     double rtol, double atol, libdl_bool equal_nan,
                                                     LIBDL_NEW libdl_tensor **out);

/** Whether input equals other, by element, compared in the promoted dtype.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: eq(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_eq(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_eq into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_eq_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input differs from other, by element, compared in the promoted dtype.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: ne(input, other) [function, method, inplace]
 *  Python: not_equal(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ne(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_ne into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ne_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input is less than other, by element, compared in the promoted dtype.
 *
 *  input, other  real
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: lt(input, other) [function, method, inplace]
 *  Python: less(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lt(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_lt into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_lt_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input is at most other, by element, compared in the promoted dtype.
 *
 *  input, other  real
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: le(input, other) [function, method, inplace]
 *  Python: less_equal(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_le(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_le into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_le_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input is greater than other, by element, compared in the promoted dtype.
 *
 *  input, other  real
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: gt(input, other) [function, method, inplace]
 *  Python: greater(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gt(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_gt into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_gt_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether input is at least other, by element, compared in the promoted dtype.
 *
 *  input, other  real
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (complex).
 *  Threads: concurrent-read.
 *  Python: ge(input, other) [function, method, inplace]
 *  Python: greater_equal(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ge(const libdl_tensor *input,
                                                LIBDL_NUMBER const libdl_tensor *other,
                                                LIBDL_NEW libdl_tensor **out);

/** libdl_ge into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_ge_into(const libdl_tensor *input,
                                                     LIBDL_NUMBER const libdl_tensor *other,
                                                     libdl_tensor *dst);

/** Whether two tensors have the same shape and equal elements; NaN equals nothing.
 *
 *  input, other  on one device; elements are compared in the promoted dtype
 *  out           0 or 1
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: equal(input, other) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_equal(const libdl_tensor *input,
                                                   const libdl_tensor *other, libdl_bool *out);

/** Whether all elements are close: |input - other| <= atol + rtol * |other|.
 *
 *  input, other  any, of one dtype, broadcast together
 *  rtol          relative tolerance, >= 0; usually 1e-5
 *  atol          absolute tolerance, >= 0; usually 1e-8
 *  equal_nan     whether NaN equals NaN
 *  out           0 or 1
 *
 *  Gradient: none; the result is no tensor.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (differing dtypes), VALUE (a negative
 *  tolerance).
 *  Threads: concurrent-read.
 *  Python: allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False) [function, method]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_allclose(const libdl_tensor *input,
                                                      const libdl_tensor *other, double rtol,
                                                      double atol, libdl_bool equal_nan,
                                                      libdl_bool *out);

LIBDL_END

#endif
