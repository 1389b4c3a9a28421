/* SPDX-License-Identifier: Apache-2.0 */

/** Element-wise operators.
 *
 *  Operands broadcast together as in PyTorch: shapes are compared from the last dimension, where
 *  sizes are equal or one of them is 1. The result's dtype is promoted: dimensioned tensors decide
 *  before 0-d ones, and those before host numbers (libdl_number_f64 and its siblings), of which
 *  only the kind counts (bool, integer, floating, complex). The words below mean
 *
 *    floating   float16, bfloat16, float32, float64
 *    complex    complex64, complex128
 *    real       every dtype that is not complex, bool included
 *    any        every dtype
 *    to float   integers and bool are first converted to the default floating dtype
 *
 *  A new result has no gaps in memory, and its dimensions are in the operands' memory order, as in
 *  PyTorch: the first operand whose strides distinguish two dimensions decides their order, and if
 *  none does it is row-major. So x and x transposed take the same time. The results of logsigmoid,
 *  masked_fill, tril, triu and the powers of a number are always row-major.
 *
 *  The rules common to all operators (errors, into forms, threads) are in <libdl/op.h>. */
#ifndef LIBDL_POINTWISE_H
#define LIBDL_POINTWISE_H

#include <libdl/activation.h>
#include <libdl/arithmetic.h>
#include <libdl/bitwise.h>
#include <libdl/comparison.h>
#include <libdl/exponential.h>
#include <libdl/numbers.h>
#include <libdl/rounding.h>

#endif
