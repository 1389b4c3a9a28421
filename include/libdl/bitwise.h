/* SPDX-License-Identifier: Apache-2.0 */

/** Logical and bitwise operators, element by element.
 *
 *  Broadcasting and result dtypes are described in <libdl/pointwise.h>. */
#ifndef LIBDL_BITWISE_H
#define LIBDL_BITWISE_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Whether an element is zero.
 *
 *  input  any
 *  out    new, bool, input's shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: none of its own.
 *  Threads: concurrent-read.
 *  Python: logical_not(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_not(const libdl_tensor *input,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_logical_not into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_not_into(const libdl_tensor *input,
                                                              libdl_tensor *dst);

/** Whether both elements are not zero.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: logical_and(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_and(const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *other,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_logical_and into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_and_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Whether either element is not zero.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: logical_or(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_or(const libdl_tensor *input,
                                                        LIBDL_NUMBER const libdl_tensor *other,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_logical_or into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_or_into(const libdl_tensor *input,
                                                             LIBDL_NUMBER const libdl_tensor *other,
                                                             libdl_tensor *dst);

/** Whether exactly one of the elements is not zero.
 *
 *  input, other  any
 *  out           new, bool, the broadcast shape
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast).
 *  Threads: concurrent-read.
 *  Python: logical_xor(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_xor(const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *other,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_logical_xor into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_logical_xor_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Bitwise complement; bool: logical not.
 *
 *  input  integers or bool
 *  out    new, input's shape and dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: DTYPE (floating or complex).
 *  Threads: concurrent-read.
 *  Python: bitwise_not(input) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_not(const libdl_tensor *input,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_not into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_not_into(const libdl_tensor *input,
                                                              libdl_tensor *dst);

/** Bitwise and.
 *
 *  input, other  integers or bool
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (floating or complex).
 *  Threads: concurrent-read.
 *  Python: bitwise_and(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_and(const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *other,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_and into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_and_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Bitwise or.
 *
 *  input, other  integers or bool
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (floating or complex).
 *  Threads: concurrent-read.
 *  Python: bitwise_or(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_or(const libdl_tensor *input,
                                                        LIBDL_NUMBER const libdl_tensor *other,
                                                        LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_or into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_or_into(const libdl_tensor *input,
                                                             LIBDL_NUMBER const libdl_tensor *other,
                                                             libdl_tensor *dst);

/** Bitwise exclusive or.
 *
 *  input, other  integers or bool
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (floating or complex).
 *  Threads: concurrent-read.
 *  Python: bitwise_xor(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_xor(const libdl_tensor *input,
                                                         LIBDL_NUMBER const libdl_tensor *other,
                                                         LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_xor into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_xor_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Left shift: y = input * 2 ^ other; 0 if other is negative, or the bit width or more.
 *
 *  input, other  integers; bool only beside one, to which it is promoted
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (not integers).
 *  Threads: concurrent-read.
 *  Python: bitwise_left_shift(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_left_shift(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other,
    LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_left_shift into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_left_shift_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

/** Right shift: y = floor(input / 2 ^ other); signed input is filled with its sign bit.
 *
 *  input, other  integers; bool only beside one, to which it is promoted
 *  out           new, the broadcast shape and the promoted dtype
 *
 *  Gradient: none; the result carries no history.
 *  Errors: SHAPE (the operands do not broadcast), DTYPE (not integers).
 *  Threads: concurrent-read.
 *  Python: bitwise_right_shift(input, other) [function, method, inplace]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_right_shift(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other,
    LIBDL_NEW libdl_tensor **out);

/** libdl_bitwise_right_shift into dst. Threads: exclusive. */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_bitwise_right_shift_into(
    const libdl_tensor *input, LIBDL_NUMBER const libdl_tensor *other, libdl_tensor *dst);

LIBDL_END

#endif
