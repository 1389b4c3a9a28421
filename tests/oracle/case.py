# SPDX-License-Identifier: Apache-2.0
"""A case is a list of lines of Python over a module T. What a run of it shows: how each line ended,
and every variable at the end."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from words import Words

FAMILIES = (
    "IndexError",
    "ValueError",
    "TypeError",
    "AttributeError",
    "NameError",
    "ZeroDivisionError",
    "OverflowError",
    "AssertionError",
    "KeyError",
    "StopIteration",
    "RuntimeError",
)


@dataclass
class Seen:
    """What can be seen of a tensor."""

    dtype: str
    shape: tuple[int, ...]
    numbers: Any
    strides: tuple[int, ...] | None  # of views
    requires_grad: bool
    is_leaf: bool
    grad: Any = None
    tangent: Any = None
    laid: tuple[int, ...] | None = None  # the strides of what is no view


@dataclass
class Run:
    outcomes: list[str] = field(default_factory=list)  # a line's: "" or the error's family
    errors: list[BaseException | None] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    warned: list[int] = field(default_factory=list)  # lines
    outside: bool = False  # a call wrote beside the memory of its tensors


_codes: dict[str, CodeType] = {}


def code_of(line: str) -> CodeType:
    code = _codes.get(line)
    if code is None:
        if len(_codes) > 50_000:
            _codes.clear()
        code = _codes[line] = compile(line, "case", "exec")
    return code


class Stage:
    """Where cases run on one module."""

    def __init__(self, module: Any, busy: Any = None) -> None:
        self.busy = busy  # told what runs, for those who look at a process that died
        self.module, self.Tensor = module, module.Tensor
        self.words = Words(module)
        self._names: dict[Any, str] = {}
        self.seen: list[Any] = []  # a run's variables

    def family(self, error: BaseException) -> str:
        """As PyTorch raises it: the nearest class that Python itself has."""
        for kind in type(error).__mro__:
            if kind.__module__ == "builtins":
                name = kind.__name__
                return "RuntimeError" if name == "NotImplementedError" else name
        return "Exception"

    def run(self, lines: list[str], forward: bool = False) -> Run:
        run = Run()
        self.words.outside()
        names = dict(self.words.names)
        known = set(names)
        if forward:
            self.module.autograd.forward_ad.enter_dual_level()
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                for line in lines:
                    self.step(run, line, names)
                    if warned:
                        if any(issubclass(w.category, UserWarning) for w in warned):
                            run.warned.append(len(run.outcomes) - 1)
                        warned.clear()
                run.outside = self.words.outside()
                self.seen = list(names.values())
                for name, value in names.items():
                    if name not in known and name[0] != "_":
                        run.values[name] = self.shown(value, forward)
        finally:
            if forward:
                self.module.autograd.forward_ad.exit_dual_level()
            self.module.set_grad_enabled(True)
        return run

    def step(self, run: Run, line: str, names: dict[str, Any]) -> None:
        if self.busy:
            self.busy(self.module.__name__)
        try:
            exec(code_of(line), names)
            run.outcomes.append("")
            run.errors.append(None)
        except Exception as error:
            run.outcomes.append(self.family(error))
            run.errors.append(error.with_traceback(None))

    # -- what is seen ------------------------------------------------------------------------------

    def dtype_name(self, dtype: Any) -> str:
        name = self._names.get(dtype)
        if name is None:
            name = self._names[dtype] = str(dtype).rpartition(".")[2]
        return name

    def shown(self, value: Any, forward: bool) -> Any:
        try:
            return self.see(value, forward)
        except Exception as error:  # a view whose history is gone cannot be looked at
            return "raises " + self.family(error)

    def see(self, value: Any, forward: bool = False, deep: bool = True) -> Any:
        if isinstance(value, self.Tensor):
            return self._tensor(value, forward, deep)
        if isinstance(value, (tuple, list)):
            return [self.see(v, forward, deep) for v in value]
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return value
        if isinstance(value, self.module.dtype):
            return self.dtype_name(value)
        return type(value).__name__ if callable(value) is False else "callable"

    def _tensor(self, x: Any, forward: bool, deep: bool) -> Seen:
        dtype = self.dtype_name(x.dtype)
        tangent = None
        if forward:
            pair = self.module.autograd.forward_ad.unpack_dual(x)
            tangent = None if pair.tangent is None else self.see(pair.tangent, False, False)
            plain = pair.primal.detach()
        else:
            plain = x.detach()
        if dtype == "bfloat16":
            plain = plain.float()
        numbers = plain.numpy(force=True).copy()
        # PyTorch's composites hand out views of what only they have seen.
        base = x._base
        inner = (
            base is not None
            and self.module.__name__ == "torch"
            and not any(base is one for one in self.seen)
        )
        strides = tuple(x.stride()) if base is not None and not inner else None
        grad = None
        if deep and x.is_leaf or (deep and x.retains_grad):
            grad = x.grad
            grad = None if grad is None else self.see(grad, False, False)
        laid = tuple(x.stride()) if base is None else None
        return Seen(
            dtype, tuple(x.shape), numbers, strides, x.requires_grad, x.is_leaf, grad, tangent, laid
        )
