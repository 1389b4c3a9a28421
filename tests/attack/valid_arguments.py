# SPDX-License-Identifier: Apache-2.0
"""Arguments that a call succeeds with, as words that values.cc reads.

t:f64:2,3 is a tensor of that dtype and shape whose elements are 0, 1, 0, 1, ...; '#' and a name
make it another one, '!' a fresh one each time; sparse:f64:2,3 is a sparse matrix; n:0.5, ni:1 and
nc:1 are host numbers.
"""

from __future__ import annotations

from operators import Argument, Operator

DESTINATION = "t:f64:2,3"

_SUMS = {"lstm": 8, "gru": 6, "rnn_tanh": 2, "rnn_relu": 2}  # of a recurrent layer with 2 features

# By operator, then by argument. A list of integers or tensors is one word; its count follows.
_MEANT = {
    "one_hot": {"num_classes": "i:2"},
    "mvlgamma": {"p": "i:2"},
    "empty_strided": {"strides": "ints:3,1"},
    "arange": {"start": "n:0", "end": "n:6", "step": "n:1"},
    "linspace": {"start": "n:0", "end": "n:1", "steps": "i:6"},
    "eye": {"n": "i:2", "m": "ip:3"},
    "randint": {"low": "ip:0", "high": "i:9"},
    "randint_like": {"low": "ip:0", "high": "i:9"},
    "randperm": {"n": "i:6"},
    "bernoulli": {"p": "fp:0.5"},
    "uniform": {"low": "f:0", "high": "f:1"},
    "normal": {"mean": "f:0", "std": "f:1"},
    "div": {"rounding_mode": "s:floor"},
    "gelu": {"approximate": "s:tanh"},
    "round": {"decimals": "i:2"},
    "clamp": {"min": "t:f64:2,3#min", "max": "t:f64:2,3#max"},
    "isclose": {"rtol": "f:0.1", "atol": "f:0.1"},
    "allclose": {"rtol": "f:0.1", "atol": "f:0.1"},
    "prod": {"dim": "ip:1"},
    "argmax": {"dim": "ip:1"},
    "argmin": {"dim": "ip:1"},
    "norm": {"p": "n:2"},
    "var": {"correction": "n:1"},
    "std": {"correction": "n:1"},
    "view": {"shape": "ints:3,2"},
    "reshape": {"shape": "ints:3,2"},
    "view_dtype": {"dtype": "i:9"},
    "transpose": {"dim0": "i:0", "dim1": "i:1"},
    "permute": {"dims": "ints:1,0"},
    "movedim": {"source": "ints:0", "destination": "ints:1"},
    "squeeze": {"input": "t:f64:1,3"},
    "expand": {"input": "t:f64:1,3", "shape": "ints:2,3"},
    "select": {"index": "i:1"},
    "narrow": {"dim": "i:1", "start": "i:1", "length": "i:1"},
    "slice": {"dim": "i:1", "start": "ip:0", "end": "ip:2", "step": "i:1"},
    "diagonal": {"offset": "i:0", "dim1": "i:0", "dim2": "i:1"},
    "unfold": {"dimension": "i:1", "size": "i:2", "step": "i:1"},
    "flatten": {"start_dim": "i:0", "end_dim": "i:1"},
    "unflatten": {"dim": "i:1", "sizes": "ints:3,1"},
    "as_strided": {"shape": "ints:2,2", "stride": "ints:1,1", "storage_offset": "ip:0"},
    "view_as_real": {"input": "t:c128:2,3"},
    "view_as_complex": {"input": "t:f64:3,2"},
    "imag": {"input": "t:c128:2,3"},
    "split": {"split_size": "i:2", "dim": "i:1"},
    "split_with_sizes": {"split_sizes": "ints:1,2", "dim": "i:1"},
    "chunk": {"chunks": "i:2", "dim": "i:1"},
    "threshold": {"threshold": "n:0.5", "value": "n:2"},
    "gumbel_softmax": {"tau": "n:0.5", "hard": "i:1", "dim": "i:1"},
    "norm_except_dim": {"pow": "f:2"},
    "embedding_renorm": {"indices": "t:i64:2", "max_norm": "f:0.5", "norm_type": "f:2"},
    "grouped_mm": {
        "mat_a": "t:f32:2,3",
        "mat_b": "t:f32:1,3,2",
        "offs": "t:i32:1",
        "bias": "null",
    },
    "linear_cross_entropy": {
        "linear_weight": "t:f64:2,3#weight",
        "target": "t:i64:2",
        "linear_bias": "t:f64:2#bias",
        "weight": "t:f64:2#factors",
        "reduction": "s:sum",
        "ignore_index": "ip:1",
    },
    "conv_tbc": {
        "input": "t:f64:3,1,2",
        "weight": "t:f64:2,2,1",
        "bias": "t:f64:1",
        "pad": "i:1",
    },
    **dict.fromkeys(
        ("multi_head_attention", "multi_head_attention_with_weights"),
        {
            **dict.fromkeys(("query", "key", "value"), "t:f64:2,1,2"),
            "num_heads": "i:1",
            "in_proj_weight": "t:f64:6,2",
            "in_proj_bias": "t:f64:6",
            **{f"{name}_proj_weight": "null" for name in "qkv"},
            **{f"bias_{name}": f"t:f64:1,1,2#{name}" for name in "kv"},
            **{f"static_{name}": "null" for name in "kv"},
            "add_zero_attn": "i:1",
            "out_proj_weight": "t:f64:2,2",
            "out_proj_bias": "t:f64:2",
            "key_padding_mask": "t:f64:1,2#padding",
            "attn_mask": "t:f64:2,2#mask",
            "dropout_p": "f:0",
        },
    ),
    "view_copy": {"shape": "ints:3,2"},
    "view_dtype_copy": {"dtype": "i:9"},
    "transpose_copy": {"dim0": "i:0", "dim1": "i:1"},
    "permute_copy": {"dims": "ints:1,0"},
    "squeeze_copy": {"input": "t:f64:1,3"},
    "expand_copy": {"input": "t:f64:1,3", "shape": "ints:2,3"},
    "select_copy": {"index": "i:1"},
    "narrow_copy": {"dim": "i:1", "start": "i:1", "length": "i:1"},
    "slice_copy": {"dim": "i:1", "start": "ip:0", "end": "ip:2", "step": "i:1"},
    "diagonal_copy": {"offset": "i:0", "dim1": "i:0", "dim2": "i:1"},
    "unfold_copy": {"dimension": "i:1", "size": "i:2", "step": "i:1"},
    "as_strided_copy": {"shape": "ints:2,2", "stride": "ints:1,1", "storage_offset": "ip:0"},
    "view_as_real_copy": {"input": "t:c128:2,3"},
    "view_as_complex_copy": {"input": "t:f64:3,2"},
    "split_copy": {"split_size": "i:2", "dim": "i:1"},
    "split_with_sizes_copy": {"split_sizes": "ints:1,2", "dim": "i:1"},
    "cat": {"tensors": "list:t:f64:2,3#a|t:f64:2,3#b"},
    "diag_embed": {"offset": "i:1", "dim1": "i:0", "dim2": "i:2"},
    "diagflat": {"offset": "i:1"},
    "tile": {"dims": "ints:2,1"},
    "rot90": {"k": "i:1", "dims": "ints:0,1"},
    **dict.fromkeys(
        ("hstack", "vstack", "dstack", "column_stack", "block_diag", "broadcast_tensors"),
        {"tensors": "list:t:f64:2,3#a|t:f64:2,3#b"},
    ),
    "meshgrid": {"tensors": "list:t:f64:2#a|t:f64:3#b", "indexing": "s:xy"},
    "cartesian_prod": {"tensors": "list:t:f64:2#a|t:f64:3#b"},
    "combinations": {"input": "t:f64:3", "r": "i:2"},
    "sum_to_size": {"shape": "ints:1,3"},
    "tensor_split": {"sections": "i:2", "dim": "i:1"},
    "tensor_split_indices": {"indices": "ints:1,2", "dim": "i:1"},
    "hsplit": {"sections": "i:3"},
    "hsplit_indices": {"indices": "ints:1,2"},
    "vsplit": {"sections": "i:2"},
    "vsplit_indices": {"indices": "ints:1"},
    "dsplit": {"input": "t:f64:2,3,2", "sections": "i:2"},
    "dsplit_indices": {"input": "t:f64:2,3,2", "indices": "ints:1"},
    "select_scatter": {"src": "t:f64:3", "dim": "i:0", "index": "i:1"},
    "slice_scatter": {
        "src": "t:f64:2,2#src",
        "dim": "i:1",
        "start": "ip:0",
        "end": "ip:2",
        "step": "i:1",
    },
    "diagonal_scatter": {"src": "t:f64:2", "offset": "i:1", "dim1": "i:0", "dim2": "i:1"},
    "as_strided_scatter": {
        "src": "t:f64:2",
        "size": "ints:2",
        "stride": "ints:1",
        "storage_offset": "ip:0",
    },
    "nonzero_static": {"size": "i:2"},
    "vander": {"x": "t:f64:3", "n": "ip:2", "increasing": "i:1"},
    "linalg_vander": {"n": "ip:3"},
    "range": {"start": "n:0", "end": "n:5", "step": "n:1"},
    "logspace": {"start": "n:0", "end": "n:1", "steps": "i:6", "base": "f:10"},
    **dict.fromkeys(("tril_indices", "triu_indices"), {"row": "i:2", "col": "i:3"}),
    **dict.fromkeys(
        ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"),
        {"window_length": "i:6", "periodic": "i:1", "dtype": "i:12"},
    ),
    "stack": {"tensors": "list:t:f64:2,3#a|t:f64:2,3#b"},
    "repeat": {"repeats": "ints:2,1"},
    "repeat_interleave": {"repeats": "i:2", "dim": "ip:0"},
    "roll": {"shifts": "ints:1"},
    "to": {"dtype": "i:12", "device": "dev:1,0"},
    "item_bool": {"input": "t:f64:1"},
    "item_i64": {"input": "t:i64:1"},
    "item_u64": {"input": "t:i64:1"},
    "item_f64": {"input": "t:f64:1"},
    "item_c128": {"input": "t:f64:1"},
    "matmul": {"other": "t:f64:3,4"},
    "mm": {"mat2": "t:f64:3,4"},
    "bmm": {"input": "t:f64:2,2,3", "mat2": "t:f64:2,3,4"},
    "mv": {"vec": "t:f64:3"},
    "dot": {"input": "t:f64:3", "tensor": "t:f64:3#tensor"},
    "addmm": {"input": "t:f64:2,4", "mat1": "t:f64:2,3", "mat2": "t:f64:3,4"},
    "outer": {"input": "t:f64:2", "vec2": "t:f64:3"},
    "vdot": {"input": "t:f64:3", "other": "t:f64:3#other"},
    "addmv": {"input": "t:f64:2", "mat": "t:f64:2,3", "vec": "t:f64:3"},
    "addr": {"vec1": "t:f64:2", "vec2": "t:f64:3"},
    "baddbmm": {"input": "t:f64:2,2,4", "batch1": "t:f64:2,2,3", "batch2": "t:f64:2,3,4"},
    "addbmm": {"input": "t:f64:2,4", "batch1": "t:f64:2,2,3", "batch2": "t:f64:2,3,4"},
    "tensordot": {"dims_a": "ints:1", "dims_b": "ints:1"},
    "cross": {"dim": "ip:1"},
    "linalg_cross": {"dim": "i:1"},
    "linalg_multi_dot": {"tensors": "list:t:f64:2,3|t:f64:3,4|t:f64:4,2"},
    "linalg_matrix_power": {"input": "t:f64:3,3", "n": "i:2"},
    "linalg_vector_norm": {"ord": "f:2"},
    "linalg_matrix_norm": {"ord": "fp:1", "dims": "ints:0,1"},
    "renorm": {"p": "f:2", "maxnorm": "f:1"},
    "diff": {"n": "i:1", "dim": "i:1", "prepend": "t:f64:2,1", "append": "t:f64:2,2"},
    **dict.fromkeys(("trapezoid", "cumulative_trapezoid"), {"x": "t:f64:3", "dim": "i:1"}),
    "gradient": {"spacing": "list:t:f64:3", "dims": "ints:1", "edge_order": "i:1"},
    "scatter_reduce": {"index": "t:i64:2,3", "src": "t:f64:2,3#src", "reduce": "s:amax"},
    "index_reduce": {"index": "t:i64:2", "source": "t:f64:2,3#source", "reduce": "s:prod"},
    "index": {"indices": "list:t:i64:2"},
    "index_put": {"indices": "list:t:i64:2", "values": "t:f64:3"},
    "take_along_dim": {"indices": "t:i64:2,3", "dim": "ip:0"},
    "scatter": {"src": "t:f64:2,3#src", "reduce": "s:add"},
    "index_select": {"index": "t:i64:2"},
    "index_add": {"index": "t:i64:2"},
    "index_copy": {"index": "t:i64:2"},
    "index_fill": {"index": "t:i64:2"},
    "topk": {"k": "i:1", "dim": "i:1"},
    "kthvalue": {"k": "i:1", "dim": "i:1"},
    "searchsorted": {
        "sorted_sequence": "t:f64:3",
        "right": "i:1",
        "side": "s:right",
        "sorter": "t:i64:3",
    },
    "bucketize": {"boundaries": "t:f64:3", "right": "i:1"},
    "linear": {"weight": "t:f64:4,3", "bias": "t:f64:4"},
    "nll_loss": {
        "target": "t:i64:2",
        "weight": "t:f64:3",
        "ignore_index": "i:-100",
        "reduction": "s:mean",
    },
    "cross_entropy": {
        "target": "t:i64:2",
        "weight": "t:f64:3",
        "ignore_index": "i:-100",
        "reduction": "s:mean",
        "label_smoothing": "f:0.1",
    },
    "mse_loss": {"reduction": "s:mean"},
    **dict.fromkeys(
        (
            "l1_loss",
            "smooth_l1_loss",
            "huber_loss",
            "binary_cross_entropy",
            "binary_cross_entropy_with_logits",
            "kl_div",
            "poisson_nll_loss",
            "gaussian_nll_loss",
            "hinge_embedding_loss",
            "margin_ranking_loss",
            "soft_margin_loss",
            "multilabel_soft_margin_loss",
            "triplet_margin_loss",
        ),
        {"reduction": "s:mean"},
    ),
    # Those whose numbers are probabilities or positive have names with which they are.
    "binary_cross_entropy": {
        "input": "t:f64:2#e",
        "target": "t:f64:2#h",
        "weight": "t:f64:2#w",
        "reduction": "s:mean",
    },
    "gaussian_nll_loss": {"reduction": "s:mean", "var": "t:f64:2#e"},
    "cosine_embedding_loss": {"target": "t:f64:2", "reduction": "s:mean"},
    "multi_margin_loss": {
        "target": "t:i64:2",
        "p": "i:1",
        "weight": "t:f64:3",
        "reduction": "s:mean",
    },
    "multilabel_margin_loss": {"target": "t:i64:2,3", "reduction": "s:mean"},
    "ctc_loss": {
        "log_probs": "t:f64:3,2,4",
        "targets": "t:i64:2,2",
        "input_lengths": "t:i64:2#in",
        "target_lengths": "t:i64:2#target",
        "blank": "i:2",
        "reduction": "s:mean",
    },
    "glu": {"input": "t:f64:2,4", "dim": "i:1"},
    "prelu": {"weight": "t:f64:3"},
    "rrelu": {"lower": "f:0.1", "upper": "f:0.5", "training": "i:1"},
    "hardtanh": {"min_val": "f:0", "max_val": "f:1"},
    **dict.fromkeys(
        ("feature_dropout", "alpha_dropout", "feature_alpha_dropout"),
        {"p": "f:0.5", "training": "i:1"},
    ),
    **dict.fromkeys(("pdist", "cdist"), {"p": "f:2"}),
    # The names of the numbers as above: they are from 0 to 1.
    "multinomial": {"input": "t:f64:2#e", "num_samples": "i:2", "replacement": "i:1"},
    "poisson": {"input": "t:f64:2#e"},
    "standard_gamma": {"input": "t:f64:2#h"},
    "standard_log_gamma": {"input": "t:f64:2#h"},
    "binomial": {"count": "t:f64:2#e", "prob": "t:f64:2#h"},
    **dict.fromkeys(("igamma", "igammac"), {"input": "t:f64:2#e", "other": "t:f64:2#h"}),
    "polygamma": {"n": "i:1"},
    "einsum": {"equation": "s:ij,kj->ik", "tensors": "list:t:f64:2,3#a|t:f64:2,3#b"},
    "pairwise_distance": {"p": "f:2"},
    "bilinear": {
        "input1": "t:f64:2,3",
        "input2": "t:f64:2,4",
        "weight": "t:f64:5,3,4",
        "bias": "t:f64:5",
    },
    "local_response_norm": {"input": "t:f64:2,3,4", "size": "i:2"},
    "scaled_dot_product_attention": {
        "query": "t:f64:2,3",
        "key": "t:f64:4,3",
        "value": "t:f64:4,2",
        "attn_mask": "t:f64:2,4",
        "dropout_p": "f:0.5",
        "is_causal": "i:0",
        "scale": "fp:0.5",
        "enable_gqa": "i:0",
    },
    "layer_norm": {
        "normalized_shape": "ints:3",
        "weight": "t:f64:3#w",
        "bias": "t:f64:3#b",
        "eps": "f:0.1",
    },
    **dict.fromkeys(
        ("batch_norm", "instance_norm"),
        {
            "input": "t:f64:2,3,4",
            "running_mean": "!t:f64:3#mean",
            "running_var": "!t:f64:3#var",
            "weight": "t:f64:3#w",
            "bias": "t:f64:3#b",
            "training": "i:1",
            "use_input_stats": "i:1",
        },
    ),
    "group_norm": {
        "input": "t:f64:2,4,3",
        "num_groups": "i:1",
        "weight": "t:f64:4#w",
        "bias": "t:f64:4#b",
    },
    "rms_norm": {"normalized_shape": "ints:3", "weight": "t:f64:3#w", "eps": "fp:0.1"},
    **dict.fromkeys(
        ("max_pool2d", "max_pool2d_with_indices"),
        {
            "input": "t:f64:2,3,4",
            "kernel_size": "ints:2",
            "stride": "ints:1",
            "padding": "ints:1",
            "dilation": "ints:1",
        },
    ),
    **{
        name: {
            "input": "t:f64:1,2," + ",".join("4" * n),
            "kernel_size": "ints:2",
            "stride": "ints:1",
            "padding": "ints:1",
            "dilation": "ints:1",
            "output_size": "ints:2",
            "norm_type": "f:2",
        }
        for n in (1, 2, 3)
        for name in (
            f"max_pool{n}d",
            f"max_pool{n}d_with_indices",
            f"avg_pool{n}d",
            f"lp_pool{n}d",
            f"adaptive_avg_pool{n}d",
            f"adaptive_max_pool{n}d",
        )
        if name[:10] != "max_pool2d"
    },
    **{
        f"max_unpool{n}d": {
            "input": "t:f64:1,2," + ",".join("1" * n),
            "indices": "t:i64:1,2," + ",".join("1" * n),
            "kernel_size": "ints:4",
            "stride": "ints:1",
            "padding": "ints:0",
            "output_size": "ints:" + ",".join("4" * n),
        }
        for n in (1, 2, 3)
    },
    **{
        f"fractional_max_pool{n}d": {
            "input": "t:f64:1,2," + ",".join("4" * n),
            "kernel_size": "ints:2",
            "output_size": "ints:2",
            "random_samples": f"t:f64:1,2,{n}",
        }
        for n in (2, 3)
    },
    **{
        f"conv{n}d": {
            "input": "t:f64:1,2," + ",".join("4" * n),
            "weight": "t:f64:4,2," + ",".join("2" * n),
            "bias": "t:f64:4#b",
            "stride": "ints:1",
            "padding": "ints:1",
            "dilation": "ints:1",
            "groups": "i:1",
        }
        for n in (1, 2, 3)
    },
    **{
        f"conv_transpose{n}d": {
            "input": "t:f64:1,2," + ",".join("3" * n),
            "weight": "t:f64:2,4," + ",".join("2" * n),
            "bias": "t:f64:4#b",
            "stride": "ints:2",
            "padding": "ints:1",
            "output_padding": "ints:1",
            "dilation": "ints:1",
            "groups": "i:1",
        }
        for n in (1, 2, 3)
    },
    **{
        f"{name}{form}": {
            "input": "t:f64:2,1,3",
            "data": "t:f64:2,3",
            "batch_sizes": "ints:1,1",
            "hx": "list:t:f64:1,1,2#h|t:f64:1,1,2#c" if name == "lstm" else "t:f64:1,1,2#h",
            "params": f"list:t:f64:{sums},3#w|t:f64:{sums},2#v|t:f64:{sums}#a|t:f64:{sums}#b",
            "has_biases": "i:1",
            "num_layers": "i:1",
            "dropout": "f:0",
            "train": "i:0",
            "bidirectional": "i:0",
            "batch_first": "i:0",
        }
        for name, sums in _SUMS.items()
        for form in ("", "_packed")
    },
    **{
        f"{name}_cell": {
            "input": "t:f64:2,3",
            "w_ih": f"t:f64:{sums},3#w",
            "w_hh": f"t:f64:{sums},2#v",
            "hx": "list:t:f64:2,2#h|t:f64:2,2#c" if name == "lstm" else "t:f64:2,2#h",
            "b_ih": f"t:f64:{sums}#a",
            "b_hh": f"t:f64:{sums}#b",
        }
        for name, sums in _SUMS.items()
    },
    "pad": {"pad": "ints:1,1", "mode": "s:constant", "value": "fp:0.5"},
    "pixel_shuffle": {"input": "t:f64:4,2,3", "upscale_factor": "i:2"},
    "pixel_unshuffle": {"input": "t:f64:1,2,4", "downscale_factor": "i:2"},
    "channel_shuffle": {"input": "t:f64:1,4,2", "groups": "i:2"},
    "im2col": {
        "input": "t:f64:1,2,4,4",
        "kernel_size": "ints:2",
        "dilation": "ints:1",
        "padding": "ints:1",
        "stride": "ints:1",
    },
    "col2im": {
        "input": "t:f64:1,8,1",
        "output_size": "ints:2",
        "kernel_size": "ints:2",
        "dilation": "ints:1",
        "padding": "ints:0",
        "stride": "ints:1",
    },
    "interpolate": {
        "input": "t:f64:1,2,4,4",
        "size": "ints:3",
        "scale_factor_d": "null",
        "scale_factor_h": "null",
        "scale_factor_w": "null",
        "mode": "s:bilinear",
    },
    "affine_grid": {"theta": "t:f64:1,2,3", "size": "ints:1,1,2,2"},
    "grid_sample": {
        "input": "t:f64:1,2,4,4",
        "grid": "t:f64:1,2,2,2#grid",
        "mode": "s:bilinear",
        "padding_mode": "s:zeros",
    },
    "dropout": {"p": "f:0.5", "training": "i:1"},
    "embedding": {"input": "t:i64:2", "weight": "t:f64:2,3", "padding_idx": "ip:0"},
    "embedding_bag": {
        "input": "t:i64:3",
        "weight": "t:f64:2,3",
        "offsets": "t:i64:2#offsets",
        "mode": "s:sum",
        "per_sample_weights": "t:f64:3#w",
        "padding_idx": "ip:0",
    },
    "sparse_rows": {"input": "sparse:f64:2,3"},
    **dict.fromkeys(("var_mean", "std_mean"), {"correction": "n:1"}),
    **dict.fromkeys(("quantile", "nanquantile"), {"interpolation": "s:linear"}),
    "bincount": {"input": "t:i64:3", "weights": "t:f64:3", "minlength": "i:4"},
    "histc": {"bins": "i:3", "min": "f:0", "max": "f:1"},
    "histogram": {"bins": "i:3", "low": "fp:0", "high": "fp:1"},
    "histogram_with_edges": {"bins": "t:f64:2"},
    "histogramdd": {"bins": "list:t:f64:2#a|t:f64:2#b|t:f64:2#c", "weight": "t:f64:2"},
    "isin": {"elements": "t:f64:2,3#elements", "test_elements": "t:f64:2,3#tests"},
    "take": {"index": "t:i64:2"},
    "unravel_index": {"indices": "t:i64:2,3"},
    "cov": {"correction": "i:0", "fweights": "t:i64:3", "aweights": "t:f64:3"},
    "dist": {"p": "f:2"},
    "sparse_from_rows": {"indices": "t:i64:3", "values": "t:f64:3,2", "rows": "i:4"},
}

_BY_KIND = {
    "int": "i:0",
    "float": "f:0.5",
    "dim": "i:0",
    "bool": "i:0",
    "dtype": "i:0",
    "device": "dev:1,0",
    "generator": "gen",
}
_BY_NAME = {"shape": "ints:2,3", "dims": "ints:0"}


def dtype_of(told: str) -> str:
    """The dtype that a description asks for."""
    told = told.removeprefix("x: ")
    if told.startswith("int"):
        return "i64"
    if told.startswith("bool"):
        return "bool"
    return "f64"


def words_of(operator: Operator, argument: Argument) -> list[str]:
    told = operator.documentation.parameters[argument.name]
    word = _MEANT.get(operator.name, {}).get(argument.name)
    if word is None and argument.kind == "tensor" and argument.number:
        word = "ni:1" if dtype_of(told) == "i64" else "n:0.5"
        elementwise = operator.is_pointwise or operator.is_elementwise
        if elementwise and not argument.nullable:
            word = f"t:{dtype_of(told)}:2,3#{argument.name}"
    if word is None and argument.kind == "tensor":
        word = f"t:{dtype_of(told)}:2,3#{argument.name}"
    if word is None and argument.nullable and argument.kind in ("int", "float"):
        word = "ip:1" if argument.kind == "int" else "fp:0.5"  # a pointer to it
    word = word or _BY_NAME.get(argument.name) or _BY_KIND[argument.kind]
    if argument.kind == "ints":
        return [word, f"i:{len(word.split(','))}"]
    if argument.kind == "tensors":
        return [word, f"i:{len(word.split('|'))}"]
    if argument.kind == "string":
        return [word, "i:-1"]
    return [word]


# -- functions that are no operators: every C parameter in order ---------------------------------
# Those that are not here are called as in tests/fuzz/argument_specs.py.

_LIST = "list:t:f64:2,3#a|t:f64:2,3#b"
_FRESH = "list:!t:f64:2,3#a|!t:f64:2,3#b"

CALLS = {
    "libdl_tensor_set_requires_grad": ["!t:f64:2,3", "i:1"],
    "libdl_tensor_detach_in_place": ["!t:f64:2,3"],
    "libdl_tensor_set_grad": ["!t:f64:2,3", "!t:f64:2,3#grad"],
    "libdl_tensor_retain_grad": ["!leaf:f64:2,3"],
    "libdl_grad": [
        "list:loss:x",
        "i:1",
        "list:leaf:f64:2,3",
        "i:1",
        "null",
        "i:0",
        "null",
        "out:libdl_tensor_list",
    ],
    "libdl_backward": ["list:!loss:x", "i:1", "null", "i:0", "null", "i:0", "null"],
    "libdl_forward_unpack_dual": ["t:f64:2,3", "out:libdl_tensor", "out:libdl_tensor"],
    "libdl_history_beyond": ["list:loss:x", "i:1", "list:leaf:f64:2,3", "i:1"],
    "libdl_device_get_properties": ["dev:1,0", "options:160"],
    "libdl_device_synchronize": ["dev:1,0"],
    "libdl_set_sync_debug_mode": ["i:0"],
    "libdl_dtype_promote": ["i:12", "i:13", "out:plain"],
    "libdl_dtype_can_cast": ["i:12", "i:13", "out:plain"],
    "libdl_tensor_map": ["t:f64:2,3", "i:1", "out:plain", "out:libdl_mapping"],
    "libdl_tensor_data": ["t:f64:2,3", "i:1", "out:plain"],
    "libdl_tensor_copy_out": ["t:f64:2,3", "buffer", "i:48"],
    "libdl_tensor_copy_in": ["!t:f64:2,3", "buffer", "i:48"],
    "libdl_dlpack_current_stream": ["i:1", "i:0", "out:plain"],
    "libdl_file_tensor": ["file", "i:0", "out:libdl_tensor"],
    "libdl_file_tensor_by_name": ["file", "s:a", "i:1", "out:libdl_tensor"],
    "libdl_file_save_memory": [
        "list:s:a|s:b",
        _LIST,
        "i:2",
        "null",
        "null",
        "i:0",
        "out:libdl_text",
    ],
    "libdl_memory_get_statistics": ["dev:1,0", "options:120"],
    "libdl_memory_reset_peaks": ["dev:1,0"],
    "libdl_memory_trim": ["dev:1,0", "out:plain"],
    "libdl_op_find": ["s:add", "i:-1", "out:plain"],
    "libdl_backward_context_saved": ["context", "i:0", "out:tensor"],
    "libdl_backward_context_saved_with_history": ["context", "i:0", "out:tensor"],
    "libdl_backward_context_needs": ["context", "i:0"],
    "libdl_backward_context_zeros": ["context", "i:0", "out:tensor"],
    "libdl_set_threads": ["i:2"],
    "libdl_device_type_named": ["s:cpu"],
    "libdl_device_type_name": ["i:1"],
    "libdl_set_grad_enabled": ["i:1"],
    "libdl_set_inference_mode": ["i:0"],
    "libdl_set_records_inference_tensors": ["i:0"],
    "libdl_autocast_enabled": ["i:1"],
    "libdl_set_autocast_enabled": ["i:1", "i:0"],
    "libdl_autocast_dtype": ["i:1"],
    "libdl_set_autocast_dtype": ["i:1", "i:11"],
    "libdl_set_autocast_cache_enabled": ["i:1"],
    "libdl_clip_grad_norm": [_FRESH, "i:2", "f:1", "f:2", "i:0", "out:libdl_tensor"],
    "libdl_clip_grad_value": [_FRESH, "i:2", "f:1"],
    "libdl_sgd_step": ["options:56", _FRESH, "i:2", _LIST, "i:2", "null", "i:0"],
    "libdl_state_new": ["out:libdl_state"],
    "libdl_state_copy_current": ["out:libdl_state"],
    "libdl_generator_new": ["i:7", "out:libdl_generator"],
    "libdl_generator_set_seed": ["gen", "i:7"],
    "libdl_generator_get_state": ["gen", "buffer", "i:24"],
    "libdl_set_default_dtype": ["i:12"],
    "libdl_set_default_device": ["dev:1,0"],
    "libdl_stream_new": ["dev:1,0", "i:0", "out:libdl_stream"],
    "libdl_stream_default": ["dev:1,0", "out:libdl_stream"],
    "libdl_stream_wrap": ["dev:1,0", "null", "out:libdl_stream"],
    "libdl_stream_current": ["dev:1,0", "out:libdl_stream"],
    "libdl_stream_set_current": ["stream"],
    "libdl_stream_get_device": ["stream", "out:plain"],
    "libdl_stream_get_native": ["stream", "out:plain"],
    "libdl_stream_query": ["stream", "out:plain"],
    "libdl_stream_synchronize": ["stream"],
    "libdl_stream_wait": ["stream", "event"],
    "libdl_event_new": ["dev:1,0", "i:1", "out:libdl_event"],
    "libdl_event_record": ["event", "stream"],
    "libdl_event_query": ["event", "out:plain"],
    "libdl_event_synchronize": ["event"],
    "libdl_tensor_become_view": ["t:f64:2,3", "t:f64:2,3"],
    "libdl_tensor_set_data": ["!t:f64:2,3", "t:f64:2,3#source"],
    "libdl_number_f64": ["f:1", "out:libdl_tensor"],
    "libdl_number_i64": ["i:1", "out:libdl_tensor"],
    "libdl_number_bool": ["i:1", "out:libdl_tensor"],
    "libdl_number_c128": ["f:1", "f:1", "out:libdl_tensor"],
    "libdl_tensor_to_string": ["t:f64:2,3", "options:64", "out:libdl_text"],
    "libdl_generator_set_default": ["null"],
    "libdl_generator_set_state": ["gen", "at:generator_state", "i:24"],
    "libdl_state_swap": ["null", "out:plain"],
    "libdl_state_set_memory_limit": ["null", "i:0"],
    "libdl_state_set_interruption": ["null", "null", "null", "null"],
    "libdl_event_elapsed": ["recorded", "recorded", "out:plain"],
    "libdl_tensor_set_host_object": ["!t:f64:2,3", "i:1", "null"],
}

# Not called here, each with its reason; every other function is.
NOT_CALLED = {
    "libdl_plugin_open": "what opens stays open: tests/capi/plugins.c does it",
    "libdl_provider_set_enabled": "there is no provider here: tests/capi/plugins.c does it",
    "libdl_memory_describe_live": "refuses without LIBDL_DEBUG_HANDLES: tests/capi/debug_handles.c",
    "libdl_memory_fail_after": "lets allocations fail: what tests/fault_injection does itself",
}
