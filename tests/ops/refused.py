# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch 2.15 refuses to go back once a value was overwritten: the operator's case, and the
result or the number of the operand."""

# By what is saved for backward.
_SAVED = {
    (0,): """
        abs acos acosh angle asin asinh atan atanh celu clamp cos cosh digamma elu erf erfc
        gather gelu gelu_tanh glu hardshrink hardsigmoid hardswish hardtanh i0 igamma
        igammac instance_norm layer_norm leaky_relu lgamma local_response_norm log log10
        log1p log2 logit logsigmoid lp_pool1d lp_pool2d lp_pool3d lstm lstm_packed
        masked_select mish mvlgamma nan_to_num nll_loss normalize polygamma relu6 renorm
        rrelu selu silu sin sinc sinh softplus softshrink softsign square take_along_dim var
        var_mean
    """,
    (0, 1): """
        atan2 batch_norm bilinear binary_cross_entropy binary_cross_entropy_with_logits bmm
        complex conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
        conv_transpose3d cosine_embedding_loss cosine_similarity div dot einsum fmax fmin
        fmod grid_sample_bicubic grid_sample_bilinear grid_sample_nearest group_norm gru
        gru_packed huber_loss inner kl_div linalg_multi_dot linalg_vecdot linear logaddexp
        logaddexp2 matmul maximum minimum mm mse_loss mul multilabel_soft_margin_loss mv
        nextafter outer poisson_nll_loss prelu remainder rms_norm rnn_relu rnn_relu_packed
        rnn_tanh rnn_tanh_packed smooth_l1_loss soft_margin_loss tensordot vdot xlog1py
        xlogy
    """,
    ("result", 0): """
        amax amin aminmax copysign cumprod erfcx i0e i1 i1e linalg_matrix_norm
        linalg_vector_norm log_ndtr logcumsumexp logsumexp max_of_all min_of_all norm pdist
        prod sgn std std_mean
    """,
    ("result",): """
        exp exp2 expm1 log_softmax ndtri pairwise_distance reciprocal relu rsqrt sigmoid
        softmax sqrt tan tanh
    """,
    (1, 2): """
        addbmm addbmm_whole addcdiv addcmul addcmul_scaled addmm addmm_whole addmv
        addmv_whole addr addr_whole baddbmm baddbmm_whole
    """,
    ("result", 0, 1): "cdist dist float_power hypot pow",
    (0, 1, 2): "lerp lstm_cell positive_weight",
    (1,): "index_add index_copy index_reduce",
    ("result", 0, 1, 2, 3): "rnn_relu_cell rnn_tanh_cell",
    ("result", 0, 1, 2): "scaled_dot_product_attention",
    ("result", 1): "ldexp",
    (0, 1, 2, 3): "gru_cell",
}
# PyTorch's l1_loss saves the difference, of another pass over the data, and its ndtr a quotient;
# its erfinv computes the result again, its polar takes the result for what it is composed of. It
# has no derivative of heaviside. Its kron goes back with what was overwritten.
_OWN = {
    (0, 1): "kron l1_loss linear_cross_entropy polar",
    (0,): "heaviside ndtr threshold",
    ("result", 0): "erfinv norm_except_dim",
    ("result", 0, 1, 2, 3, 5): "multi_head_attention_with_weights",
    ("result",): "softmin",
    (0, 1, 2, 3, 5): "multi_head_attention",
}
REFUSED = {
    (name, target)
    for table in (_SAVED, _OWN)
    for targets, names in table.items()
    for name in names.split()
    for target in targets
}
