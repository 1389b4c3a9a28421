# SPDX-License-Identifier: Apache-2.0
"""Names that packages reach for, for test_names.py: their meaning where there is one. `m` is
libdl, or PyTorch, whose answers tests/answered.py stores."""

import importlib
import os
from collections import OrderedDict, defaultdict, deque, namedtuple

from wrappers.answers import digest, leaf, numbers, told

Pair = namedtuple("Pair", "first second")


def module(m, path):
    return importlib.import_module(f"{m.__name__}.{path}")


def short(x):
    return str(x).split(".")[-1]


def named_dtypes(m):
    names = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
    limits = []
    for name in names:
        f = m.finfo(getattr(m, name))
        limits.append(
            [f.bits, f.eps, f.max, f.min, f.tiny, f.smallest_normal, f.resolution, f.dtype]
        )
    kinds = [getattr(m, n) for n in (*names, "float4_e2m1fn_x2", "complex32", "uint4", "int4")]
    return [
        limits,
        [[short(d), d.itemsize, d.is_floating_point, d.is_complex, d.is_signed] for d in kinds],
        short(m.complex32.to_real()),
        told(m.finfo, m.uint4),
        told(m.iinfo, m.float8_e5m2),
    ]


def named_devices(m):
    kinds = ("mps", "xpu", "mtia", "hpu", "xla", "vulkan", "meta", "privateuseone", "ipu")
    return [
        [repr(m.device(kind)) for kind in kinds],
        repr(m.device("mps:1")),
        m.device("xpu", 0) == m.device("xpu:0"),
        told(m.device, "no_such"),
        m.ones(1).device == m.device("meta"),
        m.is_autocast_enabled("mps"),
    ]


def trees_of_kinds(m):
    p = module(m, "utils._pytree")
    values = [
        [1, 2],
        (1, 2),
        {"b": 1, "a": 2},
        Pair(1, 2),
        OrderedDict(x=1),
        defaultdict(list, y=[2]),
        deque([1], 3),
    ]
    found = []
    for value in values:
        kind = p._get_node_type(value)
        node = p.SUPPORTED_NODES[kind]
        children, context = node.flatten_fn(value)
        keyed = node.flatten_with_keys_fn(value)[0]
        again = node.unflatten_fn(children, context)
        found.append(
            [kind.__name__, list(children), [str(key) for key, _ in keyed], again == value]
        )
    spec = p.tree_structure([1, {"a": (2, None)}, deque([3]), defaultdict(list, z=4)])
    text = p.treespec_dumps(spec)
    return [
        found,
        p._dict_flatten({"b": 1}),
        p._list_flatten([1]),
        p._dict_unflatten([5], ["k"]),
        text,
        p.treespec_loads(text) == spec,
        p.is_structseq_instance(os.times()),
        p.is_structseq(Pair),
        told(p.treespec_dumps, p.tree_structure(Pair(1, 2))),
        told(p.treespec_loads, "[9, {}]"),
        told(p.treespec_dumps, 3),
    ]


def weak_keys(m):
    w = module(m, "utils.weak")
    x, y = m.ones(2), m.ones(2)
    held = w.WeakIdKeyDictionary()
    held[x], held[y] = "x", "y"
    found = [len(held), held[x], held[y], x in held, m.ones(2) in held, sorted(held.values())]
    copied = held.copy()
    del y
    found += [
        len(held),
        list(held) == [x] if len(held) == 1 else None,
        len(copied),
        held.pop(x),
        len(held),
    ]
    return [
        *found,
        w.TensorWeakRef(x)() is x,
        w.WeakIdRef(x) == w.WeakIdRef(x),
        told(w.TensorWeakRef, 3),
    ]


def contexts(m):
    c = module(m, "utils._contextlib")
    seen = []

    class Own(c._DecoratorContextManager):
        def __enter__(self):
            seen.append("in")

        def __exit__(self, *error):
            seen.append("out")

    @Own()
    def called(x):
        seen.append(x)
        return x + 1

    @Own()
    def generated():
        given = yield 1
        seen.append(given)
        yield 2

    steps = generated()
    return [called(3), next(steps), steps.send("sent"), told(lambda: called.__name__), list(seen)]


def grouped(m):
    g = module(m, "utils._foreach_utils")
    xs = [m.ones(1), m.ones(2).double(), m.ones(3)]
    found = g._group_tensors_by_device_and_dtype([xs, [x * 2 for x in xs]], with_indices=True)
    u = module(m, "_utils")
    flat = u._flatten_dense_tensors([m.ones(2), m.zeros(1, 2)])
    wrapper = None
    try:
        raise KeyError("lost")
    except KeyError:
        wrapper = u.ExceptionWrapper(where="in a test")
    caught = told(wrapper.reraise)
    return [
        sorted(
            [
                [short(key[1]), [[len(x) for x in column] for column in value[0]], value[1]]
                for key, value in found.items()
            ]
        ),
        flat.tolist(),
        caught,
        [[len(x) for x in part] for part in u._take_tensors(xs, 8)],
        told(u._get_device_index, m.device("cpu")),
        u._get_device_index(m.device("cpu"), allow_cpu=True),
        u._element_size(m.float16),
    ]


def later_results(m):
    f = module(m, "futures")
    one, two = f.Future(), f.Future()
    after = one.then(lambda done: done.value() + 1)
    both = f.collect_all([one, two])
    before = [one.done(), after.done(), both.done(), told(one.value)]
    one.set_result(4)
    two.set_exception(ValueError("no"))
    return [
        before,
        one.wait(),
        after.wait(),
        both.done(),
        told(two.wait),
        told(one.set_result, 5),
        told(f.wait_all, [one, two]),
        f.wait_all([one, after]),
        told(one.set_exception, 3),
        told(one.then(lambda done: 1 / 0).wait),
    ]


def checks(m):
    mask = m.tensor([True, False])
    return [
        told(m._check, True),
        told(m._check, False, lambda: "told"),
        told(m._check, 1),
        told(m._check_value, False),
        told(m._check_index, False),
        told(m._check_type, False),
        told(m._check_not_implemented, False),
        told(m._check_tensor_all, mask),
        told(m._check_tensor_all, mask.int()),
        told(m._assert_async, mask),
        told(m._assert_async, m.tensor(False), "text"),
        m._shape_as_tensor(m.ones(2, 3)).tolist(),
    ]


def einsum_traced(m):
    def f(x, y):
        return (
            m.einsum("ij,jk->ik", (x, y))
            + m.einsum("ij,jk->ik", [x, y])
            + m.einsum("ij,jk->ik", x, y)
        )

    graph = m.fx.symbolic_trace(f).graph
    return [[str(a) for a in node.args] for node in graph.nodes if "einsum" in node.name]


def sampled_out(m):
    place = m.empty(0, dtype=m.int64)
    made = m.multinomial(m.tensor([0.0, 1.0]), 3, True, out=place)
    row = m.zeros(2, 1, dtype=m.int64)
    m.multinomial(m.tensor([[0.0, 1.0], [1.0, 0.0]]), 1, out=row)
    return [made is place, place.tolist(), row.tolist()]


def foreign_divergence(m):
    d = m.distributions

    class Foreign:
        pass

    d.register_kl(Foreign, d.Normal)(lambda p, q: "foreign")
    return [d.kl_divergence(Foreign(), d.Normal(0.0, 1.0)), told(d.register_kl, 3, d.Normal)]


def flops(m):
    counter = module(m, "utils.flop_counter").FlopCounterMode(display=False)
    conv, x, w = m.nn.Conv2d(3, 8, 3), m.ones(2, 3, 8, 8).requires_grad_(), m.ones(5, 4)
    with counter:
        y = conv(x).flatten(1)[:, :5]
        (y @ w).sum().backward()
        m.bmm(m.ones(2, 3, 4), m.ones(2, 4, 5))
        m.nn.functional.linear(m.ones(2, 3), m.ones(4, 3), m.ones(4))
    return counter.get_total_flops()


def wrapped(m):
    c = module(m, "distributed.algorithms._checkpoint.checkpoint_wrapper")
    model = m.nn.Sequential(m.nn.Linear(2, 3), m.nn.Tanh(), m.nn.Linear(3, 1)).double()
    with m.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(numbers(m, *p.shape, shift=float(i)))
    c.apply_activation_checkpointing(model, check_fn=lambda child: isinstance(child, m.nn.Linear))
    x = leaf(m, 4, 2)
    model(x).sum().backward()
    state = model.state_dict()
    return [
        digest(m, x.grad),
        list(state),
        [name for name, _ in model.named_parameters()],
        type(model[0]).__name__,
        str(model.load_state_dict(state)),
        model[0].in_features,
    ]


def attention_of_scores(m):
    f = module(m, "nn.attention.flex_attention")
    q, k, v = (numbers(m, 1, 2, n, 4, shift=float(n)) for n in (5, 6, 6))
    slopes = numbers(m, 2)
    block = f.create_block_mask(
        lambda b, h, i, j: i >= j, None, None, 5, 6, device="cpu", BLOCK_SIZE=2
    )
    mask = f.create_mask(
        f.or_masks(lambda b, h, i, j: i > j, lambda b, h, i, j: j == 2), 1, 1, 3, 3, "cpu"
    )
    found = [
        digest(m, x)
        for mod, given in (
            (None, None),
            (lambda s, b, h, i, j: s + slopes[h] * (i - j), None),
            (None, block),
            (lambda s, b, h, i, j: m.tanh(s), block),
        )
        for x in f.flex_attention(q, k, v, mod, given, return_lse=True)
    ]
    return [
        found,
        mask.int().tolist(),
        block.to_dense().tolist(),
        block.kv_num_blocks.tolist(),
        block.full_kv_num_blocks.tolist(),
        block.numel(),
        told(f.flex_attention, q[0], k, v),
        told(f.flex_attention, q, k[:, :1], v[:, :1]),
    ]


def aten_forms(m):
    a = m.ops.aten
    x = numbers(m, 3, 4)
    i = m.tensor([0, 2])
    return [
        digest(m, y)
        for y in (
            a.slice.Tensor(x, 1, 1, None, 2),
            a.index.Tensor(x, [None, i]),
            a.index.Tensor(x, [i]),
            a.index_put(x, [i], m.zeros(4).double()),
            a.alias.default(x),
            a._to_copy.default(x, dtype=m.float32),
            a._unsafe_view.default(x, [4, 3]),
            a.arange.start(1, 4),
            a.eye.default(2),
            a.to.dtype(x, m.float32),
            a._is_all_true(x > -2),
            a.scalar_tensor.default(2.0),
            *a.split.Tensor(x, 2),
            *a._foreach_add([x, x], 1.0),
        )
    ] + [a.sym_size.int(x, 1), a._local_scalar_dense(x[0, 0])]


def words_of_compilers(m):
    u = module(m, "_jit_internal")
    chosen = u.boolean_dispatch(
        "flag", 1, False, lambda x, flag=False: "yes", lambda x, flag=False: "no", "here", "chosen"
    )
    return [
        chosen(1),
        chosen(1, True),
        chosen(1, flag=True),
        u._copy_to_script_wrapper(short) is short,
        m.onnx.is_in_onnx_export(),
    ]


PROGRAMS = [
    named_dtypes,
    named_devices,
    trees_of_kinds,
    weak_keys,
    contexts,
    grouped,
    later_results,
    checks,
    einsum_traced,
    sampled_out,
    foreign_divergence,
    flops,
    wrapped,
    attention_of_scores,
    aten_forms,
    words_of_compilers,
]
