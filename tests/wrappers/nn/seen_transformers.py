# SPDX-License-Identifier: Apache-2.0
"""Programs with transformers, for test_transformers.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

import itertools
import math

from wrappers.answers import bits, digest, filled, gradients, leaf, modes, numbers, told

TOGETHER = True
WHOLE = ("first_numbers",)

# -- layers ----------------------------------------------------------------------------------------

LAYERS = {
    "plain": {},
    "norm first": {"norm_first": True},
    "gelu": {"activation": "gelu"},
    "no bias": {"bias": False},
    "batch first": {"batch_first": True},
    "all": {"norm_first": True, "batch_first": True, "bias": False, "layer_norm_eps": 0.1},
}


def called(m, module, x, named):
    y = module(*x, **named)
    return [
        digest(m, y),
        gradients(m, y, [*x, *module.parameters()]),
        modes(m, module, lambda: module(*x, **named), y),
    ]


def functions(m):
    return {
        "relu": m.nn.functional.relu,
        "silu": m.nn.functional.silu,
        "module": m.nn.GELU("tanh"),
        "lambda": lambda x: x * x,
    }


def encoder_layers(m):
    answers = {}
    options = {**LAYERS, **{name: {"activation": f} for name, f in functions(m).items()}}
    for name, extra in options.items():
        module = filled(m, m.nn.TransformerEncoderLayer(4, 2, 6, 0.0, **extra))
        shape = (2, 3, 4) if extra.get("batch_first") else (3, 2, 4)
        causal = m.full((3, 3), -math.inf).double().triu(1)
        cases = {
            "none": {},
            "bits": {"src_mask": bits(m, 3, 3)},
            "padding": {"src_key_padding_mask": bits(m, 2, 3)},
            "causal": {"src_mask": causal, "is_causal": True},
            "both": {"src_mask": bits(m, 4, 3, 3), "src_key_padding_mask": bits(m, 2, 3)},
        }
        for case, named in (cases if name in LAYERS else {"none": {}}).items():
            answers[f"{name} {case}"] = called(m, module, [leaf(m, *shape)], named)
        answers[f"{name} alone"] = called(
            m, module, [leaf(m, 3, 4)], {"src_key_padding_mask": bits(m, 3)}
        )
    return answers


def decoder_layers(m):
    answers = {}
    options = {**LAYERS, **{name: {"activation": f} for name, f in functions(m).items()}}
    for name, extra in options.items():
        module = filled(m, m.nn.TransformerDecoderLayer(4, 2, 6, 0.0, **extra))
        first = extra.get("batch_first")
        x = [
            leaf(m, *((2, 3, 4) if first else (3, 2, 4))),
            leaf(m, *((2, 5, 4) if first else (5, 2, 4)), shift=1.0),
        ]
        causal = m.full((3, 3), -math.inf).double().triu(1)
        cases = {
            "none": {},
            "bits": {"tgt_mask": bits(m, 3, 3), "memory_mask": bits(m, 3, 5)},
            "padding": {
                "tgt_key_padding_mask": bits(m, 2, 3),
                "memory_key_padding_mask": bits(m, 2, 5),
            },
            "causal": {
                "tgt_mask": causal,
                "tgt_is_causal": True,
                "memory_mask": bits(m, 3, 5),
                "memory_is_causal": True,
            },
        }
        for case, named in (cases if name in LAYERS else {"none": {}}).items():
            answers[f"{name} {case}"] = called(m, module, x, named)
        answers[f"{name} alone"] = called(m, module, [leaf(m, 3, 4), leaf(m, 5, 4)], {})
    return answers


# -- stacks ----------------------------------------------------------------------------------------


def stacks(m):
    nn, answers = m.nn, {}
    x, memory = leaf(m, 2, 3, 4), leaf(m, 2, 5, 4, shift=1.0)
    causal = nn.Transformer.generate_square_subsequent_mask(3, dtype=m.float64)
    for norm, count in itertools.product((None, "norm"), (1, 2)):
        made = lambda: None if norm is None else nn.LayerNorm(4)
        layer = nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True)
        encoder = filled(m, nn.TransformerEncoder(layer, count, made(), False, mask_check=False))
        layer = nn.TransformerDecoderLayer(4, 2, 6, 0.0, batch_first=True)
        decoder = filled(m, nn.TransformerDecoder(layer, count, made()))
        for case, named in {
            "none": {},
            "causal": {"mask": causal},
            "bits": {"mask": causal != 0},
            "hint": {"mask": causal, "is_causal": True},
            "no hint": {"mask": causal, "is_causal": False},
            "3D": {"mask": bits(m, 4, 3, 3)},
            "padding": {"src_key_padding_mask": bits(m, 2, 3)},
            "both": {"mask": causal, "src_key_padding_mask": bits(m, 2, 3)},
        }.items():
            answers[f"encoder {norm} {count} {case}"] = called(m, encoder, [x], named)
        for case, named in {
            "none": {},
            "causal": {"tgt_mask": causal},
            "bits": {"tgt_mask": causal != 0},
            "hint": {"tgt_mask": causal, "tgt_is_causal": True},
            "memory": {"memory_mask": bits(m, 3, 5), "memory_key_padding_mask": bits(m, 2, 5)},
            "both": {"tgt_mask": causal, "tgt_key_padding_mask": bits(m, 2, 3)},
        }.items():
            answers[f"decoder {norm} {count} {case}"] = called(m, decoder, [x, memory], named)
    return answers


def whole_transformers(m):
    nn, answers = m.nn, {}
    for name, extra in LAYERS.items():
        module = filled(m, nn.Transformer(4, 2, 1, 2, 6, 0.0, **extra))
        first = extra.get("batch_first")
        x = [
            leaf(m, *((2, 5, 4) if first else (5, 2, 4))),
            leaf(m, *((2, 3, 4) if first else (3, 2, 4)), shift=1.0),
        ]
        causal = module.generate_square_subsequent_mask(3, dtype=m.float64)
        for case, named in {
            "none": {},
            "causal": {"tgt_mask": causal},
            "hints": {"tgt_mask": causal, "tgt_is_causal": True, "src_is_causal": False},
            "all": {
                "tgt_mask": causal,
                "src_mask": bits(m, 5, 5),
                "memory_mask": bits(m, 3, 5),
                "src_key_padding_mask": bits(m, 2, 5),
                "tgt_key_padding_mask": numbers(m, 2, 3),
                "memory_key_padding_mask": bits(m, 2, 5),
            },
        }.items():
            answers[f"{name} {case}"] = called(m, module, x, named)
        answers[f"{name} alone"] = called(
            m, module, [leaf(m, 5, 4), leaf(m, 3, 4)], {"tgt_mask": causal}
        )
    return answers


def custom_parts(m):
    class Encoder(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = m.nn.Linear(4, 4)

        def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
            return self.linear(src) if mask is None else src * 2

    class Decoder(m.nn.Module):
        def forward(self, tgt, memory, **named):
            seen.append(sorted(k for k, v in named.items() if v is not None))
            return tgt + memory.mean(0)

    seen = []
    module = filled(m, m.nn.Transformer(4, 2, custom_encoder=Encoder(), custom_decoder=Decoder()))
    x = [numbers(m, 5, 2, 4), numbers(m, 3, 2, 4)]
    first = digest(m, module(*x, tgt_is_causal=True))
    half = filled(m, m.nn.Transformer(4, 2, 1, 1, 6, 0.0, custom_encoder=Encoder()))
    return [
        first,
        digest(m, module(*x, src_mask=bits(m, 5, 5))),
        seen,
        digest(m, half(*x)),
        list(half.state_dict())[:3],
    ]


def causal_masks(m):
    T = m.nn.modules.transformer
    made = m.nn.Transformer.generate_square_subsequent_mask
    answers = [
        made(3).tolist() == [[0, -math.inf, -math.inf], [0, 0, -math.inf], [0, 0, 0]],
        str(made(2).dtype).split(".")[-1],
        str(made(2, dtype=m.float64).dtype).split(".")[-1],
        list(made(0).shape),
    ]
    for mask in (
        made(3),
        made(3).double(),
        made(3) != 0,
        made(3)[:2],
        made(3)[None],
        made(3) * 0,
        bits(m, 3, 3),
    ):
        answers.append(
            [
                T._detect_is_causal_mask(mask, None, 3),
                T._detect_is_causal_mask(mask, None, 4),
                T._detect_is_causal_mask(mask),
                T._detect_is_causal_mask(mask, True),
                T._detect_is_causal_mask(mask, False),
            ]
        )
    x = numbers(m, 2, 3, 4)
    return [
        *answers,
        T._detect_is_causal_mask(None),
        T._get_seq_len(x, True),
        T._get_seq_len(x, False),
        T._get_seq_len(x[0], True),
    ]


def errors_of_transformers(m):
    nn = m.nn
    whole, x, y = filled(m, nn.Transformer(4, 2, 1, 1, 6)), numbers(m, 5, 2, 4), numbers(m, 3, 2, 4)
    turned = filled(m, nn.Transformer(4, 2, 1, 1, 6, batch_first=True))
    encoder = filled(m, nn.TransformerEncoderLayer(4, 2, 6))
    answers = []
    for call in (
        lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"),
        lambda: nn.TransformerDecoderLayer(4, 2, activation="none"),
        lambda: nn.TransformerEncoderLayer(4, 3),
        lambda: nn.TransformerEncoderLayer(4, 2, dropout=1.5),
        lambda: nn.Transformer(5, 2),
        lambda: nn.TransformerEncoder(encoder, 0)(x),
        lambda: nn.TransformerEncoder(nn.Linear(4, 4), 1, enable_nested_tensor=False)(x),
        lambda: whole(x, y[:, :1]),
        lambda: whole(x, numbers(m, 3, 2, 3)),
        lambda: whole(numbers(m, 5, 2, 3), y),
        lambda: turned(x, y),
        lambda: whole(x[:, 0], y),
        lambda: whole(x, y[:, 0]),
        lambda: whole(x, y, tgt_is_causal=True),
        lambda: encoder(x, is_causal=True),
        lambda: encoder(x, bits(m, 4, 4)),
        lambda: encoder(x, m.ones(5, 5).long()),
        lambda: encoder(x, None, m.ones(2, 5).long()),
        lambda: whole(x, y, src_mask=m.ones(5, 5).long()),
        lambda: whole(x, y, memory_mask=bits(m, 5, 3)),
        lambda: encoder(x[None]),
        lambda: whole(x, y, src_key_padding_mask=bits(m, 5, 2)),
        lambda: encoder(),
    ):
        answer = told(call)
        answers.append(answer if isinstance(answer, dict) else "no error")
    return answers


# -- what modules consist of -----------------------------------------------------------------------


def all_kinds(m):
    nn = m.nn
    layer = nn.TransformerEncoderLayer(4, 2, 6)
    other = nn.TransformerDecoderLayer(4, 2, 6, activation=nn.GELU(), bias=False)
    return [
        nn.MultiheadAttention(4, 2),
        nn.MultiheadAttention(4, 2, 0.1, False),
        nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True),
        nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True),
        layer,
        other,
        nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        nn.TransformerDecoder(other, 1, nn.LayerNorm(4)),
        nn.Transformer(4, 2, 1, 1, 6, activation="gelu"),
    ]


def printed_and_stored(m):
    answers = []
    for module in all_kinds(m):
        answers.append(
            [repr(module), [[name, list(v.shape)] for name, v in module.state_dict().items()]]
        )
    return answers


def attributes(m):
    a = m.nn.MultiheadAttention(6, 3, 0.25, kdim=3, batch_first=True)
    t = m.nn.Transformer(4, 2, 1, 2, 6)
    e, (one, two) = t.encoder, t.decoder.layers
    return [
        a.embed_dim,
        a.kdim,
        a.vdim,
        a.num_heads,
        a.head_dim,
        a.dropout,
        a.batch_first,
        a.add_zero_attn,
        a._qkv_same_embed_dim,
        a.in_proj_weight is None,
        a.bias_k is None,
        t.d_model,
        t.nhead,
        t.batch_first,
        e.num_layers,
        e.enable_nested_tensor,
        e.mask_check,
        e.layers[0].norm_first,
        e.layers[0].activation is m.nn.functional.relu,
        e.layers[0].dropout.p,
        e.norm.eps,
        one.linear1.weight is two.linear1.weight,
        m.equal(one.linear1.weight, two.linear1.weight),
        m.equal(one.linear1.bias, two.linear1.bias),
    ]


def first_numbers(m):
    """Which law each parameter is drawn from: its standard deviation and largest number, nearly."""
    answers, e = {}, 64
    for name, module in {
        "attention": m.nn.MultiheadAttention(e, 4, add_bias_kv=True),
        "dims": m.nn.MultiheadAttention(e, 4, kdim=32, vdim=96, bias=False),
        "encoder": m.nn.TransformerEncoderLayer(e, 4, 128),
        "whole": m.nn.Transformer(e, 4, 1, 1, 128),
    }.items():
        for key, x in module.state_dict().items():
            answers[f"{name} {key}"] = [
                x.std().item(),
                x.abs().max().item(),
                key.split(".")[-1] in ("bias_k", "bias_v"),
            ]
    return answers


def copies(m):
    """Layers of a stack begin with the same numbers, and a state goes from one to another."""
    layer = m.nn.TransformerEncoderLayer(4, 2, 6)
    stack = m.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    a, b = stack.layers
    same = all(m.equal(p, q) and p is not q for p, q in zip(a.parameters(), b.parameters()))
    other = m.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    filled(m, other)
    stack.double().load_state_dict(other.state_dict())
    x = numbers(m, 3, 2, 4)
    return [
        same,
        m.equal(stack.eval()(x), other.eval()(x)),
        len(stack.layers),
        stack.layers[0] is layer,
    ]


PROGRAMS = [
    encoder_layers,
    decoder_layers,
    stacks,
    whole_transformers,
    custom_parts,
    causal_masks,
    errors_of_transformers,
    printed_and_stored,
    attributes,
    first_numbers,
    copies,
]
