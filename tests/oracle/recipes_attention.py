# SPDX-License-Identifier: Apache-2.0
"""Attention."""

from __future__ import annotations

from arguments import Draw
from recipes import Made, recipe


@recipe("scaled_dot_product_attention")
def attention(d: Draw) -> Made:
    if d.mode != "value":  # where scores lie far apart, derivatives are rounding errors
        d.kind = "plain"
        d.dtype = "float64" if d.dtype == "float32" else d.dtype
    if d.kind in ("special", "far"):
        d.kind = "plain"
    rows, keys, width, out = (d.some(1, 2, 3, 5, 2, 3, 0 if d.chance(0.1) else 4) for _ in "lsev")
    lead = d.some((), (2,), (1, 2), (2, 2), (2, 2), (2, 1))
    named: dict[str, str] = {}
    heads = lead
    if len(lead) > 0 and d.chance(0.3):
        heads = (*lead[:-1], lead[-1] * d.some(1, 2, 3))
        named["enable_gqa"] = "True"
    args = [
        d.tensor((*heads, rows, width)),
        d.tensor((*lead, keys, width)),
        d.tensor((*lead, keys, out)),
    ]
    p = d.r.random()
    if p < 0.25:
        shape = d.some((rows, keys), (*heads, rows, keys), (1, keys))
        named["attn_mask"] = d.tensor(
            shape, dtype="bool" if d.chance(0.5) else d.dtype, kind="plain", grad=False
        )
    elif p < 0.5:
        named["is_causal"] = "True"
    if d.chance(0.3):
        named["scale"] = d.some("0.5", "2.0", "1.0")
    return args, named
