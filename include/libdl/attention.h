/* SPDX-License-Identifier: Apache-2.0 */

/** Attention. */
#ifndef LIBDL_ATTENTION_H
#define LIBDL_ATTENTION_H

#include <libdl/abi.h>

LIBDL_BEGIN

/** Scaled dot product attention: y = softmax(scale * query @ key^T + mask) @ value, the softmax
 *  along the keys.
 *
 *  query        floating, [..., l, e]
 *  key          of query's dtype, [..., s, e]; the leading dimensions of all three broadcast
 *  value        of query's dtype, [..., s, v]
 *  attn_mask    broadcasts to [..., l, s]: bool, true where a key takes part, or of query's dtype
 *               or float32, added to the scores; NULL: none. A row without any key gives 0
 *  dropout_p    the probability with which weights are set to zero, from 0 to 1; the others are
 *               multiplied by 1 / (1 - dropout_p)
 *  is_causal    row i takes keys 0 to i; not together with a mask
 *  scale        NULL: 1 / sqrt(e)
 *  enable_gqa   the third dimension from the end is the heads: query has a multiple of those of key
 *               and of value, and neighbouring heads of it share one of theirs
 *  generator    the source for dropout; NULL: the device's default
 *  out          new, [..., l, v], of query's dtype
 *
 *  Gradient: any order, forward mode, also of attn_mask.
 *  Errors: SHAPE (fewer than two dimensions, three with enable_gqa; sizes do not fit), DTYPE (query
 *  is not floating, another's differs), VALUE (dropout_p is not from 0 to 1, is_causal with a
 *  mask), DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Autocast: lower.
 *  Python: scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0,
 *          is_causal=False, *, scale=None, enable_gqa=False, generator=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_scaled_dot_product_attention(
    const libdl_tensor *query, const libdl_tensor *key, const libdl_tensor *value,
    LIBDL_NULLABLE const libdl_tensor *attn_mask, double dropout_p, libdl_bool is_causal,
    LIBDL_NULLABLE const double *scale, libdl_bool enable_gqa,
    LIBDL_NULLABLE libdl_generator *generator, LIBDL_NEW libdl_tensor **out);

LIBDL_END

#endif
