# SPDX-License-Identifier: Apache-2.0
"""What a line of a case may use beside T, the module under test: the same text runs on both."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

_FENCE = b"\xa5" * 2048  # bytes beside a tensor's own
_LONG = 4096  # numbers of a kind; a seed chooses where one begins to read
_SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0]


def _pools() -> dict[str, Any]:
    random = np.random.default_rng(20260101)
    plain = random.uniform(-2, 2, _LONG)
    special = plain.copy()
    places = random.random(_LONG) < 0.3
    special[places] = random.choice(_SPECIAL, int(places.sum()))
    return {
        "plain": plain,
        "positive": random.uniform(0.1, 2, _LONG),
        "unit": random.uniform(0.05, 0.95, _LONG),
        "few": random.choice([-1.0, -0.5, 0.0, 0.5, 1.0, 2.0], _LONG),  # ties and kinks
        "special": special,
        "count": random.integers(0, 4, _LONG).astype(float),
        "far": random.choice([-300.0, -3.0, -1.0, 0.0, 2.0, 127.0, 255.0, 70000.0], _LONG),
        "ones": np.ones(_LONG),
        "near": random.uniform(0.5, 1.5, _LONG),
        "extreme": random.choice([-1.0, -0.7, 0.0, 0.7, 1.0], _LONG),  # exponents: see _extreme
        "nothing": random.choice([0.0, 0.0, 0.0, -0.0, 1.0, -2.0], _LONG),
    }


POOLS = _pools()
UNITS = {
    "float64": 2.0**-52,
    "complex128": 2.0**-52,
    "float32": 2.0**-23,
    "complex64": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
}
# The decimal exponents of the kind "extreme": their squares are beyond the dtype.
_REACH = {"float64": 200, "complex128": 200, "float16": 4}
_NUMPY = {"bool": np.bool_, "bfloat16": np.float32, "float16": np.float16}


def numpy_type(dtype: str) -> Any:
    return _NUMPY.get(dtype) or getattr(np, dtype)


def _extreme(exponents: Any, begin: int, reach: int) -> Any:
    """Each second one is negative, and one of five is 0."""
    place = np.arange(begin, begin + exponents.size)
    return np.where(place % 5 == 3, 0, (-1.0) ** place * 10.0 ** (exponents * reach))


@functools.lru_cache(100_000)
def numbers(dtype: str, kind: str, count: int, seed: int, below: int | None = None) -> Any:
    """`count` numbers of a kind in a row; `below`: indices 0 ... below - 1."""
    pool = POOLS["plain" if kind == "index" else kind]
    begin = seed * 37 % _LONG
    some = np.resize(np.concatenate((pool[begin:], pool[:begin])), count)
    if kind == "index":
        return (np.abs(some) * 1e4).astype(np.int64) % max(below or 1, 1)
    wanted = numpy_type(dtype)
    if kind == "extreme":
        some = _extreme(some, begin, _REACH.get(dtype, 30))
    if dtype == "bool":
        return some > 0.3
    if dtype.startswith("complex"):
        # Of an angle of 70000 no digit of a float32 is left, nor many of a power of 300.
        some = np.clip(some, -20, 20) if kind == "far" else some
        angle = np.clip(some, -3, 3) if kind == "far" else some
        return (some + 1j * np.roll(angle, 1)).astype(wanted)
    if dtype.startswith(("int", "uint")):
        some = np.clip(some, -100, 100) if kind == "extreme" else some
        whole = np.nan_to_num(np.floor(some * 3) if kind != "count" else some, posinf=7, neginf=0)
        return whole.astype(np.int64).astype(wanted)
    with np.errstate(all="ignore"):
        return some.astype(wanted)


def strides_of(shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """Steps in elements; layouts differ in nothing else."""
    order = list(range(len(shape)))
    if layout == "transposed":
        order.reverse()
    steps = [0] * len(shape)
    step = 2 if layout == "step" else 1
    for d in reversed(order):
        steps[d] = step
        step *= max(shape[d], 1)
    if layout == "expanded" and steps:
        steps[0] = 0
    if layout == "overlap" and len(steps) > 1:
        steps[0] = 1
    return tuple(steps)


def spread(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many elements of storage they need."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


class Words:
    """The words of one module."""

    def __init__(self, module: Any) -> None:
        self.T = module
        self.step = 0  # chooses how each number is moved by a unit in its last place; 0: not
        self.wide = False  # the same numbers in 64 bits
        self.retained: dict[int, Any] = {}  # see retain()
        self.fenced: list[Any] = []  # memory with a fence on both sides
        self.names: dict[str, Any] = {
            "T": module,
            "F": module.nn.functional,
            "np": np,
            "true": True,
            "false": False,
            "nan": np.nan,
            "inf": np.inf,
            "checkpoint": __import__(
                module.__name__ + ".utils.checkpoint", fromlist=["checkpoint"]
            ).checkpoint,
        }
        for name in (
            "make",
            "laid",
            "gradients",
            "second",
            "tangents",
            "blank",
            "dual",
            "tangent",
            "in_thread",
            "in_threads",
            "grown",
            "total",
            "indices",
            "saturated",
            "note",
            "at_nodes",
            "collect",
            "retain",
        ):
            self.names[name] = getattr(self, name)
        self.names["retained"] = self.retained
        from functions_of_hosts import functions

        self.names.update(functions(module))

    # -- tensors -----------------------------------------------------------------------------------

    def make(
        self,
        dtype: str,
        shape: tuple[int, ...],
        layout: str = "plain",
        kind: str = "plain",
        seed: int = 0,
        grad: bool = False,
    ) -> Any:
        strides = strides_of(shape, layout)
        storage = numbers(dtype, kind, spread(shape, strides), seed)
        return self._over(dtype, shape, strides, storage, grad)

    def indices(self, shape: tuple[int, ...], below: int, seed: int, dtype: str = "int64") -> Any:
        strides = strides_of(shape, "plain")
        storage = numbers("int64", "index", spread(shape, strides), seed, below)
        return self._over(dtype, shape, strides, storage.astype(numpy_type(dtype)), False)

    def laid(
        self,
        dtype: str,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        storage: list[Any],
        grad: bool = False,
    ) -> Any:
        return self._over(dtype, shape, strides, np.array(storage, numpy_type(dtype)), grad)

    def saturated(self, tensor: Any, dtype: str) -> Any:
        """Cast to integers as libdl does: an end of their range, and 0 for NaN."""
        tensor = tensor.real if tensor.is_complex() else tensor
        x, info = tensor.detach().double().numpy(), np.iinfo(dtype)
        whole = np.nan_to_num(np.where((x > info.min) & (x < info.max), x, 0)).astype(dtype)
        whole = np.where(x >= info.max, info.max, np.where(x <= info.min, info.min, whole))
        return self.T.tensor(whole.astype(dtype))

    def _over(self, dtype: str, shape: Any, strides: Any, storage: Any, grad: bool) -> Any:
        storage = storage.copy()
        if self.step and storage.dtype.kind in "fc":
            random = np.random.default_rng((self.step, storage.size))
            with np.errstate(all="ignore"):
                storage *= 1 + random.choice([-1, 1], storage.shape) * UNITS[dtype]
        if dtype == "bfloat16":
            storage = (storage.view(np.uint32) >> 16).astype(np.uint16)
        if self.wide and dtype in UNITS:
            if dtype == "bfloat16":
                storage = (storage.astype(np.uint32) << 16).view(np.float32)
            dtype = "complex128" if storage.dtype.kind == "c" else "float64"
            storage = storage.astype(dtype)
        size = storage.itemsize
        # Memory of the module's own, which out= may resize, where that changes no strides.
        own = strides == strides_of(shape, "plain")
        if not own:
            whole = np.frombuffer(bytearray(_FENCE + storage.tobytes() + _FENCE), storage.dtype)
            self.fenced.append(whole.view(np.uint8))
            storage = whole[len(_FENCE) // size : len(whole) - len(_FENCE) // size]
        array = np.ndarray(shape, storage.dtype, storage, 0, tuple(s * size for s in strides))
        made = self.T.tensor(array) if own else self.T.from_numpy(array)
        if dtype == "bfloat16":
            made = made.view(self.T.bfloat16)
        return made.requires_grad_() if grad else made

    def outside(self) -> bool:
        """Whether something was written beside the memory of a tensor; asked once a run."""
        fenced, self.fenced = self.fenced, []
        self.retained.clear()
        n = len(_FENCE)
        return any(f[:n].tobytes() != _FENCE or f[-n:].tobytes() != _FENCE for f in fenced)

    def blank(self, value: Any) -> Any:
        """What is known of random numbers."""
        if isinstance(value, self.T.Tensor):
            return (str(value.dtype).rpartition(".")[2], tuple(value.shape), value.requires_grad)
        return value

    # -- derivatives -------------------------------------------------------------------------------

    def _outputs(self, result: Any) -> list[Any]:
        parts = result if isinstance(result, (tuple, list)) else (result,)
        return [r for r in parts if isinstance(r, self.T.Tensor) and r.requires_grad]

    def _weight(self, y: Any, seed: int) -> Any:
        dtype = str(y.dtype).rpartition(".")[2]
        return self.make(dtype, tuple(y.shape), "plain", "positive", seed)

    def gradients(self, result: Any, *inputs: Any, create: bool = False) -> Any:
        outputs = self._outputs(result)
        if not outputs:
            return None
        weights = [self._weight(y, 3 + i) for i, y in enumerate(outputs)]
        return self.T.autograd.grad(
            outputs, inputs, weights, create_graph=create, allow_unused=True
        )

    def second(self, result: Any, *inputs: Any) -> Any:
        first = self.gradients(result, *inputs, create=True)
        if first is None:
            return None
        # A constant gradient has a weight, too: of two libraries one may know that it is constant.
        used = [
            (g, self._weight(g, 11 + i))
            for i, g in enumerate(first)
            if g is not None and g.requires_grad
        ]
        if not used:
            return [self.T.zeros_like(x) for x in inputs]
        again = self.T.autograd.grad(
            [g for g, _ in used], inputs, [w for _, w in used], allow_unused=True
        )
        # Not used and zero are the same to a reader.
        return [self.T.zeros_like(x) if g is None else g for x, g in zip(inputs, again)]

    def tangents(self, function: Callable[..., Any], *inputs: Any) -> Any:
        ad = self.T.autograd.forward_ad
        with ad.dual_level():
            duals = [
                ad.make_dual(x.detach(), self._weight(x, 7 + i)) if x.requires_grad else x
                for i, x in enumerate(inputs)
            ]
            result = function(*duals)
            parts = result if isinstance(result, (tuple, list)) else (result,)
            found = []
            for part in parts:
                if not isinstance(part, self.T.Tensor):
                    continue
                pair = ad.unpack_dual(part)
                zero = pair.tangent is None
                found.append(self.T.zeros_like(pair.primal) if zero else pair.tangent)
            return found

    def grown(self, tensor: Any, change: Callable[[], Any]) -> Any:
        """What a change gives, and whether the version shows that there was one."""
        before = tensor._version
        result = change()
        return result, tensor._version > before

    def total(self, *tensors: Any) -> Any:
        """One number that every element of every tensor with history has its share in."""
        whole = None
        for i, x in enumerate(tensors):
            if not (isinstance(x, self.T.Tensor) and x.requires_grad):
                continue
            x = x.real + x.imag if x.is_complex() else x
            part = (x * self._weight(x, 5 + i)).sum().to(self.T.float64)
            whole = part if whole is None else whole + part
        return self.T.zeros(()) if whole is None else whole

    # -- nodes that PyTorch's views have had (rewritten.py) ----------------------------------------

    def note(self, tensor: Any, nodes: list[Any]) -> list[Any]:
        """The nodes, and the one that the tensor has now."""
        if not tensor.requires_grad:
            return nodes
        now = self.T.autograd.graph.get_gradient_edge(tensor)
        if any(now.node is one.node and now.output_nr == one.output_nr for one in nodes):
            return nodes
        if id(tensor) in self.retained:
            now.node.register_prehook(lambda found: self.collect(tensor, found[now.output_nr]))
        return [*nodes, now]

    def retain(self, tensor: Any, nodes: list[Any]) -> None:
        """Its gradient is collected at each of the nodes, and at later ones."""
        if id(tensor) in self.retained:
            return
        self.retained[id(tensor)] = tensor
        for one in nodes:
            one.node.register_prehook(
                lambda found, at=one.output_nr: self.collect(tensor, found[at])
            )

    def at_nodes(self, whole: Any, nodes: list[Any], **options: Any) -> Any:
        found = self.T.autograd.grad(whole, nodes, allow_unused=True, **options)
        return functools.reduce(lambda a, b: b if a is None else a if b is None else a + b, found)

    def collect(self, tensor: Any, gradient: Any) -> None:
        if gradient is not None:
            tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient

    def dual(self, primal: Any, seed: int) -> Any:
        return self.T.autograd.forward_ad.make_dual(primal, self._weight(primal, seed))

    def tangent(self, tensor: Any) -> Any:
        return self.T.autograd.forward_ad.unpack_dual(tensor).tangent

    # -- threads -----------------------------------------------------------------------------------

    def in_thread(self, *work: Callable[[], Any]) -> None:
        """One after the other, on a thread of its own each; an error comes back."""
        for one in work:
            self.in_threads(one)

    def in_threads(self, *work: Callable[[], Any]) -> None:
        errors: list[BaseException] = []

        def run(one: Callable[[], Any]) -> None:
            try:
                one()
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=(one,)) for one in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
