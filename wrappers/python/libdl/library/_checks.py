# SPDX-License-Identifier: Apache-2.0
"""opcheck: whether an operator does what was registered for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _C
from .._C import Tensor
from .._types import uint8
from ..autograd import grad
from ..testing import assert_close
from ..utils._pytree import tree_map_only
from ._operators import Operator, tensors_in

TESTS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_static",
    "test_aot_dispatch_dynamic",
)


class OpCheckError(Exception):
    """What opcheck raises if a check failed."""


class _Call:
    """An operator and example arguments, of which each run gets copies."""

    def __init__(self, operator: Operator, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.operator, self.name = operator, operator.schema.name
        self.args, self.kwargs = args, kwargs

    def given(self, change: Callable[[Tensor], Tensor]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments, each tensor changed."""
        args, kwargs = tree_map_only(Tensor, change, (list(self.args), self.kwargs))
        return args, kwargs

    def run(self, change: Callable[[Tensor], Tensor]) -> tuple[Any, list[Tensor]]:
        """What the operator returns for changed arguments, and the tensors among these."""
        args, kwargs = self.given(change)
        return self.operator(*args, **kwargs), tensors_in([*args, *kwargs.values()])


def _copy(x: Tensor) -> Tensor:
    return x.detach().clone()


def _leaf(x: Tensor) -> Tensor:
    return _copy(x).requires_grad_(x.requires_grad)


# -- the checks ------------------------------------------------------------------------------------


def _check_schema(call: _Call) -> None:
    """Only what the schema says is written, and results have memory of their own."""
    schema = call.operator.schema
    args, kwargs = call.given(_copy)
    answer = call.operator(*args, **kwargs)
    before = dict(schema.signature.bind(*call.args, **call.kwargs).arguments)
    after = dict(schema.signature.bind(*args, **kwargs).arguments)
    for name, value in after.items():
        if name in schema.mutated:
            continue
        for old, new in zip(tensors_in([before[name]]), tensors_in([value]), strict=True):
            if _bytes(old) != _bytes(new):
                raise RuntimeError(
                    f"{call.name}: argument {name} is not defined as mutable but was mutated"
                )
    held = {_C.tensor_storage_id(x) for x in tensors_in(list(after.values())) if x.numel()}
    for x in tensors_in([answer]):
        if x.numel() and _C.tensor_storage_id(x) in held:
            raise RuntimeError(
                f"{call.name}: a result lies in the memory of an argument or another result, "
                "which the schema does not say"
            )
        held.add(_C.tensor_storage_id(x))


def _bytes(x: Tensor) -> bytes:
    whole = x.detach().cpu().contiguous()
    return whole.view(-1).view(uint8).numpy().tobytes() if whole.numel() else b""


def _check_autograd_registration(call: _Call) -> None:
    """A result with history has it from a registered gradient, not from the calls inside a
    kernel."""
    operator = call.operator
    if operator.backward is not None or not operator.by_device:
        return
    answer, given = call.run(_leaf)
    if any(x.requires_grad for x in given) and any(x.requires_grad for x in tensors_in([answer])):
        raise AssertionError(
            f"{call.name}: a result requires grad, but no gradient is registered: the kernel of a "
            "device is recorded call by call; use register_autograd, or register the function "
            "under CompositeImplicitAutograd"
        )


def _check_fake(call: _Call) -> None:
    """The function for tensors on meta tells the shapes, strides and dtypes of real results."""
    operator = call.operator
    answer, _ = call.run(_copy)
    real = tensors_in([answer])
    composed = operator.composite is not None and not operator.by_device
    if "meta" not in operator.kernels and not composed:
        if not real:
            return
        raise RuntimeError(
            f"{call.name}: no function for tensors on meta is registered: use register_fake"
        )
    told, _ = call.run(lambda x: _copy(x).to("meta"))
    fake = tensors_in([told])
    if len(fake) != len(real):
        raise AssertionError(f"{call.name}: {len(fake)} results on meta, wanted {len(real)}")
    for i, (x, y) in enumerate(zip(fake, real, strict=True)):
        for what in ("shape", "dtype", "stride"):
            found, wanted = (_told(t, what) for t in (x, y))
            if found != wanted:
                raise AssertionError(
                    f"{call.name}: result {i} on meta has {what} {found}, wanted {wanted}"
                )


def _told(x: Tensor, what: str) -> Any:
    return x.stride() if what == "stride" else getattr(x, what)


def _check_gradients(call: _Call, atol: float | None, rtol: float | None) -> None:
    """Gradients arrive where they are asked for, and a second call computes the same."""
    firsts = [_gradients(call) for _ in range(2)]
    assert_close(firsts[0], firsts[1], atol=atol, rtol=rtol, equal_nan=True)


def _gradients(call: _Call) -> list[Tensor]:
    answer, given = call.run(_copy if call.operator.schema.mutated else _leaf)
    leaves = [x for x in given if x.requires_grad]
    results = [y for y in tensors_in([answer]) if y.requires_grad]
    if not leaves or not results:
        return [y.detach() for y in tensors_in([answer])]
    found = grad([y.sum() for y in results], leaves, allow_unused=True)
    return [*(y.detach() for y in tensors_in([answer])), *(g for g in found if g is not None)]


# -- all of them -----------------------------------------------------------------------------------


def check(
    operator: Operator,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    tests: Sequence[str],
    atol: float | None,
    rtol: float | None,
) -> dict[str, Any]:
    """By test: "SUCCESS", or the exception."""
    unknown = sorted(set(tests) - set(TESTS))
    if unknown:
        raise ValueError(f"library.opcheck: test_utils has {unknown}, wanted some of {TESTS}")
    if (atol is None) != (rtol is None):
        raise ValueError("library.opcheck: found one of atol and rtol, wanted both or none")
    call = _Call(operator, args, kwargs)
    checks: dict[str, Callable[[], None]] = {
        "test_schema": lambda: _check_schema(call),
        "test_autograd_registration": lambda: _check_autograd_registration(call),
        "test_faketensor": lambda: _check_fake(call),
        "test_aot_dispatch_static": lambda: _check_gradients(call, atol, rtol),
        "test_aot_dispatch_dynamic": lambda: _check_gradients(call, atol, rtol),
    }
    told: dict[str, Any] = {}
    for test in tests:
        try:
            checks[test]()
            told[test] = "SUCCESS"
        except Exception as error:
            told[test] = error
    return told
