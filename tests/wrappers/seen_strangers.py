# SPDX-License-Identifier: Apache-2.0
"""What programs of others use of PyTorch at its edges, for test_strangers.py. `m` is libdl, or
PyTorch, whose answers tests/answered.py stores."""

import contextlib
import importlib
import sys

from wrappers.answers import bits, digest, leaf, numbers, told


def shown(x):
    """What is comparable of a result: not elements that nobody has set."""
    if hasattr(x, "requires_grad"):
        return [
            type(x).__name__,
            str(x.dtype).split(".")[-1],
            x.tolist(),
            x.requires_grad,
            x.is_leaf,
        ]
    return list(x) if isinstance(x, tuple) else x


def constructed(m):
    import numpy

    class Own(m.Tensor):
        pass

    class Other(m.Tensor):
        @staticmethod
        def __new__(cls, x, extra=1):
            return super().__new__(cls, x)

        def __init__(self, x, extra=1):
            self.extra = extra

    leaf = m.ones(2, requires_grad=True)
    result, size = leaf * 2, m.Size([2, 3])
    shapes = {
        "size": lambda: m.Tensor(size=(2, 3)),
        "size and device": lambda: m.Tensor(size=(2, 3), device="cpu"),
        "Size": lambda: m.Tensor(size),
        "of no dimension": lambda: m.Tensor(m.Size([])),
        "a list": lambda: m.Tensor(size=[2]),
        "with device": lambda: m.Tensor(2, 3, device="cpu"),
        "no device": lambda: m.Tensor(2, device=None),
        "empty": lambda: m.Tensor(device="cpu"),
        "Size and device": lambda: m.Tensor(size, device=m.device("cpu")),
        "none": lambda: m.Tensor(),
        "NumPy's": lambda: m.Tensor(numpy.int64(2), 3),
        "one of NumPy": lambda: m.Tensor(numpy.int64(3)),
        "tensors": lambda: m.Tensor(m.tensor(2), m.tensor(3)),
        "int": lambda: m.Tensor(3),
        "own": lambda: Own(2, 3),
        "own Size": lambda: Own(size),
        "own size": lambda: Own(size=(2, 2)),
        "typed": lambda: m.LongTensor(size),
        "typed size": lambda: m.FloatTensor(size=(1, 2)),
        "new": lambda: leaf.new(size),
        "new size": lambda: leaf.new(size=(3, 2)),
        "through __new__": lambda: m.Tensor.__new__(Own, 2, 3),
    }
    values = {
        "list": lambda: m.Tensor([2, 3]),
        "tuple": lambda: m.Tensor((2, 3)),
        "data": lambda: m.Tensor(data=[1.0]),
        "tuple and device": lambda: m.Tensor((2, 3), device="cpu"),
        "range": lambda: m.Tensor(range(3)),
        "array": lambda: m.Tensor(numpy.arange(3.0)),
        "empty list": lambda: m.Tensor([]),
        "tensors": lambda: m.Tensor([leaf.sum(), 2]),
        "truths": lambda: m.Tensor([True, False]),
        "leaf": lambda: m.Tensor(leaf),
        "result": lambda: m.Tensor(result),
        "other": lambda: m.Tensor(other=leaf),
        "integers": lambda: m.Tensor(m.tensor([1, 2])),
        "own list": lambda: Own([1.0, 2]),
        "own leaf": lambda: Own(leaf),
        "own integers": lambda: Own(m.tensor([1, 2])),
        "other class": lambda: Other([1.0], extra=3),
        "typed leaf": lambda: m.FloatTensor(leaf),
        "typed other": lambda: m.FloatTensor(other=leaf),
        "new leaf": lambda: leaf.new(leaf),
        "new data": lambda: leaf.new(data=[1.0]),
        "storage": lambda: m.Tensor(m.ones(2).untyped_storage()),
        "typed storage": lambda: m.FloatTensor(m.ones(2).storage()),
    }
    wrong = {
        "sizes twice": lambda: m.Tensor(2, size=(2,)),
        "size of an int": lambda: m.Tensor(size=3),
        "text": lambda: m.Tensor("ab"),
        "float": lambda: m.Tensor(2.0),
        "truth": lambda: m.Tensor(True),
        "nothing": lambda: m.Tensor(None),
        "dtype": lambda: m.Tensor(dtype=m.int8),
        "dtype of a list": lambda: m.Tensor([1], dtype=m.int8),
        "negative": lambda: m.Tensor(-1),
        "two lists": lambda: m.Tensor([2], [3]),
        "Size and int": lambda: m.Tensor(size, 3),
        "text as size": lambda: m.Tensor(2, "a"),
        "float as size": lambda: m.Tensor(2, 3.0),
        "truth as size": lambda: m.Tensor(True, 2),
        "device of a tensor": lambda: m.Tensor(leaf, device="cpu"),
        "iterator": lambda: m.Tensor(iter([1])),
        "dict": lambda: m.Tensor({1: 2}),
        "no data": lambda: m.Tensor(data=None),
        "tensor as data": lambda: m.Tensor(data=leaf),
        "both": lambda: m.Tensor(size=(1,), data=[1]),
        "own": lambda: Own([1], foo=3),
        "own two": lambda: Own(leaf, 2),
        "complex": lambda: m.Tensor([1j]),
        "NumPy's float": lambda: m.Tensor(numpy.float64(2)),
        "typed truth": lambda: m.FloatTensor(True),
        "typed dtype": lambda: m.LongTensor(leaf),
        "requires_grad": lambda: m.Tensor([1], requires_grad=True),
        "half storage": lambda: m.Tensor(m.ones(2).half().storage()),
    }
    y = m.Tensor(leaf)
    (y * 3).sum().backward()
    return {
        "shapes": {name: told(lambda c=call: list(c().shape)) for name, call in shapes.items()},
        "values": {name: told(lambda c=call: shown(c())) for name, call in values.items()},
        "wrong": {name: told(lambda c=call: shown(c())) for name, call in wrong.items()},
        "history": [
            leaf.grad.tolist(),
            y.data_ptr() == leaf.data_ptr(),
            y is leaf,
            Other([1.0], 5).extra,
        ],
    }


def names(m):
    """What programs import, and what they ask of it."""
    word = m.__name__

    def found(path):
        module, _, name = path.rpartition(".")
        return hasattr(importlib.import_module(module), name)

    asked = """_C._LinAlgError linalg.LinAlgError _tensor_str.PRINT_OPTS _tensor_str.set_printoptions _tensor_str._str
        utils.data.dataloader._BaseDataLoaderIter utils.data.dataloader._SingleProcessDataLoaderIter
        utils.data.dataloader._MultiProcessingDataLoaderIter utils.data._utils.collate.default_collate
        utils.data._utils.collate.default_collate_err_msg_format utils.data._utils.pin_memory.pin_memory
        utils.data._utils.worker.get_worker_info utils.data._utils.MP_STATUS_CHECK_INTERVAL
        utils.checkpoint.CheckpointPolicy utils.checkpoint.create_selective_checkpoint_contexts
        utils.checkpoint.SelectiveCheckpointContext utils.checkpoint.noop_context_fn
        _dynamo.explain _dynamo.reset _dynamo.config _dynamo.disable _dynamo.allow_in_graph
        _dynamo.config.suppress_errors _dynamo.eval_frame.OptimizedModule _inductor.config.max_autotune
        export.export export.Dim export.ExportedProgram export.save export.load library.custom_op
        library.register_fake library.register_autograd library.register_kernel library.register_vmap
        library.Library library.define library.impl library.infer_schema library.opcheck
        distributed.rpc.rpc_sync distributed.rpc.RRef distributed.rpc.init_rpc distributed.rpc.shutdown
        utils._python_dispatch.TorchDispatchMode utils._python_dispatch.is_traceable_wrapper_subclass
        _vmap_internals._vmap distributions.utils._sum_rightmost distributions.utils._standard_normal
        distributions.transforms._InverseTransform masked.sum""".split()
    error = m.linalg.LinAlgError
    return {
        "there": {path: found(f"{word}.{path}") for path in asked},
        "kinds": [
            error is m._C._LinAlgError,
            issubclass(error, RuntimeError),
            issubclass(error, ValueError),
        ],
        "policies": [[p.name, p.value] for p in m.utils.checkpoint.CheckpointPolicy],
    }


def printed(m):
    text = importlib.import_module(f"{m.__name__}._tensor_str")
    x = m.tensor([1.23456789, 1000.5])
    answers = [
        text._str(x),
        text.PRINT_OPTS.precision,
        text.PRINT_OPTS.linewidth,
        text.PRINT_OPTS.edgeitems,
    ]
    text.set_printoptions(precision=2, sci_mode=False)
    answers += [str(x), text.PRINT_OPTS.precision, text.PRINT_OPTS.sci_mode]
    with text.printoptions(precision=6, threshold=1):
        answers += [str(m.arange(20)), text.get_printoptions()["precision"]]
    answers += [str(x)]
    text.set_printoptions(profile="default")
    text.PRINT_OPTS.precision = 1
    answers += [str(x)]
    text.set_printoptions(profile="default")
    return [*answers, str(x)]


def loaded(m):
    data = importlib.import_module(f"{m.__name__}.utils.data")
    loaders = importlib.import_module(f"{m.__name__}.utils.data.dataloader")
    utils = importlib.import_module(f"{m.__name__}.utils.data._utils")
    kinds = [
        loaders._BaseDataLoaderIter,
        loaders._SingleProcessDataLoaderIter,
        loaders._MultiProcessingDataLoaderIter,
    ]
    rows = data.TensorDataset(m.arange(6))
    answers = []
    for workers in (0, 1):
        iterator = iter(data.DataLoader(rows, batch_size=2, num_workers=workers))
        answers.append(
            [[isinstance(iterator, kind) for kind in kinds], [x[0].tolist() for x in iterator]]
        )

    class Twice(data.DataLoader):
        def _get_iterator(self):
            first = super()._get_iterator()
            return iter([*first, *super()._get_iterator()])

    loader = Twice(rows, batch_size=4)
    batch = utils.collate.default_collate([{"a": 1.0, "b": [2, 3]}, {"a": 2.0, "b": [4, 5]}])
    return [
        *answers,
        [x[0].tolist() for x in loader],
        loader._auto_collation,
        list(loader._index_sampler),
        batch["a"].tolist(),
        [x.tolist() for x in batch["b"]],
        utils.worker.get_worker_info(),
        utils.pin_memory.pin_memory("text"),
        isinstance(utils.MP_STATUS_CHECK_INTERVAL, float),
        [
            list(iterator)
            for iterator in [
                loaders._SingleProcessDataLoaderIter(data.DataLoader([1, 2], batch_size=None))
            ]
        ],
    ]


def checkpointed(m):
    from_torch = importlib.import_module(f"{m.__name__}.utils.checkpoint")
    checkpoint, seen = from_torch.checkpoint, []

    @contextlib.contextmanager
    def noted(name):
        seen.append(f"into {name}")
        try:
            yield
        finally:
            seen.append(f"out of {name}")

    def contexts():
        return noted("first"), noted("again")

    def function(x):
        seen.append("run")
        return x.sin().exp()

    x = m.ones(2, dtype=m.float64, requires_grad=True)
    y = checkpoint(function, x, use_reentrant=False, context_fn=contexts)
    y.sum().backward()
    with m.no_grad():
        checkpoint(function, x, use_reentrant=False, context_fn=contexts)
    plain = checkpoint(function, x, use_reentrant=False, determinism_check="none", early_stop=False)
    wrong = [
        told(lambda: checkpoint(function, x, use_reentrant=True, context_fn=contexts)),
        told(lambda: checkpoint(function, x, use_reentrant=True, debug=True)),
        told(lambda: checkpoint(function, x, use_reentrant=True, other=1)),
        told(lambda: checkpoint(function, x, use_reentrant=False, determinism_check="some")),
    ]
    kinds = [type(c).__name__ for c in from_torch.noop_context_fn()]
    return [seen, x.grad.tolist(), plain.tolist(), wrong, kinds]


def devices(m):
    seen = []
    with m.device("cpu") as entered:
        seen += [
            str(entered),
            str(m.get_default_device()),
            str(m.ones(1).device),
            m.nn.Linear(1, 1).weight.device.type,
        ]
        with m.device("cpu", 0):
            seen.append(m.zeros(1).device.type)

    return [*seen, str(m.get_default_device()), told(lambda: m.device("cpu")(len))]


def settings(m):
    config = importlib.import_module(f"{m.__name__}._dynamo.config")
    inductor = importlib.import_module(f"{m.__name__}._inductor.config")
    before = config.cache_size_limit
    with config.patch(cache_size_limit=64):
        inside = config.cache_size_limit

    @config.patch("suppress_errors", True)
    def patched():
        return config.suppress_errors

    config.suppress_errors = inductor.coordinate_descent_tuning = True
    kept = [
        config.suppress_errors,
        m._dynamo.config.suppress_errors,
        inductor.coordinate_descent_tuning,
    ]
    config.suppress_errors = inductor.coordinate_descent_tuning = False

    def function(x):
        return x + 1

    same = [
        m._dynamo.disable(function)(1),
        m._dynamo.allow_in_graph(function)(1),
        m._dynamo.reset(),
    ]
    return [
        inside,
        config.cache_size_limit == before,
        patched(),
        config.suppress_errors,
        kept,
        same,
    ]


def older(m):
    """Numbers before the last tensors, as in PyTorch's first years."""
    x, y, z = (numbers(m, 3, shift=s) for s in (0, 1, 2))
    calls = {
        "add": lambda: [x.add(2, y), m.add(x, 2, y), x.clone().add_(2, y), x.add(2, 1)],
        "sub": lambda: [x.sub(2, y), m.sub(x, 2, y), x.clone().sub_(2, y)],
        "addcmul": lambda: [
            x.addcmul(2, y, z),
            m.addcmul(x, 2, y, z),
            x.clone().addcmul_(-0.5, y, z),
        ],
        "addcdiv": lambda: [
            x.addcdiv(2, y, z),
            m.addcdiv(x, 2, y, z),
            x.clone().addcdiv_(-0.5, y, z),
        ],
        "out": lambda: [m.add(x, 2, y, out=m.empty(3).double())],
        "normalize": lambda: [m.nn.functional.normalize(x, dim=0, out=m.empty(3).double())],
    }
    wrong = [
        lambda: x.add(y, 2),
        lambda: x.add(2, y, 3),
        lambda: x.add(2, y, alpha=3),
        lambda: x.add(y, z),
        lambda: x.addcmul(y, z, 2),
        lambda: x.addcmul(1, y, z, 2),
        lambda: m.add(2, x, y),
    ]
    a = leaf(m, 3)
    square = numbers(m, 3, 3)
    wrong += [lambda: m.spmm(square[None], square), lambda: m.spmm(square, square)]
    return [
        {name: told(lambda c=call: [r.tolist() for r in c()]) for name, call in calls.items()},
        [told(lambda c=call: c().tolist()) for call in wrong],
        m.autograd.grad(y.add(2, a).sum(), a)[0].tolist(),
    ]


def unwritten(m):
    """Dropout in place that drops nothing: what relu saved in front of it is still there."""
    F, answers = m.nn.functional, []
    for name in ("dropout", "alpha_dropout", "dropout1d", "feature_alpha_dropout"):
        for p, training in ((0.0, True), (0.5, False)):
            x = leaf(m, 2, 3, 4)
            y = (x * 2).relu_()
            before, kept = y._version, y
            y = getattr(F, name)(y, p, training, True)
            answers.append(
                [y is kept, y._version - before, m.autograd.grad((y * y).sum(), x)[0].sum().item()]
            )
        answers.append(told(lambda name=name: getattr(F, name)(m.ones(2, 3, 4), 2.0, False, True)))
    x = m.arange(6.0)
    splits = [
        lambda: x.split(split_size=2),
        lambda: x.split(split_size=[2, 4], dim=0),
        lambda: x.split(4),
        lambda: m.split(x, split_size_or_sections=4),
        lambda: m.split(x, split_size=2),
        lambda: x.split(split_size_or_sections=2),
    ]
    return [answers, [told(lambda c=call: [y.tolist() for y in c()]) for call in splits]]


def resumed(m):
    """The states of an optimizer that a program wrote: numbers stay numbers."""

    class Counting(m.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 1.0, "buffer": [[None, 1]]})

        def step(self, closure=None):
            for p in (p for group in self.param_groups for p in group["params"]):
                state = self.state[p]
                state["step"] = state.get("step", 0) + 1
                state.update(rate=0.5, parts=[1, m.ones(1)])

    def kinds(state):
        return {key: [type(value).__name__, str(value)] for key, value in state.items()}

    x, y = m.ones(1, requires_grad=True), m.ones(1, requires_grad=True)
    first, second = Counting([x]), Counting([y])
    first.step()
    second.load_state_dict(first.state_dict())
    answers = [kinds(second.state[y]), second.param_groups[0]["buffer"]]
    for kind in (
        m.optim.Adam,
        m.optim.AdamW,
        m.optim.RMSprop,
        m.optim.Adagrad,
        m.optim.RAdam,
        m.optim.Rprop,
        m.optim.Adamax,
        m.optim.Adadelta,
        m.optim.NAdam,
        m.optim.ASGD,
        m.optim.Adafactor,
    ):
        x.grad = m.ones(1)
        old, new = kind([x], lr=0.1), kind([y], lr=0.1)
        old.step()
        state = old.state_dict()
        state["state"][0]["step"] = 3  # as the first versions kept it
        new.load_state_dict(state)
        answers.append([type(new.state[y]["step"]).__name__, float(new.state[y]["step"])])
    return answers


def searched(m):
    """Lines that optimizers of programs search, and other parts of PyTorch that they call."""
    lbfgs = importlib.import_module(f"{m.__name__}.optim.lbfgs")
    functional = importlib.import_module(f"{m.__name__}.autograd.functional")
    stateless = importlib.import_module(f"{m.__name__}.nn.utils.stateless")
    vmap = importlib.import_module(f"{m.__name__}._vmap_internals")
    answers = []
    for factor, options in (
        (1.0, {}),
        (30.0, {}),
        (0.01, {"c1": 1e-3, "c2": 0.1}),
        (5.0, {"max_ls": 2}),
    ):

        def valley(x, t, d):
            y = (x + t * d).detach().requires_grad_()
            loss = (y**4 - 3 * y**2 + y).sum()
            return float(loss), m.autograd.grad(loss, y)[0]

        x = numbers(m, 3)
        f, g = valley(x, 0, -x)
        d = -g * factor
        loss, grad, t, calls = lbfgs._strong_wolfe(valley, x, 1.0, d, f, g, g.dot(d), **options)
        answers.append([float(loss), grad.tolist(), float(t), calls])
    s = m.tensor(0.5).double()
    answers += [
        float(lbfgs._cubic_interpolate(0.0, 1.0, -s, 1.0, 0.8, s)),
        float(lbfgs._cubic_interpolate(0.0, 1.0, -s, 1.0, 0.8, s * 4, bounds=(0.1, 0.2))),
    ]
    answers.append(
        [
            x.tolist()
            for x in functional._construct_standard_basis_for((m.ones(2), m.ones(1)), (2, 1))
        ]
    )
    layer = m.nn.Linear(2, 1, bias=False).double()
    before = layer.weight
    with stateless._reparametrize_module(layer, {"weight": m.ones(1, 2).double()}):
        answers.append(layer(m.ones(2).double()).tolist())
    answers.append(layer.weight is before)
    doubled = vmap._vmap(lambda x: (x * 2, None), allow_none_pass_through=True)(m.arange(3.0))
    answers.append([doubled[0].tolist(), doubled[1]])
    utils = importlib.import_module(f"{m.__name__}.distributions.utils")
    answers.append([utils._sum_rightmost(numbers(m, 2, 3), n).tolist() for n in (0, 1, 2)])
    storage = m.ones(100).untyped_storage()
    return [
        *answers,
        400 <= storage.__sizeof__() < 600,
        400 <= sys.getsizeof(m.ones(100).storage().untyped()) < 600,
    ]


def finite(m, x):
    """A digest in which infinities count as numbers."""
    return digest(m, m.nan_to_num(x.double(), nan=7.0, posinf=8.0, neginf=9.0))


def masked(m):
    """Functions with a mask, and the comparison that tests of the first years call."""
    k = importlib.import_module(f"{m.__name__}.masked")
    x, ints = numbers(m, 3, 4), m.arange(12).view(3, 4) - 5
    mask = bits(m, 3, 4)
    mask[2] = False
    names = "sum prod mean amax amin logsumexp var std".split()
    calls = {
        **{
            name: lambda name=name: [
                getattr(k, name)(x, d, mask=mask, keepdim=keep)
                for d in (0, 1, (0, 1), -1)
                for keep in (False, True)
            ]
            for name in names
        },
        "all": lambda: [getattr(k, name)(x, mask=mask) for name in names],
        "no mask": lambda: [getattr(k, name)(x, 1) for name in names],
        "norms": lambda: [
            k.norm(x, p, 1, mask=mask) for p in (1, 2, 3.5, float("inf"), -float("inf"))
        ],
        "corrected": lambda: [k.var(x, 1, False, mask=mask), k.std(x, 1, correction=2, mask=mask)],
        "along": lambda: [
            getattr(k, name)(x, d, mask=mask)
            for d in (0, 1)
            for name in ("softmax", "log_softmax", "softmin", "cumsum", "cumprod")
        ],
        "lengths": lambda: [k.normalize(x, p, 1, mask=mask) for p in (1.0, 2.0)],
        "integers": lambda: [
            k.sum(ints, 1, mask=mask),
            k.prod(ints, 0, mask=mask),
            k.amax(ints, 1, mask=mask),
            k.amin(ints, 1, mask=mask),
            k.cumsum(ints, 1, mask=mask),
        ],
        "other masks": lambda: [
            k.sum(x, 1, mask=mask[0]),
            k.sum(x, 1, mask=mask.double()),
            k.sum(x, 1, dtype=m.float64),
        ],
    }
    a = leaf(m, 3, 4)
    close = m.testing.assert_allclose
    tests = [
        told(close, m.ones(2), m.ones(2) + 5e-5),
        told(close, m.ones(2), m.ones(2) + 5e-4),
        told(close, 1.0, 1.0),
        told(close, m.ones(2).double(), m.ones(2)),
        told(close, [float("nan")], [float("nan")]),
        told(close, m.ones(2), m.ones(3)),
    ]
    slope = m.autograd.grad(k.softmax(a[:2], 1, mask=mask[:2])[:, 0].sum(), a)[0]
    return [
        {name: told(lambda c=call: [finite(m, y) for y in c()]) for name, call in calls.items()},
        tests,
        digest(m, slope),
        k.is_masked_tensor(x),
    ]


def lists_as_keys(m):
    """A list is a tuple of keys if one of its entries is a sequence, a tensor, a slice, None or ..."""
    keys = [
        [0, None],
        [[0, 1], [1, 2]],
        [0, 1],
        [[0, 1]],
        [slice(None), [1, 0]],
        [..., 1],
        [None],
        [m.tensor([0, 1]), m.tensor([1, 2])],
        [[[0, 1]], [[1]]],
        [True, False],
        [[True, False]],
        [0, [1, 2]],
        [[0, 1], 1],
        [[0], [1], [0]],
        (0, [1, 2]),
        [slice(1), 0, [0, 1]],
    ]
    x = m.arange(24).view(2, 3, 4)

    def written(key):
        y = x.clone()
        y[key] = -1
        return y.tolist()

    return [[told(lambda key=key: x[key].tolist()), told(written, key)] for key in keys]


PROGRAMS = [
    lists_as_keys,
    masked,
    constructed,
    names,
    printed,
    loaded,
    checkpointed,
    devices,
    settings,
    older,
    unwritten,
    resumed,
    searched,
]
