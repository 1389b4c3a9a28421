# SPDX-License-Identifier: Apache-2.0
"""Programs with attention, for test_transformers.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

import itertools
import math

from wrappers.answers import bits, digest, filled, gradients, leaf, modes, numbers, told

TOGETHER = True

# -- attention -------------------------------------------------------------------------------------


def masks(m, n, heads, l, s):
    """attn_mask and key_padding_mask of all kinds, by name."""
    causal = m.full((l, s), -math.inf, dtype=m.float64).triu(1)
    two, three, padding = bits(m, l, s), bits(m, n * heads, l, s, step=4), bits(m, n, s)
    return {
        "none": {},
        "2D": {"attn_mask": two},
        "3D": {"attn_mask": three},
        "causal": {"attn_mask": causal},
        "numbers": {"attn_mask": leaf(m, l, s)},
        "3D numbers": {"attn_mask": leaf(m, n * heads, l, s)},
        "padding": {"key_padding_mask": padding},
        "number padding": {"key_padding_mask": leaf(m, n, s)},
        "both": {"attn_mask": two, "key_padding_mask": padding},
        "both 3D": {"attn_mask": three, "key_padding_mask": padding},
        "both numbers": {"attn_mask": causal, "key_padding_mask": leaf(m, n, s)},
        "mixed": {"attn_mask": causal, "key_padding_mask": padding},
    }


def attended(m, module, x, own, **named):
    """Result, weights, gradients and modes of one call."""
    y, weights = module(*x, **named)
    leaves = [x[0], x[1], x[2], *own, *module.parameters()]
    leaves = [*{id(v): v for v in leaves}.values()]
    return [
        digest(m, y),
        digest(m, weights),
        gradients(m, y, leaves),
        modes(m, module, lambda: module(*x, **named)[0], y),
    ]


def masked_attention(m):
    answers = {}
    for extra in ({}, {"add_bias_kv": True, "add_zero_attn": True}):
        module = filled(m, m.nn.MultiheadAttention(4, 2, **extra))
        x = [leaf(m, 3, 2, 4), leaf(m, 5, 2, 4, shift=1.0), leaf(m, 5, 2, 4, shift=2.0)]
        for name, named in masks(m, 2, 2, 3, 5).items():
            own = [v for v in named.values() if v.requires_grad]
            for need in ({"need_weights": False}, {}, {"average_attn_weights": False}):
                key = f"{name} {len(extra)} {list(need)}"
                answers[key] = attended(m, module, x, own, **named, **need)
    return answers


def options_of_attention(m):
    answers = {}
    for name, options in {
        "no bias": {"bias": False},
        "kdim": {"kdim": 3},
        "vdim": {"vdim": 5},
        "both dims": {"kdim": 3, "vdim": 5},
        "dims, no bias": {"kdim": 3, "vdim": 5, "bias": False},
        "bias_kv": {"add_bias_kv": True},
        "zero": {"add_zero_attn": True},
        "batch first": {"batch_first": True},
        "one head": {"num_heads": 1},
        "all": {
            "kdim": 3,
            "vdim": 5,
            "add_bias_kv": True,
            "add_zero_attn": True,
            "batch_first": True,
        },
        "heads": {"num_heads": 4, "batch_first": True},
    }.items():
        module = filled(m, m.nn.MultiheadAttention(**{"embed_dim": 4, "num_heads": 2, **options}))
        sizes = [(3, 4), (5, options.get("kdim", 4)), (5, options.get("vdim", 4))]
        mask = {"attn_mask": bits(m, 3, 5), "key_padding_mask": bits(m, 2, 5)}
        for need in (False, True):
            first = options.get("batch_first")
            x = [
                leaf(m, *((2, l, e) if first else (l, 2, e)), shift=i)
                for i, (l, e) in enumerate(sizes)
            ]
            answers[f"{name} {need}"] = attended(m, module, x, [], need_weights=need, **mask)
            x = [leaf(m, l, e, shift=i) for i, (l, e) in enumerate(sizes)]
            alone = {"attn_mask": bits(m, 3, 5), "key_padding_mask": bits(m, 5)}
            answers[f"{name} {need} alone"] = attended(m, module, x, [], need_weights=need, **alone)
    return answers


def attention_to_itself(m):
    """The three ways in which query, key and value may be one tensor."""
    answers = []
    for first, need, bias in itertools.product((False, True), repeat=3):
        module = filled(m, m.nn.MultiheadAttention(4, 2, batch_first=first, bias=bias))
        a, b = leaf(m, 3, 3, 4), leaf(m, 3, 3, 4, shift=1.0)
        for x in ([a, a, a], [a, b, b], [a, a, b], [a, b, a]):
            answers.append(attended(m, module, x, [], need_weights=need))
    return answers


def causal_attention(m):
    """The hint is believed without padding and weights, and not read otherwise."""
    answers = []
    module = filled(m, m.nn.MultiheadAttention(4, 2))
    x = [leaf(m, 4, 2, 4)] * 3
    for mask in (bits(m, 4, 4), m.full((4, 4), -math.inf).double().triu(1)):
        for named in ({}, {"key_padding_mask": bits(m, 2, 4)}):
            for need in (False, True):
                y, weights = module(*x, attn_mask=mask, is_causal=True, need_weights=need, **named)
                answers.append([digest(m, y), digest(m, weights), gradients(m, y, x[:1])])
    return answers


def attention_without_keys(m):
    """A query that may read nothing: 0 from scaled_dot_product_attention, NaN in the weights."""
    answers = []
    module = filled(m, m.nn.MultiheadAttention(4, 2))
    x = [leaf(m, 3, 2, 4)] * 3
    nothing = m.zeros(3, 3, dtype=m.bool)
    nothing[1] = True
    padding = m.tensor([[True, True, True], [False, True, False]])
    for named in (
        {"attn_mask": nothing},
        {"key_padding_mask": padding},
        {"attn_mask": nothing, "key_padding_mask": padding},
    ):
        for need in (False, True):
            y, weights = module(*x, need_weights=need, **named)
            answers.append(
                [digest(m, y), digest(m, weights), None if need else gradients(m, y, x[:1])]
            )
    return answers


def attention_as_a_function(m):
    F, answers = m.nn.functional, []
    w = [
        leaf(m, 12, 4),
        leaf(m, 12, shift=1.0),
        leaf(m, 1, 1, 4, shift=2.0),
        leaf(m, 1, 1, 4, shift=3.0),
    ]
    out = [leaf(m, 4, 4, shift=4.0), leaf(m, 4, shift=5.0)]
    x = [leaf(m, 3, 2, 4), leaf(m, 5, 2, 4, shift=1.0), leaf(m, 5, 2, 4, shift=2.0)]
    separate = dict(
        zip(
            ("q_proj_weight", "k_proj_weight", "v_proj_weight"),
            (leaf(m, 4, 4, shift=i) for i in range(3)),
        )
    )
    static = {"static_k": leaf(m, 4, 6, 2), "static_v": leaf(m, 4, 6, 2, shift=1.0)}
    for need in (False, True):
        for biases, zero, named in (
            ((None, None), False, {}),
            (w[2:], True, {}),
            ((None, None), False, static),
            ((None, None), True, static),
            ((None, None), False, {"use_separate_proj_weight": True, **separate}),
            (w[2:], False, {"training": False}),
            ((None, None), False, {**static, "key_padding_mask": bits(m, 2, 6)}),
        ):
            y, weights = F.multi_head_attention_forward(
                *x, 4, 2, *w[:2], *biases, zero, 0.0, *out, need_weights=need, **named
            )
            answers.append(
                [
                    digest(m, y),
                    digest(m, weights),
                    gradients(m, y, [*x, *w, *out, *static.values(), *separate.values()]),
                ]
            )
    p = F.multi_head_attention_forward(
        *x, 4, 2, *w[:2], None, None, False, 0.5, *out, training=False
    )
    return [*answers, digest(m, p[0])]


def errors_of_attention(m):
    F, E = m.nn.functional, m.nn.MultiheadAttention
    module, x = filled(m, E(4, 2)), numbers(m, 3, 2, 4)
    separate = filled(m, E(4, 2, kdim=3))
    calls = [lambda: E(0, 1), lambda: E(4, 0), lambda: E(5, 2), lambda: E(-2, 1), lambda: E(4)]
    for args in (
        (x[0, 0], x, x),
        (x, x[0], x),
        (x, x, x[0]),
        (x[0], x, x),
        (x[None], x, x),
        (numbers(m, 3, 2, 5), x, x),
        (x, x[:2], x),
        (x, numbers(m, 3, 1, 4), numbers(m, 3, 1, 4)),
        (x, numbers(m, 3, 3, 4), numbers(m, 3, 3, 4)),
        (x, numbers(m, 3, 2, 5), numbers(m, 3, 2, 5)),
        (x.float(), x.float(), x.float()),
    ):
        calls.append(lambda args=args: module(*args))
    for args in ((x, x, x), (x, numbers(m, 4, 2, 3), x), (x, numbers(m, 3, 1, 3), x)):
        calls.append(lambda args=args: separate(*args))
    for named in (
        {"attn_mask": bits(m, 3, 4)},
        {"attn_mask": bits(m, 1, 3, 3)},
        {"attn_mask": bits(m, 3)},
        {"attn_mask": bits(m, 1, 4, 3, 3)},
        {"attn_mask": m.ones(3, 3).long()},
        {"key_padding_mask": bits(m, 3)},
        {"key_padding_mask": bits(m, 3, 3)},
        {"key_padding_mask": bits(m, 2, 4)},
        {"is_causal": True},
        {"key_padding_mask": m.ones(2, 3).long()},
        {"key_padding_mask": bits(m, 1, 3)},
    ):
        for need in (False, True):
            calls.append(lambda named=named, need=need: module(x, x, x, need_weights=need, **named))
    for named in (
        {"attn_mask": bits(m, 3, 3, 3)},
        {"key_padding_mask": bits(m, 1, 3)},
        {"attn_mask": bits(m, 3, 4)},
    ):
        calls.append(lambda named=named: module(x[:, 0], x[:, 0], x[:, 0], **named))
    w, b, out, k = numbers(m, 12, 4), numbers(m, 1, 1, 4), numbers(m, 4, 4), numbers(m, 4, 3, 2)
    for args, named in (
        ((8, 2, w, None, None, None), {}),
        ((4, 3, w, None, None, None), {}),
        ((4, 2, None, None, None, None), {}),
        ((4, 2, w, None, b, None), {}),
        ((4, 2, w, None, None, b), {}),
        ((4, 2, w, None, b, b), {"static_k": k}),
        ((4, 2, w, None, b, b), {"static_v": k}),
        ((4, 2, w, None, None, None), {"static_k": k[:3]}),
        ((4, 2, w, None, None, None), {"static_v": numbers(m, 4, 3, 3)}),
        ((4, 2, None, None, None, None), {"use_separate_proj_weight": True}),
        ((4, 2, None, None, None, None), {"use_separate_proj_weight": True, "q_proj_weight": out}),
        (
            (4, 2, None, None, None, None),
            {"use_separate_proj_weight": True, "q_proj_weight": out, "k_proj_weight": out},
        ),
        (
            (4, 2, None, None, None, None),
            {
                "use_separate_proj_weight": True,
                "q_proj_weight": w,
                "k_proj_weight": out,
                "v_proj_weight": out,
            },
        ),
        ((4, 2, w[:9], None, None, None), {}),
    ):
        calls.append(
            lambda args=args, named=named: F.multi_head_attention_forward(
                x, x, x, *args, False, 0.0, out, None, **named
            )
        )
    answers = []
    for call in calls:
        answer = told(call)
        answers.append(answer if isinstance(answer, dict) else "no error")
    return answers


def masks_merged(m):
    module, x = m.nn.MultiheadAttention(4, 2), numbers(m, 2, 3, 4)
    two, three, padding = numbers(m, 3, 3), numbers(m, 4, 3, 3), numbers(m, 2, 3)
    answers = []
    for mask, pad in itertools.product((None, two, three), (None, padding)):
        merged, kind = module.merge_masks(mask, pad, x)
        answers.append([digest(m, merged), kind])
    return answers


# -- scaled_dot_product_attention ------------------------------------------------------------------


def scaled_dot_products(m):
    S, answers = m.nn.functional.scaled_dot_product_attention, {}
    shapes = [
        ((3, 4), (5, 4), (5, 2)),
        ((2, 3, 4), (2, 5, 4), (2, 5, 4)),
        ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 6)),
        ((2, 3, 4), (1, 3, 4), (3, 4)),
        ((2, 0, 4), (2, 3, 4), (2, 3, 4)),
        ((2, 3, 4), (2, 0, 4), (2, 0, 4)),
    ]
    for sizes in shapes:
        x = [leaf(m, *size, shift=i) for i, size in enumerate(sizes)]
        l, s = sizes[0][-2], sizes[1][-2]
        nothing = m.ones(l, s, dtype=m.bool)
        nothing[-1:] = False
        for name, named in (
            {
                "none": {},
                "scale": {"scale": 0.3},
                "causal": {"is_causal": True},
                "bits": {"attn_mask": ~bits(m, l, s)},
                "numbers": {"attn_mask": leaf(m, l, s)},
                "row": {"attn_mask": numbers(m, 1, s)},
                "float32": {"attn_mask": numbers(m, l, s).float()},
                "nothing": {"attn_mask": nothing},
                "p": {"dropout_p": 1.0},
                "less": {"scale": -0.5},
            }.items()
            if l and s
            else {"none": {}}.items()
        ):
            y = S(*x, **named)
            own = [v for v in named.values() if getattr(v, "requires_grad", False)]
            answers[f"{sizes} {name}"] = [
                digest(m, y),
                gradients(m, y, [*x, *own]) if l and s else None,
            ]
    x = [leaf(m, 2, 4, 3, 4), leaf(m, 2, 2, 5, 4, shift=1), leaf(m, 2, 2, 5, 4, shift=2)]
    y = S(*x, enable_gqa=True)
    return [answers, digest(m, y), gradients(m, y, x)]


def errors_of_scaled_dot_products(m):
    S, x = m.nn.functional.scaled_dot_product_attention, numbers(m, 2, 3, 4)
    heads = numbers(m, 2, 4, 3, 4)
    answers = []
    for args, named in (
        ((x[0, 0],) * 3, {}),
        ((x.float(), x, x), {}),
        ((x, x, x.float()), {}),
        ((x.long(),) * 3, {}),
        ((x, x, x), {"attn_mask": bits(m, 3, 3), "is_causal": True}),
        ((x, x, x), {"attn_mask": m.ones(3, 3).long()}),
        ((x.float(),) * 3, {"attn_mask": numbers(m, 3, 3)}),
        ((x, x, x), {"attn_mask": bits(m, 3, 4)}),
        ((x, x, x), {"dropout_p": 1.5}),
        ((x, numbers(m, 2, 3, 5), x), {}),
        ((x, numbers(m, 3, 3, 4), numbers(m, 3, 3, 4)), {}),
        ((heads, heads[:, :3], heads[:, :3]), {"enable_gqa": True}),
        ((heads, heads[:, :2], heads[:, :2]), {}),
    ):
        answer = told(S, *args, **named)
        answers.append(answer if isinstance(answer, dict) else "no error")
    return answers


PROGRAMS = [
    masked_attention,
    options_of_attention,
    attention_to_itself,
    causal_attention,
    attention_without_keys,
    attention_as_a_function,
    errors_of_attention,
    masks_merged,
    scaled_dot_products,
    errors_of_scaled_dot_products,
]
