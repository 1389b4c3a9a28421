# SPDX-License-Identifier: Apache-2.0
"""save and load."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from .._errors import FormatError, SizeOverflowError, UnsupportedError
from . import _tree
from ._places import Foreign, Placing
from ._replacement import is_device, path_errors, replacement, target
from ._sink import writer_to
from ._source import opened
from ._values import Unkept

if TYPE_CHECKING:
    from .._C import Tensor

_HEAD = 512  # bytes that tell formats apart
_LOAD_ARGUMENTS = ("encoding", "errors", "fix_imports", "buffers")
_FORMATS = (None, "safetensors", "torch")


class DamagedFile(FormatError, UnpicklingError):  # noqa: N818
    """A FormatError of a file. PyTorch raises UnpicklingError for many of them."""

    def __reduce__(self) -> tuple[Any, ...]:
        result: tuple[Any, ...] = tuple(super().__reduce__())  # of class, arguments and attributes
        return _unpickled, (isinstance(self, EOFError), *result[1]), *result[2:]


# Tracebacks show the name that is documented.
DamagedFile.__name__ = DamagedFile.__qualname__ = FormatError.__name__
DamagedFile.__module__ = FormatError.__module__


class EmptyFile(DamagedFile, EOFError):  # noqa: N818
    """There is nothing to be loaded. PyTorch raises EOFError."""


def _unpickled(empty: bool, *args: object) -> DamagedFile:
    """By a function, for the classes are found under no name of their own."""
    return (EmptyFile if empty else DamagedFile)(*args)


def save(
    obj: object,
    f: Any,
    pickle_module: object = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    *,
    format: str | None = None,
) -> None:
    """Writes an object to a file. A file of that name is replaced whole, once the new one is on the
    disk.

    Arguments:
        obj: tensors, numbers, strings and bytes in dicts, lists, tuples and sets, such as a
            state_dict; NumPy's numbers and arrays of numbers. Without format, anything else that
            pickle takes, such as a whole module
        f: a path, or a file open for writing in binary mode
        pickle_module, pickle_protocol: of what is pickled
        _use_new_zipfile_serialization: True; the older format is not written
        format: "safetensors"; "torch": a checkpoint of PyTorch's, which it loads with
            weights_only=True, or with False where NumPy's values or other objects are in it; None:
            safetensors if they hold the object as it is, else "torch"

    Errors: TypeError for an object that the format has no meaning for; what pickle raises.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save({"weight": torch.tensor([1., 2.])}, file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'weight': tensor([1., 2.])}
    """
    if format not in _FORMATS:
        raise ValueError(f"save: format is {format!r}, wanted 'safetensors', 'torch' or None")
    if not hasattr(f, "write") and is_device(os.fsdecode(f)):
        with open(f, "wb") as device:
            save(
                obj,
                device,
                pickle_module,
                pickle_protocol,
                _use_new_zipfile_serialization,
                format=format,
            )
        return
    if format != "torch":
        try:
            _save_own(obj, f)
            return
        except (Unkept, SizeOverflowError):  # or its header would exceed the format's limit
            if format is not None:
                raise
    if not _use_new_zipfile_serialization:
        raise NotImplementedError(
            "save: _use_new_zipfile_serialization is False, wanted True: the "
            "zip format, which PyTorch reads since 1.4"
        )
    data, tensors = _pickled(obj, pickle_module, pickle_protocol)
    from . import _writer

    if hasattr(f, "write"):
        _writer.write(writer_to(f), data, tensors)
    else:
        with path_errors(), replacement(os.fsdecode(f)) as file:
            _writer.write(file.write, data, tensors)


def _save_own(obj: object, f: Any) -> None:
    if hasattr(f, "write"):
        writer_to(f)(_tree.write_bytes(obj))
    else:
        content = _tree.content(obj)
        with path_errors():
            _tree.write_file(content, target(os.fsdecode(f)))


def _pickled(obj: object, module: object, protocol: int) -> tuple[bytes, list[Tensor]]:
    """The pickle and the tensors of its storages. What libdl's own writer knows needs no code to be
    loaded."""
    from . import _objects, _writer

    if protocol == 2 and getattr(module, "__name__", "pickle") == "pickle":
        try:
            return _writer.pickled(obj)
        except Unkept:
            pass
    return _objects.pickled(obj, module, protocol)


@contextmanager
def _named(f: Any) -> Iterator[None]:
    """Errors about the file's content tell its name; those of the caller's functions come out as
    they are."""
    try:
        yield
    except Foreign as error:
        raise error.error from None
    except (FormatError, UnsupportedError) as error:
        if type(error) is FormatError:
            error.__class__ = DamagedFile  # its traceback stays
        name = getattr(f, "name", None) if hasattr(f, "read") else os.fsdecode(f)
        if isinstance(name, str) and name not in str(error):
            error.args = (f"{error} (in {name})",)
        raise


def load(
    f: Any,
    map_location: object = None,
    pickle_module: object = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: object,
) -> Any:
    """Reads an object written by save, a checkpoint of PyTorch, or any other safetensors file, as a
    dict of tensors. No code from the file runs unless weights_only is False.

    Arguments:
        f: a path, or a file open for reading in binary mode, from its position on
        map_location: the device on which to put tensors; a dict from devices in the file to
            others; or a function of a storage and its device that returns the storage or None
        pickle_module: with weights_only=False, what reads the pickle instead of Python's own
        weights_only: None or True: tensors and plain values alone; False: whatever the file says is
            imported and called, which may be anything: only for files of people whom you trust
        mmap: whether tensors lie in the mapped file; what is written to them stays in this process,
            unless set_default_mmap_options says otherwise
        encoding, errors, ...: of pickle.Unpickler, with weights_only=False

    Errors: FormatError for a damaged file; UnsupportedError for what is not read, by its name.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save(nn.Linear(2, 1).state_dict(), file)
        >>> _ = file.seek(0)
        >>> nn.Linear(2, 1).load_state_dict(torch.load(file))
        <All keys matched successfully>
    """
    if pickle_module is not None and weights_only is not False:
        raise RuntimeError(
            "load: pickle_module is given, which runs what a file says, and "
            "weights_only is not False"
        )
    if set(pickle_load_args) - set(_LOAD_ARGUMENTS):
        unknown = min(set(pickle_load_args) - set(_LOAD_ARGUMENTS))
        raise TypeError(f"load: {unknown!r} is no argument of load")
    placing = Placing(map_location)
    with _named(f), opened(f, bool(mmap)) as source:
        if source.size == 0:
            raise EmptyFile("load: the file is empty, or was read to its end: it has 0 bytes more")
        head = source.head(_HEAD)
        from . import _checkpoint

        if head[8:9] != b"{" and _checkpoint.is_archive(head):
            if mmap:
                source.map()
            if weights_only is not False:
                return _checkpoint.read(source, map_location)
            from . import _objects

            return _objects.read(source, map_location, pickle_module, pickle_load_args)
        _checkpoint.refuse_other_formats(head)
        return _tree.read(f, source, bool(mmap), lambda x: placing.placed(x, "cpu"))
