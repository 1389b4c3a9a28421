# SPDX-License-Identifier: Apache-2.0
"""PyTorch's TorchScript words, with eager meaning: Python itself runs what is scripted or
traced."""

from __future__ import annotations

from typing import Any, Final as Final, NamedTuple, NoReturn, TypeVar

_T = TypeVar("_T")


def script(obj: _T, *args: Any, **kwargs: Any) -> _T:
    """Returns the function, class or module itself: it means the same when it runs eagerly."""
    return obj


def trace(func: _T, example_inputs: Any = None, *args: Any, **kwargs: Any) -> _T:
    """Returns the function or module itself. Unlike a trace, it goes on to follow its branches."""
    return func


def script_if_tracing(fn: _T) -> _T:
    """Returns the function itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator, with or without arguments, that returns the function itself."""
    return drop if callable(drop) else (lambda function: function)


def export(fn: _T) -> _T:
    """Returns the function itself."""
    return fn


def unused(fn: _T) -> _T:
    """Returns the function itself."""
    return fn


def _overload_method(func: _T) -> _T:
    """Returns the method itself: the last of its name is the one that Python runs."""
    return func


_overload, _script_if_tracing = _overload_method, script_if_tracing


def interface(obj: _T) -> _T:
    """Returns the class itself."""
    return obj


def freeze(mod: _T, *args: Any, **kwargs: Any) -> _T:
    """Returns the module itself."""
    return mod


def optimize_for_inference(mod: _T, *args: Any, **kwargs: Any) -> _T:
    """Returns the module itself."""
    return mod


def is_scripting() -> bool:
    """False: Python runs the code."""
    return False


def is_tracing() -> bool:
    """False: Python runs the code."""
    return False


def annotate(the_type: Any, the_value: _T) -> _T:
    """Returns the value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's isinstance."""
    import builtins

    return builtins.isinstance(obj, target_type)


def save(m: Any, f: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: there is no compiled program to write."""
    raise NotImplementedError(
        "jit.save: a module is not compiled here, so that its code cannot be "
        "written; libdl.save(module.state_dict(), path) keeps its weights"
    )


def load(f: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: TorchScript's files hold compiled code."""
    raise NotImplementedError(
        "jit.load: a file of TorchScript holds compiled code, which libdl does "
        "not run; make the module in Python and load its state_dict"
    )


def _get_trace_graph(f: Any, args: Any = (), *more: Any, **kwargs: Any) -> NoReturn:
    """Raises: packages that count operations by PyTorch's graph can be imported, and count not."""
    raise NotImplementedError(
        "jit._get_trace_graph: calls are not recorded as PyTorch's graph; "
        "utils.flop_counter.FlopCounterMode counts what is computed"
    )


def trace_module(mod: _T, inputs: Any = None, *args: Any, **kwargs: Any) -> _T:
    """Returns the module itself; see trace."""
    return mod


def set_fusion_strategy(strategy: Any) -> list[Any]:
    """[]: nothing is fused."""
    return []


class TracerWarning(Warning):
    """What a tracer would warn of."""


class Attribute(NamedTuple):
    """A value with a type for PyTorch's compiler: the value is what counts."""

    value: Any
    type: Any


class ScriptModule:
    """A name for annotations and isinstance: no module is one here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("jit.ScriptModule: nothing is compiled here; use nn.Module")


class ScriptFunction:
    """A name for annotations and isinstance: no function is one here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("jit.ScriptFunction: nothing is compiled here; use the function")


_LAZY_MODULES = ("_recursive",)
