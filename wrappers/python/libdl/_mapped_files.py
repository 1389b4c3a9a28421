# SPDX-License-Identifier: Apache-2.0
"""Tensors over the bytes of a file: from_file, and the storages' own. Files without a header, of
numbers alone; load(mmap=True) maps the others."""

from __future__ import annotations

import mmap
import os

from . import _C
from ._C import Tensor
from ._errors import ArgumentValueError, FileError
from ._functions import empty
from ._types import DeviceLike, DtypeLike, device as Device, uint8


def mapped(filename: str, shared: bool, nbytes: int, function: str) -> Tensor:
    """The file's first bytes, writable.

    Arguments:
        shared: writes are seen in the file, which is made or made longer where it is too short;
            else they stay in this process

    Errors: ArgumentValueError, FileError, which are RuntimeErrors as in PyTorch."""
    if nbytes < 0:
        raise ArgumentValueError(f"{function}: the size is {nbytes} bytes, wanted 0 or more")
    if not nbytes:
        return empty(0, dtype=uint8)
    path = os.fspath(filename)
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        number = os.open(path, flags | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise FileError(f"{function}: cannot open {path}: {error.strerror}") from None
    try:
        held = os.fstat(number).st_size
        if held < nbytes and not shared:
            raise ArgumentValueError(
                f"{function}: {path} has {held} bytes, wanted at least {nbytes}: only with "
                "shared=True it is made longer"
            )
        if held < nbytes:
            os.ftruncate(number, nbytes)
        kind = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        result: Tensor = _C.from_buffer(memoryview(mmap.mmap(number, nbytes, access=kind)))
        return result.detach()
    except OSError as error:
        raise FileError(f"{function}: cannot map {path}: {error.strerror}") from None
    finally:
        os.close(number)


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: DtypeLike | None = None,
    layout: object = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one dimension over the beginning of a file, which is mapped and not read.

    Arguments:
        filename: a path
        shared: True: writes are seen in the file, which is made or made longer where it is too
            short; otherwise they stay in this process
        size: the number of elements
        dtype: of the elements; None: the default dtype
        device: None or "cpu"

    Errors: ArgumentValueError for a file that is too short; FileError where it cannot be opened.
    """
    if device is not None and Device(device).type != "cpu":
        raise ArgumentValueError(
            f"from_file: device is {device}, wanted cpu, whose memory a file can be"
        )
    if pin_memory:
        raise NotImplementedError("from_file: pin_memory is True, and mapped memory is not pinned")
    kind = empty(0, dtype=dtype).dtype
    count = size or 0
    if count < 0:
        raise ArgumentValueError(f"from_file: argument 3 (size) is {count}, wanted 0 or more")
    if not count:
        return empty(0, dtype=kind, requires_grad=requires_grad)
    result = mapped(filename, bool(shared), count * kind.itemsize, "from_file").view(kind)
    return result.requires_grad_() if requires_grad else result
