# SPDX-License-Identifier: Apache-2.0
"""save and load."""

from __future__ import annotations

import os
from typing import Any

from .._errors import UnsupportedError
from . import _tree
from ._places import Placing
from ._source import opened

_HEAD = 512  # bytes that tell formats apart


def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True, *, format: str = "safetensors",
) -> None:  # fmt: skip
    """Writes an object made of tensors to a file. A file of that name is replaced whole, once the
    new one is on the disk.

    Arguments:
        obj: tensors, numbers, strings and bytes in dicts, lists, tuples and sets, such as a
            state_dict; NumPy's numbers and arrays of numbers
        f: a path, or a file open for writing in binary mode
        pickle_module, pickle_protocol, _use_new_zipfile_serialization: of format="torch", where
            only the defaults are written; safetensors have no pickle
        format: "safetensors", or "torch": a checkpoint that PyTorch loads with weights_only=True,
            or with False if NumPy's values are in it

    Errors: TypeError for an object that the format has no meaning for.
    """
    if format not in ("safetensors", "torch"):
        raise ValueError(f"save: format is {format!r}, wanted 'safetensors' or 'torch'")
    if format == "safetensors":
        if hasattr(f, "write"):
            f.write(_tree.write_bytes(obj))
        else:
            _tree.write_file(obj, os.fsdecode(f))
        return
    if pickle_module is not None and getattr(pickle_module, "__name__", "") != "pickle":
        raise NotImplementedError("save: pickle_module is given, and libdl has a writer of its own")
    if pickle_protocol != 2 or not _use_new_zipfile_serialization:
        raise NotImplementedError("save: wanted pickle_protocol=2 and the zip format: what PyTorch "
                                  "reads with weights_only=True")  # fmt: skip
    from . import _writer
    from ._replacement import replacement

    if hasattr(f, "write"):
        _writer.write(f.write, obj)
    else:
        with replacement(os.fsdecode(f)) as file:
            _writer.write(file.write, obj)


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *,
    weights_only: bool | None = None, mmap: bool | None = None, encoding: str = "utf-8",
) -> Any:  # fmt: skip
    """Reads an object written by save, a checkpoint of PyTorch, or any other safetensors file, as a
    dict of tensors. No code from the file runs.

    Arguments:
        f: a path, or a file open for reading in binary mode, from its position on
        map_location: the device on which to put tensors; a dict from devices in the file to
            others; or a function of a storage and its device that returns the storage or None
        pickle_module: None; others are refused, because they run code
        weights_only: True is the meaning always
        mmap: whether tensors lie in the mapped file; what is written to them stays in this process,
            unless set_default_mmap_options says otherwise
        encoding: accepted for PyTorch's sake: strings are UTF-8

    Errors: FormatError for a damaged file; UnsupportedError for what is not read, by its name.
    """
    if pickle_module is not None:
        raise RuntimeError("load: pickle_module is given, and libdl never lets a file run code")
    placing = Placing(map_location)
    with opened(f, bool(mmap)) as source:
        head = source.head(_HEAD)
        from . import _checkpoint

        if head[8:9] != b"{" and _checkpoint.is_archive(head):
            if mmap:
                source.map()
            try:
                return _checkpoint.read(source, map_location)
            except UnsupportedError as error:
                if weights_only is False:
                    error.args = (f"{error}; weights_only=False changes nothing: libdl never runs "
                                  "code from files",)  # fmt: skip
                raise
        _checkpoint.refuse_other_formats(head)
        return _tree.read(f, source, bool(mmap), lambda x: placing.placed(x, "cpu"))
