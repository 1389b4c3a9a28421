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

/** Attention of h heads, each of d = e / h features, between projections (Vaswani et al. 2017,
 *  section 3.2.2): y = concat_i(softmax(q_i @ k_i^T / sqrt(d) + mask) @ v_i) @ W^T + b, with q, k
 *  and v projected from query, key and value.
 *
 *  query             floating, [l, n, e], or [l, e] without a batch
 *  key               [s, n, ek], or [s, ek]
 *  value             [s, n, ev], or [s, ev]
 *  num_heads         h, a divisor of e
 *  in_proj_weight    [3 e, e], which projects all three, so that ek and ev are e; NULL: the next
 *                    three do
 *  in_proj_bias      [3 e], added to the projections; NULL: 0
 *  q_proj_weight     [e, e]; NULL beside in_proj_weight
 *  k_proj_weight     [e, ek], likewise
 *  v_proj_weight     [e, ev], likewise
 *  bias_k            [1, 1, e], one more key of every sequence; NULL: none
 *  bias_v            [1, 1, e], its value; NULL as bias_k is
 *  static_k          [n h, s, d], read instead of the projected key; NULL beside bias_k
 *  static_v          [n h, s, d], read instead of the projected value, likewise
 *  add_zero_attn     whether a key and a value of zeros are appended
 *  out_proj_weight   W, [e, e]
 *  out_proj_bias     b, [e]; NULL: 0
 *  key_padding_mask  [n, s], or [s] without a batch: bool, true where a key is left out, or
 *                    floating, added to the scores; NULL: none
 *  attn_mask         [l, s] or [n h, l, s], likewise; NULL: none
 *  dropout_p         the probability with which weights are set to zero, from 0 to 1; the others
 *                    are multiplied by 1 / (1 - dropout_p)
 *  is_causal         row i takes keys 0 to i; with neither mask
 *  generator         the source for dropout; NULL: the device's default
 *  out               new, [l, n, e] or [l, e]
 *
 *  A row without any key gives the bias b alone.
 *  Gradient: any order, forward mode, of all floating arguments.
 *  Errors: SHAPE (shapes do not fit each other), VALUE (num_heads, dropout_p, or arguments that
 *  exclude each other or want each other), DTYPE (query is not floating, a mask has integers, or
 *  dtypes that differ), DEVICE (the generator's differs).
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: multi_head_attention(query, key, value, num_heads, in_proj_weight, in_proj_bias,
 *    q_proj_weight, k_proj_weight, v_proj_weight, bias_k, bias_v, static_k, static_v,
 *    add_zero_attn, out_proj_weight, out_proj_bias, key_padding_mask, attn_mask, dropout_p,
 *    is_causal, generator=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_multi_head_attention(
    const libdl_tensor *query, const libdl_tensor *key, const libdl_tensor *value,
    int64_t num_heads, LIBDL_NULLABLE const libdl_tensor *in_proj_weight,
    LIBDL_NULLABLE const libdl_tensor *in_proj_bias,
    LIBDL_NULLABLE const libdl_tensor *q_proj_weight,
    LIBDL_NULLABLE const libdl_tensor *k_proj_weight,
    LIBDL_NULLABLE const libdl_tensor *v_proj_weight, LIBDL_NULLABLE const libdl_tensor *bias_k,
    LIBDL_NULLABLE const libdl_tensor *bias_v, LIBDL_NULLABLE const libdl_tensor *static_k,
    LIBDL_NULLABLE const libdl_tensor *static_v, libdl_bool add_zero_attn,
    const libdl_tensor *out_proj_weight, LIBDL_NULLABLE const libdl_tensor *out_proj_bias,
    LIBDL_NULLABLE const libdl_tensor *key_padding_mask,
    LIBDL_NULLABLE const libdl_tensor *attn_mask, double dropout_p, libdl_bool is_causal,
    LIBDL_NULLABLE libdl_generator *generator, LIBDL_NEW libdl_tensor **out);

/** libdl_multi_head_attention, and the weights of the values.
 *
 *  query, key, value, num_heads, in_proj_weight, in_proj_bias  as in libdl_multi_head_attention
 *  q_proj_weight, k_proj_weight, v_proj_weight, bias_k, bias_v  likewise
 *  static_k, static_v, add_zero_attn, out_proj_weight, out_proj_bias  likewise
 *  key_padding_mask, attn_mask, dropout_p  likewise
 *  average_attn_weights  whether the weights are the mean over the heads
 *  generator             the source for dropout; NULL: the device's default
 *  out                   new, [l, n, e] or [l, e]
 *  weights               new, after dropout: [n, l, s], or [n, h, l, s] without the mean; without n
 *                        if there is no batch. s counts what is appended
 *
 *  A row without any key gives NaN.
 *  Gradient: any order, forward mode, of all floating arguments.
 *  Errors: as libdl_multi_head_attention.
 *  Threads: concurrent-read.
 *  Kind: composed.
 *  Python: multi_head_attention_with_weights(query, key, value, num_heads, in_proj_weight,
 *    in_proj_bias, q_proj_weight, k_proj_weight, v_proj_weight, bias_k, bias_v, static_k, static_v,
 *    add_zero_attn, out_proj_weight, out_proj_bias, key_padding_mask, attn_mask, dropout_p,
 *    average_attn_weights, generator=None) [functional]
 */
LIBDL_API LIBDL_NODISCARD libdl_error *libdl_multi_head_attention_with_weights(
    const libdl_tensor *query, const libdl_tensor *key, const libdl_tensor *value,
    int64_t num_heads, LIBDL_NULLABLE const libdl_tensor *in_proj_weight,
    LIBDL_NULLABLE const libdl_tensor *in_proj_bias,
    LIBDL_NULLABLE const libdl_tensor *q_proj_weight,
    LIBDL_NULLABLE const libdl_tensor *k_proj_weight,
    LIBDL_NULLABLE const libdl_tensor *v_proj_weight, LIBDL_NULLABLE const libdl_tensor *bias_k,
    LIBDL_NULLABLE const libdl_tensor *bias_v, LIBDL_NULLABLE const libdl_tensor *static_k,
    LIBDL_NULLABLE const libdl_tensor *static_v, libdl_bool add_zero_attn,
    const libdl_tensor *out_proj_weight, LIBDL_NULLABLE const libdl_tensor *out_proj_bias,
    LIBDL_NULLABLE const libdl_tensor *key_padding_mask,
    LIBDL_NULLABLE const libdl_tensor *attn_mask, double dropout_p, libdl_bool average_attn_weights,
    LIBDL_NULLABLE libdl_generator *generator, LIBDL_NEW libdl_tensor **out,
    LIBDL_NEW libdl_tensor **weights);

LIBDL_END

#endif
