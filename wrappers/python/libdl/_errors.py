# SPDX-License-Identifier: Apache-2.0
"""The exceptions. All are RuntimeErrors, as in PyTorch, and also of the type that Python's own
libraries would raise."""

from __future__ import annotations

from . import _C


class Error(RuntimeError):
    """An error of libdl; its fields tell what was wrong."""

    code: int = 0  # LIBDL_ERROR_...
    operator: str = ""  # the operator or function that failed
    argument: int = 0  # the failing argument's number, counted from 1, or 0
    argument_name: str = ""
    found: str = ""
    wanted: str = ""


class ArgumentValueError(Error, ValueError):
    """An argument's value is not allowed."""


class ArgumentTypeError(Error, TypeError):
    """An argument is of a kind that the operator does not accept."""


class DtypeError(Error, TypeError):
    """An element type that the operator does not support."""


class ShapeError(Error, ValueError):
    """A shape or number of dimensions that does not fit."""

    def __new__(cls, text: str = "", *arguments: object) -> ShapeError:
        nothing = cls is ShapeError and "no element to choose from" in str(text)
        return super().__new__(EmptyError if nothing else cls, text, *arguments)


class EmptyError(ShapeError, IndexError):
    """There is no element to choose from: extrema, medians, modes of nothing; in PyTorch an
    IndexError."""


class IndexRangeError(Error, IndexError):
    """A dimension or an index is out of range."""


class DeviceError(Error, ValueError):
    """A device that does not fit or does not exist."""


class SizeOverflowError(Error, OverflowError):
    """A size that does not fit into 64 bits, or a number that does not fit into a dtype."""


class AutogradError(Error):
    """An operation that a rule of differentiation forbids."""


class VersionError(AutogradError):
    """A value saved for backward was overwritten."""


class ReadOnlyError(Error, ValueError):
    """The memory is read-only."""


class StateError(Error):
    """An operation that is not possible in the current state."""


class OutOfMemoryError(Error, MemoryError):
    """No memory is left, or the host's limit is reached."""


class FileError(Error, OSError):
    """The operating system refused a file operation."""


class FormatError(Error, ValueError):
    """A file or message is malformed."""


class UnsupportedError(Error, NotImplementedError):
    """Not supported by this version."""


class LinAlgError(Error):
    """A matrix that has not the decomposition that was asked for."""


setattr(_C, "_LinAlgError", LinAlgError)  # its first name in PyTorch


class InternalError(Error):
    """A defect of libdl: please report it."""


def want_tensors(function: str, **named: object) -> None:
    """All of the arguments, which come in their order from the first on."""
    for i, (name, x) in enumerate(named.items()):
        if not isinstance(x, _C.Tensor):
            raise ArgumentTypeError(
                f"{function}: argument {i + 1} ({name}) is a {type(x).__name__}, wanted a tensor"
            )


def want_a_tensor(function: str, **named: object) -> None:
    """One of the arguments at least."""
    if not any(isinstance(x, _C.Tensor) for x in named.values()):
        want_tensors(function, **named)


def rename_error(
    error: Error, name: str, operator: str = "", arguments: dict[str, tuple[int, str]] | None = None
) -> None:
    """Rewrites the error to name the function that was called and its arguments, where the operator
    that failed has other names; arguments: {the operator's name: (number, name)}. If operator is
    given, an error of any other operator is left unchanged."""
    text = str(error)
    names = (operator, f"{operator}_", name)
    known = error.operator in names if operator else bool(error.operator)
    if not known or not text.startswith(f"{error.operator}: "):
        return
    message = text[len(error.operator) + 2 :]
    place = f"argument {error.argument} ({error.argument_name})"
    if arguments and error.argument_name in arguments and message.startswith(place):
        error.argument, error.argument_name = arguments[error.argument_name]
        message = f"argument {error.argument} ({error.argument_name}){message[len(place) :]}"
    for destination in ("dst", "values_dst"):
        if arguments and destination in arguments:
            message = message.replace(f" {destination}", f" {arguments[destination][1]}")
    error.args = (f"{name}: {message}",)
    error.operator = name


def message_for_slot(error: Error, operator: str) -> None:
    """The same for operations called from C: x += y, x[key] and x[key] = value."""
    if operator not in ("x[...]", "x[...] = value"):
        rename_error(error, f"{operator}_", operator, {"dst": (1, "input")})
        return
    text = str(error)
    place = f"{error.operator}: argument {error.argument} ({error.argument_name}) "
    if not text.startswith(place):
        return
    error.operator = "__getitem__" if operator == "x[...]" else "__setitem__"
    error.argument, error.argument_name = _INDEXING.get(error.argument_name, (1, "x"))
    message = text[len(place) :].replace(" dst ", " x ")
    if isinstance(error, IndexRangeError):
        message = message.replace(", wanted", " and is out of bounds, wanted", 1)
    error.args = (f"{operator}: {error.argument_name} {message}",)


_INDEXING = {
    "index": (2, "index"),
    "indices": (2, "index"),
    "values": (3, "value"),
    "src": (3, "value"),
    "value": (3, "value"),
}
_C.register("message_for_slot", message_for_slot)


_C.register("error", Error)
_C.register_errors(
    {
        _C.LIBDL_ERROR_VALUE: ArgumentValueError,
        _C.LIBDL_ERROR_NULL: ArgumentTypeError,
        _C.LIBDL_ERROR_KIND: ArgumentTypeError,
        _C.LIBDL_ERROR_TYPE: ArgumentTypeError,
        _C.LIBDL_ERROR_DTYPE: DtypeError,
        _C.LIBDL_ERROR_SHAPE: ShapeError,
        _C.LIBDL_ERROR_INDEX: IndexRangeError,
        _C.LIBDL_ERROR_DEVICE: DeviceError,
        _C.LIBDL_ERROR_OVERFLOW: SizeOverflowError,
        _C.LIBDL_ERROR_OVERLAP: ArgumentValueError,
        _C.LIBDL_ERROR_OPTION: ArgumentValueError,
        _C.LIBDL_ERROR_AUTOGRAD: AutogradError,
        _C.LIBDL_ERROR_VERSION: VersionError,
        _C.LIBDL_ERROR_EMPTIED: StateError,
        _C.LIBDL_ERROR_READ_ONLY: ReadOnlyError,
        _C.LIBDL_ERROR_STATE: StateError,
        _C.LIBDL_ERROR_DEPTH: StateError,
        _C.LIBDL_ERROR_OUT_OF_MEMORY: OutOfMemoryError,
        _C.LIBDL_ERROR_LIMIT: StateError,
        _C.LIBDL_ERROR_IO: FileError,
        _C.LIBDL_ERROR_FORMAT: FormatError,
        _C.LIBDL_ERROR_BACKEND: StateError,
        _C.LIBDL_ERROR_CALLBACK: Error,
        _C.LIBDL_ERROR_UNSUPPORTED: UnsupportedError,
        _C.LIBDL_ERROR_INTERNAL: InternalError,
    }
)
